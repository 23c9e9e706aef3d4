//! One rule of a policy.

use alloc::boxed::Box;

use crate::Positive;
use crate::algorithm::Rule;

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
    /// `limit` units every `interval` milliseconds, evenly spaced; one at once unless [`PolicyRule::burst`] says more.
    ///
    /// ```
    /// use tidegate::{Positive, policy::{Policy, PolicyRule}};
    ///
    /// let (ten, second) = (Positive::new(10).unwrap(), Positive::new(1000).unwrap());
    /// let rule = PolicyRule::gcra(ten, second).burst(ten).named("each tenant").scoped("tenant");
    /// let policy = Policy::new(&[rule], None)?;
    /// let json = br#"{ "limit": 10, "interval": "1s", "burst": 10, "name": "each tenant", "scope": "tenant" }"#;
    /// assert_eq!(policy.fingerprint(), Policy::read(json)?.fingerprint());
    /// # Ok::<(), tidegate::Error>(())
    /// ```
    pub const fn gcra(limit: Positive, interval: Positive) -> Self {
        Self::of(RuleAlgorithm::Gcra, limit, interval)
    }

    /// At most `limit` units in each window of `interval` milliseconds, aligned on the epoch.
    pub const fn fixed_window(limit: Positive, interval: Positive) -> Self {
        Self::of(RuleAlgorithm::FixedWindow, limit, interval)
    }

    /// At most `limit` units in any window of `interval` milliseconds.
    pub const fn sliding_window(limit: Positive, interval: Positive) -> Self {
        Self::of(RuleAlgorithm::SlidingWindow, limit, interval)
    }

    const fn of(algorithm: RuleAlgorithm, limit: Positive, interval: Positive) -> Self {
        Self { limit, interval, algorithm, burst: Positive::ONE, name: None, scope: None }
    }

    /// Lets `burst` units start at once after a quiet time; no meaning under the windows.
    #[must_use]
    pub const fn burst(mut self, burst: Positive) -> Self {
        self.burst = burst;
        self
    }

    /// Keeps the rule's state under `name`, which the rules of a policy must differ in.
    #[must_use]
    pub fn named(mut self, name: &str) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Counts each identity of `dimension` by itself; the rule must have a name then.
    #[must_use]
    pub fn scoped(mut self, dimension: &str) -> Self {
        self.scope = Some(dimension.into());
        self
    }

    /// The most units that one job may cost.
    pub const fn most(&self) -> Positive {
        match self.algorithm {
            RuleAlgorithm::Gcra => self.burst,
            RuleAlgorithm::FixedWindow | RuleAlgorithm::SlidingWindow => self.limit,
        }
    }

    /// The rule to decide by. `None` when a full recovery would take over 2^53 - 1 ms.
    pub(crate) fn rule(&self) -> Option<Rule> {
        Some(match self.algorithm {
            RuleAlgorithm::Gcra => return Rule::spaced(self.interval.get(), self.limit.get(), self.burst),
            RuleAlgorithm::FixedWindow => Rule::fixed(self.limit, self.interval),
            RuleAlgorithm::SlidingWindow => Rule::sliding(self.limit, self.interval),
        })
    }
}
