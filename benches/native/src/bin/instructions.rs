//! Runs decisions and nothing else, for an instruction counter to watch: `instructions N DECIDER NAME=VALUE …`.
//!
//! Two runs that differ only in `N` differ by exactly the decisions' instructions. `benches/native/count.mjs` makes them.

use std::process::ExitCode;

use tidegate_benches::Case;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let parsed = match arguments.split_first() {
        Some((count, case)) => {
            count.parse().map_err(|_| format!("{count}: how many?")).and_then(|count| Ok((count, Case::parse(case)?)))
        }
        None => Err("usage: instructions N DECIDER NAME=VALUE …".to_string()),
    };
    match parsed {
        Ok((count, case)) => {
            // Whoever counts sees that the decisions were those it meant.
            println!("{} of {count} admitted", case.run(count));
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}
