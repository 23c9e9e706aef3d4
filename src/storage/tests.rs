//! What the store promises whatever the database is; the worked cases run over real ones in `tests/node` and
//! `tests/workerd`.

use alloc::string::String;
use std::cell::RefCell;
use std::rc::Rc;
use std::vec;
use std::vec::Vec;

use super::schema::MIGRATIONS;
use super::{Bind, Cell, OpenError, Query, Sql, Store, StoreOptions, VERSION, large_text};

/// A database that says what it is told to, and remembers what it was asked.
#[derive(Clone, Default)]
struct Script {
    version: Option<i64>,
    asked: Rc<RefCell<Vec<Asked>>>,
}

/// A query, and its bindings as text.
type Asked = (Query, Vec<String>);

impl Sql for Script {
    type Failure = ();

    fn read(&mut self, query: Query, _: &[Bind<'_>]) -> Result<Vec<Vec<Cell>>, ()> {
        let meta = |version| {
            let integers = [-1, 7, version, 0, 1].map(Cell::Integer);
            integers.into_iter().chain([Cell::Null, Cell::Null]).collect()
        };
        Ok(match (query, self.version) {
            (Query::TableExists, Some(_)) => vec![vec![Cell::Integer(1)]],
            (Query::ReadKey, Some(version)) => vec![meta(version)],
            _ => Vec::new(),
        })
    }

    fn write(&mut self, query: Query, bindings: &[Bind<'_>]) -> Result<(), ()> {
        let bindings = bindings.iter().map(|bind| std::format!("{bind:?}")).collect();
        self.asked.borrow_mut().push((query, bindings));
        Ok(())
    }
}

fn open(script: &Script, version: u64, migrations: &[Query]) -> Result<Store<Script>, OpenError<()>> {
    Store::open_with(script.clone(), StoreOptions::default(), version, migrations)
}

#[test]
fn an_older_schema_is_taken_forward_one_version_at_a_time() {
    let script = Script { version: Some(2), ..Script::default() };
    let steps = [Query::DeleteKey, Query::DeleteBetween, Query::DeleteSpace];
    assert!(open(&script, 4, &steps).is_ok());
    let asked = script.asked.borrow();
    let queries: Vec<Query> = asked.iter().map(|(query, _)| *query).collect();
    // From version 2 the second and the third step are due, and then the version is written.
    assert_eq!(queries, [Query::DeleteBetween, Query::DeleteSpace, Query::Put]);
    assert_eq!(asked[2].1[3], "Integer(4)");
}

#[test]
fn a_newer_schema_is_left_alone() {
    let script = Script { version: Some(3), ..Script::default() };
    assert_eq!(open(&script, 2, &[]).map(|_| ()), Err(OpenError::Newer(3)));
    assert!(script.asked.borrow().is_empty());
}

#[test]
fn there_is_a_step_to_every_version_but_the_first() {
    assert_eq!(MIGRATIONS.len() as u64, VERSION - 1);
}

#[test]
fn opening_an_empty_database_writes_nothing() {
    let script = Script::default();
    let mut store = open(&script, VERSION, MIGRATIONS).unwrap();
    let mut output = Vec::new();
    let mut session = crate::Session::new(1);
    store.feed(&mut session, 1000, b"GET a\r\nRATELIMIT.CHECK a b\r\nDBSIZE\r\n", &mut output).unwrap();
    assert_eq!(output, b"$-1\r\n-ERR limiter not found\r\n:0\r\n");
    store.close().unwrap();
    assert!(script.asked.borrow().is_empty());
}

#[test]
fn an_integer_that_javascript_cannot_tell_from_the_next_is_stored_as_text() {
    assert_eq!(Bind::from((1 << 53) - 1), Bind::Integer((1 << 53) - 1));
    assert_eq!(Bind::from(1 << 53), Bind::Large(1 << 53));
    for value in [1 << 53, (1 << 53) + 1, u64::MAX] {
        assert_eq!(Cell::Text(large_text(value)).unsigned(), Some(value));
    }
    assert_eq!(Cell::Text(String::from("9007199254740993")).unsigned(), None);
}
