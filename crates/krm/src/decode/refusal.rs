//! Errors of decoding a body.

use crate::field::quote;
use crate::status::Status;

/// How many bytes of a body an answer shows.
const MOST_SHOWN: usize = 30;

/// Why a body is no object of the kind that was expected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    why: String,
    /// Kind and version, when the body was understood so far.
    found: Option<(String, String)>,
}

impl Refusal {
    /// It could not be told what it is.
    pub fn unrecognized(why: impl Into<String>) -> Refusal {
        Refusal { why: why.into(), found: None }
    }

    /// It says what it is, but is not fit to be that. Without a kind, it counts as not recognised.
    pub fn unfit(kind: &str, version: &str, why: impl Into<String>) -> Refusal {
        let found = (!kind.is_empty()).then(|| (kind.to_owned(), version.to_owned()));
        Refusal { why: why.into(), found }
    }

    /// The reason alone, as answers about options give it.
    pub fn why(&self) -> &str {
        &self.why
    }

    /// The answer to a request for a `kind` with this body.
    pub fn message(&self, kind: &str, body: &[u8]) -> String {
        let why = &self.why;
        match &self.found {
            Some((found, version)) => {
                format!("{found} in version {} cannot be handled as a {kind}: {why}", quote(version))
            }
            None => {
                let summary = summary(body);
                format!("the object provided is unrecognized (must be of type {kind}): {why} ({summary})")
            }
        }
    }

    /// The answer to a request for a `kind` with this body.
    pub fn status(&self, kind: &str, body: &[u8]) -> Status {
        Status::bad_request(self.message(kind, body))
    }
}

/// The beginning of a body: as text when it looks like JSON, else in hexadecimal digits.
fn summary(body: &[u8]) -> String {
    let shown = &body[..body.len().min(MOST_SHOWN)];
    let more = if shown.len() < body.len() { " ..." } else { "" };
    match shown.first() {
        None => "<empty>".to_owned(),
        Some(b'{') => format!("{}{more}", String::from_utf8_lossy(shown)),
        Some(_) => {
            let digits: String = shown.iter().map(|byte| format!("{byte:02x}")).collect();
            format!("{digits}{more}")
        }
    }
}
