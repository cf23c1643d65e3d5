//! HTTP answers of the portal: pages, redirects, files, and the headers that keep browsers from doing harm.

use apiserver::answer::{self, Answer, Body};
use http::header::{CACHE_CONTROL, CONTENT_DISPOSITION, HeaderName, HeaderValue, LOCATION, SET_COOKIE, VARY};
use maud::Markup;

/// Nothing is loaded or sent elsewhere, and no script or style but ours runs.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
    connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// A page.
pub fn page(code: u16, markup: Markup) -> Answer {
    let mut answer = answer::bytes(code, "text/html; charset=utf-8", markup.into_string());
    guard(&mut answer);
    answer
}

/// Leads to another page, after a form was sent.
pub fn redirect(to: &str) -> Answer {
    let mut answer = answer::bytes(303, "text/plain; charset=utf-8", "");
    let to = HeaderValue::from_str(to).unwrap_or(HeaderValue::from_static("/ui/"));
    answer.headers_mut().insert(LOCATION, to);
    guard(&mut answer);
    answer
}

/// JSON for the script of a page.
pub fn json(value: &serde_json::Value) -> Answer {
    let mut answer = answer::json(200, krm::encode::to_json(value));
    guard(&mut answer);
    answer
}

/// A file to keep, whose bytes come as they are made.
pub fn download(content_type: &'static str, name: &str, body: Body) -> Answer {
    let mut answer = answer::stream(200, content_type, body);
    let name: String =
        name.chars().filter(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.')).collect();
    let disposition = HeaderValue::from_str(&format!("attachment; filename=\"{name}\""));
    if let Ok(disposition) = disposition {
        answer.headers_mut().insert(CONTENT_DISPOSITION, disposition);
    }
    guard(&mut answer);
    answer
}

/// A stream of events.
pub fn events(body: Body) -> Answer {
    let mut answer = answer::stream(200, "text/event-stream", body);
    guard(&mut answer);
    answer
}

/// A file of the portal itself, whose address changes with its content.
pub fn asset(content_type: &'static str, content: &'static str) -> Answer {
    let mut answer = answer::bytes(200, content_type, content);
    guard(&mut answer);
    let for_ever = HeaderValue::from_static("public, max-age=31536000, immutable");
    answer.headers_mut().insert(CACHE_CONTROL, for_ever);
    answer
}

/// The same answer, with a cookie.
pub fn with_cookie(mut answer: Answer, name: &str, value: &str, seconds: i64, is_secret: bool) -> Answer {
    let http_only = if is_secret { "; HttpOnly" } else { "" };
    let cookie = format!("{name}={value}; Path=/; Max-Age={seconds}; Secure{http_only}; SameSite=Lax");
    if let Ok(cookie) = HeaderValue::from_str(&cookie) {
        answer.headers_mut().append(SET_COOKIE, cookie);
    }
    answer
}

fn guard(answer: &mut Answer) {
    let headers = answer.headers_mut();
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(VARY, HeaderValue::from_static("Cookie"));
    for (name, value) in [
        ("content-security-policy", POLICY),
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "same-origin"),
        ("cross-origin-opener-policy", "same-origin"),
        ("x-frame-options", "DENY"),
    ] {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
}
