//! The rules once more, written from their definitions on exact fractions, with eager expiry and plain maps. Slow, and as
//! unlike the engine as can be.

use std::collections::BTreeMap;

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{Signed, ToPrimitive, Zero};

fn whole(value: impl Into<BigInt>) -> BigRational {
    BigRational::from_integer(value.into())
}

fn integer(value: &BigRational) -> i64 {
    value.to_integer().to_i64().expect("a reported integer fits 64 bits")
}

fn max(a: BigRational, b: BigRational) -> BigRational {
    if a > b { a } else { b }
}

fn min(a: BigRational, b: BigRational) -> BigRational {
    if a < b { a } else { b }
}

/// How a key is counted.
#[derive(Clone, Debug)]
pub enum Rule {
    /// Spacing in ms and burst.
    Schedule {
        spacing: BigRational,
        burst: u64,
    },
    Fixed {
        limit: u64,
        interval: u64,
    },
    Sliding {
        limit: u64,
        window: u64,
    },
}

impl Rule {
    pub fn most(&self) -> u64 {
        match self {
            Self::Schedule { burst, .. } => *burst,
            Self::Fixed { limit, .. } | Self::Sliding { limit, .. } => *limit,
        }
    }
}

/// What a key remembers.
#[derive(Clone, Debug)]
pub enum State {
    Tat(BigRational),
    /// A window's index and what was counted in it.
    Count(u64, u64),
    /// Times and units, oldest first.
    Log(Vec<(u64, u64)>),
}

/// What a rule says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    pub allowed: bool,
    pub remaining: i64,
    /// `None` when it fits now, -1 when it never will.
    pub retry: Option<i64>,
    /// Of a schedule.
    pub reset: i64,
    /// Units in use before, rounded up.
    pub used: i64,
}

/// Decides, and gives the state to store when it is allowed.
pub fn decide(rule: &Rule, state: Option<&State>, now: u64, cost: u64) -> (Answer, Option<State>) {
    match rule {
        Rule::Schedule { spacing, burst } => {
            let now = whole(now);
            let full = whole(*burst) * spacing;
            let tat = match state {
                Some(State::Tat(tat)) => tat.clone(),
                _ => now.clone(),
            };
            let base = min(max(tat, now.clone()), &now + &full);
            let after = &base + whole(cost) * spacing;
            let used = integer(&((&base - &now) / spacing).ceil());
            let left =
                |tat: &BigRational| integer(&max(((&full - (tat - &now)) / spacing).floor(), BigRational::zero()));
            if &after - &now <= full {
                let reset = integer(&(&after - &now).ceil());
                let answer = Answer { allowed: true, remaining: left(&after), retry: None, reset, used };
                return (answer, Some(State::Tat(after)));
            }
            let retry = if cost > *burst { -1 } else { integer(&(&after - &full - &now).ceil()) };
            let reset = integer(&(&base - &now).ceil());
            (Answer { allowed: false, remaining: left(&base), retry: Some(retry), reset, used }, None)
        }
        Rule::Fixed { limit, interval } => {
            let index = now / interval;
            let used = match state {
                Some(State::Count(of, units)) if *of >= index => *units,
                _ => 0,
            };
            let end = (index + 1) * interval - now;
            windowed(used, *limit, cost, end, State::Count(index, used + cost))
        }
        Rule::Sliding { limit, window } => {
            let grain = if *limit.min(window) <= 4096 { 1 } else { window.div_ceil(4096) };
            let here = (now / grain + 1) * grain - 1;
            let log: Vec<(u64, u64)> = match state {
                Some(State::Log(log)) => log
                    .iter()
                    .filter(|(at, _)| at + window > now)
                    .map(|(at, units)| ((*at).min(here), *units))
                    .collect(),
                _ => Vec::new(),
            };
            let used = log.iter().map(|(_, units)| units).sum();
            let mut gone = 0;
            let mut wait = 0;
            for (at, units) in &log {
                gone += units;
                wait = at + window - now;
                if used - gone + cost <= *limit {
                    break;
                }
            }
            let mut grown = log.clone();
            grown.push((here, cost));
            windowed(used, *limit, cost, wait, State::Log(grown))
        }
    }
}

fn windowed(used: u64, limit: u64, cost: u64, wait: u64, next: State) -> (Answer, Option<State>) {
    let used = i64::try_from(used).expect("units fit 64 bits");
    let (limit, cost) = (i64::try_from(limit).expect("a limit"), i64::try_from(cost).expect("a cost"));
    if used + cost <= limit {
        let answer = Answer { allowed: true, remaining: limit - used - cost, retry: None, reset: 0, used };
        return (answer, Some(next));
    }
    let retry = if cost > limit { -1 } else { i64::try_from(wait).expect("a wait") };
    (Answer { allowed: false, remaining: limit - used, retry: Some(retry), reset: 0, used }, None)
}

/// Whether a state has recovered at `now`; of a log, what has left is taken out.
fn recovered(rule: &Rule, state: &mut State, now: u64) -> bool {
    match (rule, state) {
        (_, State::Tat(tat)) => *tat <= whole(now),
        (Rule::Fixed { interval, .. }, State::Count(index, _)) => (*index + 1) * interval <= now,
        (Rule::Sliding { window, .. }, State::Log(log)) => {
            log.retain(|(at, _)| at + window > now);
            log.is_empty()
        }
        _ => unreachable!("a state of another rule"),
    }
}

/// States by key, all dropped the moment they have recovered.
#[derive(Debug, Default)]
pub struct States {
    by_key: BTreeMap<Vec<u8>, (Rule, State)>,
    latest: u64,
}

impl States {
    /// Serves a call at `now`: on a step back, what had recovered by the latest time is gone first.
    pub fn serve(&mut self, now: u64) {
        let by = if now < self.latest { self.latest } else { now };
        self.by_key.retain(|_, (rule, state)| !recovered(rule, state, by));
        self.latest = now;
    }

    pub fn peek(&self, key: &[u8], rule: &Rule, now: u64, cost: u64) -> (Answer, Option<State>) {
        decide(rule, self.by_key.get(key).map(|(_, state)| state), now, cost)
    }

    pub fn store(&mut self, key: &[u8], rule: &Rule, state: State) {
        self.by_key.insert(key.to_vec(), (rule.clone(), state));
    }

    pub fn check(&mut self, key: &[u8], rule: &Rule, now: u64, cost: u64) -> Answer {
        let (answer, next) = self.peek(key, rule, now, cost);
        if let Some(next) = next {
            self.store(key, rule, next);
        }
        answer
    }

    /// `GCRA.LIMIT`: the same key may be called with any rule; its tat is first rounded up to the call's grain.
    pub fn gcra(&mut self, key: &[u8], period: u64, burst: u64, now: u64, cost: u64) -> Answer {
        let rule = Rule::Schedule { spacing: BigRational::new(period.into(), burst.into()), burst };
        let state = match self.by_key.get(key) {
            Some((_, State::Tat(tat))) => Some(State::Tat((tat * whole(burst)).ceil() / whole(burst))),
            _ => None,
        };
        let (answer, next) = decide(&rule, state.as_ref(), now, cost);
        if let Some(next) = next {
            self.store(key, &rule, next);
        }
        answer
    }

    pub fn remove(&mut self, key: &[u8]) -> bool {
        self.by_key.remove(key).is_some()
    }

    pub fn len(&self) -> usize {
        self.by_key.len()
    }
}

/// All rules or none; the indexes of those that refuse, and the longest wait.
pub fn admit(states: &mut States, rules: &[(Vec<u8>, Rule)], now: u64, cost: u64) -> Result<(), (i64, Vec<usize>)> {
    let answers: Vec<_> = rules.iter().map(|(key, rule)| states.peek(key, rule, now, cost)).collect();
    let refusing: Vec<usize> = (0..rules.len()).filter(|index| !answers[*index].0.allowed).collect();
    if let Some(wait) = refusing.iter().filter_map(|index| answers[*index].0.retry).max() {
        return Err((wait, refusing));
    }
    for ((key, rule), (_, next)) in rules.iter().zip(answers) {
        states.store(key, rule, next.expect("an allowed answer has a next state"));
    }
    Ok(())
}

/// A rate in units per second as spacing in ms.
pub fn spacing_of_rate(digits: u64, scale: u32) -> BigRational {
    let rate = BigRational::new(digits.into(), BigInt::from(10_u64.pow(scale)));
    assert!(rate.is_positive());
    whole(1000) / rate
}
