//! Cache of tokens whose signatures were verified: clients send the same token with every request.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use ring::digest::{SHA256, digest};
use serde_json::{Map, Value};

/// More tokens than are in use at a time; beyond it everything is verified again.
const MOST: usize = 4096;

/// The claims of verified tokens, by the hash of the token. Only the signature is remembered: whether a token is
/// still good is asked every time.
#[derive(Default)]
pub(super) struct Proved {
    claims: RwLock<HashMap<Hash, Arc<Map<String, Value>>>>,
}

type Hash = [u8; 32];

impl Proved {
    /// What the token claims, if it was verified before.
    pub fn recall(&self, hash: &Hash) -> Option<Arc<Map<String, Value>>> {
        self.claims.read().unwrap_or_else(PoisonError::into_inner).get(hash).cloned()
    }

    /// Remembers what a verified token claims.
    pub fn remember(&self, hash: Hash, claims: Map<String, Value>) -> Arc<Map<String, Value>> {
        let claims = Arc::new(claims);
        let mut known = self.claims.write().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MOST {
            known.clear();
        }
        known.insert(hash, claims.clone());
        claims
    }
}

/// The name of a token in the memory of verified ones.
pub(super) fn hash(token: &str) -> Hash {
    let mut hash = [0; 32];
    hash.copy_from_slice(digest(&SHA256, token.as_bytes()).as_ref());
    hash
}
