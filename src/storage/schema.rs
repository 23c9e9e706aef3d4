//! The one table, and every query on it.
//!
//! A row's place is `(space, name, at)`. A record of the keyspace is the row at -1 of its space and name, or, for a sliding
//! log, one row for each entry at the entry's time, so that an admission writes one small row and one range holds all there
//! is to know of a key. What isn't a record has a space below 0. There is no index beside the key: it would double the
//! writes, and nothing but cleaning up would read it.

use super::Bind;

/// The version that this code writes and reads.
pub const VERSION: u64 = 1;

/// What takes a store of version `n + 1` to the next one, at index `n`.
pub(super) const MIGRATIONS: &[Query] = &[];

/// The row of a key that isn't a log's entry.
pub(super) const RECORD: i64 = -1;
/// Before every row of a key.
pub(super) const BEFORE_RECORD: i64 = -2;
/// After every row of a key: the database sorts bytes after integers and text.
pub(super) const AFTER_ENTRIES: Bind<'static> = Bind::Bytes(b"");
/// Where the store's own row is.
pub(super) const META: i64 = -1;
/// Where named limiters are, by name.
pub(super) const LIMITERS: i64 = -2;
/// Where namespaces are, by name.
pub(super) const NAMESPACES: i64 = -3;
/// Where leases are, by namespace and id.
pub(super) const LEASES: i64 = -4;
/// Before every row.
pub(super) const BEFORE_ALL: i64 = -5;
/// After every row: a record's space has 32 bits.
pub(super) const AFTER_ALL: i64 = 1 << 32;

/// Every query there is. Its bindings are in the order of the text and without numbers, which older versions of `node:sqlite` take
/// for names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs, reason = "the text says it")]
pub enum Query {
    TableExists,
    CreateTable,
    ReadKey,
    ReadSpace,
    ReadRange,
    Put,
    PutTotals,
    PutEntry,
    DeleteKey,
    DeleteBetween,
    DeleteSpace,
    DeleteExpired,
    CountLive,
    LatestExpiry,
    AnythingLeft,
    EndOfStep,
    DeleteExpiredBetween,
    Earliest,
}

impl Query {
    /// How many queries there are.
    pub const COUNT: usize = Self::Earliest as usize + 1;

    /// The query's text.
    pub const fn text(self) -> &'static str {
        match self {
            Self::TableExists => "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'tidegate'",
            Self::CreateTable => {
                "CREATE TABLE IF NOT EXISTS tidegate (space INTEGER NOT NULL, name BLOB NOT NULL, at INTEGER NOT NULL, \
                 kind INTEGER NOT NULL, a INTEGER, b INTEGER, c INTEGER, data BLOB, expires INTEGER, \
                 PRIMARY KEY (space, name, at)) WITHOUT ROWID"
            }
            Self::ReadKey => {
                "SELECT at, kind, a, b, c, data, expires FROM tidegate WHERE space = ? AND name = ? ORDER BY at"
            }
            Self::ReadSpace => {
                "SELECT at, kind, a, b, c, data, expires, name FROM tidegate WHERE space = ? ORDER BY name, at"
            }
            Self::ReadRange => {
                "SELECT at, kind, a, b, c, data, expires, name FROM tidegate \
                 WHERE space = ? AND name >= ? AND name < ? ORDER BY name, at"
            }
            Self::Put => {
                "INSERT INTO tidegate (space, name, at, kind, a, b, c, data, expires) \
                 VALUES (?, ?, -1, ?, ?, ?, ?, ?, ?) ON CONFLICT (space, name, at) DO UPDATE SET \
                 kind = excluded.kind, a = excluded.a, b = excluded.b, c = excluded.c, data = excluded.data, \
                 expires = excluded.expires"
            }
            Self::PutTotals => "UPDATE tidegate SET a = ?, b = ? WHERE space = ? AND name = ? AND at = -1",
            Self::PutEntry => {
                "INSERT INTO tidegate (space, name, at, kind, a, expires) VALUES (?, ?, ?, 2, ?, ?) \
                 ON CONFLICT (space, name, at) DO UPDATE SET a = excluded.a, expires = excluded.expires"
            }
            Self::DeleteKey => "DELETE FROM tidegate WHERE space = ? AND name = ?",
            Self::DeleteBetween => "DELETE FROM tidegate WHERE space = ? AND name = ? AND at > ? AND at < ?",
            Self::DeleteSpace => "DELETE FROM tidegate WHERE space = ?",
            Self::DeleteExpired => "DELETE FROM tidegate WHERE expires <= ?",
            Self::CountLive => {
                "SELECT count(DISTINCT name) FROM tidegate WHERE space = ? AND (expires IS NULL OR expires > ?)"
            }
            Self::LatestExpiry => "SELECT max(expires) FROM tidegate WHERE space >= ?",
            Self::AnythingLeft => "SELECT 1 FROM tidegate WHERE space <> -1 LIMIT 1",
            Self::EndOfStep => {
                "SELECT space, name, at FROM tidegate WHERE (space, name, at) > (?, ?, ?) \
                 ORDER BY space, name, at LIMIT 1 OFFSET ?"
            }
            Self::DeleteExpiredBetween => {
                "DELETE FROM tidegate WHERE (space, name, at) > (?, ?, ?) AND (space, name, at) <= (?, ?, ?) \
                 AND expires <= ?"
            }
            Self::Earliest => {
                "SELECT min(expires) FROM tidegate WHERE (space, name, at) > (?, ?, ?) \
                 AND (space, name, at) <= (?, ?, ?)"
            }
        }
    }
}

/// The bindings of [`Query::Put`].
pub(super) fn put<'a>(space: i64, name: &'a [u8], columns: [Bind<'a>; 6]) -> [Bind<'a>; 8] {
    let [kind, a, b, c, data, expires] = columns;
    [Bind::Integer(space), Bind::Bytes(name), kind, a, b, c, data, expires]
}
