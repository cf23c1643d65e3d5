//! Connections and credentials, which the clones of a client share.

use std::error::Error as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use http::HeaderMap;

use crate::connect::{Connector, Protocols, Sender};
use crate::error::{Error, Result};
use crate::kubeconfig::{Access, now};
use crate::request::{self, Request};

/// What the clones of a client share.
pub(crate) struct Link {
    pub(crate) authority: String,
    /// The path of the server's address, before every other.
    pub(crate) root: String,
    pub(crate) user_agent: String,
    pub(crate) protocols: Protocols,
    pub(crate) current: Mutex<Arc<Session>>,
    pub(crate) renewing: tokio::sync::Mutex<()>,
    pub(crate) warned: Mutex<Vec<String>>,
}

/// The connections of one set of credentials.
pub(crate) struct Session {
    pub(crate) access: Access,
    pub(crate) connector: Connector,
    pub(crate) headers: HeaderMap,
    /// HTTP/1.1 connections that wait for a request.
    pub(crate) idle: Mutex<Vec<Sender>>,
    /// The HTTP/2 connection.
    pub(crate) shared: Mutex<Option<Sender>>,
    pub(crate) is_refused: AtomicBool,
}

impl Link {
    pub(crate) fn session(&self) -> Arc<Session> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The session, with new credentials if the old ones have expired or were refused.
    pub(crate) async fn renewed(&self) -> Result<Arc<Session>> {
        let session = self.session();
        if session.is_good() {
            return Ok(session);
        }
        let _one = self.renewing.lock().await;
        let session = self.session();
        let Some(renewal) = session.access.renewal.as_ref().filter(|_| !session.is_good()) else {
            return Ok(session);
        };
        let proof = renewal.renewed(&session.access.proof, &session.access.server).await?;
        let access = Access { proof, ..session.access.clone() };
        let (session, _) = Session::new(access, &self.user_agent, self.protocols)?;
        let session = Arc::new(session);
        *self.current.lock().unwrap_or_else(PoisonError::into_inner) = session.clone();
        Ok(session)
    }
}

impl Session {
    pub(crate) fn new(access: Access, user_agent: &str, protocols: Protocols) -> Result<(Session, String)> {
        let (connector, path) = Connector::new(&access, protocols)?;
        let headers = request::identity_headers(&access, user_agent)?;
        let session = Session {
            access,
            connector,
            headers,
            idle: Mutex::default(),
            shared: Mutex::default(),
            is_refused: Default::default(),
        };
        Ok((session, path))
    }

    pub(crate) fn is_good(&self) -> bool {
        if self.access.renewal.is_none() {
            return true;
        }
        let is_refused = self.is_refused.load(Ordering::Relaxed);
        !is_refused && self.access.proof.expires.is_none_or(|expires| expires > now())
    }

    /// A connection for one request, and whether it was open before.
    pub(crate) async fn sender(&self) -> Result<(Sender, bool)> {
        if let Some(open) = self.open() {
            return Ok((open, true));
        }
        let sender = self.connector.connect().await?;
        if let Some(shared) = sender.share() {
            *self.shared.lock().unwrap_or_else(PoisonError::into_inner) = Some(shared);
        }
        Ok((sender, false))
    }

    pub(crate) fn open(&self) -> Option<Sender> {
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        shared.take_if(|sender| sender.is_closed());
        if let Some(sender) = shared.as_ref() {
            return sender.share();
        }
        drop(shared);
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    /// Keeps a connection for the next request, if it is good for one at a time.
    pub(crate) async fn keep(&self, mut sender: Sender) {
        if sender.share().is_none() && sender.is_ready().await {
            self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(sender);
        }
    }

    pub(crate) fn lost(&self, request: &Request, error: &hyper::Error, is_unhandled: bool) -> Error {
        let cause = error.source().map_or(String::new(), |cause| format!(": {cause}"));
        Error::Lost {
            address: self.connector.authority().to_owned(),
            why: format!("{error}{cause}"),
            is_unhandled,
            is_change: !request.changes_nothing(),
            hint: self.connector.https_hint(),
        }
    }
}
