//! Policies: several rules that admit a job in one step, or spend nothing.
//!
//! - `interval`: how long, as a number or as text;
//! - `rule`: one rule, and what it may say;
//! - `json`: JSON, as far as a policy needs it;
//! - `read`: a policy out of JSON, or the reason why it is none;
//! - `canonical`: one spelling for equal policies, and its fingerprint;
//! - `lease`: the jobs that run at once;
//! - `namespace`: a policy in force, and where its rules keep their states;
//! - `admission`: the one step, as calls of the engine.

mod admission;
mod canonical;
mod interval;
pub(crate) mod json;
mod lease;
mod namespace;
mod read;
mod rule;

pub use admission::{Admission, Job, RuleState, Shown};
pub use canonical::Fingerprint;
pub use lease::Concurrency;
pub(crate) use namespace::Policies;
pub use read::Policy;
pub use rule::{PolicyRule, RuleAlgorithm};
