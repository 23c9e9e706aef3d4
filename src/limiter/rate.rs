//! Rates: exact decimals of units per second.

use alloc::boxed::Box;

use crate::number::{Decimal, parse_decimal};
use crate::text::checked;
use crate::{Error, ErrorKind};

/// A positive decimal of up to 15 digits, 6 of them after the point: units per second.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rate {
    text: Box<str>,
    /// The rate's digits, without the point.
    digits: u64,
    /// Ten to the number of digits after the point.
    scale: u64,
}

impl Rate {
    /// Reads a rate as it was written, such as `5` or `0.25`.
    ///
    /// ```
    /// use tidegate::limiter::Rate;
    ///
    /// assert_eq!(Rate::parse(b"7.25").map(|rate| rate.spacing()), Ok((4000, 29)));
    /// assert!(Rate::parse(b"1e3").is_err());
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::InvalidRate`].
    pub fn parse(text: &[u8]) -> Result<Self, Error> {
        let read = || {
            let Decimal { whole, fraction, scale } = parse_decimal(text, 15, 6)?;
            let digits = whole.saturating_mul(scale).saturating_add(fraction);
            let written = text.len().saturating_sub(usize::from(scale > 1));
            let text = checked(text).ok()?.into();
            (digits > 0 && written <= 15).then_some(Self { text, digits, scale })
        };
        read().ok_or_else(|| ErrorKind::InvalidRate.into())
    }

    /// The rate as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Milliseconds per unit as an exact fraction in lowest terms: numerator, denominator.
    pub fn spacing(&self) -> (u64, u64) {
        let numerator = self.scale.saturating_mul(1000);
        let divisor = gcd(numerator, self.digits);
        let over = |value: u64| value.checked_div(divisor).unwrap_or(value);
        (over(numerator), over(self.digits))
    }
}

#[inline(never)]
fn gcd(mut a: u64, mut b: u64) -> u64 {
    while let Some(rest) = a.checked_rem(b) {
        (a, b) = (b, rest);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_kept_exactly() {
        for (text, spacing) in [
            ("5", (200, 1)),
            ("0.5", (2000, 1)),
            ("7.25", (4000, 29)),
            ("0.000001", (1_000_000_000, 1)),
            ("999999999999999", (1000, 999_999_999_999_999)),
            ("3", (1000, 3)),
        ] {
            let rate = Rate::parse(text.as_bytes()).unwrap();
            assert_eq!(rate.spacing(), spacing, "{text}");
            assert_eq!(rate.text(), text);
        }
    }

    #[test]
    fn anything_else_is_refused() {
        for bad in [
            "",
            "0",
            "0.0",
            "-1",
            "+1",
            "1e3",
            ".5",
            "5.",
            "1.2.3",
            "1.0000001",
            "1234567890123456",
            "NaN",
            "inf",
            " 5",
            "½",
        ] {
            assert_eq!(Rate::parse(bad.as_bytes()), Err(ErrorKind::InvalidRate.into()), "{bad:?}");
        }
    }
}
