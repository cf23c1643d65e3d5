//! `groundplane keys`: what several servers share, made before the first of them starts.

use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use apiserver::first_start::{Credentials, ServerNames};
use store::Keys;

use crate::failure::Failure;
use crate::serve::data;

/// Create the keys and certificates of a server.
///
/// Servers on one etcd share four files: sealing.keys, signing.key, pki/ca.pem and pki/service-accounts.pem. Create
/// them once, copy them with their modes to the data directory of each server, then start the servers. Existing files
/// are kept. With --from they are copied from a directory, such as a mounted Secret, instead of created.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  groundplane keys --data /var/lib/groundplane\n  groundplane keys --data ./keys && \
    kubectl create secret generic groundplane-keys --from-file=keys/sealing.keys --from-file=keys/signing.key \
    --from-file=keys/pki/ca.pem --from-file=keys/pki/service-accounts.pem\n  groundplane keys --from /keys --data \
    /var/lib/groundplane"
)]
pub struct Arguments {
    /// Data directory to create them in.
    #[arg(long, value_name = "DIR", env = "GROUNDPLANE_DATA")]
    data: PathBuf,

    /// Copy the four files from this folder. They may lie in it side by side, with any mode.
    #[arg(long, value_name = "DIR")]
    from: Option<PathBuf>,
}

/// What all servers on one etcd have in common, relative to the data folder.
const SHARED: [&str; 4] = ["sealing.keys", "signing.key", "pki/ca.pem", "pki/service-accounts.pem"];

/// Makes what is missing and tells what is there.
#[expect(clippy::print_stdout, reason = "this is what the command gives")]
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let folder = data::folder(Some(&arguments.data))?;
    if let Some(from) = &arguments.from {
        for shared in SHARED {
            copy(from, &folder, shared)?;
        }
    }
    let names = ServerNames::of_this_host([]).map_err(|error| Failure::new("naming the server", error))?;
    Credentials::open_or_create(&folder, names).map_err(|error| {
        Failure::new(format_args!("making the certificates in {}", folder.display()), error)
    })?;
    Keys::open(&folder).map_err(|error| {
        Failure::new(format_args!("making the store's keys in {}", folder.display()), error)
    })?;
    for shared in SHARED {
        println!("{}", folder.join(shared).display());
    }
    if arguments.from.is_none() {
        eprintln!(
            "Copy these four files, with their modes, to the data directory of each server on the same etcd."
        );
    }
    Ok(())
}

/// Copies one file, for its owner alone. A different file in its place is an error: the keys in use are never
/// overwritten.
fn copy(from: &Path, folder: &Path, shared: &str) -> Result<(), Failure> {
    let name = Path::new(shared).file_name().unwrap_or_default();
    let beside = from.join(name);
    let source = if beside.exists() { beside } else { from.join(shared) };
    let target = folder.join(shared);
    let bytes = std::fs::read(&source)
        .map_err(|error| Failure::new(format_args!("reading the key {}", source.display()), error))?;
    let failed =
        |error: std::io::Error| Failure::new(format_args!("writing the key {}", target.display()), error);
    if let Some(parent) = target.parent() {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(parent).map_err(failed)?;
    }
    match std::fs::read(&target) {
        Ok(present) if present == bytes => return Ok(()),
        Ok(_) => {
            return Err(Failure::new(
                format_args!("copying {} to {}", source.display(), target.display()),
                "a different key is there already; use another --data folder, or move that key away",
            ));
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => return Err(failed(error)),
    }
    let mut file =
        std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&target).map_err(failed)?;
    file.write_all(&bytes).and_then(|()| file.sync_all()).map_err(failed)
}
