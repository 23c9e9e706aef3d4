//! The build of everything that is not plain cargo.
fn main() {}
