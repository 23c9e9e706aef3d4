//! A database in JavaScript: any object with `exec(query, ...bindings)` whose result has `raw()`, an iterable of rows as arrays:
//! a Durable Object's `ctx.storage.sql` as it is, and a few lines over `node:sqlite`.

use alloc::vec::Vec;
use core::cell::OnceCell;

use js_sys::{Array, JsString, Uint8Array};
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsCast, JsValue};

use super::{Bind, Cell, Query, Sql, large_text};
use crate::single::Single;

#[wasm_bindgen]
extern "C" {
    /// Whatever runs queries.
    pub type Database;
    #[wasm_bindgen(method, structural, catch, variadic)]
    fn exec(this: &Database, query: &JsString, bindings: &Array) -> Result<Cursor, JsValue>;
    /// As `exec` of [`Query::Put`], without an array on the way: what an admission by a schedule writes.
    #[wasm_bindgen(method, structural, catch, js_name = exec)]
    fn put(
        this: &Database,
        query: &JsString,
        space: f64,
        name: &[u8],
        kind: f64,
        a: f64,
        b: f64,
        c: f64,
        data: &JsValue,
        expires: f64,
    ) -> Result<Cursor, JsValue>;
    #[wasm_bindgen(method, structural, catch)]
    fn begin(this: &Database) -> Result<(), JsValue>;
    #[wasm_bindgen(method, structural, catch)]
    fn commit(this: &Database) -> Result<(), JsValue>;

    type Cursor;
    #[wasm_bindgen(method, structural, catch)]
    fn raw(this: &Cursor) -> Result<JsValue, JsValue>;
}

/// Every query as JavaScript text, made once.
static QUERIES: Single<[OnceCell<JsString>; Query::COUNT]> = Single::new([const { OnceCell::new() }; Query::COUNT]);

/// A database and whether its writes are gathered between `begin` and `commit`.
pub struct JsSql {
    database: Database,
    gathers: bool,
}

impl JsSql {
    /// The database; with `gathers`, its writes are gathered between `begin()` and `commit()`, which it has then.
    pub const fn new(database: Database, gathers: bool) -> Self {
        Self { database, gathers }
    }

    fn run(&self, query: Query, bindings: &[Bind<'_>]) -> Result<Cursor, JsValue> {
        let values: Array = bindings.iter().map(value).collect();
        with_text(query, |text| self.database.exec(text, &values))
    }
}

impl Sql for JsSql {
    type Failure = JsValue;

    fn read(&mut self, query: Query, bindings: &[Bind<'_>]) -> Result<Vec<Vec<Cell>>, JsValue> {
        let rows = Array::from(&self.run(query, bindings)?.raw()?);
        Ok(rows.iter().map(|row| Array::from(&row).iter().map(|value| cell(&value)).collect()).collect())
    }

    fn write(&mut self, query: Query, bindings: &[Bind<'_>]) -> Result<(), JsValue> {
        self.run(query, bindings).map(drop)
    }

    fn put(&mut self, space: Bind<'_>, name: &[u8], columns: [Bind<'_>; 6]) -> Result<(), JsValue> {
        let [kind, a, b, c, data, expires] = columns;
        let numbers = [space, kind, a, b, c, expires].map(number);
        let ([Some(space), Some(kind), Some(a), Some(b), Some(c), Some(expires)], Bind::Null) = (numbers, data) else {
            return self.write(Query::Put, &[space, Bind::Bytes(name), kind, a, b, c, data, expires]);
        };
        let run =
            |query: &JsString| self.database.put(query, space, name, kind, a, b, c, &JsValue::NULL, expires).map(drop);
        with_text(Query::Put, run)
    }

    fn begin(&mut self) -> Result<(), JsValue> {
        if self.gathers { self.database.begin() } else { Ok(()) }
    }

    fn commit(&mut self) -> Result<(), JsValue> {
        if self.gathers { self.database.commit() } else { Ok(()) }
    }
}

fn with_text<T>(query: Query, run: impl FnOnce(&JsString) -> T) -> T {
    match QUERIES.get(query as usize) {
        Some(text) => run(text.get_or_init(|| query.text().into())),
        None => run(&query.text().into()),
    }
}

/// A value that is a number as it is.
#[expect(clippy::cast_precision_loss, reason = "at most 2^53")]
const fn number(bind: Bind<'_>) -> Option<f64> {
    match bind {
        Bind::Integer(integer) => Some(integer as f64),
        _ => None,
    }
}

fn value(bind: &Bind<'_>) -> JsValue {
    match bind {
        Bind::Null => JsValue::NULL,
        #[expect(clippy::cast_precision_loss, reason = "at most 2^53")]
        Bind::Integer(integer) => JsValue::from_f64(*integer as f64),
        Bind::Large(large) => JsValue::from_str(&large_text(*large)),
        Bind::Bytes(bytes) => Uint8Array::from(*bytes).into(),
    }
}

fn cell(value: &JsValue) -> Cell {
    if let Some(number) = value.as_f64() {
        #[expect(clippy::cast_possible_truncation, reason = "the database holds whole numbers up to 2^53")]
        return Cell::Integer(number as i64);
    }
    if let Some(text) = value.as_string() {
        return Cell::Text(text);
    }
    if value.is_object() {
        // A Durable Object gives an ArrayBuffer, node:sqlite a Uint8Array.
        let bytes = match value.dyn_ref::<Uint8Array>() {
            Some(bytes) => bytes.to_vec(),
            None => Uint8Array::new(value).to_vec(),
        };
        return Cell::Bytes(bytes.into());
    }
    Cell::Null
}
