//! The bytes of a segment's records, in chunks.
//!
//! No record lies across the end of a chunk, and one that is large has a chunk of its own. Nearly all chunks of a table
//! are of one size, so an allocator never has a hole that nothing fits in, and an arena grows without a copy.
//!
//! A record is known by its offset: eight bits tell where in the chunk, in words of four bytes, the rest tell which chunk.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use super::record::Record;

const WORD_BITS: u32 = 8;
const CHUNK_BITS: u32 = 7;
/// Bits of an offset.
pub(super) const OFFSET_BITS: u32 = WORD_BITS + CHUNK_BITS;
const MAX_CHUNKS: usize = 1 << CHUNK_BITS;
/// Bytes in a chunk: a power of two with what an allocator puts in front.
const CHUNK: usize = (4 << WORD_BITS) - 8;
/// Larger records have a chunk of their own.
const LARGE: usize = CHUNK / 4;
/// No record is at offset 0.
const FIRST: u32 = 4;

/// Where a record is; never 0.
pub(super) type Offset = u32;

#[derive(Default)]
pub(super) struct Arena {
    chunks: Vec<Box<[u8]>>,
    /// The chunk that is being filled, and where its free bytes start.
    filling: u32,
    end: u32,
    /// Bytes that were written,
    written: u32,
    /// and those of them that no record uses any more.
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

    /// Whether a record of `bytes` can be added without more chunks to fill.
    #[cfg_attr(target_family = "wasm", inline(never))]
    pub fn fits(&self, bytes: usize) -> bool {
        if bytes > LARGE {
            return !self.chunks.is_empty() && self.chunks.len() < MAX_CHUNKS;
        }
        !self.chunks.is_empty() && bytes.saturating_add(self.end as usize) <= CHUNK
    }

    /// Adds a chunk to fill; whether it could.
    pub fn grow(&mut self) -> bool {
        let len = self.chunks.len();
        if len >= MAX_CHUNKS {
            return false;
        }
        self.push(vec![0; CHUNK].into());
        self.filling = count(len);
        self.end = if len == 0 { FIRST } else { 0 };
        true
    }

    fn push(&mut self, chunk: Box<[u8]>) {
        let len = self.chunks.len();
        if len == self.chunks.capacity() {
            self.chunks.reserve_exact(if len == 0 { 1 } else { 4 });
        }
        self.chunks.push(chunk);
    }

    /// Makes place for a record of `bytes`, which must fit; where, and its bytes, all zero.
    pub fn add(&mut self, bytes: usize) -> (Offset, &mut [u8]) {
        self.written = self.written.saturating_add(count(bytes));
        let (chunk, start) = if bytes > LARGE {
            self.push(vec![0; bytes].into());
            (count(self.chunks.len().saturating_sub(1)), 0)
        } else {
            let start = self.end;
            self.end = start.saturating_add(count(bytes));
            (self.filling, start)
        };
        let offset = chunk << WORD_BITS | start >> 2;
        (offset, self.get_mut(offset).and_then(|free| free.get_mut(..bytes)).unwrap_or_default())
    }

    /// Takes note that the record at `offset` is not used any more.
    pub fn discard(&mut self, offset: Offset) {
        let bytes = count(self.record(offset).len());
        self.garbage = self.garbage.saturating_add(bytes);
    }

    /// Whether an eighth or more is garbage.
    pub const fn is_wasteful(&self) -> bool {
        self.garbage > 0 && self.garbage >= self.written / 8
    }

    /// Whether the records would do with half of what is held.
    pub fn is_sparse(&self) -> bool {
        let used = self.written.saturating_sub(self.garbage) as usize;
        self.chunks.len() > 1 && used.saturating_mul(2) < self.chunks.iter().map(|chunk| chunk.len()).sum()
    }

    /// Whether there are half as many chunks as there can be.
    pub const fn is_large(&self) -> bool {
        self.chunks.len() >= MAX_CHUNKS / 2
    }

    /// Bytes held on to.
    #[cfg(test)]
    pub fn footprint(&self) -> usize {
        self.chunks.capacity() * size_of::<Box<[u8]>>() + self.chunks.iter().map(|chunk| chunk.len()).sum::<usize>()
    }
}

#[inline(always)]
const fn split(offset: Offset) -> (usize, usize) {
    ((offset >> WORD_BITS) as usize, ((offset & ((1 << WORD_BITS) - 1)) << 2) as usize)
}

/// A number of bytes or chunks in one arena, which is small.
#[expect(clippy::cast_possible_truncation, reason = "an arena is well below 2^32 bytes")]
const fn count(number: usize) -> u32 {
    number as u32
}
