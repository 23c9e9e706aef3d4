//! Arguments into typed commands. Nothing is looked up here: a command that is wrong in itself is refused before anything is.

use alloc::string::String;

use super::connection;
use super::policies::AdmitOptions;
use crate::algorithm::Schedule;
use crate::error::checked_name;
use crate::limiter::{Algorithm, Rate, Settings};
use crate::number::parse_digits;
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
        rule: Schedule,
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
    },
    DbSize,
    FlushAll,
    Connection(connection::ConnectionCommand<'a>),
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

/// When `SET` stores, and for how long.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SetOptions {
    /// Milliseconds to live.
    pub ms: Option<Positive>,
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
        // Names are at most 20 bytes; a longer one can't be known.
        let mut upper = [0_u8; 20];
        let upper = upper.get_mut(..name.len()).ok_or_else(|| unknown(name))?;
        upper.copy_from_slice(name);
        upper.make_ascii_uppercase();
        parse_named(upper, name, rest)
    }
}

#[expect(clippy::too_many_lines, reason = "one table of every command")]
fn parse_named<'a>(upper: &[u8], name: &'a [u8], rest: Arguments<'a>) -> Result<Command<'a>, Error> {
    let arity = || Error::WrongArity(printable(name).to_ascii_lowercase());
    let none = |command| if rest.is_empty() { Ok(command) } else { Err(arity()) };
    let one = || match rest {
        [only] => Ok(*only),
        _ => Err(arity()),
    };
    let key = || checked_name("key", one()?);
    let many = || {
        if rest.is_empty() {
            return Err(arity());
        }
        rest.iter().try_for_each(|key| checked_name("key", key).map(drop))?;
        Ok(rest)
    };
    Ok(match upper {
        b"GCRA.LIMIT" => match *rest {
            [key, period, burst] => gcra_limit(key, period, burst, None)?,
            [key, period, burst, count] => gcra_limit(key, period, burst, Some(count))?,
            _ => return Err(arity()),
        },
        b"GCRA.RESET" | b"DEL" | b"UNLINK" => Command::Delete { keys: many()? },
        b"CL.THROTTLE" => match *rest {
            [key, burst, count, period] => throttle(key, burst, count, period, b"1")?,
            [key, burst, count, period, quantity] => throttle(key, burst, count, period, quantity)?,
            _ => return Err(arity()),
        },
        b"RATELIMIT.CREATE" => match *rest {
            [name, limit, window, ref options @ ..] => Command::LimiterCreate {
                name: checked_name("name", name)?,
                settings: settings(limit, window, options)?,
            },
            _ => return Err(arity()),
        },
        b"RATELIMIT.CHECK" => match *rest {
            [name, key] => Command::LimiterCheck { name, key: checked_name("key", key)?, cost: Positive::ONE },
            [name, key, option, cost] => {
                if !option.eq_ignore_ascii_case(b"COST") {
                    return Err(Error::Syntax);
                }
                Command::LimiterCheck { name, key: checked_name("key", key)?, cost: integer(cost)? }
            }
            [_, _, _, ..] => return Err(Error::Syntax),
            _ => return Err(arity()),
        },
        b"RATELIMIT.PEEK" | b"RATELIMIT.RESET" => match *rest {
            [name, key] => {
                let key = checked_name("key", key)?;
                match upper {
                    b"RATELIMIT.PEEK" => Command::LimiterPeek { name, key },
                    _ => Command::LimiterReset { name, key },
                }
            }
            _ => return Err(arity()),
        },
        b"RATELIMIT.STATS" => Command::LimiterStats { name: one()? },
        b"RATELIMIT.DROP" => Command::LimiterDrop { name: one()? },
        b"RATELIMIT.LIST" => none(Command::LimiterList)?,
        b"SET" => match *rest {
            [key, value, ref options @ ..] => {
                Command::Set { key: checked_name("key", key)?, value, options: set_options(options)? }
            }
            _ => return Err(arity()),
        },
        b"GET" => Command::Get { key: key()? },
        b"EXISTS" => Command::Exists { keys: many()? },
        b"TYPE" => Command::Type { key: key()? },
        b"TTL" => Command::TimeToLive { key: key()?, unit: Unit::Seconds },
        b"PTTL" => Command::TimeToLive { key: key()?, unit: Unit::Milliseconds },
        b"EXPIRE" | b"PEXPIRE" => match *rest {
            [key, time] => {
                let scale = if upper == b"EXPIRE" { 1000 } else { 1 };
                let ms = signed(time)?.checked_mul(scale).ok_or(Error::NotAnInteger)?;
                Command::Expire { key: checked_name("key", key)?, ms }
            }
            [_, _, _, ..] => return Err(Error::Syntax),
            _ => return Err(arity()),
        },
        b"PERSIST" => Command::Persist { key: key()? },
        b"KEYS" => Command::Keys { pattern: one()? },
        b"SCAN" => match *rest {
            [cursor, ref options @ ..] => scan(cursor, options)?,
            _ => return Err(arity()),
        },
        b"DBSIZE" => none(Command::DbSize)?,
        b"FLUSHALL" | b"FLUSHDB" => match *rest {
            [] => Command::FlushAll,
            [mode] if mode.eq_ignore_ascii_case(b"SYNC") || mode.eq_ignore_ascii_case(b"ASYNC") => Command::FlushAll,
            _ => return Err(Error::Syntax),
        },
        b"VALVE.DEFINE" => match *rest {
            [namespace, policy] => {
                Command::Policy(PolicyCommand::Define { namespace: checked_name("namespace", namespace)?, policy })
            }
            _ => return Err(arity()),
        },
        b"VALVE.ADMIT" => match *rest {
            [namespace, fingerprint, cost, ref options @ ..] => Command::Policy(PolicyCommand::Admit {
                namespace: checked_name("namespace", namespace)?,
                fingerprint,
                cost: integer(cost)?,
                options: AdmitOptions::parse(options)?,
            }),
            _ => return Err(arity()),
        },
        b"VALVE.SHOW" => Command::Policy(PolicyCommand::Show { namespace: one()? }),
        b"VALVE.FORGET" => Command::Policy(PolicyCommand::Forget { namespace: one()? }),
        b"VALVE.RENEW" | b"VALVE.RELEASE" => match *rest {
            [namespace, ref leases @ ..] if !leases.is_empty() => Command::Policy(match upper {
                b"VALVE.RENEW" => PolicyCommand::Renew { namespace, leases },
                _ => PolicyCommand::Release { namespace, leases },
            }),
            _ => return Err(arity()),
        },
        _ => match connection::ConnectionCommand::parse(upper, rest) {
            Some(command) => Command::Connection(command.map_err(|error| error.unwrap_or_else(arity))?),
            None => return Err(unknown(name)),
        },
    })
}

fn gcra_limit<'a>(key: &'a [u8], period: &[u8], burst: &[u8], count: Option<&[u8]>) -> Result<Command<'a>, Error> {
    let key = checked_name("key", key)?;
    let (period, burst) = (integer(period)?, integer(burst)?);
    let count = count.map_or(Ok(Positive::ONE), integer)?;
    Ok(Command::GcraLimit { key, period, burst, count })
}

/// redis-cell's arguments: a burst beyond the first unit, and a count for each period in seconds.
fn throttle<'a>(
    key: &'a [u8],
    max_burst: &[u8],
    count: &[u8],
    period: &[u8],
    quantity: &[u8],
) -> Result<Command<'a>, Error> {
    let key = checked_name("key", key)?;
    let max_burst = parse_digits(max_burst).ok_or(Error::NotAnInteger)?;
    let burst = max_burst.checked_add(1).and_then(Positive::new).ok_or(Error::NotAnInteger)?;
    let (count, period) = (integer(count)?, integer(period)?);
    let quantity = match parse_digits(quantity) {
        Some(0) => None,
        _ => Some(integer(quantity)?),
    };
    let ms = period.get().checked_mul(1000).ok_or(Error::NotAnInteger)?;
    let rule = Schedule::spaced(ms, count.get(), burst).ok_or(Error::NotAnInteger)?;
    Ok(Command::Throttle { key, rule, quantity })
}

fn settings(limit: &[u8], window: &[u8], options: Arguments<'_>) -> Result<Settings, Error> {
    let (limit, window) = (integer(limit)?, integer(window)?);
    let mut algorithm = None;
    let mut refill = None;
    let mut drain = None;
    let mut options = options.iter();
    while let Some(option) = options.next() {
        let value = options.next().ok_or(Error::Syntax)?;
        let repeated = if option.eq_ignore_ascii_case(b"ALGO") {
            algorithm.replace(Algorithm::named(value).ok_or(Error::UnknownAlgorithm)?).is_some()
        } else if option.eq_ignore_ascii_case(b"REFILL") {
            refill.replace(Rate::parse(value)?).is_some()
        } else if option.eq_ignore_ascii_case(b"DRAIN") {
            drain.replace(Rate::parse(value)?).is_some()
        } else {
            true
        };
        if repeated {
            return Err(Error::Syntax);
        }
    }
    let algorithm = algorithm.unwrap_or(Algorithm::SlidingWindow);
    let rate = match algorithm {
        Algorithm::TokenBucket if drain.is_none() => refill,
        Algorithm::LeakyBucket if refill.is_none() => drain,
        _ if refill.is_none() && drain.is_none() => None,
        _ => return Err(Error::Syntax),
    };
    let settings = Settings { algorithm, limit, window, rate };
    settings.rule()?;
    Ok(settings)
}

fn set_options(options: Arguments<'_>) -> Result<SetOptions, Error> {
    let mut set = SetOptions::default();
    let mut options = options.iter();
    while let Some(option) = options.next() {
        let is = |name: &[u8]| option.eq_ignore_ascii_case(name);
        if is(b"EX") || is(b"PX") {
            let scale = if is(b"EX") { 1000 } else { 1 };
            let time = integer(options.next().ok_or(Error::Syntax)?)?;
            let ms = time.get().checked_mul(scale).and_then(Positive::new).ok_or(Error::NotAnInteger)?;
            if set.keep_ttl || set.ms.replace(ms).is_some() {
                return Err(Error::Syntax);
            }
        } else if is(b"NX") || is(b"XX") {
            if set.only_if.replace(is(b"XX")).is_some() {
                return Err(Error::Syntax);
            }
        } else if is(b"KEEPTTL") && set.ms.is_none() {
            set.keep_ttl = true;
        } else if is(b"GET") {
            set.get = true;
        } else {
            return Err(Error::Syntax);
        }
    }
    Ok(set)
}

fn scan<'a>(cursor: &[u8], options: Arguments<'a>) -> Result<Command<'a>, Error> {
    let cursor = parse_digits(cursor).ok_or(Error::NotAnInteger)?;
    let mut pattern = None;
    let mut count = 10;
    let mut options = options.iter();
    while let Some(option) = options.next() {
        let value = *options.next().ok_or(Error::Syntax)?;
        if option.eq_ignore_ascii_case(b"MATCH") {
            pattern = Some(value);
        } else if option.eq_ignore_ascii_case(b"COUNT") {
            count = usize::try_from(integer(value)?.get()).unwrap_or(usize::MAX);
        } else {
            return Err(Error::Syntax);
        }
    }
    Ok(Command::Scan { cursor, pattern, count })
}

/// An integer argument from 1 to 2^53 - 1.
pub(super) fn integer(text: &[u8]) -> Result<Positive, Error> {
    Positive::parse(text).ok_or(Error::NotAnInteger)
}

fn signed(text: &[u8]) -> Result<i64, Error> {
    let (negative, digits) = match text.split_first() {
        Some((b'-', digits)) => (true, digits),
        _ => (false, text),
    };
    let value = parse_digits(digits).filter(|value| *value > 0 || !negative).ok_or(Error::NotAnInteger)?;
    let value = i64::try_from(value).map_err(|_| Error::NotAnInteger)?;
    Ok(if negative { value.wrapping_neg() } else { value })
}

fn unknown(name: &[u8]) -> Error {
    Error::UnknownCommand(printable(name))
}

/// A name as an error may show it: at most 128 bytes, and nothing that a terminal or the protocol would act on.
fn printable(name: &[u8]) -> String {
    let shown = name.get(..128).unwrap_or(name);
    String::from_utf8_lossy(shown).chars().map(|letter| if letter.is_control() { '?' } else { letter }).collect()
}
