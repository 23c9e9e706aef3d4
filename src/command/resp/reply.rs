//! Replies into bytes.

use alloc::vec::Vec;

use crate::text::{LONGEST_LINE, Line, digits};

/// Which version of the protocol a client speaks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Protocol {
    /// RESP2, which every client starts with.
    #[default]
    Resp2,
    /// RESP3, after `HELLO 3`: it has maps and its own null.
    Resp3,
}

/// Writes replies at the end of a buffer.
pub struct Writer<'a> {
    out: &'a mut Vec<u8>,
    protocol: Protocol,
}

impl<'a> Writer<'a> {
    /// A writer at the end of `out`.
    pub const fn new(out: &'a mut Vec<u8>, protocol: Protocol) -> Self {
        Self { out, protocol }
    }

    /// A status, such as `OK`.
    #[inline(never)]
    pub fn status(&mut self, text: &str) {
        self.line(b'+', text.as_bytes());
    }

    /// `OK`.
    #[inline(never)]
    pub fn ok(&mut self) {
        self.status("OK");
    }

    /// An error's whole text, its code first.
    #[inline(never)]
    pub fn error_text(&mut self, text: &str) {
        self.line(b'-', text.as_bytes());
    }

    /// An integer.
    pub fn integer(&mut self, integer: i64) {
        let mut bytes = [0; LONGEST_LINE];
        let mut line = Line { bytes: &mut bytes, length: 0 };
        line.integer(integer);
        self.written(line.written());
    }

    /// An array of five integers: the reply of every decision.
    pub fn integers(&mut self, integers: [i64; 5]) {
        let mut bytes = [0; 6 * LONGEST_LINE];
        let mut line = Line { bytes: &mut bytes, length: 0 };
        line.put(*b"*5\r\n", 4);
        for integer in integers {
            line.integer(integer);
        }
        self.out.extend_from_slice(line.written());
    }

    /// The head of an array of `length` replies, which follow.
    #[inline(never)]
    pub fn array(&mut self, length: usize) {
        self.head(b'*', length);
    }

    /// The head of a map of `length` names and values, which follow; a flat array in RESP2.
    pub fn map(&mut self, length: usize) {
        match self.protocol {
            Protocol::Resp2 => self.head(b'*', length.saturating_mul(2)),
            Protocol::Resp3 => self.head(b'%', length),
        }
    }

    /// A count of things.
    #[inline(never)]
    pub fn count(&mut self, count: usize) {
        self.integer(i64::try_from(count).unwrap_or(i64::MAX));
    }

    /// A text as a bulk string.
    #[inline(never)]
    pub fn text(&mut self, text: &str) {
        self.bulk(text.as_bytes());
    }

    /// An integer as a bulk string.
    pub fn digits(&mut self, integer: u64) {
        self.text(digits(integer, &mut [0; LONGEST_LINE]));
    }

    /// A name and its integer.
    #[inline(never)]
    pub fn integer_entry(&mut self, name: &str, value: u64) {
        self.text(name);
        self.integer(i64::try_from(value).unwrap_or(i64::MAX));
    }

    /// A name and its text.
    #[inline(never)]
    pub fn text_entry(&mut self, name: &str, value: &[u8]) {
        self.text(name);
        self.bulk(value);
    }

    /// A bulk string.
    pub fn bulk(&mut self, bytes: &[u8]) {
        self.head(b'$', bytes.len());
        self.written(bytes);
        self.end();
    }

    /// No value.
    #[inline(never)]
    pub fn null(&mut self) {
        self.written(match self.protocol {
            Protocol::Resp2 => b"$-1\r\n",
            Protocol::Resp3 => b"_\r\n",
        });
    }

    /// A status or an error, in one line; what would break the line is written as a space.
    fn line(&mut self, kind: u8, text: &[u8]) {
        self.out.push(kind);
        self.out.extend(text.iter().map(|byte| if matches!(byte, b'\r' | b'\n') { b' ' } else { *byte }));
        self.end();
    }

    /// Replies that were written elsewhere.
    #[inline(never)]
    pub fn written(&mut self, bytes: &[u8]) {
        self.out.extend_from_slice(bytes);
    }

    fn head(&mut self, kind: u8, length: usize) {
        let mut bytes = [0; LONGEST_LINE];
        let mut line = Line { bytes: &mut bytes, length: 0 };
        line.put([kind], 1);
        line.digits(length as u64);
        line.put(*b"\r\n", 2);
        self.written(line.written());
    }

    fn end(&mut self) {
        self.written(b"\r\n");
    }
}

impl Line<'_> {
    #[inline(never)]
    fn integer(&mut self, integer: i64) {
        let value = integer.unsigned_abs();
        self.put(*b":-", if integer < 0 { 2 } else { 1 });
        if value < 10 {
            #[expect(clippy::cast_possible_truncation, reason = "one digit")]
            self.put([b'0'.wrapping_add(value as u8)], 1);
        } else {
            self.digits(value);
        }
        self.put(*b"\r\n", 2);
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;
    use alloc::vec::Vec;
    use std::format;

    use super::{Protocol, Writer};

    fn written(write: impl FnOnce(&mut Writer<'_>)) -> Vec<u8> {
        let mut out = Vec::new();
        write(&mut Writer::new(&mut out, Protocol::Resp2));
        out
    }

    #[test]
    fn integers_are_written_as_they_read() {
        // Every number of four digits, each at the low and at the high end of eight.
        let four = (0..10_000).flat_map(|number| [number, number * 10_000, number * 10_000 + 9_999]);
        let powers = (0..19).flat_map(|power| {
            let power = 10_i64.pow(power);
            [power - 1, power, power + 1, power.saturating_mul(9), -power, 1 - power]
        });
        let edges = [i64::MIN, i64::MIN + 1, i64::MAX, (1 << 53) - 1, 1 << 53, -1, 9_000_000_000_000_000_001];
        for integer in four.chain(powers).chain(edges) {
            assert_eq!(written(|writer| writer.integer(integer)), format!(":{integer}\r\n").into_bytes());
        }
    }

    #[test]
    fn the_longest_reply_of_a_decision_fits() {
        for integer in [i64::MIN, i64::MAX] {
            let line = format!(":{integer}\r\n");
            let expected = ["*5\r\n".to_string(), line.repeat(5)].concat();
            assert_eq!(written(|writer| writer.integers([integer; 5])), expected.into_bytes());
        }
    }
}
