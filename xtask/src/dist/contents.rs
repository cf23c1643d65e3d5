//! The files that are installed: binary, unit, man pages, completions, licences.

use std::path::Path;
use std::process::{Command, Stdio};
use std::rc::Rc;

use super::files::{Files, gzip};
use super::release::Release;
use super::{read, root};
use crate::step::Failure;

/// Everything that packages are put together from.
pub struct Contents {
    pub binary: Rc<[u8]>,
    pages: Vec<File>,
    completions: Vec<File>,
    /// Licences, notices, changes, the software bill of materials: what goes to the folder of documentation.
    pub documents: Vec<File>,
}

/// A file below a folder.
pub struct File {
    pub path: String,
    pub bytes: Vec<u8>,
}

/// What packages differ in.
pub struct Layout {
    /// The folder that zsh reads completions from.
    pub zsh: &'static str,
    /// Where the settings of the service go.
    pub settings: &'static str,
}

/// Where the unit starts the server from; packages and documentation have this path and no other.
pub const BINARY: &str = "usr/bin/groundplane";
const DOCUMENTS: &str = "usr/share/doc/groundplane";

impl Contents {
    /// Has the binary write its man pages and completions, and reads the rest from the tree.
    pub fn gather(binary: &Path, release: &Release, bill: &str, licences: String) -> Result<Self, Failure> {
        let said = output(Command::new(binary).args(["version", "--client"]))?;
        if !String::from_utf8_lossy(&said).contains(&format!("v{}", release.number())) {
            return Err(Failure(format!(
                "{} says it is {:?}, but Cargo.toml has version {}; build it again",
                binary.display(),
                String::from_utf8_lossy(&said).trim(),
                release.number()
            )));
        }
        let named = |path: &str, bytes: Vec<u8>| File { path: path.to_owned(), bytes };
        let of_tree = |path: &str, name: &str| Ok::<_, Failure>(named(name, read(&root().join(path))?));
        let completion = |shell: &str, name: &str| {
            let script = output(Command::new(binary).args(["completion", shell]))?;
            Ok::<_, Failure>(named(name, script))
        };
        Ok(Self {
            binary: read(binary)?.into(),
            pages: pages(binary)?,
            completions: vec![
                completion("bash", "groundplane")?,
                completion("zsh", "_groundplane")?,
                completion("fish", "groundplane.fish")?,
            ],
            documents: vec![
                of_tree("packaging/debian/copyright", "copyright")?,
                of_tree("LICENSE", "LICENSE")?,
                of_tree("NOTICE", "NOTICE")?,
                of_tree("packaging/README.md", "README.md")?,
                named("CHANGELOG.md.gz", gzip(&read(&root().join("CHANGELOG.md"))?)?),
                named("THIRD-PARTY-LICENSES.gz", gzip(licences.as_bytes())?),
                named("sbom.cdx.json.gz", gzip(bill.as_bytes())?),
            ],
        })
    }

    /// Man pages and completions, as they lie beside the packages.
    pub fn pages_and_completions(&self) -> impl Iterator<Item = File> {
        let below = |folder: &'static str| {
            move |file: &File| File { path: format!("{folder}/{}", file.path), bytes: file.bytes.clone() }
        };
        let completions = self.completions.iter().zip(["bash", "zsh", "fish"]).map(|(file, shell)| File {
            path: format!("completions/{shell}/{}", file.path),
            bytes: file.bytes.clone(),
        });
        self.pages.iter().map(below("man")).chain(completions)
    }

    /// Everything at the path where it is installed.
    pub fn installed(&self, layout: &Layout) -> Result<Files, Failure> {
        let mut files = Files::default();
        files.file(BINARY, self.binary.clone(), 0o755);
        for page in &self.pages {
            files.file(format!("usr/share/man/man1/{}.gz", page.path), gzip(&page.bytes)?, 0o644);
        }
        let folders =
            ["usr/share/bash-completion/completions", layout.zsh, "usr/share/fish/vendor_completions.d"];
        for (file, folder) in self.completions.iter().zip(folders) {
            files.file(format!("{folder}/{}", file.path), file.bytes.clone(), 0o644);
        }
        for file in &self.documents {
            files.file(format!("{DOCUMENTS}/{}", file.path), file.bytes.clone(), 0o644);
        }
        let of_tree = |path: &str| read(&root().join("packaging").join(path));
        files.file(
            "usr/lib/systemd/system/groundplane.service",
            of_tree("systemd/groundplane.service")?,
            0o644,
        );
        // It may hold the password for etcd; systemd reads it as root.
        files.file(layout.settings, of_tree("systemd/groundplane.default")?, 0o640);
        Ok(files)
    }

    /// The archive for systems without dpkg. It has no folders: unpacking it into / leaves those there as they are.
    pub fn archive(&self, release: &Release) -> Result<Vec<u8>, Failure> {
        let files = self.installed(&Layout {
            zsh: "usr/share/zsh/site-functions",
            // Unpacking a newer archive must not overwrite the settings.
            settings: "usr/share/doc/groundplane/groundplane.default",
        })?;
        let folder = format!("groundplane-{}-{}-linux", release.version(), release.machine.rust());
        gzip(&files.below(&folder).tar(release.time)?)
    }
}

fn pages(binary: &Path) -> Result<Vec<File>, Failure> {
    let folder = std::env::temp_dir().join(format!("groundplane-man-{}", std::process::id()));
    let failed = |error: std::io::Error| Failure(format!("man pages in {}: {error}", folder.display()));
    let man = folder.join("man");
    std::fs::create_dir_all(&man).map_err(failed)?;
    output(
        Command::new(binary)
            .arg("__docs")
            .arg("--markdown")
            .arg(folder.join("cli.md"))
            .arg("--man")
            .arg(&man),
    )?;
    let mut pages = Vec::new();
    for entry in std::fs::read_dir(&man).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let path = entry.file_name().to_string_lossy().into_owned();
        pages.push(File { path, bytes: read(&entry.path())? });
    }
    pages.sort_by(|one, other| one.path.cmp(&other.path));
    std::fs::remove_dir_all(&folder).map_err(failed)?;
    match pages.is_empty() {
        true => Err(Failure(format!("{} wrote no man pages", binary.display()))),
        false => Ok(pages),
    }
}

fn output(command: &mut Command) -> Result<Vec<u8>, Failure> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.stdin(Stdio::null()).output().map_err(|error| {
        Failure(format!(
            "{program} does not run here, and it writes its own man pages and completions: {error}"
        ))
    })?;
    match output.status.success() {
        true => Ok(output.stdout),
        false => Err(Failure(format!(
            "{program} ended with {}: {}",
            output.status,
            String::from_utf8_lossy(&output.stderr).trim()
        ))),
    }
}
