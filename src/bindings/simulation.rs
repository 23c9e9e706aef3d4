//! Many arrivals through rules in a few calls: what a chart of a whole day needs.

use std::mem::take;
use std::vec::Vec;

use wasm_bindgen::prelude::wasm_bindgen;

use super::core::{float, number, positive, time};
use super::scratch;
use crate::Positive;
use crate::algorithm::{Count, FixedWindow, Log, Rule, Schedule, SlidingWindow, Tat, Verdict};
use crate::limiter::Rate;

/// Rules that start idle, and what they remember of the arrivals that went through them.
///
/// An arrival is admitted when every rule admits it, and spends nothing when one refuses: the step of a policy.
#[wasm_bindgen]
#[derive(Default)]
pub struct Simulation {
    rules: Vec<Simulated>,
    latest: u64,
}

/// A rule and its one state.
struct Simulated {
    rule: Rule,
    state: State,
    /// Units of a schedule per millisecond; 0 for the windows.
    rate: f64,
    verdict: Option<Verdict>,
    next: State,
}

/// What a rule remembers between two arrivals.
#[derive(Default)]
enum State {
    #[default]
    Idle,
    Tat(Tat),
    Count(Count),
    Log(Log),
}

#[wasm_bindgen]
impl Simulation {
    /// No rules, no arrivals.
    #[wasm_bindgen(constructor)]
    pub fn new() -> Self {
        Self::default()
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
            let now = time(now);
            let answer = self.arrive(now, Positive::new(time(cost)).unwrap_or(Positive::ONE));
            let levels = self.rules.iter().map(|simulated| simulated.level(now));
            scratch::answer_in_batch(index, answer.into_iter().chain(levels));
        }
    }
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
        self.rules.push(Simulated { rule, state: State::Idle, rate, verdict: None, next: State::Idle });
    }

    fn arrive(&mut self, now: u64, cost: Positive) -> [f64; 5] {
        let (mut retry_after, mut reset_after, mut remaining, mut blocked_by) = (0.0, 0, u64::MAX, 0_u32);
        for (index, simulated) in self.rules.iter_mut().enumerate() {
            if now < self.latest {
                simulated.expire(self.latest);
            }
            let verdict = simulated.decide(now, cost);
            if !verdict.allowed {
                blocked_by |= u32::try_from(index).ok().and_then(|index| 1_u32.checked_shl(index)).unwrap_or(0);
                let wait = number(verdict.retry, 0.0);
                retry_after = if wait < 0.0 || retry_after < 0.0 { -1.0 } else { wait.max(retry_after) };
            }
        }
        self.latest = now;
        let allowed = self.rules.iter().all(|simulated| simulated.verdict.is_some_and(|verdict| verdict.allowed));
        for simulated in &mut self.rules {
            let (left, until) = simulated.settle(now, cost, allowed);
            remaining = remaining.min(left);
            reset_after = reset_after.max(until);
        }
        [f64::from(u8::from(allowed)), retry_after, float(reset_after), float(remaining), f64::from(blocked_by)]
    }
}

impl Simulated {
    fn decide(&mut self, now: u64, cost: Positive) -> Verdict {
        let verdict = match (&self.rule, &self.state) {
            (Rule::Schedule(rule), state) => {
                let tat = if let State::Tat(tat) = state { Some(*tat) } else { None };
                let (verdict, next) = rule.decide(tat, now, cost);
                self.next = next.map_or(State::Idle, State::Tat);
                verdict
            }
            (Rule::Fixed(rule), state) => {
                let count = if let State::Count(count) = state { Some(*count) } else { None };
                let (verdict, next) = rule.decide(count, now, cost);
                self.next = next.map_or(State::Idle, State::Count);
                verdict
            }
            (Rule::Sliding(rule), state) => {
                let log = if let State::Log(log) = state { Some(log) } else { None };
                rule.decide(log, now, cost)
            }
        };
        self.verdict = Some(verdict);
        verdict
    }

    /// Commits the last decision when `allowed`. Returns the units left, and the milliseconds until the rule is idle.
    fn settle(&mut self, now: u64, cost: Positive, allowed: bool) -> (u64, u64) {
        let verdict = self.verdict.take();
        let next = take(&mut self.next);
        let (left, until) = verdict.map_or((0, 0), |verdict| (verdict.remaining, verdict.reset_after));
        if allowed {
            if let Rule::Sliding(rule) = &self.rule {
                if let State::Log(log) = &mut self.state {
                    rule.admit(log, now, cost);
                } else {
                    let mut log = Log::new();
                    rule.admit(&mut log, now, cost);
                    self.state = State::Log(log);
                }
            } else {
                self.state = next;
            }
            return (left, until);
        }
        // This rule would have admitted what another one refused: the cost is still there.
        let unspent = verdict.is_some_and(|verdict| verdict.allowed);
        if unspent { (left.saturating_add(cost.get()), self.idle_in(now)) } else { (left, until) }
    }

    /// Milliseconds, rounded up, until the rule's state is gone.
    fn idle_in(&self, now: u64) -> u64 {
        let idle = match (&self.state, &self.rule) {
            (State::Tat(tat), Rule::Schedule(rule)) => rule.clamped(*tat, now).ceil(),
            (State::Tat(tat), _) => tat.ceil(),
            (State::Count(count), _) => count.ends,
            (State::Log(log), Rule::Sliding(rule)) => {
                log.newest().map_or(now, |at| at.min(rule.logged_at(now)).saturating_add(rule.window()))
            }
            (State::Idle | State::Log(_), _) => now,
        };
        idle.saturating_sub(now)
    }

    /// Forgets what had expired at `latest`.
    fn expire(&mut self, latest: u64) {
        let live = match (&mut self.state, &self.rule) {
            (State::Idle, _) => true,
            (State::Tat(tat), _) => tat.ceil() > latest,
            (State::Count(count), _) => count.ends > latest,
            (State::Log(log), Rule::Sliding(rule)) => log.expire(rule.window(), latest),
            (State::Log(_), _) => false,
        };
        if !live {
            self.state = State::Idle;
        }
    }

    /// Units in use, fractions included.
    fn level(&self, now: u64) -> f64 {
        match (&self.state, &self.rule) {
            (State::Tat(tat), Rule::Schedule(rule)) => {
                let tat = rule.clamped(*tat, now);
                match tat.ms.checked_sub(now) {
                    Some(ahead) => (float(ahead) + float(tat.remainder) / float(tat.denominator)) * self.rate,
                    None => 0.0,
                }
            }
            (State::Count(count), Rule::Fixed(rule)) => float(rule.used(Some(*count), now)),
            (State::Log(log), Rule::Sliding(rule)) => float(rule.used(Some(log), now)),
            _ => 0.0,
        }
    }
}
