//! Requests out of bytes, as they arrive.

use alloc::vec::Vec;

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

/// A part of a request and what follows it; `None` when it is cut off.
type Part<'a, T> = Result<Option<(T, &'a [u8])>, ProtocolError>;

/// One request while it is being read: an array of bulk strings, or a line typed by hand.
///
/// A request that is cut is read again from its start, but no sooner than its cut argument is whole, and no line is searched twice.
#[derive(Debug, Default)]
pub struct Request {
    /// Reading is of no use before there are so many bytes: those up to the end of the argument that was cut.
    wanted: usize,
    /// Bytes already searched for the end of a line typed by hand.
    searched: usize,
    /// Whether the client has still to say its password, and may make the session hold little.
    stranger: bool,
}

impl Request {
    /// Whether the requests are those of a client that has still to say its password: 10 arguments of 16 KiB then.
    pub const fn set_stranger(&mut self, stranger: bool) {
        self.stranger = stranger;
    }

    /// Starts on the next request.
    pub const fn clear(&mut self) {
        self.wanted = 0;
        self.searched = 0;
    }

    /// Reads the request that `bytes` start with, puts its arguments into `arguments` when it is complete, and is ready for
    /// the next one then. Its length when it is complete, `None` when bytes are missing.
    ///
    /// # Errors
    /// [`ProtocolError`] as soon as it is plain that no request starts like this.
    #[inline(never)]
    pub fn take<'a>(&mut self, bytes: &'a [u8], arguments: &mut Vec<&'a [u8]>) -> Result<Option<usize>, ProtocolError> {
        if bytes.len() < self.wanted {
            return Ok(None);
        }
        arguments.clear();
        let array = bytes.first() == Some(&b'*');
        let rest = if array { self.array(bytes, arguments)? } else { self.typed(bytes, arguments)? };
        Ok(rest.map(|rest| {
            self.clear();
            bytes.len().wrapping_sub(rest.len())
        }))
    }

    /// An array of bulk strings; what follows it.
    #[inline]
    fn array<'a>(&mut self, bytes: &'a [u8], arguments: &mut Vec<&'a [u8]>) -> Result<Option<&'a [u8]>, ProtocolError> {
        let (most, most_bytes) =
            if self.stranger { (STRANGER_ARGUMENTS, STRANGER_BULK_BYTES) } else { (MAX_ARGUMENTS, MAX_BULK_BYTES) };
        let Some((mut missing, mut rest)) = head(b'*', bytes)? else { return Ok(None) };
        if missing > most {
            return Err(ProtocolError("invalid multibulk length"));
        }
        while missing > 0 {
            let Some((size, after)) = head(b'$', rest)? else { return Ok(None) };
            let end = || bytes.len().wrapping_sub(after.len()).wrapping_add(size);
            // Short ones are too few to matter.
            if size > 99 {
                if size > most_bytes {
                    return Err(ProtocolError("invalid bulk length"));
                }
                if end() > MAX_COMMAND_BYTES {
                    return Err(ProtocolError("too big command"));
                }
            }
            match after.split_at_checked(size) {
                Some((argument, [b'\r', b'\n', next @ ..])) => {
                    arguments.push(argument);
                    rest = next;
                }
                Some((_, [_, _, ..])) => return Err(ProtocolError("expected CRLF after a bulk string")),
                _ => {
                    self.wanted = end().wrapping_add(2);
                    return Ok(None);
                }
            }
            missing = missing.wrapping_sub(1);
        }
        Ok(Some(rest))
    }

    /// A command typed by hand, words with spaces between them and a newline; what follows it.
    fn typed<'a>(&mut self, bytes: &'a [u8], arguments: &mut Vec<&'a [u8]>) -> Result<Option<&'a [u8]>, ProtocolError> {
        let Some((line, rest)) = line(bytes, self.searched, MAX_LINE_BYTES, "too big inline request")? else {
            self.searched = bytes.len();
            return Ok(None);
        };
        for word in line.split(u8::is_ascii_whitespace) {
            if !word.is_empty() {
                arguments.push(word);
            }
        }
        if arguments.len() > MAX_ARGUMENTS {
            return Err(ProtocolError("too many arguments"));
        }
        // A page in a browser can make it send these lines here, with a body that would be commands.
        let first = arguments.first().copied().unwrap_or_default();
        if first == b"POST" || first.eq_ignore_ascii_case(b"Host:") {
            return Err(ProtocolError("this is not an HTTP server"));
        }
        Ok(Some(rest))
    }
}

/// The line that `bytes` start with, `searched` of which hold no newline, and what follows it.
#[inline(never)]
fn line<'a>(bytes: &'a [u8], searched: usize, most: usize, too_long: &'static str) -> Part<'a, &'a [u8]> {
    let after = bytes.get(searched..).unwrap_or_default();
    let newline = after.iter().position(|byte| *byte == b'\n').map(|at| at.wrapping_add(searched));
    let (line, rest) = bytes.split_at_checked(newline.unwrap_or(bytes.len())).unwrap_or_default();
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if line.len() > most {
        return Err(ProtocolError(too_long));
    }
    Ok(rest.split_first().map(|(_, rest)| (line, rest)))
}

/// The number of a head, and what follows it; one that is no length counts as one that is too large. Nearly every number has one
/// or two digits.
#[cfg_attr(not(target_family = "wasm"), inline(always))]
fn head(kind: u8, bytes: &[u8]) -> Part<'_, usize> {
    if let Some(head) = short_head(kind, bytes) { Ok(Some(head)) } else { long_head(kind, bytes) }
}

#[cold]
#[inline(never)]
fn long_head(kind: u8, bytes: &[u8]) -> Part<'_, usize> {
    if bytes.first().is_some_and(|first| *first != kind) {
        // What starts with no `*` is no array.
        return Err(ProtocolError("expected '$'"));
    }
    let too_long = if kind == b'*' { "too big mbulk count string" } else { "too big bulk count string" };
    let line = line(bytes, 0, MAX_LENGTH_LINE_BYTES, too_long)?;
    Ok(line.map(|(line, rest)| (line.get(1..).and_then(length).unwrap_or(usize::MAX), rest)))
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
