//! The five rules as pure functions of a state, the time and a cost: no clock, no storage.
//!
//! - [`schedule`]: GCRA, token bucket and leaky bucket, which are one exact virtual schedule;
//! - [`fixed_window`]: a counter for each window, aligned on the epoch;
//! - [`sliding_window`]: an exact log of the last `window` milliseconds, of bounded size.
//!
//! Every rule answers with a [`Verdict`]; what is stored changes only when the caller commits an allowed one.

pub mod fixed_window;
pub mod schedule;
pub mod sliding_window;

pub use fixed_window::{Count, FixedWindow};
pub use schedule::{Schedule, Tat};
pub use sliding_window::{Log, SlidingWindow};

/// Any of the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// GCRA, token bucket, leaky bucket.
    Schedule(Schedule),
    /// Fixed window.
    Fixed(FixedWindow),
    /// Sliding window.
    Sliding(SlidingWindow),
}

/// What a rule says of one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// Whether the request fits.
    pub allowed: bool,
    /// Units still free: after this request when it is allowed, as things stand when it is not.
    pub remaining: u64,
    /// When the same request would fit.
    pub retry: Retry,
    /// Milliseconds, rounded up, until nothing is in use any more; 0 when idle.
    pub reset_after: u64,
}

/// When a request would fit, if nobody else spends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retry {
    /// It fits now.
    Now,
    /// In so many milliseconds, rounded up: waiting that long is enough, 1 ms less is not.
    After(u64),
    /// Its cost is more than the rule can ever admit at once.
    Never,
}

impl Retry {
    /// Milliseconds to wait as replies show it: `now` when it fits, -1 when it never will.
    pub const fn or(self, now: i64) -> i64 {
        match self {
            Self::Now => now,
            #[expect(clippy::cast_possible_wrap, reason = "durations are at most 2^54")]
            Self::After(ms) => ms as i64,
            Self::Never => -1,
        }
    }
}
