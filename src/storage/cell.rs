//! Values on their way into the database and out of it.
//!
//! JavaScript hands every integer over as a float, and `node:sqlite` reads none past 2^53 - 1. A larger one is stored as text with
//! an `x` in front, which the database sorts after every integer: an expiry that far off is never in the past.

use alloc::boxed::Box;
use alloc::string::String;

use crate::keyspace::{NEVER, State};
use crate::text::filled;

/// The largest integer that is stored as one.
const MAX_EXACT: u64 = (1 << 53) - 1;

/// A value for a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bind<'a> {
    /// No value.
    Null,
    /// An integer from -2^53 + 1 to 2^53 - 1.
    Integer(i64),
    /// A larger integer; databases get [`large_text`] of it.
    Large(u64),
    /// Bytes.
    Bytes(&'a [u8]),
}

/// A value of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cell {
    /// No value.
    Null,
    /// An integer from -2^53 + 1 to 2^53 - 1.
    Integer(i64),
    /// Text: only a large integer is stored as text.
    Text(String),
    /// Bytes.
    Bytes(Box<[u8]>),
}

/// The text that a large integer is stored as.
pub fn large_text(value: u64) -> String {
    filled("x%", &[], &[value])
}

impl From<u64> for Bind<'_> {
    fn from(value: u64) -> Self {
        match i64::try_from(value) {
            Ok(integer) if value <= MAX_EXACT => Self::Integer(integer),
            _ => Self::Large(value),
        }
    }
}

impl Bind<'_> {
    /// Where a row of a key is, as [`Cell::at`].
    pub(super) fn at(at: i64) -> Self {
        u64::try_from(at).map_or(Self::Integer(at), Self::from)
    }

    /// A time to live: no value for what never expires.
    pub(super) fn expiry(expires: u64) -> Self {
        if expires == NEVER { Self::Null } else { expires.into() }
    }
}

impl Cell {
    /// The integer that is stored here.
    pub(super) fn unsigned(&self) -> Option<u64> {
        match self {
            Self::Integer(integer) => u64::try_from(*integer).ok(),
            Self::Text(text) => text.strip_prefix('x')?.parse().ok(),
            Self::Null | Self::Bytes(_) => None,
        }
    }

    /// As [`Cell::unsigned`], for a column of small integers of any sign.
    pub(super) fn signed(&self) -> Option<i64> {
        match self {
            Self::Integer(integer) => Some(*integer),
            _ => None,
        }
    }

    /// Where a row of a key is: an entry's time may be a large integer.
    pub(super) fn at(&self) -> Option<i64> {
        self.signed().or_else(|| i64::try_from(self.unsigned()?).ok())
    }

    /// The time to live that is stored here.
    pub(super) fn expiry(&self) -> Option<u64> {
        match self {
            Self::Null => Some(NEVER),
            other => other.unsigned(),
        }
    }

    /// The bytes that are stored here.
    pub(super) fn bytes(&self) -> Option<&[u8]> {
        match self {
            Self::Bytes(bytes) => Some(bytes),
            _ => None,
        }
    }
}

/// What a row holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A schedule's state: `a` whole ms, `b` the remainder, `c` its denominator.
    Tat,
    /// A fixed window's state: `a` units.
    Count,
    /// An entry of a sliding log: `a` units, logged at `at`, leaving at `expires`.
    Entry,
    /// Text: `data`.
    Text,
    /// A named limiter: `a` allowed, `b` denied, `c` its space, `data` its settings.
    Limiter,
    /// A policy's namespace: `data`.
    Namespace,
    /// A lease.
    Lease,
    /// The store itself: `a` the schema's version, `b` the latest time served at the last close, `c` the next space.
    Meta,
}

impl Kind {
    pub const fn code(self) -> i64 {
        match self {
            Self::Tat => 0,
            Self::Count => 1,
            Self::Entry => 2,
            Self::Text => 3,
            Self::Limiter => 4,
            Self::Namespace => 5,
            Self::Lease => 6,
            Self::Meta => 7,
        }
    }

    pub fn of(cell: &Cell) -> Option<Self> {
        let code = cell.signed()?;
        [Self::Tat, Self::Count, Self::Entry, Self::Text].into_iter().find(|kind| kind.code() == code)
    }
}

/// The columns `kind, a, b, c, data, expires` of a record that is one row: any state but a log.
pub(super) fn columns<'a>(state: &State<'a>) -> [Bind<'a>; 6] {
    let kind = |kind: Kind| Bind::Integer(kind.code());
    match *state {
        State::Tat { tat, expires } => [
            kind(Kind::Tat),
            tat.ms.into(),
            tat.remainder.into(),
            tat.denominator.into(),
            Bind::Null,
            Bind::expiry(expires),
        ],
        State::Count(count) => {
            [kind(Kind::Count), count.units.into(), Bind::Null, Bind::Null, Bind::Null, count.ends.into()]
        }
        State::Text { bytes, expires } => {
            [kind(Kind::Text), Bind::Null, Bind::Null, Bind::Null, Bind::Bytes(bytes), Bind::expiry(expires)]
        }
        State::Log { .. } => [Bind::Null; 6],
    }
}
