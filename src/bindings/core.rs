//! An engine as JavaScript holds it.

use std::string::String;

use wasm_bindgen::prelude::wasm_bindgen;

use super::scratch;
use crate::algorithm::Retry;
use crate::{Engine, Error, Options, Positive};

/// The answer is a permission.
pub(super) const ALLOWED: u32 = 0;
/// The answer is a refusal.
pub(super) const REFUSED: u32 = 1;
/// There is no answer; `takeError` says why.
pub(super) const FAILED: u32 = 2;

/// An engine, and what went wrong in it last.
#[wasm_bindgen]
pub struct Core {
    pub(super) engine: Engine,
    pub(super) error: Option<Error>,
}

#[wasm_bindgen]
impl Core {
    /// An engine. `first` and `second` seed its hash and must be random; drawn outside, since what can throw in here takes
    /// code that nothing else needs.
    pub fn open(max_keys: f64, max_limiters: f64, first: u64, second: u64) -> Self {
        let seed = [first, second];
        let options = Options { max_keys: count(max_keys), max_limiters: count(max_limiters), seed };
        Self { engine: Engine::new(&options), error: None }
    }

    /// `GCRA.LIMIT` on the key in the buffer: remaining, `retry_after_ms` and `reset_after_ms` are left in the numbers.
    #[wasm_bindgen(js_name = gcraLimit)]
    pub fn gcra_limit(&mut self, now: f64, key_bytes: usize, period: f64, burst: f64, count: f64) -> u32 {
        let mut decide = || {
            let [period, burst, count] =
                [positive("period", period)?, positive("burst", burst)?, positive("count", count)?];
            self.engine.gcra_limit(time(now), scratch::key(key_bytes), period, burst, count)
        };
        match decide() {
            Ok(decision) => {
                let retry = number(decision.retry, -1.0);
                scratch::answer([float(decision.remaining), retry, float(decision.reset_after), 0.0]);
                u32::from(decision.denied)
            }
            Err(error) => self.fail(error),
        }
    }

    /// `RATELIMIT.CHECK` on the name and key in the buffers: remaining, `retry_after_ms`, limit and current are left in
    /// the numbers.
    #[wasm_bindgen(js_name = rateLimitCheck)]
    pub fn rate_limit_check(&mut self, now: f64, name_bytes: usize, key_bytes: usize, cost: f64) -> u32 {
        let (name, key) = (scratch::name(name_bytes), scratch::key(key_bytes));
        let decision = positive("cost", cost).and_then(|cost| self.engine.rate_limit_check(time(now), name, key, cost));
        match decision {
            Ok(decision) => {
                let retry = number(decision.retry, 0.0);
                let [remaining, limit, current] = [decision.remaining, decision.limit, decision.current].map(float);
                scratch::answer([remaining, retry, limit, current]);
                if decision.allowed { ALLOWED } else { REFUSED }
            }
            Err(error) => self.fail(error),
        }
    }

    /// What went wrong in the last call that failed, as a command would reply it.
    #[wasm_bindgen(js_name = takeError)]
    pub fn take_error(&mut self) -> String {
        match self.error.take() {
            Some(error) => error.reply(),
            None => String::new(),
        }
    }

    #[cold]
    pub(super) fn fail(&mut self, error: Error) -> u32 {
        self.error = Some(error);
        FAILED
    }
}

/// A time from JavaScript.
#[inline]
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast saturates")]
pub(super) fn time(ms: f64) -> u64 {
    ms as u64
}

/// An integer from JavaScript that must be from 1 to 2^53 - 1.
#[inline]
pub(super) fn positive(argument: &'static str, value: f64) -> Result<Positive, Error> {
    Positive::named(argument, time(value))
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast saturates")]
fn count(value: f64) -> usize {
    value as usize
}

/// An integer for JavaScript; durations and units are at most 2^54, and exact up to 2^53.
#[inline]
#[expect(clippy::cast_precision_loss, reason = "replies are integers that a float holds")]
pub(super) fn float(value: u64) -> f64 {
    value as f64
}

/// A wait for JavaScript: `now` when there is none, -1 when it never ends.
#[inline]
pub(super) fn number(retry: Retry, now: f64) -> f64 {
    match retry {
        Retry::Now => now,
        Retry::After(ms) => float(ms),
        Retry::Never => -1.0,
    }
}
