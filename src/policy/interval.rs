//! Intervals: whole milliseconds as a number, or text such as `1h30m`.

use crate::Positive;

const UNITS: [(&str, u64); 6] =
    [("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000), ("w", 604_800_000)];

/// The milliseconds that `text` names: one or more `<decimal><ms|s|m|h|d|w>` parts whose total is a whole number of ms.
pub fn parse(text: &str) -> Option<Positive> {
    if text.is_empty() {
        return None;
    }
    let mut rest = text;
    let mut whole = 0_u128;
    // What is left over of all parts, in 10^-18 ms: parts that are no whole number of ms by themselves may be together.
    let mut fraction = 0_u128;
    while !rest.is_empty() {
        let digits = rest.find(|letter: char| !letter.is_ascii_digit() && letter != '.')?;
        let (number, after) = rest.split_at_checked(digits)?;
        let letters = after.find(|letter: char| !letter.is_ascii_lowercase()).unwrap_or(after.len());
        let (unit, after) = after.split_at_checked(letters)?;
        let (_, ms) = UNITS.into_iter().find(|(name, _)| *name == unit)?;
        let (integer, decimals) = number.split_once('.').unwrap_or((number, "0"));
        if integer.is_empty() || decimals.is_empty() || integer.len() > 16 || decimals.len() > 18 {
            return None;
        }
        whole = whole.checked_add(integer.parse::<u128>().ok()?.checked_mul(u128::from(ms))?)?;
        let scale = 10_u128.checked_pow(u32::try_from(18_usize.checked_sub(decimals.len())?).ok()?)?;
        let part = decimals.parse::<u128>().ok()?.checked_mul(scale)?.checked_mul(u128::from(ms))?;
        fraction = fraction.checked_add(part)?;
        rest = after;
    }
    if fraction.checked_rem(FRACTIONS)? != 0 {
        return None;
    }
    let total = whole.checked_add(fraction.checked_div(FRACTIONS)?)?;
    Positive::new(u64::try_from(total).ok()?)
}

const FRACTIONS: u128 = 1_000_000_000_000_000_000;

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
            "1.0000000000000000001s",
            "∞s",
            "1µs",
        ] {
            assert_eq!(parse(text), None, "{text:?}");
        }
    }
}
