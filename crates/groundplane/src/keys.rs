//! `groundplane keys`: the private files that several servers share and that a restore needs.

use std::path::{Path, PathBuf};

use apiserver::first_start::{Credentials, ServerNames};
use store::Keys;

use crate::failure::Failure;
use crate::key_files;
use crate::serve::data;

/// Create the keys and certificates of a server, or copy them.
///
/// Servers on one etcd share four files: sealing.keys, signing.key, pki/ca.pem and pki/service-accounts.pem. Create
/// them once, copy them with their modes to the data directory of each server, then start the servers. Existing files
/// are kept. With --from they are copied from a directory, such as a mounted Secret, instead of created.
///
/// A backup holds no keys. --copy-to copies the same four files of a server to a directory that "groundplane
/// restore-backup --keys" takes.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  groundplane keys --data /var/lib/groundplane\n  groundplane keys --data /var/lib/groundplane --copy-to /safe/groundplane-keys\n  groundplane keys --data ./keys && \
    kubectl create secret generic groundplane-keys --from-file=keys/sealing.keys --from-file=keys/signing.key \
    --from-file=keys/pki/ca.pem --from-file=keys/pki/service-accounts.pem\n  groundplane keys --from /keys --data \
    /var/lib/groundplane"
)]
pub struct Arguments {
    /// Data directory of the server.
    #[arg(long, value_name = "DIR", env = "GROUNDPLANE_DATA")]
    data: PathBuf,

    /// Copy the four files from this directory, where they may lie side by side and have any mode.
    #[arg(long, value_name = "DIR", conflicts_with = "copy_to")]
    from: Option<PathBuf>,

    /// Copy the keys of the server to this directory, which is created if it does not exist. Nothing else is created.
    #[arg(long, value_name = "DIR")]
    copy_to: Option<PathBuf>,
}

/// Creates or copies, and prints the files.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    match (&arguments.from, &arguments.copy_to) {
        (_, Some(target)) => copy_to(&arguments.data, target),
        (Some(from), None) => {
            copy(from, &data::folder(Some(&arguments.data))?)?;
            create(&arguments.data)
        }
        (None, None) => {
            create(&arguments.data)?;
            eprintln!(
                "Copy these four files, with their modes, to the data directory of each server on the same etcd."
            );
            Ok(())
        }
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
    Ok(())
}

fn copy_to(data: &Path, target: &Path) -> Result<(), Failure> {
    copy(data, target)?;
    print(target);
    eprintln!("Keep them apart from the backups: together they open every secret.");
    Ok(())
}

/// Copies all four, or none. A different file in the place of one is an error: keys in use are never overwritten.
fn copy(source: &Path, target: &Path) -> Result<(), Failure> {
    let mut copies = Vec::new();
    for file in key_files::ALL {
        let Some(from) = key_files::find(source, file) else {
            return Err(Failure::new(
                format_args!("copying the keys in {}", source.display()),
                format_args!(
                    "there is no {file}; name the data directory of a server, or a directory of copied keys"
                ),
            ));
        };
        let to = target.join(file);
        if to.exists() && std::fs::read(&to).ok() != std::fs::read(&from).ok() {
            return Err(Failure::new(
                format_args!("copying {} to {}", from.display(), to.display()),
                "a different key is there already; choose an empty directory, or move that key away",
            ));
        }
        copies.push((from, to));
    }
    for (from, to) in copies.iter().filter(|(_, to)| !to.exists()) {
        key_files::copy(from, to)?;
    }
    Ok(())
}

#[expect(clippy::print_stdout, reason = "this is what the command gives")]
fn print(folder: &Path) {
    for file in key_files::ALL {
        println!("{}", folder.join(file).display());
    }
}
