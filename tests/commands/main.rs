//! Commands through a session: every reply to the character, however the bytes are cut, whatever the bytes are.
#![allow(missing_docs, reason = "a test")]

mod client;
mod connection;
mod cuts;
mod errors;
mod keys;
mod limits;
mod passwords;
mod random;
mod scan;
mod transactions;
