//! Fixed buffers in wasm memory: JavaScript writes keys into them and reads numbers from them, with no allocation and no
//! copy in between.
//!
//! This and the allocator are the only modules with `unsafe`. What makes each line sound is the same everywhere: the module is built for
//! one thread (wasm without the `atomics` feature), JavaScript runs only while no function of the module runs, and no
//! function of the module that holds one of these slices calls into JavaScript. So nobody writes while a slice is alive.
#![allow(unsafe_code)]

use core::cell::UnsafeCell;

use wasm_bindgen::prelude::wasm_bindgen;

/// Bytes of one name: what the engine accepts, and one more so that a longer name shows.
const NAME_BYTES: usize = 4100;
/// Bytes of the keys of one batch.
const BATCH_BYTES: usize = 1 << 15;
/// Decisions of one batch.
const BATCH: usize = 512;
/// Numbers of each decision of a batch: five, and one for each of 16 rules of a simulation.
const COLUMNS: usize = 5 + 16;
/// Numbers a decision answers with.
pub(super) const FIELDS: usize = 4;

#[repr(C, align(8))]
struct Buffers {
    numbers: UnsafeCell<[f64; FIELDS]>,
    columns: UnsafeCell<[[f64; BATCH]; COLUMNS]>,
    lengths: UnsafeCell<[u32; BATCH]>,
    key: UnsafeCell<[u8; NAME_BYTES]>,
    name: UnsafeCell<[u8; NAME_BYTES]>,
    keys: UnsafeCell<[u8; BATCH_BYTES]>,
}

// SAFETY: the module has one thread, so nothing is ever shared between two.
unsafe impl Sync for Buffers {}

static BUFFERS: Buffers = Buffers {
    numbers: UnsafeCell::new([0.0; FIELDS]),
    columns: UnsafeCell::new([[0.0; BATCH]; COLUMNS]),
    lengths: UnsafeCell::new([0; BATCH]),
    key: UnsafeCell::new([0; NAME_BYTES]),
    name: UnsafeCell::new([0; NAME_BYTES]),
    keys: UnsafeCell::new([0; BATCH_BYTES]),
};

/// Where a buffer is in wasm memory: 0 the numbers of one decision, 1 the key, 2 the name; of a batch, 3 the keys, 4 their
/// lengths, 5 the numbers in columns.
#[wasm_bindgen(js_name = bufferAddress)]
pub fn buffer_address(which: u32) -> usize {
    match which {
        0 => BUFFERS.numbers.get() as usize,
        1 => BUFFERS.key.get() as usize,
        2 => BUFFERS.name.get() as usize,
        3 => BUFFERS.keys.get() as usize,
        4 => BUFFERS.lengths.get() as usize,
        _ => BUFFERS.columns.get() as usize,
    }
}

/// The first `bytes` bytes that JavaScript wrote as the key; empty when that is more than the buffer holds.
pub(super) fn key<'a>(bytes: usize) -> &'a [u8] {
    // SAFETY: the buffer is a static, always initialized, and not written while a slice of it is alive (see above).
    let key: &[u8; NAME_BYTES] = unsafe { &*BUFFERS.key.get() };
    key.get(..bytes).unwrap_or_default()
}

/// The first `bytes` bytes that JavaScript wrote as the limiter's name; empty when that is more than the buffer holds.
pub(super) fn name<'a>(bytes: usize) -> &'a [u8] {
    // SAFETY: as in `key`.
    let name: &[u8; NAME_BYTES] = unsafe { &*BUFFERS.name.get() };
    name.get(..bytes).unwrap_or_default()
}

/// The keys of a batch, one after the other, and their lengths.
pub(super) fn keys<'a>() -> (&'a [u8], &'a [u32]) {
    // SAFETY: as in `key`.
    let keys: &[u8; BATCH_BYTES] = unsafe { &*BUFFERS.keys.get() };
    // SAFETY: as in `key`.
    let lengths: &[u32; BATCH] = unsafe { &*BUFFERS.lengths.get() };
    (keys, lengths)
}

/// Puts the answer of a decision where JavaScript reads it.
#[inline]
pub(super) fn answer(numbers: [f64; FIELDS]) {
    // SAFETY: the buffer is a static, and no reference to it exists on this side but in this call.
    unsafe { *BUFFERS.numbers.get() = numbers };
}

/// Puts a number where JavaScript reads it: in a column of a batch, at an index.
#[inline]
pub(super) fn put(column: usize, index: usize, number: f64) {
    // SAFETY: as in `answer`.
    let columns: &mut [[f64; BATCH]; COLUMNS] = unsafe { &mut *BUFFERS.columns.get() };
    if let Some(cell) = columns.get_mut(column).and_then(|column| column.get_mut(index)) {
        *cell = number;
    }
}

/// The time and the cost of the arrival at `index` of a batch.
pub(super) fn arrival(index: usize) -> [f64; 2] {
    // SAFETY: as in `answer`.
    let columns: &[[f64; BATCH]; COLUMNS] = unsafe { &*BUFFERS.columns.get() };
    let [times, costs, ..] = columns;
    [times, costs].map(|column| column.get(index).copied().unwrap_or_default())
}
