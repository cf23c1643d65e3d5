//! The client of the API as commands use it: its errors are failures of a command.

use std::sync::Arc;
use std::time::Duration;

pub use client::{Access, Answer, Error, Lines, Request as Ask, UNKNOWN_PATH, segment};
use client::{Exchange, Observer, Retries};
use hyper::body::Incoming;
use serde_json::Value;

use crate::failure::{Failure, Refusal};

/// A server, and who asks it.
pub struct Client {
    inner: client::Client,
}

impl Client {
    /// A client of the server that `access` names, in a project's plane if one is named.
    pub fn new(
        access: Access,
        project: Option<&str>,
        timeout: Option<Duration>,
        verbosity: u8,
        warn: Box<dyn Fn(&str) + Send + Sync>,
    ) -> Result<Client, Failure> {
        let client = client::Client::new(access)?;
        let client = match project {
            Some(project) => client.in_plane(project),
            None => client,
        };
        let told = Arc::new(Told { verbosity, warn });
        // A person sees at once that a server is not there, and decides.
        let inner = client.with_timeout(timeout).with_retries(Retries::when_busy()).observed_by(told);
        Ok(Client { inner })
    }

    /// The client below, whose errors are its own.
    pub fn inner(&self) -> &client::Client {
        &self.inner
    }

    /// Where the server listens, for messages.
    pub fn address(&self) -> &str {
        self.inner.address()
    }

    /// Asks, and reads the whole answer, whatever it says.
    pub async fn answer(&self, ask: &Ask) -> Result<Answer, Failure> {
        Ok(self.inner.answer(ask).await?)
    }

    /// Asks for JSON; anything but success is a failure.
    pub async fn value(&self, ask: &Ask) -> Result<Value, Failure> {
        Ok(self.inner.value(ask).await?)
    }

    /// Asks for an answer that comes line by line.
    pub async fn lines(&self, ask: &Ask) -> Result<Lines, Failure> {
        Ok(self.inner.lines(ask).await?)
    }

    /// Asks for an answer that is read as it comes.
    pub async fn open(&self, ask: &Ask) -> Result<Incoming, Failure> {
        Ok(self.inner.open(ask).await?)
    }
}

/// What is told on stderr while a command runs.
struct Told {
    verbosity: u8,
    warn: Box<dyn Fn(&str) + Send + Sync>,
}

impl Observer for Told {
    fn warned(&self, text: &str) {
        (self.warn)(text);
    }

    fn answered(&self, exchange: &Exchange<'_>) {
        if self.verbosity >= 6 {
            let Exchange { method, address, path, status, took, .. } = exchange;
            eprintln!("{method} https://{address}{path} {status} in {} milliseconds", took.as_millis());
        }
        if self.verbosity >= 8 {
            eprintln!("{}", String::from_utf8_lossy(exchange.body));
        }
    }
}

/// Why the server did not do it.
pub fn refused(answer: &Answer) -> Failure {
    Error::from(client::Refusal::read(answer)).into()
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        let text = error.to_string();
        let is_unanswered = error.is_unanswered();
        match error {
            Error::Refused(refusal) => {
                let failure = Failure::Server(Box::new(Refusal { status: refusal.status, during: None }));
                hinted(failure, refusal.hint)
            }
            Error::ConnectionRefused(_) => {
                Failure::Bare(text)
                    .hint("no server is listening there; \"groundplane serve\" starts one on this machine")
            }
            Error::Unreachable { is_mistrusted, .. } => {
                let hint = "certificate-authority-data in the kubeconfig must be the CA of this server";
                hinted(Failure::Bare(text), is_mistrusted.then(|| hint.to_owned()))
            }
            Error::UnknownContext(_) => {
                Failure::other(text).hint("\"groundplane config get-contexts\" lists those that do")
            }
            Error::NoServer(_) => Failure::other(text).hint(
                "start a server with \"groundplane serve\", or name a kubeconfig with --kubeconfig or KUBECONFIG",
            ),
            Error::NoAuthorities => Failure::other(text).hint(
                "set certificate-authority-data of the cluster in the kubeconfig, or use --certificate-authority FILE",
            ),
            Error::Exec { install_hint, .. } if !install_hint.is_empty() => {
                Failure::other(text).note(install_hint)
            }
            Error::LoginNeeded { issuer, client, .. } => Failure::other(text)
                .hint(format!("groundplane login --issuer {issuer} --client-id {client}")),
            Error::Lost { hint, .. } => hinted(without_answer(text, is_unanswered), hint),
            Error::TimedOut { .. } => {
                without_answer(format!("{text} (--request-timeout)"), is_unanswered)
            }
            Error::Config(_) | Error::Exec { .. } | Error::Unreadable(_) | Error::Invalid(_) => {
                Failure::Other(text)
            }
        }
    }
}

fn hinted(failure: Failure, hint: Option<String>) -> Failure {
    match hint {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}

/// Of what only reads, that is all there is to say; a change may have been made all the same.
fn without_answer(why: String, is_unanswered: bool) -> Failure {
    match is_unanswered {
        false => Failure::Other(why),
        true => Failure::Unanswered(why)
            .hint("the change may have been made; check the current state before you try again"),
    }
}
