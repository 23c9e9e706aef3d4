//! The five rules as pure functions of a state, the time and a cost: no clock, no storage.
//!
//! - [`Schedule`]: GCRA, token bucket and leaky bucket, which are one exact virtual schedule;
//! - [`FixedWindow`]: a counter for each window, aligned on the epoch;
//! - [`SlidingWindow`]: an exact log of the last `window` milliseconds, of bounded size.
//!
//! Every rule answers with a [`Verdict`]; what is stored changes only when the caller commits an allowed one.

mod fixed_window;
mod schedule;
mod sliding_window;

use core::time::Duration;

use crate::Positive;

pub use fixed_window::{Count, FixedWindow};
pub(crate) use schedule::divided;
pub use schedule::{Outcome, Schedule, Tat};
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

impl Rule {
    /// At most `limit` units in each window of `interval` milliseconds.
    #[inline(never)]
    pub(crate) const fn fixed(limit: Positive, interval: Positive) -> Self {
        Self::Fixed(FixedWindow::new(limit, interval))
    }

    /// At most `limit` units in any window of `interval` milliseconds.
    #[inline(never)]
    pub(crate) const fn sliding(limit: Positive, interval: Positive) -> Self {
        Self::Sliding(SlidingWindow::new(limit, interval))
    }

    /// As [`Schedule::spaced`].
    #[inline(never)]
    pub(crate) fn spaced(numerator: u64, denominator: u64, burst: Positive) -> Option<Self> {
        Schedule::spaced(numerator, denominator, burst).map(Self::Schedule)
    }
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
    /// How long to wait: nothing when the request fits, `None` when it never will.
    ///
    /// ```
    /// use core::time::Duration;
    /// use tidegate::algorithm::Retry;
    ///
    /// assert_eq!(Retry::Now.wait(), Some(Duration::ZERO));
    /// assert_eq!(Retry::After(1500).wait(), Some(Duration::from_millis(1500)));
    /// assert_eq!(Retry::Never.wait(), None);
    /// ```
    pub const fn wait(self) -> Option<Duration> {
        match self {
            Self::Now => Some(Duration::ZERO),
            Self::After(ms) => Some(Duration::from_millis(ms)),
            Self::Never => None,
        }
    }

    /// Milliseconds to wait as replies show it: `now` when it fits, -1 when it never will.
    #[doc(hidden)]
    pub const fn or(self, now: i64) -> i64 {
        match self {
            Self::Now => now,
            #[expect(clippy::cast_possible_wrap, reason = "durations are at most 2^54")]
            Self::After(ms) => ms as i64,
            Self::Never => -1,
        }
    }
}
