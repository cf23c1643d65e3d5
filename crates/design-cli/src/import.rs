//! `groundplane design import`: renders a design and imports it into a server or a directory.

mod to_folder;
mod to_server;

use std::path::PathBuf;

use clap::Args;

use crate::{
    outcome::{Ended, Streams, Trouble},
    sources::Layers,
};

#[derive(Args)]
#[command(
    after_help = "On the server, every document becomes an object in the namespace, in one commit. Layers are kept, and \
    rendered there. Passwords, passphrases, certificates and keys become Secrets.\nWith --to, documents are written to the subdirectories `formation` (networks, racks, nodes), `hardware` \
    (hardware profiles) and `profiles` (host profiles).\n\nExamples:\n  \
    groundplane design import site/ -n airsloop --dry-run\n  \
    groundplane design import treasuremap --site airsloop -n airsloop\n  \
    groundplane design import addresses.yaml -n airsloop --source ipam\n  \
    groundplane design import treasuremap --site airsloop --to airsloop"
)]
pub(crate) struct Arguments {
    /// Files, directories (read recursively), the root of an Airship repository, or a URL such as
    /// `deckhand+https://…`.
    #[arg(required = true, value_name = "FILE|DIR")]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    layers: Layers,
    /// Write into this directory instead of the server. It is created, and must be empty.
    #[arg(long, value_name = "DIR")]
    to: Option<PathBuf>,
    /// Write into a directory that is not empty, overwriting files of the same name.
    #[arg(long, requires = "to")]
    force: bool,
    #[command(flatten)]
    server: to_server::Options,
}

pub(crate) fn run(arguments: &Arguments, streams: &mut Streams<'_>) -> Result<Ended, Trouble> {
    let written = arguments.layers.written(&arguments.paths, streams)?;
    let rendered = arguments.layers.rendered(written.clone(), streams)?;
    match &arguments.to {
        Some(folder) => to_folder::write_all(rendered, folder, arguments.force, streams),
        None => to_server::bring(&written, &rendered, &arguments.server, streams),
    }
}
