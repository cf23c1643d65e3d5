//! `groundplane restore-backup`: a server's data, made from a backup.

use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use store::{Embedded, Keys, etcd};

use crate::failure::Failure;
use crate::serve::{EtcdAccess, data, open};

/// Make the data of a server from a backup, before it starts.
///
/// The folder must hold no data yet, and on etcd there must be nothing under the prefix. Secrets in a backup are sealed: give the sealing.keys of the server
/// that made it, or put them in their place beforehand. resourceVersions go on where the backup ends and leap, so that no client mistakes old for new.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  groundplane restore-backup monday.backup --data /var/lib/groundplane --keys /safe/sealing.keys\n  \
    groundplane serve --data /var/lib/groundplane"
)]
pub struct Arguments {
    /// The backup; - for stdin.
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// The data folder of the server that will serve it.
    #[arg(long, value_name = "DIR", env = "GROUNDPLANE_DATA")]
    data: Option<PathBuf>,

    /// The sealing.keys of the server that made the backup.
    #[arg(long, value_name = "FILE")]
    keys: Option<PathBuf>,

    /// Restore into an etcd cluster instead of the folder.
    #[arg(long, value_name = "URL,…", value_delimiter = ',')]
    etcd: Vec<String>,

    #[command(flatten)]
    etcd_access: EtcdAccess,
}

/// Restores, and says what came back.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failure::new("starting", error))?;
    runtime.block_on(restore(arguments))
}

async fn restore(arguments: &Arguments) -> Result<(), Failure> {
    let mut input: Box<dyn Read + Send> = match arguments.file == Path::new("-") {
        true => Box::new(std::io::stdin()),
        false => {
            let opened = std::fs::File::open(&arguments.file);
            let file = opened.map_err(|error| {
                Failure::new(format_args!("opening the backup {}", arguments.file.display()), error)
            })?;
            Box::new(BufReader::new(file))
        }
    };
    let folder = data::folder(arguments.data.as_deref())?;
    let place = if arguments.etcd.is_empty() { folder.join("store") } else { folder.clone() };
    put_keys(arguments.keys.as_deref(), &place)?;
    let failed = |error: store::Error| {
        let into = match arguments.etcd.is_empty() {
            true => place.display().to_string(),
            false => arguments.etcd.join(", "),
        };
        Failure::new(format_args!("restoring {} into {into}", arguments.file.display()), error)
    };
    let summary = match arguments.etcd.is_empty() {
        true => Embedded::restore(&place, &mut input).await.map_err(failed)?,
        false => {
            let keys =
                Keys::open(&folder).map_err(|error| Failure::new("reading the store's keys", error))?;
            let options = open::etcd_options(&arguments.etcd, &arguments.etcd_access, keys)?;
            etcd::Etcd::restore(options, input).await.map_err(failed)?
        }
    };
    eprintln!(
        "restored {} objects and {} records of history; start the server with: groundplane serve --data {}",
        summary.objects,
        summary.records,
        folder.display()
    );
    Ok(())
}

/// Puts the keys in their place; those that are there stay.
fn put_keys(keys: Option<&Path>, place: &Path) -> Result<(), Failure> {
    use std::io::Write;
    use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
    let Some(keys) = keys else { return Ok(()) };
    let bytes = std::fs::read(keys)
        .map_err(|error| Failure::new(format_args!("reading {}", keys.display()), error))?;
    let target = place.join("sealing.keys");
    let written = (|| {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(place)?;
        let mut file = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&target)?;
        file.write_all(&bytes)?;
        file.sync_all()
    })();
    written.map_err(|error: std::io::Error| {
        Failure::new(
            format_args!("putting the keys into {}", target.display()),
            format_args!("{error}; a folder that has keys already is not restored into with others"),
        )
    })
}
