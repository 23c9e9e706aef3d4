//! A rule's state in a record: reading it, deciding, and committing what was decided.

use alloc::boxed::Box;

use super::record::Short;
use super::{Key, Keyspace, NameHash, Place, State, Value};
use crate::algorithm::{Count, FixedWindow, Log, Rule, Schedule, SlidingWindow, Tat, Verdict};
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
    /// Whether the record would be a new one, or one that is over by then.
    pub new: bool,
    /// The instant it was decided for.
    pub at: u64,
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
    /// Log so many units.
    Log(SlidingWindow, Positive),
}

impl Keyspace {
    /// Decides one request against the state in `key`, now. Nothing changes.
    ///
    /// A state that another kind of rule left there, before the rule was changed, is read as the units it still holds,
    /// spent now: nobody is ever more than fully drained, and nobody gets a budget back by a change.
    #[inline]
    pub fn decide(&self, key: Key<'_>, rule: &Rule, cost: Positive) -> Decision {
        self.decide_hashed(self.now(), self.hash_name(key.name), key, rule, cost)
    }

    /// As [`Keyspace::decide`], at an instant that may be ahead of the clock.
    pub fn decide_at(&self, now: u64, key: Key<'_>, rule: &Rule, cost: Positive) -> Decision {
        self.decide_hashed(now, self.hash_name(key.name), key, rule, cost)
    }

    /// As [`Keyspace::decide_at`], of a name whose hash is known.
    // Only where it runs on a machine of its own: in a module that browsers download, its size counts.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub fn decide_hashed(&self, now: u64, name: NameHash, key: Key<'_>, rule: &Rule, cost: Positive) -> Decision {
        let (place, short) = self.table.look_up(name, key);
        // What is over is as good as nothing to every rule.
        let (verdict, next, new) = match rule {
            Rule::Schedule(rule) => {
                let (tat, new) = if let Some(Short::Tat(tat)) = short {
                    (Some(tat), tat.ceil() <= now)
                } else {
                    let state = self.any_state_at(now, place, key);
                    (state.and_then(|state| tat_of(rule, &state, now)), state.is_none())
                };
                let (verdict, tat) = rule.decide(tat, now, cost);
                (verdict, tat.map_or(Next::Same, Next::Tat), new)
            }
            Rule::Fixed(rule) => {
                let (count, new) = if let Some(Short::Count(count)) = short {
                    (Some(count), count.ends <= now)
                } else {
                    let state = self.any_state_at(now, place, key);
                    (state.map(|state| count_of(rule, &state, now)), state.is_none())
                };
                let (verdict, count) = rule.decide(count, now, cost);
                (verdict, count.map_or(Next::Same, Next::Count), new)
            }
            Rule::Sliding(rule) => {
                let state = self.state_at(now, place, key);
                let made;
                let log = match &state {
                    Some(State::Log { log, .. }) => Some(*log),
                    Some(other) => {
                        made = log_of(rule, other, now);
                        Some(&made)
                    }
                    None => None,
                };
                let verdict = rule.decide(log, now, cost);
                (verdict, if verdict.allowed { Next::Log(*rule, cost) } else { Next::Same }, state.is_none())
            }
        };
        Decision { verdict, next, place, new, at: now }
    }

    /// A state that is not there, or of a kind that its rule does not keep.
    #[cold]
    #[cfg_attr(not(target_family = "wasm"), inline(never))]
    fn any_state_at(&self, now: u64, place: Place, key: Key<'_>) -> Option<State<'_>> {
        self.state_at(now, place, key)
    }

    /// Stores what `decision` says.
    ///
    /// # Errors
    /// [`OutOfMemory`](crate::ErrorKind::OutOfMemory) when the record is new and there is no room; nothing has changed then.
    #[inline]
    pub fn commit(&mut self, key: Key<'_>, decision: &Decision) -> Result<(), Error> {
        self.store_next(decision.place, key, decision.at, decision.next)
    }

    /// Stores what was decided for the instant `at`.
    ///
    /// # Errors
    /// As [`Keyspace::commit`].
    #[inline]
    pub fn store_next(&mut self, place: Place, key: Key<'_>, at: u64, next: Next) -> Result<(), Error> {
        match next {
            Next::Same => Ok(()),
            Next::Tat(tat) => self.put_tat(place, key, tat),
            Next::Count(count) => self.put_count(place, key, count),
            Next::Log(rule, units) if self.append(place, key, &rule, at, units) => Ok(()),
            Next::Log(rule, units) => {
                let other = self.state_at(at, place, key);
                let mut log = other.map_or_else(Log::new, |other| log_of(&rule, &other, at));
                rule.admit(&mut log, at, units);
                self.put(place, key, Value::Log { log: Box::new(log), window: rule.window() })
            }
        }
    }

    /// Stores the state in `key` as it is read at `now`, which is now or when a reservation starts, so that a wait told of
    /// it holds: where it lies further in the future than a full recovery, or is that of another kind of rule.
    ///
    /// # Errors
    /// None in practice: the record is there already.
    #[cold]
    pub fn settle(&mut self, now: u64, key: Key<'_>, rule: &Rule) -> Result<(), Error> {
        if now > self.now() {
            self.reserve(key, now)?;
        }
        let place = self.locate(key);
        let Some(state) = self.state_at(now, place, key) else { return Ok(()) };
        let settled = match rule {
            Rule::Schedule(rule) => {
                let Some(read) = tat_of(rule, &state, now).map(|tat| rule.clamped(tat, now)) else { return Ok(()) };
                match state {
                    // The grain alone is no difference: it is rounded up to at every look.
                    State::Tat { tat, .. } if tat.rounded_up(read.denominator) == read => return Ok(()),
                    _ => Value::Tat { tat: read, expires: read.ceil() },
                }
            }
            Rule::Fixed(rule) => {
                let read = count_of(rule, &state, now);
                let ends = read.ends.min(rule.window_end(now));
                match state {
                    State::Count(count) if count.ends == ends => return Ok(()),
                    _ => Value::Count(Count { ends, ..read }),
                }
            }
            Rule::Sliding(rule) => {
                let newest = Some(rule.logged_at(now));
                let mut log = match &state {
                    State::Log { log, .. } if log.newest() <= newest => return Ok(()),
                    State::Log { log, .. } => (*log).clone(),
                    other => log_of(rule, other, now),
                };
                rule.settle(&mut log, now);
                Value::Log { log: Box::new(log), window: rule.window() }
            }
        };
        self.put(place, key, settled)
    }
}

/// The tat to decide on: the one that is there, or what another kind of state amounts to.
#[inline]
fn tat_of(rule: &Schedule, state: &State<'_>, now: u64) -> Option<Tat> {
    match *state {
        State::Tat { tat, .. } => Some(tat),
        _ => rule.spent(units_held(state, now), now),
    }
}

/// The count to decide on, as [`tat_of`].
#[inline]
fn count_of(rule: &FixedWindow, state: &State<'_>, now: u64) -> Count {
    match *state {
        State::Count(count) => count,
        _ => Count { units: held_under(rule.spacing(), state, now), ends: rule.window_end(now) },
    }
}

/// Units that a window's state holds at `now`.
fn units_held(state: &State<'_>, now: u64) -> u64 {
    match state {
        State::Count(count) => count.units,
        State::Log { log, window } => log.used(*window, now),
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

/// The log that any other state amounts to, as [`tat_of`].
#[inline(never)]
fn log_of(rule: &SlidingWindow, state: &State<'_>, now: u64) -> Log {
    let mut log = Log::new();
    log.push(rule.logged_at(now), held_under(rule.spacing(), state, now));
    log
}
