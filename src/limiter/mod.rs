//! Named limiters: a rule that many keys share, and its totals.
//!
//! - [`Settings`]: what `RATELIMIT.CREATE` says, made into a rule;
//! - [`Rate`]: an exact decimal of units per second;
//! - [`Limiter`]: one of them, with its totals.

mod rate;
mod settings;

pub use rate::Rate;
pub use settings::{Algorithm, Settings};

use alloc::boxed::Box;

use crate::algorithm::Rule;
use crate::keyspace::Space;
use crate::sorted_map::SortedMap;
use crate::{Error, ErrorKind};

/// One named limiter.
#[derive(Clone, Debug)]
pub struct Limiter {
    /// What it was created with.
    pub settings: Settings,
    /// The rule each of its keys follows.
    pub(crate) rule: Rule,
    /// Where its keys' states are.
    pub(crate) space: Space,
    /// Units admitted since it was created.
    pub total_allowed: u64,
    /// Units refused since it was created.
    pub total_denied: u64,
}

/// Every limiter by name, in the order of the names' bytes.
#[derive(Debug, Default)]
pub(crate) struct Limiters {
    by_name: SortedMap<Box<Limiter>>,
}

impl Limiters {
    /// The limiter called `name`.
    ///
    /// # Errors
    /// [`ErrorKind::LimiterNotFound`].
    pub fn get(&self, name: &[u8]) -> Result<&Limiter, Error> {
        self.by_name.get(name).map(AsRef::as_ref).ok_or_else(|| ErrorKind::LimiterNotFound.into())
    }

    /// As [`Limiters::get`], to count.
    ///
    /// # Errors
    /// [`ErrorKind::LimiterNotFound`].
    pub fn get_mut(&mut self, name: &[u8]) -> Result<&mut Limiter, Error> {
        self.by_name.get_mut(name).map(AsMut::as_mut).ok_or_else(|| ErrorKind::LimiterNotFound.into())
    }

    /// Whether there is a limiter called `name`.
    pub fn contains(&self, name: &[u8]) -> bool {
        self.by_name.get(name).is_some()
    }

    /// Adds a limiter; one of the same name is replaced.
    pub fn insert(&mut self, name: &[u8], limiter: Limiter) {
        self.by_name.insert(name, Box::new(limiter));
    }

    /// Removes a limiter.
    ///
    /// # Errors
    /// [`ErrorKind::LimiterNotFound`].
    pub fn remove(&mut self, name: &[u8]) -> Result<Box<Limiter>, Error> {
        self.by_name.remove(name).ok_or_else(|| ErrorKind::LimiterNotFound.into())
    }

    /// All names, sorted by bytes.
    pub fn names(&self) -> impl Iterator<Item = &[u8]> {
        self.by_name.iter().map(|(name, _)| name)
    }

    /// How many limiters there are.
    pub fn len(&self) -> usize {
        self.by_name.len()
    }
}
