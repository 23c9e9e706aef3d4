//! What can be wrong with a request. Nothing is spent and nothing changes when any of these is returned.

use alloc::boxed::Box;
use alloc::string::String;
use core::fmt;

use crate::number::MAX_INTEGER;
use crate::text::filled;

/// Why a request was refused before it could be decided. One word, so that every step on its way out passes it on for little.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(Box<ErrorKind>);

/// What an [`Error`] says.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// An integer argument is 0 or above [`MAX_INTEGER`] (typed calls).
    OutOfRange {
        /// The argument's name.
        argument: &'static str,
        /// What was passed.
        value: u64,
    },
    /// An integer argument of a command is not a decimal integer in range.
    NotAnInteger,
    /// A command has too few or too many arguments; holds its lower-case name.
    WrongArity(&'static str),
    /// An unknown option, or an option without its value.
    Syntax,
    /// No such command; holds the name as it was sent, made printable and cut.
    UnknownCommand(String),
    /// `ALGO` names no algorithm.
    UnknownAlgorithm,
    /// `REFILL` or `DRAIN` is not a positive decimal of up to 15 digits, 6 after the point, or the limiter would take
    /// longer than [`MAX_INTEGER`] ms to recover.
    InvalidRate,
    /// The key holds something that is not the state of a rate limit.
    WrongType,
    /// The limiter's name is taken, or there are `max_limiters` of them already.
    LimiterExists,
    /// No limiter of that name.
    LimiterNotFound,
    /// A new key was needed and `max_keys` keys are live.
    OutOfMemory {
        /// The limit that is reached.
        max_keys: usize,
    },
    /// A key, name or identity is over 4,096 bytes.
    KeyTooLong {
        /// Which argument.
        argument: &'static str,
        /// Its length in bytes.
        bytes: usize,
    },
    /// The namespace has no policy yet.
    NoPolicy,
    /// A policy, or a job's scope, is not valid; the text names the field, its value and what is allowed.
    InvalidOptions(String),
    /// The store behind the engine failed; its shell says how.
    StoreFailed,
    /// The job's cost can never fit the rule.
    CostExceedsLimit {
        /// The job's cost.
        cost: u64,
        /// The most that the rule can admit at once.
        most: u64,
        /// The rule's index in the policy as it was given.
        rule: usize,
    },
}

/// Keys, names and identities hold at most this many bytes.
pub(crate) const MAX_NAME_BYTES: usize = 4096;

/// `name`, when it is short enough to be one.
pub(crate) fn checked_name<'a>(argument: &'static str, name: &'a [u8]) -> Result<&'a [u8], Error> {
    if name.len() > MAX_NAME_BYTES {
        return Err(ErrorKind::KeyTooLong { argument, bytes: name.len() }.into());
    }
    Ok(name)
}

impl From<ErrorKind> for Error {
    #[cold]
    #[inline(never)]
    fn from(kind: ErrorKind) -> Self {
        Self(Box::new(kind))
    }
}

impl Error {
    /// A policy or a scope is not valid: what, and what is allowed.
    #[cold]
    #[inline(never)]
    pub(crate) fn invalid_options(text: String) -> Self {
        ErrorKind::InvalidOptions(text).into()
    }

    /// What it says.
    pub const fn kind(&self) -> &ErrorKind {
        &self.0
    }

    /// The first word of the error as a command replies it: `ERR`, `WRONGTYPE`, `OOM`, `NOPOLICY`,
    /// `INVALID_OPTIONS` or `COST_EXCEEDS_LIMIT`.
    pub fn code(&self) -> &'static str {
        self.template().split_once(' ').map_or("", |(code, _)| code)
    }

    /// The error as commands reply it: its code and its text.
    pub(crate) fn reply(&self) -> String {
        let (word, numbers) = match self.kind() {
            ErrorKind::OutOfRange { argument, value } => (*argument, [MAX_INTEGER, *value, 0]),
            ErrorKind::KeyTooLong { argument, bytes } => (*argument, [MAX_NAME_BYTES as u64, *bytes as u64, 0]),
            ErrorKind::WrongArity(name) => (*name, [0; 3]),
            ErrorKind::UnknownCommand(words) | ErrorKind::InvalidOptions(words) => (words.as_str(), [0; 3]),
            ErrorKind::OutOfMemory { max_keys } => ("", [*max_keys as u64, 0, 0]),
            ErrorKind::CostExceedsLimit { cost, most, rule } => ("", [*cost, *rule as u64, *most]),
            _ => ("", [0; 3]),
        };
        filled(self.template(), &[word.as_bytes()], &numbers)
    }

    /// The error as commands reply it, in which `@` stands for a word and `%` for a number.
    const fn template(&self) -> &'static str {
        match self.kind() {
            ErrorKind::OutOfRange { .. } => "ERR @ must be an integer from 1 to %, not %",
            ErrorKind::NotAnInteger => "ERR value is not an integer or out of range",
            ErrorKind::WrongArity(_) => "ERR wrong number of arguments for '@' command",
            ErrorKind::Syntax => "ERR syntax error",
            ErrorKind::UnknownCommand(_) => "ERR unknown command '@'",
            ErrorKind::UnknownAlgorithm => "ERR unknown algorithm",
            ErrorKind::InvalidRate => "ERR value is not a valid rate",
            ErrorKind::WrongType => "WRONGTYPE Operation against a key holding the wrong kind of value",
            ErrorKind::LimiterExists => "ERR limiter already exists or limit reached",
            ErrorKind::LimiterNotFound => "ERR limiter not found",
            ErrorKind::OutOfMemory { .. } => {
                "OOM all % keys are in use by live limits, so a new key can't be counted; raise max-keys or wait for one to recover"
            }
            ErrorKind::KeyTooLong { .. } => "ERR @ must be at most % bytes, not %",
            ErrorKind::NoPolicy => "NOPOLICY this namespace has no policy yet; define it first",
            ErrorKind::InvalidOptions(_) => "INVALID_OPTIONS @",
            ErrorKind::StoreFailed => "ERR the store failed",
            ErrorKind::CostExceedsLimit { .. } => {
                "COST_EXCEEDS_LIMIT cost % can never pass rule %, which admits at most % at once"
            }
        }
    }
}

/// The text after the code; `{code} {error}` is the error as commands reply it.
impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.reply().split_once(' ').map_or("", |(_, text)| text))
    }
}

impl core::error::Error for Error {}
