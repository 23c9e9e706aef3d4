//! Decisions of the core beside governor and ratelimit: one key, 10,000 and 1,000,000, all given the time where the peer
//! can be.
#![allow(missing_docs, reason = "criterion's macros make undocumented functions")]

use std::collections::HashMap;
use std::hint::black_box;
use std::num::NonZeroU32;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use governor::clock::FakeRelativeClock;
use governor::{Quota, RateLimiter};
use tidegate::limiter::{Algorithm, Settings};
use tidegate::{Engine, Options, Positive};
use tidegate_benches::{Walk, keys};

const NOW: u64 = 1_764_547_200_000;
const BURST: u32 = 1_000_000;
const SIZES: [usize; 3] = [1, 10_000, 1_000_000];

fn decisions(criterion: &mut Criterion) {
    for size in SIZES {
        let keys = keys(size);
        let mut group = criterion.benchmark_group(format!("{size} keys"));
        group.sample_size(20).measurement_time(Duration::from_secs(3)).warm_up_time(Duration::from_secs(1));

        let positive = |value| Positive::new(value).unwrap();
        let mut engine = Engine::new(&Options { seed: [1, 2], ..Options::default() });
        let mut walk = Walk::new(size);
        let mut tick = 0_u64;
        for key in &keys {
            engine.gcra_limit(NOW, key.as_bytes(), positive(60_000), positive(BURST.into()), Positive::ONE).unwrap();
        }
        group.bench_function(BenchmarkId::from_parameter("tidegate"), |bencher| {
            bencher.iter(|| {
                tick += 1;
                let key = keys[walk.step()].as_bytes();
                black_box(engine.gcra_limit(
                    NOW + tick / 1000,
                    black_box(key),
                    positive(60_000),
                    positive(BURST.into()),
                    Positive::ONE,
                ))
            });
        });
        drop(engine);

        let quota = Quota::with_period(Duration::from_micros(60)).unwrap().allow_burst(NonZeroU32::new(BURST).unwrap());
        let clock = FakeRelativeClock::default();
        let governor = RateLimiter::hashmap_with_clock(quota, clock.clone());
        let mut walk = Walk::new(size);
        for key in &keys {
            governor.check_key(key).unwrap();
        }
        group.bench_function(BenchmarkId::from_parameter("governor"), |bencher| {
            let mut tick = 0_u64;
            bencher.iter(|| {
                tick += 1;
                if tick.is_multiple_of(1000) {
                    clock.advance(Duration::from_millis(1));
                }
                black_box(governor.check_key(black_box(&keys[walk.step()])))
            });
        });
        drop(governor);

        let peers: HashMap<&str, ratelimit::Ratelimiter> = keys
            .iter()
            .map(|key| {
                let limiter = ratelimit::Ratelimiter::builder(16_666).max_tokens(BURST.into()).build().unwrap();
                (key.as_str(), limiter)
            })
            .collect();
        let mut walk = Walk::new(size);
        group.bench_function(BenchmarkId::from_parameter("ratelimit, a map of them"), |bencher| {
            bencher.iter(|| black_box(peers[keys[walk.step()].as_str()].try_wait()).is_ok());
        });
        group.finish();
    }
}

fn rules(criterion: &mut Criterion) {
    let keys = keys(10_000);
    let mut group = criterion.benchmark_group("10000 keys, by rule");
    group.sample_size(20).measurement_time(Duration::from_secs(2)).warm_up_time(Duration::from_secs(1));
    for algorithm in Algorithm::ALL {
        for limit in [10, 1_000, 1_000_000] {
            let mut engine = Engine::new(&Options { seed: [1, 2], ..Options::default() });
            let settings = Settings {
                algorithm,
                limit: Positive::new(limit).unwrap(),
                window: Positive::new(60_000).unwrap(),
                rate: None,
            };
            engine.rate_limit_create(NOW, b"api", settings).unwrap();
            let mut walk = Walk::new(keys.len());
            let mut tick = 0_u64;
            group.bench_function(BenchmarkId::new(algorithm.name(), limit), |bencher| {
                bencher.iter(|| {
                    tick += 1;
                    let key = keys[walk.step()].as_bytes();
                    black_box(engine.rate_limit_check(NOW + tick / 10, b"api", black_box(key), Positive::ONE))
                });
            });
        }
    }
    group.finish();
}

criterion_group!(benches, decisions, rules);
criterion_main!(benches);
