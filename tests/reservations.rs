//! Reservations: a start taken ahead of time, within the bound that its caller gave, that breaks no rule.
//!
//! The model knows no state: it keeps every start with its cost and tries one millisecond after the other.
#![allow(missing_docs, reason = "a test")]

use proptest::prelude::*;
use tidegate::policy::{Admission, Job};
use tidegate::{Engine, Error, ErrorKind, Options, Positive};

const NOW: u64 = 1_764_547_200_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Gcra,
    Fixed,
    Sliding,
}

#[derive(Clone, Copy, Debug)]
struct Rule {
    kind: Kind,
    limit: u64,
    interval: u64,
    burst: u64,
    scoped: bool,
}

impl Rule {
    fn most(&self) -> u64 {
        if self.kind == Kind::Gcra { self.burst } else { self.limit }
    }

    /// Rounded up, the milliseconds after which nothing is in use.
    fn recovery(&self) -> u64 {
        if self.kind == Kind::Gcra { (self.burst * self.interval).div_ceil(self.limit) } else { self.interval }
    }

    fn json(&self, index: usize) -> String {
        let kind = ["gcra", "fixed-window", "sliding-window"][self.kind as usize];
        let Self { limit, interval, burst, .. } = self;
        let scope = if self.scoped { r#","scope":"t""# } else { "" };
        format!(
            r#"{{"name":"{index}","algorithm":"{kind}","limit":{limit},"interval":{interval},"burst":{burst}{scope}}}"#
        )
    }
}

/// A start that was given.
#[derive(Clone, Copy, Debug)]
struct Start {
    at: u64,
    cost: u64,
    tenant: u8,
}

/// The starts that `rule` counts together with one of `tenant`, in their order.
fn counted(rule: &Rule, starts: &[Start], tenant: u8) -> Vec<Start> {
    let mut counted: Vec<Start> =
        starts.iter().filter(|start| !rule.scoped || start.tenant == tenant).copied().collect();
    counted.sort_by_key(|start| start.at);
    counted
}

/// Whether any window of the rule holds more than it may; the starts are in order.
fn broken(rule: &Rule, starts: &[Start]) -> bool {
    let units = |from: u64, to: u64| -> u64 {
        starts.iter().filter(|start| start.at >= from && start.at < to).map(|start| start.cost).sum()
    };
    match rule.kind {
        // In any stretch, the burst and what its length refills: none begins or ends better than at a start.
        Kind::Gcra => starts.iter().enumerate().any(|(first, from)| {
            starts[first..].iter().any(|to| {
                units(from.at, to.at + 1) * rule.interval > rule.burst * rule.interval + (to.at - from.at) * rule.limit
            })
        }),
        Kind::Fixed => starts.iter().any(|start| {
            let from = start.at / rule.interval * rule.interval;
            units(from, from + rule.interval) > rule.limit
        }),
        Kind::Sliding => starts.iter().any(|start| units(start.at, start.at + rule.interval) > rule.limit),
    }
}

/// The first instant from `now` on at which the rule lets the job start behind all that asked before.
fn earliest(rule: &Rule, starts: &[Start], now: u64, cost: u64, tenant: u8) -> u64 {
    let before = counted(rule, starts, tenant);
    let first = before.last().map_or(now, |start| start.at.max(now));
    let units = |from: u64| -> u64 {
        before.iter().filter(|start| start.at >= from).map(|start| start.cost).sum::<u64>() + cost
    };
    let fits = |at: u64| match rule.kind {
        Kind::Gcra => before
            .iter()
            .map(|start| start.at)
            .chain([at])
            .all(|from| units(from) * rule.interval <= rule.burst * rule.interval + (at - from) * rule.limit),
        Kind::Fixed => units(at / rule.interval * rule.interval) <= rule.limit,
        Kind::Sliding => units(at + 1 - rule.interval) <= rule.limit,
    };
    (first..=first + 10 * rule.recovery()).find(|at| fits(*at)).expect("an instant")
}

struct Namespace {
    engine: Engine,
    fingerprint: String,
}

impl Namespace {
    fn new(rules: &[Rule]) -> Self {
        let json: Vec<String> = rules.iter().enumerate().map(|(index, rule)| rule.json(index)).collect();
        let mut engine = Engine::new(&Options::default());
        let fingerprint = engine.policy_define(0, b"ns", format!("[{}]", json.join(",")).as_bytes());
        Self { engine, fingerprint: fingerprint.expect("a policy").to_string() }
    }

    fn ask(&mut self, now: u64, cost: u64, tenant: u8, reserve: u64, wait: bool) -> Result<Admission, Error> {
        let tenant = [tenant];
        let scope: [(&[u8], &[u8]); 1] = [(b"t", &tenant)];
        let cost = Positive::new(cost).expect("a cost");
        let job = Job { cost, scope: &scope, lease: None, wait, reserve: Positive::new(reserve) };
        self.engine.policy_admit(now, b"ns", self.fingerprint.as_bytes(), &job)
    }

    /// In how many milliseconds it starts, or when to come back.
    fn start(&mut self, now: u64, cost: u64, tenant: u8, reserve: u64, wait: bool) -> Result<u64, u64> {
        match self.ask(now, cost, tenant, reserve, wait).expect("an answer") {
            Admission::Admitted => Ok(0),
            Admission::Reserved { starts_in } => Ok(starts_in),
            Admission::Refused { retry_after, .. } => Err(retry_after),
        }
    }

    /// [`Namespace::start`] of one unit of nobody, which comes back as promised.
    fn one(&mut self, now: u64, reserve: u64) -> Result<u64, u64> {
        self.start(now, 1, 0, reserve, true)
    }
}

fn rule() -> impl Strategy<Value = Rule> {
    let kind = prop::sample::select(vec![Kind::Gcra, Kind::Fixed, Kind::Sliding]);
    (kind, 1_u64..6, 1_u64..120, 1_u64..6, any::<bool>()).prop_map(|(kind, limit, interval, burst, scoped)| Rule {
        kind,
        limit,
        interval,
        burst,
        scoped,
    })
}

/// Milliseconds that pass, cost, tenant, how far ahead it reserves, and whether it would come back.
fn jobs() -> impl Strategy<Value = Vec<(u64, u64, u8, u64, bool)>> {
    let passes = prop_oneof![2 => Just(0_u64), 4 => 0_u64..20, 1 => 0_u64..200];
    let ahead = prop_oneof![2 => Just(0_u64), 3 => 1_u64..60, 1 => 1_u64..1000];
    prop::collection::vec((passes, 1_u64..5, 0_u8..3, ahead, any::<bool>()), 1..50)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn a_job_starts_at_the_first_instant_behind_all_before_it_that_breaks_no_window_or_not_at_all(
        rules in prop::collection::vec(rule(), 1..4),
        jobs in jobs(),
    ) {
        let most = rules.iter().map(Rule::most).min().expect("a rule");
        let mut namespace = Namespace::new(&rules);
        let mut starts: Vec<Start> = Vec::new();
        let mut now = NOW;
        for (passes, cost, tenant, ahead, wait) in jobs {
            now += passes;
            let cost = cost.min(most);
            let waits: Vec<u64> =
                rules.iter().map(|rule| earliest(rule, &starts, now, cost, tenant) - now).collect();
            let wait_of_all = *waits.iter().max().expect("a rule");
            let refusing: Vec<usize> = (0..rules.len()).filter(|index| waits[*index] > ahead).collect();
            let expected = match wait_of_all {
                0 => Admission::Admitted,
                _ if refusing.is_empty() => Admission::Reserved { starts_in: wait_of_all },
                _ => Admission::Refused { retry_after: wait_of_all, rules: refusing, lease: false },
            };
            prop_assert_eq!(namespace.ask(now, cost, tenant, ahead, wait).expect("an answer"), expected);
            if wait_of_all <= ahead {
                starts.push(Start { at: now + wait_of_all, cost, tenant });
            }
        }
        for rule in &rules {
            for tenant in 0..3 {
                prop_assert!(!broken(rule, &counted(rule, &starts, tenant)));
            }
        }
    }

    #[test]
    fn whatever_the_clock_does_nothing_breaks_and_nobody_waits_past_what_was_reserved_and_a_recovery(
        rules in prop::collection::vec(rule(), 1..4),
        jobs in jobs(),
        backs in prop::collection::vec(prop::option::weighted(0.2, 0_u64..300), 50),
    ) {
        let most = rules.iter().map(Rule::most).min().expect("a rule");
        let recovery = rules.iter().map(Rule::recovery).max().expect("a rule");
        let mut namespace = Namespace::new(&rules);
        let mut starts: Vec<Start> = Vec::new();
        // Real time, and how far the clock has fallen behind it.
        let (mut now, mut behind, mut furthest) = (NOW, 0, 0);
        for ((passes, cost, tenant, ahead, _), back) in jobs.into_iter().zip(backs) {
            now += passes;
            behind += back.unwrap_or(0);
            let cost = cost.min(most);
            match namespace.start(now - behind, cost, tenant, ahead, true) {
                Ok(starts_in) => {
                    prop_assert!(starts_in <= ahead);
                    furthest = furthest.max(starts_in);
                    starts.push(Start { at: now + starts_in, cost, tenant });
                }
                Err(retry_after) => {
                    prop_assert!(retry_after > ahead);
                    prop_assert!(retry_after <= furthest + recovery, "{} {} {}", retry_after, furthest, recovery);
                }
            }
        }
        // A fixed window is one of the clock's, not of real time.
        for rule in rules.iter().filter(|rule| rule.kind != Kind::Fixed) {
            for tenant in 0..3 {
                prop_assert!(!broken(rule, &counted(rule, &starts, tenant)));
            }
        }
        // Who comes back as told is admitted then.
        let cost = most.min(3);
        if let Err(retry_after) = namespace.start(now - behind, cost, 0, 0, true) {
            prop_assert_ne!(namespace.start(now - behind + retry_after - 1, cost, 0, 0, true), Ok(0));
            prop_assert_eq!(namespace.start(now - behind + retry_after, cost, 0, 0, true), Ok(0));
        }
    }
}

const ALL: Rule = Rule { kind: Kind::Gcra, limit: 10, interval: 1000, burst: 10, scoped: false };
const EACH: Rule = Rule { kind: Kind::Gcra, limit: 1, interval: 1000, burst: 1, scoped: true };

#[test]
fn what_waits_for_a_scoped_rule_holds_up_everybody_on_the_rules_that_all_share() {
    let mut namespace = Namespace::new(&[ALL, EACH]);
    assert_eq!(namespace.start(NOW, 1, 1, 0, false), Ok(0));
    assert_eq!(namespace.start(NOW, 1, 1, 1000, false), Ok(1000));
    // Another tenant, whose own rule would let it start at once.
    let held = Admission::Refused { retry_after: 1000, rules: vec![0], lease: false };
    assert_eq!(namespace.ask(NOW, 1, 2, 0, false), Ok(held.clone()));
    assert_eq!(namespace.ask(NOW, 1, 2, 999, false), Ok(held));
    assert_eq!(namespace.start(NOW + 999, 1, 2, 0, false), Err(1));
    assert_eq!(namespace.start(NOW + 1000, 1, 2, 0, false), Ok(0));
}

#[test]
fn a_refused_reservation_takes_nothing() {
    let mut namespace = Namespace::new(&[ALL, EACH]);
    assert_eq!(namespace.start(NOW, 1, 1, 0, false), Ok(0));
    let states = |namespace: &mut Namespace| namespace.engine.policy_show(NOW, b"ns").expect("a policy").states;
    let before = states(&mut namespace);
    let refused = Admission::Refused { retry_after: 1000, rules: vec![1], lease: false };
    assert_eq!(namespace.ask(NOW, 1, 1, 999, false), Ok(refused));
    assert_eq!(states(&mut namespace), before);
    assert_eq!(namespace.start(NOW, 1, 2, 0, false), Ok(0));
}

#[test]
fn show_tells_that_nothing_is_free_before_what_is_reserved_starts() {
    let mut namespace = Namespace::new(&[ALL]);
    assert_eq!(namespace.start(NOW, 10, 0, 0, false), Ok(0));
    assert_eq!(namespace.start(NOW, 2, 0, 500, false), Ok(200));
    let mut shown = |now| {
        let states = namespace.engine.policy_show(now, b"ns").expect("a policy").states;
        states.iter().map(|state| (state.used, state.remaining, state.reset_after)).collect::<Vec<_>>()
    };
    assert_eq!(shown(NOW), [(10, 0, 1200)]);
    assert_eq!(shown(NOW + 199), [(10, 0, 1001)]);
    assert_eq!(shown(NOW + 300), [(9, 1, 900)]);
    assert_eq!(shown(NOW + 1200), []);
}

#[test]
fn after_a_step_back_a_reservation_counts_as_made_then() {
    let mut namespace = Namespace::new(&[EACH]);
    assert_eq!(namespace.one(NOW, 0), Ok(0));
    assert_eq!(namespace.one(NOW + 200, 5000), Ok(800));
    // It was made for 800 ms ahead, and the second after it is taken.
    let back = NOW - 3_600_000;
    assert_eq!(namespace.one(back, 0), Err(1800));
    assert_eq!(namespace.one(back + 1799, 0), Err(1));
    assert_eq!(namespace.one(back + 1800, 0), Ok(0));
}

#[test]
fn a_reservation_that_has_started_stays_so_when_the_clock_steps_back() {
    let mut namespace = Namespace::new(&[EACH]);
    assert_eq!(namespace.one(NOW, 0), Ok(0));
    assert_eq!(namespace.one(NOW, 5000), Ok(1000));
    assert!(!namespace.engine.delete(NOW + 1000, b"another key"));
    // Its second has begun: no more than that is waited for.
    assert_eq!(namespace.one(NOW + 500, 0), Err(1000));
    assert_eq!(namespace.one(NOW + 1500, 0), Ok(0));
}

#[test]
fn a_reservation_outlives_a_change_of_policy() {
    let mut namespace = Namespace::new(&[EACH]);
    assert_eq!(namespace.one(NOW, 0), Ok(0));
    assert_eq!(namespace.one(NOW, 5000), Ok(1000));
    namespace.engine.policy_forget(NOW, b"ns").expect("the policy");
    let rolling = r#"[{"name":"0","algorithm":"sliding-window","limit":1,"interval":1000,"scope":"t"}]"#;
    let fingerprint = namespace.engine.policy_define(NOW, b"ns", rolling.as_bytes());
    namespace.fingerprint = fingerprint.expect("a policy").to_string();
    assert_eq!(namespace.one(NOW, 0), Err(2000));
    assert_eq!(namespace.one(NOW + 1999, 0), Err(1));
    assert_eq!(namespace.one(NOW + 2000, 0), Ok(0));
}

#[test]
fn without_room_for_the_reservation_nothing_is_taken() {
    let mut namespace = Namespace::new(&[EACH]);
    namespace.engine = Engine::new(&Options { max_keys: 1, ..Options::default() });
    let policy = format!("[{}]", EACH.json(0));
    namespace.engine.policy_define(NOW, b"ns", policy.as_bytes()).expect("the policy");
    assert_eq!(namespace.one(NOW, 0), Ok(0));
    assert_eq!(namespace.ask(NOW, 1, 0, 5000, false), Err(ErrorKind::OutOfMemory { max_keys: 1 }.into()));
    assert_eq!(namespace.one(NOW, 0), Err(1000));
}

#[test]
fn where_jobs_at_once_are_limited_no_start_can_be_reserved() {
    let mut engine = Engine::new(&Options::default());
    let policy = br#"{"rate":{"limit":1,"interval":"1s"},"concurrency":{"limit":1}}"#;
    let fingerprint = engine.policy_define(NOW, b"ns", policy).expect("a policy");
    let job = Job { cost: Positive::ONE, scope: &[], lease: Some(b"id"), wait: false, reserve: Some(Positive::ONE) };
    let refused = engine.policy_admit(NOW, b"ns", fingerprint.as_bytes(), &job).expect_err("no reservation");
    let ErrorKind::InvalidOptions(text) = refused.kind() else { panic!("{refused:?}") };
    assert!(text.starts_with("reserve must be left out"), "{text}");
    let shown = engine.policy_show(NOW, b"ns").expect("a policy");
    assert_eq!((shown.states.len(), shown.leases), (0, 0));
}
