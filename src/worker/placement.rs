//! Which Durable Object holds what. A name says what kind of thing it holds, in which namespace, and which one, so that no
//! two of them ever share an object by accident:
//!
//! `key:NAMESPACE:TAG`, `slot:NAMESPACE:NUMBER`, `limiter:NAMESPACE:NAME`, `policy:NAMESPACE:NAME`, `directory:NAMESPACE`

use std::format;
use std::string::String;
use std::vec::Vec;

use sha2::{Digest, Sha256};

/// How keys are spread over objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// One object for each hash tag.
    Tag,
    /// One object for each of 16,384 slots.
    Slot,
}

/// The longest name that the platform is given.
const MAX_NAME_BYTES: usize = 512;
const SLOTS: u16 = 16_384;

/// One namespace's names.
#[derive(Clone, Debug)]
pub struct Names {
    namespace: String,
    placement: Placement,
}

impl Names {
    pub fn new(namespace: &str, placement: Placement) -> Self {
        Self { namespace: escaped(namespace), placement }
    }

    /// The object that holds `key`.
    pub fn key(&self, key: &[u8]) -> String {
        match self.placement {
            Placement::Tag => self.named("key", tag(key)),
            Placement::Slot => shortened(format!("slot:{}:{}", self.namespace, slot(tag(key)))),
        }
    }

    /// The object that holds the limiter `name`.
    pub fn limiter(&self, name: &[u8]) -> String {
        self.named("limiter", name)
    }

    /// The object that holds the policy of `name`.
    pub fn policy(&self, name: &[u8]) -> String {
        self.named("policy", name)
    }

    /// The object that knows the namespace's limiters.
    pub fn directory(&self) -> String {
        shortened(format!("directory:{}", self.namespace))
    }

    fn named(&self, kind: &str, rest: &[u8]) -> String {
        let rest = match str::from_utf8(rest) {
            Ok(text) => String::from(text),
            // Bytes that are no text, with one in front that no text begins with: they are never taken for some.
            Err(_) => format!("\0{}", hex(rest)),
        };
        shortened(format!("{kind}:{}:{rest}", self.namespace))
    }
}

/// What is hashed of a key: what is between the first `{` and the next `}`, or all of it where there is nothing.
pub fn tag(key: &[u8]) -> &[u8] {
    let position = |bytes: &[u8], wanted: u8| bytes.iter().position(|byte| *byte == wanted);
    let inner = position(key, b'{').and_then(|open| key.get(open.saturating_add(1)..));
    let inner = inner.and_then(|rest| rest.get(..position(rest, b'}')?));
    inner.filter(|inner| !inner.is_empty()).unwrap_or(key)
}

/// The cluster slot of a tag: CRC-16/XMODEM of its bytes, modulo 16,384.
pub fn slot(tag: &[u8]) -> u16 {
    let mut crc = 0_u16;
    for byte in tag {
        crc ^= u16::from(*byte) << 8;
        for _ in 0..8 {
            let carry = crc & 0x8000 != 0;
            crc <<= 1;
            if carry {
                crc ^= 0x1021;
            }
        }
    }
    crc % SLOTS
}

/// A name that the platform takes: a longer one is replaced by its SHA-256.
fn shortened(name: String) -> String {
    if name.len() <= MAX_NAME_BYTES { name } else { format!("sha256:{}", hex(&Sha256::digest(name.as_bytes()))) }
}

fn hex(bytes: &[u8]) -> String {
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.filter_map(|digit| char::from_digit(u32::from(digit), 16)).collect()
}

/// A namespace with `%` and hexadecimal in place of everything that `encodeURIComponent` does not leave alone.
fn escaped(namespace: &str) -> String {
    let mut escaped = Vec::new();
    for byte in namespace.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.!~*'()".contains(&byte) {
            escaped.push(byte);
        } else {
            escaped.push(b'%');
            escaped.extend(hex(&[byte]).to_ascii_uppercase().into_bytes());
        }
    }
    String::from_utf8(escaped).unwrap_or_default()
}
