//! A policy out of JSON, or the reason why it is none.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde_json::{Map, Value};

use super::canonical::{self, Fingerprint};
use super::interval;
use super::lease::Concurrency;
use super::rule::{PolicyRule, RuleAlgorithm};
use crate::algorithm::Rule;
use crate::error::MAX_NAME_BYTES;
use crate::number::MAX_INTEGER;
use crate::{Error, Positive};

/// A valid policy.
#[derive(Clone, Debug)]
pub struct Policy {
    /// Its rules, in the order they were given.
    pub rules: Vec<PolicyRule>,
    /// The same rules as what decides.
    pub(super) deciders: Vec<Rule>,
    /// How many jobs may run at once, when that is limited.
    pub concurrency: Option<Concurrency>,
    /// The one spelling that equal policies share.
    pub canonical: String,
    /// SHA-256 of it.
    pub fingerprint: Fingerprint,
}

/// How long a lease is good for when the policy does not say.
const DEFAULT_LEASE_MS: u64 = 30_000;

impl Policy {
    /// Reads `json`: a rule, an array of rules, or `{ "rate": …, "concurrency": { "limit", "lease" } }`.
    ///
    /// ```
    /// use tidegate::policy::Policy;
    ///
    /// let policy = Policy::read(br#"{ "limit": 10, "interval": "1s" }"#)?;
    /// let spelled_out = Policy::read(br#"[{ "interval": 1000, "limit": 10, "burst": 1, "algorithm": "gcra" }]"#)?;
    /// assert_eq!(policy.fingerprint, spelled_out.fingerprint);
    /// # Ok::<(), tidegate::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::InvalidOptions`], naming the field, its value and what is allowed.
    pub fn read(json: &[u8]) -> Result<Self, Error> {
        let value: Value = serde_json::from_slice(json)
            .map_err(|error| Error::InvalidOptions(format!("the policy is not valid JSON: {error}")))?;
        let (rate, concurrency) = match value {
            Value::Object(mut fields) if fields.contains_key("rate") => {
                only(&fields, "policy", &["rate", "concurrency"])?;
                let concurrency = fields.remove("concurrency").map(|value| read_concurrency(&value)).transpose()?;
                (fields.remove("rate").unwrap_or_default(), concurrency)
            }
            value => (value, None),
        };
        let rules = match &rate {
            Value::Array(rules) if rules.is_empty() => {
                return Err(invalid("rate", &rate, "a rule, or an array of at least one"));
            }
            Value::Array(rules) => {
                let numbered = rules.iter().enumerate();
                numbered
                    .map(|(index, rule)| read_rule(&format!("rate[{index}]"), rule))
                    .collect::<Result<Vec<_>, _>>()?
            }
            rule => Vec::from([read_rule("rate", rule)?]),
        };
        check_distinct(&rules)?;
        let mut deciders = Vec::with_capacity(rules.len());
        for (index, rule) in rules.iter().enumerate() {
            deciders.push(rule.rule().ok_or_else(|| {
                Error::InvalidOptions(format!(
                    "rate[{index}]: burst * interval / limit, the time of a full recovery, must be at most {MAX_INTEGER} ms"
                ))
            })?);
        }
        let canonical = canonical::text(&rules, concurrency.as_ref());
        let fingerprint = Fingerprint::of(&canonical);
        Ok(Self { rules, deciders, concurrency, canonical, fingerprint })
    }
}

fn read_rule(at: &str, value: &Value) -> Result<PolicyRule, Error> {
    let Value::Object(fields) = value else {
        return Err(invalid(at, value, "a rule: { limit, interval, algorithm?, burst?, name?, scope? }"));
    };
    only(fields, at, &["limit", "interval", "algorithm", "burst", "name", "scope"])?;
    let field = |name: &str| fields.get(name).unwrap_or(&Value::Null);
    let path = |name: &str| format!("{at}.{name}");
    let algorithm = match fields.get("algorithm") {
        None => RuleAlgorithm::Gcra,
        Some(value) => RuleAlgorithm::ALL
            .into_iter()
            .find(|algorithm| value.as_str() == Some(algorithm.name()))
            .ok_or_else(|| invalid(&path("algorithm"), value, "gcra, fixed-window or sliding-window"))?,
    };
    let text = |name: &str| {
        let Some(value) = fields.get(name) else { return Ok(None) };
        match value.as_str().filter(|text| text.len() <= MAX_NAME_BYTES) {
            Some(text) => Ok(Some(Box::from(text))),
            None => Err(invalid(&path(name), value, "text of at most 4096 bytes")),
        }
    };
    let rule = PolicyRule {
        limit: positive(&path("limit"), field("limit"))?,
        interval: read_interval(&path("interval"), field("interval"))?,
        algorithm,
        burst: fields.get("burst").map_or(Ok(Positive::ONE), |value| positive(&path("burst"), value))?,
        name: text("name")?,
        scope: text("scope")?,
    };
    if rule.scope.is_some() && rule.name.is_none() {
        return Err(invalid(&path("name"), &Value::Null, "given, since the rule has a scope"));
    }
    Ok(rule)
}

fn read_concurrency(value: &Value) -> Result<Concurrency, Error> {
    let Value::Object(fields) = value else {
        return Err(invalid("concurrency", value, "{ limit, lease? }"));
    };
    only(fields, "concurrency", &["limit", "lease"])?;
    let limit = positive("concurrency.limit", fields.get("limit").unwrap_or(&Value::Null))?;
    let lease = match fields.get("lease") {
        Some(value) => read_interval("concurrency.lease", value)?,
        None => Positive::new(DEFAULT_LEASE_MS).unwrap_or(Positive::ONE),
    };
    Ok(Concurrency { limit, lease })
}

fn read_interval(at: &str, value: &Value) -> Result<Positive, Error> {
    let read = match value {
        Value::String(text) => interval::parse(text),
        other => other.as_u64().and_then(Positive::new),
    };
    read.ok_or_else(|| {
        invalid(at, value, "whole milliseconds from 1, or text such as \"1h30m\" with ms, s, m, h, d, w")
    })
}

fn positive(at: &str, value: &Value) -> Result<Positive, Error> {
    let read = value.as_u64().and_then(Positive::new);
    read.ok_or_else(|| invalid(at, value, &format!("an integer from 1 to {MAX_INTEGER}")))
}

/// No two rules may keep their state in one place.
fn check_distinct(rules: &[PolicyRule]) -> Result<(), Error> {
    for (index, rule) in rules.iter().enumerate() {
        for (before, other) in rules.iter().take(index).enumerate() {
            let clash = match (&rule.name, &other.name) {
                (Some(name), Some(other)) => name == other,
                (None, None) => (rule.algorithm, rule.interval) == (other.algorithm, other.interval),
                _ => false,
            };
            if clash {
                let name = rule.name.as_ref().map_or(Value::Null, |name| Value::String(name.to_string()));
                let allowed = format!(
                    "different from that of rate[{before}], which has the same {}",
                    if rule.name.is_some() { "name" } else { "algorithm and interval and no name either" }
                );
                return Err(invalid(&format!("rate[{index}].name"), &name, &allowed));
            }
        }
    }
    Ok(())
}

/// Refuses any field that is not one of `known`.
fn only(fields: &Map<String, Value>, at: &str, known: &[&str]) -> Result<(), Error> {
    match fields.iter().find(|(name, _)| !known.contains(&name.as_str())) {
        Some((name, value)) => Err(invalid(&format!("{at}.{name}"), value, &format!("one of {}", known.join(", ")))),
        None => Ok(()),
    }
}

fn invalid(at: &str, value: &Value, allowed: &str) -> Error {
    let shown = match value {
        Value::Null => "nothing".to_string(),
        value => value.to_string(),
    };
    let shown: String =
        if shown.chars().count() > 80 { shown.chars().take(80).chain(['…']).collect() } else { shown };
    Error::InvalidOptions(format!("{at} must be {allowed}, not {shown}"))
}
