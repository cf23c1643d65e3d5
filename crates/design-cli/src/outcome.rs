//! Exit status and output streams of a command.

use std::{error::Error, fmt, io, io::Write};

use cli::{Global, Refused, Server, fetch::NotFetched};
use design::{deckhand::Problem, document::LoadError};
use thiserror::Error as ThisError;

/// The exit status of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Success: exit code 0.
    Well,
    /// The design has errors or differences: exit code 1.
    NotWell,
    /// The command failed: exit code 2.
    InTrouble,
}

impl Ended {
    /// The exit code of the process.
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Well => 0,
            Self::NotWell => 1,
            Self::InTrouble => 2,
        }
    }

    /// Success, or exit code 1.
    pub(crate) fn well_if(well: bool) -> Self {
        if well { Self::Well } else { Self::NotWell }
    }
}

/// Output streams of a command, and its connection to a server.
pub struct Streams<'s> {
    /// Standard output.
    pub out: &'s mut dyn Write,
    /// Standard error.
    pub err: &'s mut dyn Write,
    global: Global,
    server: Option<Server>,
}

impl<'s> Streams<'s> {
    /// Streams with the options of the server connection.
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
    /// Prints a note to standard error. Write errors are ignored.
    pub(crate) fn note(&mut self, note: impl fmt::Display) {
        let _ = writeln!(self.err, "{note}");
    }

    pub(crate) fn trouble(&mut self, trouble: &Trouble) -> Ended {
        // A closed pipe, as with `head`, is no error.
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

/// Why a command failed.
#[derive(Debug, ThisError)]
pub(crate) enum Trouble {
    /// The documents cannot be read.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The layers cannot be rendered.
    #[error("cannot render the layers:\n{}", lines(.0))]
    Layers(Vec<Problem>),
    /// The source of a substitution is missing.
    #[error(
        "sources of substitutions are missing:\n  {}\nadd the missing documents, or pass \
        --allow-missing-sources to continue without them",
        .0.join("\n  ")
    )]
    MissingSources(Vec<String>),
    /// A file cannot be read or written.
    #[error("{tried}")]
    File {
        /// The operation and the file.
        tried: String,
        /// The system error.
        source: io::Error,
    },
    /// The server refused a request.
    #[error(transparent)]
    Server(#[from] Refused),
    /// A remote design cannot be fetched.
    #[error(transparent)]
    Elsewhere(#[from] NotFetched),
    /// The arguments are invalid.
    #[error("{0}")]
    Asked(String),
    /// The output cannot be written.
    #[error("cannot write the output")]
    Write(#[from] io::Error),
    /// The output cannot be converted to JSON.
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
