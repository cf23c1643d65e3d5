use std::{sync::Arc, time::Duration};

use tokio::{
    select,
    sync::oneshot,
    time::{sleep, timeout},
};
use tokio_stream::{StreamExt, once, pending};
use tonic::{Code, Response, Status, Streaming};

use super::{
    call::{Calls, Leader, Link, Repeat},
    error::{Error, speaks_of_login},
    whole_revisions::WholeRevisions,
    wire::{StatusRequest, WatchCreateRequest, WatchRequest, WatchResponse, watch_request::RequestUnion},
};

/// How often the member of a watch is asked whether it is there.
const PULSE: Duration = Duration::from_secs(2);
/// How long it may take to say so. With the pulse: a silent member is noticed within five seconds.
const PULSE_TIMEOUT: Duration = Duration::from_millis(2500);

/// Changes of a range in order of revision, from one member, until the first error. It is not resumed behind
/// the caller's back: who read it knows the last revision that arrived.
pub(crate) struct Watcher {
    calls: Arc<Calls>,
    link: Link,
    answers: Streaming<WatchResponse>,
    revisions: WholeRevisions,
    silence: oneshot::Receiver<()>,
    ended: bool,
}

impl Watcher {
    pub(super) async fn open(calls: Arc<Calls>, mut start: WatchCreateRequest) -> Result<Self, Error> {
        // A thousand revisions may come at once, each as large as a request may be: let the server cut them.
        start.fragment = true;
        let ask = |link: Link| open_stream(link, start.clone());
        let (link, answers, first) = calls.call(Repeat::Freely, Leader::Required, ask).await?;
        not_canceled(&link.connection.name, first)?;
        let (announce, silence) = oneshot::channel();
        tokio::spawn(take_pulse(link.clone(), announce));
        Ok(Self { calls, link, answers, revisions: WholeRevisions::default(), silence, ended: false })
    }

    /// The next changes, never a part of a revision; without any when etcd reports progress. None when the
    /// member ended the watch in good order, and after an error. May be dropped while it waits: nothing is
    /// lost.
    pub(crate) async fn next(&mut self) -> Result<Option<WatchResponse>, Error> {
        while !self.ended {
            let response = match self.receive().await {
                Ok(Some(response)) => response,
                end => {
                    self.ended = true;
                    return end;
                }
            };
            if let Some(whole) = self.revisions.take_in(response) {
                return Ok(Some(whole));
            }
        }
        Ok(None)
    }

    async fn receive(&mut self) -> Result<Option<WatchResponse>, Error> {
        let connection = &self.link.connection;
        let answer = select! {
            biased;
            answer = self.answers.message() => answer,
            _ = &mut self.silence => {
                self.calls.is_silent(connection);
                let cause = "it went silent during a watch".to_owned();
                return Err(Error::Unreachable { endpoint: connection.name.clone(), cause });
            }
        };
        match answer {
            Ok(Some(response)) => not_canceled(&connection.name, response).map(Some),
            Ok(None) => {
                self.calls.has_failed(connection);
                Ok(None)
            }
            Err(status) => {
                self.calls.has_failed(connection);
                Err(Error::from_status(&connection.name, &status).of_a_read())
            }
        }
    }
}

/// Returns with the first answer, which says that the watch is there or why not.
async fn open_stream(
    link: Link,
    start: WatchCreateRequest,
) -> Result<Response<(Link, Streaming<WatchResponse>, WatchResponse)>, Status> {
    let create = WatchRequest { request_union: Some(RequestUnion::CreateRequest(start)) };
    // The end of our requests would be the end of the watch.
    let request = link.request(once(create).chain(pending()));
    let mut answers = link.watch().watch(request).await?.into_inner();
    let Some(first) = answers.message().await? else {
        return Err(Status::unavailable("the watch ended before it began"));
    };
    if first.canceled && is_about_permission(&first.cancel_reason) {
        // etcd 3.4 says so of an expired token too; as a status it makes the call log in again, once.
        return Err(Status::unauthenticated(first.cancel_reason));
    }
    Ok(Response::new((link, answers, first)))
}

/// Asks again and again over the connection of the watch; any answer will do. The stream alone does not tell
/// a quiet range from a paused or lost member.
async fn take_pulse(link: Link, mut announce: oneshot::Sender<()>) {
    loop {
        select! {
            () = announce.closed() => return,
            () = sleep(PULSE) => {}
        }
        let mut member = link.maintenance();
        if timeout(PULSE_TIMEOUT, member.status(link.request(StatusRequest {}))).await.is_err() {
            // Fails when the watcher was dropped meanwhile, and then nobody wants to know.
            let _ = announce.send(());
            return;
        }
    }
}

fn not_canceled(endpoint: &str, response: WatchResponse) -> Result<WatchResponse, Error> {
    if response.compact_revision != 0 {
        return Err(Error::Compacted { revision: Some(response.compact_revision) });
    }
    if !response.canceled {
        return Ok(response);
    }
    let endpoint = endpoint.to_owned();
    let reason = response.cancel_reason;
    if is_about_permission(&reason) {
        return Err(Error::Denied { endpoint, cause: reason });
    }
    Err(Error::Refused {
        endpoint,
        code: Code::Cancelled,
        message: format!("the watch was canceled: {reason}"),
    })
}

fn is_about_permission(reason: &str) -> bool {
    reason.contains("permission denied") || speaks_of_login(reason)
}
