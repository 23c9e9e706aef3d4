//! A static for modules of one thread.
#![allow(unsafe_code)]

use core::ops::Deref;

/// A value that nothing but one thread asks for. The standard library's thread-locals would bring the standard library.
pub(crate) struct Single<T>(T);

// SAFETY: WebAssembly without atomics has one thread. Other targets compile what uses this to check it, and never run it.
unsafe impl<T> Sync for Single<T> {}

impl<T> Single<T> {
    pub const fn new(value: T) -> Self {
        Self(value)
    }
}

impl<T> Deref for Single<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}
