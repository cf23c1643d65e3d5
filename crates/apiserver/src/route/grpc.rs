//! What of gRPC the pipeline itself speaks: how a call is recognized, and how it fails.

use std::time::Duration;

use http::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use http::{HeaderMap, Response};
use krm::status::Status;

use crate::answer::{self, Answer};
use crate::request::body::media_type;

/// The trailer with the code of a call.
pub const STATUS: HeaderName = HeaderName::from_static("grpc-status");
/// The trailer with the message of a call that failed.
pub const MESSAGE: HeaderName = HeaderName::from_static("grpc-message");
/// The header with the time that the caller gives a call.
const TIMEOUT: HeaderName = HeaderName::from_static("grpc-timeout");
const MEDIA: &str = "application/grpc";

/// Whether a request is a call, whatever its path: its content type is `application/grpc`, alone or with a suffix.
pub fn is_call(headers: &HeaderMap) -> bool {
    let Some(media) = media_type(headers).and_then(|media| media.get(..MEDIA.len()).zip(Some(media))) else {
        return false;
    };
    let (start, media) = media;
    start.eq_ignore_ascii_case(MEDIA) && matches!(media.as_bytes().get(MEDIA.len()), None | Some(b'+' | b'-'))
}

/// The service and the method that a call names.
pub fn named(path: &str) -> Option<(&str, &str)> {
    path.strip_prefix('/')?
        .split_once('/')
        .filter(|(service, method)| !service.is_empty() && !method.is_empty())
}

/// The answer to a call that failed before it began: its trailers alone.
pub fn failure(status: &Status) -> Answer {
    let mut answer = Response::new(answer::empty());
    *answer.headers_mut() = trailers(status);
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(MEDIA));
    answer
}

/// The trailers of a call that failed.
pub fn trailers(status: &Status) -> HeaderMap {
    let mut trailers = HeaderMap::new();
    trailers.insert(STATUS, HeaderValue::from(code(status)));
    if let Ok(message) = HeaderValue::from_str(&encoded(&status.message)) {
        trailers.insert(MESSAGE, message);
    }
    trailers
}

/// The code of gRPC for a failure.
pub fn code(status: &Status) -> u16 {
    match (status.code, status.reason) {
        (400 | 406 | 415 | 422, _) => 3,
        (401, _) => 16,
        (403, _) => 7,
        (404, _) => 5,
        (408 | 504, _) => 4,
        (409, "AlreadyExists") => 6,
        (409, _) => 10,
        (410, _) => 11,
        (412, _) => 9,
        (413 | 429, _) => 8,
        (405 | 501, _) => 12,
        (503, _) => 14,
        (499, _) => 1,
        _ => 13,
    }
}

/// The code of HTTP that says the same as a code of gRPC, for audit and metrics.
pub fn http_code(code: u16) -> u16 {
    match code {
        0 => 200,
        1 => 499,
        3 | 9 | 11 => 400,
        4 => 504,
        5 => 404,
        6 | 10 => 409,
        7 => 403,
        8 => 429,
        12 => 501,
        14 => 503,
        16 => 401,
        _ => 500,
    }
}

/// The code in the trailers, or in the head of an answer that has only those.
pub(crate) fn code_in(trailers: &HeaderMap) -> Option<u16> {
    trailers.get(STATUS)?.to_str().ok()?.parse().ok()
}

/// The time that the caller gives a call: digits and a unit.
pub fn timeout(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get(TIMEOUT)?.to_str().ok()?;
    let (digits, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let is_number = (1..=8).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
    let count: u64 = digits.parse().ok().filter(|_| is_number)?;
    Some(match unit {
        "H" => Duration::from_secs(count * 3600),
        "M" => Duration::from_secs(count * 60),
        "S" => Duration::from_secs(count),
        "m" => Duration::from_millis(count),
        "u" => Duration::from_micros(count),
        "n" => Duration::from_nanos(count),
        _ => return None,
    })
}

/// A message as the trailer has it: what is not printable ASCII is percent-encoded.
fn encoded(message: &str) -> String {
    let mut text = String::with_capacity(message.len());
    for byte in message.bytes() {
        match byte {
            b' '..=b'~' if byte != b'%' => text.push(char::from(byte)),
            _ => text.push_str(&format!("%{byte:02X}")),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: HeaderName, value: &'static str) -> HeaderMap {
        [(name, HeaderValue::from_static(value))].into_iter().collect()
    }

    #[test]
    fn a_call_is_recognized_by_its_content_type() {
        for call in
            ["application/grpc", "application/grpc+proto", "application/grpc-web", "application/grpc; a=b"]
        {
            assert!(is_call(&of(CONTENT_TYPE, call)), "{call}");
        }
        for other in ["application/json", "application/grpcx", "application/gr", "text/plain"] {
            assert!(!is_call(&of(CONTENT_TYPE, other)), "{other}");
        }
        assert!(!is_call(&HeaderMap::new()));
    }

    #[test]
    fn a_timeout_has_a_number_and_a_unit() {
        assert_eq!(timeout(&of(TIMEOUT, "250m")), Some(Duration::from_millis(250)));
        assert_eq!(timeout(&of(TIMEOUT, "2H")), Some(Duration::from_secs(7200)));
        for none in ["", "m", "5", "5x", "123456789S", "-1S", "é"] {
            let headers =
                [(TIMEOUT, HeaderValue::from_bytes(none.as_bytes()).unwrap())].into_iter().collect();
            assert_eq!(timeout(&headers), None, "{none}");
        }
    }

    #[test]
    fn a_message_survives_as_ascii() {
        assert_eq!(encoded("50 % größer\n"), "50 %25 gr%C3%B6%C3%9Fer%0A");
    }
}
