//! `groundplane design import`: a site, rendered, brought onto a server or into three folders.

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
    after_help = "On the server every document becomes an object of the namespace, and all of them one commit. Secrets of BMCs go \
    into Secrets.\nA folder gets the folders `formation` (what is of this site: networks, racks, nodes), `hardware` \
    (models of machine) and `profiles` (what hosts share).\n\nExamples:\n  \
    groundplane design import site/ -n airsloop --dry-run\n  \
    groundplane design import treasuremap --site airsloop -n airsloop\n  \
    groundplane design import addresses.yaml -n airsloop --source ipam\n  \
    groundplane design import treasuremap --site airsloop --to airsloop"
)]
pub(crate) struct Arguments {
    /// Files, folders (read at any depth), the root of an Airship repository, or a reference such as
    /// `deckhand+https://…`.
    #[arg(required = true, value_name = "FILE|DIR")]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    layers: Layers,
    /// Write it into this folder instead; it is made, and must be empty.
    #[arg(long, value_name = "DIR")]
    to: Option<PathBuf>,
    /// Write into a folder that is not empty: files of the same name are written over.
    #[arg(long, requires = "to")]
    force: bool,
    #[command(flatten)]
    server: to_server::Options,
}

pub(crate) fn run(arguments: &Arguments, streams: &mut Streams<'_>) -> Result<Ended, Trouble> {
    let documents = arguments.layers.read(&arguments.paths, streams)?.documents;
    match &arguments.to {
        Some(folder) => to_folder::write_all(documents, folder, arguments.force, streams),
        None => to_server::bring(documents, &arguments.server, streams),
    }
}
