//! Requests out of bytes, as they arrive.

use alloc::vec::Vec;
use core::ops::Range;

/// The longest argument.
pub const MAX_BULK_BYTES: usize = 1 << 20;
/// The most arguments of a command, its name included.
pub const MAX_ARGUMENTS: usize = 1024;
/// The longest command, all its bytes together: what one client can make the session hold.
pub const MAX_COMMAND_BYTES: usize = 1 << 24;
/// The longest line: of a length, or of a command typed by hand.
const MAX_LINE_BYTES: usize = 1 << 16;
const MAX_LENGTH_LINE_BYTES: usize = 32;
/// The same limits for a client that has not said its password.
const STRANGER_BULK_BYTES: usize = 1 << 14;
const STRANGER_ARGUMENTS: usize = 10;

/// What can't be understood; the connection is closed after saying so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProtocolError(pub &'static str);

/// One request while it is being read: an array of bulk strings, or a line typed by hand.
///
/// Reading goes on where it stopped when more bytes are there, so no byte is looked at twice however the request is cut.
#[derive(Debug, Default)]
pub struct Request {
    /// Where each argument is, counted from the request's first byte.
    arguments: Vec<Range<usize>>,
    /// How many arguments are still to come, once the array's head was read.
    missing: Option<usize>,
    /// The length of the argument that is being read, once its head was read.
    bulk: Option<usize>,
    /// Bytes read so far.
    read: usize,
    /// Bytes already searched for the end of a line.
    searched: usize,
    /// Whether the client has still to say its password, and may make the session hold little.
    stranger: bool,
}

impl Request {
    /// Where the arguments of a complete request are.
    #[cfg(feature = "worker")]
    pub fn arguments(&self) -> &[Range<usize>] {
        &self.arguments
    }

    /// Whether the requests are those of a client that has still to say its password: 10 arguments of 16 KiB then.
    pub const fn set_stranger(&mut self, stranger: bool) {
        self.stranger = stranger;
    }

    /// Starts on the next request.
    pub fn clear(&mut self) {
        self.arguments.clear();
        self.missing = None;
        self.bulk = None;
        self.read = 0;
        self.searched = 0;
    }

    /// Reads on in `bytes`, which start with this request, puts its arguments into `arguments` when it is complete, and is
    /// ready for the next one then. Its length when it is complete.
    ///
    /// # Errors
    /// As [`Request::read`].
    #[inline(never)]
    pub fn take<'a>(&mut self, bytes: &'a [u8], arguments: &mut Vec<&'a [u8]>) -> Result<Option<usize>, ProtocolError> {
        arguments.clear();
        if self.missing.is_none()
            && let Some(length) = self.short(bytes, arguments)
        {
            return Ok(Some(length));
        }
        arguments.clear();
        let read = self.read(bytes)?;
        if read.is_some() {
            arguments.extend(self.arguments.iter().filter_map(|range| bytes.get(range.clone())));
            self.clear();
        }
        Ok(read)
    }

    /// A request that is there whole, in which no number has more than two digits.
    fn short<'a>(&self, bytes: &'a [u8], arguments: &mut Vec<&'a [u8]>) -> Option<usize> {
        let (count, mut rest) = short_head(b'*', bytes)?;
        if self.stranger && count > STRANGER_ARGUMENTS {
            return None;
        }
        for _ in 0..count {
            let (size, after) = short_head(b'$', rest)?;
            let (argument, after) = after.split_at_checked(size)?;
            rest = after.strip_prefix(b"\r\n")?;
            arguments.push(argument);
        }
        bytes.len().checked_sub(rest.len())
    }

    /// Reads on in `bytes`, which start with this request. Its length when it is complete, `None` when bytes are missing.
    ///
    /// # Errors
    /// [`ProtocolError`] as soon as it is plain that no request starts like this.
    pub fn read(&mut self, bytes: &[u8]) -> Result<Option<usize>, ProtocolError> {
        if self.missing.is_none() {
            match bytes.first() {
                None => return Ok(None),
                Some(b'*') => {}
                Some(_) => return self.read_inline(bytes),
            }
            let Some(line) = self.line(bytes, MAX_LENGTH_LINE_BYTES, "too big mbulk count string")? else {
                return Ok(None);
            };
            let count = bytes.get(line).and_then(|line| length(line.get(1..)?));
            let most = if self.stranger { STRANGER_ARGUMENTS } else { MAX_ARGUMENTS };
            let count = count.filter(|count| *count <= most);
            self.missing = Some(count.ok_or(ProtocolError("invalid multibulk length"))?);
        }
        while let Some(missing) = self.missing.filter(|missing| *missing > 0) {
            let Some(size) = self.bulk_length(bytes)? else { return Ok(None) };
            let end = self.read.saturating_add(size);
            match bytes.get(end..end.saturating_add(2)) {
                Some(b"\r\n") => {}
                Some(_) => return Err(ProtocolError("expected CRLF after a bulk string")),
                None => return Ok(None),
            }
            self.arguments.push(self.read..end);
            self.read = end.saturating_add(2);
            self.bulk = None;
            self.missing = missing.checked_sub(1);
        }
        Ok(Some(self.read))
    }

    /// The length of the argument that is next, once its head is there.
    fn bulk_length(&mut self, bytes: &[u8]) -> Result<Option<usize>, ProtocolError> {
        if self.bulk.is_none() {
            match bytes.get(self.read) {
                None => return Ok(None),
                Some(b'$') => {}
                Some(_) => return Err(ProtocolError("expected '$'")),
            }
            let Some(line) = self.line(bytes, MAX_LENGTH_LINE_BYTES, "too big bulk count string")? else {
                return Ok(None);
            };
            let most = if self.stranger { STRANGER_BULK_BYTES } else { MAX_BULK_BYTES };
            let size = bytes.get(line).and_then(|line| length(line.get(1..)?)).filter(|size| *size <= most);
            let size = size.ok_or(ProtocolError("invalid bulk length"))?;
            if self.read.saturating_add(size) > MAX_COMMAND_BYTES {
                return Err(ProtocolError("too big command"));
            }
            self.bulk = Some(size);
        }
        Ok(self.bulk)
    }

    /// The next line without its end, once all of it is there.
    fn line(
        &mut self,
        bytes: &[u8],
        most: usize,
        too_long: &'static str,
    ) -> Result<Option<Range<usize>>, ProtocolError> {
        let start = self.read;
        let from = self.searched.max(start);
        let rest = bytes.get(from..).unwrap_or_default();
        let Some(at) = rest.iter().position(|byte| *byte == b'\n') else {
            self.searched = bytes.len();
            return if bytes.len().saturating_sub(start) > most { Err(ProtocolError(too_long)) } else { Ok(None) };
        };
        let newline = from.saturating_add(at);
        self.read = newline.saturating_add(1);
        let before = newline.saturating_sub(1).max(start);
        let end = if bytes.get(before) == Some(&b'\r') { before } else { newline };
        if end.saturating_sub(start) > most { Err(ProtocolError(too_long)) } else { Ok(Some(start..end)) }
    }

    /// A command typed by hand: words with spaces between them, and a newline.
    fn read_inline(&mut self, bytes: &[u8]) -> Result<Option<usize>, ProtocolError> {
        let Some(line) = self.line(bytes, MAX_LINE_BYTES, "too big inline request")? else {
            return Ok(None);
        };
        let mut word: Option<usize> = None;
        for at in line.start..=line.end {
            let within = at < line.end && bytes.get(at).is_some_and(|byte| !byte.is_ascii_whitespace());
            match word {
                None if within => word = Some(at),
                Some(start) if !within => {
                    self.arguments.push(start..at);
                    word = None;
                }
                _ => {}
            }
        }
        if self.arguments.len() > MAX_ARGUMENTS {
            return Err(ProtocolError("too many arguments"));
        }
        // A page in a browser can make it send these lines here, with a body that would be commands.
        let first = self.arguments.first().and_then(|word| bytes.get(word.clone())).unwrap_or_default();
        if first == b"POST" || first.eq_ignore_ascii_case(b"Host:") {
            return Err(ProtocolError("this is not an HTTP server"));
        }
        Ok(Some(self.read))
    }
}

/// A head of one or two digits, and what follows it.
#[inline]
fn short_head(kind: u8, bytes: &[u8]) -> Option<(usize, &[u8])> {
    let digit = |byte: u8| usize::from(byte.wrapping_sub(b'0'));
    match *bytes {
        [first, ones @ b'0'..=b'9', b'\r', b'\n', ref rest @ ..] if first == kind => Some((digit(ones), rest)),
        [first, tens @ b'1'..=b'9', ones @ b'0'..=b'9', b'\r', b'\n', ref rest @ ..] if first == kind => {
            Some((digit(tens).wrapping_mul(10).wrapping_add(digit(ones)), rest))
        }
        _ => None,
    }
}

/// A length as the protocol writes it: digits only. A negative one, which would mean "missing", has no place in a request.
fn length(digits: &[u8]) -> Option<usize> {
    usize::try_from(crate::number::parse_digits(digits)?).ok()
}
