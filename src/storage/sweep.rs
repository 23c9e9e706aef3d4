//! What has expired, deleted a bounded number of rows at a time.
//!
//! A pass walks the whole table in steps, so a step's work is bounded and no index is needed. What it deletes is found
//! from the stored times alone: a pass that comes late, twice, or not at all changes no decision.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::schema::{AFTER_ALL, BEFORE_ALL};
use super::store::Store;
use super::{Bind, Cell, Query, Sql};
use crate::keyspace::NEVER;

/// The least time between two passes while they find nothing to delete, and the most.
const SHORTEST_WAIT_MS: u64 = 1000;
const LONGEST_WAIT_MS: u64 = 16_000;

/// What a step of a pass found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Swept {
    /// Nothing at all is stored any more: delete everything and call [`Store::cleared`].
    Empty,
    /// Sweep again at this time, which is later than now.
    Again(u64),
    /// What is stored never expires: a limiter, a policy, text.
    Lasting,
}

/// How far a pass has come.
#[derive(Default)]
pub(super) struct Pass {
    /// The last row of the last step; none between two passes.
    after: Option<(i64, Box<[u8]>, i64)>,
    /// The earliest expiry among the rows that stay.
    earliest: Option<u64>,
    deleted: bool,
    wait: u64,
}

impl<S: Sql> Store<S> {
    /// The earliest expiry that was written since this was last asked; when something can be deleted.
    pub const fn take_earliest(&mut self) -> Option<u64> {
        match self.earliest.take() {
            Some(NEVER) => None,
            earliest => earliest,
        }
    }

    /// Deletes what has expired by `now` among the next `rows` rows.
    ///
    /// # Errors
    /// The database failed; the store must be dropped.
    pub fn sweep(&mut self, now: u64, rows: u32) -> Result<Swept, S::Failure> {
        self.engine.advance(now);
        self.flush()?;
        if !self.table {
            return Ok(Swept::Empty);
        }
        let mut pass = core::mem::take(&mut self.pass);
        if pass.after.is_none() {
            // All that was written so far is in front of this pass.
            self.earliest = None;
        }
        let (space, name, at) = pass.after.take().unwrap_or((BEFORE_ALL, Box::default(), 0));
        let [space, name, at] = [Bind::Integer(space), Bind::Bytes(&name), Bind::at(at)];
        let skipped = Bind::Integer(rows.saturating_sub(1).into());
        let last = self.sql.read(Query::EndOfStep, &[space, name, at, skipped])?;
        let last = last.first().and_then(|row| place(row));
        let [last_space, last_name, last_at] = match &last {
            Some((space, name, at)) => [Bind::Integer(*space), Bind::Bytes(name), Bind::at(*at)],
            None => [Bind::Integer(AFTER_ALL), Bind::Bytes(b""), Bind::Integer(0)],
        };
        let range = [space, name, at, last_space, last_name, last_at];
        let first_expiry = loop {
            let first = earliest(&self.sql.read(Query::Earliest, &range)?);
            if first.is_none_or(|expires| expires > now) {
                break first;
            }
            let range = [space, name, at, last_space, last_name, last_at, now.into()];
            self.sql.write(Query::DeleteExpiredBetween, &range)?;
            pass.deleted = true;
        };
        pass.earliest = least(pass.earliest, first_expiry);
        if let Some(last) = last {
            pass.after = Some(last);
            self.pass = pass;
            return Ok(Swept::Again(now.saturating_add(1)));
        }
        let wait = if pass.deleted { 0 } else { pass.wait.saturating_mul(2).clamp(SHORTEST_WAIT_MS, LONGEST_WAIT_MS) };
        self.pass = Pass { wait, ..Pass::default() };
        let next = least(pass.earliest, self.take_earliest());
        if self.sql.read(Query::AnythingLeft, &[])?.is_empty() {
            return Ok(Swept::Empty);
        }
        Ok(match next {
            Some(expires) => Swept::Again(expires.max(now.saturating_add(wait.max(1)))),
            None => Swept::Lasting,
        })
    }
}

fn place(row: &[Cell]) -> Option<(i64, Box<[u8]>, i64)> {
    let [space, name, at] = row else { return None };
    Some((space.signed()?, name.bytes()?.into(), at.at()?))
}

/// The least expiry of the rows; one that is no integer is too far off to wait for.
fn earliest(rows: &[Vec<Cell>]) -> Option<u64> {
    let least = rows.first()?.first()?.signed()?;
    u64::try_from(least).ok()
}

fn least(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}
