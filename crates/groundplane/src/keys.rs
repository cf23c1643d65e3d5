//! `groundplane keys`: the private files that several servers share and that a restore needs.

use std::path::{Path, PathBuf};

use apiserver::first_start::{Credentials, ServerNames};
use store::Keys;

use crate::failure::Failure;
use crate::key_files;
use crate::serve::data;

/// Create the keys and certificates of a server on etcd, or copy those of a server to a safe place.
///
/// Servers on one etcd share four files: sealing.keys, signing.key, pki/ca.pem and pki/service-accounts.pem. Create
/// them once, copy them to each server's data folder with their modes, then start the servers. Existing files are
/// kept.
///
/// A backup holds no keys. --copy-to copies the same four files of a server to a folder that "groundplane
/// restore-backup --keys" takes.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  groundplane keys --data /var/lib/groundplane\n  groundplane keys --data /var/lib/groundplane --copy-to /safe/groundplane-keys\n  groundplane keys --data ./keys && \
    kubectl create secret generic groundplane-keys --from-file=keys/sealing.keys --from-file=keys/signing.key \
    --from-file=keys/pki/ca.pem --from-file=keys/pki/service-accounts.pem"
)]
pub struct Arguments {
    /// Data folder of the server.
    #[arg(long, value_name = "DIR", env = "GROUNDPLANE_DATA")]
    data: PathBuf,

    /// Copy the keys of the server to this folder instead, which is made if it is not there. Create nothing else.
    #[arg(long, value_name = "DIR")]
    copy_to: Option<PathBuf>,
}

/// Creates or copies, and prints the files.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    match &arguments.copy_to {
        None => create(&arguments.data),
        Some(target) => copy(&arguments.data, target),
    }
}

fn create(data: &Path) -> Result<(), Failure> {
    let folder = data::folder(Some(data))?;
    let names = ServerNames::of_this_host([]).map_err(|error| Failure::new("naming the server", error))?;
    Credentials::open_or_create(&folder, names).map_err(|error| {
        Failure::new(format_args!("making the certificates in {}", folder.display()), error)
    })?;
    Keys::open(&folder).map_err(|error| {
        Failure::new(format_args!("making the store's keys in {}", folder.display()), error)
    })?;
    print(&folder);
    eprintln!("Copy these four, with their modes, to the data folder of each server of one etcd.");
    Ok(())
}

fn copy(data: &Path, target: &Path) -> Result<(), Failure> {
    let mut copies = Vec::new();
    for file in key_files::ALL {
        let Some(from) = key_files::find(data, file) else {
            return Err(Failure::new(
                format_args!("copying the keys in {}", data.display()),
                format_args!("there is no {file}; give the data folder of a server that was started before"),
            ));
        };
        let to = target.join(file);
        if to.exists() && std::fs::read(&to).ok() != std::fs::read(&from).ok() {
            return Err(Failure::new(
                format_args!("copying {} to {}", from.display(), to.display()),
                "another key is there; choose an empty folder",
            ));
        }
        copies.push((from, to));
    }
    for (from, to) in copies.iter().filter(|(_, to)| !to.exists()) {
        key_files::copy(from, to)?;
    }
    print(target);
    eprintln!("Keep them apart from the backups: together they open every secret.");
    Ok(())
}

#[expect(clippy::print_stdout, reason = "this is what the command gives")]
fn print(folder: &Path) {
    for file in key_files::ALL {
        println!("{}", folder.join(file).display());
    }
}
