//! Arguments into commands. Nothing is looked up here: a command that is wrong in itself is refused before anything is.

use alloc::string::String;
use alloc::vec::Vec;

use super::table::{self, Entry, Kind, Names, Takes, WORDS, Word};
use crate::algorithm::Schedule;
use crate::error::{MAX_NAME_BYTES, checked_name};
use crate::limiter::{Algorithm, Rate, Settings};
use crate::number::{MAX_INTEGER, parse_digits};
use crate::policy::Job;
use crate::text::filled;
use crate::{Error, ErrorKind, Positive};

/// The name of a command without one.
const NAMELESS: &[u8] = b"";

/// The arguments of a command.
pub type Arguments<'a> = &'a [&'a [u8]];

/// A command, and what its arguments say once [`Command::read`] found them all right in themselves.
pub struct Command<'a> {
    /// What there is to know of all commands of that name.
    pub(crate) entry: &'static Entry,
    /// All but the name.
    pub(crate) arguments: Arguments<'a>,
    /// The first and the second of them; empty when there is none.
    pub(crate) first: &'a [u8],
    pub(crate) second: &'a [u8],
    /// Positive integers, first those that are no option's; 1 where none is given.
    pub(super) integers: [Positive; 4],
    /// An integer of another kind: a cursor, or milliseconds.
    pub(super) amount: i64,
    /// The options that are given, as a set.
    given: u32,
    /// Texts of options.
    pub(super) texts: [&'a [u8]; 2],
    /// Pairs of texts of an option: of a scope, dimension and identity.
    pub(super) pairs: Vec<(&'a [u8], &'a [u8])>,
}

impl<'a> Command<'a> {
    /// The command that the arguments, its name first, call.
    #[cfg_attr(target_family = "wasm", inline(never))]
    pub fn of(arguments: Arguments<'a>) -> Self {
        let (name, arguments) = arguments.split_first().unwrap_or((&NAMELESS, &[]));
        Self {
            entry: table::find(name).unwrap_or(table::UNKNOWN),
            arguments,
            first: arguments.first().copied().unwrap_or_default(),
            second: arguments.get(1).copied().unwrap_or_default(),
            integers: [Positive::ONE; 4],
            amount: 0,
            given: 0,
            texts: [b"".as_slice(); 2],
            pairs: Vec::new(),
        }
    }

    /// Whether an option is given.
    #[inline]
    pub(crate) const fn has(&self, word: Word) -> bool {
        self.given & (1 << word as u32) != 0
    }

    /// Reads the arguments, the `whole` of which start with the name.
    ///
    /// # Errors
    /// Any error that the arguments alone give away; never one that depends on what is stored.
    pub fn read(&mut self, whole: Arguments<'_>) -> Result<(), Error> {
        let (entry, count) = (self.entry, self.arguments.len());
        if entry.kind == Kind::Unknown {
            return Err(unknown(whole.first().copied().unwrap_or_default()));
        }
        if count < entry.least.into() || (entry.most != table::ANY && count > entry.most.into()) {
            return Err(ErrorKind::WrongArity(entry.name).into());
        }
        if self.arguments.iter().any(|argument| argument.len() > MAX_NAME_BYTES) {
            self.check_names()?;
        }
        self.read_arguments()
    }

    /// Whether the names among the arguments are short enough.
    #[cold]
    fn check_names(&self) -> Result<(), Error> {
        let (called, from, to) = match self.entry.names {
            Names::Key => ("key", 0, 1),
            Names::Keys => ("key", 0, usize::MAX),
            Names::KeyOfLimiter => ("key", 1, 2),
            Names::NewLimiter => ("name", 0, 1),
            Names::NewNamespace => ("namespace", 0, 1),
            Names::Pattern => ("pattern", 0, 1),
            _ => return Ok(()),
        };
        for (at, name) in self.arguments.iter().enumerate() {
            if from <= at && at < to {
                checked_name(called, name)?;
            }
        }
        Ok(())
    }

    fn read_arguments(&mut self) -> Result<(), Error> {
        let entry = self.entry;
        let (from, to) = (usize::from(entry.integers.0), usize::from(entry.integers.1).min(self.arguments.len()));
        for (integer, text) in self.integers.iter_mut().zip(self.arguments.get(from..to).unwrap_or_default()) {
            *integer = positive(text)?;
        }
        if entry.options != 0 {
            self.read_options()?;
        }
        match entry.kind {
            Kind::Throttle => self.read_throttle(),
            Kind::LimiterCreate => self.settings().map(|_| ()),
            Kind::Set if self.has(Word::Ex) || self.has(Word::ExAt) => {
                let [time, ..] = &mut self.integers;
                *time = time.get().checked_mul(1000).and_then(Positive::new).ok_or_else(not_an_integer)?;
                Ok(())
            }
            Kind::Expire | Kind::Pexpire => {
                self.amount = milliseconds(self.second, if entry.kind == Kind::Expire { 1000 } else { 1 })?;
                Ok(())
            }
            Kind::Scan => {
                self.amount = parse_digits(self.first).ok_or_else(not_an_integer)?.cast_signed();
                let [pattern, _] = self.texts;
                checked_name("pattern", pattern).map(|_| ())
            }
            Kind::FlushAll => match *self.arguments {
                [mode] if !is(mode, b"SYNC") && !is(mode, b"ASYNC") => Err(syntax()),
                _ => Ok(()),
            },
            _ => Ok(()),
        }
    }

    #[inline(never)]
    fn read_options(&mut self) -> Result<(), Error> {
        let entry = self.entry;
        let from = match entry.kind {
            // The version is in front of them, and can be left out where they are too.
            Kind::Hello => 1,
            Kind::Client => 0,
            _ => entry.least.into(),
        };
        let mut rest = self.arguments.get(from..).unwrap_or_default().iter();
        while let Some(written) = rest.next() {
            let mut at = 0_u32;
            let spelling = loop {
                let spelling = WORDS.get(at as usize).ok_or_else(syntax)?;
                if entry.options >> at & 1 != 0 && is(written, spelling.name.as_bytes()) {
                    break spelling;
                }
                at = at.wrapping_add(1);
            };
            if self.given & spelling.excludes != 0 {
                return Err(syntax());
            }
            self.given |= 1 << at;
            let mut next = || rest.next().copied().ok_or_else(syntax);
            match spelling.takes {
                Takes::Nothing => {}
                Takes::Integer(at) => {
                    let integer = positive(next()?)?;
                    if let Some(place) = self.integers.get_mut(usize::from(at)) {
                        *place = integer;
                    }
                }
                Takes::Text(at) => {
                    let text = next()?;
                    if let Some(place) = self.texts.get_mut(usize::from(at)) {
                        *place = text;
                    }
                }
                Takes::Pair => {
                    let pair = (next()?, next()?);
                    self.pairs.push(pair);
                }
                Takes::Rest => break,
            }
        }
        Ok(())
    }

    /// redis-cell's arguments: a burst beyond the first unit, a count for each period in seconds, and a quantity that can be 0.
    fn read_throttle(&mut self) -> Result<(), Error> {
        let burst = parse_digits(self.second).and_then(|most| Positive::new(most.wrapping_add(1)));
        let asked = self.arguments.get(4).copied().unwrap_or(b"1");
        let [_, _, beyond, quantity] = &mut self.integers;
        *beyond = burst.ok_or_else(not_an_integer)?;
        if asked != b"0" {
            *quantity = positive(asked)?;
            self.amount = 1;
        }
        self.schedule().map(|_| ())
    }

    /// The schedule of `CL.THROTTLE`.
    pub(super) fn schedule(&self) -> Result<Schedule, Error> {
        let [count, period, burst, _] = self.integers;
        // 2^53 seconds are under 2^63 ms.
        Schedule::spaced(period.get().wrapping_mul(1000), count.get(), burst).ok_or_else(not_an_integer)
    }

    /// The settings of `RATELIMIT.CREATE`.
    pub(super) fn settings(&self) -> Result<Settings, Error> {
        let [limit, window, ..] = self.integers;
        let [algorithm, rate] = self.texts;
        let algorithm = if self.has(Word::Algo) {
            Algorithm::named(algorithm).ok_or(ErrorKind::UnknownAlgorithm)?
        } else {
            Algorithm::SlidingWindow
        };
        let (refill, drain) = (self.has(Word::Refill), self.has(Word::Drain));
        if refill && algorithm != Algorithm::TokenBucket || drain && algorithm != Algorithm::LeakyBucket {
            return Err(syntax());
        }
        let rate = if refill || drain { Some(Rate::parse(rate)?) } else { None };
        let settings = Settings { algorithm, limit, window, rate };
        settings.rule()?;
        Ok(settings)
    }

    /// The job of `VALVE.ADMIT`.
    pub(crate) fn job(&self) -> Job<'_> {
        let ([cost, most, ..], [lease, _]) = (self.integers, self.texts);
        Job {
            cost,
            scope: &self.pairs,
            lease: self.has(Word::Lease).then_some(lease),
            wait: self.has(Word::Wait),
            reserve: self.has(Word::Reserve).then_some(most),
        }
    }
}

/// The error of an integer argument, which many can be.
#[cold]
#[inline(never)]
fn not_an_integer() -> Error {
    ErrorKind::NotAnInteger.into()
}

#[cold]
#[inline(never)]
fn syntax() -> Error {
    ErrorKind::Syntax.into()
}

/// Whether a word is that one, in any case. Called, not inlined: there are many of them and none is hot.
#[inline(never)]
fn is(word: &[u8], name: &[u8]) -> bool {
    word.eq_ignore_ascii_case(name)
}

/// An integer argument from 1 to 2^53 - 1.
fn positive(text: &[u8]) -> Result<Positive, Error> {
    Positive::parse(text).ok_or_else(not_an_integer)
}

/// An integer that times `scale` is from -(2^53 - 1) to 2^53 - 1.
fn milliseconds(text: &[u8], scale: u64) -> Result<i64, Error> {
    let (negative, digits) = match text.split_first() {
        Some((b'-', digits)) => (true, digits),
        _ => (false, text),
    };
    let value = parse_digits(digits).filter(|value| *value > 0 || !negative).ok_or_else(not_an_integer)?;
    // 16 digits times 1000 are under 2^64.
    let ms = value.wrapping_mul(scale);
    if ms > MAX_INTEGER {
        return Err(not_an_integer());
    }
    Ok(if negative { ms.cast_signed().wrapping_neg() } else { ms.cast_signed() })
}

#[cold]
#[inline(never)]
fn unknown(name: &[u8]) -> Error {
    ErrorKind::UnknownCommand(printable(name)).into()
}

/// A name as an error may show it: at most 128 bytes, and nothing that a terminal or the protocol would act on.
fn printable(name: &[u8]) -> String {
    let mut shown: Vec<u8> = name.get(..128).unwrap_or(name).into();
    let mut before = 0;
    for byte in &mut shown {
        // A control beyond ASCII is two bytes: the first one, left alone, then shows as no text does.
        let control = byte.is_ascii_control() || (before == 0xc2 && (0x80..0xa0).contains(byte));
        before = *byte;
        if control {
            *byte = b'?';
        }
    }
    filled("@", &[&shown], &[])
}
