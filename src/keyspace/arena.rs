//! The bytes of a segment's records, in chunks.
//!
//! A record is known by its offset in words of four bytes: eight bits tell where in a chunk, the rest tell which chunk. No
//! record crosses from one chunk to the next; one that is larger than a chunk has one of its own. Nearly all chunks of a
//! table are of one size, so an allocator never has a hole that nobody fits in, and an arena grows without a copy.

use alloc::vec::Vec;

use super::record::Record;

const WORD_BITS: u32 = 8;
const CHUNK_BITS: u32 = 7;
/// Bits of an offset.
pub(super) const OFFSET_BITS: u32 = WORD_BITS + CHUNK_BITS;
const MAX_CHUNKS: usize = 1 << CHUNK_BITS;
/// Bytes in a chunk: a power of two with what an allocator puts in front.
const CHUNK: usize = (4 << WORD_BITS) - HEADER;
const HEADER: usize = 8;
/// No record is at offset 0.
const FIRST: usize = 4;

/// Where a record starts, in words; never 0.
pub(super) type Offset = u32;

#[derive(Default)]
pub(super) struct Arena {
    chunks: Vec<Vec<u8>>,
    /// Bytes that were written.
    written: u32,
    /// Those of them that no record uses any more.
    garbage: u32,
}

impl Arena {
    /// The bytes from where a record starts.
    #[inline(always)]
    pub fn get(&self, offset: Offset) -> Option<&[u8]> {
        let (chunk, start) = split(offset);
        self.chunks.get(chunk)?.get(start..)
    }

    #[inline(always)]
    pub fn get_mut(&mut self, offset: Offset) -> Option<&mut [u8]> {
        let (chunk, start) = split(offset);
        self.chunks.get_mut(chunk)?.get_mut(start..)
    }

    /// The bytes of one record.
    pub fn record(&self, offset: Offset) -> &[u8] {
        let bytes = self.get(offset).unwrap_or_default();
        let size = Record::at(bytes).map_or(0, |record| record.size());
        bytes.get(..size).unwrap_or_default()
    }

    /// Whether a record of `bytes` can be appended.
    pub fn fits(&self, bytes: usize) -> bool {
        self.chunks.last().is_some_and(|last| {
            last.len().saturating_add(bytes) <= CHUNK || (last.is_empty() && bytes <= last.capacity())
        })
    }

    /// Adds a chunk, so that a record of `bytes` fits; whether it could.
    pub fn grow(&mut self, bytes: usize) -> bool {
        let len = self.chunks.len();
        if len >= MAX_CHUNKS {
            return false;
        }
        if len == self.chunks.capacity() {
            self.chunks.reserve_exact(if len == 0 { 1 } else { 4 });
        }
        if len == 0 {
            let mut first = Vec::with_capacity(small(FIRST.saturating_add(bytes)));
            first.resize(FIRST, 0);
            self.chunks.push(first);
            if self.fits(bytes) {
                return true;
            }
        }
        self.chunks.push(Vec::with_capacity(bytes.max(CHUNK)));
        true
    }

    /// Appends what `write` writes, `bytes` at most, which must fit; where.
    pub fn append(&mut self, bytes: usize, write: impl FnOnce(&mut Vec<u8>)) -> Offset {
        let chunk = self.chunks.len().saturating_sub(1);
        let Some(last) = self.chunks.last_mut() else { return 0 };
        let start = last.len();
        let end = start.saturating_add(bytes);
        if end > last.capacity() {
            // Only the first chunk is smaller than it can become.
            last.reserve_exact(small(end).saturating_sub(start));
        }
        write(last);
        self.written = self.written.saturating_add(count(last.len().saturating_sub(start)));
        count(chunk) << WORD_BITS | count(start / 4)
    }

    /// Takes note that the record at `offset` is not used any more.
    pub fn discard(&mut self, offset: Offset) {
        let size = self.record(offset).len();
        self.garbage = self.garbage.saturating_add(count(size));
    }

    /// Whether an eighth or more is garbage.
    pub const fn is_wasteful(&self) -> bool {
        self.garbage > 0 && self.garbage >= self.written / 8
    }

    /// Whether the records would do with half the chunks.
    pub fn is_sparse(&self) -> bool {
        let used = self.written.saturating_sub(self.garbage) as usize;
        self.chunks.len() > 1 && used.saturating_mul(2) < self.chunks.len().saturating_mul(CHUNK)
    }

    /// Whether there are half as many chunks as there can be.
    pub const fn is_large(&self) -> bool {
        self.chunks.len() >= MAX_CHUNKS / 2
    }

    /// Bytes held on to.
    #[cfg(test)]
    pub fn footprint(&self) -> usize {
        self.chunks.capacity() * size_of::<Vec<u8>>() + self.chunks.iter().map(Vec::capacity).sum::<usize>()
    }
}

/// The capacity of a first chunk that must hold `bytes`.
fn small(bytes: usize) -> usize {
    let size = bytes.saturating_add(HEADER).next_power_of_two().max(64);
    size.saturating_sub(HEADER).min(CHUNK)
}

#[inline(always)]
const fn split(offset: Offset) -> (usize, usize) {
    ((offset >> WORD_BITS) as usize, ((offset & ((1 << WORD_BITS) - 1)) << 2) as usize)
}

/// A number of bytes or chunks of one arena, which is small.
fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
