//! The commands of ordinary keys: text with a time to live, of which a rate limit's state is one kind.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use super::execute::signed;
use super::glob;
use super::parse::{Command, Expiry, SetOptions, Unit};
use super::resp::{Protocol, Writer};
use crate::algorithm::Tat;
use crate::keyspace::{Key, Keyspace, NEVER, Space, State, Value};
use crate::text::Part::{Number, Text};
use crate::text::{digits, joined};
use crate::{Engine, Error};

pub(super) fn run(engine: &mut Engine, now: u64, command: &Command<'_>, writer: &mut Writer<'_>) -> Result<(), Error> {
    engine.advance(now);
    let keyspace = engine.keyspace();
    match *command {
        Command::Set { key, value, options } => set(keyspace, Key::ordinary(key), value, options, writer)?,
        Command::Get { key } => bulk(writer, state(keyspace, key).as_ref()),
        Command::Delete { keys } => writer.count(keys.iter().filter(|key| engine.delete(now, key)).count()),
        Command::Exists { keys } => writer.count(keys.iter().filter(|key| state(keyspace, key).is_some()).count()),
        Command::Type { key } => writer.status(if state(keyspace, key).is_some() { "string" } else { "none" }),
        Command::TimeToLive { key, unit } => {
            writer.integer(match state(keyspace, key).map(|state| state.expires()) {
                None => -2,
                Some(NEVER) => -1,
                Some(expires) => {
                    let ms = expires.saturating_sub(now);
                    signed(if unit == Unit::Seconds { ms.div_ceil(1000) } else { ms })
                }
            });
        }
        Command::Expire { key, ms, condition } => {
            let expires = now.saturating_add_signed(ms);
            let changed = set_expiry(keyspace, Key::ordinary(key), |before| {
                let some = condition.some.is_none_or(|some| some == (before != NEVER));
                let new = condition.new.is_none_or(|new| new == expires.cmp(&before));
                (some && new).then_some(expires)
            })?;
            writer.integer(i64::from(changed));
        }
        Command::Persist { key } => {
            let changed = set_expiry(keyspace, Key::ordinary(key), |expires| (expires != NEVER).then_some(NEVER))?;
            writer.integer(i64::from(changed));
        }
        Command::Keys { pattern } => {
            let mut found = Names::default();
            keyspace.for_each(|key, _| {
                if key.space == Space::ORDINARY {
                    found.add(key.name, Some(pattern));
                }
            });
            found.write(writer);
        }
        Command::Scan { cursor, pattern, count, any } => {
            let mut found = Names::default();
            let next = if any { keyspace.scan(cursor, count, |name, _| found.add(name, pattern)) } else { 0 };
            writer.array(2);
            writer.digits(next);
            found.write(writer);
        }
        Command::FlushAll => {
            keyspace.clear(Space::ORDINARY);
            writer.ok();
        }
        _ => return Err(Error::Syntax),
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

fn set(
    keyspace: &mut Keyspace,
    key: Key<'_>,
    value: &[u8],
    options: SetOptions,
    writer: &mut Writer<'_>,
) -> Result<(), Error> {
    let place = keyspace.locate(key);
    let there = keyspace.state(place, key);
    let before = there.as_ref().filter(|_| options.get).map(text);
    let stored = options.only_if.is_none_or(|wanted| wanted == there.is_some());
    if stored {
        let kept = there.filter(|_| options.keep_ttl).map_or(NEVER, |state| state.expires());
        let expires = match options.expiry {
            None => kept,
            Some(Expiry::In(ms)) => keyspace.now().saturating_add(ms.get()),
            Some(Expiry::At(ms)) => ms.get(),
        };
        if expires > keyspace.now() {
            keyspace.put(place, key, Value::Text { bytes: value.into(), expires })?;
        } else {
            keyspace.remove(place, key);
        }
    }
    match before {
        Some(before) => writer.bulk(&before),
        None if stored && !options.get => writer.ok(),
        None => writer.null(),
    }
    Ok(())
}

/// Gives the key the expiry that `change` makes of the one it has; whether there was such a key and a change.
fn set_expiry(keyspace: &mut Keyspace, key: Key<'_>, change: impl FnOnce(u64) -> Option<u64>) -> Result<bool, Error> {
    let place = keyspace.locate(key);
    let Some(state) = keyspace.state(place, key) else { return Ok(false) };
    let Some(expires) = change(state.expires()) else { return Ok(false) };
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
        State::Count(count) => joined(&[Number(count.units)]).into_bytes().into(),
        State::Log { .. } => Box::default(),
    }
}

/// A tat in ms with up to 9 digits after the point, rounded up.
fn decimal(tat: Tat) -> String {
    let tat = tat.rounded_up(1_000_000_000);
    if tat.remainder == 0 {
        return joined(&[Number(tat.ms)]);
    }
    // With a one in front, the zeros that a fraction starts with are digits too.
    let mut place = [0; 20];
    let fraction = digits(tat.remainder.saturating_add(1_000_000_000), &mut place).trim_end_matches('0');
    joined(&[Number(tat.ms), Text("."), Text(fraction.get(1..).unwrap_or_default())])
}
