//! What is in memory, of what the database holds.

use alloc::vec::Vec;

use crate::keyspace::{Key, Space};
use crate::sorted_map::SortedMap;

/// What the database holds of one key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stored {
    Nothing,
    Record,
    /// Entries that leave after so many ms.
    Log {
        window: u64,
    },
}

/// What the database holds of a limiter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SavedLimiter {
    pub space: Space,
    pub denied: u64,
}

/// Something of each space, in the order of the spaces, in one vector: the code of a tree is ten times as long.
pub(super) struct BySpace<V>(Vec<(Space, V)>);

impl<V> Default for BySpace<V> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<V: Default> BySpace<V> {
    fn find(&self, space: Space) -> Result<usize, usize> {
        self.0.binary_search_by_key(&space, |(other, _)| *other)
    }

    /// What there is of the space.
    pub fn get(&self, space: Space) -> Option<&V> {
        let at = self.find(space).ok()?;
        self.0.get(at).map(|(_, value)| value)
    }

    /// What there is of the space, made when there is nothing.
    pub fn get_or_insert_default(&mut self, space: Space) -> &mut V {
        let at = self.find(space).unwrap_or_else(|at| {
            self.0.insert(at, (space, V::default()));
            at
        });
        #[expect(clippy::indexing_slicing, reason = "the entry is there: it was found or has just been inserted")]
        &mut self.0[at].1
    }

    /// Spaces and what there is of them, in order.
    pub fn iter(&self) -> impl Iterator<Item = (Space, &V)> {
        self.0.iter().map(|(space, value)| (*space, value))
    }
}

/// What is known of one space.
#[derive(Default)]
struct Keys {
    keys: SortedMap<Stored>,
    /// Whether every key that the database has of it is in memory.
    whole: bool,
}

/// What is in memory, of what the database holds.
#[derive(Default)]
pub(super) struct Known {
    spaces: BySpace<Keys>,
    keys: usize,
    /// Limiters that are in memory, and those known not to be there.
    pub limiters: SortedMap<Option<SavedLimiter>>,
    pub all_limiters: bool,
    pub namespaces: SortedMap<()>,
    /// Whether it is known until when anything is reserved.
    pub reserved: bool,
}

impl Known {
    /// What the database holds of the key, when that is known.
    pub fn get(&self, key: Key<'_>) -> Option<Stored> {
        let space = self.spaces.get(key.space)?;
        space.keys.get(key.name).copied().or_else(|| space.whole.then_some(Stored::Nothing))
    }

    /// Takes note of what the database holds of the key.
    pub fn set(&mut self, key: Key<'_>, stored: Stored) {
        let space = self.spaces.get_or_insert_default(key.space);
        let before = space.keys.len();
        space.keys.insert(key.name, stored);
        let added = space.keys.len().saturating_sub(before);
        self.keys = self.keys.saturating_add(added);
    }

    /// Whether every key of the space is in memory.
    pub fn is_whole(&self, space: Space) -> bool {
        self.spaces.get(space).is_some_and(|space| space.whole)
    }

    /// Every key of the space is in memory now.
    pub fn set_whole(&mut self, space: Space) {
        self.spaces.get_or_insert_default(space).whole = true;
    }

    /// Every key of the space is gone from the database.
    pub fn clear(&mut self, space: Space) {
        let space = self.spaces.get_or_insert_default(space);
        let gone = core::mem::take(&mut space.keys).len();
        space.whole = true;
        self.keys = self.keys.saturating_sub(gone);
    }

    /// Everything is gone from the database.
    pub fn clear_all(&mut self) {
        *self = Self { all_limiters: true, ..Self::default() };
    }

    /// The settings of a limiter that the database holds.
    pub fn limiter(&self, name: &[u8]) -> Option<SavedLimiter> {
        self.limiters.get(name).copied().flatten()
    }

    /// How many keys, limiters and namespaces these are.
    pub fn len(&self) -> usize {
        self.keys.saturating_add(self.limiters.len()).saturating_add(self.namespaces.len())
    }
}
