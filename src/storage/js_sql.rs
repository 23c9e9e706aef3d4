//! A database in JavaScript: any object with `exec(query, ...bindings)` whose result has `raw()`, an iterable of rows as arrays:
//! a Durable Object's `ctx.storage.sql` as it is, and a few lines over `node:sqlite`.

use std::cell::OnceCell;
use std::vec::Vec;

use js_sys::{Array, JsString, Uint8Array};
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsCast, JsValue};

use super::{Bind, Cell, Query, Sql, large_text};

#[wasm_bindgen]
extern "C" {
    /// Whatever runs queries.
    pub type Database;
    #[wasm_bindgen(method, structural, catch, variadic)]
    fn exec(this: &Database, query: &JsString, bindings: &Array) -> Result<Cursor, JsValue>;
    #[wasm_bindgen(method, structural, catch)]
    fn begin(this: &Database) -> Result<(), JsValue>;
    #[wasm_bindgen(method, structural, catch)]
    fn commit(this: &Database) -> Result<(), JsValue>;

    type Cursor;
    #[wasm_bindgen(method, structural, catch)]
    fn raw(this: &Cursor) -> Result<JsValue, JsValue>;
}

std::thread_local! {
    /// Every query as JavaScript text, made once.
    static QUERIES: [OnceCell<JsString>; Query::COUNT] = const { [const { OnceCell::new() }; Query::COUNT] };
}

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
        QUERIES.with(|queries| match queries.get(query as usize) {
            Some(text) => self.database.exec(text.get_or_init(|| query.text().into()), &values),
            None => self.database.exec(&query.text().into(), &values),
        })
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

    fn begin(&mut self) -> Result<(), JsValue> {
        if self.gathers { self.database.begin() } else { Ok(()) }
    }

    fn commit(&mut self) -> Result<(), JsValue> {
        if self.gathers { self.database.commit() } else { Ok(()) }
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
