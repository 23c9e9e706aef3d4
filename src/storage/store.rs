//! The engine with its database.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::cell::Kind;
use super::known::Known;
use super::schema::{META, MIGRATIONS, RECORD, VERSION, put};
use super::sweep::Pass;
use super::{Bind, Query, Sql};
#[cfg(feature = "store")]
use crate::command::decide;
use crate::command::{Backend, Command};
use crate::keyspace::{Change, Space};
use crate::sorted_map::SortedMap;
use crate::{Engine, Error, ErrorKind, Flow, Options, Session};

/// Refused units are saved at the latest this long after the first of them.
const SAVE_DENIALS_MS: u64 = 10_000;

/// How a store is made.
#[derive(Clone, Debug)]
pub struct StoreOptions {
    /// The engine's own.
    pub engine: Options,
    /// How many keys are held in memory; past that memory is dropped and filled again as keys are named.
    pub cached_keys: usize,
}

impl Default for StoreOptions {
    fn default() -> Self {
        Self { engine: Options::default(), cached_keys: 10_000 }
    }
}

/// Why a database can't be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenError<F> {
    /// The database failed.
    Failed(F),
    /// It was written by a newer version of this code; holds its schema's version.
    Newer(u64),
}

impl<F> From<F> for OpenError<F> {
    fn from(failure: F) -> Self {
        Self::Failed(failure)
    }
}

/// An engine whose state is in a database, of which memory is a cache.
pub struct Store<S: Sql> {
    pub(super) engine: Engine,
    pub(super) sql: S,
    options: StoreOptions,
    pub(super) known: Known,
    /// Changes that are not written yet.
    pub(super) pending: Vec<Change>,
    /// Whether the table is there; an object that never stored anything has none.
    pub(super) table: bool,
    /// The space after the last one that the database knows to be taken.
    pub(super) next_space: u32,
    /// The time that the database would start from.
    pub(super) saved_now: u64,
    /// The earliest expiry written since it was last asked for.
    pub(super) earliest: Option<u64>,
    pub(super) pass: Pass,
    /// Limiters asked in this chunk.
    pub(super) asked: SortedMap<()>,
    denials_due: Option<u64>,
    pub(super) failed: Option<S::Failure>,
}

impl<S: Sql> Store<S> {
    /// Opens a database; an empty one stays empty until something is stored.
    ///
    /// # Errors
    /// [`OpenError`].
    pub fn open(sql: S, options: StoreOptions) -> Result<Self, OpenError<S::Failure>> {
        Self::open_with(sql, options, VERSION, MIGRATIONS)
    }

    pub(super) fn open_with(
        sql: S,
        options: StoreOptions,
        version: u64,
        migrations: &[Query],
    ) -> Result<Self, OpenError<S::Failure>> {
        let engine = Engine::new(&options.engine);
        let mut store = Self {
            engine,
            sql,
            options,
            known: Known::default(),
            pending: Vec::new(),
            table: false,
            next_space: 1,
            saved_now: 0,
            earliest: None,
            pass: Pass::default(),
            asked: SortedMap::default(),
            denials_due: None,
            failed: None,
        };
        store.table = !store.sql.read(Query::TableExists, &[])?.is_empty();
        if store.table {
            let rows = store.sql.read(Query::ReadKey, &[Bind::Integer(META), Bind::Bytes(b"")])?;
            let column = |index: usize| rows.first().and_then(|row| row.get(index)).and_then(super::Cell::unsigned);
            let found = column(2).unwrap_or(version);
            if found > version {
                return Err(OpenError::Newer(found));
            }
            store.saved_now = column(3).unwrap_or(0);
            store.next_space = column(4).and_then(|space| u32::try_from(space).ok()).unwrap_or(1);
            if found < version {
                store.sql.begin()?;
                let done = usize::try_from(found).unwrap_or(usize::MAX).saturating_sub(1);
                for migration in migrations.iter().skip(done) {
                    store.sql.write(*migration, &[])?;
                }
                store.write_meta(version)?;
                store.sql.commit()?;
            }
        } else {
            store.known.clear_all();
        }
        store.start(store.saved_now);
        Ok(store)
    }

    /// Starts the engine, which is new, at a time that it has served.
    fn start(&mut self, now: u64) {
        let keyspace = self.engine.keyspace();
        keyspace.keep_journal();
        keyspace.advance(now);
        keyspace.reserve_space(Space(self.next_space.saturating_sub(1)));
    }

    /// Takes bytes of a client, as [`Session::feed`] does, and writes what they changed before it returns. The replies are
    /// good only when it returns without an error.
    ///
    /// # Errors
    /// The database failed: the store must be dropped, and another one opened on what the database holds.
    pub fn feed(
        &mut self,
        session: &mut Session,
        now: u64,
        input: &[u8],
        output: &mut Vec<u8>,
    ) -> Result<Flow, S::Failure> {
        self.make_room()?;
        let flow = session.feed(self, now, input, output);
        self.write_down(now)?;
        Ok(flow)
    }

    /// The integers that `GCRA.LIMIT` or `RATELIMIT.CHECK` replies, as [`Store::feed`] of it alone.
    ///
    /// # Errors
    /// As [`Store::feed`]; inside, what the command replies with.
    #[cfg(feature = "store")]
    pub(super) fn decide(&mut self, now: u64, command: &Command<'_>) -> Result<Result<[i64; 5], Error>, S::Failure> {
        self.make_room()?;
        let integers = decide(self, now, command);
        self.write_down(now)?;
        Ok(integers)
    }

    /// Lets go of what is in memory when that is too much.
    fn make_room(&mut self) -> Result<(), S::Failure> {
        if self.known.len() > self.options.cached_keys {
            self.save_denials()?;
            self.forget();
        }
        Ok(())
    }

    /// Writes what commands changed, unless they failed.
    fn write_down(&mut self, now: u64) -> Result<(), S::Failure> {
        if let Some(failure) = self.failed.take() {
            return Err(failure);
        }
        self.flush()?;
        self.note_denials(now);
        Ok(())
    }

    /// When [`Store::save_denials`] is due: some units were refused that the database does not know of.
    pub const fn denials_due(&self) -> Option<u64> {
        self.denials_due
    }

    /// Writes the totals of refused units that the database does not know of.
    ///
    /// # Errors
    /// The database failed.
    pub fn save_denials(&mut self) -> Result<(), S::Failure> {
        if self.denials_due.take().is_none() {
            return Ok(());
        }
        let names: Vec<Box<[u8]>> = self.known.limiters.iter().map(|(name, _)| name.into()).collect();
        for name in names {
            if self.is_unsaved(&name) {
                self.write_limiter(&name)?;
            }
        }
        Ok(())
    }

    /// Writes all that a new store would have to know: the last calls' refusals, and the latest time served.
    ///
    /// # Errors
    /// The database failed.
    pub fn close(&mut self) -> Result<(), S::Failure> {
        self.flush()?;
        self.save_denials()?;
        if self.table && self.saved_now != self.engine.keyspace().now() {
            self.write_meta(VERSION)?;
        }
        Ok(())
    }

    /// Drops what is in memory; the database has it all.
    fn forget(&mut self) {
        let now = self.engine.keyspace().now();
        self.engine = Engine::new(&self.options.engine);
        self.known = Known::default();
        if !self.table {
            self.known.clear_all();
        }
        self.start(now);
    }

    /// Everything was deleted from the database, the table included.
    pub fn cleared(&mut self) {
        self.table = false;
        self.next_space = 1;
        self.saved_now = 0;
        self.earliest = None;
        self.pass = Pass::default();
        self.denials_due = None;
        self.pending = Vec::new();
        self.forget();
    }

    fn is_unsaved(&self, name: &[u8]) -> bool {
        let saved = self.known.limiter(name);
        matches!((saved, self.engine.limiters.get(name)), (Some(saved), Ok(limiter)) if limiter.total_denied != saved.denied)
    }

    fn note_denials(&mut self, now: u64) {
        if self.asked.len() == 0 {
            return;
        }
        let asked = core::mem::take(&mut self.asked);
        if self.denials_due.is_none() && asked.iter().any(|(name, ())| self.is_unsaved(name)) {
            self.denials_due = Some(now.saturating_add(SAVE_DENIALS_MS));
        }
    }

    pub(super) fn write_meta(&mut self, version: u64) -> Result<(), S::Failure> {
        let now = self.engine.keyspace().now();
        let columns = [
            Bind::Integer(Kind::Meta.code()),
            version.into(),
            now.into(),
            Bind::Integer(self.next_space.into()),
            Bind::Null,
            Bind::Null,
        ];
        self.sql.write(Query::Put, &put(META, b"", columns))?;
        self.saved_now = now;
        Ok(())
    }

    /// How many keys are in memory, or known not to be in the database.
    pub fn cached(&self) -> usize {
        self.known.len()
    }
}

impl<S: Sql> Backend for Store<S> {
    fn engine(&mut self) -> &mut Engine {
        &mut self.engine
    }

    fn prepare(&mut self, now: u64, command: &Command<'_>) -> Result<(), Error> {
        self.engine.advance(now);
        if self.failed.is_none()
            && let Err(failure) = self.bring_up(now, command)
        {
            self.failed = Some(failure);
        }
        if self.failed.is_some() { Err(ErrorKind::StoreFailed.into()) } else { Ok(()) }
    }

    fn count(&mut self, space: Space) -> Result<usize, Error> {
        match self.count_live(space) {
            Ok(count) => Ok(count),
            Err(failure) => {
                self.failed = Some(failure);
                Err(ErrorKind::StoreFailed.into())
            }
        }
    }
}

/// The row at -1 is the record; anything else of the key is a log's entry.
pub(super) const fn is_entry(at: i64) -> bool {
    at != RECORD
}
