//! What has expired makes room, and what is live stays.

use std::format;

use super::super::{Key, Keyspace, Space};
use super::{Random, expires, ordinary, put_log, put_tat, put_text, rule};
use crate::ErrorKind;

#[test]
fn a_live_record_is_never_evicted() {
    // F34: 5,000 other keys never evict a live key: only recovered keys may go.
    let mut keyspace = Keyspace::new([3, 4], 1_000);
    for number in 0..1_000 {
        put_tat(&mut keyspace, &format!("live {number}"), 1_000).unwrap();
    }
    for now in 0..1_000 {
        keyspace.advance(now);
        for number in 0..5 {
            let name = format!("other {now} {number}");
            assert_eq!(put_tat(&mut keyspace, &name, 2_000), Err(ErrorKind::OutOfMemory { max_keys: 1_000 }.into()));
            assert_eq!(expires(&keyspace, &name), None);
        }
    }
    for number in 0..1_000 {
        assert_eq!(expires(&keyspace, &format!("live {number}")), Some(1_000));
    }
    keyspace.advance(1_000);
    for number in 0..1_000 {
        put_tat(&mut keyspace, &format!("new {number}"), 2_000).unwrap();
    }
    assert!(put_tat(&mut keyspace, "one more", 2_000).is_err());
}

#[test]
fn there_is_room_exactly_while_fewer_than_max_keys_are_live() {
    for max_keys in [1, 2, 7, 100, 700] {
        let mut random = Random(max_keys as u64);
        let mut keyspace = Keyspace::new([4, 9], max_keys);
        let mut live = std::collections::BTreeMap::new();
        let mut now = 0;
        for step in 0..10_000_u64 {
            now += random.below(3);
            keyspace.advance(now);
            live.retain(|_, at| *at > now);
            let name = format!("{}", random.below(4 * max_keys as u64));
            let at = now + 1 + random.below(3 * max_keys as u64);
            let fits = live.contains_key(&name) || live.len() < max_keys;
            let more = random.index(5);
            if step % 7 == 0 {
                assert_eq!(keyspace.ensure_room(more).is_ok(), live.len() + more <= max_keys, "step {step}");
            }
            let put =
                if step % 3 == 0 { put_text(&mut keyspace, &name, 9, at) } else { put_tat(&mut keyspace, &name, at) };
            assert_eq!(put.is_ok(), fits, "step {step}");
            if fits {
                live.insert(name, at);
            }
            assert!(keyspace.len() <= max_keys);
        }
        for (name, at) in &live {
            assert_eq!(expires(&keyspace, name), Some(*at));
        }
        assert_eq!(keyspace.count(Space::ORDINARY), live.len());
    }
}

#[test]
fn more_room_than_there_can_ever_be_is_refused() {
    let mut keyspace = Keyspace::new([3, 4], 10);
    assert!(keyspace.ensure_room(10).is_ok());
    assert!(keyspace.ensure_room(11).is_err());
    assert!(keyspace.ensure_room(usize::MAX).is_err());
    assert!(Keyspace::new([3, 4], usize::MAX).ensure_room(usize::MAX).is_ok());
}

#[test]
fn what_had_recovered_stays_recovered_when_the_clock_steps_back() {
    let mut keyspace = Keyspace::new([3, 4], usize::MAX);
    for number in 0..2_000 {
        put_tat(&mut keyspace, &format!("{number}"), 1_000 + number).unwrap();
    }
    keyspace.advance(2_000);
    keyspace.advance(10);
    for number in 0..2_000 {
        let at = 1_000 + number;
        assert_eq!(expires(&keyspace, &format!("{number}")), (at > 2_000).then_some(at));
    }
    // And what is made after the step lives its own time.
    put_tat(&mut keyspace, "0", 500).unwrap();
    assert_eq!(expires(&keyspace, "0"), Some(500));
}

#[test]
fn log_entries_that_had_left_stay_away_when_the_clock_steps_back() {
    let mut keyspace = Keyspace::new([3, 4], usize::MAX);
    let key = ordinary("k");
    for now in [100, 900, 950] {
        keyspace.advance(now);
        put_log(&mut keyspace, key, &rule(10, 1_000), 1);
    }
    keyspace.advance(1_500);
    keyspace.advance(200);
    let Some(super::State::Log { log, .. }) = keyspace.state(keyspace.locate(key), key) else { panic!("no log") };
    assert!(log.entries().eq([(900, 1), (950, 1)]));
}

#[test]
fn records_of_keys_that_nobody_asks_for_go_as_others_are_made() {
    let mut keyspace = Keyspace::new([3, 4], usize::MAX);
    for number in 0..20_000 {
        put_tat(&mut keyspace, &format!("old {number}"), 1_000).unwrap();
    }
    keyspace.advance(1_000);
    for number in 0..20_000 {
        put_tat(&mut keyspace, &format!("new {number}"), 2_000).unwrap();
    }
    assert!(keyspace.len() < 21_000, "{}", keyspace.len());
}

#[test]
fn clearing_a_space_leaves_the_others() {
    let mut keyspace = Keyspace::new([3, 4], usize::MAX);
    for number in 0..9_000_u32 {
        let name = number.to_le_bytes();
        let key = Key { space: Space(number % 3), name: &name };
        keyspace.put_tat(keyspace.locate(key), key, crate::algorithm::Tat::at(100)).unwrap();
    }
    keyspace.clear(Space(1));
    assert_eq!([0, 1, 2].map(|space| keyspace.count(Space(space))), [3_000, 0, 3_000]);
    assert_eq!(keyspace.len(), 6_000);
}
