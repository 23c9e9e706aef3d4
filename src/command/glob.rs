//! Patterns of `KEYS` and `SCAN`: `*`, `?`, `[…]` and `\`.

/// Whether `pattern` matches all of `text`. Takes at most `pattern.len() * text.len()` steps, whatever the pattern.
pub fn matches(pattern: &[u8], text: &[u8]) -> bool {
    let (mut at, mut seen) = (0_usize, 0_usize);
    // Where to go on when the text after the last star does not fit: the star then takes one byte more.
    let mut star: Option<(usize, usize)> = None;
    while let Some(byte) = text.get(seen) {
        let rest = pattern.get(at..).unwrap_or_default();
        if rest.first() == Some(&b'*') {
            at = at.saturating_add(1);
            star = Some((at, seen));
        } else if let Some(used) = one(rest, *byte) {
            at = at.saturating_add(used);
            seen = seen.saturating_add(1);
        } else if let Some((after, taken)) = star {
            let taken = taken.saturating_add(1);
            star = Some((after, taken));
            at = after;
            seen = taken;
        } else {
            return false;
        }
    }
    pattern.get(at..).unwrap_or_default().iter().all(|byte| *byte == b'*')
}

/// The length of the pattern's first element, when it matches `byte`.
fn one(pattern: &[u8], byte: u8) -> Option<usize> {
    match *pattern {
        [] => None,
        [b'?', ..] => Some(1),
        [b'\\', escaped, ..] => (escaped == byte).then_some(2),
        [b'[', ref class @ ..] => {
            let (used, inside) = in_class(class, byte);
            inside.then_some(used.saturating_add(1))
        }
        [literal, ..] => (literal == byte).then_some(1),
    }
}

/// The length of a class after its `[`, and whether `byte` is in it. A class that never ends goes to the pattern's end.
fn in_class(class: &[u8], byte: u8) -> (usize, bool) {
    let negated = class.first() == Some(&b'^');
    let mut at = usize::from(negated);
    let mut inside = false;
    loop {
        match *class.get(at..).unwrap_or_default() {
            [] => break,
            [b']', ..] => {
                at = at.saturating_add(1);
                break;
            }
            [b'\\', escaped, ..] => {
                inside |= escaped == byte;
                at = at.saturating_add(2);
            }
            [low, b'-', high, ..] => {
                inside |= (low.min(high)..=low.max(high)).contains(&byte);
                at = at.saturating_add(3);
            }
            [literal, ..] => {
                inside |= literal == byte;
                at = at.saturating_add(1);
            }
        }
    }
    (at, inside != negated)
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn patterns_match_as_redis_documents_them() {
        for (pattern, text, expected) in [
            ("*", "", true),
            ("h?llo", "hello", true),
            ("h?llo", "hllo", false),
            ("h*llo", "heeeello", true),
            ("h[ae]llo", "hallo", true),
            ("h[ae]llo", "hillo", false),
            ("h[^e]llo", "hallo", true),
            ("h[^e]llo", "hello", false),
            ("h[a-b]llo", "hbllo", true),
            (r"h\*llo", "h*llo", true),
            (r"h\*llo", "hello", false),
            ("user:*:x", "user:1:2:x", true),
            ("", "a", false),
            ("a**b", "axxb", true),
        ] {
            assert_eq!(matches(pattern.as_bytes(), text.as_bytes()), expected, "{pattern} on {text}");
        }
    }

    #[test]
    fn a_hostile_pattern_takes_no_exponential_time() {
        let pattern = "a*".repeat(500) + "b";
        assert!(!matches(pattern.as_bytes(), "a".repeat(4096).as_bytes()));
    }
}
