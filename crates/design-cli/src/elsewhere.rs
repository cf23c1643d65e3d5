//! Remote designs: URLs and credentials.

use std::path::{Path, PathBuf};

use clap::Args;
use cli::{
    fetch::{Limits, Proof, fetch},
    path_segment,
};
use design::document::{DesignReference, Fetch};

use crate::outcome::{Streams, Trouble};

/// Credentials for remote designs.
#[derive(Args, Clone)]
pub(crate) struct Credentials {
    /// Secret, in the namespace on the server, with `token`, or `username` and `password`, for remote designs.
    #[arg(long, value_name = "SECRET")]
    credentials: Option<String>,
}

/// The location of documents.
pub(crate) enum Located {
    /// A local path.
    Here(PathBuf),
    /// Fetched: name for messages, and content.
    Fetched(String, Vec<u8>),
}

impl Credentials {
    /// Returns local paths and `file://` URLs as they are, and fetches other URLs.
    pub(crate) fn locate(&self, path: &Path, streams: &mut Streams<'_>) -> Result<Located, Trouble> {
        let Some(text) = path.to_str().filter(|text| text.contains("://")) else {
            return Ok(Located::Here(path.to_owned()));
        };
        let reference: DesignReference = text
            .parse()
            .map_err(|error: design::document::InvalidDesignReference| Trouble::Asked(error.to_string()))?;
        let (from, is_keystone) = match &reference {
            DesignReference::File(path) => return Ok(Located::Here(path.clone())),
            DesignReference::Http(from) => (from, false),
            DesignReference::Deckhand(from) | DesignReference::Promenade(from) => (from, true),
        };
        let proof = self.proof(from, is_keystone, streams)?;
        let bytes = fetch(&from.url, proof.as_ref(), &Limits::default())?;
        Ok(Located::Fetched(reference.to_string(), bytes))
    }

    /// Credentials of the URL take precedence over the Secret, and that over the environment.
    fn proof(
        &self,
        from: &Fetch,
        is_keystone: bool,
        streams: &mut Streams<'_>,
    ) -> Result<Option<Proof>, Trouble> {
        if let Some(user) = &from.user {
            return Ok(Some(Proof::basic(user, from.password().unwrap_or_default())));
        }
        let token = |token: &str| if is_keystone { Proof::keystone(token) } else { Proof::bearer(token) };
        let Some(secret) = &self.credentials else {
            let named = std::env::var("GROUNDPLANE_DESIGN_TOKEN").ok().filter(|token| !token.is_empty());
            return Ok(named.map(|named| token(&named)));
        };
        let namespace = streams.server()?.namespace()?;
        let path =
            format!("/api/v1/namespaces/{}/secrets/{}", path_segment(&namespace), path_segment(secret));
        let kept = streams.server()?.get(&path, &[])?;
        let text = |key: &str| {
            let bytes = kept["data"][key].as_str().and_then(|text| krm::base64::decode(text).ok())?;
            String::from_utf8(bytes).ok().map(|text| text.trim_end().to_owned())
        };
        match (text("token"), text("username"), text("password")) {
            (Some(kept), ..) => Ok(Some(token(&kept))),
            (None, Some(user), Some(password)) => Ok(Some(Proof::basic(&user, &password))),
            _ => Err(Trouble::Asked(format!(
                "Secret {secret} has neither a token nor a username and a password for {}",
                from.url
            ))),
        }
    }
}
