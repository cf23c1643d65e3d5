//! Continue tokens: the position of a list and its revision.

use krm::status::Status;
use ring::rand::SecureRandom as _;
use serde::{Deserialize, Serialize};
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

    /// Reads a token.
    pub fn read(token: &str) -> Result<Resume, Status> {
        let bad = |why: &str| {
            Status::bad_request(format!("invalid continue token: continue key is not valid: {why}"))
        };
        let json = base64::from_url(token).ok_or_else(|| bad("it is not base64"))?;
        let value = krm::body::read(&json).map_err(|error| bad(&error.to_string()))?.value;
        let resume: Resume = serde_json::from_value(value).map_err(|error| bad(&error.to_string()))?;
        let could_be = INCONSISTENT..=LAST;
        match resume.format == FORMAT && !resume.start.contains('\0') && could_be.contains(&resume.revision) {
            true => Ok(resume),
            false => Err(bad("it was issued by another server")),
        }
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
            assert_eq!(Resume::read(&resume.token()).unwrap(), resume);
        }
        assert_eq!(Resume::after(Revision::new(1), "x").inconsistently().revision(), None);
    }

    #[test]
    fn a_token_of_somebody_else_is_refused() {
        let made_up = [
            r#"{"v":"meta.k8s.io/v1","rv":1,"start":"a"}"#,
            r#"{"v":"groundplane.dev/v1","rv":-2,"start":"a"}"#,
            r#"{"v":"groundplane.dev/v1","rv":9223372036854775807,"start":"a"}"#,
        ]
        .map(|json| base64::url(json.as_bytes()));
        for token in ["garbage", "!!", "e30"].into_iter().chain(made_up.iter().map(String::as_str)) {
            assert_eq!(Resume::read(token).unwrap_err().code, 400, "{token}");
        }
    }
}
