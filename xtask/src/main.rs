//! The build of everything that is not plain cargo.
//!
//! `cargo xtask wasm` compiles the crate's bindings to WebAssembly and puts the package's module in `pkg/wasm`.

mod wasm;

use std::process::ExitCode;

const USAGE: &str = "usage: cargo xtask wasm    build pkg/wasm, the npm package's WebAssembly module";

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let (Some("wasm"), None) = (arguments.next().as_deref(), arguments.next()) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    match wasm::build() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}
