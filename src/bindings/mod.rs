//! The wasm surface of the npm package, and nothing that decides.
//!
//! - [`scratch`]: the fixed buffers in wasm memory that JavaScript and the engine share; all raw memory is there;
//! - [`held`]: engines and clients, which JavaScript knows by their numbers, and the protocol between them;
//! - [`core`]: the fast entries of the two hot commands, one decision or many in a call;
//! - [`simulation`]: many arrivals through rules in one call.
//!
//! The TypeScript package checks every argument before it gets here, because it can name it; what it lets through is
//! still checked by the engine. No call here calls back into JavaScript while it holds an engine, so none can be entered twice.

mod core;
mod held;
mod scratch;
mod simulation;
