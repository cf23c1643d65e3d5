//! `groundplane design import`: an Airship site, rendered and written in three folders.

use std::{
    fs,
    path::{Path, PathBuf},
};

use clap::Args;
use design::{
    compile::{LshwInputs, compile},
    document::{Document, native},
};

use crate::{
    outcome::{Ended, Streams, Trouble},
    sources::Sources,
};

#[derive(Args)]
#[command(
    after_help = "The folders written are `formation` (what is of this site: networks, racks, nodes), `hardware` \
    (models of machine) and `profiles` (what hosts share).\n\nExample:\n  \
    groundplane design import treasuremap --site airsloop --to airsloop"
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    sources: Sources,
    /// The folder to write to; it is made, and must be empty.
    #[arg(long, value_name = "DIR")]
    to: PathBuf,
    /// Write into a folder that is not empty: files of the same name are written over.
    #[arg(long)]
    force: bool,
}

pub(crate) fn run(arguments: &Arguments, streams: &mut Streams<'_>) -> Result<Ended, Trouble> {
    let documents = arguments.sources.read(streams)?.documents;
    let (ours, others): (Vec<Document>, Vec<Document>) =
        documents.into_iter().partition(native::is_of_a_design);
    if ours.is_empty() {
        return Err(Trouble::Asked("there is no document of a design among the sources".to_owned()));
    }
    if !arguments.force && fs::read_dir(&arguments.to).is_ok_and(|mut entries| entries.next().is_some()) {
        let folder = arguments.to.display();
        return Err(Trouble::Asked(format!("{folder} is not empty; name another folder, or say --force")));
    }
    let mut secrets = 0;
    for document in &ours {
        let (place, text) = native::file_of(document);
        secrets += usize::from(native::holds_secrets(document));
        write(&arguments.to.join(place), &text)?;
    }
    writeln!(streams.out, "{} documents written to {}", ours.len(), arguments.to.display())?;
    if !others.is_empty() {
        streams.note(format_args!("{} documents of other kinds were left where they are", others.len()));
    }
    if secrets > 0 {
        streams.note(format_args!(
            "{secrets} of the documents hold secrets in clear text: keep the folder from other people's eyes"
        ));
    }
    let compiled = compile(&ours, &LshwInputs::new());
    if compiled.site().is_none() {
        streams.note("the site does not compile yet; `groundplane design validate` tells why");
    }
    Ok(Ended::Well)
}

fn write(path: &Path, text: &str) -> Result<(), Trouble> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(|source| Trouble::file("make", folder, source))?;
    }
    fs::write(path, text).map_err(|source| Trouble::file("write", path, source))
}
