//! Rates: exact decimals of units per second.

use alloc::boxed::Box;

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
        let (digits, scale) = decimal(text).filter(|(digits, _)| *digits > 0).ok_or(ErrorKind::InvalidRate)?;
        let text = checked(text).map_err(|_| ErrorKind::InvalidRate)?;
        Ok(Self { text: text.into(), digits, scale })
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

fn decimal(text: &[u8]) -> Option<(u64, u64)> {
    let (whole, fraction) = match text.iter().position(|byte| *byte == b'.') {
        Some(point) => {
            let (whole, rest) = text.split_at(point);
            let (_, fraction) = rest.split_first()?;
            if fraction.is_empty() {
                return None;
            }
            (whole, fraction)
        }
        None => (text, [].as_slice()),
    };
    if whole.is_empty() || fraction.len() > 6 || whole.len().checked_add(fraction.len())? > 15 {
        return None;
    }
    let digits = whole.iter().chain(fraction).try_fold(0_u64, |value, byte| {
        let digit = byte.checked_sub(b'0').filter(|digit| *digit <= 9)?;
        value.checked_mul(10)?.checked_add(u64::from(digit))
    })?;
    Some((digits, 10_u64.checked_pow(u32::try_from(fraction.len()).ok()?)?))
}

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
