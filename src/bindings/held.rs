//! What JavaScript holds: engines and clients, each by a number.
//!
//! A class would bring its own counting of references and borrows to every function of it. Here one cell holds all, and a
//! call that finds nothing under its number does nothing.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::cell::{RefCell, RefMut};

use wasm_bindgen::prelude::wasm_bindgen;

use super::core::{Core, count, float, time};
use crate::single::Single;
use crate::{Engine, Flow, Options, Session};

/// A session, and what it wants after the last bytes.
pub(super) struct Connection {
    pub session: Session,
    pub flow: Flow,
}

enum Held {
    Core(Box<Core>),
    Connection(Box<Connection>),
    /// Nothing; the next number that is free.
    Free(usize),
}

struct All {
    held: Vec<Held>,
    free: usize,
}

static ALL: Single<RefCell<All>> = Single::new(RefCell::new(All { held: Vec::new(), free: 0 }));

/// Does something with all that is held. No call in here calls back into JavaScript, so nothing is held twice.
fn all<T>(act: impl FnOnce(&mut All) -> Option<T>) -> Option<T> {
    act(&mut *ALL.try_borrow_mut().ok()?)
}

/// The engine of that number, until it is dropped.
#[inline(never)]
pub(super) fn core(at: usize) -> Option<RefMut<'static, Core>> {
    RefMut::filter_map(ALL.try_borrow_mut().ok()?, |all| match all.held.get_mut(at) {
        Some(Held::Core(core)) => Some(core.as_mut()),
        _ => None,
    })
    .ok()
}

/// Holds something; its number.
fn hold(new: Held) -> usize {
    let held = all(|all| {
        let at = all.free;
        if let Some(place) = all.held.get_mut(at) {
            if let Held::Free(next) = core::mem::replace(place, new) {
                all.free = next;
            }
        } else {
            all.held.push(new);
            all.free = all.held.len();
        }
        Some(at)
    });
    held.unwrap_or(usize::MAX)
}

/// An engine. `first` and `second` seed its hash and must be random; drawn outside, since what can throw in here takes code
/// that nothing else needs.
#[wasm_bindgen(js_name = openCore)]
pub fn open_core(max_keys: f64, max_limiters: f64, first: u64, second: u64) -> usize {
    let seed = [first, second];
    let options = Options { max_keys: count(max_keys), max_limiters: count(max_limiters), seed };
    hold(Held::Core(Box::new(Core { engine: Engine::new(&options), error: None, rules: Vec::new() })))
}

/// A client; with a password it must send that first. `id` is what `CLIENT ID` replies.
#[wasm_bindgen(js_name = openConnection)]
pub fn open_connection(id: f64, password: Option<String>) -> usize {
    let session = Session::of(time(id), password.map(|password| password.into_bytes().into()));
    hold(Held::Connection(Box::new(Connection { session, flow: Flow::Continue })))
}

/// Frees an engine or a client.
#[wasm_bindgen]
pub fn close(at: usize) {
    all(|all| {
        let free = all.free;
        let place = all.held.get_mut(at).filter(|held| !matches!(held, Held::Free(_)))?;
        *place = Held::Free(free);
        all.free = at;
        Some(())
    });
}

/// What to do once a client's replies are sent: 0 goes on, -1 closes, -2 feeds nothing to get the rest of them, and else
/// that many milliseconds are waited before feeding nothing.
#[wasm_bindgen]
pub fn flow(connection: usize) -> f64 {
    let flow = all(|all| match all.held.get(connection)? {
        Held::Connection(client) => Some(client.flow),
        _ => None,
    });
    match flow {
        Some(Flow::Continue) => 0.0,
        Some(Flow::More) => -2.0,
        Some(Flow::Delay(ms)) => float(ms),
        Some(Flow::Close) | None => -1.0,
    }
}

/// Takes RESP bytes of a client, whole commands or cut anywhere; the replies to those that are complete.
#[wasm_bindgen]
pub fn feed(core: usize, connection: usize, now: f64, input: &[u8]) -> Vec<u8> {
    let mut output = Vec::new();
    all(|all| {
        if let Ok([Held::Core(core), Held::Connection(client)]) = all.held.get_disjoint_mut([core, connection]) {
            client.flow = client.session.feed(&mut core.engine, time(now), input, &mut output);
        }
        Some(())
    });
    output
}
