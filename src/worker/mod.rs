//! The deployable Cloudflare Worker: HTTP in front, Durable Objects behind.
//!
//! ```text
//! HTTP ── front ── auth, JSON or RESP ── route: which object ── Durable Object ── store ── engine
//! ```
//!
//! - `placement`: the name of the object that holds a thing;
//! - `route`: where a command goes, and how replies come together again;
//! - `directory`: limiters over two objects, healed when a step is missing;
//! - `denials`: refusals that are answered without asking again;
//! - `json`: commands out of JSON, replies into JSON;
//! - `front`: the HTTP interface;
//! - `problem`: HTTP errors;
//! - `metrics`: counters of this isolate;
//! - `object`: the Durable Object.

mod denials;
mod json;
mod placement;
mod route;

#[cfg(feature = "worker")]
mod directory;
#[cfg(feature = "worker")]
mod front;
#[cfg(feature = "worker")]
mod metrics;
#[cfg(feature = "worker")]
mod object;
#[cfg(feature = "worker")]
mod problem;

#[cfg(test)]
mod tests;
