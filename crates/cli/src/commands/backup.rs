//! `groundplane backup`: all objects and their history, in one file.

use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use http::Method;
use http_body_util::BodyExt;

use crate::client::Ask;
use crate::failure::Failure;
use crate::session::Session;

/// Save a consistent backup of all objects and their history while the server runs.
///
/// Secrets in the file stay sealed, and it holds no keys. It names the key files that a restore needs: copy them once,
/// on the machine of the server, with "groundplane keys --copy-to", and keep them apart from the backups. "groundplane
/// restore-backup" makes the data of a new server from both. Requires cluster-admin.
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Examples:\n  groundplane backup monday.backup\n  groundplane backup - | age -r KEY > monday.backup.age\n  \
    groundplane restore-backup monday.backup --data /var/lib/groundplane --keys /safe/groundplane-keys"
)]
pub struct Arguments {
    /// File to write, or - for stdout. The file must not exist.
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

/// Saves.
pub async fn run(arguments: Arguments, session: &mut Session) -> Result<(), Failure> {
    let client = session.client().await?;
    let ask = Ask::new(Method::POST, "/apis/groundplane.dev/v1alpha1/backups").accept("*/*");
    if arguments.file == Path::new("-") {
        if session.console.out_is_terminal {
            return Err(Failure::usage("a backup is binary, and stdout is a terminal")
                .hint("name a file, or redirect stdout"));
        }
        let mut body = client.open(&ask).await.map_err(|failure| failure.without("backup"))?;
        while let Some(chunk) = next(&mut body).await? {
            session.console.out.write_all(&chunk)?;
        }
        return Ok(());
    }
    let file = &arguments.file;
    if file.exists() {
        return Err(Failure::other(format!("{} exists already; choose a new file", file.display())));
    }
    let mut body = client.open(&ask).await.map_err(|failure| failure.without("backup"))?;
    // It has its name only when it is whole.
    let part = file.with_extension(format!("{}.part", std::process::id()));
    let failed = |error: std::io::Error| Failure::other(format!("writing {}: {error}", part.display()));
    let opened = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&part);
    let mut written = opened.map_err(failed)?;
    let mut size: u64 = 0;
    let saved = async {
        while let Some(chunk) = next(&mut body).await? {
            written.write_all(&chunk).map_err(failed)?;
            size += chunk.len() as u64;
        }
        written.sync_all().map_err(failed)?;
        std::fs::rename(&part, file).map_err(failed)
    };
    let saved: Result<(), Failure> = saved.await;
    if saved.is_err() {
        let _ = std::fs::remove_file(&part);
    }
    saved?;
    session.console.say(&format!("{} saved, {size} bytes", file.display()));
    if session.console.err_is_terminal {
        session
            .console
            .say("It holds no keys: \"groundplane keys --copy-to\" copies those that a restore needs.");
    }
    Ok(())
}

async fn next(body: &mut hyper::body::Incoming) -> Result<Option<bytes::Bytes>, Failure> {
    loop {
        match body.frame().await {
            None => return Ok(None),
            Some(Err(error)) => {
                return Err(Failure::other(format!("the backup is incomplete: {error}; run it again")));
            }
            Some(Ok(frame)) => {
                if let Ok(data) = frame.into_data() {
                    return Ok(Some(data));
                }
            }
        }
    }
}
