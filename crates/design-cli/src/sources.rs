//! The input documents of a command: files and directories, rendered if they have layers.

use std::path::PathBuf;

use clap::Args;
use design::{
    deckhand::{MissingSource, has_policy, missing_policy, render_with, site_without_policy},
    document::{Document, Envelope, airship, load, native, parse},
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

/// Layering options.
#[derive(Args, Clone)]
pub(crate) struct Layers {
    /// Site of an Airship repository: `site/<NAME>` with its type and the global documents.
    #[arg(long, value_name = "NAME")]
    site: Option<String>,
    /// Directory of another repository that the site definition names. Defaults to a checkout beside the site's repository.
    #[arg(long = "repository", value_name = "NAME=DIR", value_parser = name_and_folder)]
    repositories: Vec<(String, PathBuf)>,
    /// Continue if the source document of a substitution, such as a secret, is missing.
    #[arg(long)]
    allow_missing_sources: bool,
    #[command(flatten)]
    credentials: Credentials,
}

impl Sources {
    /// Reads the documents without secrets of the server.
    pub(crate) fn read(&self, streams: &mut Streams<'_>) -> Result<Vec<Document>, Trouble> {
        self.read_with(Secrecy::Hidden, streams)
    }

    pub(crate) fn read_with(
        &self,
        secrecy: Secrecy,
        streams: &mut Streams<'_>,
    ) -> Result<Vec<Document>, Trouble> {
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
    /// The documents after layering and substitution.
    pub(crate) fn read(
        &self,
        paths: &[PathBuf],
        streams: &mut Streams<'_>,
    ) -> Result<Vec<Document>, Trouble> {
        let written = self.written(paths, streams)?;
        self.rendered(written, streams)
    }

    /// The documents as they were written.
    pub(crate) fn written(
        &self,
        paths: &[PathBuf],
        streams: &mut Streams<'_>,
    ) -> Result<Vec<Document>, Trouble> {
        let mut folders = Vec::new();
        // A single path may be a site of an Airship repository.
        let alone = match paths {
            [path] => airship::Repository::of_site(path),
            _ => None,
        };
        let (mut fetched, mut is_site) = (Vec::new(), false);
        for path in paths {
            let path = match self.credentials.locate(path, streams)? {
                Located::Here(path) => path,
                Located::Fetched(name, bytes) => {
                    fetched.push((name, bytes));
                    continue;
                }
            };
            let path = &path;
            let named = || airship::Repository::having(path, self.site.as_deref()?);
            match alone.clone().or_else(|| airship::Repository::at(path)).or_else(named) {
                Some(repository) => {
                    let site = repository.folders_of(self.site.as_deref(), &self.repositories)?;
                    note_revisions(&site, streams);
                    folders.extend(site.folders);
                    is_site = true;
                }
                None => folders.push(path.clone()),
            }
        }
        if let (Some(site), false) = (&self.site, is_site) {
            let advice = "pass the root of a repository, which has the directory `site`";
            return Err(Trouble::Asked(format!("--site {site}: none of the paths has sites; {advice}")));
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
        let unlayered = match is_site {
            true => site_without_policy(&loaded.documents),
            false => missing_policy(&loaded.documents),
        };
        if let Some(problem) = unlayered {
            return Err(Trouble::Layers(vec![problem]));
        }
        Ok(loaded.documents)
    }

    /// Renders documents that have layers, and our own that take values from others.
    pub(crate) fn rendered(
        &self,
        written: Vec<Document>,
        streams: &mut Streams<'_>,
    ) -> Result<Vec<Document>, Trouble> {
        let asks = |document: &Document| {
            document.envelope == Envelope::Native && document.metadata.get("substitutions").is_some()
        };
        if !has_policy(&written) && !written.iter().any(asks) {
            return Ok(written);
        }
        let rendering = render_with(written, MissingSource::Warn).map_err(Trouble::Layers)?;
        for warning in &rendering.warnings {
            streams.note(format_args!("{}: {}", warning.at, warning.message));
        }
        // Missing sources are errors for design documents only: others, such as charts, often lack theirs.
        let (ours, others): (Vec<_>, Vec<_>) =
            rendering.missing.into_iter().partition(|one| native::is_schema_of_a_design(&one.document));
        if !others.is_empty() {
            streams.note(format_args!(
                "{} substitutions of documents that no node uses have no source",
                others.len()
            ));
        }
        let told: Vec<String> =
            ours.iter().map(|one| format!("{}: {}", one.warning.at, one.warning.message)).collect();
        if !told.is_empty() && !self.allow_missing_sources {
            return Err(Trouble::MissingSources(told));
        }
        told.iter().for_each(|told| streams.note(told));
        Ok(rendering.documents)
    }
}

/// Other repositories are read as they are checked out.
fn note_revisions(site: &airship::SiteFolders, streams: &mut Streams<'_>) {
    for other in site.repositories.iter().filter(|other| other.is_elsewhere()) {
        let (name, path) = (&other.name, other.path.display());
        let revision = other.revision.as_deref().unwrap_or_default();
        streams.note(format_args!(
            "warning: repository {name} is read from {path} as it is checked out; the site definition asks for revision {revision}"
        ));
    }
}

fn name_and_folder(text: &str) -> Result<(String, PathBuf), String> {
    match text.split_once('=') {
        Some((name, folder)) if !name.is_empty() && !folder.is_empty() => {
            Ok((name.to_owned(), folder.into()))
        }
        _ => Err("use NAME=DIR, such as --repository global=../global-manifests".to_owned()),
    }
}
