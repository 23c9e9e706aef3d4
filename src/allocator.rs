//! The wasm modules' allocator: constant time, and a fifth of the code of the usual one.
//!
//! Every growth of wasm memory gives JavaScript a new buffer of the whole memory, which its garbage collector counts as
//! so many new bytes: a thousand growths of a page each are a hundred full collections. So a large memory grows by a
//! part of itself, in one step, which also leaves fewer ends of pages too small for anything.
#![allow(unsafe_code)]

use core::alloc::{GlobalAlloc, Layout};
use core::arch::wasm32::memory_size;

use rlsf::SmallGlobalTlsf;

const PAGE: usize = 1 << 16;
/// A growth is followed by one of this part of the memory,
const PART: usize = 16;
/// and at most so many pages.
const MOST: usize = 32;

#[global_allocator]
static ALLOCATOR: Ahead = Ahead(SmallGlobalTlsf::new());

/// Grows ahead of what is asked for.
struct Ahead(SmallGlobalTlsf);

// SAFETY: every call is passed on as it came, and its result given back as it is. `grow_ahead` gives what it allocates
// back at once.
unsafe impl GlobalAlloc for Ahead {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let before = memory_size(0);
        // SAFETY: the caller's promise.
        let allocated = unsafe { self.0.alloc(layout) };
        let after = memory_size(0);
        if after != before {
            self.grow_ahead(after);
        }
        allocated
    }

    unsafe fn dealloc(&self, allocated: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { self.0.dealloc(allocated, layout) }
    }
}

impl Ahead {
    #[cold]
    fn grow_ahead(&self, pages: usize) {
        // A little less than whole pages, which leaves room for the allocator's own words.
        let bytes = (pages / PART).min(MOST).saturating_mul(PAGE).saturating_sub(PAGE / 16);
        if let Ok(layout) = Layout::from_size_align(bytes, 8)
            && bytes > PAGE
        {
            // SAFETY: the layout's size is not zero, and what was allocated with it is given back with it.
            unsafe {
                let ahead = self.0.alloc(layout);
                if !ahead.is_null() {
                    self.0.dealloc(ahead, layout);
                }
            }
        }
    }
}
