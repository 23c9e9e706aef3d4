//! The protocol: requests out of bytes, replies into bytes.

mod reply;
mod request;

pub use reply::{Protocol, Writer};
pub use request::Request;
