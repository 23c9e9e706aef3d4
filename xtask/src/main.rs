//! The build of everything that is not plain cargo.
//!
//! `cargo xtask wasm` compiles the crate's bindings to WebAssembly and puts the package's modules in `pkg/wasm`.
//! `cargo xtask worker` builds the deployable Worker in `build/worker`.

mod wasm;

use std::process::ExitCode;

const USAGE: &str = "usage: cargo xtask wasm      build pkg/wasm, the npm package's WebAssembly modules
       cargo xtask worker    build build/worker, the Cloudflare Worker that wrangler.toml deploys";

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let built = match (arguments.next().as_deref(), arguments.next()) {
        (Some("wasm"), None) => wasm::build(),
        (Some("worker"), None) => wasm::build_worker(),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match built {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}
