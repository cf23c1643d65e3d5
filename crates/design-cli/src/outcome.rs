//! How a command ends, and where it writes.

use std::{
    error::Error,
    fmt, io,
    io::Write,
    process::{ExitCode, Termination},
};

use cli::{Global, Refused, Server, fetch::NotFetched};
use design::{deckhand::Problem, document::LoadError};
use thiserror::Error as ThisError;

/// How a command ended, as the shell sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// All is well: 0.
    Well,
    /// The command did its work, and what it looked at is not well, or differs: 1.
    NotWell,
    /// The command could not do its work: 2.
    InTrouble,
}

impl Ended {
    /// Well or not.
    pub(crate) fn well_if(well: bool) -> Self {
        if well { Self::Well } else { Self::NotWell }
    }
}

impl Termination for Ended {
    fn report(self) -> ExitCode {
        match self {
            Self::Well => ExitCode::SUCCESS,
            Self::NotWell => ExitCode::from(1),
            Self::InTrouble => ExitCode::from(2),
        }
    }
}

/// Where a command writes, and the server it asks, should it ask one.
pub struct Streams<'s> {
    /// What was asked for.
    pub out: &'s mut dyn Write,
    /// What is said beside it.
    pub err: &'s mut dyn Write,
    global: Global,
    server: Option<Server>,
}

impl<'s> Streams<'s> {
    /// Streams, and how a server is reached.
    pub fn new(out: &'s mut dyn Write, err: &'s mut dyn Write, global: Global) -> Streams<'s> {
        Streams { out, err, global, server: None }
    }

    /// The server that the options, or the kubeconfig, name.
    pub(crate) fn server(&mut self) -> Result<&mut Server, Trouble> {
        let server = match self.server.take() {
            Some(server) => server,
            None => Server::new(self.global.clone())?,
        };
        Ok(self.server.insert(server))
    }
}

impl Streams<'_> {
    /// Says something beside the output. That nobody listens there changes nothing.
    pub(crate) fn note(&mut self, note: impl fmt::Display) {
        let _ = writeln!(self.err, "{note}");
    }

    pub(crate) fn trouble(&mut self, trouble: &Trouble) -> Ended {
        // Who stops listening, as `head` does, has seen enough.
        if matches!(trouble, Trouble::Write(error) if error.kind() == io::ErrorKind::BrokenPipe) {
            return Ended::Well;
        }
        if let Trouble::Server(refused) = trouble {
            self.note(refused);
            return Ended::InTrouble;
        }
        let mut told = trouble.to_string();
        let mut source = trouble.source();
        while let Some(cause) = source {
            told = format!("{told}: {cause}");
            source = cause.source();
        }
        self.note(format_args!("groundplane design: {told}"));
        Ended::InTrouble
    }
}

/// Why a command could not do its work.
#[derive(Debug, ThisError)]
pub(crate) enum Trouble {
    /// The documents can't be read.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The layers can't be put together.
    #[error("the layers cannot be put together:\n{}", lines(.0))]
    Layers(Vec<Problem>),
    /// A document of the design lacks what it takes from another.
    #[error(
        "what documents of the design take from others is not there:\n  {}\nadd the missing documents, or say \
         --allow-missing-sources to go on without",
        .0.join("\n  ")
    )]
    MissingSources(Vec<String>),
    /// A file can't be read or written.
    #[error("{tried}")]
    File {
        /// What was tried, on which file.
        tried: String,
        /// What the system said.
        source: io::Error,
    },
    /// The server did not do what was asked of it.
    #[error(transparent)]
    Server(#[from] Refused),
    /// A design that is elsewhere is not to be had.
    #[error(transparent)]
    Elsewhere(#[from] NotFetched),
    /// The arguments do not fit the site.
    #[error("{0}")]
    Asked(String),
    /// The output can't be written.
    #[error("cannot write the output")]
    Write(#[from] io::Error),
    /// The output can't be made JSON.
    #[error("cannot write the output as JSON")]
    Json(#[from] serde_json::Error),
}

impl Trouble {
    pub(crate) fn file(tried: &str, path: &std::path::Path, source: io::Error) -> Self {
        Self::File { tried: format!("cannot {tried} {}", path.display()), source }
    }
}

fn lines(problems: &[Problem]) -> String {
    problems.iter().map(|problem| format!("  {problem}")).collect::<Vec<_>>().join("\n")
}
