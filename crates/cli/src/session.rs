//! One run of a command: its console, its server, and what the server serves.

use std::rc::Rc;

use crate::client::Client;
use crate::console::Console;
use crate::discovery::Discovery;
use crate::failure::Failure;
use crate::global::Global;
use crate::kubeconfig;

/// One run of a command.
pub struct Session {
    /// The options that every command takes.
    pub global: Global,
    /// Where it reads and writes.
    pub console: Console,
    /// The whole command line, for completion and reference.
    pub root: clap::Command,
    reached: Option<Reached>,
    discovery: Option<Rc<Discovery>>,
}

struct Reached {
    client: Rc<Client>,
    namespace: String,
    namespace_is_asked_for: bool,
}

impl Session {
    /// A run that has reached nothing yet.
    pub fn new(global: Global, console: Console, root: clap::Command) -> Session {
        Session { global, console, root, reached: None, discovery: None }
    }

    async fn reached(&mut self) -> Result<&Reached, Failure> {
        if self.reached.is_none() {
            let kubeconfig = kubeconfig::load(&self.global)?;
            let access = kubeconfig::access(&kubeconfig, &self.global).await?;
            let colours = self.console.colours && self.console.err_is_terminal;
            let warn = move |text: &str| match colours {
                true => eprintln!("\u{1b}[33;1mWarning:\u{1b}[0m {text}"),
                false => eprintln!("Warning: {text}"),
            };
            let project = self.global.project.as_deref().filter(|project| !project.is_empty());
            let namespace = (access.namespace.clone(), access.namespace_is_asked_for);
            let client =
                Client::new(access, project, self.global.timeout()?, self.global.verbosity, Box::new(warn))?;
            self.reached = Some(Reached {
                client: Rc::new(client),
                namespace: namespace.0,
                namespace_is_asked_for: namespace.1,
            });
        }
        self.reached.as_ref().ok_or(Failure::Exit(1))
    }

    /// The server.
    pub async fn client(&mut self) -> Result<Rc<Client>, Failure> {
        Ok(self.reached().await?.client.clone())
    }

    /// The namespace of what names none.
    pub async fn namespace(&mut self) -> Result<String, Failure> {
        Ok(self.reached().await?.namespace.clone())
    }

    /// The namespace that a flag asks for.
    pub async fn asked_namespace(&mut self) -> Result<Option<String>, Failure> {
        let reached = self.reached().await?;
        Ok(reached.namespace_is_asked_for.then(|| reached.namespace.clone()))
    }

    /// What the server serves.
    pub async fn discovery(&mut self) -> Result<Rc<Discovery>, Failure> {
        if let Some(known) = &self.discovery {
            return Ok(known.clone());
        }
        let client = self.client().await?;
        let found = Rc::new(Discovery::ask(&client).await?);
        self.discovery = Some(found.clone());
        Ok(found)
    }

    /// What the server serves now, after a definition has changed.
    pub async fn discovery_again(&mut self) -> Result<Rc<Discovery>, Failure> {
        self.discovery = None;
        self.discovery().await
    }
}
