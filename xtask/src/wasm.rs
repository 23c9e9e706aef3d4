//! cargo, then wasm-bindgen as a library, then wasm-opt, then the loaders' files.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use base64::Engine;
use flate2::Compression;
use flate2::write::GzEncoder;
use wasm_bindgen_cli_support::Bindgen;

const TARGET: &str = "wasm32-unknown-unknown";

/// A WebAssembly module of the package, and its files in `pkg/wasm`.
struct Module {
    /// The crate's feature that it is the surface of.
    feature: &'static str,
    name: &'static str,
}

/// The engine, and the engine with a store behind it.
const MODULES: [Module; 2] =
    [Module { feature: "bindings", name: "tidegate" }, Module { feature: "store", name: "store" }];

/// Builds `pkg/wasm` and prints what it weighs.
pub fn build() -> Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("xtask has no parent folder")?;
    let out = root.join("pkg/wasm");
    fs::create_dir_all(&out)?;
    for module in &MODULES {
        build_module(root, &out, module)?;
    }
    let bytes = fs::read(out.join("tidegate_bg.wasm"))?;
    let text = base64::engine::general_purpose::STANDARD.encode(&bytes);
    fs::write(out.join("inline.js"), format!("export const base64 =\n  \"{text}\";\n"))?;
    fs::write(out.join("inline.d.ts"), "export const base64: string;\n")?;
    Ok(())
}

fn build_module(root: &Path, out: &Path, Module { feature, name }: &Module) -> Result<()> {
    let compiled = compile(root, feature)?;
    let mut bindings = Bindgen::new()
        .input_path(&compiled)
        .out_name(name)
        .web(true)?
        .typescript(true)
        .omit_default_module_path(true)
        .reset_state_function(true)
        .remove_name_section(true)
        .remove_producers_section(true)
        .generate_output()
        .context("wasm-bindgen")?;
    fs::write(out.join(format!("{name}.js")), bindings.js())?;
    fs::write(out.join(format!("{name}.d.ts")), bindings.ts().context("wasm-bindgen wrote no types")?)?;

    let unoptimized = out.join("unoptimized.wasm");
    fs::write(&unoptimized, bindings.wasm_mut().emit_wasm())?;
    let module = out.join(format!("{name}_bg.wasm"));
    optimize(root, &unoptimized, &module)?;
    fs::remove_file(&unoptimized)?;

    let bytes = fs::read(&module)?;
    fs::write(
        out.join(format!("{name}_bg.d.wasm.ts")),
        "declare const module: WebAssembly.Module;\nexport default module;\n",
    )?;
    println!("pkg/wasm/{name}_bg.wasm: {} bytes, {} gzip", bytes.len(), gzip(&bytes)?);
    Ok(())
}

fn compile(root: &Path, feature: &str) -> Result<PathBuf> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let target_dir = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    let status = Command::new(cargo)
        .current_dir(root)
        .args(["rustc", "--package", "tidegate", "--lib", "--crate-type", "cdylib", "--target", TARGET])
        .args(["--profile", "wasm", "--features", feature])
        .status()
        .context("could not start cargo")?;
    ensure!(status.success(), "cargo could not compile the crate to {TARGET}");
    Ok(target_dir.join(TARGET).join("wasm/tidegate.wasm"))
}

fn optimize(root: &Path, from: &Path, to: &Path) -> Result<()> {
    let tool = root.join("node_modules/binaryen/bin/wasm-opt");
    if !tool.exists() {
        bail!("{} is missing: run npm ci first", tool.display());
    }
    let status = Command::new("node")
        .arg(tool)
        .arg(from)
        .arg("-o")
        .arg(to)
        .args(["-O3", "--enable-bulk-memory", "--enable-nontrapping-float-to-int", "--enable-sign-ext"])
        .args(["--enable-mutable-globals", "--enable-reference-types", "--enable-multivalue"])
        .status()
        .context("could not start node for wasm-opt")?;
    ensure!(status.success(), "wasm-opt failed");
    Ok(())
}

fn gzip(bytes: &[u8]) -> Result<usize> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes)?;
    Ok(encoder.finish()?.len())
}
