//! HTTP errors, as RFC 9457 describes them.

use std::format;
use std::string::String;

use worker::{Response, ResponseBuilder, Result};

use crate::policy::json::push_quoted;

/// What is wrong with a request.
#[derive(Clone, Debug)]
pub struct Problem {
    status: u16,
    title: &'static str,
    detail: String,
}

impl Problem {
    pub fn new(status: u16, title: &'static str, detail: impl Into<String>) -> Self {
        Self { status, title, detail: detail.into() }
    }

    /// The problem as a response.
    pub fn response(&self) -> Result<Response> {
        let mut body =
            format!("{{\"type\":\"about:blank\",\"title\":\"{}\",\"status\":{},\"detail\":", self.title, self.status);
        push_quoted(&mut body, &self.detail);
        body.push('}');
        let mut response = ResponseBuilder::new()
            .with_status(self.status)
            .with_header("content-type", "application/problem+json")?
            .with_header("cache-control", "no-store")?;
        match self.status {
            401 => response = response.with_header("www-authenticate", "Bearer realm=\"tidegate\"")?,
            405 => response = response.with_header("allow", "GET, POST")?,
            _ => {}
        }
        Ok(response.fixed(body.into_bytes()))
    }
}
