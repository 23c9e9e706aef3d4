//! What can be wrong with a request. Nothing is spent and nothing changes when any of these is returned.

use alloc::string::String;
use core::fmt;

use crate::number::MAX_INTEGER;
use crate::text::Part::{Number, Text};
use crate::text::joined;

/// Why a request was refused before it could be decided.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
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
        return Err(Error::KeyTooLong { argument, bytes: name.len() });
    }
    Ok(name)
}

impl Error {
    /// The first word of the error as a command replies it: `ERR`, `WRONGTYPE`, `OOM`, `NOPOLICY`,
    /// `INVALID_OPTIONS` or `COST_EXCEEDS_LIMIT`.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::WrongType => "WRONGTYPE",
            Self::OutOfMemory { .. } => "OOM",
            Self::NoPolicy => "NOPOLICY",
            Self::InvalidOptions(_) => "INVALID_OPTIONS",
            Self::CostExceedsLimit { .. } => "COST_EXCEEDS_LIMIT",
            _ => "ERR",
        }
    }
}

impl Error {
    /// The error as commands reply it: its code and its text.
    pub(crate) fn reply(&self) -> String {
        joined(&[Text(self.code()), Text(" "), Text(&self.text())])
    }

    fn text(&self) -> String {
        let part = match self {
            Self::OutOfRange { argument, value } => {
                return joined(&[
                    Text(argument),
                    Text(" must be an integer from 1 to "),
                    Number(MAX_INTEGER),
                    Text(", not "),
                    Number(*value),
                ]);
            }
            Self::WrongArity(name) => {
                return joined(&[Text("wrong number of arguments for '"), Text(name), Text("' command")]);
            }
            Self::UnknownCommand(name) => return joined(&[Text("unknown command '"), Text(name), Text("'")]),
            Self::OutOfMemory { max_keys } => {
                let keys = *max_keys as u64;
                let rest = " keys are in use by live limits, so a new key can't be counted; raise max-keys or wait for one to recover";
                return joined(&[Text("all "), Number(keys), Text(rest)]);
            }
            Self::KeyTooLong { argument, bytes } => {
                let (most, bytes) = (MAX_NAME_BYTES as u64, *bytes as u64);
                return joined(&[
                    Text(argument),
                    Text(" must be at most "),
                    Number(most),
                    Text(" bytes, not "),
                    Number(bytes),
                ]);
            }
            Self::CostExceedsLimit { cost, most, rule } => {
                return joined(&[
                    Text("cost "),
                    Number(*cost),
                    Text(" can never pass rule "),
                    Number(*rule as u64),
                    Text(", which admits at most "),
                    Number(*most),
                    Text(" at once"),
                ]);
            }
            Self::NotAnInteger => "value is not an integer or out of range",
            Self::Syntax => "syntax error",
            Self::UnknownAlgorithm => "unknown algorithm",
            Self::InvalidRate => "value is not a valid rate",
            Self::WrongType => "Operation against a key holding the wrong kind of value",
            Self::LimiterExists => "limiter already exists or limit reached",
            Self::LimiterNotFound => "limiter not found",
            Self::NoPolicy => "this namespace has no policy yet; define it first",
            Self::InvalidOptions(text) => text,
            Self::StoreFailed => "the store failed",
        };
        String::from(part)
    }
}

/// The text after the code; `{code} {error}` is the error as commands reply it.
impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text())
    }
}

impl core::error::Error for Error {}
