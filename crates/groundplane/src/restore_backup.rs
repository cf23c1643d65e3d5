//! `groundplane restore-backup`: makes the data of a server from a backup.

mod keys;

use std::fs::File;
use std::io::{BufReader, Read, Seek};
use std::path::{Path, PathBuf};

use store::{BackupContents, Embedded, Keys, etcd};

use crate::failure::Failure;
use crate::serve::{EtcdAccess, data, open};
use crate::shell;

/// Make the data of a server from a backup, before the server starts.
///
/// The data folder must hold no data yet, and on etcd there must be nothing under the prefix. A backup holds no keys:
/// give those of the server that made it with --keys, or put them in place beforehand. The whole backup and all keys
/// are checked before anything is written. The command prints how to start the server.
///
/// resourceVersions continue far above those of the backup, so that no client mistakes an old object for a new one.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  groundplane restore-backup monday.backup --data /var/lib/groundplane --keys /safe/groundplane-keys\n  \
    groundplane restore-backup monday.backup --data /var/lib/groundplane --keys /safe/groundplane-keys \
    --etcd https://10.0.0.1:2379 --etcd-prefix /groundplane/"
)]
pub struct Arguments {
    /// The backup; - for stdin.
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Data folder of the server that will serve it.
    #[arg(long, value_name = "DIR", env = "GROUNDPLANE_DATA")]
    data: Option<PathBuf>,

    /// The keys of the server that made the backup: a folder that "groundplane keys --copy-to" made, the data folder of
    /// that server, or its sealing.keys with signing.key in the same folder.
    #[arg(long, value_name = "DIR|FILE")]
    keys: Option<PathBuf>,

    /// Restore without the signing.key of the server that made the backup. A new one is created, and "groundplane audit
    /// verify" needs --trusted-key for the history in the backup.
    #[arg(long)]
    new_signing_key: bool,

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
    let mut backup = open(&arguments.file)?;
    let contents = {
        let read = BackupContents::read(&mut BufReader::new(&mut backup));
        read.map_err(|error| {
            Failure::new(
                format_args!("reading the backup {}", arguments.file.display()),
                format_args!("{error}; nothing was restored"),
            )
        })?
    };
    backup.rewind().map_err(|error| Failure::new("reading the backup again", error))?;
    let is_etcd = !arguments.etcd.is_empty();
    let folder = match &arguments.data {
        Some(folder) => folder.clone(),
        None => data::default_folder()?,
    };
    let plan =
        keys::Plan::make(&contents, &folder, is_etcd, arguments.keys.as_deref(), arguments.new_signing_key)?;
    refuse_used(&folder, is_etcd)?;

    // Everything that could be known beforehand is in order: from here on it is written.
    let folder = data::folder(Some(&folder))?;
    let marked = data::mark_restore(&folder);
    marked.map_err(|error| Failure::new(format_args!("writing to {}", folder.display()), error))?;
    let placed = plan.put(&folder, is_etcd)?;
    let summary = match fill(arguments, &folder, backup).await {
        Ok(summary) => summary,
        Err(failure) => {
            placed.take_back();
            let _ = data::unmark_restore(&folder);
            return Err(failure);
        }
    };
    let unmarked = data::unmark_restore(&folder);
    unmarked.map_err(|error| Failure::new(format_args!("writing to {}", folder.display()), error))?;
    for note in plan.notes() {
        eprintln!("Note: {note}");
    }
    tell(arguments, &folder, &summary);
    Ok(())
}

/// The backup as a file that can be read twice: once to check it, once to restore it.
fn open(path: &Path) -> Result<File, Failure> {
    let failed = |error| Failure::new(format_args!("opening the backup {}", path.display()), error);
    if path != Path::new("-") {
        return File::open(path).map_err(failed);
    }
    let mut spooled = tempfile::tempfile().map_err(failed)?;
    std::io::copy(&mut std::io::stdin().lock(), &mut spooled).map_err(failed)?;
    spooled.rewind().map_err(failed)?;
    Ok(spooled)
}

/// Refuses a folder that holds data. What an interrupted restore has left is removed.
fn refuse_used(folder: &Path, is_etcd: bool) -> Result<(), Failure> {
    let file = folder.join("store/store.redb");
    if is_etcd || !file.exists() {
        return Ok(());
    }
    if data::refuse_unfinished_restore(folder).is_err() {
        let removed = std::fs::remove_file(&file);
        return removed.map_err(|error| {
            Failure::new(
                format_args!("removing {}, which an interrupted restore has left", file.display()),
                error,
            )
        });
    }
    Err(Failure::new(
        format_args!("restoring into {}", folder.display()),
        format_args!(
            "{} exists already; a backup is restored into an empty folder only: choose another one with --data",
            file.display()
        ),
    ))
}

async fn fill(arguments: &Arguments, folder: &Path, backup: File) -> Result<store::BackupSummary, Failure> {
    let shown = arguments.file.display();
    let mut input: Box<dyn Read + Send> = Box::new(BufReader::new(backup));
    if arguments.etcd.is_empty() {
        let place = folder.join("store");
        let filled = Embedded::restore(&place, &mut input).await;
        return filled.map_err(|error| {
            Failure::new(format_args!("restoring {shown} into {}", place.display()), error)
        });
    }
    let keys = Keys::open(folder).map_err(|error| Failure::new("reading the store's keys", error))?;
    let options = open::etcd_options(&arguments.etcd, &arguments.etcd_access, keys)?;
    let prefix = options.prefix.clone();
    etcd::Etcd::restore(options, input).await.map_err(|error| {
        Failure::new(
            format_args!("restoring {shown} into {}", arguments.etcd.join(", ")),
            format_args!(
                "{error}; choose another --etcd-prefix, or, if an interrupted restore left what is there, empty the \
                 prefix with: etcdctl del --prefix {}",
                shell::quoted(&prefix)
            ),
        )
    })
}

/// Says what was restored, and prints the command that serves it.
#[expect(clippy::print_stdout, reason = "this is what the command gives")]
fn tell(arguments: &Arguments, folder: &Path, summary: &store::BackupSummary) {
    eprintln!(
        "restored {} objects and {} records of history; start the server with:",
        summary.objects, summary.records
    );
    let data = folder.display().to_string();
    let mut words = vec!["serve".to_owned(), "--data".to_owned(), data];
    words.extend(arguments.etcd_access.words(&arguments.etcd));
    let words: Vec<String> = words.iter().map(|word| shell::quoted(word)).collect();
    println!("{} {}", shell::program(), words.join(" "));
    if arguments.etcd_access.needs_password() {
        eprintln!("with the password of etcd in the environment variable {}", open::PASSWORD);
    }
}

/// The names of key files in a sentence.
fn listed(files: &[&str]) -> String {
    match files {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key_files;

    #[test]
    fn names_are_listed_as_in_a_sentence() {
        assert_eq!(listed(&key_files::ALL[..1]), "sealing.keys");
        assert_eq!(listed(&key_files::ALL[..2]), "sealing.keys and signing.key");
    }
}
