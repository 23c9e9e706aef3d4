//! One client's side of the protocol, as JavaScript holds it.

use std::string::String;
use std::vec::Vec;

use wasm_bindgen::prelude::wasm_bindgen;

use super::core::{Core, float, time};
use crate::{Flow, Session};

/// A session, and what it wants after the last bytes.
#[wasm_bindgen]
pub struct Connection {
    session: Session,
    flow: Flow,
}

#[wasm_bindgen]
impl Connection {
    /// A client; with a password it must send that first. `id` is what `CLIENT ID` replies.
    #[wasm_bindgen(constructor)]
    pub fn new(id: f64, password: Option<String>) -> Self {
        let id = time(id);
        let session = match password {
            Some(password) => Session::with_password(id, password.as_bytes()),
            None => Session::new(id),
        };
        Self { session, flow: Flow::Continue }
    }

    /// What to do once the replies are sent: 0 goes on, -1 closes, -2 feeds nothing to get the rest of them,
    /// and else that many milliseconds are waited before feeding nothing.
    pub fn flow(&self) -> f64 {
        match self.flow {
            Flow::Continue => 0.0,
            Flow::Close => -1.0,
            Flow::More => -2.0,
            Flow::Delay(ms) => float(ms),
        }
    }
}

#[wasm_bindgen]
impl Core {
    /// Takes RESP bytes of a client, whole commands or cut anywhere; the replies to those that are complete.
    pub fn feed(&mut self, connection: &mut Connection, now: f64, input: &[u8]) -> Vec<u8> {
        let mut output = Vec::new();
        connection.flow = connection.session.feed(&mut self.engine, time(now), input, &mut output);
        output
    }
}

#[wasm_bindgen]
impl Core {
    /// How many commands there were: of `GCRA.LIMIT`, `RATELIMIT.CHECK`, `CL.THROTTLE`, `VALVE.ADMIT` and of all others,
    /// each those allowed, denied and failed.
    pub fn counters(&self) -> Vec<f64> {
        self.engine.counters().counts().iter().map(|count| float(*count)).collect()
    }

    /// How many records there are.
    pub fn records(&mut self) -> f64 {
        float(self.engine.keyspace().len() as u64)
    }
}
