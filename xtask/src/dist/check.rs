//! `cargo xtask dist --check`: each package is installed into an empty root, and a server is started from it.

mod archive;
mod deb;
mod image;
mod root;
mod server;
mod unit;

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::Packages;
use super::elf::Elf;
use super::release::Release;
use crate::step::Failure;

/// What checks need to know of the binary in the packages.
pub struct Subject {
    /// The version that the binary reports.
    version: String,
    /// Libraries that an empty root lacks for it; none for a static binary.
    libraries: Vec<PathBuf>,
}

/// Installs and tries all of them.
pub fn all(packages: &Packages, elf: &Elf, release: &Release) -> Result<(), Failure> {
    if !std::fs::metadata("/proc/self").is_ok_and(|this| this.uid() == 0) {
        return Err(Failure(
            "--check needs root: it runs dpkg and chroot. Run it as root, or leave --check out".to_owned(),
        ));
    }
    let folder = std::env::temp_dir().join(format!("groundplane-dist-{}", std::process::id()));
    let subject = Subject {
        version: release.number().to_owned(),
        libraries: match &elf.interpreter {
            None => Vec::new(),
            Some(_) => libraries(&packages.archive, &folder)?,
        },
    };
    deb::check(&packages.deb, &subject, &folder.join("deb"))
        .and_then(|()| image::check(&packages.image, &subject, &folder.join("image")))
        .and_then(|()| archive::check(&packages.archive, &subject, &folder.join("archive")))
        .map_err(|failure| Failure(format!("{failure}\nThe roots are left in {}", folder.display())))?;
    std::fs::remove_dir_all(&folder)
        .map_err(|error| Failure(format!("{} can't be removed: {error}", folder.display())))
}

/// What the dynamic linker would load for the binary in an archive, and the dynamic linker.
fn libraries(archive: &Path, folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let unpacked = folder.join("unpacked");
    create(&unpacked)?;
    run(Command::new("tar").arg("xzf").arg(archive).arg("--strip-components=1").arg("-C").arg(&unpacked))?;
    let listed = run(Command::new("ldd").arg(unpacked.join(super::contents::BINARY)))?;
    let words = listed.split_whitespace().filter(|word| word.starts_with('/'));
    Ok(words.map(PathBuf::from).collect())
}

fn create(folder: &Path) -> Result<(), Failure> {
    std::fs::create_dir_all(folder)
        .map_err(|error| Failure(format!("{} can't be made: {error}", folder.display())))
}

/// Runs a command to its end; its output is shown if it fails.
fn run(command: &mut Command) -> Result<String, Failure> {
    let line = format!("{command:?}");
    let output = command.stdin(Stdio::null()).output();
    let output = output.map_err(|error| Failure(format!("{line} could not be started: {error}")))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    match output.status.success() {
        true => Ok(text),
        false => Err(Failure(format!(
            "{line} ended with {}:\n{text}{}",
            output.status,
            String::from_utf8_lossy(&output.stderr)
        ))),
    }
}

/// Fails with the text unless it holds.
fn ensure(holds: bool, otherwise: impl FnOnce() -> String) -> Result<(), Failure> {
    if holds { Ok(()) } else { Err(Failure(otherwise())) }
}
