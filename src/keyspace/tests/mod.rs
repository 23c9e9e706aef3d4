//! Promises of the keyspace.
//!
//! - `model`: random calls against a map that does the plain thing;
//! - `reclaim`: what has expired makes room, and what is live stays;
//! - `walk`: scanning while the table changes;
//! - `speed`: work and memory that must not grow.

mod model;
mod reclaim;
mod speed;
mod walk;

use std::boxed::Box;
use std::vec::Vec;

use super::{Key, Keyspace, Space, State, Value};
use crate::Positive;
use crate::algorithm::{Log, SlidingWindow, Tat};

/// A small random generator (splitmix64): the tests must run the same everywhere.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    fn index(&mut self, bound: usize) -> usize {
        usize::try_from(self.below(bound as u64)).unwrap()
    }
}

/// A keyspace whose hashes keep only the bits of `mask`, so that keys collide.
fn colliding(seed: u64, mask: u64, max_keys: usize) -> Keyspace {
    let mut keyspace = Keyspace::new([seed, !seed], max_keys);
    keyspace.table.hasher.mask = mask;
    keyspace
}

fn ordinary(name: &str) -> Key<'_> {
    Key::ordinary(name.as_bytes())
}

fn put_tat(keyspace: &mut Keyspace, name: &str, expires: u64) -> Result<(), crate::Error> {
    let place = keyspace.locate(ordinary(name));
    keyspace.put_tat(place, ordinary(name), Tat::at(expires))
}

fn put_text(keyspace: &mut Keyspace, name: &str, bytes: usize, expires: u64) -> Result<(), crate::Error> {
    let place = keyspace.locate(ordinary(name));
    keyspace.put(place, ordinary(name), Value::Text { bytes: std::vec![7; bytes].into(), expires })
}

fn expires(keyspace: &Keyspace, name: &str) -> Option<u64> {
    let key = ordinary(name);
    keyspace.state(keyspace.locate(key), key).map(|state| state.expires())
}

/// Logs `units` now, in a new log where the key has none.
fn put_log(keyspace: &mut Keyspace, key: Key<'_>, rule: &SlidingWindow, units: u64) {
    let (place, now, units) = (keyspace.locate(key), keyspace.now(), Positive::new(units).unwrap());
    if !keyspace.append(place, key, rule, now, units) {
        let mut log = Log::new();
        rule.admit(&mut log, now, units);
        keyspace.put(place, key, Value::Log { log: Box::new(log), window: rule.window() }).unwrap();
    }
}

fn rule(limit: u64, window: u64) -> SlidingWindow {
    SlidingWindow::new(Positive::new(limit).unwrap(), Positive::new(window).unwrap())
}

/// A state as plain values.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Plain {
    Tat(Tat, u64),
    Count(u64, u64),
    Log(Vec<(u64, u64)>, u64),
    Text(Vec<u8>, u64),
}

impl From<State<'_>> for Plain {
    fn from(state: State<'_>) -> Self {
        match state {
            State::Tat { tat, expires } => Self::Tat(tat, expires),
            State::Count(count) => Self::Count(count.units, count.ends),
            State::Log { log, window } => Self::Log(log.entries().collect(), window),
            State::Text { bytes, expires } => Self::Text(bytes.to_vec(), expires),
        }
    }
}

#[test]
fn one_name_in_two_spaces_is_two_records() {
    let mut keyspace = Keyspace::new([1, 2], usize::MAX);
    for space in [0, 1, 2, u32::MAX] {
        let key = Key { space: Space(space), name: b"acme" };
        let place = keyspace.locate(key);
        assert!(keyspace.state(place, key).is_none());
        keyspace.put_tat(place, key, Tat::at(100 + u64::from(space))).unwrap();
    }
    for space in [0, 1, 2, u32::MAX] {
        let key = Key { space: Space(space), name: b"acme" };
        assert_eq!(keyspace.state(keyspace.locate(key), key).unwrap().expires(), 100 + u64::from(space));
        assert_eq!(keyspace.count(Space(space)), 1);
    }
}

#[test]
fn a_name_that_no_record_can_have_is_refused_and_changes_nothing() {
    let mut keyspace = Keyspace::new([1, 2], usize::MAX);
    keyspace.keep_journal();
    for bytes in [20_000, 65_536, 65_540] {
        let name = std::vec![b'n'; bytes];
        let key = Key::ordinary(&name);
        let place = keyspace.locate(key);
        assert!(keyspace.put_tat(place, key, Tat::at(9)).is_err());
        assert!(keyspace.state(place, key).is_none());
    }
    assert!(keyspace.is_empty());
    assert!(keyspace.take_journal().is_empty());
}
