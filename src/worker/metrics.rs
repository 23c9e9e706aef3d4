//! Counters of this isolate, as Prometheus reads them. Each isolate counts what it served since it started.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::string::String;
use std::vec::Vec;

use super::route::Words;

/// Names that a command is counted under; all others are one.
const COMMANDS: [&str; 4] = ["gcra.limit", "ratelimit.check", "cl.throttle", "valve.admit"];

#[derive(Default)]
struct Counters {
    requests: BTreeMap<(&'static str, u16), u64>,
    commands: BTreeMap<(&'static str, &'static str), u64>,
}

std::thread_local! {
    static COUNTERS: RefCell<Counters> = RefCell::default();
}

/// Counts an answered request.
pub fn count_request(endpoint: &'static str, status: u16) {
    COUNTERS.with_borrow_mut(|counters| {
        let count = counters.requests.entry((endpoint, status)).or_default();
        *count = count.wrapping_add(1);
    });
}

/// Counts a command and how it ended.
pub fn count_command(command: &Words, reply: &[u8]) {
    let name = command.first().map(Vec::as_slice).unwrap_or_default();
    let known = COMMANDS.into_iter().find(|known| known.as_bytes().eq_ignore_ascii_case(name));
    let allowed = match (known, reply) {
        (_, [b'-', ..]) => None,
        // These say whether it is denied, those whether it is allowed.
        (Some("gcra.limit" | "cl.throttle"), _) => Some(!reply.starts_with(b"*5\r\n:1\r\n")),
        (Some(_), _) => Some(!reply.starts_with(b"*5\r\n:0\r\n") && !reply.starts_with(b"*3\r\n:0\r\n")),
        (None, _) => Some(true),
    };
    let outcome = match allowed {
        None => "error",
        Some(true) => "allowed",
        Some(false) => "denied",
    };
    COUNTERS.with_borrow_mut(|counters| {
        let count = counters.commands.entry((known.unwrap_or("other"), outcome)).or_default();
        *count = count.wrapping_add(1);
    });
}

/// Everything counted, as text.
pub fn text() -> String {
    COUNTERS.with_borrow(|counters| {
        let mut text = String::from(
            "# HELP tidegate_http_requests_total HTTP requests answered by this isolate.\n# TYPE tidegate_http_requests_total counter\n",
        );
        for ((endpoint, status), count) in &counters.requests {
            _ = writeln!(text, "tidegate_http_requests_total{{endpoint=\"{endpoint}\",status=\"{status}\"}} {count}");
        }
        text.push_str(
            "# HELP tidegate_commands_total Commands run through this isolate, by how they ended.\n# TYPE tidegate_commands_total counter\n",
        );
        for ((command, outcome), count) in &counters.commands {
            _ = writeln!(text, "tidegate_commands_total{{command=\"{command}\",outcome=\"{outcome}\"}} {count}");
        }
        text
    })
}
