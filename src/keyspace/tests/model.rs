//! Random calls against a map that does the plain thing.

use std::collections::BTreeMap;
use std::vec::Vec;
use std::{format, vec};

use super::super::{Change, Key, Keyspace, NEVER, Space, Value};
use super::{Plain, Random, colliding, put_log, rule};
use crate::algorithm::{Count, Log, Tat};

#[derive(Default)]
struct Model {
    records: BTreeMap<(u32, Vec<u8>), Plain>,
    now: u64,
}

fn expires(plain: &Plain) -> u64 {
    match plain {
        Plain::Tat(_, at) | Plain::Count(_, at) | Plain::Text(_, at) => *at,
        Plain::Log(entries, window) => entries.last().map_or(0, |(at, _)| at + window),
    }
}

impl Model {
    fn advance(&mut self, now: u64) {
        if now < self.now {
            let latest = self.now;
            self.records.retain(|_, plain| {
                if let Plain::Log(entries, window) = plain {
                    entries.retain(|(at, _)| at + *window > latest);
                }
                expires(plain) > latest
            });
        }
        self.now = now;
    }

    fn live(&self, key: &(u32, Vec<u8>)) -> Option<&Plain> {
        self.records.get(key).filter(|plain| expires(plain) > self.now)
    }

    /// What logging does, and the change that it is.
    fn log(&mut self, key: &(u32, Vec<u8>), units: u64, window: u64) -> Change {
        let now = self.now;
        let (space, name) = (Space(key.0), key.1.as_slice().into());
        let (mut entries, mut ordinary) = match self.live(key) {
            Some(Plain::Log(entries, was)) => (entries.clone(), *was == window),
            _ => (Vec::new(), false),
        };
        entries.retain(|(at, _)| at + window > now);
        if entries.last().is_some_and(|(at, _)| *at > now) {
            ordinary = false;
        }
        let later: u64 = entries.iter().filter(|(at, _)| *at >= now).map(|(_, units)| units).sum();
        entries.retain(|(at, _)| *at < now);
        entries.push((now, later + units));
        self.records.insert(key.clone(), Plain::Log(entries, window));
        if ordinary { Change::Logged(space, name, now) } else { Change::Put(space, name) }
    }
}

fn any_name(random: &mut Random) -> Vec<u8> {
    match random.below(20) {
        0 => Vec::new(),
        1 => vec![0; random.index(9)],
        2 => vec![b'x'; 4_000 + random.index(97)],
        3..6 => format!("{:04}", random.below(2_000)).into_bytes(),
        _ => format!("api:user:{}", random.below(3_000)).into_bytes(),
    }
}

fn any_value(random: &mut Random, now: u64) -> Value {
    let until = now + random.below(5_000);
    match random.below(8) {
        0 => Value::Tat { tat: Tat { ms: until, remainder: 5, denominator: 1 << 33 }, expires: until + 1 },
        1 => Value::Tat { tat: Tat { ms: until, remainder: 0, denominator: 7 }, expires: until + random.below(900) },
        2 => Value::Tat { tat: Tat { ms: until, remainder: random.below(3), denominator: 3 }, expires: NEVER },
        3 => Value::Count(Count { units: random.next(), ends: until }),
        4 => Value::Text { bytes: vec![1; random.index(99)].into(), expires: until },
        5 => Value::Text { bytes: vec![2; 3].into(), expires: NEVER },
        6 => {
            let mut log = Log::new();
            log.push(now.saturating_sub(random.below(50)), 1 + random.below(3));
            log.push(now, 2);
            Value::Log { log: log.into(), window: 1 + random.below(5_000) }
        }
        _ => {
            let remainder = random.below(10);
            let tat = Tat { ms: until, remainder, denominator: 10 };
            Value::Tat { tat, expires: until + u64::from(remainder > 0) }
        }
    }
}

fn plain(value: &Value) -> Plain {
    match value {
        Value::Tat { tat, expires } => Plain::Tat(*tat, *expires),
        Value::Count(count) => Plain::Count(count.units, count.ends),
        Value::Log { log, window } => Plain::Log(log.entries().collect(), *window),
        Value::Text { bytes, expires } => Plain::Text(bytes.to_vec(), *expires),
    }
}

fn all(keyspace: &Keyspace) -> BTreeMap<(u32, Vec<u8>), Plain> {
    let mut all = BTreeMap::new();
    keyspace.for_each(|key, state| {
        let before = all.insert((key.space.0, key.name.to_vec()), Plain::from(state));
        assert!(before.is_none(), "seen twice");
    });
    all
}

fn same_as_model(keyspace: &Keyspace, model: &Model) {
    let live = model.records.iter().filter(|(_, plain)| expires(plain) > model.now);
    let live: BTreeMap<_, _> = live.map(|(key, plain)| (key.clone(), plain.clone())).collect();
    assert!(all(keyspace) == live);
    assert!(keyspace.len() >= live.len());
    for space in 0..4 {
        assert_eq!(keyspace.count(Space(space)), live.keys().filter(|key| key.0 == space).count());
    }
    let mut scanned = Vec::new();
    let mut cursor = 0;
    loop {
        cursor = keyspace.scan(cursor, 10, |name, _| scanned.push(name.to_vec()));
        if cursor == 0 {
            break;
        }
    }
    scanned.sort();
    let ordinary: Vec<_> = live.keys().filter(|key| key.0 == 0).map(|key| key.1.clone()).collect();
    assert!(scanned == ordinary);
}

/// Updates the tat of `key`, if it holds one that is stored in the short way; whether it did.
fn updated(keyspace: &mut Keyspace, key: Key<'_>, owned: &(u32, Vec<u8>), model: &Model, next: Tat) -> bool {
    let mut seen = None;
    let updated = keyspace.update_tat(key, |tat| {
        seen = Some(tat);
        ("answer", Some(next))
    });
    match (seen, model.live(owned)) {
        (Some(seen), Some(Plain::Tat(tat, expires))) => assert!(seen == *tat && seen.ceil() == *expires),
        (Some(seen), None) => assert!(seen.ceil() <= model.now, "what has recovered may be seen"),
        (None, Some(Plain::Tat(tat, expires))) => assert!(tat.ceil() != *expires || tat.denominator >> 32 > 0),
        (None, _) => {}
        (seen, other) => panic!("{seen:?} instead of {other:?}"),
    }
    assert_eq!(updated, (seen.is_some() && next.denominator == 9).then_some("answer"));
    updated.is_some()
}

fn run(seed: u64, mask: u64, steps: usize) {
    let mut random = Random(seed);
    let mut keyspace = colliding(seed, mask, usize::MAX);
    keyspace.keep_journal();
    let mut model = Model::default();
    let mut now = 1_000_000_u64;
    for step in 0..steps {
        now = match random.below(400) {
            0 => now - random.below(9_000).min(now),
            1 => now + random.below(9_000),
            2..6 => now - 1,
            6..200 => now,
            _ => now + random.below(4),
        };
        if now < model.now {
            assert_eq!(keyspace.take_journal(), []);
            keyspace.advance(now);
            assert_eq!(keyspace.take_journal(), [Change::Expired(model.now)]);
        } else {
            keyspace.advance(now);
        }
        model.advance(now);
        let owned = ([0, 1, 2, 3][random.index(4)], any_name(&mut random));
        let key = Key { space: Space(owned.0), name: &owned.1 };
        let name = || -> std::boxed::Box<[u8]> { key.name.into() };
        let place = keyspace.locate(key);
        if random.below(8) == 0 {
            // A place that other changes have made stale is as good.
            let other = any_name(&mut random);
            let other_key = Key { space: Space(1), name: &other };
            let other_place = keyspace.locate(other_key);
            if other != owned.1 || owned.0 != 1 {
                let value = any_value(&mut random, now);
                model.records.insert((1, other.clone()), plain(&value));
                keyspace.put(other_place, other_key, value).unwrap();
                keyspace.take_journal();
            }
        }
        let found = keyspace.state(place, key).map(Plain::from);
        assert!(found.as_ref() == model.live(&owned), "step {step}: {found:?}");
        let expected = match random.below(100) {
            0..15 => {
                let live = model.live(&owned).is_some();
                model.records.remove(&owned);
                assert_eq!(keyspace.remove(place, key), live);
                if live { vec![Change::Removed(key.space, name())] } else { vec![] }
            }
            15..35 => {
                let denominator = if random.below(8) == 0 { 1 << 40 } else { 9 };
                let tat = Tat { ms: now + random.below(4_000), remainder: random.below(9), denominator };
                let stored = random.below(2) == 0 && updated(&mut keyspace, key, &owned, &model, tat);
                if !stored {
                    keyspace.put_tat(place, key, tat).unwrap();
                }
                model.records.insert(owned.clone(), Plain::Tat(tat, tat.ms + u64::from(tat.remainder > 0)));
                vec![Change::Put(key.space, name())]
            }
            35..60 => {
                let (units, window) = (1 + random.below(3), [1_000, 1_000, 1_000, 5_000][random.index(4)]);
                put_log(&mut keyspace, key, &rule(100, window), units);
                vec![model.log(&owned, units, window)]
            }
            60..65 => {
                let value = any_value(&mut random, now);
                model.records.insert(owned.clone(), plain(&value));
                keyspace.restore(key, value).unwrap();
                vec![]
            }
            65..90 => {
                let value = any_value(&mut random, now);
                model.records.insert(owned.clone(), plain(&value));
                keyspace.put(place, key, value).unwrap();
                vec![Change::Put(key.space, name())]
            }
            90 if random.below(60) == 0 => {
                model.records.retain(|(space, _), _| *space != owned.0);
                keyspace.clear(key.space);
                vec![Change::Cleared(key.space)]
            }
            _ => vec![],
        };
        assert_eq!(keyspace.take_journal(), expected, "step {step}");
        let found = keyspace.state(keyspace.locate(key), key).map(Plain::from);
        assert!(found.as_ref() == model.live(&owned), "step {step}: {found:?}");
        if step % 4_000 == 3_999 {
            same_as_model(&keyspace, &model);
        }
    }
    same_as_model(&keyspace, &model);
}

#[test]
fn random_calls_do_what_a_plain_map_does() {
    for seed in 0..4 {
        run(seed, u64::MAX, 20_000);
    }
}

#[test]
fn keys_whose_hashes_collide_are_told_apart() {
    // Nothing left in the slots, all of it there, home positions only, eight homes, one home.
    for slot_bits in [0, 0x1_ffff, 0x1ff, 7, 0x1_0000] {
        let mask = 0xff << 56 | slot_bits;
        run(7, mask, 8_000);
    }
}

#[test]
fn keys_whose_hashes_are_all_the_same_are_told_apart_or_refused() {
    let mut keyspace = colliding(1, 0, usize::MAX);
    let mut kept = Vec::new();
    for number in 0..2_000_u64 {
        let name = format!("key {number}");
        let refused = super::put_tat(&mut keyspace, &name, 10 + number).is_err();
        assert_eq!(super::expires(&keyspace, &name), if refused { None } else { Some(10 + number) });
        if !refused {
            kept.push((name, 10 + number));
        }
    }
    assert!(kept.len() >= 300, "{}", kept.len());
    for (name, at) in kept {
        assert_eq!(super::expires(&keyspace, &name), Some(at));
    }
}
