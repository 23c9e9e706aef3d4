//! The commands of ordinary keys: text with a time to live, of which a rate limit's state is one kind.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use super::execute::signed;
use super::glob;
use super::parse::Command;
use super::resp::{Protocol, Writer};
use super::table::{Kind, Word};
use crate::algorithm::Tat;
use crate::keyspace::{Key, Keyspace, NEVER, Space, State, Value};
use crate::text::{LONGEST_LINE, digits, filled};
use crate::{Engine, Error, ErrorKind};

pub(super) fn run(engine: &mut Engine, now: u64, command: &Command<'_>, writer: &mut Writer<'_>) -> Result<(), Error> {
    engine.advance(now);
    let first = command.first;
    let kind = command.entry.kind;
    if kind == Kind::Delete {
        writer.count(command.arguments.iter().filter(|key| engine.delete(now, key)).count());
        return Ok(());
    }
    let keyspace = engine.keyspace();
    match kind {
        Kind::Set => set(keyspace, command, writer)?,
        Kind::Get => bulk(writer, state(keyspace, first).as_ref()),
        Kind::Exists => writer.count(command.arguments.iter().filter(|key| state(keyspace, key).is_some()).count()),
        Kind::Type => writer.status(if state(keyspace, first).is_some() { "string" } else { "none" }),
        Kind::Ttl | Kind::Pttl => {
            writer.integer(match state(keyspace, first).map(|state| state.expires()) {
                None => -2,
                Some(NEVER) => -1,
                Some(expires) => {
                    let ms = expires.saturating_sub(now);
                    signed(if kind == Kind::Ttl { ms.div_ceil(1000) } else { ms })
                }
            });
        }
        Kind::Expire | Kind::Pexpire | Kind::Persist => {
            writer.integer(i64::from(set_expiry(keyspace, command)?));
        }
        Kind::Keys | Kind::Scan => {
            let (cursor, pattern, count) = if kind == Kind::Keys {
                (0, Some(first), usize::MAX)
            } else {
                let ([pattern, _], [count, ..]) = (command.texts, command.integers);
                let count = if command.has(Word::Count) { count.get() } else { 10 };
                let pattern = command.has(Word::Match).then_some(pattern);
                (command.amount.cast_unsigned(), pattern, usize::try_from(count).unwrap_or(usize::MAX))
            };
            let mut found = Names::default();
            // There are no keys of another type.
            let [_, kept] = command.texts;
            let any = !command.has(Word::Type) || kept.eq_ignore_ascii_case(b"string");
            let next = if any { keyspace.scan(cursor, count, |name, _| found.add(name, pattern)) } else { 0 };
            if kind == Kind::Scan {
                writer.array(2);
                writer.digits(next);
            }
            found.write(writer);
        }
        Kind::FlushAll => {
            keyspace.clear(Space::ORDINARY);
            writer.ok();
        }
        _ => return Err(ErrorKind::Syntax.into()),
    }
    Ok(())
}

/// Keys that match, written before how many there are is known.
#[derive(Default)]
struct Names {
    count: usize,
    written: Vec<u8>,
}

impl Names {
    fn add(&mut self, name: &[u8], pattern: Option<&[u8]>) {
        if pattern.is_none_or(|pattern| glob::matches(pattern, name)) {
            self.count = self.count.saturating_add(1);
            Writer::new(&mut self.written, Protocol::Resp2).bulk(name);
        }
    }

    fn write(&self, writer: &mut Writer<'_>) {
        writer.array(self.count);
        writer.written(&self.written);
    }
}

fn state<'a>(keyspace: &'a Keyspace, key: &[u8]) -> Option<State<'a>> {
    let key = Key::ordinary(key);
    keyspace.state(keyspace.locate(key), key)
}

fn set(keyspace: &mut Keyspace, command: &Command<'_>, writer: &mut Writer<'_>) -> Result<(), Error> {
    let (key, [time, ..]) = (Key::ordinary(command.first), command.integers);
    let has = |word: Word| command.has(word);
    let place = keyspace.locate(key);
    let there = keyspace.state(place, key);
    let before = there.as_ref().filter(|_| has(Word::Get)).map(text);
    let stored = if there.is_some() { !has(Word::Nx) } else { !has(Word::Xx) };
    if stored {
        let expires = if has(Word::Ex) || has(Word::Px) {
            keyspace.now().saturating_add(time.get())
        } else if has(Word::ExAt) || has(Word::PxAt) {
            time.get()
        } else {
            there.filter(|_| has(Word::KeepTtl)).map_or(NEVER, |state| state.expires())
        };
        if expires > keyspace.now() {
            keyspace.put(place, key, Value::Text { bytes: command.second.into(), expires })?;
        } else {
            keyspace.remove(place, key);
        }
    }
    match before {
        Some(before) => writer.bulk(&before),
        None if stored && !has(Word::Get) => writer.ok(),
        None => writer.null(),
    }
    Ok(())
}

/// Gives the key another expiry, where it has one that the options allow to change; whether it does. `PERSIST` gives
/// one that never comes in place of one that does.
fn set_expiry(keyspace: &mut Keyspace, command: &Command<'_>) -> Result<bool, Error> {
    let key = Key::ordinary(command.first);
    let has = |word: Word| command.has(word);
    let place = keyspace.locate(key);
    let Some(state) = keyspace.state(place, key) else { return Ok(false) };
    let before = state.expires();
    let persists = command.entry.kind == Kind::Persist;
    let expires = if persists { NEVER } else { keyspace.now().saturating_add_signed(command.amount) };
    if before == NEVER && (persists || has(Word::Xx))
        || before != NEVER && has(Word::Nx)
        || expires <= before && has(Word::Gt)
        || expires >= before && has(Word::Lt)
    {
        return Ok(false);
    }
    if expires <= keyspace.now() {
        keyspace.remove(place, key);
        return Ok(true);
    }
    let value = match state {
        State::Tat { tat, .. } => Value::Tat { tat, expires },
        other => Value::Text { bytes: text(&other), expires },
    };
    keyspace.put(place, key, value)?;
    Ok(true)
}

fn bulk(writer: &mut Writer<'_>, state: Option<&State<'_>>) {
    match state {
        Some(State::Text { bytes, .. }) => writer.bulk(bytes),
        Some(state) => writer.bulk(&text(state)),
        None => writer.null(),
    }
}

/// What `GET` shows of a state.
fn text(state: &State<'_>) -> Box<[u8]> {
    match state {
        State::Text { bytes, .. } => (*bytes).into(),
        State::Tat { tat, .. } => decimal(*tat).into_bytes().into(),
        State::Count(count) => filled("%", &[], &[count.units]).into_bytes().into(),
        State::Log { .. } => Box::default(),
    }
}

/// A tat in ms with up to 9 digits after the point, rounded up.
fn decimal(tat: Tat) -> String {
    let tat = tat.rounded_up(1_000_000_000);
    if tat.remainder == 0 {
        return filled("%", &[], &[tat.ms]);
    }
    // With a one in front, the zeros that a fraction starts with are digits too.
    let mut fraction = tat.remainder.saturating_add(1_000_000_000);
    while fraction.is_multiple_of(10) {
        fraction /= 10;
    }
    let mut place = [0; LONGEST_LINE];
    filled("%.@", &[digits(fraction, &mut place).as_bytes().get(1..).unwrap_or_default()], &[tat.ms])
}
