//! The wasm surface of the npm package, and nothing that decides.
//!
//! - [`scratch`]: the fixed buffers in wasm memory that JavaScript and the engine share; all raw memory is there;
//! - [`core`]: an engine as JavaScript holds it, with the fast entries of the two hot commands;
//! - [`connection`]: one client's side of the protocol;
//! - [`batch`]: many decisions in one call;
//! - [`simulation`]: many arrivals through rules in one call, without an engine.
//!
//! The TypeScript package checks every argument before it gets here, because it can name it; what it lets through is
//! still checked by the engine. No call here calls back into JavaScript while it holds an engine, so none can be entered twice.

mod batch;
mod connection;
mod core;
mod scratch;
mod simulation;
