//! Many arrivals through rules in a few calls: what a chart of a whole day needs.
//!
//! An engine that does nothing else holds what the rules remember. They start idle; an arrival is admitted when every
//! rule admits it, and spends nothing when one refuses: the step of a policy.

use wasm_bindgen::prelude::wasm_bindgen;

use super::core::{Core, float, number, time};
use super::{held, scratch};
use crate::Positive;
use crate::algorithm::Rule;
use crate::keyspace::{Decision, Key, Keyspace, Space, State};
use crate::limiter::Rate;

pub(super) struct Simulated {
    rule: Rule,
    /// Units of a schedule per millisecond; 0 for the windows.
    rate: f64,
    decision: Option<Decision>,
}

/// Adds a rule: a schedule of `limit` units every `interval` ms, `burst` of them at once; a bucket of `burst` units with
/// an exact rate in units per second, as `REFILL` and `DRAIN` take it; or a window of `interval` ms, sliding or fixed.
/// `false` when a full recovery would take over 2^53 - 1 ms, or a number or the rate is none.
#[wasm_bindgen(js_name = addRule)]
pub fn add_rule(core: usize, kind: u32, limit: f64, interval: f64, burst: f64, rate: &str) -> bool {
    let rule = || {
        let positive = |value: f64| Positive::new(time(value));
        let (limit, interval, burst) = (positive(limit)?, positive(interval)?, positive(burst)?);
        let (numerator, denominator) = match kind {
            0 => return Some((Rule::fixed(limit, interval), 0.0)),
            1 => return Some((Rule::sliding(limit, interval), 0.0)),
            2 => (interval.get(), limit.get()),
            _ => Rate::parse(rate.as_bytes()).ok()?.spacing(),
        };
        Some((Rule::spaced(numerator, denominator, burst)?, float(denominator) / float(numerator)))
    };
    let (Some(mut core), Some((rule, rate))) = (held::core(core), rule()) else { return false };
    core.rules.push(Simulated { rule, rate, decision: None });
    true
}

/// Sends `arrivals` through the rules, in order. The columns hold the time of each in the first and its cost in the
/// second; they are replaced by: whether it was admitted, milliseconds until it would be (0 when it was, -1 when it
/// never will be), milliseconds until every rule is idle, units that all rules still admit, the rules that refused as
/// bits, and then, a column for each rule, the units in use after it, fractions included.
#[wasm_bindgen]
pub fn simulate(core: usize, arrivals: usize) {
    let Some(mut core) = held::core(core) else { return };
    let Core { engine, rules, .. } = &mut *core;
    let keyspace = engine.keyspace();
    for index in 0..arrivals {
        let [now, cost] = scratch::arrival(index);
        let cost = Positive::new(time(cost)).unwrap_or(Positive::ONE);
        keyspace.advance(time(now));
        arrive(keyspace, rules, cost, index);
    }
}

/// Where the rule at `index` keeps its one state.
fn key(index: usize) -> Key<'static> {
    Key { space: Space(u32::try_from(index).unwrap_or(u32::MAX)), name: &[] }
}

/// One arrival: its answer is left in the columns at `index`.
fn arrive(keyspace: &mut Keyspace, rules: &mut [Simulated], cost: Positive, index: usize) {
    let (mut retry_after, mut reset_after, mut remaining, mut blocked_by) = (0.0, 0, u64::MAX, 0_u32);
    let mut bit = 1_u32;
    for (at, simulated) in rules.iter_mut().enumerate() {
        let decision = keyspace.decide(key(at), &simulated.rule, cost);
        simulated.decision = Some(decision);
        if !decision.verdict.allowed {
            blocked_by |= bit;
            let wait = number(decision.verdict.retry, 0.0);
            retry_after = if wait < 0.0 || retry_after < 0.0 { -1.0 } else { wait.max(retry_after) };
        }
        bit = bit.wrapping_shl(1);
    }
    let allowed = blocked_by == 0;
    for (at, simulated) in rules.iter_mut().enumerate() {
        let Some(decision) = simulated.decision.take() else { continue };
        let (mut left, mut until) = (decision.verdict.remaining, decision.verdict.reset_after);
        if allowed {
            // There is no limit to the keys, so there is room.
            let _ = keyspace.commit(key(at), &decision);
        } else if decision.verdict.allowed {
            // This rule would have admitted what another one refused: the cost is still there.
            left = left.saturating_add(cost.get());
            let state = keyspace.state(decision.place, key(at));
            until = state.map_or(0, |state| state.expires().saturating_sub(keyspace.now()));
        }
        remaining = remaining.min(left);
        reset_after = reset_after.max(until);
        scratch::put(at.wrapping_add(5), index, level(keyspace, at, simulated));
    }
    scratch::put(0, index, f64::from(u8::from(allowed)));
    scratch::put(1, index, retry_after);
    scratch::put(2, index, float(reset_after));
    scratch::put(3, index, float(remaining));
    scratch::put(4, index, f64::from(blocked_by));
}

/// Units in use, fractions included.
fn level(keyspace: &Keyspace, at: usize, simulated: &Simulated) -> f64 {
    let (now, key) = (keyspace.now(), key(at));
    match (keyspace.state(keyspace.locate(key), key), &simulated.rule) {
        (Some(State::Tat { tat, .. }), _) => {
            let ahead = float(tat.ms.saturating_sub(now)) + float(tat.remainder) / float(tat.denominator);
            ahead * simulated.rate
        }
        (Some(State::Count(count)), _) => float(count.units),
        (Some(State::Log { log, .. }), Rule::Sliding(rule)) => float(rule.used(Some(log), now)),
        _ => 0.0,
    }
}
