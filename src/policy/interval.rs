//! Intervals: whole milliseconds as a number, or text such as `1h30m`.

use crate::Positive;
use crate::algorithm::divided;
use crate::number::parse_decimal;

const UNITS: [(&[u8], u64); 6] =
    [(b"ms", 1), (b"s", 1000), (b"m", 60_000), (b"h", 3_600_000), (b"d", 86_400_000), (b"w", 604_800_000)];

/// Digits before the point.
const MOST_DIGITS: usize = 16;
/// Digits after the point are counted in `10^-18`.
const MOST_DECIMALS: usize = 18;
const ONE: u64 = 1_000_000_000_000_000_000;

/// The milliseconds that `text` names: one or more `<decimal><ms|s|m|h|d|w>` parts whose total is a whole number of ms.
pub fn parse(text: &str) -> Option<Positive> {
    let mut rest = text.as_bytes();
    let mut whole = 0_u64;
    // What is left over of all parts, in 10^-18 ms: parts that are no whole number of ms by themselves may be together.
    let mut fraction = 0_u128;
    loop {
        let letters = rest.iter().position(u8::is_ascii_lowercase)?;
        let (number, after) = rest.split_at_checked(letters)?;
        let letters = after.iter().take_while(|letter| letter.is_ascii_lowercase()).count();
        let (unit, after) = after.split_at_checked(letters)?;
        let (_, ms) = UNITS.into_iter().find(|(name, _)| *name == unit)?;
        let decimal = parse_decimal(number, MOST_DIGITS, MOST_DECIMALS)?;
        whole = whole.checked_add(decimal.whole.checked_mul(ms)?)?;
        let decimals = decimal.fraction.checked_mul(ONE.checked_div(decimal.scale)?)?;
        fraction = fraction.checked_add(u128::from(decimals).checked_mul(u128::from(ms))?)?;
        rest = after;
        if rest.is_empty() {
            break;
        }
    }
    let (carried, rest) = divided(fraction, ONE);
    if rest != 0 {
        return None;
    }
    Positive::new(whole.checked_add(u64::try_from(carried).ok()?)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_add_up_exactly() {
        for (text, ms) in [
            ("1ms", 1),
            ("1s", 1000),
            ("1m", 60_000),
            ("1h30m", 5_400_000),
            ("0.5s", 500),
            ("24h", 86_400_000),
            ("1d", 86_400_000),
            ("2w", 1_209_600_000),
            ("0.5ms0.5ms", 1),
            ("0.1s", 100),
            ("0.001s", 1),
            ("1w1d1h1m1s1ms", 694_861_001),
            ("9007199254740991ms", (1 << 53) - 1),
        ] {
            assert_eq!(parse(text).map(Positive::get), Some(ms), "{text}");
        }
    }

    #[test]
    fn anything_else_is_no_interval() {
        for text in [
            "",
            "1",
            "s",
            "0s",
            "0.5ms",
            "1mo",
            "1y",
            "1 s",
            " 1s",
            "1s ",
            "-1s",
            "+1s",
            "1e3s",
            ".5s",
            "5.s",
            "1.2.3s",
            "1S",
            "1H",
            "1s-1s",
            "9007199254740992ms",
            "99999999999999999s",
            "00000000000000001s",
            "1.0000000000000000001s",
            "∞s",
            "1µs",
        ] {
            assert_eq!(parse(text), None, "{text:?}");
        }
    }
}
