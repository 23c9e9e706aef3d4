//! Replies into bytes.

use alloc::vec::Vec;

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
    pub fn status(&mut self, text: &str) {
        self.line(b'+', text.as_bytes());
    }

    /// `OK`.
    pub fn ok(&mut self) {
        self.status("OK");
    }

    /// An error's whole text, its code first.
    pub fn error_text(&mut self, text: &str) {
        self.line(b'-', text.as_bytes());
    }

    /// An integer.
    #[inline]
    pub fn integer(&mut self, integer: i64) {
        self.out.push(b':');
        if integer < 0 {
            self.out.push(b'-');
        }
        self.digits(integer.unsigned_abs());
        self.end();
    }

    /// An array of integers: the reply of every decision.
    #[inline]
    pub fn integers<const N: usize>(&mut self, integers: [i64; N]) {
        self.head(b'*', N);
        for integer in integers {
            self.integer(integer);
        }
    }

    /// The head of an array of `length` replies, which follow.
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
    pub fn count(&mut self, count: usize) {
        self.integer(i64::try_from(count).unwrap_or(i64::MAX));
    }

    /// A text as a bulk string.
    pub fn text(&mut self, text: &str) {
        self.bulk(text.as_bytes());
    }

    /// A name and its integer.
    pub fn integer_entry(&mut self, name: &str, value: u64) {
        self.text(name);
        self.integer(i64::try_from(value).unwrap_or(i64::MAX));
    }

    /// A name and its text.
    pub fn text_entry(&mut self, name: &str, value: &[u8]) {
        self.text(name);
        self.bulk(value);
    }

    /// A bulk string.
    pub fn bulk(&mut self, bytes: &[u8]) {
        self.head(b'$', bytes.len());
        self.out.extend_from_slice(bytes);
        self.end();
    }

    /// No value.
    pub fn null(&mut self) {
        self.out.extend_from_slice(match self.protocol {
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
    pub fn written(&mut self, bytes: &[u8]) {
        self.out.extend_from_slice(bytes);
    }

    fn head(&mut self, kind: u8, length: usize) {
        self.out.push(kind);
        self.digits(length as u64);
        self.end();
    }

    fn end(&mut self) {
        self.out.extend_from_slice(b"\r\n");
    }

    fn digits(&mut self, mut value: u64) {
        if value < 10 {
            #[expect(clippy::cast_possible_truncation, reason = "one digit")]
            self.out.push(b'0'.wrapping_add(value as u8));
            return;
        }
        let mut digits = [b'0'; 20];
        let mut used = 0_usize;
        for digit in digits.iter_mut().rev() {
            let quotient = value / 10;
            #[expect(clippy::cast_possible_truncation, reason = "one digit")]
            let rest = value.wrapping_sub(quotient.wrapping_mul(10)) as u8;
            *digit = b'0'.wrapping_add(rest);
            used = used.wrapping_add(1);
            value = quotient;
            if value == 0 {
                break;
            }
        }
        let from = digits.len().saturating_sub(used);
        self.out.extend_from_slice(digits.get(from..).unwrap_or_default());
    }
}
