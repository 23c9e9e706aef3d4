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

/// The stack, in front of all data: a quarter of what the linker gives by itself, so that memory starts smaller and an address
/// takes a byte less. What calls itself stops at 16 levels, and 3 KB is the most that any command was seen to take.
const STACK_BYTES: usize = 1 << 18;

/// A WebAssembly module of the package, and its files in `pkg/wasm`.
struct Module {
    /// The crate's feature that it is the surface of.
    feature: &'static str,
    name: &'static str,
    /// `s` is as fast as `3` here and a fifth smaller; `z` is a tenth smaller than that and a third slower.
    opt_level: &'static str,
    /// How much code LLVM copies to save a call. At `s` it is 50, where 40 is 1 % smaller and as fast, and 10 is 4 % slower.
    /// At `z` it is 5, where 10 is 1 % smaller.
    inline_threshold: u8,
}

/// The engine, which is called for its speed, and the engine with a store behind it, which waits for that.
const MODULES: [Module; 2] = [
    Module { feature: "bindings", name: "tidegate", opt_level: "s", inline_threshold: 40 },
    Module { feature: "store", name: "store", opt_level: "z", inline_threshold: 10 },
];

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

/// Builds the Worker: its module, the glue, and the shim that keeps it alive.
pub fn build_worker() -> Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("xtask has no parent folder")?;
    let out = root.join("build/worker");
    fs::create_dir_all(&out)?;
    build_module(root, &out, &Module { feature: "worker", name: "tidegate", opt_level: "s", inline_threshold: 40 })?;
    fs::copy(root.join("src/worker/shim.js"), out.join("index.js"))?;
    Ok(())
}

fn build_module(root: &Path, out: &Path, module: &Module) -> Result<()> {
    let compiled = compile(root, module)?;
    let name = module.name;
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

    for (identifier, snippets) in bindings.snippets() {
        let folder = out.join("snippets").join(identifier);
        fs::create_dir_all(&folder)?;
        for (index, text) in snippets.iter().enumerate() {
            fs::write(folder.join(format!("inline{index}.js")), text)?;
        }
    }

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
    let shown = module.strip_prefix(root).unwrap_or(&module).display();
    println!("{shown}: {} bytes, {} gzip", bytes.len(), gzip(&bytes)?);
    Ok(())
}

fn compile(root: &Path, Module { feature, opt_level, inline_threshold, .. }: &Module) -> Result<PathBuf> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let target_dir = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    let status = Command::new(cargo)
        .current_dir(root)
        .args(["rustc", "--package", "tidegate", "--lib", "--crate-type", "cdylib", "--target", TARGET])
        .args(["--profile", "wasm", "--features", feature])
        // The second copies no code into a branch to save a load in the other: a third of a percent.
        .args(["--", &format!("-Cllvm-args=-inline-threshold={inline_threshold}"), "-Cllvm-args=-enable-pre=0"])
        .arg(format!("-Clink-arg=-zstack-size={STACK_BYTES}"))
        .env("CARGO_PROFILE_WASM_OPT_LEVEL", opt_level)
        .env("CARGO_ENCODED_RUSTFLAGS", rustflags(root).join("\u{1f}"))
        .status()
        .context("could not start cargo")?;
    ensure!(status.success(), "cargo could not compile the crate to {TARGET}");
    Ok(target_dir.join(TARGET).join("wasm/tidegate.wasm"))
}

/// The flags of `.cargo/config.toml`, and names for this machine's folders, so that the module is the same on every machine.
fn rustflags(root: &Path) -> Vec<String> {
    let home = |variable: &str, folder: &str| {
        let user = std::env::var("HOME").unwrap_or_default();
        std::env::var(variable).unwrap_or_else(|_| format!("{user}/{folder}"))
    };
    let mut flags = vec!["--cfg".to_string(), "getrandom_backend=\"wasm_js\"".to_string()];
    let cargo = home("CARGO_HOME", ".cargo");
    // Each registry keeps its crates in a folder of its own.
    let registries = fs::read_dir(format!("{cargo}/registry/src")).into_iter().flatten().flatten();
    let crates = registries.map(|registry| (registry.path().display().to_string(), "crates"));
    let folders = [(home("RUSTUP_HOME", ".rustup"), "rustup"), (root.display().to_string(), "tidegate")];
    flags
        .extend(folders.into_iter().chain(crates).map(|(folder, name)| format!("--remap-path-prefix={folder}={name}")));
    flags
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
        // The stack comes first and grows down: nothing is within a kilobyte of zero but the end of a stack that overflows, so an
        // offset that is added to an address never wraps around.
        .args(["-O3", "--converge", "--low-memory-unused", "--strip-target-features"])
        .args(["--enable-bulk-memory", "--enable-nontrapping-float-to-int", "--enable-sign-ext"])
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
