//! Arguments into typed commands. Nothing is looked up here: a command that is wrong in itself is refused before anything is.

use alloc::boxed::Box;
use alloc::string::String;
use core::cmp::Ordering;
use core::ops::Range;

use super::connection::ConnectionCommand;
use super::policies::AdmitOptions;
use super::table::{self, Entry, Kind};
use crate::algorithm::Schedule;
use crate::error::{MAX_NAME_BYTES, checked_name};
use crate::limiter::{Algorithm, Rate, Settings};
use crate::number::{MAX_INTEGER, parse_digits};
use crate::text::Part::Bytes;
use crate::text::{joined, push};
use crate::{Error, Positive};

/// The arguments of a command, its name first.
pub type Arguments<'a> = &'a [&'a [u8]];

/// A command whose arguments are all right in themselves.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "the fields are the commands' own arguments")]
pub enum Command<'a> {
    GcraLimit {
        key: &'a [u8],
        period: Positive,
        burst: Positive,
        count: Positive,
    },
    Throttle {
        key: &'a [u8],
        rule: Box<Schedule>,
        quantity: Option<Positive>,
    },
    LimiterCreate {
        name: &'a [u8],
        settings: Settings,
    },
    LimiterCheck {
        name: &'a [u8],
        key: &'a [u8],
        cost: Positive,
    },
    LimiterPeek {
        name: &'a [u8],
        key: &'a [u8],
    },
    LimiterReset {
        name: &'a [u8],
        key: &'a [u8],
    },
    LimiterStats {
        name: &'a [u8],
    },
    LimiterDrop {
        name: &'a [u8],
    },
    LimiterList,
    Policy(PolicyCommand<'a>),
    Set {
        key: &'a [u8],
        value: &'a [u8],
        options: SetOptions,
    },
    Get {
        key: &'a [u8],
    },
    /// `DEL`, `UNLINK` and `GCRA.RESET`.
    Delete {
        keys: Arguments<'a>,
    },
    Exists {
        keys: Arguments<'a>,
    },
    Type {
        key: &'a [u8],
    },
    /// `TTL` and `PTTL`.
    TimeToLive {
        key: &'a [u8],
        unit: Unit,
    },
    /// `EXPIRE` and `PEXPIRE`; a time that is not positive deletes the key.
    Expire {
        key: &'a [u8],
        ms: i64,
        condition: ExpireCondition,
    },
    Persist {
        key: &'a [u8],
    },
    Keys {
        pattern: &'a [u8],
    },
    Scan {
        cursor: u64,
        pattern: Option<&'a [u8]>,
        count: usize,
        /// Whether keys of the type that is asked for can be there at all.
        any: bool,
    },
    DbSize,
    FlushAll,
    Connection(ConnectionCommand<'a>),
}

/// The commands of policies.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "the fields are the commands' own arguments")]
pub enum PolicyCommand<'a> {
    Define { namespace: &'a [u8], policy: &'a [u8] },
    Admit { namespace: &'a [u8], fingerprint: &'a [u8], cost: Positive, options: AdmitOptions<'a> },
    Show { namespace: &'a [u8] },
    Forget { namespace: &'a [u8] },
    Renew { namespace: &'a [u8], leases: Arguments<'a> },
    Release { namespace: &'a [u8], leases: Arguments<'a> },
}

/// What times are counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Seconds.
    Seconds,
    /// Milliseconds.
    Milliseconds,
}

/// When a value expires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expiry {
    /// So many milliseconds from now.
    In(Positive),
    /// At that time, in milliseconds since 1970.
    At(Positive),
}

/// Which expiry a key must have for `EXPIRE` to change it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExpireCondition {
    /// Some expiry (`true`), or none (`false`).
    pub some: Option<bool>,
    /// How the new expiry compares with it; none is later than any.
    pub new: Option<Ordering>,
}

/// When `SET` stores, and for how long.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SetOptions {
    /// When it expires.
    pub expiry: Option<Expiry>,
    /// Keep the time to live that is there.
    pub keep_ttl: bool,
    /// Only when the key is there (`true`), or is not (`false`).
    pub only_if: Option<bool>,
    /// Reply with what was there.
    pub get: bool,
}

impl<'a> Command<'a> {
    /// Reads a command.
    ///
    /// # Errors
    /// Any error that the arguments alone give away; never one that depends on what is stored.
    pub fn parse(arguments: Arguments<'a>) -> Result<Self, Error> {
        let (name, rest) = arguments.split_first().ok_or_else(|| unknown(b""))?;
        let entry = table::find(name).ok_or_else(|| unknown(name))?;
        if rest.len() < entry.least.into() || (entry.most != table::ANY && rest.len() > entry.most.into()) {
            return Err(Error::WrongArity(entry.name));
        }
        if rest.iter().any(|argument| argument.len() > MAX_NAME_BYTES) {
            let (limited, called) = names(entry.kind);
            for name in rest.iter().take(limited.end).skip(limited.start) {
                checked_name(called, name)?;
            }
        }
        Ok(parse_kind(entry, rest)?)
    }
}

/// Which arguments are names of limited length, and what errors call them.
const fn names(kind: Kind) -> (Range<usize>, &'static str) {
    match kind {
        Kind::GcraLimit
        | Kind::Throttle
        | Kind::Set
        | Kind::Get
        | Kind::Type
        | Kind::Ttl
        | Kind::Pttl
        | Kind::Expire
        | Kind::Pexpire
        | Kind::Persist => (0..1, "key"),
        Kind::LimiterCheck | Kind::LimiterPeek | Kind::LimiterReset => (1..2, "key"),
        Kind::Delete | Kind::Exists => (0..usize::MAX, "key"),
        Kind::LimiterCreate => (0..1, "name"),
        Kind::Define | Kind::Admit => (0..1, "namespace"),
        Kind::Keys => (0..1, "pattern"),
        _ => (0..0, ""),
    }
}

/// What can be wrong with an argument: an [`Error`] in few bytes, of which every step here would pass on a copy.
#[derive(Clone, Copy)]
pub(super) enum Wrong {
    Syntax,
    NotAnInteger,
    UnknownAlgorithm,
    Rate,
    /// The pattern of `SCAN` is too long; holds its length.
    Pattern(usize),
}

impl From<Wrong> for Error {
    fn from(wrong: Wrong) -> Self {
        match wrong {
            Wrong::Syntax => Self::Syntax,
            Wrong::NotAnInteger => Self::NotAnInteger,
            Wrong::UnknownAlgorithm => Self::UnknownAlgorithm,
            Wrong::Rate => Self::InvalidRate,
            Wrong::Pattern(bytes) => Self::KeyTooLong { argument: "pattern", bytes },
        }
    }
}

fn parse_kind<'a>(entry: &'static Entry, rest: Arguments<'a>) -> Result<Command<'a>, Wrong> {
    let argument = |at: usize| rest.get(at).copied().unwrap_or_default();
    let (first, second) = (argument(0), argument(1));
    let after = |count: usize| rest.get(count..).unwrap_or_default();
    Ok(match entry.kind {
        Kind::GcraLimit => {
            let (period, burst) = (integer(second)?, integer(argument(2))?);
            let count = match rest.get(3) {
                Some(count) => integer(count)?,
                None => Positive::ONE,
            };
            Command::GcraLimit { key: first, period, burst, count }
        }
        Kind::Throttle => {
            let quantity = rest.get(4).copied().unwrap_or(b"1");
            throttle(first, second, argument(2), argument(3), quantity)?
        }
        Kind::LimiterCreate => {
            Command::LimiterCreate { name: first, settings: settings(second, argument(2), after(3))? }
        }
        Kind::LimiterCheck => {
            let cost = match rest {
                [_, _] => Positive::ONE,
                [_, _, option, cost] if is(option, b"COST") => integer(cost)?,
                _ => return Err(Wrong::Syntax),
            };
            Command::LimiterCheck { name: first, key: second, cost }
        }
        Kind::LimiterPeek => Command::LimiterPeek { name: first, key: second },
        Kind::LimiterReset => Command::LimiterReset { name: first, key: second },
        Kind::LimiterStats => Command::LimiterStats { name: first },
        Kind::LimiterDrop => Command::LimiterDrop { name: first },
        Kind::LimiterList => Command::LimiterList,
        Kind::Define => Command::Policy(PolicyCommand::Define { namespace: first, policy: second }),
        Kind::Admit => Command::Policy(PolicyCommand::Admit {
            namespace: first,
            fingerprint: second,
            cost: integer(argument(2))?,
            options: AdmitOptions::parse(after(3))?,
        }),
        Kind::Show => Command::Policy(PolicyCommand::Show { namespace: first }),
        Kind::Forget => Command::Policy(PolicyCommand::Forget { namespace: first }),
        Kind::Renew => Command::Policy(PolicyCommand::Renew { namespace: first, leases: after(1) }),
        Kind::Release => Command::Policy(PolicyCommand::Release { namespace: first, leases: after(1) }),
        Kind::Set => Command::Set { key: first, value: second, options: set_options(after(2))? },
        Kind::Get => Command::Get { key: first },
        Kind::Delete => Command::Delete { keys: rest },
        Kind::Exists => Command::Exists { keys: rest },
        Kind::Type => Command::Type { key: first },
        Kind::Ttl => Command::TimeToLive { key: first, unit: Unit::Seconds },
        Kind::Pttl => Command::TimeToLive { key: first, unit: Unit::Milliseconds },
        Kind::Expire | Kind::Pexpire => {
            let scale = if entry.kind == Kind::Expire { 1000 } else { 1 };
            let ms = milliseconds(second, scale)?;
            Command::Expire { key: first, ms, condition: expire_condition(after(2))? }
        }
        Kind::Persist => Command::Persist { key: first },
        Kind::Keys => Command::Keys { pattern: first },
        Kind::Scan => scan(first, after(1))?,
        Kind::DbSize => Command::DbSize,
        Kind::FlushAll => match rest {
            [mode] if !is(mode, b"SYNC") && !is(mode, b"ASYNC") => {
                return Err(Wrong::Syntax);
            }
            _ => Command::FlushAll,
        },
        Kind::Ping => Command::Connection(ConnectionCommand::Ping { message: rest.first().copied() }),
        Kind::Echo => Command::Connection(ConnectionCommand::Echo { message: first }),
        Kind::Hello => Command::Connection(ConnectionCommand::hello(rest)?),
        Kind::Auth => {
            Command::Connection(ConnectionCommand::Auth { password: rest.last().copied().unwrap_or_default() })
        }
        Kind::Select => Command::Connection(ConnectionCommand::Select { database: first }),
        Kind::Client => Command::Connection(ConnectionCommand::client(first, after(1))?),
        Kind::Describe => Command::Connection(ConnectionCommand::describe(rest)?),
        Kind::Info => Command::Connection(ConnectionCommand::Info),
        Kind::Time => Command::Connection(ConnectionCommand::Time),
        Kind::Quit => Command::Connection(ConnectionCommand::Quit),
        Kind::Reset => Command::Connection(ConnectionCommand::Reset),
        Kind::Multi => Command::Connection(ConnectionCommand::Multi),
        Kind::Exec => Command::Connection(ConnectionCommand::Exec),
        Kind::Discard => Command::Connection(ConnectionCommand::Discard),
    })
}

/// redis-cell's arguments: a burst beyond the first unit, and a count for each period in seconds.
fn throttle<'a>(
    key: &'a [u8],
    max_burst: &[u8],
    count: &[u8],
    period: &[u8],
    quantity: &[u8],
) -> Result<Command<'a>, Wrong> {
    let max_burst = parse_digits(max_burst).ok_or(Wrong::NotAnInteger)?;
    let burst = max_burst.checked_add(1).and_then(Positive::new).ok_or(Wrong::NotAnInteger)?;
    let (count, period) = (integer(count)?, integer(period)?);
    let quantity = match parse_digits(quantity) {
        Some(0) => None,
        _ => Some(integer(quantity)?),
    };
    let ms = period.get().checked_mul(1000).ok_or(Wrong::NotAnInteger)?;
    let rule = Schedule::spaced(ms, count.get(), burst).ok_or(Wrong::NotAnInteger)?;
    Ok(Command::Throttle { key, rule: Box::new(rule), quantity })
}

fn settings(limit: &[u8], window: &[u8], options: Arguments<'_>) -> Result<Settings, Wrong> {
    let (limit, window) = (integer(limit)?, integer(window)?);
    let mut algorithm = None;
    let mut refill = None;
    let mut drain = None;
    let mut options = options.iter();
    while let Some(option) = options.next() {
        let value = options.next().ok_or(Wrong::Syntax)?;
        let repeated = if is(option, b"ALGO") {
            algorithm.replace(Algorithm::named(value).ok_or(Wrong::UnknownAlgorithm)?).is_some()
        } else if is(option, b"REFILL") {
            refill.replace(rate(value)?).is_some()
        } else if is(option, b"DRAIN") {
            drain.replace(rate(value)?).is_some()
        } else {
            true
        };
        if repeated {
            return Err(Wrong::Syntax);
        }
    }
    let algorithm = algorithm.unwrap_or(Algorithm::SlidingWindow);
    let rate = match algorithm {
        Algorithm::TokenBucket if drain.is_none() => refill,
        Algorithm::LeakyBucket if refill.is_none() => drain,
        _ if refill.is_none() && drain.is_none() => None,
        _ => return Err(Wrong::Syntax),
    };
    let settings = Settings { algorithm, limit, window, rate };
    settings.rule().map_err(|_| Wrong::Rate)?;
    Ok(settings)
}

fn rate(text: &[u8]) -> Result<Rate, Wrong> {
    Rate::parse(text).map_err(|_| Wrong::Rate)
}

fn set_options(options: Arguments<'_>) -> Result<SetOptions, Wrong> {
    let mut set = SetOptions::default();
    let mut options = options.iter();
    while let Some(option) = options.next() {
        let is = |name: &[u8]| is(option, name);
        let (seconds, at) = (is(b"EX") || is(b"EXAT"), is(b"EXAT") || is(b"PXAT"));
        if seconds || at || is(b"PX") {
            let scale = if seconds { 1000 } else { 1 };
            let time = integer(options.next().ok_or(Wrong::Syntax)?)?;
            let ms = time.get().checked_mul(scale).and_then(Positive::new).ok_or(Wrong::NotAnInteger)?;
            let expiry = if at { Expiry::At(ms) } else { Expiry::In(ms) };
            if set.keep_ttl || set.expiry.replace(expiry).is_some() {
                return Err(Wrong::Syntax);
            }
        } else if is(b"NX") || is(b"XX") {
            if set.only_if.replace(is(b"XX")).is_some() {
                return Err(Wrong::Syntax);
            }
        } else if is(b"KEEPTTL") && set.expiry.is_none() {
            set.keep_ttl = true;
        } else if is(b"GET") {
            set.get = true;
        } else {
            return Err(Wrong::Syntax);
        }
    }
    Ok(set)
}

fn scan<'a>(cursor: &[u8], options: Arguments<'a>) -> Result<Command<'a>, Wrong> {
    let cursor = parse_digits(cursor).ok_or(Wrong::NotAnInteger)?;
    let mut pattern = None;
    let mut count = 10;
    let mut any = true;
    let mut options = options.iter();
    while let Some(option) = options.next() {
        let value = *options.next().ok_or(Wrong::Syntax)?;
        if is(option, b"MATCH") {
            if value.len() > MAX_NAME_BYTES {
                return Err(Wrong::Pattern(value.len()));
            }
            pattern = Some(value);
        } else if is(option, b"COUNT") {
            count = usize::try_from(integer(value)?.get()).unwrap_or(usize::MAX);
        } else if is(option, b"TYPE") {
            any = is(value, b"string");
        } else {
            return Err(Wrong::Syntax);
        }
    }
    Ok(Command::Scan { cursor, pattern, count, any })
}

fn expire_condition(options: Arguments<'_>) -> Result<ExpireCondition, Wrong> {
    let mut condition = ExpireCondition::default();
    for option in options {
        let is = |name: &[u8]| is(option, name);
        let repeated = if is(b"NX") || is(b"XX") {
            condition.some.replace(is(b"XX")).is_some()
        } else if is(b"GT") || is(b"LT") {
            condition.new.replace(if is(b"GT") { Ordering::Greater } else { Ordering::Less }).is_some()
        } else {
            true
        };
        if repeated {
            return Err(Wrong::Syntax);
        }
    }
    match condition {
        ExpireCondition { some: Some(false), new: Some(_) } => Err(Wrong::Syntax),
        _ => Ok(condition),
    }
}

/// Whether a word is that one, in any case. Called, not inlined: there are many of them and none is hot.
#[inline(never)]
pub(super) fn is(word: &[u8], name: &[u8]) -> bool {
    word.eq_ignore_ascii_case(name)
}

/// An integer argument from 1 to 2^53 - 1.
pub(super) fn integer(text: &[u8]) -> Result<Positive, Wrong> {
    Positive::parse(text).ok_or(Wrong::NotAnInteger)
}

/// An integer that times `scale` is from -(2^53 - 1) to 2^53 - 1.
fn milliseconds(text: &[u8], scale: u64) -> Result<i64, Wrong> {
    let (negative, digits) = match text.split_first() {
        Some((b'-', digits)) => (true, digits),
        _ => (false, text),
    };
    let value = parse_digits(digits).filter(|value| *value > 0 || !negative).ok_or(Wrong::NotAnInteger)?;
    let ms = value.checked_mul(scale).filter(|ms| *ms <= MAX_INTEGER).ok_or(Wrong::NotAnInteger)?;
    Ok(if negative { ms.cast_signed().wrapping_neg() } else { ms.cast_signed() })
}

#[cold]
#[inline(never)]
fn unknown(name: &[u8]) -> Error {
    Error::UnknownCommand(printable(name))
}

/// A name as an error may show it: at most 128 bytes, and nothing that a terminal or the protocol would act on.
fn printable(name: &[u8]) -> String {
    let shown = name.get(..128).unwrap_or(name);
    let shown = joined(&[Bytes(shown)]);
    let mut printable = String::new();
    let mut from = 0;
    for (at, letter) in shown.char_indices().filter(|(_, letter)| letter.is_control()) {
        push(&mut printable, shown.get(from..at).unwrap_or_default());
        push(&mut printable, "?");
        from = at.saturating_add(letter.len_utf8());
    }
    push(&mut printable, shown.get(from..).unwrap_or_default());
    printable
}
