//! Commands out of JSON, replies into JSON.

use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

use super::route::{Words, reply_length};
use crate::policy::json::{Json, push_quoted};

/// One command: an array of text, numbers and booleans, its name first.
///
/// # Errors
/// A sentence that says what it must be.
pub fn command(body: &str) -> Result<Words, String> {
    words(&read(body)?)
}

/// Several commands: an array of such arrays.
///
/// # Errors
/// As [`command`].
pub fn commands(body: &str) -> Result<Vec<Words>, String> {
    let json = read(body)?;
    let Some(commands) = json.as_array() else {
        return Err(String::from(
            "the body must be a JSON array of commands, each an array such as [\"GET\", \"key\"]",
        ));
    };
    commands.iter().map(words).collect()
}

fn read(body: &str) -> Result<Json<'_>, String> {
    Json::read(body).map_err(|at| format!("the body is not JSON: it is wrong at byte {at}"))
}

fn words(json: &Json<'_>) -> Result<Words, String> {
    let wrong =
        "a command must be a JSON array of its name and arguments, such as [\"GCRA.LIMIT\", \"key\", 60000, 10]";
    let words = json.as_array().filter(|words| !words.is_empty()).ok_or(wrong)?;
    let word = |(index, json): (usize, &Json<'_>)| match (json.as_text(), json.text.as_bytes()) {
        (Some(text), _) => Ok(text.as_bytes().to_vec()),
        (None, b"null" | [b'[' | b'{', ..]) => {
            Err(format!("argument {index} must be text or a number, not {}", json.text))
        }
        (None, word) => Ok(word.to_vec()),
    };
    words.iter().enumerate().map(word).collect()
}

/// A reply as `{"result":…}` or `{"error":"…"}`.
pub fn answer(reply: &[u8]) -> String {
    let mut out = String::from("{");
    if let Some((b'-', rest)) = reply.split_first() {
        out.push_str("\"error\":");
        push_quoted(&mut out, &line(rest));
    } else {
        out.push_str("\"result\":");
        value(reply, &mut out);
    }
    out.push('}');
    out
}

/// Several replies as an array of such objects.
pub fn answers(replies: &[Vec<u8>]) -> String {
    let answers: Vec<String> = replies.iter().map(|reply| answer(reply)).collect();
    format!("[{}]", answers.join(","))
}

/// Appends a reply's value.
fn value(reply: &[u8], out: &mut String) {
    let Some((kind, rest)) = reply.split_first() else { return out.push_str("null") };
    match kind {
        b':' => out.push_str(&line(rest)),
        b'$' | b'=' => match rest.windows(2).position(|pair| pair == b"\r\n") {
            Some(end) if rest.first() != Some(&b'-') => {
                let text = rest.get(end.saturating_add(2)..rest.len().saturating_sub(2)).unwrap_or_default();
                push_quoted(out, &String::from_utf8_lossy(text));
            }
            _ => out.push_str("null"),
        },
        b'*' | b'~' | b'%' => {
            let Some(end) = rest.windows(2).position(|pair| pair == b"\r\n") else { return out.push_str("null") };
            if rest.first() == Some(&b'-') {
                return out.push_str("null");
            }
            out.push('[');
            let mut items = rest.get(end.saturating_add(2)..).unwrap_or_default();
            let mut first = true;
            while let Some((item, after)) = reply_length(items).and_then(|length| items.split_at_checked(length)) {
                if !core::mem::take(&mut first) {
                    out.push(',');
                }
                value(item, out);
                items = after;
            }
            out.push(']');
        }
        b'-' => out.push_str(&answer(reply)),
        b'_' => out.push_str("null"),
        b'#' => out.push_str(if rest.first() == Some(&b't') { "true" } else { "false" }),
        _ => push_quoted(out, &line(rest)),
    }
}

fn line(rest: &[u8]) -> String {
    String::from_utf8_lossy(rest).trim_end_matches("\r\n").to_string()
}
