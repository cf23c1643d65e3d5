//! The documents a command works on: files and folders, layers put together where the documents have layers.

use std::path::PathBuf;

use clap::Args;
use design::{
    deckhand::{MissingSource, render_with},
    document::{DesignReference, Document, Writers, airship, load},
};

use crate::outcome::{Streams, Trouble};

/// Where the documents are.
#[derive(Args, Clone)]
pub(crate) struct Sources {
    /// Files, folders (read at any depth), or the root of an Airship repository.
    #[arg(required = true, value_name = "FILE|DIR")]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    layers: Layers,
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
}

impl Sources {
    pub(crate) fn read(&self, streams: &mut Streams<'_>) -> Result<Read, Trouble> {
        self.layers.read(&self.paths, streams)
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
        for path in &local(paths)? {
            match alone.clone().or_else(|| airship::Repository::at(path)) {
                Some(repository) => folders.extend(repository.folders_of(self.site.as_deref())?),
                None => folders.push(path.clone()),
            }
        }
        let loaded = load(folders)?;
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

/// Paths as they are given; `file:///path` is one too. What would have to be fetched is not.
fn local(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Trouble> {
    let local = |path: &PathBuf| {
        let Some(text) = path.to_str().filter(|text| text.contains("://")) else { return Ok(path.clone()) };
        match text.parse() {
            Ok(DesignReference::File(path)) => Ok(path),
            Ok(elsewhere) => Err(Trouble::Asked(format!(
                "{elsewhere} is not on this machine; fetch it, and give the file"
            ))),
            Err(error) => Err(Trouble::Asked(error.to_string())),
        }
    };
    paths.iter().map(local).collect()
}
