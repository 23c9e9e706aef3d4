//! A job that comes back when it was told to is admitted then, whatever happened to the clock or to the policy before.
#![allow(missing_docs, reason = "a test")]

use proptest::prelude::*;
use tidegate::policy::{Admission, Job};
use tidegate::{Engine, Options, Positive};

const NOW: u64 = 1_764_547_200_000;

fn positive(value: u64) -> Positive {
    Positive::new(value).expect("an integer in range")
}

/// One namespace and the policy in force there.
struct Namespace {
    engine: Engine,
    fingerprint: String,
}

impl Namespace {
    fn new(policy: &str) -> Self {
        let mut namespace = Self { engine: Engine::new(&Options::default()), fingerprint: String::new() };
        namespace.define(NOW, policy);
        namespace
    }

    fn define(&mut self, now: u64, policy: &str) {
        let fingerprint = self.engine.policy_define(now, b"ns", policy.as_bytes()).expect("a policy");
        self.fingerprint = fingerprint.to_string();
    }

    /// Puts another policy in force, as an operator does; what was spent stays spent.
    fn change(&mut self, now: u64, policy: &str) {
        self.engine.policy_forget(now, b"ns").expect("a policy to forget");
        self.define(now, policy);
    }

    fn ask(&mut self, now: u64, cost: u64, lease: Option<&[u8]>) -> Admission {
        let job = Job { cost: positive(cost), scope: &[], lease, wait: true, reserve: None };
        self.engine.policy_admit(now, b"ns", self.fingerprint.as_bytes(), &job).expect("an answer")
    }

    /// How long a job that will wait is told to; 0 when it was admitted.
    fn wait(&mut self, now: u64, cost: u64, lease: Option<&[u8]>) -> u64 {
        match self.ask(now, cost, lease) {
            Admission::Admitted | Admission::Reserved { .. } => 0,
            Admission::Refused { retry_after, .. } => retry_after,
        }
    }
}

#[test]
fn after_a_step_back_a_fraction_of_a_millisecond_too_far_ahead_delays_nobody() {
    // Full recovery takes 1333 1/3 ms; three units take a second.
    let mut namespace = Namespace::new(r#"{"limit":3,"interval":"1s","burst":4}"#);
    assert_eq!(namespace.wait(NOW, 3, None), 0);
    // The state is 1334 ms ahead now.
    let back = NOW - 334;
    assert_eq!(namespace.wait(back, 3, None), 1000);
    assert_eq!(namespace.wait(back + 1000, 3, None), 0);
}

#[test]
fn a_rule_that_became_another_kind_of_rule_delays_nobody_for_longer_than_its_own_recovery() {
    let daily = r#"{"limit":100,"interval":"24h","algorithm":"fixed-window","name":"r"}"#;
    let rolling = r#"{"limit":100,"interval":"24h","algorithm":"sliding-window","name":"r"}"#;
    let spread = r#"{"limit":100,"interval":"24h","burst":100,"name":"r"}"#;
    let paced = r#"{"limit":10,"interval":"1s","burst":5,"name":"r"}"#;
    let by_second = r#"{"limit":10,"interval":"1s","algorithm":"fixed-window","name":"r"}"#;
    let any_second = r#"{"limit":10,"interval":"1s","algorithm":"sliding-window","name":"r"}"#;
    for (before, after, wait) in [
        (daily, paced, 100),
        (rolling, paced, 100),
        (spread, paced, 100),
        (daily, by_second, 1000),
        (rolling, by_second, 1000),
        (spread, by_second, 1000),
        (daily, any_second, 1000),
        (rolling, any_second, 1000),
        (spread, any_second, 1000),
    ] {
        let mut namespace = Namespace::new(before);
        assert_eq!(namespace.wait(NOW, 100, None), 0);
        namespace.change(NOW, after);
        assert_eq!(namespace.wait(NOW, 1, None), wait, "{before} {after}");
        assert_ne!(namespace.wait(NOW + wait - 1, 1, None), 0, "{before} {after}");
        assert_eq!(namespace.wait(NOW + wait, 1, None), 0, "{before} {after}");
    }
}

#[test]
fn a_lease_that_ran_out_stays_free_when_the_clock_steps_back() {
    let mut namespace =
        Namespace::new(r#"{"rate":{"limit":1000,"interval":1,"burst":1000},"concurrency":{"limit":1,"lease":"10s"}}"#);
    assert_eq!(namespace.wait(NOW, 1, Some(b"one")), 0);
    // Nobody looks at the lease while it runs out.
    assert!(!namespace.engine.delete(NOW + 20_000, b"another key"));
    assert_eq!(namespace.engine.policy_renew(NOW + 5_000, b"ns", &[b"one"]), Ok(0));
    assert_eq!(namespace.wait(NOW + 5_000, 1, Some(b"two")), 0);
}

#[test]
fn a_lease_taken_before_a_step_back_is_waited_for_no_longer_than_a_lease() {
    let mut namespace =
        Namespace::new(r#"{"rate":{"limit":1000,"interval":1,"burst":1000},"concurrency":{"limit":2,"lease":"10s"}}"#);
    assert_eq!(namespace.wait(NOW, 1, Some(b"early")), 0);
    assert_eq!(namespace.wait(NOW + 9_000, 1, Some(b"late")), 0);
    let back = NOW + 1_000;
    assert_eq!(namespace.engine.policy_show(back, b"ns").expect("a policy").leases, 2);
    assert_eq!(namespace.engine.policy_renew(NOW + 10_000, b"ns", &[b"early"]), Ok(0));
    assert_eq!(namespace.engine.policy_renew(back + 10_000, b"ns", &[b"late"]), Ok(0), "it counts as taken at {back}");
}

#[test]
fn with_fewer_leases_than_before_as_many_are_waited_for_as_must_run_out() {
    let rate = r#"{"limit":1000,"interval":1,"burst":1000}"#;
    let mut namespace = Namespace::new(&format!(r#"{{"rate":{rate},"concurrency":{{"limit":3,"lease":"10s"}}}}"#));
    for (second, id) in [(0, b"a"), (1, b"b"), (2, b"c")] {
        assert_eq!(namespace.wait(NOW + second * 1000, 1, Some(id)), 0);
    }
    namespace.change(NOW + 2_000, &format!(r#"{{"rate":{rate},"concurrency":{{"limit":1,"lease":"10s"}}}}"#));
    // The last of the three runs out at 12 s.
    assert_eq!(namespace.wait(NOW + 2_000, 1, Some(b"d")), 10_000);
    assert_ne!(namespace.wait(NOW + 11_999, 1, Some(b"d")), 0);
    assert_eq!(namespace.wait(NOW + 12_000, 1, Some(b"d")), 0);
}

/// A rule of any kind, small enough for jobs to meet its bounds.
fn rule() -> impl Strategy<Value = (&'static str, u64, u64, u64)> {
    (prop::sample::select(vec!["gcra", "fixed-window", "sliding-window"]), 1_u64..12, 1_u64..3000, 1_u64..12)
}

/// Rules under the names they keep over every change, and perhaps a limit of leases.
fn policy() -> impl Strategy<Value = (String, u64, bool)> {
    (prop::collection::vec(rule(), 1..4), prop::option::of((1_u64..4, 1_u64..3000))).prop_map(|(rules, concurrency)| {
        let most = rules.iter().map(|(kind, limit, _, burst)| if *kind == "gcra" { *burst } else { *limit });
        let most = most.min().expect("a rule");
        let spelled: Vec<String> = (0..)
            .zip(&rules)
            .map(|(index, (kind, limit, interval, burst))| {
                format!(
                    r#"{{"name":"{index}","algorithm":"{kind}","limit":{limit},"interval":{interval},"burst":{burst}}}"#
                )
            })
            .collect();
        let rate = spelled.join(",");
        match concurrency {
            None => (format!("[{rate}]"), most, false),
            Some((limit, lease)) => {
                (format!(r#"{{"rate":[{rate}],"concurrency":{{"limit":{limit},"lease":{lease}}}}}"#), most, true)
            }
        }
    })
}

#[derive(Clone, Debug)]
enum Event {
    Passes(u64),
    StepsBack(u64),
    Change(String, u64, bool),
    Job(u64),
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        6 => (0_u64..400).prop_map(Event::Passes),
        2 => (0_u64..10_000).prop_map(Event::StepsBack),
        1 => policy().prop_map(|(policy, most, leased)| Event::Change(policy, most, leased)),
        8 => (1_u64..12).prop_map(Event::Job),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), ..ProptestConfig::default() })]

    #[test]
    fn a_job_that_waits_as_long_as_it_was_told_is_admitted(
        (first, first_most, first_leased) in policy(),
        events in prop::collection::vec(event(), 1..60),
    ) {
        let mut namespace = Namespace::new(&first);
        let (mut most, mut leased, mut changed) = (first_most, first_leased, false);
        let mut now = NOW;
        for (id, event) in (0_u32..).zip(events) {
            match event {
                Event::Passes(ms) => now += ms,
                Event::StepsBack(ms) => now -= ms,
                Event::Change(policy, other_most, other_leased) => {
                    namespace.change(now, &policy);
                    (most, leased, changed) = (other_most, other_leased, true);
                }
                Event::Job(cost) => {
                    let cost = cost.min(most);
                    let id = id.to_be_bytes();
                    let lease = leased.then_some(id.as_slice());
                    let wait = namespace.wait(now, cost, lease);
                    if wait == 0 {
                        continue;
                    }
                    // States of another policy may recover sooner than one that is read as made now.
                    if !changed {
                        prop_assert_ne!(namespace.wait(now + wait - 1, cost, lease), 0);
                    }
                    now += wait;
                    prop_assert_eq!(namespace.wait(now, cost, lease), 0);
                }
            }
        }
    }
}

/// Enough to find what is wrong in seconds; more with `TIDEGATE_CASES`.
fn cases() -> u32 {
    std::env::var("TIDEGATE_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(1000)
}
