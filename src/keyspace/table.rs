//! Extendible hashing: a directory of segments by the first bits of the hash.
//!
//! A segment that is full becomes two, and the directory doubles when a segment is known by more bits than it has, so
//! the table grows without ever moving more than one segment's records. What has expired goes when its segment needs
//! the room, when the table is full, and, a segment at a time, as records are made.

use alloc::vec;
use alloc::vec::Vec;

use super::arena::Offset;
use super::bodies::Body;
use super::hash::{Hash, Hasher, NameHash};
use super::record::{self, Record, Short, Stored};
use super::segment::{Need, Segment};
use super::{Key, Space, State};
use crate::algorithm::Tat;

/// How many records are made for each segment that is looked through for expired ones.
const RECORDS_PER_LOOK: u32 = 128;
/// The directory has at most so many entries for each segment. Hashes that nobody chose never come near it.
const ENTRIES_PER_SEGMENT: usize = 64;
/// The most bits of a hash that the directory may take.
const MAX_DEPTH: u32 = 30;

/// Where a key's record is, or would go. Good until the next change of the keyspace; a stale place is looked up again.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    hash: Hash,
    /// 0 when there is no record.
    offset: Offset,
    segment: u32,
    version: u32,
}

pub(super) struct Table {
    pub hasher: Hasher,
    /// For each value of the hash's first bits, which segment it is in. At least two entries.
    directory: Vec<u32>,
    /// How far those bits are from the hash's end.
    shift: u32,
    segments: Vec<Segment>,
    len: usize,
    /// Counts the changes that move records or remove them, so that a place knows when it is stale.
    version: u32,
    /// No record expires before this.
    earliest: u64,
    /// The segment that is looked through next.
    next_look: usize,
    /// Towards [`RECORDS_PER_LOOK`].
    made: u32,
}

impl Table {
    pub fn new(seed: [u64; 2]) -> Self {
        Self {
            hasher: Hasher::new(seed),
            directory: vec![0; 2],
            shift: 63,
            segments: vec![Segment::new(0)],
            len: 0,
            version: 0,
            earliest: u64::MAX,
            next_look: 0,
            made: 0,
        }
    }

    /// How many records there are, expired ones included.
    pub const fn len(&self) -> usize {
        self.len
    }

    const fn changed(&mut self) {
        self.version = self.version.wrapping_add(1);
    }

    #[inline]
    fn segment_of(&self, hash: Hash) -> u32 {
        #[expect(clippy::cast_possible_truncation, reason = "at most 30 bits are left")]
        let entry = hash.0.wrapping_shr(self.shift) as usize;
        self.directory.get(entry).copied().unwrap_or(0)
    }

    #[inline(never)]
    pub fn locate(&self, key: Key<'_>) -> Place {
        self.probe(self.hasher.hash(key), key).0
    }

    /// As [`Table::locate`] of a name whose hash is known, and what the record holds if that is short, expired or not.
    #[inline]
    pub fn look_up(&self, name: NameHash, key: Key<'_>) -> (Place, Option<Short>) {
        let (place, record) = self.probe(name.in_space(key.space), key);
        (place, record.and_then(|record| record.short_of(key)))
    }

    #[inline]
    fn probe(&self, hash: Hash, key: Key<'_>) -> (Place, Option<Record<'_>>) {
        let segment = self.segment_of(hash);
        let found = self.segments.get(segment as usize).and_then(|segment| segment.find(hash, key));
        let (offset, record) = found.map_or((0, None), |(offset, record)| (offset, Some(record)));
        (Place { hash, offset, segment, version: self.version }, record)
    }

    /// `place`, looked up again if it is stale.
    #[inline]
    pub fn fresh(&self, place: Place, key: Key<'_>) -> Place {
        if place.version == self.version { place } else { self.probe_again(place.hash, key) }
    }

    #[cold]
    fn probe_again(&self, hash: Hash, key: Key<'_>) -> Place {
        self.probe(hash, key).0
    }

    /// What the record of `key` holds, if it is live at `now`.
    pub fn state(&self, place: Place, key: Key<'_>, now: u64) -> Option<State<'_>> {
        let place = self.fresh(place, key);
        if place.offset == 0 {
            return None;
        }
        self.segments.get(place.segment as usize)?.state(place.offset, now)
    }

    /// Whether `key` has a record, expired or not.
    pub fn is_there(&self, place: Place, key: Key<'_>) -> bool {
        self.fresh(place, key).offset != 0
    }

    /// Decides on the tat of `key` where it is, expired or not, and stores what `decide` says, if anything; its answer,
    /// and whether something was stored.
    #[inline(always)]
    pub fn update_tat<T>(&mut self, key: Key<'_>, decide: impl FnOnce(Tat) -> (T, Option<Tat>)) -> Option<(T, bool)> {
        let hash = self.hasher.hash(key);
        let index = self.segment_of(hash);
        let segment = self.segments.get_mut(index as usize)?;
        let bytes = segment.tat_mut(hash, key)?;
        let (answer, next) = decide(record::read_tat(bytes));
        let Some(tat) = next else { return Some((answer, false)) };
        if !record::write_tat(bytes, tat) {
            return None;
        }
        if segment.may_expire(tat.ms) {
            self.may_expire(tat.ms);
        }
        Some((answer, true))
    }

    /// Overwrites the state of `key` where it is; whether there was one of that kind.
    #[inline]
    pub fn overwrite_same(&mut self, place: Place, key: Key<'_>, short: Short) -> bool {
        if place.version != self.version || place.offset == 0 {
            return false;
        }
        let Some(segment) = self.segments.get_mut(place.segment as usize) else { return false };
        let Some(expires) = segment.overwrite_same(place.offset, key, short) else { return false };
        if segment.may_expire(expires) {
            self.may_expire(expires);
        }
        true
    }

    /// The segment and offset of the record of `key`, for a change in its place.
    pub fn segment_mut(&mut self, place: Place, key: Key<'_>) -> Option<(&mut Segment, Offset)> {
        let place = self.fresh(place, key);
        if place.offset == 0 {
            return None;
        }
        Some((self.segments.get_mut(place.segment as usize)?, place.offset))
    }

    /// Takes note that something may expire then.
    #[inline]
    pub fn may_expire(&mut self, at: u64) {
        self.earliest = self.earliest.min(at);
    }

    /// Makes the record of `key`, or replaces its state; whether there was room.
    pub fn put(&mut self, place: Place, key: Key<'_>, stored: Stored, mut body: Option<Body>, now: u64) -> bool {
        self.may_expire(stored.expires());
        let place = self.fresh(place, key);
        if let Some((segment, offset)) = self.segment_mut(place, key) {
            if segment.overwrite(offset, stored, &mut body) {
                return true;
            }
            self.remove(place, key);
        }
        self.insert(place.hash, key, stored, &mut body, now)
    }

    fn insert(&mut self, hash: Hash, key: Key<'_>, stored: Stored, body: &mut Option<Body>, now: u64) -> bool {
        let bytes = record::size(key, &stored);
        // Every turn but the last halves what the key shares its segment with.
        for _ in 0..=MAX_DEPTH {
            let index = self.segment_of(hash) as usize;
            let Some(segment) = self.segments.get_mut(index) else { return false };
            if segment.need(bytes) != Need::Nothing && segment.is_worth_sweeping() {
                self.len = self.len.saturating_sub(segment.sweep(now));
            }
            match segment.need(bytes) {
                Need::Nothing => {
                    segment.insert(hash, key, stored, body);
                    self.len = self.len.saturating_add(1);
                    self.changed();
                    return true;
                }
                Need::Split if self.split(index, hash) => {}
                _ => {
                    if !self.segments.get_mut(index).is_some_and(|segment| segment.make_room(bytes)) {
                        return false;
                    }
                }
            }
        }
        false
    }

    /// Makes two segments of the one that `hash` is in; whether the directory may know them apart.
    fn split(&mut self, index: usize, hash: Hash) -> bool {
        let Some(depth) = self.segments.get(index).map(|segment| segment.depth) else { return false };
        let known = 64_u32.saturating_sub(self.shift);
        if depth >= known {
            let most = self.segments.len().saturating_mul(ENTRIES_PER_SEGMENT);
            if known >= MAX_DEPTH || self.directory.len() >= most {
                return false;
            }
            self.directory = self.directory.iter().flat_map(|segment| [*segment, *segment]).collect();
            self.shift = self.shift.saturating_sub(1);
        }
        let Ok(new) = u32::try_from(self.segments.len()) else { return false };
        let Some(segment) = self.segments.get_mut(index) else { return false };
        let other = segment.split(&self.hasher);
        self.segments.push(other);
        // The entries of the old segment are those that start with its bits; the upper half of them goes over.
        let known = 64_u32.saturating_sub(self.shift);
        let entries = 1_usize.wrapping_shl(known.saturating_sub(depth));
        #[expect(clippy::cast_possible_truncation, reason = "at most 30 bits are left")]
        let entry = hash.0.wrapping_shr(self.shift) as usize;
        let start = entry & !entries.wrapping_sub(1);
        let middle = start.saturating_add(entries / 2);
        if let Some(upper) = self.directory.get_mut(middle..start.saturating_add(entries)) {
            upper.fill(new);
        }
        true
    }

    /// Removes the record of `key`, expired or not.
    pub fn remove(&mut self, place: Place, key: Key<'_>) {
        let hash = place.hash;
        if let Some((segment, offset)) = self.segment_mut(place, key) {
            segment.remove(hash, offset);
            self.len = self.len.saturating_sub(1);
            self.changed();
        }
    }

    /// Looks through a segment once in a while, for records of keys that nobody asks for any more. `effort` is how many
    /// records were made, or what else takes as much room.
    #[inline]
    pub fn reclaim(&mut self, effort: u32, now: u64) {
        self.made = self.made.saturating_add(effort);
        if self.made >= RECORDS_PER_LOOK {
            self.look(now);
        }
    }

    /// Drops what has expired from the next segment in turn; when something may expire in it.
    #[inline(never)]
    fn look(&mut self, now: u64) -> u64 {
        self.made = 0;
        if self.next_look >= self.segments.len() {
            self.next_look = 0;
        }
        let Some(segment) = self.segments.get_mut(self.next_look) else { return u64::MAX };
        self.next_look = self.next_look.wrapping_add(1);
        self.len = self.len.wrapping_sub(segment.sweep(now));
        segment.tidy();
        self.version = self.version.wrapping_add(1);
        segment.earliest
    }

    /// Drops expired records until there are at most `most`, or none has expired.
    pub fn shrink_to(&mut self, most: usize, now: u64) {
        if self.earliest > now {
            return;
        }
        let mut earliest = u64::MAX;
        for _ in 0..self.segments.len() {
            if self.len <= most {
                return;
            }
            earliest = earliest.min(self.look(now));
        }
        // Every segment was looked at.
        self.earliest = earliest;
    }

    /// Drops everything that has expired by `now`, log entries included.
    pub fn sweep(&mut self, now: u64) {
        for segment in &mut self.segments {
            segment.expire_logs(now);
        }
        self.shrink_to(0, now);
    }

    /// Drops every record of the space.
    pub fn clear(&mut self, space: Space) {
        for segment in &mut self.segments {
            self.len = self.len.saturating_sub(segment.drop_if(&mut |record| record.key().space == space));
            segment.tidy();
        }
        self.changed();
    }

    pub fn segments(&self) -> impl Iterator<Item = &Segment> {
        self.segments.iter()
    }

    /// The segment that holds the hashes which begin with `start`'s bits, and where the next one begins, 0 after the
    /// last. A start counts in steps of 2^32 of the hash.
    pub fn segment_at(&self, start: u32) -> Option<(&Segment, u32)> {
        let start = u64::from(start) << 32;
        let segment = self.segments.get(self.segment_of(Hash(start)) as usize)?;
        let rest = 64_u32.saturating_sub(segment.depth);
        let next = start.checked_shr(rest).unwrap_or(0).saturating_add(1).checked_shl(rest).unwrap_or(0);
        Some((segment, u32::try_from(next >> 32).unwrap_or(0)))
    }

    /// Bytes held on to.
    #[cfg(test)]
    pub fn footprint(&self) -> usize {
        size_of::<Self>()
            + self.directory.capacity() * size_of::<u32>()
            + self.segments.capacity() * size_of::<Segment>()
            + self.segments.iter().map(Segment::footprint).sum::<usize>()
    }
}
