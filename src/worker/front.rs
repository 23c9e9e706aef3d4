//! The HTTP interface, and the way to the objects.

use std::cell::RefCell;
use std::format;
use std::string::{String, ToString};
use std::vec;
use std::vec::Vec;

use futures_util::future::join_all;
use wasm_bindgen::{JsCast, JsValue};
use worker::js_sys::{Date, Function, Reflect, Uint8Array};
use worker::{
    Context, Env, Headers, Method, ObjectNamespace, Request, RequestInit, Response, ResponseBuilder, Result, event,
};

use super::denials::Denials;
use super::placement::{Names, Placement};
use super::problem::Problem;
use super::route::{Route, Words, encode, objects_of, route, split_replies};
use super::{directory, json, metrics};
use crate::command::equal_in_constant_time;
use crate::command::resp::Request as RespRequest;
use crate::number::parse_digits;

/// What was asked for, or what is wrong.
type Answer<T> = core::result::Result<T, Problem>;

/// The longest body that is read.
const MAX_BODY_BYTES: usize = 1 << 20;
/// How long a refusal is answered without asking again, at most, where the variable says nothing.
const DENY_CACHE_MS: u64 = 1000;
const OPENAPI: &str = include_str!("openapi.json");
const NO_TOKEN: &str = "this Worker has no token yet, so it answers nobody: set one with `wrangler secret put TIDEGATE_TOKEN`, or, for development on your own machine only, set the variable TIDEGATE_DEV to \"allow-anyone\"";

std::thread_local! {
    /// The refusals that this isolate knows. Plain data, so requests may share it.
    static DENIALS: RefCell<Denials> = RefCell::default();
}

#[event(fetch)]
async fn fetch(request: Request, env: Env, _context: Context) -> Result<Response> {
    let endpoint = endpoint_of(&request);
    let origin = env.var("TIDEGATE_ALLOWED_ORIGIN").ok().map(|origin| origin.to_string());
    let response = match answer(endpoint, request, &env, origin.is_some()).await {
        Ok(response) => response,
        Err(problem) => problem.response()?,
    };
    metrics::count_request(endpoint, response.status_code());
    match origin {
        Some(origin) => with_origin(response, &origin),
        None => Ok(response),
    }
}

/// What the request is for; one name for all that is nothing.
fn endpoint_of(request: &Request) -> &'static str {
    let path = request.path();
    ["/v1/command", "/v1/pipeline", "/v1/resp", "/v1/health", "/metrics", "/openapi.json"]
        .into_iter()
        .find(|endpoint| *endpoint == path)
        .unwrap_or("other")
}

async fn answer(endpoint: &'static str, mut request: Request, env: &Env, cross_origin: bool) -> Answer<Response> {
    let method = request.method();
    if cross_origin && method == Method::Options && endpoint != "other" {
        return Ok(ResponseBuilder::new().with_status(204).empty());
    }
    match (endpoint, &method) {
        ("/v1/health", Method::Get | Method::Head) => respond("application/json", b"{\"status\":\"ok\"}".to_vec()),
        ("/openapi.json", Method::Get | Method::Head) => respond("application/json", OPENAPI.as_bytes().to_vec()),
        ("/metrics", Method::Get | Method::Head) => {
            authorize(&request, env)?;
            respond("text/plain; version=0.0.4; charset=utf-8", metrics::text().into_bytes())
        }
        ("/v1/command" | "/v1/pipeline" | "/v1/resp", Method::Post) => {
            authorize(&request, env)?;
            let objects = Objects::of(env)?;
            let body = body(&mut request).await?;
            run(endpoint, &objects, &body).await
        }
        ("other", _) => Err(problem(404, "Not Found", "there is nothing here; /openapi.json says what there is")),
        _ => Err(problem(405, "Method Not Allowed", format!("{endpoint} does not take {}", method.as_ref()))),
    }
}

async fn run(endpoint: &str, objects: &Objects, body: &[u8]) -> Answer<Response> {
    if endpoint == "/v1/resp" {
        let (commands, wrong) = parse_resp(body);
        let mut bytes = objects.run(&commands).await.concat();
        if let Some(wrong) = wrong {
            bytes.extend(format!("-ERR Protocol error: {wrong}\r\n").into_bytes());
        }
        return respond("application/octet-stream", bytes);
    }
    let text = str::from_utf8(body).map_err(|_| problem(400, "Bad Request", "the body is not UTF-8"))?;
    let wrong = |detail: String| problem(400, "Bad Request", detail);
    let json = if endpoint == "/v1/command" {
        let command = json::command(text).map_err(wrong)?;
        let replies = objects.run(&[command]).await;
        json::answer(replies.first().map(Vec::as_slice).unwrap_or_default())
    } else {
        let commands = json::commands(text).map_err(wrong)?;
        json::answers(&objects.run(&commands).await)
    };
    respond("application/json", json.into_bytes())
}

fn respond(kind: &str, body: Vec<u8>) -> Answer<Response> {
    let respond = || {
        let response = ResponseBuilder::new().with_header("content-type", kind)?;
        Ok(response.with_header("cache-control", "no-store")?.fixed(body))
    };
    respond().map_err(|error: worker::Error| problem(500, "Internal Server Error", error.to_string()))
}

fn problem(status: u16, title: &'static str, detail: impl Into<String>) -> Problem {
    Problem::new(status, title, detail)
}

/// Lets a caller through who has the token, or anybody where development allows it.
fn authorize(request: &Request, env: &Env) -> Answer<()> {
    let token = env.secret("TIDEGATE_TOKEN").map(|token| token.to_string()).unwrap_or_default();
    if token.is_empty() {
        let development = env.var("TIDEGATE_DEV").is_ok_and(|value| value.to_string() == "allow-anyone");
        return if development { Ok(()) } else { Err(problem(503, "Service Unavailable", NO_TOKEN)) };
    }
    let header = request.headers().get("authorization").ok().flatten().unwrap_or_default();
    let given = header.split_once(' ').filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
    match given {
        Some((_, given)) if equal_in_constant_time(token.as_bytes(), given.trim().as_bytes()) => Ok(()),
        Some(_) => Err(problem(401, "Unauthorized", "this is not the token")),
        None => Err(problem(401, "Unauthorized", "send the token as `Authorization: Bearer TOKEN`")),
    }
}

async fn body(request: &mut Request) -> Answer<Vec<u8>> {
    let too_long = || problem(413, "Content Too Large", format!("a body may have at most {MAX_BODY_BYTES} bytes"));
    let stated = request.headers().get("content-length").ok().flatten().and_then(|length| length.parse().ok());
    if stated.is_some_and(|length: usize| length > MAX_BODY_BYTES) {
        return Err(too_long());
    }
    let body = request.bytes().await.map_err(|error| problem(400, "Bad Request", error.to_string()))?;
    if body.len() > MAX_BODY_BYTES { Err(too_long()) } else { Ok(body) }
}

fn with_origin(response: Response, origin: &str) -> Result<Response> {
    let headers = Headers::new();
    for (name, value) in response.headers().entries() {
        headers.set(&name, &value)?;
    }
    headers.set("access-control-allow-origin", origin)?;
    headers.set("access-control-allow-headers", "authorization, content-type")?;
    headers.set("access-control-allow-methods", "GET, POST")?;
    headers.set("vary", "origin")?;
    Ok(response.with_headers(headers))
}

/// The commands in RESP bytes, and what is wrong with the rest.
fn parse_resp(bytes: &[u8]) -> (Vec<Words>, Option<&'static str>) {
    let mut commands = Vec::new();
    let mut rest = bytes;
    let mut request = RespRequest::default();
    let mut arguments = Vec::new();
    while !rest.is_empty() {
        match request.take(rest, &mut arguments) {
            Ok(Some(length)) => {
                if !arguments.is_empty() {
                    commands.push(arguments.iter().map(|word| word.to_vec()).collect());
                }
                rest = rest.get(length..).unwrap_or_default();
            }
            Ok(None) => return (commands, Some("the last command is cut off")),
            Err(error) => return (commands, Some(error.0)),
        }
    }
    (commands, None)
}

/// The objects of one namespace.
pub struct Objects {
    binding: ObjectNamespace,
    pub(super) names: Names,
    location_hint: Option<String>,
    deny_cache_ms: u64,
}

/// Commands on their way to one object, and which replies theirs are part of.
#[derive(Default)]
struct Batch(Vec<(String, Vec<(usize, Words)>)>);

impl Batch {
    fn add(&mut self, object: String, slot: usize, command: Words) {
        match self.0.iter_mut().find(|(name, _)| *name == object) {
            Some((_, commands)) => commands.push((slot, command)),
            None => self.0.push((object, vec![(slot, command)])),
        }
    }
}

impl Objects {
    fn of(env: &Env) -> Answer<Self> {
        let variable = |name: &str| env.var(name).ok().map(|value| value.to_string()).filter(|value| !value.is_empty());
        let broken = |error: worker::Error| {
            problem(503, "Service Unavailable", format!("the binding TIDEGATE is missing in wrangler.toml: {error}"))
        };
        let placement = match variable("TIDEGATE_PLACEMENT").as_deref() {
            None | Some("tag") => Placement::Tag,
            Some("slot") => Placement::Slot,
            Some(other) => {
                let detail = format!("the variable TIDEGATE_PLACEMENT must be tag or slot, not {other}");
                return Err(problem(503, "Service Unavailable", detail));
            }
        };
        let deny_cache_ms = match variable("TIDEGATE_DENY_CACHE_MS") {
            None => DENY_CACHE_MS,
            Some(text) => parse_digits(text.as_bytes()).ok_or_else(|| {
                let detail = format!("the variable TIDEGATE_DENY_CACHE_MS must be whole milliseconds, not {text}");
                problem(503, "Service Unavailable", detail)
            })?,
        };
        let mut binding = env.durable_object("TIDEGATE").map_err(broken)?;
        if let Some(jurisdiction) = variable("TIDEGATE_JURISDICTION") {
            binding = within(&binding, &jurisdiction).map_err(|error| {
                let error = worker::Error::from(error);
                let detail =
                    format!("the platform refuses the variable TIDEGATE_JURISDICTION, {jurisdiction}: {error}");
                problem(503, "Service Unavailable", detail)
            })?;
        }
        let namespace = variable("TIDEGATE_NAMESPACE").unwrap_or_else(|| String::from("default"));
        Ok(Self {
            binding,
            names: Names::new(&namespace, placement),
            location_hint: variable("TIDEGATE_LOCATION_HINT"),
            deny_cache_ms,
        })
    }

    /// Runs commands in their order, those for one object as one call; each one's reply.
    async fn run(&self, commands: &[Words]) -> Vec<Vec<u8>> {
        let mut replies: Vec<Vec<u8>> = vec![Vec::new(); commands.len()];
        let mut batch = Batch::default();
        let mut slot = 0_usize;
        let asked = now();
        let epoch = DENIALS.with_borrow(Denials::epoch);
        let mut answered_here = Vec::new();
        while let Some(command) = commands.get(slot) {
            let named = |name: &str| command.first().is_some_and(|word| word.eq_ignore_ascii_case(name.as_bytes()));
            if named("MULTI") {
                let rest = commands.get(slot..).unwrap_or_default();
                let ends = |words: &Words| {
                    let name = words.first().map(Vec::as_slice).unwrap_or_default();
                    name.eq_ignore_ascii_case(b"EXEC") || name.eq_ignore_ascii_case(b"DISCARD")
                };
                let length = rest.iter().position(ends).map_or(rest.len(), |end| end.saturating_add(1));
                let transaction = rest.get(..length).unwrap_or_default();
                match self.transaction(transaction) {
                    Ok(object) => {
                        for (offset, command) in transaction.iter().enumerate() {
                            // Whatever it changes ends what is known; nothing of it is answered from here.
                            DENIALS.with_borrow_mut(|denials| denials.answer(command, asked));
                            batch.add(object.clone(), slot.saturating_add(offset), command.clone());
                        }
                    }
                    Err(refusals) => {
                        for (reply, refusal) in replies.iter_mut().skip(slot).zip(refusals) {
                            *reply = refusal;
                        }
                    }
                }
                slot = slot.saturating_add(length);
                continue;
            }
            if named("QUIT") {
                set(&mut replies, slot, b"+OK\r\n".to_vec());
            } else if let Some(denial) = DENIALS.with_borrow_mut(|denials| denials.answer(command, asked)) {
                set(&mut replies, slot, denial);
                answered_here.push(slot);
            } else {
                match route(command, &self.names) {
                    Route::Object(object) => batch.add(object, slot, command.clone()),
                    Route::Keys => self.add_keys(&mut batch, slot, command),
                    Route::Refused(text) => set(&mut replies, slot, format!("-{text}\r\n").into_bytes()),
                    // These see what the commands before them did, and those after see what these did.
                    Route::Create(object) => {
                        self.send(core::mem::take(&mut batch), &mut replies).await;
                        set(&mut replies, slot, directory::create(self, &object, command).await);
                    }
                    Route::Drop(object) => {
                        self.send(core::mem::take(&mut batch), &mut replies).await;
                        set(&mut replies, slot, directory::drop(self, &object, command).await);
                    }
                    Route::List(object) => {
                        self.send(core::mem::take(&mut batch), &mut replies).await;
                        batch.add(object, slot, command.clone());
                    }
                }
            }
            slot = slot.saturating_add(1);
        }
        self.send(batch, &mut replies).await;
        for (slot, (command, reply)) in commands.iter().zip(&replies).enumerate() {
            // What was answered from here is no later news of the object. Slots were added in their order.
            if answered_here.binary_search(&slot).is_err() {
                DENIALS.with_borrow_mut(|denials| denials.note(command, reply, asked, epoch, self.deny_cache_ms));
            }
            metrics::count_command(command, reply);
        }
        replies
    }

    /// The one object of a transaction, or the replies when nothing of it runs.
    fn transaction(&self, commands: &[Words]) -> core::result::Result<String, Vec<Vec<u8>>> {
        let refused = |text: &str, length: usize| {
            let error = format!("-{text}\r\n").into_bytes();
            let mut replies = vec![error; length];
            set(&mut replies, 0, b"+OK\r\n".to_vec());
            let aborted = b"-EXECABORT Transaction discarded because of previous errors.\r\n";
            set(&mut replies, length.saturating_sub(1), aborted.to_vec());
            replies
        };
        let ended = commands.len() > 1
            && commands
                .last()
                .and_then(|last| last.first())
                .is_some_and(|name| name.eq_ignore_ascii_case(b"EXEC") || name.eq_ignore_ascii_case(b"DISCARD"));
        if !ended {
            let error = b"-ERR MULTI is not offered by itself here; send it with its EXEC in one request\r\n".to_vec();
            return Err(vec![error; commands.len()]);
        }
        let inner = commands.get(1..commands.len().saturating_sub(1)).unwrap_or_default();
        let objects = objects_of(inner, &self.names).map_err(|text| refused(&text, commands.len()))?;
        match objects.as_slice() {
            [] => Ok(self.names.directory()),
            [object] => Ok(object.clone()),
            _ => {
                let text =
                    "CROSSSLOT Keys in request don't hash to the same slot: give them one hash tag, such as {user:42}";
                Err(refused(text, commands.len()))
            }
        }
    }

    /// Each object gets the keys that it holds.
    fn add_keys(&self, batch: &mut Batch, slot: usize, command: &Words) {
        let Some((name, keys)) = command.split_first() else { return };
        let mut by_object: Vec<(String, Words)> = Vec::new();
        for key in keys {
            let object = self.names.key(key);
            match by_object.iter_mut().find(|(other, _)| *other == object) {
                Some((_, words)) => words.push(key.clone()),
                None => by_object.push((object, vec![name.clone(), key.clone()])),
            }
        }
        for (object, words) in by_object {
            batch.add(object, slot, words);
        }
    }

    /// Sends every object its commands, all at once, and puts the replies in their places.
    async fn send(&self, batch: Batch, replies: &mut [Vec<u8>]) {
        let calls = batch.0.into_iter().map(|(object, commands)| async move {
            let words: Vec<Words> = commands.iter().map(|(_, words)| words.clone()).collect();
            let answers = self.ask(&object, &words).await;
            commands.into_iter().map(|(slot, _)| slot).zip(answers).collect::<Vec<_>>()
        });
        for (slot, answer) in join_all(calls).await.into_iter().flatten() {
            let Some(reply) = replies.get_mut(slot) else { continue };
            *reply = if reply.is_empty() { answer } else { added(reply, answer) };
        }
    }

    /// Asks one object; one reply for each command, an error when it does not answer.
    pub(super) async fn ask(&self, object: &str, commands: &[Words]) -> Vec<Vec<u8>> {
        let mut bytes = Vec::new();
        for command in commands {
            encode(command, &mut bytes);
        }
        let replies = match self.call(object, &bytes).await {
            Ok(replies) => split_replies(&replies),
            Err(error) => {
                let text = error.to_string().replace(['\r', '\n'], " ");
                vec![
                    format!("-STORE_UNAVAILABLE the Durable Object did not answer: {text}\r\n").into_bytes();
                    commands.len()
                ]
            }
        };
        if replies.len() == commands.len() {
            return replies;
        }
        vec![b"-STORE_UNAVAILABLE the Durable Object's answer was cut off\r\n".to_vec(); commands.len()]
    }

    async fn call(&self, object: &str, bytes: &[u8]) -> Result<Vec<u8>> {
        let id = self.binding.id_from_name(object)?;
        let stub = match &self.location_hint {
            Some(hint) => id.get_stub_with_location_hint(hint)?,
            None => id.get_stub()?,
        };
        let mut init = RequestInit::new();
        init.with_method(Method::Post).with_body(Some(Uint8Array::from(bytes).into()));
        let mut response = stub.fetch_with_request(Request::new_with_init("https://object/", &init)?).await?;
        let body = response.bytes().await?;
        if response.status_code() == 200 {
            return Ok(body);
        }
        Err(worker::Error::from(String::from_utf8_lossy(&body).into_owned()))
    }
}

/// The objects of a binding that must stay in a jurisdiction.
fn within(binding: &ObjectNamespace, jurisdiction: &str) -> core::result::Result<ObjectNamespace, JsValue> {
    let binding: &JsValue = binding.as_ref();
    let method: Function = Reflect::get(binding, &"jurisdiction".into())?.dyn_into()?;
    Ok(method.call1(binding, &jurisdiction.into())?.unchecked_into())
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast saturates")]
fn now() -> u64 {
    Date::now() as u64
}

fn set(replies: &mut [Vec<u8>], slot: usize, reply: Vec<u8>) {
    if let Some(place) = replies.get_mut(slot) {
        *place = reply;
    }
}

/// Two integers added up; an error stays one.
fn added(sum: &[u8], reply: Vec<u8>) -> Vec<u8> {
    let integer =
        |reply: &[u8]| str::from_utf8(reply.strip_prefix(b":")?.strip_suffix(b"\r\n")?).ok()?.parse::<i64>().ok();
    match (integer(sum), integer(&reply)) {
        (Some(sum), Some(more)) => format!(":{}\r\n", sum.saturating_add(more)).into_bytes(),
        (None, _) => sum.to_vec(),
        (_, None) => reply,
    }
}
