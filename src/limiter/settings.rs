//! What a limiter is created with.

use super::Rate;
use crate::algorithm::Rule;
use crate::{Error, ErrorKind, Positive};

/// How a limiter counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// At most `limit` units in any window.
    SlidingWindow,
    /// A bucket of `limit` tokens that refills evenly.
    TokenBucket,
    /// A bucket of size `limit` that drains evenly: the same schedule, seen from the other side.
    LeakyBucket,
    /// One unit every `window / limit`, `limit` at once.
    Gcra,
    /// At most `limit` units in each aligned window.
    FixedWindow,
}

impl Algorithm {
    /// Every algorithm.
    pub const ALL: [Self; 5] =
        [Self::SlidingWindow, Self::TokenBucket, Self::LeakyBucket, Self::Gcra, Self::FixedWindow];

    /// Its name in commands.
    pub const fn name(self) -> &'static str {
        match self {
            Self::SlidingWindow => "sliding_window",
            Self::TokenBucket => "token_bucket",
            Self::LeakyBucket => "leaky_bucket",
            Self::Gcra => "gcra",
            Self::FixedWindow => "fixed_window",
        }
    }

    /// The algorithm of that name, in any case.
    pub fn named(name: &[u8]) -> Option<Self> {
        Self::ALL.into_iter().find(|algorithm| algorithm.name().as_bytes().eq_ignore_ascii_case(name))
    }
}

/// A limiter's settings: `limit window_ms [ALGO algo] [REFILL rate] [DRAIN rate]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// How it counts.
    pub algorithm: Algorithm,
    /// Units.
    pub limit: Positive,
    /// Milliseconds.
    pub window: Positive,
    /// Units per second that come back; `limit` per `window` when not given. Buckets only.
    pub rate: Option<Rate>,
}

impl Settings {
    /// The rule that these settings describe.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidRate`] when a full recovery would take over 2^53 - 1 ms.
    pub fn rule(&self) -> Result<Rule, Error> {
        Ok(match self.algorithm {
            Algorithm::SlidingWindow => Rule::sliding(self.limit, self.window),
            Algorithm::FixedWindow => Rule::fixed(self.limit, self.window),
            Algorithm::TokenBucket | Algorithm::LeakyBucket | Algorithm::Gcra => {
                let (numerator, denominator) =
                    self.rate.as_ref().map_or((self.window.get(), self.limit.get()), Rate::spacing);
                Rule::spaced(numerator, denominator, self.limit).ok_or(ErrorKind::InvalidRate)?
            }
        })
    }
}
