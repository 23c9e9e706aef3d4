//! GCRA, token bucket and leaky bucket: one exact virtual schedule.
//!
//! The state is a single instant, the theoretical arrival time ([`Tat`]). A unit occupies `spacing` milliseconds of the
//! schedule; the schedule may run ahead of the clock by at most `burst * spacing`. Spacing is the exact fraction
//! `numerator / denominator` and a tat is held as whole milliseconds and a remainder in `1 / denominator` ms, so no
//! number of admissions drifts.

use super::{Retry, Verdict};
use crate::number::{MAX_INTEGER, Positive};

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
        let (whole, fraction) = match text.iter().position(|byte| *byte == b'.') {
            Some(point) => {
                let (whole, rest) = text.split_at(point);
                let (_, fraction) = rest.split_first()?;
                if fraction.is_empty() || fraction.len() > 9 {
                    return None;
                }
                (whole, fraction)
            }
            None => (text, [].as_slice()),
        };
        if whole.is_empty() {
            return None;
        }
        let digits = |text: &[u8]| {
            text.iter().try_fold(0_u64, |value, byte| {
                let digit = byte.checked_sub(b'0').filter(|digit| *digit <= 9)?;
                Some(value.saturating_mul(10).saturating_add(u64::from(digit)))
            })
        };
        let (ms, remainder) = (digits(whole)?, digits(fraction)?);
        if negative {
            return Some(Self::at(0));
        }
        let exponent = u32::try_from(fraction.len()).ok()?;
        Some(Self { ms, remainder, denominator: 10_u64.checked_pow(exponent)? })
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
    /// `burst * spacing`, the time of a full recovery, as whole ms and a remainder in `1 / denominator` ms.
    capacity_ms: u64,
    capacity_remainder: u64,
    /// Whether `burst * numerator` fits 62 bits, and with it every intermediate value of a decision.
    narrow: bool,
}

impl Schedule {
    /// `burst` units every `period` milliseconds: the rule of `GCRA.LIMIT`.
    pub const fn per_period(period: Positive, burst: Positive) -> Self {
        Self {
            numerator: period.get(),
            denominator: burst.get(),
            burst: burst.get(),
            capacity_ms: period.get(),
            capacity_remainder: 0,
            narrow: fits_62_bits(period.get(), burst.get()),
        }
    }

    /// One unit every `numerator / denominator` milliseconds, `burst` at once after a quiet time. `None` when a full
    /// recovery, `burst * numerator / denominator`, would take over [`MAX_INTEGER`] ms.
    ///
    /// A `numerator` or `denominator` of 0 counts as 1.
    pub fn spaced(numerator: u64, denominator: u64, burst: Positive) -> Option<Self> {
        let (numerator, denominator, burst) = (numerator.max(1), denominator.max(1), burst.get());
        let capacity = u128::from(burst).wrapping_mul(u128::from(numerator));
        let (whole, capacity_remainder) = divided(capacity, denominator);
        let capacity_ms = u64::try_from(whole).ok()?;
        if capacity_ms.saturating_add(u64::from(capacity_remainder > 0)) > MAX_INTEGER {
            return None;
        }
        Some(Self {
            numerator,
            denominator,
            burst,
            capacity_ms,
            capacity_remainder,
            narrow: fits_62_bits(numerator, burst),
        })
    }

    /// The most units that can pass at once.
    pub const fn burst(&self) -> u64 {
        self.burst
    }

    /// Decides one request of `cost` units at `now` against the stored `tat` (`None`: idle). Returns the tat to store,
    /// which is `Some` only when the request is allowed: a refusal changes nothing.
    #[inline]
    pub fn decide(&self, tat: Option<Tat>, now: u64, cost: Positive) -> (Verdict, Option<Tat>) {
        if self.narrow { self.decide_in::<u64>(tat, now, cost) } else { self.decide_wide(tat, now, cost) }
    }

    #[cold]
    #[inline(never)]
    fn decide_wide(self, tat: Option<Tat>, now: u64, cost: Positive) -> (Verdict, Option<Tat>) {
        self.decide_in::<u128>(tat, now, cost)
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
        let furthest = Tat {
            ms: now.saturating_add(self.capacity_ms),
            remainder: self.capacity_remainder,
            denominator: self.denominator,
        };
        if (tat.ms, tat.remainder) > (furthest.ms, furthest.remainder) { furthest } else { tat }
    }

    /// The debt of the schedule at `now` in grains of `1 / denominator` ms: how far the tat lies ahead, at most a full
    /// recovery. `W` must hold `burst * numerator`.
    #[inline]
    fn debt<W: Word>(&self, tat: Option<Tat>, now: u64) -> W {
        let Some(tat) = tat.map(|tat| tat.rounded_up(self.denominator)) else { return W::from(0) };
        let Some(ahead) = tat.ms.checked_sub(now) else { return W::from(0) };
        let (ms, remainder) = if (ahead, tat.remainder) > (self.capacity_ms, self.capacity_remainder) {
            (self.capacity_ms, self.capacity_remainder)
        } else {
            (ahead, tat.remainder)
        };
        W::from(ms).times(W::from(self.denominator)).plus(W::from(remainder))
    }

    #[inline(always)]
    fn decide_in<W: Word>(&self, tat: Option<Tat>, now: u64, cost: Positive) -> (Verdict, Option<Tat>) {
        let numerator = W::from(self.numerator);
        let capacity = W::from(self.burst).times(numerator);
        let debt = self.debt::<W>(tat, now);
        if cost.get() > self.burst {
            return (self.refusal(capacity, debt, Retry::Never), None);
        }
        let after = debt.plus(W::from(cost.get()).times(numerator));
        if after > capacity {
            let wait = after.minus(capacity).ceil_over(self.denominator);
            return (self.refusal(capacity, debt, Retry::After(wait)), None);
        }
        let (ahead, remainder) = after.divided_by(self.denominator);
        let (remaining, _) = capacity.minus(after).divided_by(self.numerator);
        let tat = Tat { ms: now.saturating_add(ahead), remainder, denominator: self.denominator };
        let reset_after = ahead.saturating_add(u64::from(remainder > 0));
        (Verdict { allowed: true, remaining, retry: Retry::Now, reset_after }, Some(tat))
    }

    #[inline]
    fn refusal<W: Word>(&self, capacity: W, debt: W, retry: Retry) -> Verdict {
        let (remaining, _) = capacity.minus(debt).divided_by(self.numerator);
        Verdict { allowed: false, remaining, retry, reset_after: debt.ceil_over(self.denominator) }
    }
}

const fn fits_62_bits(a: u64, b: u64) -> bool {
    // The product of an m-bit and an n-bit number has at most m + n bits.
    a.leading_zeros().saturating_add(b.leading_zeros()) >= 66
}

/// An unsigned integer wide enough for one decision.
///
/// No operation here can wrap. With `C = burst * numerator` (the capacity in grains): a debt is at most `C`, a cost of at
/// most `burst` units adds at most `C`, so every value is at most `2 * C`. In `u64`, `C < 2^62`. In `u128`, `burst` is
/// below 2^53 and `numerator` below 2^64.
trait Word: Copy + PartialOrd + From<u64> {
    fn plus(self, other: Self) -> Self;
    fn minus(self, other: Self) -> Self;
    fn times(self, other: Self) -> Self;
    /// Quotient and remainder, each of which fits 64 bits wherever it is asked for.
    fn divided_by(self, divisor: u64) -> (u64, u64);
    #[inline]
    fn ceil_over(self, divisor: u64) -> u64 {
        let (quotient, remainder) = self.divided_by(divisor);
        quotient.wrapping_add(u64::from(remainder > 0))
    }
}

macro_rules! word {
    ($type:ty, $divided_by:expr) => {
        impl Word for $type {
            #[inline]
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            #[inline]
            fn minus(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }
            #[inline]
            fn times(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }
            #[inline]
            fn divided_by(self, divisor: u64) -> (u64, u64) {
                $divided_by(self, divisor)
            }
        }
    };
}

word!(u64, |value: u64, divisor: u64| match value.checked_div(divisor) {
    Some(quotient) => (quotient, value.wrapping_sub(quotient.wrapping_mul(divisor))),
    None => (0, 0),
});
word!(u128, |value, divisor| {
    let (quotient, remainder) = divided(value, divisor);
    (u64::try_from(quotient).unwrap_or(u64::MAX), remainder)
});

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
