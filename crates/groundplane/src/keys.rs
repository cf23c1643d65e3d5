//! `groundplane keys`: what several servers share, made before the first of them starts.

use std::path::PathBuf;

use apiserver::first_start::{Credentials, ServerNames};
use store::Keys;

use crate::failure::Failure;
use crate::serve::data;

/// Create the keys and certificates of a server.
///
/// Servers on one etcd share four files: sealing.keys, signing.key, pki/ca.pem and pki/service-accounts.pem. Create them
/// once, copy them with their modes to the data directory of each server, then start the servers. Existing files are
/// kept.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  groundplane keys --data /var/lib/groundplane")]
pub struct Arguments {
    /// Data directory to create them in.
    #[arg(long, value_name = "DIR", env = "GROUNDPLANE_DATA")]
    data: PathBuf,
}

/// Makes what is missing and tells what is there.
#[expect(clippy::print_stdout, reason = "this is what the command gives")]
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let folder = data::folder(Some(&arguments.data))?;
    let names = ServerNames::of_this_host([]).map_err(|error| Failure::new("naming the server", error))?;
    Credentials::open_or_create(&folder, names).map_err(|error| {
        Failure::new(format_args!("making the certificates in {}", folder.display()), error)
    })?;
    Keys::open(&folder).map_err(|error| {
        Failure::new(format_args!("making the store's keys in {}", folder.display()), error)
    })?;
    for shared in ["sealing.keys", "signing.key", "pki/ca.pem", "pki/service-accounts.pem"] {
        println!("{}", folder.join(shared).display());
    }
    eprintln!(
        "Copy these four files, with their modes, to the data directory of each server on the same etcd."
    );
    Ok(())
}
