//! Scanning while the table changes.

use std::collections::BTreeMap;
use std::format;
use std::string::String;
use std::vec::Vec;

use super::super::{Key, Keyspace, Space, Value};
use super::put_tat;
use crate::algorithm::Tat;

#[test]
fn a_key_that_is_there_throughout_a_scan_is_seen_once_however_the_table_grows() {
    let mut keyspace = Keyspace::new([5, 6], usize::MAX);
    for number in 0..6_000 {
        put_tat(&mut keyspace, &format!("stays {number}"), 1_000).unwrap();
    }
    let mut seen: BTreeMap<String, u32> = BTreeMap::new();
    let (mut cursor, mut calls) = (0, 0);
    loop {
        cursor = keyspace.scan(cursor, 10, |name, _| {
            *seen.entry(String::from_utf8(name.to_vec()).unwrap()).or_default() += 1;
        });
        calls += 1;
        for number in 0..2_000 {
            put_tat(&mut keyspace, &format!("new {calls} {number}"), 1_000).unwrap();
        }
        if cursor == 0 {
            break;
        }
        assert!(cursor < 1 << 32);
    }
    for number in 0..6_000 {
        assert_eq!(seen.get(&format!("stays {number}")), Some(&1), "{number}");
    }
    assert!(calls > 8, "{calls}");
}

#[test]
fn a_scan_sees_as_many_as_asked_and_only_ordinary_live_keys() {
    let mut keyspace = Keyspace::new([5, 6], usize::MAX);
    for number in 0..10_000_u64 {
        put_tat(&mut keyspace, &format!("{number}"), 10 + number % 2).unwrap();
        let name = number.to_le_bytes();
        let key = Key { space: Space(1), name: &name };
        keyspace.put_tat(keyspace.locate(key), key, Tat::at(50)).unwrap();
    }
    keyspace.advance(10);
    let mut names = Vec::new();
    let next = keyspace.scan(0, 1_000, |name, _| names.push(name.to_vec()));
    assert!(next != 0 && (1_000..1_400).contains(&names.len()), "{}", names.len());
    let end = keyspace.scan(next, usize::MAX, |name, _| names.push(name.to_vec()));
    assert_eq!(end, 0);
    names.sort();
    names.dedup();
    assert_eq!(names.len(), 5_000);
}

#[test]
fn a_cursor_that_no_scan_gave_ends_or_goes_on() {
    let mut keyspace = Keyspace::new([5, 6], usize::MAX);
    assert_eq!(keyspace.scan(0, 10, |_, _| panic!("empty")), 0);
    for number in 0..5_000 {
        put_tat(&mut keyspace, &format!("{number}"), 10).unwrap();
    }
    assert_eq!(keyspace.scan(u64::MAX, 10, |_, _| ()), 0);
    assert_eq!(keyspace.scan(u64::from(u32::MAX), 1, |_, _| ()), 0);
    let cursor = keyspace.scan(0x1234_5678, 1, |_, _| ());
    assert!(cursor > 0x1234_5678);
}

#[test]
fn one_name_under_many_spaces_has_a_state_in_each() {
    let mut keyspace = Keyspace::new([5, 6], usize::MAX);
    let spaces = (0..5_000_u32).flat_map(|number| [Space(number), Space(number).reservations()]);
    let key = |space| Key { space, name: b"user:42" };
    for space in spaces.clone() {
        let tat = Tat::at(u64::from(space.0) + 1);
        let place = keyspace.locate(key(space));
        keyspace.put(place, key(space), Value::Tat { tat, expires: tat.ceil() }).unwrap();
    }
    assert_eq!(keyspace.len(), 10_000);
    for space in spaces {
        let state = keyspace.state(keyspace.locate(key(space)), key(space));
        assert_eq!(state.map(|state| state.expires()), Some(u64::from(space.0) + 1), "{space:?}");
    }
}
