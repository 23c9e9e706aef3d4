//! Text put together by plain calls. The standard library's formatting is as fast, but anything that uses it brings several
//! kilobytes of it into a module that browsers download.

use alloc::string::String;

/// A text of ASCII with its blanks filled in: each `@` by the next word, each `%` by the next number. What is no text in a
/// word shows as U+FFFD.
pub(crate) fn filled(template: &str, words: &[&[u8]], numbers: &[u64]) -> String {
    let mut text = String::new();
    let (mut words, mut numbers) = (words.iter(), numbers.iter());
    for byte in template.bytes() {
        match byte {
            b'@' => {
                for chunk in words.next().copied().unwrap_or_default().utf8_chunks() {
                    push(&mut text, chunk.valid());
                    if !chunk.invalid().is_empty() {
                        push(&mut text, "\u{fffd}");
                    }
                }
            }
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
    push(text, digits(number, &mut [0; LONGEST_LINE]));
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
pub(crate) fn digits(number: u64, place: &mut [u8; LONGEST_LINE]) -> &str {
    let mut line = Line { bytes: place, length: 0 };
    line.digits(number);
    let Line { bytes, length } = line;
    bytes.get(..length).and_then(|digits| checked(digits).ok()).unwrap_or_default()
}

/// A kind, a sign, 19 digits and the line's end, and the 7 bytes more that are written at once.
pub(crate) const LONGEST_LINE: usize = 30;

/// Lines that are short enough to be put together before they are added to the replies.
pub(crate) struct Line<'a> {
    pub bytes: &'a mut [u8],
    pub length: usize,
}

impl Line<'_> {
    pub fn written(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }

    /// Adds the first `used` of the bytes.
    #[inline]
    pub fn put<const N: usize>(&mut self, bytes: [u8; N], used: usize) {
        if let Some(place) = self.bytes.get_mut(self.length..).and_then(|rest| rest.first_chunk_mut()) {
            *place = bytes;
        }
        self.length = self.length.wrapping_add(used);
    }

    #[inline(never)]
    pub fn digits(&mut self, value: u64) {
        const EIGHT_DIGITS: u64 = 100_000_000;
        let digits = eight_digits(value % EIGHT_DIGITS);
        let mut unused = 0;
        if value < EIGHT_DIGITS {
            // Every zero in front but one that is the number itself.
            unused = (digits.trailing_zeros() / 8).min(7);
        } else {
            self.digits(value / EIGHT_DIGITS);
        }
        let text = (digits | ZEROS) >> unused.wrapping_mul(8);
        self.put(text.to_le_bytes(), 8_usize.wrapping_sub(unused as usize));
    }
}

const ZEROS: u64 = 0x3030_3030_3030_3030;

/// The eight digits of a number below 10^8, the first in the lowest byte: split in halves, quarters and eighths, all parts
/// at once. A product with a rounded reciprocal is exact for parts as small as these, which the test goes through.
#[inline]
const fn eight_digits(value: u64) -> u64 {
    // Two numbers below 10^4, in 32 bits each; then four below 10^2, in 16; then the digits.
    let halves = (value / 10_000) | (value % 10_000).wrapping_shl(32);
    let hundreds = (halves.wrapping_mul(10_486) >> 20) & 0x0000_007f_0000_007f;
    let quarters = hundreds | halves.wrapping_sub(hundreds.wrapping_mul(100)).wrapping_shl(16);
    let tens = (quarters.wrapping_mul(103) >> 10) & 0x000f_000f_000f_000f;
    tens | quarters.wrapping_sub(tens.wrapping_mul(10)).wrapping_shl(8)
}

#[cfg(test)]
mod tests {
    use alloc::string::{String, ToString};

    use super::{LONGEST_LINE, digits, filled};

    #[test]
    fn numbers_read_as_they_are() {
        for power in 0..20 {
            let power = 10_u64.pow(power);
            for number in [0, power - 1, power, power + 1, u64::MAX - power, u64::MAX] {
                assert_eq!(digits(number, &mut [0; LONGEST_LINE]), number.to_string());
            }
        }
    }

    #[test]
    fn what_is_no_text_shows_as_another_reader_shows_it() {
        for bytes in [&b"a\xffb"[..], b"", b"\xf0\x9f\x8c", b"\xed\xa0\x80!", "é\u{1f30a}".as_bytes(), b"\xc3"] {
            assert_eq!(filled("@", &[bytes], &[]), String::from_utf8_lossy(bytes));
        }
        assert_eq!(filled("@[%] @ %", &[b"rate", b"of"], &[3]), "rate[3] of 0");
    }
}
