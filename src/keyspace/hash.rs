//! The seeded hash of a key, and which of its bits decide what.
//!
//! ```text
//! 63            34            17      9        0
//!  | directory … |   (unused)  | check |  home  |
//! ```
//! The directory takes as many of the top bits as it has grown to; the low 17 bits are kept in the slot, where the home
//! position lets slots move without looking at any record, and the check spares nearly every needless comparison.

use siphasher::sip::SipHasher13;

use super::Key;

/// SipHash-1-3 of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Hash(pub u64);

/// Hashes keys with a secret seed, so that nobody can choose names that collide.
pub(super) struct Hasher {
    seed: [u64; 2],
    /// The bits of a hash that tests leave in it.
    #[cfg(test)]
    pub mask: u64,
}

impl Hasher {
    pub const fn new(seed: [u64; 2]) -> Self {
        Self {
            seed,
            #[cfg(test)]
            mask: u64::MAX,
        }
    }

    /// Each space has a key of its own, so one name in two spaces has two unrelated hashes.
    #[inline]
    pub fn hash(&self, key: Key<'_>) -> Hash {
        let [first, second] = self.seed;
        let hash = SipHasher13::new_with_keys(first ^ u64::from(key.space.0), second).hash(key.name);
        #[cfg(test)]
        let hash = hash & self.mask;
        Hash(hash)
    }
}
