//! The commands of ordinary keys: text with a time to live, of which a rate limit's state is one kind.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

use super::execute::signed;
use super::glob;
use super::parse::{Command, SetOptions, Unit};
use super::resp::Reply;
use crate::algorithm::Tat;
use crate::keyspace::{Key, Keyspace, NEVER, Space, State, Value};
use crate::{Engine, Error};

pub(super) fn run(engine: &mut Engine, now: u64, command: &Command<'_>) -> Result<Reply, Error> {
    let keyspace = engine.keyspace();
    keyspace.advance(now);
    Ok(match *command {
        Command::Set { key, value, options } => set(keyspace, now, Key::ordinary(key), value, options)?,
        Command::Get { key } => state(keyspace, key).map_or(Reply::Null, |state| Reply::Bulk(text(&state))),
        Command::Delete { keys } => Reply::count(keys.iter().filter(|key| engine.delete(now, key)).count()),
        Command::Exists { keys } => Reply::count(keys.iter().filter(|key| state(keyspace, key).is_some()).count()),
        Command::Type { key } => Reply::Status(if state(keyspace, key).is_some() { "string" } else { "none" }),
        Command::TimeToLive { key, unit } => Reply::Integer(match state(keyspace, key).map(|state| state.expires()) {
            None => -2,
            Some(NEVER) => -1,
            Some(expires) => {
                let ms = expires.saturating_sub(now);
                signed(if unit == Unit::Seconds { ms.div_ceil(1000) } else { ms })
            }
        }),
        Command::Expire { key, ms } => {
            let expires = now.saturating_add_signed(ms);
            Reply::Integer(i64::from(set_expiry(keyspace, now, Key::ordinary(key), |_| Some(expires))?))
        }
        Command::Persist { key } => {
            let persist = |expires| (expires != NEVER).then_some(NEVER);
            Reply::Integer(i64::from(set_expiry(keyspace, now, Key::ordinary(key), persist)?))
        }
        Command::Keys { pattern } => {
            let mut found = Vec::new();
            keyspace.for_each(|key, _| {
                if key.space == Space::ORDINARY && glob::matches(pattern, key.name) {
                    found.push(Reply::Bulk(key.name.into()));
                }
            });
            Reply::Array(found)
        }
        Command::Scan { cursor, pattern, count } => {
            let mut found = Vec::new();
            let next = keyspace.scan(cursor, count, |name, _| {
                if pattern.is_none_or(|pattern| glob::matches(pattern, name)) {
                    found.push(Reply::Bulk(name.into()));
                }
            });
            Reply::Array(vec![Reply::text(&next.to_string()), Reply::Array(found)])
        }
        Command::DbSize => Reply::count(keyspace.count(Space::ORDINARY)),
        Command::FlushAll => {
            keyspace.clear(Space::ORDINARY);
            Reply::Status("OK")
        }
        _ => return Err(Error::Syntax),
    })
}

fn state<'a>(keyspace: &'a Keyspace, key: &[u8]) -> Option<State<'a>> {
    let key = Key::ordinary(key);
    keyspace.state(keyspace.locate(key), key)
}

fn set(keyspace: &mut Keyspace, now: u64, key: Key<'_>, value: &[u8], options: SetOptions) -> Result<Reply, Error> {
    let place = keyspace.locate(key);
    let there = keyspace.state(place, key);
    let before = there.as_ref().filter(|_| options.get).map_or(Reply::Null, |state| Reply::Bulk(text(state)));
    let stored = options.only_if.is_none_or(|wanted| wanted == there.is_some());
    if stored {
        let kept = there.filter(|_| options.keep_ttl).map_or(NEVER, |state| state.expires());
        let expires = options.ms.map_or(kept, |ms| now.saturating_add(ms.get()));
        keyspace.put(place, key, Value::Text { bytes: value.into(), expires })?;
    }
    Ok(match (options.get, stored) {
        (true, _) => before,
        (false, true) => Reply::Status("OK"),
        (false, false) => Reply::Null,
    })
}

/// Gives the key the expiry that `change` makes of the one it has; whether there was such a key and a change.
fn set_expiry(
    keyspace: &mut Keyspace,
    now: u64,
    key: Key<'_>,
    change: impl FnOnce(u64) -> Option<u64>,
) -> Result<bool, Error> {
    let place = keyspace.locate(key);
    let Some(state) = keyspace.state(place, key) else { return Ok(false) };
    let Some(expires) = change(state.expires()) else { return Ok(false) };
    if expires <= now {
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

/// What `GET` shows of a state.
fn text(state: &State<'_>) -> Box<[u8]> {
    match state {
        State::Text { bytes, .. } => (*bytes).into(),
        State::Tat { tat, .. } => decimal(*tat).into_bytes().into(),
        State::Count(count) => count.units.to_string().into_bytes().into(),
        State::Log { .. } => Box::default(),
    }
}

/// A tat in ms with up to 9 digits after the point, rounded up.
fn decimal(tat: Tat) -> String {
    let tat = tat.rounded_up(1_000_000_000);
    if tat.remainder == 0 {
        return tat.ms.to_string();
    }
    let digits = format!("{}.{:09}", tat.ms, tat.remainder);
    String::from(digits.trim_end_matches('0'))
}
