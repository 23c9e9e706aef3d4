//! A map from names to values in the order of the names' bytes, kept in one sorted vector.
//!
//! For the few thousand names at most that limiters, policies and leases have, it is as fast as a tree and a tenth of the
//! code, which counts in a module that browsers download.

use alloc::boxed::Box;
use alloc::vec::Vec;

/// Names and values, sorted by the names' bytes.
#[derive(Clone, Debug)]
pub(crate) struct SortedMap<V> {
    /// Apart from the values, so that one search serves the maps of every type.
    names: Vec<Box<[u8]>>,
    /// In the order of their names.
    values: Vec<V>,
}

impl<V> Default for SortedMap<V> {
    fn default() -> Self {
        Self { names: Vec::new(), values: Vec::new() }
    }
}

/// Where `name` is, or where it would go.
#[inline(never)]
fn find(names: &[Box<[u8]>], name: &[u8]) -> Result<usize, usize> {
    names.binary_search_by(|other| other.as_ref().cmp(name))
}

/// Puts `item` at `at`, or last.
#[inline(never)]
pub(crate) fn insert<T>(items: &mut Vec<T>, at: usize, item: T) {
    // The bounds, here and below, show the compiler that nothing panics.
    items.insert(at.min(items.len()), item);
}

/// Where `name` is now, and whether it was there before.
#[inline(never)]
fn enter(names: &mut Vec<Box<[u8]>>, name: &[u8]) -> (usize, bool) {
    match find(names, name) {
        Ok(at) => (at, true),
        Err(at) => {
            insert(names, at, name.into());
            (at, false)
        }
    }
}

/// Takes the item at `at`.
#[inline(never)]
fn remove<T>(items: &mut Vec<T>, at: usize) -> Option<T> {
    if at < items.len() { Some(items.remove(at)) } else { None }
}

impl<V> SortedMap<V> {
    /// The value of `name`.
    pub fn get(&self, name: &[u8]) -> Option<&V> {
        self.values.get(find(&self.names, name).ok()?)
    }

    /// As [`SortedMap::get`], to change.
    pub fn get_mut(&mut self, name: &[u8]) -> Option<&mut V> {
        self.values.get_mut(find(&self.names, name).ok()?)
    }

    /// Sets the value of `name`.
    pub fn insert(&mut self, name: &[u8], value: V) {
        let (at, known) = enter(&mut self.names, name);
        match self.values.get_mut(at) {
            Some(old) if known => *old = value,
            _ => insert(&mut self.values, at, value),
        }
    }

    /// The value of `name`, made when there is none.
    pub fn get_or_insert_default(&mut self, name: &[u8]) -> &mut V
    where
        V: Default,
    {
        let (at, known) = enter(&mut self.names, name);
        if !known {
            insert(&mut self.values, at, V::default());
        }
        #[expect(clippy::unwrap_used, reason = "the entry is there: it was found or has just been inserted")]
        self.values.get_mut(at).unwrap()
    }

    /// Removes `name`; the value it had.
    pub fn remove(&mut self, name: &[u8]) -> Option<V> {
        let at = find(&self.names, name).ok()?;
        remove(&mut self.names, at)?;
        remove(&mut self.values, at)
    }

    /// Keeps the values that `keep` says.
    pub fn retain(&mut self, keep: impl Fn(&V) -> bool) {
        let mut values = self.values.iter();
        self.names.retain(|_| values.next().is_some_and(&keep));
        self.values.retain(keep);
    }

    /// The values, to change.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut V> {
        self.values.iter_mut()
    }

    /// Names and values, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], &V)> {
        self.names.iter().map(AsRef::as_ref).zip(&self.values)
    }

    /// How many names there are.
    pub fn len(&self) -> usize {
        self.names.len()
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    #[test]
    fn names_keep_their_values_in_the_order_of_their_bytes() {
        let mut map = SortedMap::default();
        for (value, name) in ["b", "", "a", "é", "a\0", "b"].into_iter().enumerate() {
            map.insert(name.as_bytes(), value);
        }
        let all: Vec<_> = map.iter().map(|(name, value)| (name, *value)).collect();
        assert_eq!(
            all,
            [("", 1), ("a", 2), ("a\0", 4), ("b", 5), ("é", 3)].map(|(name, value)| (name.as_bytes(), value))
        );
        assert_eq!((map.get(b"a"), map.get(b"c"), map.len()), (Some(&2), None, 5));
        *map.get_mut(b"a").unwrap() = 9;
        assert_eq!((map.remove(b"a"), map.remove(b"a")), (Some(9), None));
        map.retain(|value| *value != 1);
        assert_eq!(map.get(b""), None);
        assert_eq!(map.len(), 3);
    }
}
