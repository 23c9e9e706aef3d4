//! What the benchmarks measure, and in which order they visit keys.

mod cases;
mod keys;

pub use cases::{Case, Decide, NOW};
pub use keys::{Walk, keys};
