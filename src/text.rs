//! Text put together by plain calls. The standard library's formatting is as fast, but anything that uses it brings several
//! kilobytes of it into a module that browsers download.

use alloc::string::String;

/// A piece of a text.
#[derive(Clone, Copy)]
pub(crate) enum Part<'a> {
    Text(&'a str),
    /// Bytes that may not be text: what isn't shows as U+FFFD.
    Bytes(&'a [u8]),
    Number(u64),
}

/// All parts, one after the other.
pub(crate) fn joined(parts: &[Part<'_>]) -> String {
    let mut text = String::new();
    for part in parts {
        match *part {
            Part::Text(part) => push(&mut text, part),
            Part::Number(number) => push_number(&mut text, number),
            Part::Bytes(bytes) => {
                for chunk in bytes.utf8_chunks() {
                    push(&mut text, chunk.valid());
                    if !chunk.invalid().is_empty() {
                        push(&mut text, "\u{fffd}");
                    }
                }
            }
        }
    }
    text
}

/// A text of ASCII with its blanks filled in: each `@` by the word, each `%` by the next number.
pub(crate) fn filled(template: &str, word: &str, numbers: &[u64]) -> String {
    let mut text = String::new();
    let mut numbers = numbers.iter();
    for byte in template.bytes() {
        match byte {
            b'@' => push(&mut text, word),
            b'%' => push_number(&mut text, numbers.next().copied().unwrap_or_default()),
            _ => text.push(char::from(byte)),
        }
    }
    text
}

/// Appends a text. Called, not inlined: there are many of them and none is hot.
#[inline(never)]
pub(crate) fn push(text: &mut String, part: &str) {
    text.push_str(part);
}

/// Appends a number's decimal digits.
#[inline(never)]
pub(crate) fn push_number(text: &mut String, number: u64) {
    push(text, digits(number, &mut [0; 20]));
}

/// The bytes as text, when they are; else how many of them are. Every check is this one: the standard library's own, made
/// for long texts, would be a second.
#[inline(never)]
pub(crate) fn checked(bytes: &[u8]) -> Result<&str, usize> {
    let Some(first) = bytes.utf8_chunks().next() else { return Ok("") };
    let text = first.valid();
    if text.len() == bytes.len() { Ok(text) } else { Err(text.len()) }
}

/// A number's decimal digits.
pub(crate) fn digits(mut number: u64, place: &mut [u8; 20]) -> &str {
    let mut first = place.len();
    for (at, digit) in place.iter_mut().enumerate().rev() {
        let value = (number % 10) as u8;
        *digit = b'0'.wrapping_add(value);
        first = at;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    place.get(first..).and_then(|digits| checked(digits).ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use alloc::string::{String, ToString};

    use super::{Part, digits, joined};

    #[test]
    fn numbers_read_as_they_are() {
        for power in 0..20 {
            let power = 10_u64.pow(power);
            for number in [0, power - 1, power, power + 1, u64::MAX - power, u64::MAX] {
                assert_eq!(digits(number, &mut [0; 20]), number.to_string());
            }
        }
    }

    #[test]
    fn what_is_no_text_shows_as_another_reader_shows_it() {
        for bytes in [&b"a\xffb"[..], b"", b"\xf0\x9f\x8c", b"\xed\xa0\x80!", "é\u{1f30a}".as_bytes(), b"\xc3"] {
            assert_eq!(joined(&[Part::Bytes(bytes)]), String::from_utf8_lossy(bytes));
        }
        assert_eq!(joined(&[Part::Text("rate["), Part::Number(3), Part::Text("]")]), "rate[3]");
    }
}
