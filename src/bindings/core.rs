//! An engine as JavaScript calls it.

use alloc::string::String;
use alloc::vec::Vec;

use wasm_bindgen::prelude::wasm_bindgen;

use super::simulation::Simulated;
use super::{held, scratch};
use crate::algorithm::Retry;
use crate::{Engine, Error, Positive};

/// The answer is a permission.
const ALLOWED: u32 = 0;
/// The answer is a refusal.
const REFUSED: u32 = 1;
/// There is no answer; `takeError` says why.
const FAILED: u32 = 2;

/// An engine, and what went wrong in it last.
pub(super) struct Core {
    pub engine: Engine,
    pub error: Option<Error>,
    /// Rules that a simulation decides by.
    pub rules: Vec<Simulated>,
}

impl Core {
    /// Keeps what went wrong, where something did.
    pub fn answer<T>(&mut self, answer: Result<T, Error>) -> Option<T> {
        match answer {
            Ok(answer) => Some(answer),
            Err(error) => {
                self.error = Some(error);
                None
            }
        }
    }
}

/// `GCRA.LIMIT` on the key in the buffer: remaining, `retry_after_ms` and `reset_after_ms` are left in the numbers.
#[wasm_bindgen(js_name = gcraLimit)]
pub fn gcra_limit(core: usize, now: f64, key_bytes: usize, period: f64, burst: f64, count: f64) -> u32 {
    let decide = || {
        let mut core = held::core(core)?;
        let arguments = || Ok([positive("period", period)?, positive("burst", burst)?, positive("count", count)?]);
        let [period, burst, count] = core.answer(arguments())?;
        let decided = core.engine.gcra_limit(time(now), scratch::key(key_bytes), period, burst, count);
        let decision = core.answer(decided)?;
        let retry = number(decision.retry, -1.0);
        scratch::answer([float(decision.remaining), retry, float(decision.reset_after), 0.0]);
        Some(if decision.denied { REFUSED } else { ALLOWED })
    };
    decide().unwrap_or(FAILED)
}

/// `GCRA.LIMIT` on each of the first `keys` keys in the batch buffer, all at `now`. The columns get remaining,
/// `retry_after_ms`, `reset_after_ms`, and whether it was denied, of each key. Returns how many were decided: fewer than
/// `keys` when one failed, and `takeError` says why.
#[wasm_bindgen(js_name = gcraLimitMany)]
pub fn gcra_limit_many(core: usize, now: f64, keys: usize, period: f64, burst: f64, count: f64) -> usize {
    let mut index = 0;
    let mut decide = || {
        let mut core = held::core(core)?;
        let arguments = || Ok([positive("period", period)?, positive("burst", burst)?, positive("count", count)?]);
        let [period, burst, count] = core.answer(arguments())?;
        let now = time(now);
        let (mut bytes, lengths) = scratch::keys();
        for length in lengths.iter().take(keys) {
            let (key, rest) = bytes.split_at_checked(*length as usize)?;
            bytes = rest;
            let decided = core.engine.gcra_limit(now, key, period, burst, count);
            let decision = core.answer(decided)?;
            scratch::put(0, index, float(decision.remaining));
            scratch::put(1, index, number(decision.retry, -1.0));
            scratch::put(2, index, float(decision.reset_after));
            scratch::put(3, index, f64::from(u8::from(decision.denied)));
            index = index.wrapping_add(1);
        }
        Some(())
    };
    decide();
    index
}

/// `RATELIMIT.CHECK` on the name and key in the buffers: remaining, `retry_after_ms`, limit and current are left in the
/// numbers.
#[wasm_bindgen(js_name = rateLimitCheck)]
pub fn rate_limit_check(core: usize, now: f64, name_bytes: usize, key_bytes: usize, cost: f64) -> u32 {
    let decide = || {
        let mut core = held::core(core)?;
        let (name, key) = (scratch::name(name_bytes), scratch::key(key_bytes));
        let decided = positive("cost", cost).and_then(|cost| core.engine.rate_limit_check(time(now), name, key, cost));
        let decision = core.answer(decided)?;
        let retry = number(decision.retry, 0.0);
        let [remaining, limit, current] = [decision.remaining, decision.limit, decision.current].map(float);
        scratch::answer([remaining, retry, limit, current]);
        Some(if decision.allowed { ALLOWED } else { REFUSED })
    };
    decide().unwrap_or(FAILED)
}

/// What went wrong in the last call that failed, as a command would reply it.
#[wasm_bindgen(js_name = takeError)]
pub fn take_error(core: usize) -> String {
    let error = held::core(core).and_then(|mut core| core.error.take());
    error.map_or_else(String::new, |error| error.reply())
}

/// How many records there are, and how many commands there were: of `GCRA.LIMIT`, `RATELIMIT.CHECK`, `CL.THROTTLE`,
/// `VALVE.ADMIT` and of all others, each those allowed, denied and failed. In the first column.
#[wasm_bindgen]
pub fn stats(core: usize) {
    let Some(mut core) = held::core(core) else { return };
    scratch::put(0, 0, float(core.engine.keyspace().len() as u64));
    for (at, count) in core.engine.counters().counts().iter().enumerate() {
        scratch::put(0, at.wrapping_add(1), float(*count));
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
pub(super) fn count(value: f64) -> usize {
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
