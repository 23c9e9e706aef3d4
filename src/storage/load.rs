//! What a command needs, brought up from the database.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::cell::Kind;
use super::known::{SavedLimiter, Stored};
use super::schema::{LEASES, LIMITERS, NAMESPACES};
use super::store::{Store, is_entry};
use super::{Bind, Cell, Query, Sql};
use crate::Positive;
use crate::algorithm::{Count, Log, Tat};
use crate::command::{Command, Kind as CommandKind, Names};
use crate::error::MAX_NAME_BYTES;
use crate::keyspace::{Change, Key, Space, Value};
use crate::limiter::{Algorithm, Limiter, Rate, Settings};
use crate::policy::{Concurrency, Job};

impl<S: Sql> Store<S> {
    pub(super) fn bring_up(&mut self, now: u64, command: &Command<'_>) -> Result<(), S::Failure> {
        let (first, kind) = (command.first, command.entry.kind);
        match command.entry.names {
            Names::Key => self.load(Key::ordinary(first)),
            Names::Keys => command.arguments.iter().try_for_each(|key| self.load(Key::ordinary(key))),
            Names::KeyOfLimiter => {
                self.load_in_limiter(first, command.second)?;
                if kind == CommandKind::LimiterCheck {
                    self.asked.insert(first, ());
                }
                Ok(())
            }
            Names::Limiter => self.load_limiter(first),
            Names::NewLimiter | Names::AllLimiters => self.load_limiters(),
            Names::Namespace | Names::NewNamespace => {
                self.load_namespace(now, first)?;
                match kind {
                    CommandKind::Admit => self.bring_up_job(first, &command.job())?,
                    CommandKind::Show => self.bring_up_rules(first)?,
                    _ => {}
                }
                // Last, since what is brought up may have to write what changed before.
                self.note_leases_ahead(now, first);
                Ok(())
            }
            Names::Pattern | Names::AllKeys => self.load_space(Space::ORDINARY),
            Names::Nothing => Ok(()),
        }
    }

    fn bring_up_job(&mut self, namespace: &[u8], job: &Job<'_>) -> Result<(), S::Failure> {
        let keys: Vec<(Space, Box<[u8]>)> = {
            let keys = self.engine.policy_keys(namespace, job);
            let unknown = |(space, name): &(Space, &[u8])| self.known.get(Key { space: *space, name }).is_none();
            keys.into_iter().filter(unknown).map(|(space, name)| (space, name.into())).collect()
        };
        keys.iter().try_for_each(|(space, name)| self.load(Key { space: *space, name }))
    }

    /// After the clock stepped back a lease counts as made when it is first looked at, which is what the next command does. That is
    /// written, or a store that is opened again and again would let it run anew each time.
    #[inline(never)]
    fn note_leases_ahead(&mut self, now: u64, namespace: &[u8]) {
        let Some(found) = self.engine.policies.get(namespace) else { return };
        let Some(Concurrency { lease, .. }) = found.policy().ok().and_then(|policy| policy.concurrency) else { return };
        if found.leases().any_ahead(now, lease) {
            for id in found.leases().ids() {
                self.pending.push(Change::Lease(namespace.into(), id.into()));
            }
        }
    }

    fn bring_up_rules(&mut self, namespace: &[u8]) -> Result<(), S::Failure> {
        let rules = self.engine.policies.get(namespace);
        let spaces: Vec<Space> =
            rules.into_iter().flat_map(|found| found.known_rules().map(|(_, space)| space)).collect();
        let reserved = self.engine.keyspace().any_reserved();
        spaces.into_iter().try_for_each(|space| {
            if reserved {
                self.load_space(space.reservations())?;
            }
            self.load_space(space)
        })
    }

    /// Brings up one key, unless it is known.
    fn load(&mut self, key: Key<'_>) -> Result<(), S::Failure> {
        if self.known.get(key).is_some() {
            return Ok(());
        }
        self.write_what_spans_keys()?;
        if self.known.get(key).is_some() {
            return Ok(());
        }
        let place = [Bind::Integer(key.space.0.into()), Bind::Bytes(key.name)];
        let rows = if self.table { self.sql.read(Query::ReadKey, &place)? } else { Vec::new() };
        let stored = self.restore(key, &rows);
        self.known.set(key, stored);
        Ok(())
    }

    /// Brings up every key of a space.
    fn load_space(&mut self, space: Space) -> Result<(), S::Failure> {
        if !self.table || self.known.is_whole(space) {
            return Ok(());
        }
        self.write_what_spans_keys()?;
        let rows = self.sql.read(Query::ReadSpace, &[Bind::Integer(space.0.into())])?;
        for rows in rows.chunk_by(|a, b| a.get(7) == b.get(7)) {
            let Some(name) = rows.first().and_then(|row| row.get(7)).and_then(Cell::bytes) else { continue };
            let key = Key { space, name };
            if self.known.get(key).is_none() {
                let stored = self.restore(key, rows);
                self.known.set(key, stored);
            }
        }
        self.known.set_whole(space);
        Ok(())
    }

    /// A change of many keys must be in the database before any of them is read.
    #[inline(never)]
    fn write_what_spans_keys(&mut self) -> Result<(), S::Failure> {
        self.pending.extend(self.engine.keyspace().take_journal());
        let spans = |change: &Change| matches!(change, Change::Cleared(_) | Change::Expired(_));
        if self.pending.iter().any(spans) { self.flush() } else { Ok(()) }
    }

    /// Puts what the database holds of a key into memory, expired parts left out; what that is.
    fn restore(&mut self, key: Key<'_>, rows: &[Vec<Cell>]) -> Stored {
        let keyspace = self.engine.keyspace();
        let now = keyspace.now();
        let mut log = Log::new();
        let mut stored = Stored::Nothing;
        let mut last_window = 0;
        for row in rows {
            let Some(row) = Row::read(row) else { continue };
            if !is_entry(row.at) {
                stored = Stored::Record;
                if row.expires > now {
                    // The keyspace of a store has no limit that a restored record could break.
                    let _ = row.value().map(|value| keyspace.restore(key, value));
                }
                // Entries beside a record are what an interrupted write left.
                return stored;
            }
            let (Some(at), Some(units)) = (u64::try_from(row.at).ok(), row.a) else { continue };
            last_window = row.expires.saturating_sub(at);
            stored = Stored::Log { window: last_window };
            if row.expires > now {
                log.push(at, units);
            }
        }
        if !log.is_empty() {
            let _ = keyspace.restore(key, Value::Log { log: Box::new(log), window: last_window });
        }
        stored
    }

    fn load_in_limiter(&mut self, name: &[u8], key: &[u8]) -> Result<(), S::Failure> {
        self.load_limiter(name)?;
        match self.engine.limiters.get(name) {
            Ok(limiter) => {
                let space = limiter.space;
                self.load(Key { space, name: key })
            }
            Err(_) => Ok(()),
        }
    }

    fn load_limiter(&mut self, name: &[u8]) -> Result<(), S::Failure> {
        if self.known.all_limiters || self.known.limiters.get(name).is_some() || name.len() > MAX_NAME_BYTES {
            return Ok(());
        }
        let rows = self.sql.read(Query::ReadKey, &[Bind::Integer(LIMITERS), Bind::Bytes(name)])?;
        match rows.first() {
            Some(row) => self.restore_limiter(name, row),
            None => self.known.limiters.insert(name, None),
        }
        Ok(())
    }

    fn load_limiters(&mut self) -> Result<(), S::Failure> {
        if self.known.all_limiters {
            return Ok(());
        }
        for row in &self.sql.read(Query::ReadSpace, &[Bind::Integer(LIMITERS)])? {
            let Some(name) = row.get(7).and_then(Cell::bytes) else { continue };
            if self.known.limiters.get(name).is_none() {
                self.restore_limiter(name, row);
            }
        }
        self.known.all_limiters = true;
        Ok(())
    }

    fn restore_limiter(&mut self, name: &[u8], row: &[Cell]) {
        let Some(limiter) = read_limiter(row) else { return };
        self.engine.keyspace().reserve_space(limiter.space);
        let saved = SavedLimiter { space: limiter.space, denied: limiter.total_denied };
        self.known.limiters.insert(name, Some(saved));
        self.engine.limiters.insert(name, limiter);
    }

    fn load_namespace(&mut self, now: u64, namespace: &[u8]) -> Result<(), S::Failure> {
        if !self.table || self.known.namespaces.get(namespace).is_some() || namespace.len() > MAX_NAME_BYTES {
            return Ok(());
        }
        // A lease that had run out before the clock stepped back stays free.
        self.write_what_spans_keys()?;
        self.known.namespaces.insert(namespace, ());
        if !self.known.reserved {
            self.known.reserved = true;
            let rows = self.sql.read(Query::LatestExpiry, &[Bind::Integer(Space::RESERVATIONS.0.into())])?;
            let latest = match rows.first().and_then(|row| row.first()) {
                // Text isn't sorted as the numbers it stands for.
                Some(Cell::Text(_)) => u64::MAX,
                latest => latest.and_then(Cell::unsigned).unwrap_or(0),
            };
            self.engine.keyspace().reserved_until(latest);
        }
        let rows = self.sql.read(Query::ReadKey, &[Bind::Integer(NAMESPACES), Bind::Bytes(namespace)])?;
        let Some(data) = rows.first().and_then(|row| row.get(5)).and_then(Cell::bytes) else { return Ok(()) };
        let mut lines = data.split(|byte| *byte == b'\n');
        let policy = lines.next().unwrap_or_default();
        for line in lines {
            let Some((space, key)) = read_rule(line) else { continue };
            self.engine.keyspace().reserve_space(space);
            self.engine.policies.entry(namespace).restore_rule(key, space);
        }
        // Which leases are held decides an admission, so they come up with the policy.
        let (from, to) = (lease_name(namespace, b""), after_leases(namespace));
        let bindings = [Bind::Integer(LEASES), Bind::Bytes(&from), Bind::Bytes(&to)];
        for row in &self.sql.read(Query::ReadRange, &bindings)? {
            let (Some(name), Some(expires)) = (row.get(7).and_then(Cell::bytes), row.get(6).and_then(Cell::unsigned))
            else {
                continue;
            };
            let id = name.get(from.len()..).unwrap_or_default();
            if expires > now {
                self.engine.policies.entry(namespace).restore_lease(id, expires);
            }
        }
        if !policy.is_empty() {
            self.pending.extend(self.engine.keyspace().take_journal());
            // What was in force is valid: it was read from the same text before. It is no change either.
            let _ = self.engine.policy_define(now, namespace, policy);
            self.engine.keyspace().take_journal();
        }
        Ok(())
    }

    /// How many live records the space has, those in memory and those that are not.
    pub(super) fn count_live(&mut self, space: Space) -> Result<usize, S::Failure> {
        self.flush()?;
        if !self.table {
            return Ok(0);
        }
        let now = self.engine.keyspace().now();
        let rows = self.sql.read(Query::CountLive, &[Bind::Integer(space.0.into()), now.into()])?;
        let count = rows.first().and_then(|row| row.first()).and_then(Cell::unsigned).unwrap_or(0);
        Ok(usize::try_from(count).unwrap_or(usize::MAX))
    }
}

/// A row of a key, in the columns of [`Query::ReadKey`].
struct Row<'a> {
    at: i64,
    kind: Kind,
    a: Option<u64>,
    b: Option<u64>,
    c: Option<u64>,
    data: Option<&'a [u8]>,
    expires: u64,
}

impl<'a> Row<'a> {
    fn read(row: &'a [Cell]) -> Option<Self> {
        let [at, kind, a, b, c, data, expires, ..] = row else { return None };
        Some(Self {
            at: at.at()?,
            kind: Kind::of(kind)?,
            a: a.unsigned(),
            b: b.unsigned(),
            c: c.unsigned(),
            data: data.bytes(),
            expires: expires.expiry()?,
        })
    }

    fn value(&self) -> Option<Value> {
        let expires = self.expires;
        Some(match self.kind {
            Kind::Tat => {
                Value::Tat { tat: Tat { ms: self.a?, remainder: self.b?, denominator: self.c?.max(1) }, expires }
            }
            Kind::Count => Value::Count(Count { units: self.a?, ends: expires }),
            Kind::Text => Value::Text { bytes: self.data.unwrap_or_default().into(), expires },
            _ => return None,
        })
    }
}

/// A limiter's settings as `data` holds them: algorithm, limit, window and, when there is one, rate.
fn read_limiter(row: &[Cell]) -> Option<Limiter> {
    let [_, _, allowed, denied, space, data, ..] = row else { return None };
    let mut words = data.bytes()?.split(|byte| *byte == b' ');
    let settings = Settings {
        algorithm: Algorithm::named(words.next()?)?,
        limit: Positive::parse(words.next()?)?,
        window: Positive::parse(words.next()?)?,
        rate: words.next().and_then(|rate| Rate::parse(rate).ok()),
    };
    let rule = settings.rule().ok()?;
    let space = Space(u32::try_from(space.unsigned()?).ok()?);
    Some(Limiter { settings, rule, space, total_allowed: allowed.unsigned()?, total_denied: denied.unsigned()? })
}

/// A line of a namespace's `data`: a rule's space, and what its state is kept under.
fn read_rule(line: &[u8]) -> Option<(Space, &str)> {
    let (space, key) = core::str::from_utf8(line).ok()?.split_once(' ')?;
    Some((Space(space.parse().ok()?), key))
}

/// Where a lease is: the namespace's length, the namespace, the id.
pub(super) fn lease_name(namespace: &[u8], id: &[u8]) -> Vec<u8> {
    let length = u16::try_from(namespace.len()).unwrap_or(u16::MAX);
    [length.to_be_bytes().as_slice(), namespace, id].concat()
}

/// The first name after every lease of the namespace: its bytes counted up by one. The length in front is never all ones,
/// so there is always one.
fn after_leases(namespace: &[u8]) -> Vec<u8> {
    let mut name = lease_name(namespace, b"");
    while let Some(last) = name.pop() {
        if last < u8::MAX {
            name.push(last.saturating_add(1));
            break;
        }
    }
    name
}
