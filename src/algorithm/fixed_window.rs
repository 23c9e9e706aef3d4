//! Fixed windows: a counter for each window `[k * interval, (k + 1) * interval)` on the epoch.

use super::{Retry, Schedule, Verdict};
use crate::number::Positive;

/// How many units were counted, and when their window ends.
///
/// The end says all that the window's index would: a count is live while its window, or an earlier one after the clock
/// stepped back, is the current one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count {
    /// Units admitted in the window.
    pub units: u64,
    /// The window's first millisecond after its end.
    pub ends: u64,
}

/// At most `limit` units in each window of `interval` milliseconds, aligned on 1970-01-01T00:00:00Z. Over a window's edge
/// twice as many may pass.
///
/// ```
/// use tidegate::{Positive, algorithm::{FixedWindow, Retry}};
///
/// let rule = FixedWindow::new(Positive::new(100).unwrap(), Positive::new(60_000).unwrap());
/// let (verdict, count) = rule.decide(None, 59_999, Positive::new(100).unwrap());
/// assert!(verdict.allowed);
/// assert_eq!(rule.decide(count, 59_999, Positive::ONE).0.retry, Retry::After(1));
/// assert!(rule.decide(count, 60_000, Positive::ONE).0.allowed, "the boundary belongs to the new window");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FixedWindow {
    limit: u64,
    interval: u64,
}

impl FixedWindow {
    /// The rule of `limit` units every `interval` milliseconds.
    pub const fn new(limit: Positive, interval: Positive) -> Self {
        Self { limit: limit.get(), interval: interval.get() }
    }

    /// The schedule that admits as many units over time: how a schedule's debt is counted in this rule's units.
    pub(crate) fn spacing(&self) -> Option<Schedule> {
        Schedule::spaced(self.interval, self.limit, Positive::new(self.limit)?)
    }

    /// The end of the window that `now` is in.
    pub fn window_end(&self, now: u64) -> u64 {
        let into_window = now.checked_rem(self.interval).unwrap_or(0);
        now.saturating_add(self.interval.saturating_sub(into_window))
    }

    /// Units already used at `now`: a count of a later window is read as one of the current window.
    pub fn used(&self, count: Option<Count>, now: u64) -> u64 {
        count.filter(|count| count.ends > now).map_or(0, |count| count.units.min(self.limit))
    }

    /// Decides one request of `cost` units at `now`. Returns the count to store, which is `Some` only when the request
    /// is allowed.
    #[inline]
    pub fn decide(&self, count: Option<Count>, now: u64, cost: Positive) -> (Verdict, Option<Count>) {
        let used = self.used(count, now);
        let ends = self.window_end(now);
        let left = ends.saturating_sub(now);
        let free = self.limit.saturating_sub(used);
        if let Some(remaining) = free.checked_sub(cost.get()) {
            let count = Count { units: used.saturating_add(cost.get()), ends };
            return (Verdict { allowed: true, remaining, retry: Retry::Now, reset_after: left }, Some(count));
        }
        let retry = if cost.get() > self.limit { Retry::Never } else { Retry::After(left) };
        let reset_after = if used > 0 { left } else { 0 };
        (Verdict { allowed: false, remaining: free, retry, reset_after }, None)
    }
}
