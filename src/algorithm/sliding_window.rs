//! Sliding windows: an exact log of what was admitted in the last `window` milliseconds.
//!
//! The log holds one entry for each millisecond that admitted something, or, where that could be over 4,096 of them, for
//! each of 4,096 equal parts of the window, logged at the part's last millisecond: never too early, so the promise holds.
//! Entries carry running totals, so that the units in any stretch are a subtraction. What is looked for is nearly always at
//! the old end, so every search starts there: the length of the log makes no difference.

use alloc::collections::VecDeque;

use super::{Retry, Schedule, Verdict};
use crate::number::Positive;

/// The most log entries a rule needs before it counts in parts of the window.
const EXACT_ENTRIES: u64 = 4096;

/// One entry: everything admitted at `at`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The millisecond it counts from; it stops counting at `at + window`.
    pub at: u64,
    /// All units ever logged up to and including this entry.
    total: u64,
}

/// What was admitted of late, oldest first.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Log {
    entries: VecDeque<Entry>,
    /// All units ever logged before the first entry.
    base: u64,
    /// All units ever logged, and the newest entry's time if there is one: what else only the far end of the entries tells,
    /// which is rarely near at hand.
    total: u64,
    newest: u64,
}

/// Logs are copied when a rule was changed, which is rare.
impl Clone for Log {
    fn clone(&self) -> Self {
        let mut copy = Self { base: self.base, total: self.base, ..Self::new() };
        for (at, units) in self.entries() {
            copy.push(at, units);
        }
        copy
    }
}

impl Log {
    /// An empty log.
    pub const fn new() -> Self {
        Self { entries: VecDeque::new(), base: 0, total: 0, newest: 0 }
    }

    /// When the newest entry was logged.
    pub fn newest(&self) -> Option<u64> {
        (!self.entries.is_empty()).then_some(self.newest)
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether nothing is logged.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Each entry's time and units, oldest first.
    pub fn entries(&self) -> impl Iterator<Item = (u64, u64)> {
        self.entries_from(0)
    }

    /// As [`Log::entries`], from the first entry at `at` or later on.
    pub(crate) fn entries_from(&self, at: u64) -> impl Iterator<Item = (u64, u64)> {
        let skipped = self.leading(|entry| entry.at < at);
        let mut before = self.total_before(skipped);
        self.entries.range(skipped..).map(move |entry| {
            let units = entry.total.wrapping_sub(before);
            before = entry.total;
            (entry.at, units)
        })
    }

    /// When the oldest entry was logged.
    pub(crate) fn oldest(&self) -> Option<u64> {
        self.entries.front().map(|entry| entry.at)
    }

    /// Units that count at `now` in a window of that length.
    pub(crate) fn used(&self, window: u64, now: u64) -> u64 {
        let expired = self.leading(|entry| entry.at.saturating_add(window) <= now);
        self.total.wrapping_sub(self.total_before(expired))
    }

    /// Adds `units` at `at`, which must not be before the newest entry.
    pub(crate) fn push(&mut self, at: u64, units: u64) {
        self.total = self.total.wrapping_add(units);
        if self.newest() == Some(at) {
            self.entries.pop_back();
        }
        self.newest = at;
        self.entries.push_back(Entry { at, total: self.total });
    }

    /// Forgets every entry that no longer counts at `now`; whether any is left.
    pub(crate) fn expire(&mut self, window: u64, now: u64) -> bool {
        while let Some(oldest) = self.entries.front().filter(|entry| entry.at.saturating_add(window) <= now) {
            self.base = oldest.total;
            self.entries.pop_front();
        }
        !self.entries.is_empty()
    }

    /// How many of the oldest entries `hold`, where none does after one that doesn't: by steps that double, so that few are
    /// found by looking at few.
    #[inline]
    fn leading(&self, holds: impl Fn(&Entry) -> bool) -> usize {
        let holds_at = |at| self.entries.get(at).is_some_and(&holds);
        let (mut low, mut high) = (0_usize, 0_usize);
        while holds_at(high) {
            low = high.wrapping_add(1);
            high = high.wrapping_add(low);
        }
        high = high.min(self.entries.len());
        while low < high {
            let middle = low.midpoint(high);
            if holds_at(middle) {
                low = middle.wrapping_add(1);
            } else {
                high = middle;
            }
        }
        low
    }

    /// How many entries there is room for.
    pub(crate) fn capacity(&self) -> usize {
        self.entries.capacity()
    }

    /// Units logged in the first `count` entries and before.
    fn total_before(&self, count: usize) -> u64 {
        count.checked_sub(1).and_then(|last| self.entries.get(last)).map_or(self.base, |entry| entry.total)
    }

    /// Entries later than `at` are logged at `at` instead.
    fn pull_back(&mut self, at: u64) {
        if self.newest().is_some_and(|newest| newest > at) {
            while self.entries.back().is_some_and(|entry| entry.at >= at) {
                self.entries.pop_back();
            }
            self.newest = at;
            self.entries.push_back(Entry { at, total: self.total });
        }
    }
}

/// At most `limit` units in any stretch of `window` milliseconds.
///
/// ```
/// use tidegate::{Positive, algorithm::{Log, Retry, SlidingWindow}};
///
/// let rule = SlidingWindow::new(Positive::ONE, Positive::new(60_000).unwrap());
/// let mut log = Log::new();
/// assert!(rule.decide(Some(&log), 59_999, Positive::ONE).allowed);
/// rule.admit(&mut log, 59_999, Positive::ONE);
/// assert_eq!(rule.decide(Some(&log), 61_000, Positive::ONE).retry, Retry::After(58_999));
/// assert!(rule.decide(Some(&log), 119_999, Positive::ONE).allowed, "one window later it no longer counts");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlidingWindow {
    limit: u64,
    window: u64,
    /// The width of one entry in milliseconds; 1 where the log is exact.
    grain: u64,
}

impl SlidingWindow {
    /// The rule of `limit` units in any `window` milliseconds.
    pub const fn new(limit: Positive, window: Positive) -> Self {
        let (limit, window) = (limit.get(), window.get());
        let exact = limit <= EXACT_ENTRIES || window <= EXACT_ENTRIES;
        Self { limit, window, grain: if exact { 1 } else { window.div_ceil(EXACT_ENTRIES) } }
    }

    /// The length of the window in milliseconds.
    pub const fn window(&self) -> u64 {
        self.window
    }

    /// The schedule that admits as many units over time: how a schedule's debt is counted in this rule's units.
    pub(crate) fn spacing(&self) -> Option<Schedule> {
        Schedule::spaced(self.window, self.limit, Positive::new(self.limit)?)
    }

    /// Where an admission at `now` is logged.
    pub(crate) fn logged_at(&self, now: u64) -> u64 {
        if self.grain == 1 { now } else { self.part_end(now) }
    }

    /// The last millisecond of the part of the window that `now` is in.
    #[cold]
    #[inline(never)]
    fn part_end(&self, now: u64) -> u64 {
        let into = now.checked_rem(self.grain).unwrap_or(0);
        now.saturating_add(self.grain.saturating_sub(into)).saturating_sub(1)
    }

    /// Units that count at `now`.
    pub fn used(&self, log: Option<&Log>, now: u64) -> u64 {
        log.map_or(0, |log| log.used(self.window, now)).min(self.limit)
    }

    /// Decides one request of `cost` units at `now`. Nothing is logged: [`SlidingWindow::admit`] does that.
    pub fn decide(&self, log: Option<&Log>, now: u64, cost: Positive) -> Verdict {
        let newest = self.logged_at(now);
        let used = self.used(log, now);
        let free = self.limit.saturating_sub(used);
        if let Some(remaining) = free.checked_sub(cost.get()) {
            let reset_after = newest.saturating_add(self.window).saturating_sub(now);
            return Verdict { allowed: true, remaining, retry: Retry::Now, reset_after };
        }
        let leaves = |at: u64| at.min(newest).saturating_add(self.window).saturating_sub(now);
        let reset_after = match log.and_then(Log::newest) {
            Some(at) if used > 0 => leaves(at),
            _ => 0,
        };
        let retry = match log {
            Some(log) if cost.get() <= self.limit => {
                // Enough has left when the units logged since are at most `limit - cost`.
                let allowed_since = self.limit.saturating_sub(cost.get());
                let total = log.total;
                let blocking = log.leading(|entry| total.wrapping_sub(entry.total) > allowed_since);
                Retry::After(log.entries.get(blocking).map_or(reset_after, |entry| leaves(entry.at)))
            }
            _ => Retry::Never,
        };
        Verdict { allowed: false, remaining: free, retry, reset_after }
    }

    /// Stores the log as it is read at `now`: without what no longer counts, later entries logged now.
    pub(crate) fn settle(&self, log: &mut Log, now: u64) {
        log.expire(self.window, now);
        log.pull_back(self.logged_at(now));
    }

    /// Logs an allowed request.
    pub fn admit(&self, log: &mut Log, now: u64, cost: Positive) {
        let at = self.logged_at(now);
        log.expire(self.window, now);
        log.pull_back(at);
        log.push(at, cost.get());
    }
}
