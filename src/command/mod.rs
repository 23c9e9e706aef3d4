//! Commands: bytes of the protocol into calls of the engine, and its answers back into bytes.
//!
//! - [`resp`]: requests out of bytes, replies into bytes;
//! - [`Command`]: arguments that are right in themselves, before anything is looked up;
//! - [`execute`]: a command run on a [`Backend`];
//! - [`Session`]: one client: what it sent so far, how it wants its replies, what it may do.

mod counters;
mod describe;
mod execute;
mod glob;
mod keys;
mod parse;
mod policies;
pub mod resp;
mod session;
mod table;
mod transaction;

pub use counters::Counters;
pub use execute::Backend;
#[cfg(feature = "store")]
pub(crate) use execute::decide;
pub use parse::Command;
#[cfg(feature = "worker")]
pub(crate) use session::equal_in_constant_time;
pub use session::{Flow, Session};
pub(crate) use table::{Kind, Names};
