//! The input documents of a command: files and directories, rendered if they have layers.

use std::path::PathBuf;

use clap::Args;
use design::{
    deckhand::{MissingSource, render_with},
    document::{Document, Writers, airship, load, parse},
};

use crate::{
    elsewhere::{Credentials, Located},
    outcome::{Streams, Trouble},
    server::{Secrecy, ServerDesign, State},
};

/// The source of documents: files, or a server if no file is given.
#[derive(Args, Clone)]
pub(crate) struct Sources {
    /// Files, directories (read recursively), the root of an Airship repository, or a URL such as `deckhand+https://…`.
    /// Without any, the design on the server is read.
    #[arg(value_name = "FILE|DIR")]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    layers: Layers,
    /// Design on the server. Defaults to the only one of the namespace.
    #[arg(long, value_name = "NAME", conflicts_with = "paths")]
    design: Option<String>,
    /// State of the design on the server: a revision number, `live` (the active revision) or `documents`.
    #[arg(long, value_name = "STATE", conflicts_with = "paths", default_value = "documents")]
    at: State,
}

/// The documents of a design.
pub(crate) struct Read {
    /// The documents, rendered.
    pub(crate) documents: Vec<Document>,
    /// Which source document wrote each value.
    pub(crate) writers: Writers,
}

/// Layering options.
#[derive(Args, Clone)]
pub(crate) struct Layers {
    /// Site of an Airship repository: `site/<NAME>` with its type and the global documents.
    #[arg(long, value_name = "NAME")]
    site: Option<String>,
    /// Continue if the source document of a substitution, such as a secret, is missing.
    #[arg(long)]
    allow_missing_sources: bool,
    #[command(flatten)]
    credentials: Credentials,
}

impl Sources {
    /// Reads the documents without secrets of the server.
    pub(crate) fn read(&self, streams: &mut Streams<'_>) -> Result<Read, Trouble> {
        self.read_with(Secrecy::Hidden, streams)
    }

    pub(crate) fn read_with(&self, secrecy: Secrecy, streams: &mut Streams<'_>) -> Result<Read, Trouble> {
        if self.is_server() {
            return ServerDesign::find(self.design.as_deref(), streams)?.read(self.at, secrecy, streams);
        }
        self.layers.read(&self.paths, streams)
    }

    /// Whether the design is on the server.
    pub(crate) fn is_server(&self) -> bool {
        self.paths.is_empty()
    }
}

impl Layers {
    pub(crate) fn read(&self, paths: &[PathBuf], streams: &mut Streams<'_>) -> Result<Read, Trouble> {
        let mut folders = Vec::new();
        // A single path may be a site of an Airship repository.
        let alone = match paths {
            [path] => airship::Repository::of_site(path),
            _ => None,
        };
        let mut fetched = Vec::new();
        for path in paths {
            let path = match self.credentials.locate(path, streams)? {
                Located::Here(path) => path,
                Located::Fetched(name, bytes) => {
                    fetched.push((name, bytes));
                    continue;
                }
            };
            let path = &path;
            match alone.clone().or_else(|| airship::Repository::at(path)) {
                Some(repository) => folders.extend(repository.folders_of(self.site.as_deref())?),
                None => folders.push(path.clone()),
            }
        }
        let mut loaded = load(folders)?;
        for (name, bytes) in fetched {
            let more = parse(&name, &bytes)?;
            loaded.documents.extend(more.documents);
            loaded.warnings.extend(more.warnings);
            loaded.passed_over.extend(more.passed_over);
        }
        for warning in &loaded.warnings {
            streams.note(format_args!("{}: {}", warning.at, warning.message));
        }
        for passed_over in &loaded.passed_over {
            streams.note(format_args!("skipped: {passed_over}"));
        }
        let is_layered = loaded.documents.iter().any(|one| one.schema() == "deckhand/LayeringPolicy/v1");
        let writers = Writers::of(&loaded.documents);
        let documents = if is_layered { self.render(loaded.documents, streams)? } else { loaded.documents };
        Ok(Read { documents, writers })
    }

    /// Missing sources are errors for design documents only: documents of other programs, such as charts, often lack theirs.
    fn render(&self, documents: Vec<Document>, streams: &mut Streams<'_>) -> Result<Vec<Document>, Trouble> {
        let rendering = render_with(documents, MissingSource::Warn).map_err(Trouble::Layers)?;
        let (ours, others): (Vec<_>, Vec<_>) =
            rendering.warnings.into_iter().partition(|warning| is_of_a_design(&warning.message));
        if !others.is_empty() {
            streams.note(format_args!(
                "{} substitutions of documents that no node uses have no source",
                others.len()
            ));
        }
        let told: Vec<String> = ours.iter().map(|one| format!("{}: {}", one.at, one.message)).collect();
        if !told.is_empty() && !self.allow_missing_sources {
            return Err(Trouble::MissingSources(told));
        }
        told.iter().for_each(|told| streams.note(told));
        Ok(rendering.documents)
    }
}

/// Warnings of the rendering begin with the schema of the document.
fn is_of_a_design(warning: &str) -> bool {
    warning.starts_with("drydock/") || warning.starts_with("design.groundplane.dev/")
}
