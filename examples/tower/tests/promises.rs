//! The layer around a service, by an injected clock.
#![allow(missing_docs, reason = "a test")]

use std::cell::Cell;
use std::convert::Infallible;
use std::time::Duration;

use futures_util::FutureExt;
use http::{Request, Response, StatusCode};
use tidegate_tower::{Quota, RateLimitLayer};
use tower::{Layer, Service, ServiceExt, service_fn};

thread_local! {
    static NOW: Cell<u64> = const { Cell::new(1_764_547_200_000) };
    static SERVED: Cell<u32> = const { Cell::new(0) };
}

fn service() -> impl Service<Request<String>, Response = Response<String>, Error = Infallible> {
    let quota = Quota::per(Duration::from_mins(1), 10).expect("a quota");
    let key = |request: &Request<String>| request.headers()["authorization"].as_bytes().to_vec();
    RateLimitLayer::new(quota, key).with_clock(|| NOW.get()).layer(service_fn(|_: Request<String>| {
        SERVED.set(SERVED.get() + 1);
        async { Ok(Response::new(String::from("hello"))) }
    }))
}

/// Status, and the three fields.
type Answer = (StatusCode, [Option<String>; 3]);

fn ask(service: &mut impl Service<Request<String>, Response = Response<String>, Error = Infallible>) -> Answer {
    ask_as(service, "alice")
}

fn ask_as(
    service: &mut impl Service<Request<String>, Response = Response<String>, Error = Infallible>,
    who: &str,
) -> Answer {
    let request = Request::builder().header("authorization", who).body(String::new()).expect("a request");
    let ready = service.ready().now_or_never().expect("always ready").expect("never fails");
    let response = ready.call(request).now_or_never().expect("an answer at once").expect("never fails");
    let field =
        |name| response.headers().get(name).map(|value: &http::HeaderValue| value.to_str().expect("text").into());
    (response.status(), ["ratelimit-policy", "ratelimit", "retry-after"].map(field))
}

fn fields(policy: &str, state: &str, retry_after: Option<&str>) -> [Option<String>; 3] {
    [Some(policy.into()), Some(state.into()), retry_after.map(Into::into)]
}

const POLICY: &str = r#""requests";q=10;w=60"#;

#[test]
fn ten_pass_and_the_eleventh_is_told_when_to_come_back() {
    let mut service = service();
    assert_eq!(ask(&mut service), (StatusCode::OK, fields(POLICY, r#""requests";r=9;t=6"#, None)));
    for _ in 1..10 {
        assert_eq!(ask(&mut service).0, StatusCode::OK);
    }
    let refused = fields(POLICY, r#""requests";r=0;t=6"#, Some("6"));
    assert_eq!(ask(&mut service), (StatusCode::TOO_MANY_REQUESTS, refused));
    assert_eq!(SERVED.get(), 10, "the service never saw the refused one");
    assert_eq!(ask_as(&mut service, "bob").0, StatusCode::OK, "another client has its own budget");

    NOW.set(NOW.get() + 5999);
    let refused = fields(POLICY, r#""requests";r=0;t=1"#, Some("1"));
    assert_eq!(ask(&mut service), (StatusCode::TOO_MANY_REQUESTS, refused));
    NOW.set(NOW.get() + 1);
    assert_eq!(ask(&mut service).0, StatusCode::OK);
}

#[test]
fn a_key_that_cannot_be_counted_is_answered_503() {
    let mut service = service();
    assert_eq!(ask_as(&mut service, &"k".repeat(4097)), (StatusCode::SERVICE_UNAVAILABLE, [None, None, None]));
    assert_eq!(SERVED.get(), 0);
}

#[test]
fn a_quota_of_nothing_is_none() {
    assert!(Quota::per(Duration::from_mins(1), 0).is_none());
    assert!(Quota::per(Duration::ZERO, 1).is_none());
    assert!(Quota::per(Duration::from_nanos(1), 1).is_none());
}
