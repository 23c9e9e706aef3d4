//! Work and memory that must not grow.

use std::format;
use std::time::Instant;

use super::super::Keyspace;
use super::{Random, expires, put_tat, put_text};

/// What the table holds on to, in bytes.
fn footprint(keyspace: &Keyspace) -> usize {
    keyspace.table.footprint()
}

#[test]
fn memory_stays_when_recovered_keys_give_way_to_others() {
    let mut keyspace = Keyspace::new([5, 6], usize::MAX);
    let mut highest = 0;
    for round in 0..12_u64 {
        let now = round * 1_000;
        keyspace.advance(now);
        for number in 0..30_000 {
            put_tat(&mut keyspace, &format!("round {round:04} number {number:06}"), now + 1_000).unwrap();
        }
        if round == 1 {
            highest = footprint(&keyspace);
        }
        assert!(round < 2 || footprint(&keyspace) <= highest + highest / 8, "round {round}");
    }
}

#[test]
fn bodies_of_recovered_keys_are_freed() {
    let mut keyspace = Keyspace::new([5, 6], usize::MAX);
    for number in 0..3_000 {
        put_text(&mut keyspace, &format!("old {number}"), 5_000, 1_000).unwrap();
    }
    assert!(footprint(&keyspace) > 15_000_000);
    keyspace.advance(1_000);
    for number in 0..3_000 {
        put_text(&mut keyspace, &format!("new {number}"), 10, 2_000).unwrap();
    }
    assert!(footprint(&keyspace) < 1_000_000, "{}", footprint(&keyspace));
}

#[test]
fn a_keyspace_with_one_key_is_small() {
    let mut keyspace = Keyspace::new([5, 6], usize::MAX);
    put_tat(&mut keyspace, "api:user:42", 1_000).unwrap();
    assert!(footprint(&keyspace) < 2_048, "{}", footprint(&keyspace));
}

#[test]
fn a_key_of_20_bytes_takes_at_most_64() {
    for keys in [100_000_usize, 150_000, 200_000] {
        let mut keyspace = Keyspace::new([5, 6], usize::MAX);
        for number in 0..keys {
            put_tat(&mut keyspace, &format!("api:user:{number:011}"), 1_000).unwrap();
        }
        let each = footprint(&keyspace) / keys;
        assert!(each <= 62, "{each} at {keys}");
    }
}

#[test]
fn a_key_made_and_removed_over_and_over_takes_no_more_memory() {
    let mut keyspace = Keyspace::new([5, 6], usize::MAX);
    for number in 0..3 {
        put_tat(&mut keyspace, &format!("stays {number}"), 1_000).unwrap();
    }
    for round in 0..20_000 {
        let name = format!("{}", round % 7);
        if round % 2 == 0 {
            put_text(&mut keyspace, &name, 10, 1_000).unwrap();
        } else {
            put_tat(&mut keyspace, &name, 1_000).unwrap();
        }
        let key = super::ordinary(&name);
        assert!(keyspace.remove(keyspace.locate(key), key));
    }
    assert!(footprint(&keyspace) < 2_048, "{}", footprint(&keyspace));
    assert_eq!(keyspace.len(), 3);
}

#[test]
fn a_flood_of_new_keys_against_a_full_table_costs_no_sweep_each() {
    let max_keys = 50_000;
    let mut keyspace = Keyspace::new([5, 6], max_keys);
    for number in 0..max_keys {
        put_tat(&mut keyspace, &format!("{number}"), 1_000_000).unwrap();
    }
    let started = Instant::now();
    let flood = if cfg!(debug_assertions) { 20_000 } else { 1_000_000 };
    for number in 0..flood {
        keyspace.advance(number);
        assert!(put_tat(&mut keyspace, &format!("new {number}"), 2_000_000).is_err());
    }
    // A sweep each would take minutes.
    assert!(started.elapsed().as_secs() < 10, "{:?}", started.elapsed());
}

#[test]
fn millions_of_random_calls_take_seconds() {
    let mut keyspace = Keyspace::new([5, 6], usize::MAX);
    let mut random = Random(1);
    let started = Instant::now();
    let calls = if cfg!(debug_assertions) { 200_000 } else { 5_000_000 };
    let mut hits = 0;
    for now in 0..calls {
        keyspace.advance(now);
        let name = format!("{}", random.below(400_000));
        hits += u64::from(expires(&keyspace, &name).is_some());
        if random.below(8) == 0 {
            let key = super::ordinary(&name);
            keyspace.remove(keyspace.locate(key), key);
        } else {
            put_tat(&mut keyspace, &name, now + random.below(500_000)).unwrap();
        }
    }
    assert!(hits > 0 && started.elapsed().as_secs() < 30, "{:?}", started.elapsed());
}
