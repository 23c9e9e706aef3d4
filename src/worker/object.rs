//! The Durable Object: a store over its own storage.

use std::cell::{Cell, RefCell};
use std::format;
use std::rc::Rc;
use std::time::Duration;
use std::vec::Vec;

use wasm_bindgen::{JsCast, JsValue};
use worker::{Delay, DurableObject, Env, Error, Request, Response, Result, State, durable_object};

use crate::storage::{Database, JsSql, OpenError, Store, StoreOptions, Swept};
use crate::{Flow, Options, Session};

/// Rows looked at by one alarm.
const SWEEP_ROWS: u32 = 1000;
/// How long refused units may go unsaved.
const SAVE_DENIALS: Duration = Duration::from_secs(10);
const DEFAULT_MAX_LIMITERS: usize = 10_000;
/// Thirty years. The platform counts an alarm's time in nanoseconds, and can't say one that is hundreds of years away.
const LONGEST_WAIT_MS: i64 = 1_000_000_000_000;

/// What is known of the alarm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Alarm {
    Unknown,
    Unset,
    Set,
}

/// A Durable Object that holds budgets: RESP in, RESP out.
#[durable_object(alarm)]
pub struct TidegateObject {
    state: State,
    engine: Rc<EngineSlot>,
    alarm: Cell<Alarm>,
}

/// The store, built again after a failure from what the storage holds.
struct EngineSlot {
    database: JsValue,
    max_limiters: usize,
    store: RefCell<Option<Store<JsSql>>>,
    saves_denials: Cell<bool>,
}

impl DurableObject for TidegateObject {
    fn new(state: State, env: Env) -> Self {
        let limit = env.var("TIDEGATE_MAX_LIMITERS").ok().and_then(|limit| limit.to_string().parse().ok());
        let engine = EngineSlot {
            database: state.storage().sql().as_ref().clone(),
            max_limiters: limit.unwrap_or(DEFAULT_MAX_LIMITERS),
            store: RefCell::new(None),
            saves_denials: Cell::new(false),
        };
        Self { state, engine: Rc::new(engine), alarm: Cell::new(Alarm::Unknown) }
    }

    async fn fetch(&self, mut request: Request) -> Result<Response> {
        let commands = request.bytes().await?;
        let now = now();
        let (replies, earliest) = self.engine.with(|store| {
            let mut replies = Vec::new();
            let mut session = Session::new(1);
            let mut flow = store.feed(&mut session, now, &commands, &mut replies)?;
            while flow == Flow::More {
                flow = store.feed(&mut session, now, &[], &mut replies)?;
            }
            Ok((replies, store.take_earliest()))
        })?;
        EngineSlot::save_denials_in_time(&self.engine);
        if let (Some(earliest), true) = (earliest, self.alarm.get() != Alarm::Set) {
            self.arm(earliest).await?;
        }
        Response::from_bytes(replies)
    }

    async fn alarm(&self) -> Result<Response> {
        self.alarm.set(Alarm::Unset);
        let now = now();
        match self.engine.with(|store| store.sweep(now, SWEEP_ROWS))? {
            Swept::Empty => {
                let storage = self.state.storage();
                let deleted = storage.delete_all();
                self.engine.with(|store| {
                    store.cleared();
                    Ok(())
                })?;
                deleted.await?;
                storage.delete_alarm().await?;
            }
            Swept::Again(at) => self.set_alarm(at.saturating_sub(now)).await?,
            Swept::Lasting => {}
        }
        Response::empty()
    }
}

impl TidegateObject {
    /// Sets the alarm for `earliest`, unless one is set: at most one, and one write for many admissions.
    async fn arm(&self, earliest: u64) -> Result<()> {
        if self.alarm.get() == Alarm::Unknown {
            let set = self.state.storage().get_alarm().await?;
            self.alarm.set(if set.is_some() { Alarm::Set } else { Alarm::Unset });
        }
        if self.alarm.get() == Alarm::Unset { self.set_alarm(earliest.saturating_sub(now())).await } else { Ok(()) }
    }

    async fn set_alarm(&self, wait: u64) -> Result<()> {
        self.alarm.set(Alarm::Set);
        // An integer is a time from now on.
        let wait = i64::try_from(wait).unwrap_or(LONGEST_WAIT_MS).clamp(1, LONGEST_WAIT_MS);
        self.state.storage().set_alarm(wait).await
    }
}

impl EngineSlot {
    /// Runs `call` on the store, which is opened when there is none and dropped when it fails. Nothing is awaited meanwhile,
    /// so no two calls ever meet here.
    fn with<T>(&self, call: impl FnOnce(&mut Store<JsSql>) -> core::result::Result<T, JsValue>) -> Result<T> {
        let mut slot = self.store.try_borrow_mut().map_err(|_| Error::from("the object is busy"))?;
        let mut store = match slot.take() {
            Some(store) => store,
            None => self.open()?,
        };
        let result = call(&mut store)?;
        *slot = Some(store);
        Ok(result)
    }

    fn open(&self) -> Result<Store<JsSql>> {
        let random = || getrandom::u64().map_err(|error| Error::from(format!("no random numbers: {error}")));
        let engine = Options { max_limiters: self.max_limiters, seed: [random()?, random()?], ..Options::default() };
        let database = self.database.clone().unchecked_into::<Database>();
        let options = StoreOptions { engine, ..StoreOptions::default() };
        Store::open(JsSql::new(database, false), options).map_err(|error| match error {
            OpenError::Failed(failure) => Error::from(failure),
            OpenError::Newer(version) => Error::from(format!(
                "the storage is of version {version}, which is newer than this Worker; deploy a newer one"
            )),
        })
    }

    /// Sees to it that refused units are saved before long, without a write for each.
    fn save_denials_in_time(slot: &Rc<Self>) {
        let due = slot
            .store
            .try_borrow()
            .is_ok_and(|store| store.as_ref().is_some_and(|store| store.denials_due().is_some()));
        if !due || slot.saves_denials.replace(true) {
            return;
        }
        let slot = Rc::clone(slot);
        worker::wasm_bindgen_futures::spawn_local(async move {
            Delay::from(SAVE_DENIALS).await;
            slot.saves_denials.set(false);
            // A failure shows in the next call, which opens the store anew.
            let _ = slot.with(Store::save_denials);
        });
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast saturates")]
fn now() -> u64 {
    worker::js_sys::Date::now() as u64
}
