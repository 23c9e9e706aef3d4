//! What can be wrong with a request. Nothing is spent and nothing changes when any of these is returned.

use alloc::boxed::Box;
use alloc::string::String;
use core::fmt;

use crate::number::MAX_INTEGER;
use crate::text::{push, push_number};

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
    pub const fn code(&self) -> &'static str {
        match self.kind() {
            ErrorKind::WrongType => "WRONGTYPE",
            ErrorKind::OutOfMemory { .. } => "OOM",
            ErrorKind::NoPolicy => "NOPOLICY",
            ErrorKind::InvalidOptions(_) => "INVALID_OPTIONS",
            ErrorKind::CostExceedsLimit { .. } => "COST_EXCEEDS_LIMIT",
            _ => "ERR",
        }
    }
}

impl Error {
    /// The error as commands reply it: its code and its text.
    pub(crate) fn reply(&self) -> String {
        let mut reply = String::from(self.code());
        push(&mut reply, " ");
        self.add_text(&mut reply);
        reply
    }

    /// Adds the text after the code: pieces, and between them first the words, when there are any, then the numbers.
    fn add_text(&self, text: &mut String) {
        let mut numbers = [0; 3];
        let (pieces, mut words): (&[&str], Option<&str>) = match self.kind() {
            ErrorKind::OutOfRange { argument, value } => {
                numbers = [MAX_INTEGER, *value, 0];
                (&["", " must be an integer from 1 to ", ", not ", ""], Some(argument))
            }
            ErrorKind::WrongArity(name) => (&["wrong number of arguments for '", "' command"], Some(name)),
            ErrorKind::UnknownCommand(name) => (&["unknown command '", "'"], Some(name)),
            ErrorKind::OutOfMemory { max_keys } => {
                numbers = [*max_keys as u64, 0, 0];
                (
                    &[
                        "all ",
                        " keys are in use by live limits, so a new key can't be counted; raise max-keys or wait for one to recover",
                    ],
                    None,
                )
            }
            ErrorKind::KeyTooLong { argument, bytes } => {
                numbers = [MAX_NAME_BYTES as u64, *bytes as u64, 0];
                (&["", " must be at most ", " bytes, not ", ""], Some(argument))
            }
            ErrorKind::CostExceedsLimit { cost, most, rule } => {
                numbers = [*cost, *rule as u64, *most];
                (&["cost ", " can never pass rule ", ", which admits at most ", " at once"], None)
            }
            ErrorKind::NotAnInteger => (&["value is not an integer or out of range"], None),
            ErrorKind::Syntax => (&["syntax error"], None),
            ErrorKind::UnknownAlgorithm => (&["unknown algorithm"], None),
            ErrorKind::InvalidRate => (&["value is not a valid rate"], None),
            ErrorKind::WrongType => (&["Operation against a key holding the wrong kind of value"], None),
            ErrorKind::LimiterExists => (&["limiter already exists or limit reached"], None),
            ErrorKind::LimiterNotFound => (&["limiter not found"], None),
            ErrorKind::NoPolicy => (&["this namespace has no policy yet; define it first"], None),
            ErrorKind::InvalidOptions(words) => (&["", ""], Some(words)),
            ErrorKind::StoreFailed => (&["the store failed"], None),
        };
        let mut numbers = numbers.iter();
        for (at, piece) in pieces.iter().enumerate() {
            if at > 0 {
                match words.take() {
                    Some(words) => push(text, words),
                    None => push_number(text, numbers.next().copied().unwrap_or_default()),
                }
            }
            push(text, piece);
        }
    }
}

/// The text after the code; `{code} {error}` is the error as commands reply it.
impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        self.add_text(&mut text);
        f.write_str(&text)
    }
}

impl core::error::Error for Error {}
