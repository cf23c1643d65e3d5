//! Connections that change their protocol, to WebSocket or SPDY.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::future::BoxFuture;
use http::header::{CONNECTION, HeaderValue, UPGRADE};
use http::{Response, StatusCode};
use hyper::upgrade::{OnUpgrade, Upgraded};

use crate::answer::{self, Answer};

/// What goes on with a connection once it has changed its protocol.
pub type Serving = Box<dyn FnOnce(Upgraded) -> BoxFuture<'static, ()> + Send>;

/// Part of an answer that agrees to change the protocol. The request lasts until what goes on then has ended.
#[derive(Clone)]
pub struct Upgrade(Arc<Mutex<Option<Serving>>>);

impl Upgrade {
    /// The answer 101 that agrees to a protocol.
    pub fn to(protocol: &'static str, serving: Serving) -> Answer {
        let mut answer = Response::new(answer::empty());
        *answer.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
        let headers = answer.headers_mut();
        headers.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
        headers.insert(UPGRADE, HeaderValue::from_static(protocol));
        answer.extensions_mut().insert(Upgrade(Arc::new(Mutex::new(Some(serving)))));
        answer
    }

    /// Goes on once the connection has changed, until that has ended.
    pub(crate) async fn serve(self, connection: OnUpgrade) {
        let serving = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        match (connection.await, serving) {
            (Ok(upgraded), Some(serving)) => serving(upgraded).await,
            (Err(error), _) => tracing::debug!(%error, "a connection did not change its protocol"),
            (Ok(_), None) => {}
        }
    }
}

impl fmt::Debug for Upgrade {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Upgrade")
    }
}
