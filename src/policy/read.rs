//! A policy out of JSON, or the reason why it is none.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::slice;

use super::canonical::{self, Fingerprint};
use super::interval;
use super::json::Json;
use super::lease::Concurrency;
use super::rule::{PolicyRule, RuleAlgorithm};
use crate::algorithm::Rule;
use crate::error::MAX_NAME_BYTES;
use crate::text::{checked, filled, push};
use crate::{Error, Positive};

/// A valid policy: several rules that a job spends in one step, and how many jobs may run at once.
#[derive(Clone, Debug)]
pub struct Policy {
    /// Its rules, in the order they were given.
    pub(crate) rules: Vec<PolicyRule>,
    /// The same rules as what decides.
    pub(super) deciders: Vec<Decider>,
    /// How many jobs may run at once, when that is limited.
    pub(crate) concurrency: Option<Concurrency>,
    /// The one spelling that equal policies share.
    pub(crate) canonical: String,
    /// SHA-256 of it.
    pub(crate) fingerprint: Fingerprint,
}

/// What an admission wants of a rule, close together.
#[derive(Clone, Debug)]
pub(super) struct Decider {
    pub rule: Rule,
    /// The most units that one job may cost.
    pub most: Positive,
    /// Whether it counts the same identities as the rule before it.
    pub same_identity: bool,
}

/// How long a lease is good for when the policy does not say.
const DEFAULT_LEASE_MS: u64 = 30_000;

impl Policy {
    /// The policy of these rules.
    ///
    /// ```
    /// use tidegate::{Error, Positive, policy::{Concurrency, Policy, PolicyRule}};
    ///
    /// let limit = |limit| Positive::new(limit).unwrap();
    /// let (second, day) = (Positive::new(1000).unwrap(), Positive::new(86_400_000).unwrap());
    /// let rules = [PolicyRule::gcra(limit(10), second), PolicyRule::fixed_window(limit(100_000), day)];
    /// let policy = Policy::new(&rules, Some(Concurrency { limit: limit(4), lease: second }))?;
    /// assert_eq!(policy.rules().len(), 2);
    ///
    /// let twice = Policy::new(&[rules[0].clone(), rules[0].clone()], None);
    /// let refused = twice.map_err(|error| error.to_string());
    /// assert!(refused.is_err_and(|why| why.starts_with("rate[1].name must be different")));
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// [`InvalidOptions`](crate::ErrorKind::InvalidOptions) when there is no rule, a name is over 4,096 bytes, two rules would share their state, or a
    /// recovery would take over [`MAX_INTEGER`](crate::MAX_INTEGER) ms.
    pub fn new(rules: &[PolicyRule], concurrency: Option<Concurrency>) -> Result<Self, Error> {
        // All that a policy may say can be said in JSON, so that both ways pass the same checks.
        Self::read(canonical::text(rules, concurrency.as_ref(), false).as_bytes())
    }

    /// Its rules, in the order they were given.
    pub fn rules(&self) -> &[PolicyRule] {
        &self.rules
    }

    /// How many jobs may run at once, when that is limited.
    pub const fn concurrency(&self) -> Option<Concurrency> {
        self.concurrency
    }

    /// The one spelling that equal policies share: JSON, rules sorted, defaults filled in.
    pub fn canonical(&self) -> &str {
        &self.canonical
    }

    /// What tells whether two policies are the same: the SHA-256 of [`Policy::canonical`].
    pub const fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }

    /// Reads `json`: a rule, an array of rules, or `{ "rate": …, "concurrency": { "limit", "lease" } }`.
    ///
    /// ```
    /// use tidegate::policy::Policy;
    ///
    /// let policy = Policy::read(br#"{ "limit": 10, "interval": "1s" }"#)?;
    /// let spelled_out = Policy::read(br#"[{ "interval": 1000, "limit": 10, "burst": 1, "algorithm": "gcra" }]"#)?;
    /// assert_eq!(policy.fingerprint(), spelled_out.fingerprint());
    /// # Ok::<(), tidegate::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`InvalidOptions`](crate::ErrorKind::InvalidOptions), naming the field, its value and what is allowed.
    pub fn read(json: &[u8]) -> Result<Self, Error> {
        read_policy(json).map_err(Error::invalid_options)
    }

    /// The policy as JSON that reads as the same one, its rules in their order. For stores.
    pub(crate) fn in_order(&self) -> String {
        canonical::text(&self.rules, self.concurrency.as_ref(), false)
    }
}

/// As [`Policy::read`]; the error is its text.
fn read_policy(json: &[u8]) -> Result<Policy, String> {
    let json = checked(json).map_err(not_json)?;
    let value = Json::read(json).map_err(not_json)?;
    let mut rate = &value;
    let mut concurrency = None;
    if value.as_object().is_some_and(|given| given.iter().any(|field| field.name == "rate")) {
        let policy = Fields::of("policy", None, &value, &["rate", "concurrency"], "")?;
        rate = policy.get(0).unwrap_or(&value);
        concurrency = policy.get(1).map(read_concurrency).transpose()?;
    }
    let given = rate.as_array();
    let stated = given.unwrap_or(slice::from_ref(rate));
    if stated.is_empty() {
        return Err(invalid("rate", None, "", Some(rate), "a rule, or an array of at least one"));
    }
    let mut rules: Vec<PolicyRule> = Vec::with_capacity(stated.len());
    let mut deciders = Vec::with_capacity(stated.len());
    for (index, value) in stated.iter().enumerate() {
        let index = given.map(|_| index);
        let rule = read_rule(index, value)?;
        check_distinct(&rules, &rule)?;
        let Some(decisive) = rule.rule() else {
            let most = "one whose full recovery, burst * interval / limit, takes at most 2^53 - 1 ms";
            return Err(invalid("rate", index, "", Some(value), most));
        };
        let same_identity = rules.last().is_some_and(|before| before.scope == rule.scope);
        deciders.push(Decider { rule: decisive, most: rule.most(), same_identity });
        rules.push(rule);
    }
    let canonical = canonical::text(&rules, concurrency.as_ref(), true);
    let fingerprint = Fingerprint::of(&canonical);
    Ok(Policy { rules, deciders, concurrency, canonical, fingerprint })
}

/// One object: what errors call it, and what it gives of the fields it may have.
struct Fields<'a> {
    what: &'static str,
    index: Option<usize>,
    known: &'static [&'static str],
    given: [Option<&'a Json<'a>>; 6],
}

impl<'a> Fields<'a> {
    /// The fields of `value`, which must be an object that has only `known` ones, each once; `shape` says what it is.
    #[inline(never)]
    fn of(
        what: &'static str,
        index: Option<usize>,
        value: &'a Json<'a>,
        known: &'static [&'static str],
        shape: &str,
    ) -> Result<Self, String> {
        let Some(fields) = value.as_object() else {
            return Err(invalid(what, index, "", Some(value), shape));
        };
        let mut given = [None; 6];
        for field in fields {
            let place = known.iter().position(|known| *known == field.name).and_then(|at| given.get_mut(at));
            let Some(place) = place else {
                return Err(invalid(what, index, &field.name, Some(field), &one_of(known)));
            };
            if place.replace(field).is_some() {
                return Err(invalid(what, index, &field.name, Some(field), "given once"));
            }
        }
        Ok(Self { what, index, known, given })
    }

    /// What the field is given as that is the `at`th of the known ones.
    fn get(&self, at: usize) -> Option<&'a Json<'a>> {
        self.given.get(at).copied().flatten()
    }

    #[cold]
    #[inline(never)]
    fn invalid(&self, at: usize, allowed: &str) -> String {
        let name = self.known.get(at).copied().unwrap_or_default();
        invalid(self.what, self.index, name, self.get(at), allowed)
    }

    /// A positive integer, or one of milliseconds that may be spelled as text; `absent` when it isn't given.
    #[inline(never)]
    fn positive(&self, at: usize, interval: bool, absent: Option<Positive>) -> Result<Positive, String> {
        let read = match self.get(at) {
            None => absent,
            Some(value) => match value.as_text() {
                Some(text) if interval => interval::parse(text),
                _ => Positive::parse(value.text.as_bytes()),
            },
        };
        let allowed = if interval {
            "whole milliseconds from 1, or text such as \"1h30m\" with ms, s, m, h, d, w"
        } else {
            "an integer from 1 to 9007199254740991"
        };
        read.ok_or_else(|| self.invalid(at, allowed))
    }

    #[inline(never)]
    fn text(&self, at: usize) -> Result<Option<Box<str>>, String> {
        let Some(value) = self.get(at) else { return Ok(None) };
        match value.as_text().filter(|text| text.len() <= MAX_NAME_BYTES) {
            Some(text) => Ok(Some(text.into())),
            None => Err(self.invalid(at, "text of at most 4096 bytes")),
        }
    }
}

fn read_rule(index: Option<usize>, value: &Json<'_>) -> Result<PolicyRule, String> {
    let [limit, interval, algorithm, burst, name, scope] = [0, 1, 2, 3, 4, 5];
    let known = &["limit", "interval", "algorithm", "burst", "name", "scope"];
    let shape = "a rule: { limit, interval, algorithm?, burst?, name?, scope? }";
    let fields = Fields::of("rate", index, value, known, shape)?;
    let counts = match fields.get(algorithm) {
        None => RuleAlgorithm::Gcra,
        Some(value) => RuleAlgorithm::ALL
            .into_iter()
            .find(|algorithm| value.as_text() == Some(algorithm.name()))
            .ok_or_else(|| fields.invalid(algorithm, "gcra, fixed-window or sliding-window"))?,
    };
    let rule = PolicyRule {
        limit: fields.positive(limit, false, None)?,
        interval: fields.positive(interval, true, None)?,
        algorithm: counts,
        burst: fields.positive(burst, false, Some(Positive::ONE))?,
        name: fields.text(name)?,
        scope: fields.text(scope)?,
    };
    if rule.scope.is_some() && rule.name.is_none() {
        return Err(fields.invalid(name, "given, since the rule has a scope"));
    }
    Ok(rule)
}

fn read_concurrency(value: &Json<'_>) -> Result<Concurrency, String> {
    let fields = Fields::of("concurrency", None, value, &["limit", "lease"], "{ limit, lease? }")?;
    let lease = fields.positive(1, true, Positive::new(DEFAULT_LEASE_MS))?;
    Ok(Concurrency { limit: fields.positive(0, false, None)?, lease })
}

/// No two rules may keep their state in one place.
fn check_distinct(before: &[PolicyRule], rule: &PolicyRule) -> Result<(), String> {
    for (index, other) in before.iter().enumerate() {
        let clash = match (&rule.name, &other.name) {
            (Some(name), Some(other)) => name == other,
            (None, None) => (rule.algorithm, rule.interval) == (other.algorithm, other.interval),
            _ => false,
        };
        if clash {
            let what = if rule.name.is_some() { "name" } else { "algorithm and interval and no name either" };
            let why = "rate[%].name must be different from that of rate[%], which has the same @";
            return Err(filled(why, &[what.as_bytes()], &[before.len() as u64, index as u64]));
        }
    }
    Ok(())
}

#[cold]
#[inline(never)]
fn one_of(known: &[&str]) -> String {
    let mut text = String::from("one of ");
    for (at, name) in known.iter().enumerate() {
        push(&mut text, if at == 0 { "" } else { ", " });
        push(&mut text, name);
    }
    text
}

#[cold]
#[inline(never)]
fn invalid(what: &str, index: Option<usize>, name: &str, value: Option<&Json<'_>>, allowed: &str) -> String {
    let place = match index {
        Some(index) => filled("[%]", &[], &[index as u64]),
        None => String::new(),
    };
    let point = if name.is_empty() { "" } else { "." };
    let shown = value.map_or("nothing", |value| value.text);
    // At most 80 letters of it.
    let (shown, more) = match shown.char_indices().nth(80) {
        Some((end, _)) => (shown.get(..end).unwrap_or_default(), "…"),
        None => (shown, ""),
    };
    let words = [what, &place, point, name, allowed, shown, more];
    filled("@@@@ must be @, not @@", &words.map(str::as_bytes), &[])
}

fn not_json(at: usize) -> String {
    filled("the policy is not valid JSON: see byte %", &[], &[at as u64])
}
