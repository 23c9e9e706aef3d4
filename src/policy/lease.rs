//! Leases: how many jobs of a namespace run at once, over all workers.

use alloc::vec::Vec;

use crate::Positive;
use crate::sorted_map::{SortedMap, insert};

/// At most `limit` jobs at once, each of which holds a lease that it renews.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Concurrency {
    /// Jobs.
    pub limit: Positive,
    /// Milliseconds that a lease is good for without being renewed.
    pub lease: Positive,
}

/// The leases that are held, by id.
#[derive(Clone, Debug, Default)]
pub struct Leases {
    expires: SortedMap<u64>,
    /// No lease runs out before this.
    earliest: u64,
    /// No lease runs out after this.
    latest: u64,
}

impl Leases {
    /// Drops the leases that ran out. One found further in the future than a whole lease, after the clock stepped back,
    /// counts as made now, where a policy says how long a lease is.
    pub(super) fn expire(&mut self, now: u64, concurrency: Option<Concurrency>) {
        let furthest = concurrency.map_or(u64::MAX, |Concurrency { lease, .. }| now.saturating_add(lease.get()));
        if self.latest > furthest {
            self.latest = furthest;
            self.earliest = self.earliest.min(furthest);
            for expires in self.expires.values_mut() {
                *expires = furthest.min(*expires);
            }
        }
        self.run_out(now);
    }

    /// Drops the leases that had run out by `now`.
    pub(super) fn run_out(&mut self, now: u64) {
        if self.earliest > now {
            return;
        }
        self.expires.retain(|expires| *expires > now);
        self.earliest = self.expires.iter().map(|(_, expires)| *expires).min().unwrap_or(u64::MAX);
    }

    /// Whether [`Leases::expire`] counts any as made now. For stores.
    pub(crate) fn any_ahead(&self, now: u64, lease: Positive) -> bool {
        self.latest > now.saturating_add(lease.get())
    }

    /// Those that are held. For stores.
    pub(crate) fn ids(&self) -> impl Iterator<Item = &[u8]> {
        self.expires.iter().map(|(id, _)| id)
    }

    /// How many are held.
    pub fn len(&self) -> usize {
        self.expires.len()
    }

    /// When the lease `id` runs out.
    pub fn expires(&self, id: &[u8]) -> Option<u64> {
        self.expires.get(id).copied()
    }

    /// When fewer than `limit` are held, if nobody renews; `None` when that is so now.
    ///
    /// There may be more than `limit` after a policy of a greater one.
    pub(super) fn free_at(&self, limit: Positive) -> Option<u64> {
        let excess = usize::try_from((self.len() as u64).checked_sub(limit.get())?).ok()?;
        // Those that must run out, soonest first.
        let mut soonest = Vec::new();
        for (_, expires) in self.expires.iter() {
            let at = soonest.partition_point(|sooner| sooner <= expires);
            if at <= excess {
                insert(&mut soonest, at, *expires);
                soonest.truncate(excess.saturating_add(1));
            }
        }
        soonest.last().copied()
    }

    /// Holds `id` until `expires`.
    pub(super) fn hold(&mut self, id: &[u8], expires: u64) {
        self.expires.insert(id, expires);
        self.earliest = self.earliest.min(expires);
        self.latest = self.latest.max(expires);
    }

    /// Holds `id` until `expires` if it is held; whether it is.
    pub(super) fn renew(&mut self, id: &[u8], expires: u64) -> bool {
        let held = self.expires(id).is_some();
        if held {
            self.hold(id, expires);
        }
        held
    }

    /// Lets go of `id`; whether it was held.
    pub(super) fn release(&mut self, id: &[u8]) -> bool {
        self.expires.remove(id).is_some()
    }
}
