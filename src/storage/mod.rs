//! A store behind the engine: what changed goes down, what is missing comes up, one key at a time.
//!
//! Memory is a cache of storage. A [`Store`] reads a key when a command first names it and writes what a chunk of
//! commands changed before their replies leave; a refusal writes nothing. Dropping a store at any moment loses nothing
//! that was answered.
//!
//! - [`Sql`]: the one call that a database must offer, which a Durable Object's storage and `node:sqlite` both do;
//! - `schema`: the one table, its versions, and every query;
//! - `cell`: integers that a float can't hold, and a record's columns;
//! - `store`: the engine with its database: opening, a chunk of commands, closing;
//! - `known`: what is in memory of what the database holds;
//! - `load`: what a command needs, brought up;
//! - `write`: what changed, written down;
//! - `sweep`: what has expired, deleted a bounded number of rows at a time.

mod cell;
mod known;
mod load;
mod schema;
mod store;
mod sweep;
mod write;

#[cfg(feature = "store")]
mod binding;
#[cfg(any(feature = "store", feature = "worker"))]
mod js_sql;
#[cfg(test)]
mod tests;

#[cfg(feature = "worker")]
pub(crate) use js_sql::{Database, JsSql};

pub use cell::{Bind, Cell, large_text};
pub use schema::{Query, VERSION};
pub use store::{OpenError, Store, StoreOptions};
pub use sweep::Swept;

use alloc::vec::Vec;

/// A database with `SQLite`'s language, wherever it is.
pub trait Sql {
    /// What went wrong in the database.
    type Failure;

    /// Runs one query and returns its rows.
    ///
    /// # Errors
    /// Whatever the database reports.
    fn read(&mut self, query: Query, bindings: &[Bind<'_>]) -> Result<Vec<Vec<Cell>>, Self::Failure>;

    /// Runs one query that returns no rows.
    ///
    /// # Errors
    /// Whatever the database reports.
    fn write(&mut self, query: Query, bindings: &[Bind<'_>]) -> Result<(), Self::Failure>;

    /// Runs [`Query::Put`], which is most of what is ever run: the space, the name, and the columns from `kind` on.
    ///
    /// # Errors
    /// Whatever the database reports.
    fn put(&mut self, space: Bind<'_>, name: &[u8], columns: [Bind<'_>; 6]) -> Result<(), Self::Failure> {
        let [kind, a, b, c, data, expires] = columns;
        self.write(Query::Put, &[space, Bind::Bytes(name), kind, a, b, c, data, expires])
    }

    /// Several writes follow that belong together. A Durable Object commits whatever happens between two awaits as one,
    /// so there this does nothing.
    ///
    /// # Errors
    /// Whatever the database reports.
    fn begin(&mut self) -> Result<(), Self::Failure> {
        Ok(())
    }

    /// The writes since [`Sql::begin`] are complete.
    ///
    /// # Errors
    /// Whatever the database reports.
    fn commit(&mut self) -> Result<(), Self::Failure> {
        Ok(())
    }
}
