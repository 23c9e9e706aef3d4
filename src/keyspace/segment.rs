//! A segment: a few hundred records that share the first bits of their hashes.
//!
//! Records lie in one arena in the order they were made; slots find them. A record is overwritten in its place when its
//! size stays, otherwise it becomes garbage, which goes when the arena has no room left.

use super::arena::{Arena, Offset};
use super::bodies::{Bodies, Body};
use super::hash::{Hash, Hasher};
use super::record::{self, Record, Short, Stored, TatBytes};
use super::slots::{MAX_SLOTS, Slots};
use super::{Key, State};
use crate::Positive;
use crate::algorithm::{Log, SlidingWindow};

#[derive(Default)]
pub(super) struct Segment {
    slots: Slots,
    arena: Arena,
    bodies: Bodies,
    /// Records added since the last sweep.
    added: u32,
    /// How many first bits of their hashes all records share.
    pub depth: u32,
    /// No record expires before this.
    pub earliest: u64,
    /// No log entry stops counting before this.
    leaves: u64,
}

/// What a segment needs before it can take one more record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Need {
    Nothing,
    /// A little more of what it has.
    Room,
    /// To be two segments.
    Split,
}

impl Segment {
    pub fn new(depth: u32) -> Self {
        Self { depth, earliest: u64::MAX, leaves: u64::MAX, ..Self::default() }
    }

    pub const fn len(&self) -> usize {
        self.slots.used()
    }

    #[inline(always)]
    fn record(&self, offset: Offset) -> Option<Record<'_>> {
        Record::at(self.arena.get(offset)?)
    }

    /// Overwrites the state of the record at `offset` with one of its size.
    fn rewrite(&mut self, offset: Offset, stored: &Stored) {
        if let Some(bytes) = self.arena.get_mut(offset) {
            record::overwrite(bytes, stored);
        }
    }

    #[inline]
    pub fn find(&self, hash: Hash, key: Key<'_>) -> Option<(Offset, Record<'_>)> {
        self.slots.find(hash, |offset| self.record(offset).filter(|record| record.is(key)))
    }

    /// The state of the record of `key`, if it is a plain tat, expired or not.
    #[inline(always)]
    pub fn tat_mut(&mut self, hash: Hash, key: Key<'_>) -> Option<&mut TatBytes> {
        let wanted = record::header_of_tat(key);
        let look = |offset| self.record(offset).filter(|record| record.has(wanted, key)).map(|_| ());
        let (offset, ()) = self.slots.find(hash, look)?;
        record::tat_mut(self.arena.get_mut(offset)?, key)
    }

    /// Takes note that something may expire then; whether that is earlier than anything else.
    #[inline]
    pub const fn may_expire(&mut self, at: u64) -> bool {
        let earlier = at < self.earliest;
        if earlier {
            self.earliest = at;
        }
        earlier
    }

    /// What the record at `offset` holds, if it is live at `now`.
    pub fn state(&self, offset: Offset, now: u64) -> Option<State<'_>> {
        self.state_of(self.record(offset)?, now)
    }

    /// What `record` holds, if it is live at `now`.
    pub fn state_of(&self, record: Record<'_>, now: u64) -> Option<State<'_>> {
        let (expires, body) = record.ends();
        if expires <= now {
            return None;
        }
        let Some(place) = body else { return record.bare() };
        match self.bodies.get(place)? {
            Body::Log { log, window } => Some(State::Log { log, window: *window }),
            Body::Text(bytes) => Some(State::Text { bytes, expires }),
            Body::Free(_) => None,
        }
    }

    /// Every record.
    pub fn records(&self) -> impl Iterator<Item = Record<'_>> {
        self.slots.offsets().filter_map(|offset| self.record(offset))
    }

    /// Overwrites the state of the record of `key` at `offset`, as [`record::overwrite_same`].
    #[inline(always)]
    pub fn overwrite_same(&mut self, offset: Offset, key: Key<'_>, short: Short) -> Option<u64> {
        record::overwrite_same(self.arena.get_mut(offset)?, key, short)
    }

    /// Logs `units` in the live log of `key` at `offset`; `None` when the record isn't one.
    pub fn append_to_log(
        &mut self,
        offset: Offset,
        key: Key<'_>,
        rule: &SlidingWindow,
        now: u64,
        units: Positive,
    ) -> Option<Appended> {
        let (expires, body) = self.record(offset)?.ends();
        let place = body.filter(|_| expires > now)?;
        let Some(Body::Log { log, window }) = self.bodies.get_mut(place) else { return None };
        let (newest, capacity) = (log.newest(), log.capacity());
        rule.admit(log, now, units);
        let at = log.newest().unwrap_or(now);
        let ordinary = *window == rule.window() && newest.is_none_or(|newest| newest <= at);
        let grown = log.capacity().saturating_sub(capacity);
        *window = rule.window();
        if !ordinary {
            self.leaves = self.leaves.min(leaves(log, *window));
        }
        let expires = at.saturating_add(*window);
        self.earliest = self.earliest.min(expires);
        if let Some(bytes) = self.arena.get_mut(offset) {
            record::overwrite_log(bytes, key, place, expires);
        }
        Some(Appended { at: ordinary.then_some(at), grown })
    }

    /// Overwrites the state at `offset` in its place; whether it fits there. If not, nothing is taken of `body`.
    pub fn overwrite(&mut self, offset: Offset, stored: Stored, body: &mut Option<Body>) -> bool {
        let Some(old) = self.record(offset) else { return false };
        if old.size() != record::size(old.key(), &stored) {
            return false;
        }
        if let Some(place) = old.body() {
            self.bodies.remove(place);
        }
        let stored = self.keep(stored, body.take());
        self.rewrite(offset, &stored);
        true
    }

    /// Puts the body where `stored` can name it, and takes note of when something can expire.
    fn keep(&mut self, stored: Stored, body: Option<Body>) -> Stored {
        self.earliest = self.earliest.min(stored.expires());
        match body {
            Some(body) => stored.with_body(self.keep_body(body)),
            None => stored,
        }
    }

    /// Puts a body where a record can name it; where.
    fn keep_body(&mut self, body: Body) -> u32 {
        if let Body::Log { log, window } = &body {
            self.leaves = self.leaves.min(leaves(log, *window));
        }
        self.bodies.insert(body)
    }

    /// Adds a record. The segment must need [`Need::Nothing`].
    pub fn insert(&mut self, hash: Hash, key: Key<'_>, stored: Stored, body: &mut Option<Body>) {
        let stored = self.keep(stored, body.take());
        let (offset, bytes) = self.arena.add(record::size(key, &stored));
        record::write(bytes, key, &stored);
        self.slots.insert(hash, offset);
        self.added = self.added.saturating_add(1);
    }

    /// Whether enough was added since the last sweep for one to cost each addition little.
    pub const fn is_worth_sweeping(&self) -> bool {
        (self.added as usize).wrapping_mul(16) >= self.len()
    }

    /// Removes the record at `offset`.
    pub fn remove(&mut self, hash: Hash, offset: Offset) {
        self.discard(offset);
        self.slots.remove(hash, offset);
    }

    /// Makes garbage of the record at `offset`.
    fn discard(&mut self, offset: Offset) {
        if let Some(place) = self.record(offset).and_then(|record| record.body()) {
            self.bodies.remove(place);
        }
        self.arena.discard(offset);
    }

    /// Drops every record that `drop` names, as does [`Segment::sweep`]; how many.
    pub fn drop_if(&mut self, drop: &mut dyn FnMut(Record<'_>) -> bool) -> usize {
        let before = self.len();
        let mut slots = core::mem::take(&mut self.slots);
        slots.retain(|offset| {
            let gone = self.record(offset).is_none_or(&mut *drop);
            if gone {
                self.discard(offset);
            }
            !gone
        });
        self.slots = slots;
        before.saturating_sub(self.len())
    }

    /// Drops every log entry that no longer counts at `now`.
    pub fn expire_logs(&mut self, now: u64) {
        if self.leaves > now {
            return;
        }
        self.leaves = u64::MAX;
        for body in self.bodies.iter_mut() {
            if let Body::Log { log, window } = body {
                log.expire(*window, now);
                self.leaves = self.leaves.min(leaves(log, *window));
            }
        }
    }

    /// Drops every record that has expired by `now`; how many.
    pub fn sweep(&mut self, now: u64) -> usize {
        self.added = 0;
        if self.earliest > now {
            return 0;
        }
        let mut earliest = u64::MAX;
        let dropped = self.drop_if(&mut |record| {
            let expires = record.expires();
            if expires > now {
                earliest = earliest.min(expires);
            }
            expires <= now
        });
        self.earliest = earliest;
        dropped
    }

    /// What is needed to take one more record of `bytes`.
    pub fn need(&self, bytes: usize) -> Need {
        let (full, fits) = (self.slots.is_full(), self.arena.fits(bytes));
        let crowded = full && self.slots.len() >= MAX_SLOTS;
        let heavy = !fits && self.arena.is_large() && !self.arena.is_wasteful() && self.len() > 1;
        match (crowded || heavy, full || !fits) {
            (true, _) => Need::Split,
            (false, true) => Need::Room,
            (false, false) => Need::Nothing,
        }
    }

    /// Makes room for one more record of `bytes`; whether there is.
    pub fn make_room(&mut self, bytes: usize) -> bool {
        if self.slots.is_full() {
            self.slots.resize(self.len().wrapping_add(1));
        }
        if !self.arena.fits(bytes) && self.arena.is_wasteful() {
            self.compact();
        }
        (self.arena.fits(bytes) || (self.arena.grow() && self.arena.fits(bytes))) && !self.slots.is_full()
    }

    /// Copies the records into an arena without garbage.
    fn compact(&mut self) {
        let old = core::mem::take(&mut self.arena);
        let arena = &mut self.arena;
        self.slots.relocate(|offset| copy(old.record(offset), arena));
    }

    /// Gives back room that a sweep has left mostly empty.
    pub fn tidy(&mut self) {
        if self.len() < self.slots.len() / 8 {
            self.slots.resize(self.len().wrapping_mul(2));
        }
        if self.len() == 0 {
            self.arena = Arena::default();
        } else if self.arena.is_sparse() {
            self.compact();
        }
        if self.bodies.is_sparse() {
            self.compact_bodies();
        }
    }

    fn compact_bodies(&mut self) {
        let mut old = core::mem::take(&mut self.bodies);
        for offset in self.slots.offsets() {
            let bytes = self.arena.get_mut(offset).unwrap_or_default();
            let place = Record::at(bytes).and_then(|record| record.body());
            if let Some(body) = place.and_then(|place| old.remove(place)) {
                record::set_body(bytes, self.bodies.insert(body));
            }
        }
    }

    /// Moves every record whose hash has the next bit set to a new segment, and gives it back.
    pub fn split(&mut self, hasher: &Hasher) -> Self {
        let bit = 1_u64 << 63 >> self.depth.min(63);
        let depth = self.depth.saturating_add(1);
        let mut old = core::mem::replace(self, Self::new(depth));
        let mut other = Self::new(depth);
        // Half of them, and a little more.
        let expected = old.len().wrapping_mul(5) / 8;
        for side in [&mut *self, &mut other] {
            side.slots.resize(expected);
        }
        for offset in old.slots.offsets() {
            let bytes = old.arena.record(offset);
            let Some(record) = Record::at(bytes) else { continue };
            let hash = hasher.hash(record.key());
            let side = if hash.0 & bit == 0 { &mut *self } else { &mut other };
            side.adopt(hash, bytes, &mut old.bodies);
        }
        other
    }

    /// Bytes held on to beside the segment itself.
    #[cfg(test)]
    pub fn footprint(&self) -> usize {
        self.slots.len() * size_of::<u32>() + self.arena.footprint() + self.bodies.footprint()
    }

    /// Takes a record over from another segment.
    #[inline(never)]
    fn adopt(&mut self, hash: Hash, bytes: &[u8], bodies: &mut Bodies) {
        let Some(record) = Record::at(bytes) else { return };
        if self.slots.is_full() {
            self.slots.resize(self.len().wrapping_mul(2).wrapping_add(1));
        }
        let offset = copy(bytes, &mut self.arena);
        self.slots.insert(hash, offset);
        self.earliest = self.earliest.min(record.expires());
        if let Some(body) = record.body().and_then(|place| bodies.remove(place)) {
            let place = self.keep_body(body);
            record::set_body(self.arena.get_mut(offset).unwrap_or_default(), place);
        }
    }
}

/// How a log took an admission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Appended {
    /// When it was logged, if nothing else changed: neither other entries nor the window.
    pub at: Option<u64>,
    /// How many more entries the log has room for than before.
    pub grown: usize,
}

/// When the oldest entry stops counting.
fn leaves(log: &Log, window: u64) -> u64 {
    log.oldest().map_or(u64::MAX, |at| at.saturating_add(window))
}

/// Copies a record into another arena; where.
fn copy(bytes: &[u8], arena: &mut Arena) -> Offset {
    if !arena.fits(bytes.len()) {
        arena.grow();
    }
    let (offset, new) = arena.add(bytes.len());
    if new.len() == bytes.len() {
        new.copy_from_slice(bytes);
    }
    offset
}
