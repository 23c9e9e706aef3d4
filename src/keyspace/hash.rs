//! The seeded hash of a key, and which of its bits decide what.
//!
//! ```text
//! 63            34            17      9        0
//!  | directory … |   (unused)  | check |  home  |
//! ```
//! The directory takes as many of the top bits as it has grown to; the low 17 bits are kept in the slot, where the home
//! position lets slots move without looking at any record, and the check spares nearly every needless comparison.
//!
//! The hash is SipHash-1-3, written out here for whole names: a hasher that takes its input in pieces needs half as many
//! instructions again, on the path of every decision.

use super::{Key, Space};

/// The hash of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Hash(pub u64);

/// SipHash-1-3 of a name, whichever space it is in.
#[derive(Clone, Copy, Debug, Default)]
pub struct NameHash(u64);

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

    #[inline(always)]
    pub fn hash(&self, key: Key<'_>) -> Hash {
        self.hash_name(key.name).in_space(key.space)
    }

    #[inline(always)]
    pub fn hash_name(&self, name: &[u8]) -> NameHash {
        let hash = sip13(self.seed, name);
        #[cfg(test)]
        let hash = hash & self.mask;
        NameHash(hash)
    }
}

impl NameHash {
    /// The hash of the name in that space. A job's states under the rules of its policy, whose spaces are numbered in a row, are
    /// so in one segment with their slots side by side, eight at most, and their records lie as they were made: one after
    /// the other. Any two spaces differ by what nobody chose, which tells nothing of a hash.
    #[inline(always)]
    pub(super) fn in_space(self, space: Space) -> Hash {
        let (row, place) = (space.0 >> 3, space.0 & 7);
        Hash(self.0 ^ u64::from(row).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ u64::from(place))
    }
}

#[inline(never)]
fn sip13([first, second]: [u64; 2], bytes: &[u8]) -> u64 {
    let mut state = Sip([
        first ^ 0x736f_6d65_7073_6575,
        second ^ 0x646f_7261_6e64_6f6d,
        first ^ 0x6c79_6765_6e65_7261,
        second ^ 0x7465_6462_7974_6573,
    ]);
    let (words, rest) = bytes.as_chunks::<8>();
    for word in words {
        state.absorb(u64::from_le_bytes(*word));
    }
    // The last word: what is left of the bytes, and in its top byte their number.
    let left = match bytes.last_chunk::<8>() {
        // The last eight bytes, without those that are of the words already.
        Some(last) => {
            let taken = 56_usize.wrapping_sub(bytes.len().wrapping_mul(8)) & 0x38;
            #[expect(clippy::cast_possible_truncation, reason = "below 64")]
            (u64::from_le_bytes(*last) >> 8).wrapping_shr(taken as u32)
        }
        None => rest.iter().rev().fold(0, |left, byte| left << 8 | u64::from(*byte)),
    };
    state.absorb((bytes.len() as u64) << 56 | left);
    state.finish()
}

struct Sip([u64; 4]);

impl Sip {
    #[inline(always)]
    const fn round(&mut self) {
        let [mut a, mut b, mut c, mut d] = self.0;
        a = a.wrapping_add(b);
        c = c.wrapping_add(d);
        b = b.rotate_left(13) ^ a;
        d = d.rotate_left(16) ^ c;
        a = a.rotate_left(32);
        c = c.wrapping_add(b);
        a = a.wrapping_add(d);
        b = b.rotate_left(17) ^ c;
        d = d.rotate_left(21) ^ a;
        c = c.rotate_left(32);
        self.0 = [a, b, c, d];
    }

    #[inline(always)]
    const fn absorb(&mut self, word: u64) {
        self.0[3] ^= word;
        self.round();
        self.0[0] ^= word;
    }

    #[inline(always)]
    const fn finish(mut self) -> u64 {
        self.0[2] ^= 0xff;
        self.round();
        self.round();
        self.round();
        let [a, b, c, d] = self.0;
        a ^ b ^ c ^ d
    }
}

#[cfg(test)]
mod tests {
    use core::hash::Hasher as _;

    use super::sip13;

    #[test]
    fn names_of_every_length_hash_as_siphash_1_3_does() {
        let bytes: std::vec::Vec<u8> = (0..4_096_u32).map(|index| (index * 167 + 13).to_le_bytes()[0]).collect();
        for seed in [[0, 0], [0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908], [u64::MAX, 1]] {
            for len in (0..300).chain([511, 512, 4_095, 4_096]) {
                let mut peer = siphasher::sip::SipHasher13::new_with_keys(seed[0], seed[1]);
                peer.write(&bytes[..len]);
                assert_eq!(sip13(seed, &bytes[..len]), peer.finish(), "{len}");
            }
        }
    }
}
