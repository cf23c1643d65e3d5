//! The documents a command works on: files and folders, layers put together where the documents have layers.

use std::path::PathBuf;

use clap::Args;
use design::{
    deckhand::{MissingSource, render_with},
    document::{Document, Writers, airship, load, parse},
};

use crate::{
    elsewhere::{Credentials, Located},
    outcome::{Streams, Trouble},
    server::{Place, Secrecy, State},
};

/// Where the documents are: in files, or on a server where no file is given.
#[derive(Args, Clone)]
pub(crate) struct Sources {
    /// Files, folders (read at any depth), the root of an Airship repository, or a reference such as
    /// `deckhand+https://…`. Without any, the design on the server.
    #[arg(value_name = "FILE|DIR")]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    layers: Layers,
    /// The design on the server; the only one of the namespace unless said.
    #[arg(long, value_name = "NAME", conflicts_with = "paths")]
    design: Option<String>,
    /// The state of the design on the server: the number of a revision, `live` or `documents`.
    #[arg(long, value_name = "STATE", conflicts_with = "paths", default_value = "documents")]
    at: State,
}

/// What was read.
pub(crate) struct Read {
    /// The documents, rendered.
    pub(crate) documents: Vec<Document>,
    /// Who wrote what stands in them.
    pub(crate) writers: Writers,
}

/// How layers are put together.
#[derive(Args, Clone)]
pub(crate) struct Layers {
    /// The site of an Airship repository: its `site/<NAME>`, with the type it names and what is global.
    #[arg(long, value_name = "NAME")]
    site: Option<String>,
    /// Go on where a document takes a value, such as a secret, from one that is not there.
    #[arg(long)]
    allow_missing_sources: bool,
    #[command(flatten)]
    credentials: Credentials,
}

impl Sources {
    /// What is to be shown; secrets on a server stay there.
    pub(crate) fn read(&self, streams: &mut Streams<'_>) -> Result<Read, Trouble> {
        self.read_with(Secrecy::Hidden, streams)
    }

    pub(crate) fn read_with(&self, secrecy: Secrecy, streams: &mut Streams<'_>) -> Result<Read, Trouble> {
        if self.is_server() {
            return Place::find(self.design.as_deref(), streams)?.read(self.at, secrecy, streams);
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
        // A site is the whole of what is given, or one folder among several that were chosen by hand.
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
            streams.note(format_args!("passed over: {passed_over}"));
        }
        let is_layered = loaded.documents.iter().any(|one| one.schema() == "deckhand/LayeringPolicy/v1");
        let writers = Writers::of(&loaded.documents);
        let documents = if is_layered { self.render(loaded.documents, streams)? } else { loaded.documents };
        Ok(Read { documents, writers })
    }

    /// What only other programs read may lack its sources: certificates of charts are rarely beside the site.
    fn render(&self, documents: Vec<Document>, streams: &mut Streams<'_>) -> Result<Vec<Document>, Trouble> {
        let rendering = render_with(documents, MissingSource::Warn).map_err(Trouble::Layers)?;
        let (ours, others): (Vec<_>, Vec<_>) =
            rendering.warnings.into_iter().partition(|warning| is_of_a_design(&warning.message));
        if !others.is_empty() {
            streams.note(format_args!(
                "{} values of documents that no node needs could not be filled in",
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

/// Warnings of the rendering begin with the schema of the document they are about.
fn is_of_a_design(warning: &str) -> bool {
    warning.starts_with("drydock/") || warning.starts_with("design.groundplane.dev/")
}
