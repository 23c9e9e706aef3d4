//! What changed, for a store behind the keyspace.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::Space;

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

/// The engine's own module has no store behind it, and not a byte for one.
const CAN_BE_KEPT: bool = cfg!(any(not(target_arch = "wasm32"), feature = "store", feature = "worker"));

/// The changes since they were last taken, if anybody wants them.
#[derive(Default)]
pub(super) struct Journal {
    changes: Option<Vec<Change>>,
}

impl Journal {
    pub fn keep(&mut self) {
        self.changes.get_or_insert_default();
    }

    #[inline(always)]
    pub const fn is_kept(&self) -> bool {
        CAN_BE_KEPT && self.changes.is_some()
    }

    /// Notes a change. When nobody wants it, it is not even made.
    #[inline(always)]
    pub fn note(&mut self, change: impl FnOnce() -> Change) {
        if CAN_BE_KEPT && let Some(changes) = &mut self.changes {
            changes.push(change());
        }
    }

    pub fn take(&mut self) -> Vec<Change> {
        self.changes.as_mut().map(core::mem::take).unwrap_or_default()
    }
}
