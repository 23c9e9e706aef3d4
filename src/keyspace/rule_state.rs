//! A rule's state in a record: reading it, deciding, and committing what was decided.

use alloc::borrow::Cow;
use alloc::boxed::Box;

use super::{Key, Keyspace, Place, State, Value};
use crate::algorithm::{Count, Log, Rule, Schedule, SlidingWindow, Tat, Verdict};
use crate::{Error, Positive};

/// A verdict, and what committing it stores.
#[derive(Clone, Copy, Debug)]
pub struct Decision {
    /// What the rule says.
    pub verdict: Verdict,
    /// What [`Keyspace::commit`] does.
    pub next: Next,
    /// Where the record is or would go.
    pub place: Place,
    /// Whether the record would be a new one.
    pub new: bool,
}

/// The state to store after a decision.
#[derive(Clone, Copy, Debug)]
pub enum Next {
    /// A refusal: everything stays as it was.
    Same,
    /// The schedule's new tat.
    Tat(Tat),
    /// The window's new count.
    Count(Count),
    /// Log so many units now.
    Log(SlidingWindow, Positive),
}

impl Keyspace {
    /// Decides one request against the state in `key`, now. Nothing changes.
    ///
    /// A state that another kind of rule left there, before the rule was changed, is read as the units it still holds,
    /// spent now: nobody is ever more than fully drained, and nobody gets a budget back by a change.
    #[inline]
    pub fn decide(&self, key: Key<'_>, rule: &Rule, cost: Positive) -> Decision {
        let place = self.locate(key);
        let state = self.state(place, key);
        let now = self.now();
        let new = state.is_none();
        let (verdict, next) = match rule {
            Rule::Schedule(rule) => {
                let tat = state.and_then(|state| match state {
                    State::Tat { tat, .. } => Some(tat),
                    other => rule.spent(units_held(&other, now), now),
                });
                let (verdict, tat) = rule.decide(tat, now, cost);
                (verdict, tat.map_or(Next::Same, Next::Tat))
            }
            Rule::Fixed(rule) => {
                let count = state.map(|state| match state {
                    State::Count(count) => count,
                    other => Count { units: held_under(rule.spacing(), &other, now), ends: other.expires() },
                });
                let (verdict, count) = rule.decide(count, now, cost);
                (verdict, count.map_or(Next::Same, Next::Count))
            }
            Rule::Sliding(rule) => {
                let log = state.map(|state| log_of(rule, state, now));
                let verdict = rule.decide(log.as_deref(), now, cost);
                (verdict, if verdict.allowed { Next::Log(*rule, cost) } else { Next::Same })
            }
        };
        Decision { verdict, next, place, new }
    }

    /// Stores what `decision` says.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`] when the record is new and there is no room; nothing has changed then.
    #[inline]
    pub fn commit(&mut self, key: Key<'_>, decision: &Decision) -> Result<(), Error> {
        match decision.next {
            Next::Same => Ok(()),
            Next::Tat(tat) => self.put_tat(decision.place, key, tat),
            Next::Count(count) => self.put_count(decision.place, key, count),
            Next::Log(rule, units) if self.append(decision.place, key, &rule, units) => Ok(()),
            Next::Log(rule, units) => match self.state(decision.place, key) {
                None | Some(State::Log { .. }) => self.log(decision.place, key, &rule, units),
                Some(other) => {
                    let now = self.now();
                    let mut log = log_of(&rule, other, now).into_owned();
                    rule.admit(&mut log, now, units);
                    self.put(decision.place, key, Value::Log { log: Box::new(log), window: rule.window() })
                }
            },
        }
    }

    /// Stores the state in `key` as it is read now, where it lies further in the future than a full recovery.
    ///
    /// # Errors
    /// None in practice: the record is there already.
    pub fn settle(&mut self, key: Key<'_>, rule: &Rule) -> Result<(), Error> {
        let place = self.locate(key);
        let now = self.now();
        match (rule, self.state(place, key)) {
            (Rule::Schedule(rule), Some(State::Tat { tat, .. })) => {
                let clamped = rule.clamped(tat, now);
                if clamped.ceil() < tat.ceil() { self.put_tat(place, key, clamped) } else { Ok(()) }
            }
            (Rule::Fixed(rule), Some(State::Count(count))) => {
                let ends = rule.window_end(now);
                if count.ends > ends { self.put(place, key, Value::Count(Count { ends, ..count })) } else { Ok(()) }
            }
            (Rule::Sliding(rule), Some(State::Log { log, .. })) if log.newest() > Some(rule.logged_at(now)) => {
                let mut log = log.clone();
                rule.settle(&mut log, now);
                self.put(place, key, Value::Log { log: Box::new(log), window: rule.window() })
            }
            _ => Ok(()),
        }
    }
}

/// Units that a window's state holds at `now`.
fn units_held(state: &State<'_>, now: u64) -> u64 {
    match state {
        State::Count(count) => count.units,
        State::Log { log, window } => {
            log.entries().filter(|(at, _)| at.saturating_add(*window) > now).map(|(_, units)| units).sum()
        }
        State::Tat { .. } | State::Text { .. } => 0,
    }
}

/// Units that any state holds at `now`; a tat is counted in units of `spacing`.
fn held_under(spacing: Option<Schedule>, state: &State<'_>, now: u64) -> u64 {
    match (spacing, state) {
        (Some(spacing), State::Tat { tat, .. }) => spacing.used(Some(*tat), now),
        _ => units_held(state, now),
    }
}

/// The log to decide on: the one that is there, or what another kind of state amounts to.
fn log_of<'a>(rule: &SlidingWindow, state: State<'a>, now: u64) -> Cow<'a, Log> {
    match state {
        State::Log { log, .. } => Cow::Borrowed(log),
        other => {
            let mut log = Log::new();
            log.push(rule.logged_at(now), held_under(rule.spacing(), &other, now));
            Cow::Owned(log)
        }
    }
}
