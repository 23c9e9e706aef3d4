//! Exact, atomic rate limiting: every decision of Tidegate is made here.
//!
//! The core takes the time as an argument, does no I/O and allocates nothing on its usual path. An [`Engine`] holds
//! keys, named limiters and policies; a [`Session`] turns bytes of the RESP protocol into its calls and its answers
//! back into bytes. Everything else (storage, sockets, JavaScript) only moves bytes to it.
//!
//! Start with the [`guide`]. Times are milliseconds since 1970, and every duration is whole milliseconds; the features
//! are for the npm package and the Worker, and a Rust program needs none of them.
//!
//! ```
//! use tidegate::{Engine, Options, Positive};
//!
//! const MINUTE: Positive = Positive::new(60_000).unwrap();
//! const BURST: Positive = Positive::new(10).unwrap();
//!
//! let mut engine = Engine::new(&Options::default());
//! let decision = engine.gcra_limit(1_764_547_200_000, b"api:user:42", MINUTE, BURST, Positive::ONE)?;
//! assert!(decision.allowed());
//! assert_eq!((decision.remaining, decision.reset_after), (9, 6000));
//! # Ok::<(), tidegate::Error>(())
//! ```
#![cfg_attr(not(feature = "worker"), no_std)]
#![cfg_attr(not(any(feature = "bindings", feature = "store", feature = "worker")), forbid(unsafe_code))]
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects
    )
)]

extern crate alloc;
#[cfg(all(test, not(feature = "worker")))]
extern crate std;

pub mod algorithm;
#[cfg(all(
    target_arch = "wasm32",
    target_os = "unknown",
    any(feature = "bindings", feature = "store", feature = "worker")
))]
mod allocator;
#[cfg(feature = "bindings")]
mod bindings;
mod command;
mod engine;
mod error;
#[cfg(doc)]
#[doc = include_str!("guide.md")]
pub mod guide {}
/// The README's code, which is held to compile and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
#[doc(hidden)]
pub mod keyspace;
pub mod limiter;
mod number;
#[cfg(all(
    target_arch = "wasm32",
    target_os = "unknown",
    any(feature = "bindings", feature = "store"),
    not(feature = "worker")
))]
mod panics;
pub mod policy;
#[cfg(any(feature = "bindings", feature = "store", feature = "worker"))]
mod single;
mod sorted_map;
#[doc(hidden)]
pub mod storage;
mod text;
#[cfg(any(test, feature = "worker"))]
mod worker;

pub use command::{Counters, Flow, Session};
pub use engine::{CheckDecision, Engine, GcraDecision, Options};
pub use error::{Error, ErrorKind};
pub use number::{MAX_INTEGER, Positive};
