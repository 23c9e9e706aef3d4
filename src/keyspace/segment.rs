//! A segment: a few hundred records that share the first bits of their hashes.
//!
//! Records lie in one arena in the order they were made; slots find them. A record is overwritten in its place when its
//! size stays, otherwise it becomes garbage, which goes when the arena has no room left.

use alloc::vec::Vec;

use super::Key;
use super::bodies::{Bodies, Body};
use super::hash::{Hash, Hasher};
use super::record::{self, Record, Stored, TatBytes};
use super::slots::{MAX_ARENA, MAX_SLOTS, Offset, Slots};
use crate::Positive;
use crate::algorithm::{Log, SlidingWindow, Tat};

/// Over so many bytes of records a segment is split.
const SPLIT_ARENA: usize = MAX_ARENA / 2;
/// Offset 0 says that a slot is empty, so no record lies there.
const FIRST: usize = 4;

#[derive(Default)]
pub(super) struct Segment {
    slots: Slots,
    arena: Vec<u8>,
    bodies: Bodies,
    /// Bytes of the arena that no record uses any more.
    garbage: u32,
    /// Records added since the last sweep.
    added: u32,
    /// How many first bits of their hashes all records share.
    pub depth: u32,
    /// No record expires before this.
    pub earliest: u64,
    /// No log entry stops counting before this.
    pub leaves: u64,
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

    fn bytes_mut(&mut self, offset: Offset) -> &mut [u8] {
        self.arena.get_mut((offset as usize).wrapping_mul(4)..).unwrap_or_default()
    }

    #[inline]
    fn record(&self, offset: Offset) -> Option<Record<'_>> {
        Record::at(self.arena.get((offset as usize).wrapping_mul(4)..)?)
    }

    #[inline]
    pub fn find(&self, hash: Hash, key: Key<'_>) -> Option<Offset> {
        let look = |offset| self.record(offset).filter(|record| record.is(key)).map(|_| ());
        self.slots.find(hash, look).map(|(offset, ())| offset)
    }

    /// The state of the record of `key`, if it is a [`Stored::Tat`], expired or not.
    #[inline(always)]
    pub fn tat_mut(&mut self, hash: Hash, key: Key<'_>) -> Option<&mut TatBytes> {
        let wanted = record::header_of_tat(key);
        let look = |offset| self.record(offset).filter(|record| record.has(wanted, key)).map(|_| ());
        let (offset, ()) = self.slots.find(hash, look)?;
        record::tat_mut(&mut self.arena, offset, key)
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

    /// The state of the record of `key` that lies at `offset`.
    #[inline]
    pub fn stored(&self, offset: Offset, key: Key<'_>) -> Option<Stored> {
        self.record(offset)?.stored_of(key)
    }

    pub fn body(&self, place: u32) -> Option<&Body> {
        self.bodies.get(place)
    }

    /// Every record.
    pub fn records(&self) -> impl Iterator<Item = (Key<'_>, Stored)> {
        self.slots.offsets().filter_map(|offset| {
            let record = self.record(offset)?;
            Some((record.key(), record.stored()?))
        })
    }

    /// Overwrites the tat of the record of `key` at `offset`; whether it is a record of that kind.
    #[inline]
    pub fn overwrite_tat(&mut self, offset: Offset, key: Key<'_>, tat: Tat) -> bool {
        self.record(offset).is_some_and(|record| record.is_tat())
            && record::tat_mut(&mut self.arena, offset, key).is_some_and(|bytes| record::write_tat(bytes, tat))
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
        let Some(Stored::Log { body: place, expires }) = self.stored(offset, key) else { return None };
        let Some(Body::Log { log, window }) = self.bodies.get_mut(place).filter(|_| expires > now) else { return None };
        let at = rule.logged_at(now);
        let ordinary = *window == rule.window() && log.newest().is_none_or(|newest| newest <= at);
        rule.admit(log, now, units);
        *window = rule.window();
        if !ordinary {
            self.leaves = self.leaves.min(leaves(log, *window));
        }
        let expires = at.saturating_add(*window);
        self.earliest = self.earliest.min(expires);
        record::overwrite(self.bytes_mut(offset), &Stored::Log { body: place, expires });
        Some(if ordinary { Appended::Ordinary(at) } else { Appended::Rewritten })
    }

    /// Overwrites the state at `offset` in its place; gives it back when it doesn't fit.
    pub fn overwrite(
        &mut self,
        offset: Offset,
        stored: Stored,
        body: Option<Body>,
    ) -> Result<(), (Stored, Option<Body>)> {
        let Some(old) = self.record(offset) else { return Err((stored, body)) };
        if old.size() != record::size(old.key(), &stored) {
            return Err((stored, body));
        }
        if let Some(place) = old.stored().as_ref().and_then(Stored::body) {
            self.bodies.remove(place);
        }
        let stored = self.keep(stored, body);
        record::overwrite(self.bytes_mut(offset), &stored);
        Ok(())
    }

    /// Puts the body where `stored` can name it, and takes note of when something can expire.
    fn keep(&mut self, stored: Stored, body: Option<Body>) -> Stored {
        self.earliest = self.earliest.min(stored.expires());
        let Some(body) = body else { return stored };
        if let Body::Log { log, window } = &body {
            self.leaves = self.leaves.min(leaves(log, *window));
        }
        stored.with_body(self.bodies.insert(body))
    }

    /// Adds a record. The segment must need [`Need::Nothing`].
    pub fn insert(&mut self, hash: Hash, key: Key<'_>, stored: Stored, body: Option<Body>) {
        let stored = self.keep(stored, body);
        if self.arena.is_empty() {
            self.arena.resize(FIRST, 0);
        }
        let offset = offset_of(self.arena.len());
        record::append(&mut self.arena, key, &stored);
        self.slots.insert(hash, offset);
        self.added = self.added.saturating_add(1);
    }

    /// Whether enough was added since the last sweep for one to cost each addition little.
    pub const fn is_worth_sweeping(&self) -> bool {
        (self.added as usize).saturating_mul(16) >= self.len()
    }

    /// Removes the record at `offset`.
    pub fn remove(&mut self, hash: Hash, offset: Offset) {
        self.discard(offset);
        self.slots.remove(hash, offset);
    }

    /// Makes garbage of the record at `offset`.
    fn discard(&mut self, offset: Offset) {
        let Some(record) = self.record(offset) else { return };
        let size = u32::try_from(record.size()).unwrap_or(0);
        if let Some(place) = record.stored().as_ref().and_then(Stored::body) {
            self.bodies.remove(place);
        }
        self.garbage = self.garbage.saturating_add(size);
    }

    /// Drops every record that `drop` names, as does [`Segment::sweep`]; how many.
    pub fn drop_if(&mut self, mut drop: impl FnMut(Key<'_>, &Stored) -> bool) -> usize {
        let before = self.len();
        let mut slots = core::mem::take(&mut self.slots);
        slots.retain(|offset| {
            let gone = self
                .record(offset)
                .and_then(|record| Some((record.key(), record.stored()?)))
                .is_none_or(|(key, stored)| drop(key, &stored));
            if gone {
                self.discard(offset);
            }
            !gone
        });
        self.slots = slots;
        before.saturating_sub(self.len())
    }

    /// Drops everything that has expired by `now`, log entries included; how many records.
    pub fn sweep(&mut self, now: u64) -> usize {
        self.added = 0;
        if self.leaves <= now {
            self.leaves = u64::MAX;
            for body in self.bodies.iter_mut() {
                if let Body::Log { log, window } = body {
                    log.expire(*window, now);
                    self.leaves = self.leaves.min(leaves(log, *window));
                }
            }
        }
        if self.earliest > now {
            return 0;
        }
        let mut earliest = u64::MAX;
        let dropped = self.drop_if(|_, stored| {
            let expires = stored.expires();
            if expires > now {
                earliest = earliest.min(expires);
            }
            expires <= now
        });
        self.earliest = earliest;
        dropped
    }

    /// Bytes of the records.
    fn in_use(&self) -> usize {
        self.arena.len().saturating_sub(self.garbage as usize)
    }

    /// What is needed to take one more record of `bytes`.
    pub fn need(&self, bytes: usize) -> Need {
        let end = self.arena.len().max(FIRST).saturating_add(bytes);
        if !self.slots.is_full() && end <= self.arena.capacity() {
            return Need::Nothing;
        }
        let crowded = self.slots.is_full() && self.slots.len() >= MAX_SLOTS;
        let heavy = self.in_use().saturating_add(bytes) > SPLIT_ARENA && self.len() > 1;
        if crowded || heavy { Need::Split } else { Need::Room }
    }

    /// Makes room for one more record of `bytes`; whether there is.
    pub fn make_room(&mut self, bytes: usize) -> bool {
        if self.slots.is_full() {
            self.slots.resize(self.len().saturating_add(1));
        }
        let len = self.arena.len().max(FIRST);
        let end = len.saturating_add(bytes);
        if end > self.arena.capacity() {
            if (self.garbage as usize).saturating_mul(8) > len {
                self.compact(bytes);
            } else if end <= MAX_ARENA {
                let wanted = end.saturating_add(end / 8).min(MAX_ARENA);
                self.arena.reserve_exact(wanted.saturating_sub(self.arena.len()));
            }
        }
        self.need(bytes) == Need::Nothing
    }

    /// Copies the records into an arena of just their size, and about an eighth more, and `bytes`.
    fn compact(&mut self, bytes: usize) {
        let old = core::mem::take(&mut self.arena);
        let used = old.len().saturating_sub(self.garbage as usize);
        self.arena = arena_for(used, bytes);
        self.garbage = 0;
        let arena = &mut self.arena;
        self.slots.relocate(|offset| {
            let moved = offset_of(arena.len());
            arena.extend_from_slice(bytes_of_record(&old, offset));
            moved
        });
    }

    /// Gives back room that a sweep has left mostly empty.
    pub fn tidy(&mut self) {
        if self.len().saturating_mul(8) < self.slots.len() {
            self.slots.resize(self.len().saturating_mul(2));
        }
        if self.len() == 0 {
            self.arena = Vec::new();
            self.garbage = 0;
        } else if self.in_use().saturating_mul(2) < self.arena.capacity() && self.arena.capacity() > 512 {
            self.compact(0);
        }
        if self.bodies.is_sparse() {
            self.compact_bodies();
        }
    }

    fn compact_bodies(&mut self) {
        let mut old = core::mem::take(&mut self.bodies);
        for offset in self.slots.offsets() {
            let start = (offset as usize).wrapping_mul(4);
            let bytes = self.arena.get_mut(start..).unwrap_or_default();
            let Some(stored) = Record::at(bytes).and_then(|record| record.stored()) else { continue };
            if let Some(body) = stored.body().and_then(|place| old.remove(place)) {
                record::overwrite(bytes, &stored.with_body(self.bodies.insert(body)));
            }
        }
    }

    /// Moves every record whose hash has the next bit set to a new segment, and gives it back.
    pub fn split(&mut self, hasher: &Hasher) -> Self {
        let bit = 1_u64 << 63 >> self.depth.min(63);
        let depth = self.depth.saturating_add(1);
        let old = core::mem::replace(self, Self::new(depth));
        let mut sides: [Side; 2] = Default::default();
        let hash_of = |offset| old.record(offset).map(|record| hasher.hash(record.key()));
        let [low, high] = &mut sides;
        for offset in old.slots.offsets() {
            let Some(hash) = hash_of(offset) else { continue };
            let side = if hash.0 & bit == 0 { &mut *low } else { &mut *high };
            side.bytes = side.bytes.saturating_add(bytes_of_record(&old.arena, offset).len());
            side.records.push((hash, offset));
        }
        let mut bodies = old.bodies;
        let mut other = Self::new(depth);
        for (segment, side) in [(&mut *self, &*low), (&mut other, &*high)] {
            if side.records.is_empty() {
                continue;
            }
            segment.slots = Slots::for_records(side.records.len().saturating_add(1));
            segment.arena = arena_for(side.bytes, 0);
            for &(hash, offset) in &side.records {
                segment.adopt(hash, bytes_of_record(&old.arena, offset), &mut bodies);
            }
        }
        other
    }

    /// Bytes held on to beside the segment itself.
    #[cfg(test)]
    pub fn footprint(&self) -> usize {
        self.slots.len() * size_of::<u32>() + self.arena.capacity() + self.bodies.footprint()
    }

    /// Takes a record over from another segment.
    fn adopt(&mut self, hash: Hash, bytes: &[u8], bodies: &mut Bodies) {
        let Some(stored) = Record::at(bytes).and_then(|record| record.stored()) else { return };
        let offset = offset_of(self.arena.len());
        self.arena.extend_from_slice(bytes);
        self.slots.insert(hash, offset);
        let body = stored.body().and_then(|place| bodies.remove(place));
        let has_body = body.is_some();
        let stored = self.keep(stored, body);
        if has_body {
            record::overwrite(self.bytes_mut(offset), &stored);
        }
    }
}

/// How a log took an admission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Appended {
    /// The entry at this time grew, and nothing else changed.
    Ordinary(u64),
    /// Other entries, or the window, changed too.
    Rewritten,
}

/// When the oldest entry stops counting.
fn leaves(log: &Log, window: u64) -> u64 {
    log.entries().next().map_or(u64::MAX, |(at, _)| at.saturating_add(window))
}

/// One half of a split.
#[derive(Default)]
struct Side {
    records: Vec<(Hash, Offset)>,
    bytes: usize,
}

fn bytes_of_record(arena: &[u8], offset: Offset) -> &[u8] {
    let bytes = arena.get((offset as usize).wrapping_mul(4)..).unwrap_or_default();
    let size = Record::at(bytes).map_or(0, |record| record.size());
    bytes.get(..size).unwrap_or_default()
}

/// An arena without records for `used` bytes of them, about an eighth more, and `bytes`.
fn arena_for(used: usize, bytes: usize) -> Vec<u8> {
    let wanted = used.saturating_add(used / 8).saturating_add(bytes).saturating_add(FIRST);
    let mut arena = Vec::with_capacity(wanted.min(MAX_ARENA));
    arena.resize(FIRST, 0);
    arena
}

fn offset_of(start: usize) -> Offset {
    u32::try_from(start / 4).unwrap_or(0)
}
