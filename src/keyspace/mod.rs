//! Keyed records with expiry.
//!
//! A record is found by its [`Key`] (a space and a name), holds one [`State`], and is live until it expires; an expired
//! record is never seen and its room is used again. Nothing here runs on a timer: the calls themselves reclaim.

//!
//! - `rule_state`: a rule's state in a record;
//! - `reservation`: the instant from which a rule's record may be spent again;
//! - `table`: extendible hashing, a directory over segments;
//! - `segment`: a few hundred records, as `slots` that find them, an `arena` of bytes laid out by `record`, and `bodies`
//!   beside it for what isn't of a few bytes;
//! - `hash`: the seeded hash that places a key in all of these;
//! - `journal`: what changed, for a store.

mod arena;
mod bodies;
mod hash;
mod journal;
mod record;
mod reservation;
mod rule_state;
mod segment;
mod slots;
mod table;
#[cfg(test)]
mod tests;

pub use hash::NameHash;
pub use journal::Change;
pub use rule_state::{Decision, Next};
pub use table::Place;

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::algorithm::{Count, Log, SlidingWindow, Tat};
use crate::{Error, ErrorKind};
use bodies::Body;
use journal::Journal;
use record::{Short, Stored};
use segment::Segment;
use table::Table;

/// When a record without a time to live expires.
pub const NEVER: u64 = u64::MAX;

/// Whose names these are: the ordinary keys, the keys of one limiter, or the identities of one rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Space(pub u32);

impl Space {
    /// The keys of `SET`, `GET` and `GCRA.LIMIT`.
    pub const ORDINARY: Self = Self(0);
    /// The first space of reservations: spaces count up from 1, so the upper half is free.
    pub(crate) const RESERVATIONS: Self = Self(1 << 31);

    /// Where the reservations on the records of this space are, each under its record's name.
    pub(crate) const fn reservations(self) -> Self {
        Self(self.0 | Self::RESERVATIONS.0)
    }
}

/// A record's full name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key<'a> {
    /// Whose name it is.
    pub space: Space,
    /// Any bytes.
    pub name: &'a [u8],
}

impl<'a> Key<'a> {
    /// The ordinary key `name`.
    pub const fn ordinary(name: &'a [u8]) -> Self {
        Self { space: Space::ORDINARY, name }
    }
}

/// What a record holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A schedule's state. It expires when it has recovered, unless a time to live was set on it.
    Tat {
        /// The theoretical arrival time.
        tat: Tat,
        /// When the record expires.
        expires: u64,
    },
    /// A fixed window's state; expires when its window ends.
    Count(Count),
    /// A sliding window's state; expires when its newest entry leaves.
    Log {
        /// The log.
        log: Box<Log>,
        /// The window its entries count in.
        window: u64,
    },
    /// Text that a client stored.
    Text {
        /// The bytes.
        bytes: Box<[u8]>,
        /// When the record expires, or [`NEVER`].
        expires: u64,
    },
}

/// A borrowed look at what a record holds; the fields are those of [`Value`].
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub enum State<'a> {
    Tat { tat: Tat, expires: u64 },
    Count(Count),
    Log { log: &'a Log, window: u64 },
    Text { bytes: &'a [u8], expires: u64 },
}

impl State<'_> {
    /// The first millisecond at which the record is gone.
    pub fn expires(&self) -> u64 {
        match *self {
            State::Tat { expires, .. } | State::Text { expires, .. } => expires,
            State::Count(count) => count.ends,
            State::Log { log, window } => log.newest().map_or(0, |at| at.saturating_add(window)),
        }
    }
}

/// The table of records.
pub struct Keyspace {
    table: Table,
    now: u64,
    max_keys: usize,
    next_space: u32,
    /// No reservation starts after this.
    reserved_until: u64,
    journal: Journal,
}

impl Keyspace {
    /// An empty keyspace of at most `max_keys` records, hashed with `seed`.
    pub fn new(seed: [u64; 2], max_keys: usize) -> Self {
        Self {
            table: Table::new(seed),
            now: 0,
            max_keys,
            next_space: 1,
            reserved_until: 0,
            journal: Journal::default(),
        }
    }

    /// The latest time served.
    pub const fn now(&self) -> u64 {
        self.now
    }

    /// Sets the clock; every other call sees records as of this time. On a step back everything that had expired by the
    /// latest time served is dropped first, log entries included: what had recovered stays recovered.
    #[inline]
    pub fn advance(&mut self, now: u64) {
        if now < self.now {
            self.step_back();
        }
        self.now = now;
    }

    #[cold]
    fn step_back(&mut self) {
        let latest = self.now;
        self.table.sweep(latest);
        self.journal.note(|| Change::Expired(latest));
    }

    /// The hash of `name`, for [`Keyspace::decide_hashed`].
    #[inline]
    pub fn hash_name(&self, name: &[u8]) -> NameHash {
        self.table.hasher.hash_name(name)
    }

    /// Looks the key up.
    #[inline]
    pub fn locate(&self, key: Key<'_>) -> Place {
        self.table.locate(key)
    }

    /// The live record at `place`, which is `key`'s.
    #[inline]
    pub fn state(&self, place: Place, key: Key<'_>) -> Option<State<'_>> {
        self.state_at(self.now, place, key)
    }

    /// As [`Keyspace::state`], of what is live at an instant that may be ahead of the clock.
    #[cfg_attr(target_family = "wasm", inline(never))]
    #[cfg_attr(not(target_family = "wasm"), inline)]
    fn state_at(&self, now: u64, place: Place, key: Key<'_>) -> Option<State<'_>> {
        self.table.state(place, key, now)
    }

    /// Whether `new` more records fit once everything expired is reclaimed.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`] when they don't.
    pub fn ensure_room(&mut self, new: usize) -> Result<(), Error> {
        let Some(most) = self.max_keys.checked_sub(new) else { return Err(self.full()) };
        if self.table.len() > most {
            self.table.shrink_to(most, self.now);
        }
        if self.table.len() > most { Err(self.full()) } else { Ok(()) }
    }

    #[cold]
    #[inline(never)]
    fn full(&self) -> Error {
        ErrorKind::OutOfMemory { max_keys: self.max_keys }.into()
    }

    /// Stores `value` as the whole state of `key`.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`] when the record is new and there is no room, [`ErrorKind::KeyTooLong`] when no record can have
    /// such a name; nothing has changed then.
    pub fn put(&mut self, place: Place, key: Key<'_>, value: Value) -> Result<(), Error> {
        self.store(place, key, value)?;
        self.journal.note(|| Change::Put(key.space, key.name.into()));
        Ok(())
    }

    fn store(&mut self, place: Place, key: Key<'_>, value: Value) -> Result<(), Error> {
        if key.name.len() > record::MAX_NAME {
            return Err(ErrorKind::KeyTooLong { argument: "key", bytes: key.name.len() }.into());
        }
        let new = !self.table.is_there(place, key);
        if new {
            self.ensure_room(1)?;
        }
        let stored = Stored::of(&value);
        let (body, kibibytes) = match value {
            Value::Tat { .. } | Value::Count(_) => (None, 0),
            Value::Log { log, window } => (Some(Body::Log { log: *log, window }), 0),
            Value::Text { bytes, .. } => {
                let kibibytes = u32::try_from(bytes.len() / 1024).unwrap_or(u32::MAX);
                (Some(Body::Text(bytes)), kibibytes)
            }
        };
        self.table.reclaim(kibibytes.saturating_add(u32::from(new)), self.now);
        if self.table.put(place, key, stored, body, self.now) { Ok(()) } else { Err(self.full()) }
    }

    /// Stores a schedule's state, which expires when it has recovered: the fast case of [`Keyspace::put`].
    ///
    /// # Errors
    /// As [`Keyspace::put`].
    #[inline]
    pub fn put_tat(&mut self, place: Place, key: Key<'_>, tat: Tat) -> Result<(), Error> {
        if self.overwrite(place, key, Short::Tat(tat)) {
            return Ok(());
        }
        self.put(place, key, Value::Tat { tat, expires: tat.ceil() })
    }

    /// Stores a fixed window's state, as [`Keyspace::put_tat`] a schedule's.
    ///
    /// # Errors
    /// As [`Keyspace::put`].
    #[cfg_attr(target_family = "wasm", inline(never))]
    #[cfg_attr(not(target_family = "wasm"), inline)]
    pub fn put_count(&mut self, place: Place, key: Key<'_>, count: Count) -> Result<(), Error> {
        if self.overwrite(place, key, Short::Count(count)) {
            return Ok(());
        }
        self.put(place, key, Value::Count(count))
    }

    #[inline]
    fn overwrite(&mut self, place: Place, key: Key<'_>, short: Short) -> bool {
        let there = self.table.overwrite_same(place, key, short);
        if there && self.journal.is_kept() {
            self.note_put(key.space, key.name);
        }
        there
    }

    /// Decides on a schedule's state and stores the new one, in one step: the fast case of [`Keyspace::locate`],
    /// [`Keyspace::state`] and [`Keyspace::put_tat`]. `decide` answers, and says what to store, if anything; it may be
    /// given a tat that has recovered, which is as good as none to every schedule.
    ///
    /// `None` when the key holds no such state, or one that must be stored in the slower way. Nothing has changed then,
    /// even if `decide` was asked.
    #[inline(always)]
    pub fn update_tat<T>(&mut self, key: Key<'_>, decide: impl FnOnce(Tat) -> (T, Option<Tat>)) -> Option<T> {
        let (answer, stored) = self.table.update_tat(key, decide)?;
        if stored && self.journal.is_kept() {
            self.note_put(key.space, key.name);
        }
        Some(answer)
    }

    #[cold]
    #[inline(never)]
    fn note_put(&mut self, space: Space, name: &[u8]) {
        self.journal.note(|| Change::Put(space, name.into()));
    }

    /// Logs `units` at `at` in the log of `key`; whether it has one.
    #[inline]
    fn append(&mut self, place: Place, key: Key<'_>, rule: &SlidingWindow, at: u64, units: crate::Positive) -> bool {
        let now = self.now;
        let Some((segment, offset)) = self.table.segment_mut(place, key) else { return false };
        let Some(appended) = segment.append_to_log(offset, key, rule, at, units) else { return false };
        let earliest = segment.earliest;
        self.table.may_expire(earliest);
        self.journal.note(|| match appended.at {
            // Ahead of the clock, entries went that are not over yet.
            Some(logged) if at == now => Change::Logged(key.space, key.name.into(), logged),
            _ => Change::Put(key.space, key.name.into()),
        });
        // A log that takes more room is as good as a record that does; four entries are as large as a small one.
        self.table.reclaim(u32::try_from(appended.grown / 4).unwrap_or(u32::MAX), now);
        true
    }

    /// Deletes the record; whether it was live.
    pub fn remove(&mut self, place: Place, key: Key<'_>) -> bool {
        let live = self.state(place, key).is_some();
        self.table.remove(place, key);
        if live {
            self.journal.note(|| Change::Removed(key.space, key.name.into()));
        }
        live
    }

    /// Deletes every record of the space.
    pub fn clear(&mut self, space: Space) {
        self.table.clear(space);
        self.journal.note(|| Change::Cleared(space));
    }

    /// Calls `visit` with each live record.
    pub fn for_each(&self, mut visit: impl FnMut(Key<'_>, State<'_>)) {
        self.table.segments().for_each(|segment| self.visit(segment, &mut visit));
    }

    /// Calls `visit` with each live record of the segment.
    fn visit(&self, segment: &Segment, visit: &mut dyn FnMut(Key<'_>, State<'_>)) {
        for record in segment.records() {
            if let Some(state) = segment.state_of(record, self.now) {
                visit(record.key(), state);
            }
        }
    }

    /// How many live records the space has.
    pub fn count(&self, space: Space) -> usize {
        let mut count = 0_usize;
        self.for_each(|key, _| count = count.wrapping_add(usize::from(key.space == space)));
        count
    }

    /// Calls `visit` with the live ordinary keys from `cursor` (0 at first), at least `at_least` of them when there are
    /// so many, and returns the next cursor, 0 at the end. A key that is there throughout is seen at least once.
    ///
    /// A cursor is below 2^32. Keys come in the order of their hashes, which nothing that is done between two calls
    /// changes, so no key is seen twice either.
    pub fn scan(&self, cursor: u64, at_least: usize, mut visit: impl FnMut(&[u8], State<'_>)) -> u64 {
        let Ok(mut start) = u32::try_from(cursor) else { return 0 };
        let mut seen = 0_usize;
        while let Some((segment, next)) = self.table.segment_at(start) {
            self.visit(segment, &mut |key, state| {
                if key.space == Space::ORDINARY {
                    seen = seen.saturating_add(1);
                    visit(key.name, state);
                }
            });
            start = next;
            if start == 0 || seen >= at_least {
                break;
            }
        }
        u64::from(start)
    }

    /// A space that nothing else has.
    pub fn new_space(&mut self) -> Space {
        let space = Space(self.next_space);
        self.next_space = self.next_space.saturating_add(1);
        space
    }

    /// Takes note that a store holds a record of `space`, so that it is never given out again.
    pub fn reserve_space(&mut self, space: Space) {
        self.next_space = self.next_space.max(space.0.saturating_add(1));
    }

    /// How many records there are, expired ones that still take room included.
    pub const fn len(&self) -> usize {
        self.table.len()
    }

    /// Whether there is no record.
    pub const fn is_empty(&self) -> bool {
        self.table.len() == 0
    }

    /// Starts to note changes for a store.
    pub fn keep_journal(&mut self) {
        self.journal.keep();
    }

    /// Notes a change that was made beside the records.
    #[inline]
    pub fn note(&mut self, change: impl FnOnce() -> Change) {
        self.journal.note(change);
    }

    /// The changes since the last call.
    pub fn take_journal(&mut self) -> Vec<Change> {
        self.journal.take()
    }

    /// Puts back what a store held, without noting a change.
    ///
    /// # Errors
    /// As [`Keyspace::put`].
    pub fn restore(&mut self, key: Key<'_>, value: Value) -> Result<(), Error> {
        self.store(self.locate(key), key, value)
    }
}
