//! Page tokens: after which object a list goes on.

use ring::digest::{SHA256, digest};
use serde::{Deserialize, Serialize};

use crate::failure::Failure;

/// A place in the order of a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Page {
    /// The last object that was returned.
    #[serde(rename = "a")]
    after: String,
    /// A digest of the filter: the pages of one list have the same.
    #[serde(rename = "f")]
    filter: String,
}

impl Page {
    /// After an object, in a list with a filter.
    pub fn after(after: &str, filter: &str) -> Page {
        Page { after: after.to_owned(), filter: digest_of(filter) }
    }

    /// As clients have it.
    pub fn token(&self) -> String {
        krm::base64::encode(&serde_json::to_vec(self).unwrap_or_default())
    }

    /// The last object that was returned, by the token of a page of the same list.
    pub fn read(token: &str, filter: &str) -> Result<String, Failure> {
        let page = krm::base64::decode(token).ok();
        let page: Option<Page> = page.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        match page {
            None => Err(Failure::invalid("field 'page_token': it is not a token of this API")),
            Some(page) if page.filter != digest_of(filter) => {
                Err(Failure::invalid("field 'page_token': it is of a list with another filter"))
            }
            Some(page) => Ok(page.after),
        }
    }
}

fn digest_of(filter: &str) -> String {
    let digest = digest(&SHA256, filter.as_bytes());
    digest.as_ref().iter().take(6).map(|byte| format!("{byte:02x}")).collect()
}
