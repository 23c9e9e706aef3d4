//! One spelling for equal policies, and its fingerprint.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use sha2::{Digest, Sha256};

use super::json::push_quoted;
use super::lease::Concurrency;
use super::rule::{PolicyRule, RuleAlgorithm};
use crate::Positive;
use crate::text::{push, push_number};

/// The policy with its rules sorted, durations in ms, defaults filled in, and `burst` left out of window rules.
pub(super) fn text(rules: &[PolicyRule], concurrency: Option<&Concurrency>) -> String {
    let mut sorted: Vec<String> = Vec::with_capacity(rules.len());
    for rule in rules {
        let rule = self::rule(rule);
        sorted.insert(sorted.partition_point(|before| *before < rule), rule);
    }
    json(&sorted, concurrency)
}

/// The same with its rules in the order they were given.
pub(super) fn in_order(rules: &[PolicyRule], concurrency: Option<&Concurrency>) -> String {
    let rules: Vec<String> = rules.iter().map(rule).collect();
    json(&rules, concurrency)
}

fn json(rules: &[String], concurrency: Option<&Concurrency>) -> String {
    let mut json = String::from("{");
    if let Some(Concurrency { limit, lease }) = concurrency {
        push_integer(&mut json, "\"concurrency\":{\"lease\":", *lease);
        push_integer(&mut json, ",\"limit\":", *limit);
        push(&mut json, "},");
    }
    push(&mut json, "\"rate\":");
    for (index, rule) in rules.iter().enumerate() {
        push(&mut json, if index == 0 { "[" } else { "," });
        push(&mut json, rule);
    }
    push(&mut json, "]}");
    json
}

fn rule(rule: &PolicyRule) -> String {
    let mut json = String::from("{\"algorithm\":");
    push_quoted(&mut json, rule.algorithm.name());
    if rule.algorithm == RuleAlgorithm::Gcra {
        push_integer(&mut json, ",\"burst\":", rule.burst);
    }
    push_integer(&mut json, ",\"interval\":", rule.interval);
    push_integer(&mut json, ",\"limit\":", rule.limit);
    for (field, text) in [(",\"name\":", &rule.name), (",\"scope\":", &rule.scope)] {
        if let Some(text) = text {
            push(&mut json, field);
            push_quoted(&mut json, text);
        }
    }
    push(&mut json, "}");
    json
}

/// Appends `field` and a number.
pub(super) fn push_integer(json: &mut String, field: &str, value: Positive) {
    push(json, field);
    push_number(json, value.get());
}

/// SHA-256 of a canonical policy, in lower-case hexadecimal.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Fingerprint([u8; 64]);

impl Fingerprint {
    pub(super) fn of(canonical: &str) -> Self {
        let digest = Sha256::digest(canonical.as_bytes());
        let mut hex = [b'0'; 64];
        for (pair, byte) in hex.chunks_exact_mut(2).zip(digest) {
            let digit = |value: u8| {
                if value < 10 { b'0'.wrapping_add(value) } else { b'a'.wrapping_add(value.wrapping_sub(10)) }
            };
            pair.copy_from_slice(&[digit(byte >> 4), digit(byte & 15)]);
        }
        Self(hex)
    }

    /// Its 64 digits.
    pub const fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(core::str::from_utf8(&self.0).unwrap_or_default())
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
