//! A record as bytes in an arena.
//!
//! ```text
//! | space: 4 | name's length: 2 | kind: 1 | 0: 1 | name, padded to 4 | payload: 16, or 32 of a timed tat |
//! ```
//! Every number is little-endian. A payload's first eight bytes tell when the record expires: they are the time itself,
//! or the whole milliseconds of a tat, which expires when it has recovered.

use super::{Key, Space, State, Value};
use crate::algorithm::{Count, Tat};

const HEADER: usize = 8;
/// The longest name a record can have; longer than any that the engine lets in.
pub(super) const MAX_NAME: usize = 1 << 14;
/// The bits of a header that say whose record it is.
const IDENTITY: u64 = 0x0000_ffff_ffff_ffff;

const TAT: u64 = 1;
const TIMED: u64 = 2;
const COUNT: u64 = 3;
const LOG: u64 = 4;
const TEXT: u64 = 5;

const SHORT: usize = 16;
const LONG: usize = 32;

/// A record's state as the arena holds it: what is larger is a body beside it.
#[derive(Clone, Copy)]
pub(super) struct Stored {
    kind: u64,
    words: [u64; LONG / 8],
}

impl Stored {
    /// How `value` is stored; a body is in no place yet.
    pub fn of(value: &Value) -> Self {
        let (kind, words) = match value {
            Value::Tat { tat, expires } if *expires == tat.ceil() && is_compact(*tat) => {
                (TAT, [tat.ms, packed(*tat), 0, 0])
            }
            Value::Tat { tat, expires } => (TIMED, [*expires, tat.ms, tat.remainder, tat.denominator]),
            Value::Count(count) => (COUNT, [count.ends, count.units, 0, 0]),
            Value::Log { log, window } => (LOG, [State::Log { log, window: *window }.expires(), 0, 0, 0]),
            Value::Text { expires, .. } => (TEXT, [*expires, 0, 0, 0]),
        };
        Self { kind, words }
    }

    /// The first millisecond at which the record is gone.
    pub const fn expires(&self) -> u64 {
        let [first, second, ..] = self.words;
        expires(self.kind, first, second)
    }

    /// The same, with its body in another place.
    pub const fn with_body(self, body: u32) -> Self {
        let [first, ..] = self.words;
        Self { kind: self.kind, words: [first, body as u64, 0, 0] }
    }
}

const fn expires(kind: u64, first: u64, second: u64) -> u64 {
    first.saturating_add((kind == TAT && low(second) > 0) as u64)
}

/// A state that is its two words in the arena and nothing else.
#[derive(Clone, Copy)]
pub(super) enum Short {
    Tat(Tat),
    Count(Count),
}

impl Short {
    /// Its words, if it is small enough, and the kind of a record that holds them.
    #[inline(always)]
    const fn words(self) -> Option<(u64, [u64; 2])> {
        match self {
            Self::Tat(tat) if is_compact(tat) => Some((TAT, [tat.ms, packed(tat)])),
            Self::Tat(_) => None,
            Self::Count(count) => Some((COUNT, [count.ends, count.units])),
        }
    }
}

/// A record where it lies.
#[derive(Clone, Copy)]
pub(super) struct Record<'a> {
    header: u64,
    /// Everything after the header, and after this record.
    rest: &'a [u8],
}

impl<'a> Record<'a> {
    /// The record that starts at the front of `bytes`.
    #[inline]
    pub fn at(bytes: &'a [u8]) -> Option<Self> {
        let (header, rest) = bytes.split_first_chunk::<HEADER>()?;
        Some(Self { header: u64::from_le_bytes(*header), rest })
    }

    #[inline]
    pub fn is(&self, key: Key<'_>) -> bool {
        self.header & IDENTITY == identity(key)
            && self.rest.get(..key.name.len()).is_some_and(|name| same(name, key.name))
    }

    /// Whether the whole header is this one, and the name the key's.
    #[inline(always)]
    pub fn has(&self, header: u64, key: Key<'_>) -> bool {
        self.header == header && self.rest.get(..key.name.len()).is_some_and(|name| same(name, key.name))
    }

    const fn kind(&self) -> u64 {
        self.header >> 48
    }

    const fn name_len(&self) -> usize {
        (self.header >> 32) as usize & 0xffff
    }

    pub fn key(&self) -> Key<'a> {
        Key { space: space(self.header), name: self.rest.get(..self.name_len()).unwrap_or_default() }
    }

    /// What it holds, if that is no body.
    pub fn bare(&self) -> Option<State<'static>> {
        let state = self.rest.get(padded(self.name_len())..).unwrap_or_default();
        let [first, second] = self.words();
        match self.kind() {
            TAT => {
                let tat = Tat { ms: first, remainder: low(second), denominator: high(second) };
                Some(State::Tat { tat, expires: tat.ceil() })
            }
            TIMED => {
                let tat = Tat { ms: second, remainder: word(state, 16), denominator: word(state, 24) };
                Some(State::Tat { tat, expires: first })
            }
            COUNT => Some(State::Count(Count { ends: first, units: second })),
            _ => None,
        }
    }

    /// What the record of `key` holds, if it is one of the states that nearly every decision is about.
    #[inline(always)]
    pub fn short_of(&self, key: Key<'_>) -> Option<Short> {
        let payload: &[u8; SHORT] = self.rest.get(padded(key.name.len())..)?.first_chunk()?;
        match self.kind() {
            TAT => Some(Short::Tat(read_tat(payload))),
            COUNT => Some(Short::Count(Count { ends: word(payload, 0), units: word(payload, 8) })),
            _ => None,
        }
    }

    /// The first two words of its state.
    #[inline]
    fn words(&self) -> [u64; 2] {
        let state = self.rest.get(padded(self.name_len())..).unwrap_or_default();
        [word(state, 0), word(state, 8)]
    }

    /// When it is gone, and where its body is, if it has one.
    #[inline]
    pub fn ends(&self) -> (u64, Option<u32>) {
        let [first, second] = self.words();
        let body = matches!(self.kind(), LOG | TEXT).then(|| index(second));
        (expires(self.kind(), first, second), body)
    }

    /// The first millisecond at which it is gone.
    pub fn expires(&self) -> u64 {
        self.ends().0
    }

    /// Where its body is, if it has one.
    pub fn body(&self) -> Option<u32> {
        self.ends().1
    }

    /// How many bytes the whole record takes.
    pub const fn size(&self) -> usize {
        size_of_kind(self.kind(), self.name_len())
    }
}

/// How many bytes a record of `key` takes.
pub(super) const fn size(key: Key<'_>, stored: &Stored) -> usize {
    size_of_kind(stored.kind, key.name.len())
}

const fn size_of_kind(kind: u64, name_len: usize) -> usize {
    let payload = if kind == TIMED { LONG } else { SHORT };
    HEADER.saturating_add(padded(name_len)).saturating_add(payload)
}

/// Writes a record into `bytes`, which are zeros and just as many as it takes.
pub(super) fn write(bytes: &mut [u8], key: Key<'_>, stored: &Stored) {
    let Some((head, rest)) = bytes.split_first_chunk_mut::<HEADER>() else { return };
    *head = (identity(key) | stored.kind << 48).to_le_bytes();
    let Some((name, payload)) = rest.split_at_mut_checked(padded(key.name.len())) else { return };
    if let Some(name) = name.get_mut(..key.name.len()) {
        name.copy_from_slice(key.name);
    }
    write_payload(payload, stored);
}

fn write_payload(payload: &mut [u8], stored: &Stored) {
    let (chunks, _) = payload.as_chunks_mut::<8>();
    let words = if stored.kind == TIMED { LONG / 8 } else { SHORT / 8 };
    for (chunk, word) in chunks.iter_mut().zip(stored.words).take(words) {
        *chunk = word.to_le_bytes();
    }
}

/// Overwrites the state of the record at the front of `bytes`; whether it fits in its place.
pub(super) fn overwrite(bytes: &mut [u8], stored: &Stored) -> bool {
    let Some(record) = Record::at(bytes) else { return false };
    let name_len = record.name_len();
    if record.size() != size_of_kind(stored.kind, name_len) {
        return false;
    }
    let header = record.header & IDENTITY | stored.kind << 48;
    let Some((head, rest)) = bytes.split_first_chunk_mut::<HEADER>() else { return false };
    *head = header.to_le_bytes();
    let Some(payload) = rest.get_mut(padded(name_len)..) else { return false };
    write_payload(payload, stored);
    true
}

/// Says where the body of the record at the front of `bytes`, which has one, is now.
pub(super) fn set_body(bytes: &mut [u8], body: u32) {
    let Some(record) = Record::at(bytes) else { return };
    let at = HEADER.saturating_add(padded(record.name_len())).saturating_add(8);
    if let Some(second) = bytes.get_mut(at..).and_then(|rest| rest.first_chunk_mut::<8>()) {
        *second = u64::from(body).to_le_bytes();
    }
}

/// Overwrites the state of the record of `key` at the front of `bytes`, if it is of that kind already: the first word then,
/// before which it is not over.
#[inline(always)]
pub(super) fn overwrite_same(bytes: &mut [u8], key: Key<'_>, short: Short) -> Option<u64> {
    let (kind, words) = short.words()?;
    overwrite_words(bytes, key, kind, words)
}

/// As [`overwrite_same`], of a log whose body stays.
pub(super) fn overwrite_log(bytes: &mut [u8], key: Key<'_>, body: u32, expires: u64) {
    overwrite_words(bytes, key, LOG, [expires, u64::from(body)]);
}

#[inline(always)]
fn overwrite_words(bytes: &mut [u8], key: Key<'_>, kind: u64, [first, second]: [u64; 2]) -> Option<u64> {
    let (head, rest) = bytes.split_first_chunk_mut::<HEADER>()?;
    if u64::from_le_bytes(*head) >> 48 != kind {
        return None;
    }
    let payload = rest.get_mut(padded(key.name.len())..)?.first_chunk_mut::<SHORT>()?;
    *payload = (u128::from(first) | u128::from(second) << 64).to_le_bytes();
    Some(first)
}

/// Where the state of the [`Stored::Tat`] of `key` is, in the bytes that start with its record.
#[inline(always)]
pub(super) fn tat_mut<'a>(bytes: &'a mut [u8], key: Key<'_>) -> Option<&'a mut TatBytes> {
    bytes.get_mut(HEADER.wrapping_add(padded(key.name.len()))..)?.first_chunk_mut()
}

/// A tat in an arena.
pub(super) type TatBytes = [u8; SHORT];

#[inline]
pub(super) fn read_tat(bytes: &TatBytes) -> Tat {
    let (ms, grains) = (word(bytes, 0), word(bytes, 8));
    Tat { ms, remainder: low(grains), denominator: high(grains) }
}

/// Whether `tat` is small enough to be written.
#[inline]
pub(super) fn write_tat(bytes: &mut TatBytes, tat: Tat) -> bool {
    if !is_compact(tat) {
        return false;
    }
    *bytes = (u128::from(tat.ms) | u128::from(packed(tat)) << 64).to_le_bytes();
    true
}

/// The header of a [`Stored::Tat`] of `key`, whose name must not be longer than [`MAX_NAME`].
#[inline]
pub(super) const fn header_of_tat(key: Key<'_>) -> u64 {
    identity(key) | TAT << 48
}

/// A header without its kind.
#[inline]
const fn identity(key: Key<'_>) -> u64 {
    key.space.0 as u64 | (key.name.len() as u64) << 32
}

#[expect(clippy::cast_possible_truncation, reason = "the low half")]
const fn space(header: u64) -> Space {
    Space(header as u32)
}

const fn padded(len: usize) -> usize {
    len.saturating_add(3) & !3
}

const fn is_compact(tat: Tat) -> bool {
    (tat.remainder | tat.denominator) >> 32 == 0
}

const fn packed(tat: Tat) -> u64 {
    tat.remainder | tat.denominator << 32
}

const fn low(word: u64) -> u64 {
    word & 0xffff_ffff
}

const fn high(word: u64) -> u64 {
    word >> 32
}

#[expect(clippy::cast_possible_truncation, reason = "written from 32 bits")]
const fn index(word: u64) -> u32 {
    word as u32
}

#[inline]
fn word(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..).and_then(|bytes| bytes.first_chunk()).map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

/// Whether two names of one length are the same: eight bytes at a time, and the last eight again.
#[inline]
fn same(one: &[u8], other: &[u8]) -> bool {
    let (whole, rest) = one.as_chunks::<8>();
    let (whole_too, rest_too) = other.as_chunks::<8>();
    if !whole.iter().zip(whole_too).all(|(one, other)| u64::from_le_bytes(*one) == u64::from_le_bytes(*other)) {
        return false;
    }
    match (one.last_chunk::<8>(), other.last_chunk::<8>()) {
        (Some(one), Some(other)) => u64::from_le_bytes(*one) == u64::from_le_bytes(*other),
        _ => rest.iter().zip(rest_too).all(|(one, other)| one == other),
    }
}
