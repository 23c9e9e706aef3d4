//! What changed, written to the database.
//!
//! What replaces something is written before what it replaces is deleted: a failure in between may count twice, and never
//! forgets.

use alloc::string::String;
use alloc::vec::Vec;

use super::cell::{Kind, columns};
use super::known::{BySpace, SavedLimiter, Stored};
use super::load::lease_name;
use super::schema::{AFTER_ENTRIES, BEFORE_RECORD, LEASES, LIMITERS, NAMESPACES, RECORD, VERSION, put};
use super::store::Store;
use super::{Bind, Query, Sql};
use crate::keyspace::{Change, Key, Space, State};
use crate::sorted_map::SortedMap;
use crate::text::{filled, push};

/// What a chunk of commands changed, each thing once. Memory holds its final state.
#[derive(Default)]
struct Dirty {
    records: BySpace<SortedMap<Extent>>,
    limiters: SortedMap<()>,
    namespaces: SortedMap<()>,
    /// Ids by namespace.
    leases: SortedMap<SortedMap<()>>,
}

/// How much of a record changed.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Extent {
    #[default]
    Nothing,
    /// Its log's entries from this time on.
    Since(u64),
    /// All of it.
    Whole,
}

impl<S: Sql> Store<S> {
    /// Writes every change that isn't written yet.
    ///
    /// # Errors
    /// The database failed; the store must be dropped.
    pub fn flush(&mut self) -> Result<(), S::Failure> {
        self.pending.extend(self.engine.keyspace().take_journal());
        if self.pending.is_empty() {
            return Ok(());
        }
        let changes = core::mem::take(&mut self.pending);
        self.sql.begin()?;
        match changes.as_slice() {
            // Most of what is ever written: what one admission changed.
            [Change::Put(space, name)] => self.write_record(Key { space: *space, name }, Extent::Whole)?,
            _ => self.write_all(changes)?,
        }
        self.sql.commit()
    }

    fn write_all(&mut self, changes: Vec<Change>) -> Result<(), S::Failure> {
        let mut dirty = Dirty::default();
        for change in changes {
            match change {
                Change::Put(space, name) | Change::Removed(space, name) => {
                    dirty.records.get_or_insert_default(space).insert(&name, Extent::Whole);
                }
                Change::Logged(space, name, at) => {
                    let extent = dirty.records.get_or_insert_default(space).get_or_insert_default(&name);
                    *extent = match *extent {
                        Extent::Nothing => Extent::Since(at),
                        Extent::Since(since) => Extent::Since(at.min(since)),
                        Extent::Whole => Extent::Whole,
                    };
                }
                // These two concern keys that are not in memory; those that are get their final state below.
                Change::Cleared(space) => {
                    if self.table {
                        self.sql.write(Query::DeleteSpace, &[Bind::Integer(space.0.into())])?;
                        note(&mut self.earliest, self.engine.keyspace().now());
                    }
                    self.known.clear(space);
                }
                Change::Expired(by) => self.delete_expired(by)?,
                Change::Limiter(name) => dirty.limiters.insert(&name, ()),
                Change::Policy(name) => dirty.namespaces.insert(&name, ()),
                Change::Lease(namespace, id) => dirty.leases.get_or_insert_default(&namespace).insert(&id, ()),
            }
        }
        self.save_next_space(&dirty)?;
        for (name, ()) in dirty.limiters.iter() {
            self.write_limiter(name)?;
        }
        for (name, ()) in dirty.namespaces.iter() {
            self.write_namespace(name)?;
        }
        for (space, records) in dirty.records.iter() {
            for (name, extent) in records.iter() {
                self.write_record(Key { space, name }, *extent)?;
            }
        }
        for (namespace, ids) in dirty.leases.iter() {
            for (id, ()) in ids.iter() {
                self.write_lease(namespace, id)?;
            }
        }
        Ok(())
    }

    /// The clock stepped back: what had expired by the latest time served stays gone.
    fn delete_expired(&mut self, by: u64) -> Result<(), S::Failure> {
        if !self.table {
            return Ok(());
        }
        self.sql.write(Query::DeleteExpired, &[by.into()])?;
        // A store opened after a crash starts from the time saved last, and would drop what lives on after this step.
        if self.saved_now > self.engine.keyspace().now() { self.write_meta(VERSION) } else { Ok(()) }
    }

    /// No space is ever given out twice, whatever is dropped in between.
    fn save_next_space(&mut self, dirty: &Dirty) -> Result<(), S::Failure> {
        let limiters = dirty.limiters.iter().filter_map(|(name, ())| Some(self.engine.limiters.get(name).ok()?.space));
        let namespaces = dirty.namespaces.iter().filter_map(|(name, ())| self.engine.policies.get(name));
        let rules = namespaces.flat_map(|namespace| namespace.known_rules().map(|(_, space)| space));
        let next = limiters.chain(rules).map(|space| space.0.saturating_add(1)).max().unwrap_or(0);
        if next > self.next_space {
            self.next_space = next;
            if self.table {
                return self.write_meta(VERSION);
            }
        }
        Ok(())
    }

    /// Makes the table when this is the first thing to store.
    fn ensure_table(&mut self) -> Result<(), S::Failure> {
        if !self.table {
            self.sql.write(Query::CreateTable, &[])?;
            self.write_meta(VERSION)?;
            self.table = true;
        }
        Ok(())
    }

    /// Writes a record as it is now.
    fn write_record(&mut self, key: Key<'_>, extent: Extent) -> Result<(), S::Failure> {
        let stored = self.known.get(key).unwrap_or(Stored::Nothing);
        let keyspace = self.engine.keyspace();
        if keyspace.state(keyspace.locate(key), key).is_some() {
            self.ensure_table()?;
        }
        let Key { space: Space(space), name } = key;
        let (space, bytes) = (Bind::Integer(space.into()), Bind::Bytes(name));
        let keyspace = self.engine.keyspace();
        let now = keyspace.now();
        let now_stored = match keyspace.state(keyspace.locate(key), key) {
            None => {
                if stored != Stored::Nothing {
                    self.sql.write(Query::DeleteKey, &[space, bytes])?;
                    note(&mut self.earliest, now);
                }
                Stored::Nothing
            }
            Some(State::Log { log, window }) => {
                let since = match extent {
                    Extent::Since(since) if stored == (Stored::Log { window }) => since,
                    _ => 0,
                };
                for (at, units) in log.entries_from(since) {
                    let leaves = at.saturating_add(window);
                    self.sql.write(Query::PutEntry, &[space, bytes, at.into(), units.into(), leaves.into()])?;
                    note(&mut self.earliest, leaves);
                }
                if since == 0 && stored != Stored::Nothing {
                    // Entries that were moved, after the clock stepped back, may lie between those that are there now.
                    let mut before = Bind::Integer(BEFORE_RECORD);
                    for at in log.entries_from(0).map(|(at, _)| at.into()).chain([AFTER_ENTRIES]) {
                        self.sql.write(Query::DeleteBetween, &[space, bytes, before, at])?;
                        before = at;
                    }
                }
                Stored::Log { window }
            }
            Some(state) => {
                self.sql.put(space, name, columns(&state))?;
                note(&mut self.earliest, state.expires());
                if matches!(stored, Stored::Log { .. }) {
                    let record = Bind::Integer(RECORD);
                    self.sql.write(Query::DeleteBetween, &[space, bytes, record, AFTER_ENTRIES])?;
                }
                Stored::Record
            }
        };
        self.known.set(key, now_stored);
        Ok(())
    }

    pub(super) fn write_limiter(&mut self, name: &[u8]) -> Result<(), S::Failure> {
        let stored = self.known.limiter(name);
        let Ok(limiter) = self.engine.limiters.get(name) else {
            if stored.is_some() {
                self.sql.write(Query::DeleteKey, &[Bind::Integer(LIMITERS), Bind::Bytes(name)])?;
                note(&mut self.earliest, self.engine.keyspace().now());
            }
            self.known.limiters.insert(name, None);
            return Ok(());
        };
        let saved = SavedLimiter { space: limiter.space, denied: limiter.total_denied };
        let (allowed, denied) = (Bind::from(limiter.total_allowed), Bind::from(limiter.total_denied));
        if stored.is_some_and(|stored| stored.space == saved.space) {
            self.sql.write(Query::PutTotals, &[allowed, denied, Bind::Integer(LIMITERS), Bind::Bytes(name)])?;
        } else {
            let settings = &limiter.settings;
            let rate = settings.rate.as_ref().map_or("", |rate| rate.text());
            let words = [settings.algorithm.name(), rate].map(str::as_bytes);
            let text = filled("@ % % @", &words, &[settings.limit.get(), settings.window.get()]);
            self.ensure_table()?;
            let (kind, space) = (Bind::Integer(Kind::Limiter.code()), Bind::Integer(saved.space.0.into()));
            let columns = [kind, allowed, denied, space, Bind::Bytes(text.as_bytes()), Bind::Null];
            self.sql.write(Query::Put, &put(LIMITERS, name, columns))?;
        }
        self.known.limiters.insert(name, Some(saved));
        Ok(())
    }

    fn write_namespace(&mut self, name: &[u8]) -> Result<(), S::Failure> {
        let Some(namespace) = self.engine.policies.get(name) else { return Ok(()) };
        // JSON never holds a line's end.
        let mut text = namespace.policy().map_or_else(|_| String::new(), crate::policy::Policy::in_order);
        for (key, Space(space)) in namespace.known_rules() {
            push(&mut text, &filled("\n% @", &[key.as_bytes()], &[space.into()]));
        }
        self.ensure_table()?;
        let kind = Bind::Integer(Kind::Namespace.code());
        let columns = [kind, Bind::Null, Bind::Null, Bind::Null, Bind::Bytes(text.as_bytes()), Bind::Null];
        self.sql.write(Query::Put, &put(NAMESPACES, name, columns))?;
        self.known.namespaces.insert(name, ());
        Ok(())
    }

    fn write_lease(&mut self, namespace: &[u8], id: &[u8]) -> Result<(), S::Failure> {
        let name = lease_name(namespace, id);
        let held = self.engine.policies.get(namespace).and_then(|namespace| namespace.leases().expires(id));
        let Some(expires) = held else {
            return self.sql.write(Query::DeleteKey, &[Bind::Integer(LEASES), Bind::Bytes(&name)]);
        };
        note(&mut self.earliest, expires);
        let kind = Bind::Integer(Kind::Lease.code());
        let columns = [kind, Bind::Null, Bind::Null, Bind::Null, Bind::Null, expires.into()];
        self.sql.write(Query::Put, &put(LEASES, &name, columns))
    }
}

/// Takes note of when something can be deleted: a row that expires, or the table, when a row that was deleted was the last.
fn note(earliest: &mut Option<u64>, expires: u64) {
    *earliest = Some(earliest.map_or(expires, |before| before.min(expires)));
}
