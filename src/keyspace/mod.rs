//! Keyed records with expiry.
//!
//! A record is found by its [`Key`] (a space and a name), holds one [`State`], and is live until it expires; an expired
//! record is never seen and its room is used again. Nothing here runs on a timer: the calls themselves reclaim.

mod rule_state;

pub use rule_state::{Decision, Next};

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::Error;
use crate::algorithm::{Count, Log, SlidingWindow, Tat};

/// When a record without a time to live expires.
pub const NEVER: u64 = u64::MAX;

/// Whose names these are: the ordinary keys, the keys of one limiter, or the identities of one rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Space(pub u32);

impl Space {
    /// The keys of `SET`, `GET` and `GCRA.LIMIT`.
    pub const ORDINARY: Self = Self(0);
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

/// Where a key's record is, or would go. Good until the next change of the keyspace; a stale place is looked up again.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    _hash: u64,
}

/// One change, in the order made, for a store behind this keyspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// The record was made, or its state replaced.
    Put(Space, Box<[u8]>),
    /// The log's entry at this time grew; nothing else in the record changed but entries that expired.
    Logged(Space, Box<[u8]>, u64),
    /// The record is gone.
    Removed(Space, Box<[u8]>),
    /// Every record of the space is gone.
    Cleared(Space),
    /// The clock stepped back: everything that had expired by this time is gone.
    Expired(u64),
    /// A limiter of this name was made, counted an admission, or was dropped.
    Limiter(Box<[u8]>),
    /// A policy of this namespace was defined or forgotten.
    Policy(Box<[u8]>),
    /// A lease of this namespace and id was taken, renewed or released.
    Lease(Box<[u8]>, Box<[u8]>),
}

/// The table of records.
pub struct Keyspace {
    records: BTreeMap<(u32, Box<[u8]>), Value>,
    now: u64,
    max_keys: usize,
    next_space: u32,
    journal: Option<Vec<Change>>,
}

impl Keyspace {
    /// An empty keyspace of at most `max_keys` records, hashed with `seed`.
    pub fn new(seed: [u64; 2], max_keys: usize) -> Self {
        let _ = seed;
        Self { records: BTreeMap::new(), now: 0, max_keys, next_space: 1, journal: None }
    }

    /// The latest time served.
    pub const fn now(&self) -> u64 {
        self.now
    }

    /// Sets the clock; every other call sees records as of this time. On a step back everything that had expired by the
    /// latest time served is dropped first, log entries included: what had recovered stays recovered.
    pub fn advance(&mut self, now: u64) {
        if now < self.now {
            let latest = self.now;
            self.records.retain(|_, value| match value {
                Value::Tat { expires, .. } | Value::Text { expires, .. } => *expires > latest,
                Value::Count(count) => count.ends > latest,
                Value::Log { log, window } => log.expire(*window, latest),
            });
            if let Some(journal) = &mut self.journal {
                journal.push(Change::Expired(latest));
            }
        }
        self.now = now;
    }

    /// Looks the key up.
    pub fn locate(&self, key: Key<'_>) -> Place {
        let _ = key;
        Place { _hash: 0 }
    }

    /// The live record at `place`, which is `key`'s.
    pub fn state(&self, place: Place, key: Key<'_>) -> Option<State<'_>> {
        let _ = place;
        let value = self.records.get(&(key.space.0, key.name.into()))?;
        let state = match value {
            Value::Tat { tat, expires } => State::Tat { tat: *tat, expires: *expires },
            Value::Count(count) => State::Count(*count),
            Value::Log { log, window } => State::Log { log, window: *window },
            Value::Text { bytes, expires } => State::Text { bytes, expires: *expires },
        };
        (state.expires() > self.now).then_some(state)
    }

    /// Whether `new` more records fit once everything expired is reclaimed.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`] when they don't.
    pub fn ensure_room(&mut self, new: usize) -> Result<(), Error> {
        let now = self.now;
        if self.records.len().saturating_add(new) > self.max_keys {
            self.records.retain(|_, value| match value {
                Value::Tat { expires, .. } | Value::Text { expires, .. } => *expires > now,
                Value::Count(count) => count.ends > now,
                Value::Log { log, window } => log.expire(*window, now),
            });
        }
        if self.records.len().saturating_add(new) > self.max_keys {
            return Err(Error::OutOfMemory { max_keys: self.max_keys });
        }
        Ok(())
    }

    /// Stores `value` as the whole state of `key`.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`] when the record is new and there is no room; nothing has changed then.
    pub fn put(&mut self, place: Place, key: Key<'_>, value: Value) -> Result<(), Error> {
        if self.state(place, key).is_none() {
            self.ensure_room(1)?;
        }
        self.records.insert((key.space.0, key.name.into()), value);
        if let Some(journal) = &mut self.journal {
            journal.push(Change::Put(key.space, key.name.into()));
        }
        Ok(())
    }

    /// Stores a schedule's state, which expires when it has recovered: the fast case of [`Keyspace::put`].
    ///
    /// # Errors
    /// As [`Keyspace::put`].
    pub fn put_tat(&mut self, place: Place, key: Key<'_>, tat: Tat) -> Result<(), Error> {
        self.put(place, key, Value::Tat { tat, expires: tat.ceil() })
    }

    /// Logs `units` at `now` in the sliding log of `key`, made if need be.
    ///
    /// # Errors
    /// As [`Keyspace::put`].
    pub fn log(
        &mut self,
        place: Place,
        key: Key<'_>,
        rule: &SlidingWindow,
        units: crate::Positive,
    ) -> Result<(), Error> {
        let now = self.now;
        let mut log = match self.state(place, key) {
            Some(State::Log { log, .. }) => log.clone(),
            _ => Log::new(),
        };
        rule.admit(&mut log, now, units);
        self.put(place, key, Value::Log { log: Box::new(log), window: rule.window() })
    }

    /// Deletes the record; whether it was live.
    pub fn remove(&mut self, place: Place, key: Key<'_>) -> bool {
        let live = self.state(place, key).is_some();
        self.records.remove(&(key.space.0, key.name.into()));
        if live && let Some(journal) = &mut self.journal {
            journal.push(Change::Removed(key.space, key.name.into()));
        }
        live
    }

    /// Deletes every record of the space.
    pub fn clear(&mut self, space: Space) {
        self.records.retain(|(of, _), _| *of != space.0);
        if let Some(journal) = &mut self.journal {
            journal.push(Change::Cleared(space));
        }
    }

    /// Calls `visit` with each live record.
    pub fn for_each(&self, mut visit: impl FnMut(Key<'_>, State<'_>)) {
        for (space, name) in self.records.keys() {
            let key = Key { space: Space(*space), name };
            if let Some(state) = self.state(self.locate(key), key) {
                visit(key, state);
            }
        }
    }

    /// How many live records the space has.
    pub fn count(&self, space: Space) -> usize {
        let mut count = 0_usize;
        self.for_each(|key, _| count = count.saturating_add(usize::from(key.space == space)));
        count
    }

    /// Calls `visit` with the live ordinary keys from `cursor` (0 at first), at least `at_least` of them when there are
    /// so many, and returns the next cursor, 0 at the end. A key that is there throughout is seen at least once.
    pub fn scan(&self, cursor: u64, at_least: usize, mut visit: impl FnMut(&[u8], State<'_>)) -> u64 {
        let _ = (cursor, at_least);
        self.for_each(|key, state| {
            if key.space == Space::ORDINARY {
                visit(key.name, state);
            }
        });
        0
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
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// Whether there is no record.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// Starts to note changes for a store.
    pub fn keep_journal(&mut self) {
        self.journal.get_or_insert_default();
    }

    /// Notes a change that was made beside the records.
    pub fn note(&mut self, change: impl FnOnce() -> Change) {
        if let Some(journal) = &mut self.journal {
            journal.push(change());
        }
    }

    /// The changes since the last call.
    pub fn take_journal(&mut self) -> Vec<Change> {
        self.journal.as_mut().map(core::mem::take).unwrap_or_default()
    }

    /// Puts back what a store held, without noting a change.
    ///
    /// # Errors
    /// As [`Keyspace::put`].
    pub fn restore(&mut self, key: Key<'_>, value: Value) -> Result<(), Error> {
        let journal = self.journal.take();
        let result = self.put(self.locate(key), key, value);
        self.journal = journal;
        result
    }
}
