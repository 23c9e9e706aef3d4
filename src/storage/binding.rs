//! The store's wasm surface: what a Durable Object of the npm package and `file:` hold.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use super::js_sql::{Database, JsSql};
use super::{OpenError, Store, StoreOptions, Swept, VERSION};
use crate::command::{Backend, Command};
use crate::number::MAX_INTEGER;
use crate::text::{filled, push, push_number};
use crate::{Error, Flow, Options, Session};

/// Text of up to so many bytes is faster made of its characters' codes than by a decoder.
const SHORT: usize = 128;

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = String, js_name = fromCharCode, variadic)]
    fn from_char_codes(codes: &[u8]) -> JsValue;
}

/// A store over a database, and one client of it.
#[wasm_bindgen]
pub struct DurableStore {
    store: Store<JsSql>,
    session: Session,
    flow: Flow,
    /// What the last typed call came to.
    answer: Result<Result<[i64; 5], Error>, JsValue>,
}

#[wasm_bindgen]
impl DurableStore {
    /// Opens what is in the database. With `gathers`, writes that belong together are between its `begin()` and `commit()`.
    ///
    /// # Errors
    /// Whatever the database throws; a sentence when it was written by a newer version, or no random bytes are to be had.
    pub fn open(
        database: Database,
        gathers: bool,
        max_limiters: f64,
        cached_keys: f64,
    ) -> Result<DurableStore, JsValue> {
        let random = || getrandom::u64().map_err(|_| text("this runtime gives no random numbers at this point"));
        let engine = Options { max_limiters: count(max_limiters), seed: [random()?, random()?], ..Options::default() };
        let options = StoreOptions { engine, cached_keys: count(cached_keys) };
        let store = Store::open(JsSql::new(database, gathers), options).map_err(|error| match error {
            OpenError::Failed(failure) => failure,
            OpenError::Newer(version) => {
                let why = "the storage is of version %, and this code reads version % and older; use a newer tidegate";
                text(&filled(why, &[], &[version, VERSION]))
            }
        })?;
        Ok(Self { store, session: Session::new(1), flow: Flow::Continue, answer: Ok(Ok([0; 5])) })
    }

    /// Takes whole commands of a new client; the replies, once what they changed is written.
    ///
    /// # Errors
    /// Whatever the database throws; the store is of no more use then.
    pub fn call(&mut self, now: f64, input: &[u8]) -> Result<Vec<u8>, JsValue> {
        let mut session = Session::new(1);
        let mut output = Vec::new();
        let mut flow = self.store.feed(&mut session, time(now), input, &mut output)?;
        while flow == Flow::More {
            flow = self.store.feed(&mut session, time(now), &[], &mut output)?;
        }
        Ok(output)
    }

    /// As `call`, of text; the replies are text, or bytes when they are no UTF-8.
    ///
    /// # Errors
    /// As `call`.
    #[wasm_bindgen(js_name = callText, unchecked_return_type = "string | Uint8Array")]
    pub fn call_text(&mut self, now: f64, input: &str) -> Result<JsValue, JsValue> {
        let output = self.call(now, input.as_bytes())?;
        if output.len() <= SHORT && output.is_ascii() {
            return Ok(from_char_codes(&output));
        }
        Ok(match core::str::from_utf8(&output) {
            Ok(text) => JsValue::from_str(text),
            Err(_) => js_sys::Uint8Array::from(output.as_slice()).into(),
        })
    }

    /// `GCRA.LIMIT` of period, burst, count and key, with a space after each but the last, once what it changed is written: whether
    /// `number` has its reply, each integer of which a number holds then. Else `answer` has it.
    #[wasm_bindgen(js_name = gcraLimit)]
    pub fn gcra_limit(&mut self, now: f64, ask: &str) -> bool {
        let [period, burst, count, key] = split(ask);
        self.decide(now, &[b"gcra.limit", key, period, burst, count])
    }

    /// `RATELIMIT.CHECK` of a limiter, and of cost and key as in `gcraLimit`.
    #[wasm_bindgen(js_name = rateLimitCheck)]
    pub fn rate_limit_check(&mut self, now: f64, name: &str, ask: &str) -> bool {
        let [cost, key] = split(ask);
        self.decide(now, &[b"ratelimit.check", name.as_bytes(), key, b"cost", cost])
    }

    /// An integer of the last decision.
    #[expect(clippy::cast_precision_loss, reason = "it was looked at")]
    pub fn number(&self, index: usize) -> f64 {
        match &self.answer {
            Ok(Ok(integers)) => integers.get(index).map_or(f64::NAN, |integer| *integer as f64),
            _ => f64::NAN,
        }
    }

    /// The last decision as text: its integers with commas in between, or why there is none, which begins with a capital letter.
    ///
    /// # Errors
    /// As `call`.
    pub fn answer(&mut self) -> Result<String, JsValue> {
        match core::mem::replace(&mut self.answer, Ok(Ok([0; 5])))? {
            Ok(integers) => {
                let mut text = String::new();
                for (index, integer) in integers.into_iter().enumerate() {
                    push(&mut text, if index == 0 { "" } else { "," });
                    push(&mut text, if integer < 0 { "-" } else { "" });
                    push_number(&mut text, integer.unsigned_abs());
                }
                Ok(text)
            }
            Err(error) => Ok(error.reply()),
        }
    }

    fn decide(&mut self, now: f64, arguments: &[&[u8]]) -> bool {
        let mut command = Command::of(arguments);
        self.answer = match command.read(arguments) {
            Ok(()) => self.store.decide(time(now), &command),
            Err(error) => Ok(Err(error)),
        };
        let held = |integer: &i64| integer.unsigned_abs() <= MAX_INTEGER;
        matches!(&self.answer, Ok(Ok(integers)) if integers.iter().all(held))
    }

    /// As `call`, from one client whose bytes may be cut anywhere.
    ///
    /// # Errors
    /// As `call`.
    pub fn feed(&mut self, now: f64, input: &[u8]) -> Result<Vec<u8>, JsValue> {
        let mut output = Vec::new();
        self.flow = self.store.feed(&mut self.session, time(now), input, &mut output)?;
        while self.flow == Flow::More {
            self.flow = self.store.feed(&mut self.session, time(now), &[], &mut output)?;
        }
        if self.flow == Flow::Close {
            self.session = Session::new(1);
        }
        Ok(output)
    }

    /// As `feed`, from one of several clients, as far as its `flow` says.
    ///
    /// # Errors
    /// As `call`.
    #[wasm_bindgen(js_name = feedClient)]
    pub fn feed_client(&mut self, client: &mut StoreClient, now: f64, input: &[u8]) -> Result<Vec<u8>, JsValue> {
        let mut output = Vec::new();
        client.flow = self.store.feed(&mut client.session, time(now), input, &mut output)?;
        Ok(output)
    }

    /// How many commands there were: of `GCRA.LIMIT`, `RATELIMIT.CHECK`, `CL.THROTTLE`, `VALVE.ADMIT` and of all others,
    /// each those allowed, denied and failed.
    pub fn counters(&mut self) -> Vec<f64> {
        self.store.engine().counters().counts().iter().map(|count| float(*count)).collect()
    }

    /// How many records are in memory.
    pub fn records(&mut self) -> f64 {
        float(self.store.engine().keyspace().len() as u64)
    }

    /// When something that was written since the last call can be deleted; `undefined` when nothing was, or never.
    #[wasm_bindgen(js_name = takeEarliest)]
    pub fn take_earliest(&mut self) -> Option<f64> {
        self.store.take_earliest().map(float)
    }

    /// When `saveDenials` is due; `undefined` when there is nothing to save.
    #[wasm_bindgen(js_name = denialsDue)]
    pub fn denials_due(&self) -> Option<f64> {
        self.store.denials_due().map(float)
    }

    /// Writes the totals of refused units.
    ///
    /// # Errors
    /// As `call`.
    #[wasm_bindgen(js_name = saveDenials)]
    pub fn save_denials(&mut self) -> Result<(), JsValue> {
        self.store.save_denials()
    }

    /// Deletes what has expired among the next `rows` rows. When to call it again; 0 when nothing is stored any more, and
    /// `undefined` when what is stored never expires.
    ///
    /// # Errors
    /// As `call`.
    pub fn sweep(&mut self, now: f64, rows: u32) -> Result<Option<f64>, JsValue> {
        Ok(match self.store.sweep(time(now), rows)? {
            Swept::Empty => Some(0.0),
            Swept::Again(at) => Some(float(at)),
            Swept::Lasting => None,
        })
    }

    /// Everything was deleted from the database.
    pub fn cleared(&mut self) {
        self.store.cleared();
    }

    /// Writes all that the next store must know.
    ///
    /// # Errors
    /// As `call`.
    pub fn close(&mut self) -> Result<(), JsValue> {
        self.store.close()
    }
}

/// One client of a store that has several.
#[wasm_bindgen]
pub struct StoreClient {
    session: Session,
    flow: Flow,
}

#[wasm_bindgen]
impl StoreClient {
    /// A client; with a password it must send that first. `id` is what `CLIENT ID` replies.
    #[wasm_bindgen(constructor)]
    pub fn new(id: f64, password: Option<Box<[u8]>>) -> Self {
        Self { session: Session::of(time(id), password), flow: Flow::Continue }
    }

    /// What to do once the replies are sent: 0 goes on, -1 closes, -2 feeds nothing to get the rest of them, and else that
    /// many milliseconds are waited before feeding nothing.
    pub fn flow(&self) -> f64 {
        match self.flow {
            Flow::Continue => 0.0,
            Flow::Close => -1.0,
            Flow::More => -2.0,
            Flow::Delay(ms) => float(ms),
        }
    }
}

fn text(text: &str) -> JsValue {
    String::from(text).into()
}

/// The parts of a text between its first spaces; what is missing is empty.
fn split<const PARTS: usize>(text: &str) -> [&[u8]; PARTS] {
    let mut parts = text.as_bytes().splitn(PARTS, |byte| *byte == b' ');
    [(); PARTS].map(|()| parts.next().unwrap_or_default())
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast saturates")]
fn time(ms: f64) -> u64 {
    ms as u64
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast saturates")]
fn count(value: f64) -> usize {
    value as usize
}

#[expect(clippy::cast_precision_loss, reason = "a time")]
fn float(value: u64) -> f64 {
    value as f64
}
