//! The integers that callers may pass: 1 to 2^53 - 1, which every JavaScript number holds exactly.

use core::fmt;
use core::num::NonZeroU64;
use core::time::Duration;

use crate::{Error, ErrorKind};

/// The largest integer any argument or reported duration may have: 2^53 - 1.
pub const MAX_INTEGER: u64 = (1 << 53) - 1;

/// An integer from 1 to [`MAX_INTEGER`]: a limit, a burst, a cost, a period in milliseconds.
///
/// ```
/// use tidegate::Positive;
/// assert_eq!(Positive::new(10).map(Positive::get), Some(10));
/// assert_eq!(Positive::new(0), None);
/// assert_eq!(Positive::new(1 << 53), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Positive(NonZeroU64);

impl Positive {
    /// The smallest, and the usual cost.
    pub const ONE: Self = Self(NonZeroU64::MIN);

    /// `value`, when it is from 1 to [`MAX_INTEGER`].
    pub const fn new(value: u64) -> Option<Self> {
        if value > MAX_INTEGER {
            return None;
        }
        match NonZeroU64::new(value) {
            Some(value) => Some(Self(value)),
            None => None,
        }
    }

    /// The whole milliseconds of `duration`, when they are from 1 to [`MAX_INTEGER`] and nothing is left over.
    ///
    /// ```
    /// use core::time::Duration;
    /// use tidegate::Positive;
    ///
    /// assert_eq!(Positive::from_duration(Duration::from_mins(1)), Positive::new(60_000));
    /// assert_eq!(Positive::from_duration(Duration::from_micros(1500)), None);
    /// ```
    pub const fn from_duration(duration: Duration) -> Option<Self> {
        let ms = duration.as_millis();
        if ms > MAX_INTEGER as u128 || !duration.subsec_nanos().is_multiple_of(1_000_000) {
            return None;
        }
        #[expect(clippy::cast_possible_truncation, reason = "it is at most 2^53 - 1")]
        Self::new(ms as u64)
    }

    /// `value`, or an error that names `argument`.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfRange`] when `value` is 0 or above [`MAX_INTEGER`].
    pub fn named(argument: &'static str, value: u64) -> Result<Self, Error> {
        Self::new(value).ok_or_else(|| out_of_range(argument, value))
    }

    /// The decimal integer that `text` spells: digits only, no sign, no leading zero.
    #[inline(never)]
    pub fn parse(text: &[u8]) -> Option<Self> {
        Self::new(parse_digits(text)?)
    }

    /// The integer itself.
    pub const fn get(self) -> u64 {
        self.0.get()
    }
}

impl From<Positive> for u64 {
    fn from(value: Positive) -> Self {
        value.get()
    }
}

/// As [`Positive::named`], of an argument called `value`.
impl TryFrom<u64> for Positive {
    type Error = Error;

    fn try_from(value: u64) -> Result<Self, Error> {
        Self::named("value", value)
    }
}

impl fmt::Display for Positive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cold]
#[inline(never)]
fn out_of_range(argument: &'static str, value: u64) -> Error {
    ErrorKind::OutOfRange { argument, value }.into()
}

/// The integer that `text` spells in the one canonical way: `0`, or digits without a leading zero, up to 16 of them.
#[inline(never)]
pub(crate) fn parse_digits(text: &[u8]) -> Option<u64> {
    if text.is_empty() || text.len() > 16 || (text.len() > 1 && text.first() == Some(&b'0')) {
        return None;
    }
    let mut value = 0_u64;
    for byte in text {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        // 16 digits always fit.
        value = value.wrapping_mul(10).wrapping_add(u64::from(digit));
    }
    Some(value)
}

/// A number with a part after the point: `whole + fraction / scale`.
pub(crate) struct Decimal {
    /// At most 2^64 - 1, as which anything larger is read.
    pub whole: u64,
    pub fraction: u64,
    /// Ten to the number of digits after the point.
    pub scale: u64,
}

/// The decimal that `text` spells: up to `most` digits, and perhaps a point and up to `places` more of them, of which there may
/// be 19.
#[inline(never)]
pub(crate) fn parse_decimal(text: &[u8], most: usize, places: usize) -> Option<Decimal> {
    let point = text.iter().position(|byte| *byte == b'.').unwrap_or(text.len());
    let (whole, rest) = text.split_at(point);
    let fraction = rest.get(1..).unwrap_or_default();
    if whole.is_empty() || whole.len() > most || fraction.len() > places || rest.len() == 1 {
        return None;
    }
    let mut decimal = Decimal { whole: digits(whole)?, fraction: digits(fraction)?, scale: 1 };
    for _ in fraction {
        decimal.scale = decimal.scale.wrapping_mul(10);
    }
    Some(decimal)
}

/// The integer that `text` spells in digits; without any it is 0.
#[inline(never)]
fn digits(text: &[u8]) -> Option<u64> {
    text.iter().try_fold(0_u64, |value, byte| {
        let digit = byte.checked_sub(b'0').filter(|digit| *digit <= 9)?;
        Some(value.saturating_mul(10).saturating_add(u64::from(digit)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_canonical_spelling_is_an_integer() {
        for bad in
            ["", "0", "-1", "+1", "01", " 1", "1 ", "1.5", "ten", "1e3", "9007199254740992", "99999999999999999999"]
        {
            assert_eq!(Positive::parse(bad.as_bytes()), None, "{bad:?}");
        }
        assert_eq!(Positive::parse(b"9007199254740991").map(Positive::get), Some(MAX_INTEGER));
    }
}
