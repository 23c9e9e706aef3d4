//! A map from names to values in the order of the names' bytes, kept in one sorted vector.
//!
//! For the few thousand names at most that limiters, policies and leases have, it is as fast as a tree and a tenth of the
//! code, which counts in a module that browsers download.

use alloc::boxed::Box;
use alloc::vec::Vec;

/// Names and values, sorted by the names' bytes.
#[derive(Clone, Debug)]
pub(crate) struct SortedMap<V> {
    entries: Vec<(Box<[u8]>, V)>,
}

impl<V> Default for SortedMap<V> {
    fn default() -> Self {
        Self { entries: Vec::new() }
    }
}

impl<V> SortedMap<V> {
    /// Where `name` is, or where it would go.
    fn find(&self, name: &[u8]) -> Result<usize, usize> {
        self.entries.binary_search_by(|(other, _)| other.as_ref().cmp(name))
    }

    /// The value of `name`.
    pub fn get(&self, name: &[u8]) -> Option<&V> {
        let at = self.find(name).ok()?;
        self.entries.get(at).map(|(_, value)| value)
    }

    /// As [`SortedMap::get`], to change.
    pub fn get_mut(&mut self, name: &[u8]) -> Option<&mut V> {
        let at = self.find(name).ok()?;
        self.entries.get_mut(at).map(|(_, value)| value)
    }

    /// Sets the value of `name`.
    pub fn insert(&mut self, name: &[u8], value: V) {
        match self.find(name) {
            Ok(at) => {
                if let Some((_, old)) = self.entries.get_mut(at) {
                    *old = value;
                }
            }
            Err(at) => self.entries.insert(at, (name.into(), value)),
        }
    }

    /// The value of `name`, made when there is none.
    pub fn get_or_insert_default(&mut self, name: &[u8]) -> &mut V
    where
        V: Default,
    {
        let (Ok(at) | Err(at)) = self.find(name);
        if self.entries.get(at).is_none_or(|(other, _)| other.as_ref() != name) {
            self.entries.insert(at, (name.into(), V::default()));
        }
        #[expect(clippy::indexing_slicing, reason = "the entry is there: it was found or has just been inserted")]
        &mut self.entries[at].1
    }

    /// Removes `name`; the value it had.
    pub fn remove(&mut self, name: &[u8]) -> Option<V> {
        let at = self.find(name).ok()?;
        Some(self.entries.remove(at).1)
    }

    /// Keeps the values that `keep` says.
    pub fn retain(&mut self, keep: impl Fn(&V) -> bool) {
        self.entries.retain(|(_, value)| keep(value));
    }

    /// The values, to change.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut V> {
        self.entries.iter_mut().map(|(_, value)| value)
    }

    /// Names and values, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], &V)> {
        self.entries.iter().map(|(name, value)| (name.as_ref(), value))
    }

    /// How many names there are.
    pub fn len(&self) -> usize {
        self.entries.len()
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
