//! A policy out of JSON, or the reason why it is none.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::canonical::{self, Fingerprint};
use super::interval;
use super::json::{Json, Kind};
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
        let json = core::str::from_utf8(json).map_err(|error| not_json(error.valid_up_to()))?;
        let value = Json::read(json).map_err(not_json)?;
        let (rate, concurrency) = match value.as_object() {
            Some(fields) if field(fields, "rate").is_some() => {
                only(fields, "policy", &["rate", "concurrency"])?;
                let concurrency = field(fields, "concurrency").map(read_concurrency).transpose()?;
                (field(fields, "rate").unwrap_or(&value), concurrency)
            }
            _ => (&value, None),
        };
        let mut rules = Vec::new();
        match &rate.kind {
            Kind::Array(given) if !given.is_empty() => {
                for (index, rule) in given.iter().enumerate() {
                    rules.push(read_rule(&format!("rate[{index}]"), rule)?);
                }
            }
            Kind::Array(_) => return Err(invalid("rate", Some(rate), "a rule, or an array of at least one")),
            _ => rules.push(read_rule("rate", rate)?),
        }
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

    /// The policy as JSON that reads as the same one, its rules in their order. For stores.
    pub fn in_order(&self) -> String {
        canonical::in_order(&self.rules, self.concurrency.as_ref())
    }
}

type Field<'a> = (String, Json<'a>);

/// The field called `name`.
fn field<'a>(fields: &'a [Field<'a>], name: &str) -> Option<&'a Json<'a>> {
    fields.iter().find(|(given, _)| given == name).map(|(_, value)| value)
}

fn read_rule(at: &str, value: &Json<'_>) -> Result<PolicyRule, Error> {
    let Some(fields) = value.as_object() else {
        return Err(invalid(at, Some(value), "a rule: { limit, interval, algorithm?, burst?, name?, scope? }"));
    };
    only(fields, at, &["limit", "interval", "algorithm", "burst", "name", "scope"])?;
    let field = |name: &str| (format!("{at}.{name}"), field(fields, name));
    let text = |name: &str| {
        let (path, value) = field(name);
        let Some(value) = value else { return Ok(None) };
        match value.as_text().filter(|text| text.len() <= MAX_NAME_BYTES) {
            Some(text) => Ok(Some(Box::from(text))),
            None => Err(invalid(&path, Some(value), "text of at most 4096 bytes")),
        }
    };
    let algorithm = match field("algorithm") {
        (_, None) => RuleAlgorithm::Gcra,
        (path, Some(value)) => RuleAlgorithm::ALL
            .into_iter()
            .find(|algorithm| value.as_text() == Some(algorithm.name()))
            .ok_or_else(|| invalid(&path, Some(value), "gcra, fixed-window or sliding-window"))?,
    };
    let burst = field("burst");
    let rule = PolicyRule {
        limit: positive(field("limit"))?,
        interval: read_interval(field("interval"))?,
        algorithm,
        burst: if burst.1.is_some() { positive(burst)? } else { Positive::ONE },
        name: text("name")?,
        scope: text("scope")?,
    };
    if rule.scope.is_some() && rule.name.is_none() {
        return Err(invalid(&field("name").0, None, "given, since the rule has a scope"));
    }
    Ok(rule)
}

fn read_concurrency(value: &Json<'_>) -> Result<Concurrency, Error> {
    let Some(fields) = value.as_object() else {
        return Err(invalid("concurrency", Some(value), "{ limit, lease? }"));
    };
    only(fields, "concurrency", &["limit", "lease"])?;
    let limit = positive(("concurrency.limit".to_string(), field(fields, "limit")))?;
    let lease = match field(fields, "lease") {
        Some(value) => read_interval(("concurrency.lease".to_string(), Some(value)))?,
        None => Positive::new(DEFAULT_LEASE_MS).unwrap_or(Positive::ONE),
    };
    Ok(Concurrency { limit, lease })
}

fn read_interval((path, value): (String, Option<&Json<'_>>)) -> Result<Positive, Error> {
    let read = value.and_then(|value| match value.as_text() {
        Some(text) => interval::parse(text),
        None => value.as_integer().and_then(Positive::new),
    });
    read.ok_or_else(|| {
        invalid(&path, value, "whole milliseconds from 1, or text such as \"1h30m\" with ms, s, m, h, d, w")
    })
}

fn positive((path, value): (String, Option<&Json<'_>>)) -> Result<Positive, Error> {
    let read = value.and_then(Json::as_integer).and_then(Positive::new);
    read.ok_or_else(|| invalid(&path, value, &format!("an integer from 1 to {MAX_INTEGER}")))
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
                let what = if rule.name.is_some() { "name" } else { "algorithm and interval and no name either" };
                return Err(Error::InvalidOptions(format!(
                    "rate[{index}].name must be different from that of rate[{before}], which has the same {what}"
                )));
            }
        }
    }
    Ok(())
}

/// Refuses any field that is not one of `known`, or is there twice.
fn only(fields: &[Field<'_>], at: &str, known: &[&str]) -> Result<(), Error> {
    for (index, (name, value)) in fields.iter().enumerate() {
        let twice = fields.iter().take(index).any(|(before, _)| before == name);
        if twice || !known.contains(&name.as_str()) {
            let allowed = if twice { "given once".to_string() } else { format!("one of {}", known.join(", ")) };
            return Err(invalid(&format!("{at}.{name}"), Some(value), &allowed));
        }
    }
    Ok(())
}

#[cold]
fn invalid(at: &str, value: Option<&Json<'_>>, allowed: &str) -> Error {
    let shown = value.map_or("nothing", |value| value.text);
    // At most 80 letters of it.
    let (shown, cut) = match shown.char_indices().nth(80) {
        Some((end, _)) => (shown.get(..end).unwrap_or_default(), "…"),
        None => (shown, ""),
    };
    Error::InvalidOptions(format!("{at} must be {allowed}, not {shown}{cut}"))
}

fn not_json(at: usize) -> Error {
    Error::InvalidOptions(format!("the policy is not valid JSON: see byte {at}"))
}
