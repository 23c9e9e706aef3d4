//! One rule of a policy.

use alloc::boxed::Box;

use crate::Positive;
use crate::algorithm::{FixedWindow, Rule, Schedule, SlidingWindow};

/// How a rule counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuleAlgorithm {
    /// Even spacing of `interval / limit`, `burst` units at once after a quiet time.
    Gcra,
    /// At most `limit` units in each aligned window of `interval`.
    FixedWindow,
    /// At most `limit` units in any window of `interval`.
    SlidingWindow,
}

impl RuleAlgorithm {
    /// Every algorithm.
    pub const ALL: [Self; 3] = [Self::Gcra, Self::FixedWindow, Self::SlidingWindow];

    /// Its name in a policy.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Gcra => "gcra",
            Self::FixedWindow => "fixed-window",
            Self::SlidingWindow => "sliding-window",
        }
    }
}

/// A rule as a policy states it, defaults filled in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyRule {
    /// Units.
    pub limit: Positive,
    /// Milliseconds.
    pub interval: Positive,
    /// How it counts.
    pub algorithm: RuleAlgorithm,
    /// Units at once; no meaning under the windows.
    pub burst: Positive,
    /// What its state is kept under; algorithm and interval when there is none.
    pub name: Option<Box<str>>,
    /// The dimension whose identities it counts apart.
    pub scope: Option<Box<str>>,
}

impl PolicyRule {
    /// The most units that one job may cost.
    pub const fn most(&self) -> Positive {
        match self.algorithm {
            RuleAlgorithm::Gcra => self.burst,
            RuleAlgorithm::FixedWindow | RuleAlgorithm::SlidingWindow => self.limit,
        }
    }

    /// The rule to decide by. `None` when a full recovery would take over 2^53 - 1 ms.
    pub fn rule(&self) -> Option<Rule> {
        Some(match self.algorithm {
            RuleAlgorithm::Gcra => Rule::Schedule(Schedule::spaced(self.interval.get(), self.limit.get(), self.burst)?),
            RuleAlgorithm::FixedWindow => Rule::Fixed(FixedWindow::new(self.limit, self.interval)),
            RuleAlgorithm::SlidingWindow => Rule::Sliding(SlidingWindow::new(self.limit, self.interval)),
        })
    }
}
