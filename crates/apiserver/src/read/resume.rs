//! Continue tokens: the position of a list and its revision.

use krm::status::Status;
use ring::rand::SecureRandom as _;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use store::Revision;

use krm::base64;

/// Where a list goes on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resume {
    #[serde(rename = "v")]
    format: String,
    /// The revision of the first page; nothing where consistency was given up.
    #[serde(rename = "rv")]
    revision: i64,
    /// The key after which it goes on, without the part that all keys of the list share.
    start: String,
    /// How many objects come after that key, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    left: Option<usize>,
}

const FORMAT: &str = "groundplane.dev/v1";
const KUBERNETES: &str = "meta.k8s.io/v1";
const INCONSISTENT: i64 = -1;
/// No store gets to a revision whose versions are beyond all numbers.
const LAST: i64 = i64::MAX >> 16;

impl Resume {
    /// After this key, at this revision.
    pub fn after(revision: Revision, rest_of_key: &str) -> Resume {
        Resume {
            format: FORMAT.to_owned(),
            revision: i64::try_from(revision.get()).unwrap_or(i64::MAX),
            start: rest_of_key.to_owned(),
            left: None,
        }
    }

    /// The same, knowing how many objects come after it.
    pub fn leaving(self, left: Option<usize>) -> Resume {
        Resume { left, ..self }
    }

    /// How many objects come after the key, as the page before has counted them.
    pub fn left(&self) -> Option<usize> {
        self.left.filter(|_| self.revision != INCONSISTENT)
    }

    /// The same place at whatever revision there is.
    pub fn inconsistently(self) -> Resume {
        Resume { revision: INCONSISTENT, ..self }
    }

    /// The revision to go on at; `None`: the current one.
    pub fn revision(&self) -> Option<Revision> {
        u64::try_from(self.revision).ok().map(Revision::new)
    }

    /// The rest of the key to go on after.
    pub fn start(&self) -> &str {
        &self.start
    }

    /// As clients hand it back.
    pub fn token(&self) -> String {
        let json = serde_json::to_vec(self).unwrap_or_default();
        base64::url(&json)
    }

    /// Reads a token, of ours or of Kubernetes' form. `is_clustered` tells whether the objects of the list have no namespace.
    pub fn read(token: &str, is_clustered: bool) -> Result<Resume, Status> {
        let read = Resume::parse(token, is_clustered);
        read.map_err(|why| {
            Status::bad_request(format!("invalid continue token: continue key is not valid{why}"))
        })
    }

    fn parse(token: &str, is_clustered: bool) -> Result<Resume, String> {
        let json = base64::decode_url(token).map_err(|why| format!(": {why}"))?;
        let value = krm::body::read(&json).map_err(|error| format!(": {error}"))?.value;
        let fields = Fields::of(&value)?;
        match fields.format {
            FORMAT => Resume::ours(value).ok_or_else(|| ": it was issued by another server".to_owned()),
            KUBERNETES => Resume::of_kubernetes(&fields, is_clustered),
            other => Err(format!(": server does not recognize this encoded version {other}")),
        }
    }

    fn ours(value: Value) -> Option<Resume> {
        let resume: Resume = serde_json::from_value(value).ok()?;
        let could_be = INCONSISTENT..=LAST;
        Some(resume).filter(|it| !it.start.contains('\0') && could_be.contains(&it.revision))
    }

    /// A token in the form of kube-apiserver: a resourceVersion, and the key that comes next.
    fn of_kubernetes(fields: &Fields<'_>, is_clustered: bool) -> Result<Resume, String> {
        if fields.version == 0 {
            return Err(format!(": incorrect encoded start resourceVersion (version {KUBERNETES})"));
        }
        if fields.start.is_empty() {
            return Err(format!(": encoded start key empty (version {KUBERNETES})"));
        }
        let rest = fields.start.strip_prefix('/').unwrap_or(fields.start);
        if rest.split('/').any(|step| matches!(step, "" | "." | "..")) {
            return Err(format!(": {}", fields.start));
        }
        // The next key after an object is its own with a zero byte at the end.
        let rest = rest.trim_end_matches('\0');
        let start = if is_clustered { format!("/{rest}") } else { rest.to_owned() };
        let revision = if fields.version < 0 { INCONSISTENT } else { fields.version >> 16 };
        Ok(Resume { format: FORMAT.to_owned(), revision, start, left: None })
    }
}

/// The fields that tokens of every form have.
struct Fields<'a> {
    format: &'a str,
    version: i64,
    start: &'a str,
}

impl<'a> Fields<'a> {
    /// Reads them as Go would, which leaves what is missing empty.
    fn of(value: &'a Value) -> Result<Fields<'a>, String> {
        if value.is_null() {
            return Ok(Fields { format: "", version: 0, start: "" });
        }
        let Value::Object(fields) = value else {
            return Err(format!(
                ": json: cannot unmarshal {} into Go value of type storage.continueToken",
                kind(value)
            ));
        };
        let field = |name: &str| fields.get(name).filter(|value| !value.is_null());
        let wrong = |name: &str, value: &Value, wanted: &str| {
            format!(
                ": json: cannot unmarshal {} into Go struct field continueToken.{name} of type {wanted}",
                kind(value)
            )
        };
        let text = |name: &str| match field(name) {
            None => Ok(""),
            Some(Value::String(text)) => Ok(text.as_str()),
            Some(other) => Err(wrong(name, other, "string")),
        };
        let version = match field("rv") {
            None => 0,
            Some(value) => value.as_i64().ok_or_else(|| match value {
                Value::Number(number) => {
                    format!(": json: cannot unmarshal number {number} into Go struct field continueToken.rv of type int64")
                }
                other => wrong("rv", other, "int64"),
            })?,
        };
        Ok(Fields { format: text("v")?, version, start: text("start")? })
    }
}

/// How Go calls the type of a JSON value.
fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// Bytes that nobody can guess.
pub fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    // Without the system's randomness nothing else works either; what is left unset is at worst not unique, which
    // the store notices.
    let _ = ring::rand::SystemRandom::new().fill(&mut bytes);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_leads_back_to_its_place() {
        for start in ["", "a", "ns/a", "ns/äö", "xyz/0123456789"] {
            let resume = Resume::after(Revision::new(42), start);
            assert_eq!(Resume::read(&resume.token(), false).unwrap(), resume);
        }
        assert_eq!(Resume::after(Revision::new(1), "x").inconsistently().revision(), None);
    }

    #[test]
    fn a_token_in_the_form_of_kubernetes_leads_there_too() {
        let token = base64::url(br#"{"v":"meta.k8s.io/v1","rv":131072,"start":"ns/a\u0000"}"#);
        assert_eq!(Resume::read(&token, false).unwrap(), Resume::after(Revision::new(2), "ns/a"));
        let token = base64::url(br#"{"v":"meta.k8s.io/v1","rv":-1,"start":"a\u0000"}"#);
        let clustered = Resume::read(&token, true).unwrap();
        assert_eq!((clustered.revision(), clustered.start()), (None, "/a"));
    }

    #[test]
    fn a_token_that_is_none_is_refused_in_the_words_of_kubernetes() {
        let version = "continue key is not valid: server does not recognize this encoded version";
        for (json, why) in [
            (r#"{"v":"foo"}"#, format!("{version} foo")),
            ("{}", format!("{version} ")),
            (
                r#"{"v":"meta.k8s.io/v1","start":"a"}"#,
                "continue key is not valid: incorrect encoded start resourceVersion (version meta.k8s.io/v1)".to_owned(),
            ),
            (
                r#"{"v":"meta.k8s.io/v1","rv":7}"#,
                "continue key is not valid: encoded start key empty (version meta.k8s.io/v1)".to_owned(),
            ),
            (r#"{"v":"meta.k8s.io/v1","rv":7,"start":"../a"}"#, "continue key is not valid: ../a".to_owned()),
            (
                "[]",
                "continue key is not valid: json: cannot unmarshal array into Go value of type storage.continueToken".to_owned(),
            ),
            (r#"{"v":"groundplane.dev/v1","rv":-2,"start":"a"}"#, "continue key is not valid: it was issued by another server".to_owned()),
            (
                r#"{"v":"groundplane.dev/v1","rv":9223372036854775807,"start":"a"}"#,
                "continue key is not valid: it was issued by another server".to_owned(),
            ),
        ] {
            let refused = Resume::read(&base64::url(json.as_bytes()), false).unwrap_err();
            assert_eq!((refused.code, refused.message), (400, format!("invalid continue token: {why}")), "{json}");
        }
        for (token, at) in [("!!", 0), ("abc=", 3), ("abcde", 4)] {
            let message = format!(
                "invalid continue token: continue key is not valid: illegal base64 data at input byte {at}"
            );
            assert_eq!(Resume::read(token, false).unwrap_err().message, message);
        }
    }
}
