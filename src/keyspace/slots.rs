//! Open addressing: which records of a segment may be the one looked for.
//!
//! A slot is 32 bits: 17 bits of the hash and a record's offset in the arena, in words; 0 is an empty slot. Probing is
//! linear. The hash bits hold the home position, so a removal closes its gap and the array is resized without reading a
//! record.

use alloc::boxed::Box;
use alloc::vec;

use super::arena::{OFFSET_BITS, Offset};
use super::hash::Hash;

const OFFSET: u32 = (1 << OFFSET_BITS) - 1;
/// The most slots there can be: what the home bits tell apart.
pub(super) const MAX_SLOTS: usize = 1024;
const MIN_SLOTS: usize = 8;

/// The slots of one segment: none, or a power of two of which at most three quarters are in use.
#[derive(Default)]
pub(super) struct Slots {
    slots: Box<[u32]>,
    used: u32,
}

impl Slots {
    /// Room for `records`.
    pub fn for_records(records: usize) -> Self {
        if records == 0 {
            return Self::default();
        }
        let wanted = records.saturating_add(records.div_ceil(3)).clamp(MIN_SLOTS, MAX_SLOTS);
        Self { slots: vec![0; wanted.next_power_of_two()].into(), used: 0 }
    }

    pub const fn used(&self) -> usize {
        self.used as usize
    }

    pub const fn len(&self) -> usize {
        self.slots.len()
    }

    /// Whether no further record may be added.
    pub const fn is_full(&self) -> bool {
        let len = self.slots.len();
        self.used as usize >= len.saturating_sub(len / 4)
    }

    const fn mask(&self) -> usize {
        self.slots.len().wrapping_sub(1)
    }

    /// The first record with these hash bits that `look` says is the one, and what it found there.
    #[inline]
    pub fn find<T>(&self, hash: Hash, mut look: impl FnMut(Offset) -> Option<T>) -> Option<(Offset, T)> {
        let tag = tag(hash);
        let mut index = home(tag);
        // A quarter of the slots is empty, so this ends.
        loop {
            let slot = *self.slots.get(index & self.mask())?;
            if slot == 0 {
                return None;
            }
            let offset = slot ^ tag;
            if offset <= OFFSET
                && let Some(found) = look(offset)
            {
                return Some((offset, found));
            }
            index = index.wrapping_add(1);
        }
    }

    /// Adds a record. The slots must not be full.
    pub fn insert(&mut self, hash: Hash, offset: Offset) {
        debug_assert!(!self.is_full() && offset > 0 && offset <= OFFSET);
        self.insert_slot(tag(hash) | offset);
    }

    fn insert_slot(&mut self, slot: u32) {
        let mask = self.mask();
        let mut index = home(slot);
        while let Some(there) = self.slots.get_mut(index & mask) {
            if *there == 0 {
                *there = slot;
                self.used = self.used.saturating_add(1);
                return;
            }
            index = index.wrapping_add(1);
        }
    }

    /// Removes the record at `offset`.
    pub fn remove(&mut self, hash: Hash, offset: Offset) {
        let slot = tag(hash) | offset;
        let mask = self.mask();
        let mut index = home(slot) & mask;
        while let Some(&there) = self.slots.get(index) {
            if there == slot {
                self.close(index);
                return;
            }
            if there == 0 {
                return;
            }
            index = index.wrapping_add(1) & mask;
        }
    }

    /// Empties the slot at `hole`, and moves back what was probed past it.
    fn close(&mut self, mut hole: usize) {
        let mask = self.mask();
        let mut index = hole;
        loop {
            index = index.wrapping_add(1) & mask;
            let next = self.slots.get(index).copied().unwrap_or(0);
            if next == 0 {
                break;
            }
            let moved = index.wrapping_sub(home(next)) & mask;
            let gap = index.wrapping_sub(hole) & mask;
            if moved >= gap {
                if let Some(slot) = self.slots.get_mut(hole) {
                    *slot = next;
                }
                hole = index;
            }
        }
        if let Some(slot) = self.slots.get_mut(hole) {
            *slot = 0;
        }
        self.used = self.used.saturating_sub(1);
    }

    /// Keeps the records that `keep` keeps. It may be asked twice about one it kept.
    pub fn retain(&mut self, mut keep: impl FnMut(Offset) -> bool) {
        let mut index = 0;
        while let Some(&slot) = self.slots.get(index) {
            if slot == 0 || keep(slot & OFFSET) {
                index = index.wrapping_add(1);
            } else {
                // What moves in here is looked at next.
                self.close(index);
            }
        }
    }

    /// Every record.
    pub fn offsets(&self) -> impl Iterator<Item = Offset> {
        self.slots.iter().filter(|slot| **slot != 0).map(|slot| slot & OFFSET)
    }

    /// Moves every record to where `to` says it went.
    pub fn relocate(&mut self, mut to: impl FnMut(Offset) -> Offset) {
        for slot in self.slots.iter_mut().filter(|slot| **slot != 0) {
            *slot = (*slot & !OFFSET) | to(*slot & OFFSET);
        }
    }

    /// Has room for `records`, and not much more.
    pub fn resize(&mut self, records: usize) {
        let old = core::mem::replace(self, Self::for_records(records.max(self.used())));
        for slot in old.slots.iter().filter(|slot| **slot != 0) {
            self.insert_slot(*slot);
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the low bits are meant")]
const fn tag(hash: Hash) -> u32 {
    (hash.0 as u32) << OFFSET_BITS
}

/// The home position in the largest array, of a slot or its tag.
const fn home(slot: u32) -> usize {
    (slot >> OFFSET_BITS) as usize
}
