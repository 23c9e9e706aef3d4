//! One spelling for equal policies, and its fingerprint.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use sha2::compress256;

use super::json::push_quoted;
use super::lease::Concurrency;
use super::rule::{PolicyRule, RuleAlgorithm};
use crate::Positive;
use crate::sorted_map::insert;
use crate::text::{push, push_number};

/// The policy with durations in ms, defaults filled in, and `burst` left out of window rules; its rules sorted, or in the order
/// they were given.
pub(super) fn text(rules: &[PolicyRule], concurrency: Option<&Concurrency>, sorted: bool) -> String {
    let mut texts: Vec<String> = Vec::with_capacity(rules.len());
    for rule in rules {
        let rule = self::rule(rule);
        let at = if sorted { texts.partition_point(|before| *before < rule) } else { texts.len() };
        insert(&mut texts, at, rule);
    }
    let mut json = String::from("{");
    if let Some(Concurrency { limit, lease }) = concurrency {
        push_integer(&mut json, "\"concurrency\":{\"lease\":", *lease);
        push_integer(&mut json, ",\"limit\":", *limit);
        push(&mut json, "},");
    }
    push(&mut json, "\"rate\":");
    for (index, rule) in texts.iter().enumerate() {
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
        let mut hex = [b'0'; 64];
        for (digits, mut word) in hex.as_chunks_mut::<8>().0.iter_mut().zip(sha256(canonical.as_bytes())) {
            for digit in digits {
                word = word.rotate_left(4);
                *digit = *b"0123456789abcdef".get(word as usize & 15).unwrap_or(&0);
            }
        }
        Self(hex)
    }

    /// Its 64 digits.
    pub const fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

/// SHA-256: the blocks of the text, a one after its last byte and its length in bits at the end. The compression is the
/// crate's; its buffer for texts that come in pieces would be as much code again.
fn sha256(text: &[u8]) -> [u32; 8] {
    let mut state =
        [0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19];
    let bits = (text.len() as u64).wrapping_mul(8).to_be_bytes();
    let mut start = 0_usize;
    loop {
        let mut block = [0; 64];
        if let Some(rest) = text.get(start..) {
            block.iter_mut().zip(rest.iter().chain(&[0x80])).for_each(|(place, byte)| *place = *byte);
        }
        start = start.saturating_add(64);
        let last = start >= text.len().saturating_add(9);
        if last && let Some(place) = block.last_chunk_mut() {
            *place = bits;
        }
        compress256(&mut state, &[block.into()]);
        if last {
            return state;
        }
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
