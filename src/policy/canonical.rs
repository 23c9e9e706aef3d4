//! One spelling for equal policies, and its fingerprint.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use serde_json::Value;
use sha2::{Digest, Sha256};

use super::lease::Concurrency;
use super::rule::{PolicyRule, RuleAlgorithm};

/// The policy with its rules sorted, durations in ms, defaults filled in, and `burst` left out of window rules.
pub(super) fn text(rules: &[PolicyRule], concurrency: Option<&Concurrency>) -> String {
    let mut rules: Vec<String> = rules.iter().map(rule).collect();
    rules.sort_unstable();
    let rules = rules.join(",");
    match concurrency {
        Some(Concurrency { limit, lease }) => {
            format!(r#"{{"concurrency":{{"lease":{},"limit":{}}},"rate":[{rules}]}}"#, lease.get(), limit.get())
        }
        None => format!(r#"{{"rate":[{rules}]}}"#),
    }
}

fn rule(rule: &PolicyRule) -> String {
    let burst = match rule.algorithm {
        RuleAlgorithm::Gcra => format!(r#""burst":{},"#, rule.burst.get()),
        RuleAlgorithm::FixedWindow | RuleAlgorithm::SlidingWindow => String::new(),
    };
    let named = |field: &str, text: &Option<alloc::boxed::Box<str>>| match text {
        Some(text) => format!(r#","{field}":{}"#, quoted(text)),
        None => String::new(),
    };
    format!(
        r#"{{"algorithm":"{}",{burst}"interval":{},"limit":{}{}{}}}"#,
        rule.algorithm.name(),
        rule.interval.get(),
        rule.limit.get(),
        named("name", &rule.name),
        named("scope", &rule.scope),
    )
}

/// Text as JSON.
pub(super) fn quoted(text: &str) -> String {
    format!("{}", Value::from(text))
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
