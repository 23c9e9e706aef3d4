//! Keys, and a fixed order to visit them in.

/// `count` different keys of 20 bytes.
#[must_use]
pub fn keys(count: usize) -> Vec<String> {
    (0..count).map(|index| format!("user:{index:015}")).collect()
}

/// An endless, repeatable walk over `0..count` that visits uniformly, as independent users would.
pub struct Walk {
    state: u64,
    count: u64,
}

impl Walk {
    /// A walk over `0..count`.
    #[must_use]
    pub fn new(count: usize) -> Self {
        Self { state: 0x9e37_79b9_7f4a_7c15, count: count as u64 }
    }

    /// The next index.
    #[inline]
    pub fn step(&mut self) -> usize {
        // xorshift64*, whose high half picks the index without a division.
        self.state ^= self.state >> 12;
        self.state ^= self.state << 25;
        self.state ^= self.state >> 27;
        let high = self.state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32;
        #[allow(clippy::cast_possible_truncation, reason = "an index below `count`")]
        let index = ((high * self.count) >> 32) as usize;
        index
    }
}
