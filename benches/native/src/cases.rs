//! The cases: an engine that is ready, and one decision of it.

use std::hint::black_box;

use tidegate::limiter::{Algorithm, Settings};
use tidegate::policy::{Admission, Job};
use tidegate::{Engine, Options, Positive, Session};

use crate::{Walk, keys};

/// When every case starts.
pub const NOW: u64 = 1_764_547_200_000;

/// The hash's seed: the same in every run, so that a count is the same too.
const SEED: [u64; 2] = [1, 2];

/// One decision at a time, on a key and for a cost: whether it admits.
pub type Decide = Box<dyn FnMut(u64, &[u8], Positive) -> bool>;

/// What is decided, and on what.
#[derive(Clone, Debug)]
pub struct Case {
    /// `gcra`, `policy`, `resp`, or the name of a limiter's algorithm with `limiter:` before it.
    pub decider: String,
    /// Different keys, visited uniformly.
    pub keys: usize,
    /// Units per window.
    pub limit: u64,
    /// Milliseconds.
    pub window: u64,
    /// Rules of a policy.
    pub rules: u64,
    /// Commands in one feed of `resp`.
    pub pipeline: u64,
    /// Microseconds from one decision to the next.
    pub every: u64,
    /// Decisions before anything is counted, beside one on each key.
    pub warm: u64,
    /// Units that a decision before the count spends.
    pub warm_cost: u64,
}

impl Case {
    /// Reads `DECIDER NAME=VALUE …`; the names are those of the fields.
    ///
    /// # Errors
    /// What is wrong, for a person.
    pub fn parse(words: &[String]) -> Result<Self, String> {
        let (decider, settings) = words.split_first().ok_or("name what decides: gcra, policy, resp or limiter:…")?;
        let mut case = Self {
            decider: decider.clone(),
            keys: 2_000,
            limit: 1_000_000,
            window: 60_000,
            rules: 4,
            pipeline: 16,
            every: 1,
            warm: 0,
            warm_cost: 1,
        };
        for setting in settings {
            let (name, value) = setting.split_once('=').ok_or(format!("{setting}: say NAME=VALUE"))?;
            let value: u64 = value.parse().map_err(|_| format!("{setting}: the value is a whole number"))?;
            match name {
                "keys" => case.keys = usize::try_from(value).map_err(|_| format!("{setting}: too many"))?,
                "limit" => case.limit = value,
                "window" => case.window = value,
                "rules" => case.rules = value,
                "pipeline" => case.pipeline = value,
                "every" => case.every = value,
                "warm" => case.warm = value,
                "warm_cost" => case.warm_cost = value,
                _ => return Err(format!("{setting}: there is no such setting")),
            }
        }
        Ok(case)
    }

    /// Makes the case ready, then makes `count` decisions; how many were admitted.
    ///
    /// # Panics
    /// As [`Case::ready`].
    #[must_use]
    pub fn run(&self, count: u64) -> u64 {
        let keys = keys(self.keys);
        let mut walk = Walk::new(keys.len());
        if self.decider == "resp" {
            return self.feed(&keys, &mut walk, count);
        }
        let mut decide = self.ready(&keys);
        let mut decisions = |ticks: std::ops::Range<u64>, cost: Positive| {
            let mut admitted = 0;
            for tick in ticks {
                let key = keys[walk.step()].as_bytes();
                admitted += u64::from(decide(NOW + tick * self.every / 1_000, key, cost));
            }
            admitted
        };
        let _ = decisions(0..self.warm, positive(self.warm_cost));
        decisions(self.warm..self.warm + count, Positive::ONE)
    }

    /// An engine that knows every key, and one decision of it.
    ///
    /// # Panics
    /// When nothing decides by that name, or a setting is not a positive integer.
    #[must_use]
    pub fn ready(&self, keys: &[String]) -> Decide {
        let mut engine = Engine::new(&Options { seed: SEED, ..Options::default() });
        let mut decide: Decide = match self.decider.as_str() {
            "gcra" => self.gcra(engine),
            "policy" => self.policy(engine),
            limiter => {
                let algorithm = limiter.strip_prefix("limiter:").and_then(|name| Algorithm::named(name.as_bytes()));
                let algorithm = algorithm.unwrap_or_else(|| panic!("{limiter}: nothing decides by that name"));
                let settings =
                    Settings { algorithm, limit: positive(self.limit), window: positive(self.window), rate: None };
                engine.rate_limit_create(NOW, b"api", settings).expect("a new limiter");
                Box::new(move |now, key, cost| {
                    engine.rate_limit_check(now, b"api", black_box(key), cost).expect("an answer").allowed
                })
            }
        };
        for key in keys {
            decide(NOW, key.as_bytes(), Positive::ONE);
        }
        decide
    }

    fn gcra(&self, mut engine: Engine) -> Decide {
        let (period, burst) = (positive(self.window), positive(self.limit));
        Box::new(move |now, key, cost| {
            !engine.gcra_limit(now, black_box(key), period, burst, cost).expect("an answer").denied
        })
    }

    /// Rules of one dimension, each of a longer interval, so that all of them decide on a state of the job's own.
    fn policy(&self, mut engine: Engine) -> Decide {
        let rules: Vec<String> = (1..=self.rules)
            .map(|rule| {
                let (limit, interval) = (self.limit, self.window * rule);
                format!(
                    r#"{{ "name": "r{rule}", "scope": "user", "limit": {limit}, "interval": {interval}, "burst": {limit} }}"#
                )
            })
            .collect();
        let json = format!("[{}]", rules.join(","));
        let fingerprint = engine.policy_define(NOW, b"jobs", json.as_bytes()).expect("a policy");
        Box::new(move |now, key, cost| {
            let scope: [(&[u8], &[u8]); 1] = [(b"user", black_box(key))];
            let job = Job { cost, scope: &scope, lease: None, wait: false, reserve: None };
            let answer = engine.policy_admit(now, b"jobs", fingerprint.as_bytes(), &job).expect("an answer");
            answer == Admission::Admitted
        })
    }

    /// `GCRA.LIMIT` as bytes through a session, a pipeline of commands a feed; `count` commands in all.
    fn feed(&self, keys: &[String], walk: &mut Walk, count: u64) -> u64 {
        let mut engine = Engine::new(&Options { seed: SEED, ..Options::default() });
        let mut session = Session::new(1);
        let mut replies = Vec::with_capacity(1 << 16);
        let (period, burst) = (self.window.to_string(), self.limit.to_string());
        let command = |key: &str| {
            let words = ["GCRA.LIMIT", key, &period, &burst];
            let words = words.map(|word| format!("${}\r\n{word}\r\n", word.len()));
            format!("*4\r\n{}", words.concat()).into_bytes()
        };
        for key in keys {
            session.feed(&mut engine, NOW, &command(key), &mut replies);
            replies.clear();
        }
        let pieces: Vec<Vec<u8>> =
            (0..64).map(|_| (0..self.pipeline).flat_map(|_| command(&keys[walk.step()])).collect()).collect();
        let mut admitted = 0;
        for (feed, piece) in (0..count / self.pipeline).zip(pieces.iter().cycle()) {
            replies.clear();
            session.feed(&mut engine, NOW + feed * self.pipeline * self.every / 1_000, black_box(piece), &mut replies);
            admitted += u64::from(black_box(&replies).starts_with(b"*5\r\n:0\r\n")) * self.pipeline;
        }
        admitted
    }
}

fn positive(value: u64) -> Positive {
    Positive::new(value).expect("a positive integer")
}
