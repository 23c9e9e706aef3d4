//! Many arrivals through rules in a few calls: what a chart of a whole day needs.

use std::vec::Vec;

use wasm_bindgen::prelude::wasm_bindgen;

use super::core::{float, number, positive, time};
use super::scratch;
use crate::Positive;
use crate::algorithm::{FixedWindow, Rule, Schedule, SlidingWindow};
use crate::keyspace::{Decision, Key, Keyspace, Space, State};
use crate::limiter::Rate;

/// Rules that start idle, and a keyspace that holds what they remember: what an engine decides with.
///
/// An arrival is admitted when every rule admits it, and spends nothing when one refuses: the step of a policy.
#[wasm_bindgen]
pub struct Simulation {
    keyspace: Keyspace,
    rules: Vec<Simulated>,
}

struct Simulated {
    rule: Rule,
    /// Units of a schedule per millisecond; 0 for the windows.
    rate: f64,
    decision: Option<Decision>,
}

#[wasm_bindgen]
impl Simulation {
    /// No rules, no arrivals.
    #[wasm_bindgen(constructor)]
    pub fn new() -> Self {
        // Nobody chooses keys here, so the seed is no secret.
        Self { keyspace: Keyspace::new([0; 2], usize::MAX), rules: Vec::new() }
    }

    /// Adds a schedule of `limit` units every `interval` ms, `burst` of them at once. `false` when a full recovery would
    /// take over 2^53 - 1 ms, or a number is out of range.
    #[wasm_bindgen(js_name = addSchedule)]
    pub fn add_schedule(&mut self, limit: f64, interval: f64, burst: f64) -> bool {
        match (positive("interval", interval), positive("limit", limit), positive("burst", burst)) {
            (Ok(interval), Ok(limit), Ok(burst)) => self.add_spaced(interval.get(), limit.get(), burst),
            _ => false,
        }
    }

    /// Adds a bucket of `limit` units with an exact rate in units per second, as `REFILL` and `DRAIN` take it. `false` when
    /// the rate is not one, or as for [`Simulation::add_schedule`].
    #[wasm_bindgen(js_name = addBucket)]
    pub fn add_bucket(&mut self, limit: f64, rate: &str) -> bool {
        match (Rate::parse(rate.as_bytes()), positive("limit", limit)) {
            (Ok(rate), Ok(limit)) => {
                let (numerator, denominator) = rate.spacing();
                self.add_spaced(numerator, denominator, limit)
            }
            _ => false,
        }
    }

    /// Adds a window of `interval` ms, sliding or fixed. `false` when a number is out of range.
    #[wasm_bindgen(js_name = addWindow)]
    pub fn add_window(&mut self, limit: f64, interval: f64, sliding: bool) -> bool {
        let (Ok(limit), Ok(interval)) = (positive("limit", limit), positive("interval", interval)) else {
            return false;
        };
        let rule = if sliding {
            Rule::Sliding(SlidingWindow::new(limit, interval))
        } else {
            Rule::Fixed(FixedWindow::new(limit, interval))
        };
        self.add(rule, 0.0);
        true
    }

    /// Sends `arrivals` through the rules, in order. The columns hold the time of each in the first and its cost in the
    /// second; they are replaced by: whether it was admitted, milliseconds until it would be (0 when it was, -1 when it
    /// never will be), milliseconds until every rule is idle, units that all rules still admit, the rules that refused as
    /// bits, and then, a column for each rule, the units in use after it, fractions included.
    pub fn run(&mut self, arrivals: usize) {
        for index in 0..arrivals {
            let [now, cost] = scratch::arrival(index);
            let cost = Positive::new(time(cost)).unwrap_or(Positive::ONE);
            self.keyspace.advance(time(now));
            let answer = self.arrive(cost);
            let levels = self.rules.iter().enumerate().map(|(index, simulated)| self.level(index, simulated));
            scratch::answer_in_batch(index, answer.into_iter().chain(levels));
        }
    }
}

/// Where the rule at `index` keeps its one state.
fn key(index: usize) -> Key<'static> {
    Key { space: Space(u32::try_from(index).unwrap_or(u32::MAX)), name: &[] }
}

impl Simulation {
    fn add_spaced(&mut self, numerator: u64, denominator: u64, burst: Positive) -> bool {
        let rule = Schedule::spaced(numerator, denominator, burst);
        if let Some(rule) = rule {
            self.add(Rule::Schedule(rule), float(denominator) / float(numerator));
        }
        rule.is_some()
    }

    fn add(&mut self, rule: Rule, rate: f64) {
        self.rules.push(Simulated { rule, rate, decision: None });
    }

    fn arrive(&mut self, cost: Positive) -> [f64; 5] {
        let (mut retry_after, mut reset_after, mut remaining, mut blocked_by) = (0.0, 0, u64::MAX, 0_u32);
        for (index, simulated) in self.rules.iter_mut().enumerate() {
            let decision = self.keyspace.decide(key(index), &simulated.rule, cost);
            simulated.decision = Some(decision);
            if !decision.verdict.allowed {
                blocked_by |= u32::try_from(index).ok().and_then(|index| 1_u32.checked_shl(index)).unwrap_or(0);
                let wait = number(decision.verdict.retry, 0.0);
                retry_after = if wait < 0.0 || retry_after < 0.0 { -1.0 } else { wait.max(retry_after) };
            }
        }
        let allowed = blocked_by == 0;
        for (index, simulated) in self.rules.iter_mut().enumerate() {
            let Some(decision) = simulated.decision.take() else { continue };
            let (mut left, mut until) = (decision.verdict.remaining, decision.verdict.reset_after);
            if allowed {
                // There is no limit to the keys, so there is room.
                let _ = self.keyspace.commit(key(index), &decision);
            } else if decision.verdict.allowed {
                // This rule would have admitted what another one refused: the cost is still there.
                left = left.saturating_add(cost.get());
                let state = self.keyspace.state(decision.place, key(index));
                until = state.map_or(0, |state| state.expires().saturating_sub(self.keyspace.now()));
            }
            remaining = remaining.min(left);
            reset_after = reset_after.max(until);
        }
        [f64::from(u8::from(allowed)), retry_after, float(reset_after), float(remaining), f64::from(blocked_by)]
    }

    /// Units in use, fractions included.
    fn level(&self, index: usize, simulated: &Simulated) -> f64 {
        let now = self.keyspace.now();
        let key = key(index);
        match (self.keyspace.state(self.keyspace.locate(key), key), &simulated.rule) {
            (Some(State::Tat { tat, .. }), _) => {
                let ahead = float(tat.ms.saturating_sub(now)) + float(tat.remainder) / float(tat.denominator);
                ahead * simulated.rate
            }
            (Some(State::Count(count)), _) => float(count.units),
            (Some(State::Log { log, .. }), Rule::Sliding(rule)) => float(rule.used(Some(log), now)),
            _ => 0.0,
        }
    }
}
