//! GCRA, token bucket and leaky bucket: one exact virtual schedule.
//!
//! The state is a single instant, the theoretical arrival time ([`Tat`]). A unit occupies `spacing` milliseconds of the
//! schedule; the schedule may run ahead of the clock by at most `burst * spacing`. Spacing is the exact fraction
//! `numerator / denominator` and a tat is held as whole milliseconds and a remainder in `1 / denominator` ms, so no
//! number of admissions drifts.

use super::{Retry, Verdict};
use crate::number::{Decimal, MAX_INTEGER, Positive, parse_decimal};

/// An exact instant: `ms + remainder / denominator` milliseconds since 1970, with `remainder < denominator`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tat {
    /// Whole milliseconds.
    pub ms: u64,
    /// The rest, in `1 / denominator` ms.
    pub remainder: u64,
    /// The grain of the remainder; at least 1.
    pub denominator: u64,
}

impl Tat {
    /// The instant `ms`, exactly.
    pub const fn at(ms: u64) -> Self {
        Self { ms, remainder: 0, denominator: 1 }
    }

    /// The first whole millisecond that is not before this instant: when a state that holds it has recovered.
    pub const fn ceil(self) -> u64 {
        self.ms.saturating_add((self.remainder > 0) as u64)
    }

    /// The instant that `text` spells in milliseconds: `-?digits`, optionally a point and up to 9 digits. A time before
    /// 1970 is read as 1970, and one past 2^64 as 2^64: neither differs to any decision. `None` for any other text.
    ///
    /// ```
    /// use tidegate::algorithm::Tat;
    ///
    /// assert_eq!(Tat::parse(b"1764547206000.5"), Some(Tat { ms: 1_764_547_206_000, remainder: 5, denominator: 10 }));
    /// assert_eq!(Tat::parse(b"soon"), None);
    /// ```
    #[doc(hidden)]
    pub fn parse(text: &[u8]) -> Option<Self> {
        let (negative, text) = match text.split_first() {
            Some((b'-', rest)) => (true, rest),
            _ => (false, text),
        };
        let Decimal { whole, fraction, scale } = parse_decimal(text, usize::MAX, 9)?;
        if negative {
            return Some(Self::at(0));
        }
        Some(Self { ms: whole, remainder: fraction, denominator: scale })
    }

    /// This instant rounded up to a multiple of `1 / denominator` ms, so that no rule reads it as earlier than it is.
    ///
    /// ```
    /// use tidegate::algorithm::Tat;
    ///
    /// let third = Tat { ms: 7, remainder: 1, denominator: 3 };
    /// assert_eq!(third.rounded_up(10), Tat { ms: 7, remainder: 4, denominator: 10 });
    /// ```
    #[inline]
    #[must_use]
    #[doc(hidden)]
    pub fn rounded_up(self, denominator: u64) -> Self {
        if self.denominator == denominator { self } else { self.regrained(denominator) }
    }

    #[cold]
    fn regrained(self, denominator: u64) -> Self {
        if self.remainder == 0 {
            return Self { denominator, ..self };
        }
        let scaled = u128::from(self.remainder).wrapping_mul(u128::from(denominator));
        let (whole, rest) = divided(scaled, self.denominator);
        let remainder = whole.saturating_add(u128::from(rest > 0));
        match u64::try_from(remainder) {
            Ok(remainder) if remainder < denominator => Self { ms: self.ms, remainder, denominator },
            _ => Self { ms: self.ms.saturating_add(1), remainder: 0, denominator },
        }
    }
}

/// A rule that spaces units evenly and lets up to `burst` of them pass at once after a quiet time.
///
/// ```
/// use tidegate::{Positive, algorithm::{Retry, Schedule}};
///
/// let ten_a_minute = Schedule::per_period(Positive::new(60_000).unwrap(), Positive::new(10).unwrap());
/// let now = 1_764_547_200_000;
/// let (verdict, tat) = ten_a_minute.decide(None, now, Positive::new(10).unwrap());
/// assert!(verdict.allowed);
/// let (verdict, _) = ten_a_minute.decide(tat, now, Positive::ONE);
/// assert_eq!(verdict.retry, Retry::After(6_000));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Schedule {
    numerator: u64,
    denominator: u64,
    burst: u64,
    /// `numerator / denominator`, the time that one unit takes.
    spacing: Span,
    /// `burst * spacing`, the time of a full recovery.
    capacity: Span,
    /// Whether `burst * numerator` and `burst * denominator` fit 62 bits, and with them every product of a decision.
    narrow: bool,
}

/// A time as whole milliseconds and a remainder in `1 / denominator` ms of its schedule. It is compared as it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Span {
    ms: u64,
    remainder: u64,
}

impl Span {
    const ZERO: Self = Self { ms: 0, remainder: 0 };

    const fn ceil(self) -> u64 {
        self.ms.saturating_add((self.remainder > 0) as u64)
    }
}

/// What a [`Schedule`] decided, before anybody asks for figures: [`Schedule::verdict`] works them out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    retry: Retry,
    /// How far the tat is ahead of the time, with this request if it was admitted.
    debt: Span,
}

impl Outcome {
    /// Whether the request fits.
    #[inline]
    pub const fn allowed(&self) -> bool {
        matches!(self.retry, Retry::Now)
    }
}

impl Schedule {
    /// `burst` units every `period` milliseconds: the rule of `GCRA.LIMIT`.
    #[inline(never)]
    pub const fn per_period(period: Positive, burst: Positive) -> Self {
        let (numerator, denominator) = (period.get(), burst.get());
        Self {
            numerator,
            denominator,
            burst: denominator,
            spacing: over(numerator, denominator),
            capacity: Span { ms: numerator, remainder: 0 },
            narrow: fits_62_bits(denominator, numerator | denominator),
        }
    }

    /// One unit every `numerator / denominator` milliseconds, `burst` at once after a quiet time. `None` when a full
    /// recovery, `burst * numerator / denominator`, would take over [`MAX_INTEGER`] ms.
    ///
    /// A `numerator` or `denominator` of 0 counts as 1.
    pub fn spaced(numerator: u64, denominator: u64, burst: Positive) -> Option<Self> {
        let (numerator, denominator, burst) = (numerator.max(1), denominator.max(1), burst.get());
        let capacity = product_over(burst, numerator, denominator)?;
        if capacity.ceil() > MAX_INTEGER {
            return None;
        }
        Some(Self {
            numerator,
            denominator,
            burst,
            spacing: over(numerator, denominator),
            capacity,
            narrow: fits_62_bits(burst, numerator | denominator),
        })
    }

    /// The most units that can pass at once.
    pub const fn burst(&self) -> u64 {
        self.burst
    }

    /// Whether this is the rule of `burst` units every `period`.
    #[inline]
    pub(crate) const fn is_per_period(&self, period: Positive, burst: Positive) -> bool {
        self.numerator == period.get() && self.denominator == burst.get() && self.burst == burst.get()
    }

    /// Decides one request of `cost` units at `now` against the stored `tat` (`None`: idle). Returns the tat to store,
    /// which is `Some` only when the request is allowed: a refusal changes nothing.
    #[inline]
    pub fn decide(&self, tat: Option<Tat>, now: u64, cost: Positive) -> (Verdict, Option<Tat>) {
        let outcome = self.outcome(tat, now, cost);
        (self.verdict(&outcome), self.tat(&outcome, now))
    }

    /// As [`Schedule::decide`], for a caller who may not want all figures.
    ///
    /// ```
    /// use tidegate::{Positive, algorithm::Schedule};
    ///
    /// let ten_a_minute = Schedule::per_period(Positive::new(60_000).unwrap(), Positive::new(10).unwrap());
    /// let now = 1_764_547_200_000;
    /// let outcome = ten_a_minute.outcome(None, now, Positive::ONE);
    /// assert!(outcome.allowed());
    /// assert_eq!(ten_a_minute.tat(&outcome, now).unwrap().ms, now + 6_000);
    /// assert_eq!(ten_a_minute.verdict(&outcome).remaining, 9);
    /// ```
    #[inline]
    pub fn outcome(&self, tat: Option<Tat>, now: u64, cost: Positive) -> Outcome {
        let debt = self.debt(tat, now);
        if cost.get() > self.burst {
            return Outcome { retry: Retry::Never, debt };
        }
        let after = self.sum(debt, self.span(cost));
        if after > self.capacity {
            // Of the two remainders only the sign of the difference matters to a wait rounded up.
            let Span { ms, remainder } = self.capacity;
            let wait = after.ms.wrapping_sub(ms).wrapping_add(u64::from(after.remainder > remainder));
            return Outcome { retry: Retry::After(wait), debt };
        }
        Outcome { retry: Retry::Now, debt: after }
    }

    /// The tat to store after what was decided at `now`; `None` when the request was refused.
    #[inline]
    pub fn tat(&self, outcome: &Outcome, now: u64) -> Option<Tat> {
        let Span { ms, remainder } = outcome.debt;
        let tat = Tat { ms: now.saturating_add(ms), remainder, denominator: self.denominator };
        outcome.allowed().then_some(tat)
    }

    /// The figures of what this schedule decided.
    #[inline]
    pub fn verdict(&self, outcome: &Outcome) -> Verdict {
        let Outcome { retry, debt } = *outcome;
        Verdict { allowed: outcome.allowed(), remaining: self.remaining(debt), retry, reset_after: debt.ceil() }
    }

    /// Units in use at `now`, rounded up.
    pub fn used(&self, tat: Option<Tat>, now: u64) -> u64 {
        let (verdict, _) = self.decide(tat, now, Positive::ONE);
        self.burst.saturating_sub(verdict.remaining).saturating_sub(u64::from(verdict.allowed))
    }

    /// The tat of `units` spent at `now` after a quiet time; more than `burst` count as `burst`.
    pub(crate) fn spent(&self, units: u64, now: u64) -> Option<Tat> {
        let cost = Positive::new(units.min(self.burst))?;
        self.decide(None, now, cost).1
    }

    /// `tat` as it is read at `now`: at most a full recovery ahead.
    #[must_use]
    pub(crate) fn clamped(&self, tat: Tat, now: u64) -> Tat {
        let tat = tat.rounded_up(self.denominator);
        let Span { ms, remainder } = self.capacity;
        let furthest = Tat { ms: now.saturating_add(ms), remainder, denominator: self.denominator };
        if (tat.ms, tat.remainder) > (furthest.ms, furthest.remainder) { furthest } else { tat }
    }

    /// How far the tat is ahead of `now`, at most a full recovery.
    #[inline]
    fn debt(&self, tat: Option<Tat>, now: u64) -> Span {
        let Some(tat) = tat.map(|tat| tat.rounded_up(self.denominator)) else { return Span::ZERO };
        let Some(ms) = tat.ms.checked_sub(now) else { return Span::ZERO };
        Span { ms, remainder: tat.remainder }.min(self.capacity)
    }

    /// The time that `cost` units take, which are at most `burst`.
    #[inline]
    fn span(&self, cost: Positive) -> Span {
        if cost == Positive::ONE { self.spacing } else { self.span_of_many(cost.get()) }
    }

    #[inline(never)]
    fn span_of_many(&self, cost: u64) -> Span {
        if !self.narrow {
            // At most the capacity, which fits.
            return product_over(cost, self.numerator, self.denominator).unwrap_or(self.capacity);
        }
        let Span { ms, remainder } = over(cost.wrapping_mul(self.spacing.remainder), self.denominator);
        Span { ms: ms.wrapping_add(cost.wrapping_mul(self.spacing.ms)), remainder }
    }

    /// Both remainders are less than the denominator, and the milliseconds at most [`MAX_INTEGER`].
    #[inline]
    const fn sum(&self, one: Span, other: Span) -> Span {
        let ms = one.ms.wrapping_add(other.ms);
        let missing = self.denominator.wrapping_sub(other.remainder);
        if one.remainder < missing {
            Span { ms, remainder: one.remainder.wrapping_add(other.remainder) }
        } else {
            Span { ms: ms.wrapping_add(1), remainder: one.remainder.wrapping_sub(missing) }
        }
    }

    /// Whole units that fit beside `debt`, which is at most the capacity.
    #[inline]
    fn remaining(&self, debt: Span) -> u64 {
        if !self.narrow {
            return self.remaining_of_many(debt);
        }
        // The whole is at most `burst * numerator`, so nothing is lost when a part of it wraps.
        let ms = self.capacity.ms.wrapping_sub(debt.ms).wrapping_mul(self.denominator);
        let free = ms.wrapping_add(self.capacity.remainder).wrapping_sub(debt.remainder);
        free.checked_div(self.numerator).unwrap_or(0)
    }

    #[cold]
    #[inline(never)]
    fn remaining_of_many(&self, debt: Span) -> u64 {
        let ms = u128::from(self.capacity.ms.wrapping_sub(debt.ms)).wrapping_mul(u128::from(self.denominator));
        let free = ms.wrapping_add(u128::from(self.capacity.remainder)).wrapping_sub(u128::from(debt.remainder));
        u64::try_from(divided(free, self.numerator).0).unwrap_or(u64::MAX)
    }
}

const fn fits_62_bits(a: u64, b: u64) -> bool {
    // The product of an m-bit and an n-bit number has at most m + n bits.
    a.leading_zeros().saturating_add(b.leading_zeros()) >= 66
}

/// `value / denominator`.
#[inline]
const fn over(value: u64, denominator: u64) -> Span {
    match value.checked_div(denominator) {
        Some(ms) => Span { ms, remainder: value.wrapping_sub(ms.wrapping_mul(denominator)) },
        None => Span::ZERO,
    }
}

/// `a * b / denominator`, when it is below 2^64 ms.
#[cold]
#[inline(never)]
fn product_over(a: u64, b: u64, denominator: u64) -> Option<Span> {
    let (ms, remainder) = divided(u128::from(a).wrapping_mul(u128::from(b)), denominator);
    Some(Span { ms: u64::try_from(ms).ok()?, remainder })
}

/// Quotient and remainder, a bit at a time: a rule so wide is rare, and what the compiler brings for it is a kilobyte. A
/// divisor of 0 counts as 1.
#[inline(never)]
pub(crate) fn divided(value: u128, divisor: u64) -> (u128, u64) {
    let divisor = u128::from(divisor.max(1));
    let (mut quotient, mut rest) = (0_u128, 0_u128);
    for bit in (0..128_u32.saturating_sub(value.leading_zeros())).rev() {
        rest = rest << 1 | (value >> bit & 1);
        quotient <<= 1;
        if rest >= divisor {
            rest = rest.wrapping_sub(divisor);
            quotient |= 1;
        }
    }
    #[expect(clippy::cast_possible_truncation, reason = "less than the divisor")]
    (quotient, rest as u64)
}
