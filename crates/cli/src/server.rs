//! A server as other commands of the binary use it: asked one thing after the other.

use http::Method;
use serde_json::Value;

use crate::client::{Ask, segment};
use crate::console::Console;
use crate::failure::Failure;
use crate::global::Global;
use crate::session::Session;

/// A server, reached with the options that every command takes.
pub struct Server {
    runtime: tokio::runtime::Runtime,
    session: Session,
}

/// Why the server did not do what was asked of it.
#[derive(Debug, Clone)]
pub struct Refused {
    /// The HTTP status; 0 when it was not reached.
    pub code: u64,
    /// The word for programs, such as `NotFound`.
    pub reason: String,
    /// What is told on a terminal.
    pub text: String,
    /// What the server answered, or null.
    pub status: Value,
}

impl Server {
    /// A server that is reached when it is first asked.
    pub fn new(global: Global) -> Result<Server, Refused> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| Refused::from(Failure::other(format!("starting: {error}"))))?;
        let session = Session::new(global, Console::of_process(), clap::Command::new("groundplane"));
        Ok(Server { runtime, session })
    }

    /// The namespace of what names none.
    pub fn namespace(&mut self) -> Result<String, Refused> {
        Ok(self.runtime.block_on(self.session.namespace())?)
    }

    /// What is at a path.
    pub fn get(&mut self, path: &str, query: &[(&'static str, String)]) -> Result<Value, Refused> {
        self.ask(Method::GET, path, query, None)
    }

    /// Posts something to a path.
    pub fn post(
        &mut self,
        path: &str,
        query: &[(&'static str, String)],
        body: &Value,
    ) -> Result<Value, Refused> {
        self.ask(Method::POST, path, query, Some(body))
    }

    fn ask(
        &mut self,
        method: Method,
        path: &str,
        query: &[(&'static str, String)],
        body: Option<&Value>,
    ) -> Result<Value, Refused> {
        let mut ask = Ask::new(method, path);
        ask.query.extend(query.iter().cloned());
        if let Some(body) = body {
            ask = ask.json(body);
        }
        let asked = async {
            let client = self.session.client().await?;
            client.value(&ask).await
        };
        Ok(self.runtime.block_on(asked)?)
    }
}

/// A name as one segment of a path.
pub fn path_segment(name: &str) -> String {
    segment(name)
}

impl From<Failure> for Refused {
    fn from(failure: Failure) -> Refused {
        let refusal = failure.refusal();
        Refused {
            code: refusal.map_or(0, |refusal| refusal.code()),
            reason: refusal.map_or_else(String::new, |refusal| refusal.reason().to_owned()),
            text: failure.text().trim_end().to_owned(),
            status: refusal.map_or(Value::Null, |refusal| refusal.status.clone()),
        }
    }
}

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for Refused {}
