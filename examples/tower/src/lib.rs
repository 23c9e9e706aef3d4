//! A tower layer that keeps each client to a rate limit: axum, hyper and tonic take it as it is.
//!
//! A refused request is answered 429 with `Retry-After` before the service sees it; every answer has the `RateLimit` fields
//! of draft-ietf-httpapi-ratelimit-headers-10.
//!
//! ```
//! use std::time::Duration;
//! use http::{Request, Response};
//! use tidegate_tower::{Quota, RateLimitLayer};
//! use tower::{ServiceBuilder, service_fn};
//!
//! let quota = Quota::per(Duration::from_mins(1), 100).expect("whole milliseconds, and at least one request");
//! let layer = RateLimitLayer::new(quota, |request: &Request<String>| {
//!     request.headers().get("authorization").map_or(Vec::new(), |key| key.as_bytes().to_vec())
//! });
//! let service = ServiceBuilder::new()
//!     .layer(layer)
//!     .service(service_fn(async |_: Request<String>| Ok::<_, std::io::Error>(Response::new(String::from("hello")))));
//! # fn is_a_service(_: impl tower::Service<Request<String>>) {}
//! # is_a_service(service);
//! ```

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use http::header::RETRY_AFTER;
use http::{HeaderMap, HeaderName, HeaderValue, Request, Response, StatusCode};
use tidegate::algorithm::Retry;
use tidegate::{Engine, GcraDecision, Options, Positive};
use tower_layer::Layer;
use tower_service::Service;

const RATE_LIMIT: HeaderName = HeaderName::from_static("ratelimit");
const RATE_LIMIT_POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");

/// So many requests at once, and as many again over a period.
#[derive(Clone, Copy, Debug)]
pub struct Quota {
    period: Positive,
    requests: Positive,
}

impl Quota {
    /// `requests` every `period`, spread evenly; `None` when there are none, or `period` is no whole number of milliseconds.
    pub fn per(period: Duration, requests: u64) -> Option<Self> {
        Some(Self { period: Positive::from_duration(period)?, requests: Positive::new(requests)? })
    }
}

/// Limits services. All that one layer makes, and their clones, share the budgets.
#[derive(Clone, Debug)]
pub struct RateLimitLayer<K> {
    limit: Limit<K>,
}

impl<K> RateLimitLayer<K> {
    /// A layer that counts requests by their `key`: a token, or the client's address.
    pub fn new(quota: Quota, key: K) -> Self {
        // An engine for the public takes its seed from the system's random source, as `HashMap` does.
        let seed = [(); 2].map(|()| std::hash::BuildHasher::hash_one(&std::hash::RandomState::new(), ()));
        let engine = Engine::new(&Options { max_keys: 1_000_000, seed, ..Options::default() });
        Self { limit: Limit { engine: Arc::new(Mutex::new(engine)), quota, key, clock: system_clock } }
    }

    /// The same with another clock, for tests: milliseconds since 1970.
    #[must_use]
    pub fn with_clock(mut self, clock: fn() -> u64) -> Self {
        self.limit.clock = clock;
        self
    }
}

impl<S, K: Clone> Layer<S> for RateLimitLayer<K> {
    type Service = RateLimit<S, K>;

    fn layer(&self, inner: S) -> Self::Service {
        RateLimit { inner, limit: self.limit.clone() }
    }
}

/// A service that is kept to a rate limit.
#[derive(Clone, Debug)]
pub struct RateLimit<S, K> {
    inner: S,
    limit: Limit<K>,
}

#[derive(Clone, Debug)]
struct Limit<K> {
    engine: Arc<Mutex<Engine>>,
    quota: Quota,
    key: K,
    clock: fn() -> u64,
}

impl<S, K, B, R> Service<Request<B>> for RateLimit<S, K>
where
    S: Service<Request<B>, Response = Response<R>>,
    S::Future: Send + 'static,
    K: Fn(&Request<B>) -> Vec<u8>,
    R: Default,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<S::Response, S::Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let Limit { engine, quota, key, clock } = &self.limit;
        let key = key(&request);
        // The lock is held for one decision and never while anything waits. An engine is as it was after any panic elsewhere.
        let decided = engine.lock().unwrap_or_else(PoisonError::into_inner).gcra_limit(
            clock(),
            &key,
            quota.period,
            quota.requests,
            Positive::ONE,
        );
        match decided {
            Ok(decision) if decision.allowed() => {
                let fields = fields(*quota, &decision);
                let response = self.inner.call(request);
                Box::pin(async move {
                    let mut response = response.await?;
                    response.headers_mut().extend(fields);
                    Ok(response)
                })
            }
            Ok(decision) => answer(StatusCode::TOO_MANY_REQUESTS, fields(*quota, &decision)),
            // A million clients are being limited, or a key is over 4,096 bytes.
            Err(_) => answer(StatusCode::SERVICE_UNAVAILABLE, HeaderMap::new()),
        }
    }
}

fn answer<R: Default, E>(
    status: StatusCode,
    headers: HeaderMap,
) -> Pin<Box<dyn Future<Output = Result<Response<R>, E>> + Send>> {
    Box::pin(async move {
        let mut response = Response::new(R::default());
        *response.status_mut() = status;
        *response.headers_mut() = headers;
        Ok(response)
    })
}

/// What an answer says of the quota.
fn fields(Quota { period, requests }: Quota, decision: &GcraDecision) -> HeaderMap {
    let mut fields = HeaderMap::new();
    let mut set = |name, value: String| {
        if let Ok(value) = HeaderValue::from_str(&value) {
            fields.insert(name, value);
        }
    };
    // A window in the field is whole seconds; one that is not is left out.
    let window = period.get() / 1000;
    let window = if window * 1000 == period.get() { format!(";w={window}") } else { String::new() };
    set(RATE_LIMIT_POLICY, format!("\"requests\";q={requests}{window}"));
    let wait = match decision.retry {
        Retry::After(ms) => ms,
        Retry::Now | Retry::Never => decision.reset_after,
    };
    set(RATE_LIMIT, format!("\"requests\";r={};t={}", decision.remaining, seconds(wait)));
    if let Retry::After(ms) = decision.retry {
        set(RETRY_AFTER, seconds(ms).to_string());
    }
    fields
}

/// Whole seconds, rounded up: never earlier than the promise.
const fn seconds(ms: u64) -> u64 {
    ms.div_ceil(1000)
}

fn system_clock() -> u64 {
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since_1970.as_millis()).unwrap_or(u64::MAX)
}
