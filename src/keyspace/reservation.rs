//! Reservations: the instant from which a rule's record may be spent again.
//!
//! A job that reserved a later start is stored as if the clock had read that start: its record holds the state of then, which
//! means nothing before. So each such record has a reservation beside it, a record of its own that expires at the start, as
//! everything does that is over. It is spelled as a window's count: the units are the instant it was made at, the end is the
//! start. Stores keep it like any other record.

use super::{Key, Keyspace, State};
use crate::Error;
use crate::algorithm::Count;

impl Keyspace {
    /// The instant that the state in `key` is to be read at: now, or the start that was reserved last.
    ///
    /// Where the clock has stepped back behind the instant of the reservation, it counts as made now: nobody waits longer
    /// for it than they would have then.
    #[inline]
    pub fn starts(&self, key: Key<'_>) -> u64 {
        if self.reserved_until <= self.now { self.now } else { self.starts_if_reserved(key) }
    }

    #[cold]
    #[inline(never)]
    fn starts_if_reserved(&self, key: Key<'_>) -> u64 {
        match self.reservation(key) {
            Some(Count { units: made, ends }) => ends.saturating_sub(made.saturating_sub(self.now)),
            None => self.now,
        }
    }

    fn reservation(&self, key: Key<'_>) -> Option<Count> {
        let key = Key { space: key.space.reservations(), ..key };
        match self.state(self.locate(key), key)? {
            State::Count(count) => Some(count),
            _ => None,
        }
    }

    /// Holds everybody off the record of `key` until `starts`, whose state it holds.
    ///
    /// # Errors
    /// As [`Keyspace::put`].
    pub(crate) fn reserve(&mut self, key: Key<'_>, starts: u64) -> Result<(), Error> {
        if self.reservation(key).is_some_and(|there| there.ends == starts) {
            return Ok(());
        }
        self.reserved_until(starts);
        let key = Key { space: key.space.reservations(), ..key };
        self.put_count(self.locate(key), key, Count { units: self.now, ends: starts })
    }

    /// Whether any record may be reserved now.
    pub(crate) const fn any_reserved(&self) -> bool {
        self.reserved_until > self.now
    }

    /// Takes note that a store may hold reservations until then.
    pub(crate) fn reserved_until(&mut self, starts: u64) {
        self.reserved_until = self.reserved_until.max(starts);
    }
}
