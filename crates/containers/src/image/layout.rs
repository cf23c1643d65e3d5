//! OCI layouts on disk: a folder of blobs with an index, or a tar file of one. Their content is checked as a registry's is.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::digest::{Digest, Hasher};
use super::manifest::{Descriptor, Document, parse_document};
use super::registry::LARGEST_DOCUMENT;
use crate::error::{Error, Result};

/// The note that names an image in a layout.
const NAME: &str = "org.opencontainers.image.ref.name";

/// A layout in a folder.
pub(super) struct Layout<'a> {
    pub(super) image: &'a str,
    pub(super) folder: PathBuf,
}

impl Layout<'_> {
    /// The descriptor of the tagged image, or of the only one.
    pub(super) fn find(&self, tag: Option<&str>) -> Result<Descriptor> {
        let not_found = |reason: String| Error::ImageNotFound { image: self.image.to_owned(), reason };
        let index = self.folder.join("index.json");
        let bytes =
            read_limited(&index).map_err(|error| not_found(format!("{}: {error}", index.display())))?;
        let Document::Index(manifests) = parse_document(&bytes).map_err(|reason| self.refused(reason))?
        else {
            return Err(self.refused("its index.json is not an index".to_owned()));
        };
        let name = |descriptor: &Descriptor| descriptor.annotations.get(NAME).cloned();
        let mut fit =
            manifests.iter().filter(|descriptor| tag.is_none() || name(descriptor).as_deref() == tag);
        match (fit.next(), fit.next(), tag) {
            (Some(descriptor), None, _) | (Some(descriptor), Some(_), Some(_)) => Ok(descriptor.clone()),
            (None, ..) => {
                let names: Vec<_> = manifests.iter().filter_map(name).collect();
                Err(not_found(format!("the layout has the tags {names:?}")))
            }
            (Some(_), Some(_), None) => {
                let names: Vec<_> = manifests.iter().filter_map(name).collect();
                Err(not_found(format!("the layout has several images; add a tag, one of {names:?}")))
            }
        }
    }

    /// A small blob whose digest is checked.
    pub(super) fn document(&self, descriptor: &Descriptor, what: &str) -> Result<Vec<u8>> {
        let path = self.blob(&descriptor.digest);
        let bytes = read_limited(&path).map_err(|error| self.refused(format!("its {what}: {error}")))?;
        let actual = Digest::of(&bytes);
        match actual == descriptor.digest {
            true => Ok(bytes),
            false => Err(self.mismatch(&format!("the {what}"), &descriptor.digest, &actual)),
        }
    }

    /// Opens a layer after its size and digest are checked.
    pub(super) fn layer(&self, descriptor: &Descriptor) -> Result<File> {
        let unreadable = |error: io::Error| self.refused(format!("layer {}: {error}", descriptor.digest));
        let mut file = open_file(&self.blob(&descriptor.digest)).map_err(unreadable)?;
        let mut hasher = Hasher::new();
        let mut size = 0;
        let mut buffer = vec![0; 1 << 16];
        loop {
            let read = file.read(&mut buffer).map_err(unreadable)?;
            if read == 0 {
                break;
            }
            hasher.update(&buffer[..read]);
            size += read as u64;
        }
        let actual = hasher.finish();
        if actual != descriptor.digest || size != descriptor.size {
            return Err(self.mismatch("a layer", &descriptor.digest, &actual));
        }
        // The same open file: nobody can put another in its place.
        io::Seek::rewind(&mut file).map_err(unreadable)?;
        Ok(file)
    }

    fn blob(&self, digest: &Digest) -> PathBuf {
        self.folder.join("blobs/sha256").join(digest.hex())
    }

    fn refused(&self, reason: String) -> Error {
        Error::ImageRefused { image: self.image.to_owned(), reason }
    }

    fn mismatch(&self, what: &str, expected: &Digest, actual: &Digest) -> Error {
        Error::DigestMismatch {
            image: self.image.to_owned(),
            what: what.to_owned(),
            expected: expected.to_string(),
            actual: actual.to_string(),
        }
    }
}

/// Takes the blobs and the index of a tar file into a folder; whatever else is in it is left out.
pub(super) fn extract(image: &str, archive: &Path, folder: &Path, most_bytes: u64) -> Result<()> {
    let not_found = |error: io::Error| Error::ImageNotFound {
        image: image.to_owned(),
        reason: format!("{}: {error}", archive.display()),
    };
    let refused = |reason: String| Error::ImageRefused { image: image.to_owned(), reason };
    let unreadable = |error: io::Error| refused(format!("the archive can't be read: {error}"));
    let failed = |error: io::Error| Error::machine(format!("extracting {}", archive.display()), error);
    let file = open_file(archive).map_err(not_found)?;
    fs::create_dir_all(folder.join("blobs/sha256")).map_err(failed)?;
    let mut total = 0;
    let mut archive = tar::Archive::new(io::BufReader::new(file));
    // Raw: the names that count are short, and extensions are not needed.
    for entry in archive.entries().map_err(unreadable)?.raw(true) {
        let mut entry = entry.map_err(unreadable)?;
        if !entry.header().entry_type().is_file() {
            continue;
        }
        let path = String::from_utf8_lossy(&entry.header().path_bytes()).into_owned();
        let path = path.strip_prefix("./").unwrap_or(&path);
        let hex = path.strip_prefix("blobs/sha256/");
        let target = match hex.map(|hex| Digest::parse(&format!("sha256:{hex}"))) {
            Some(Ok(digest)) => folder.join("blobs/sha256").join(digest.hex()),
            None if path == "index.json" => folder.join("index.json"),
            _ => continue,
        };
        total += entry.header().entry_size().map_err(unreadable)?;
        if total > most_bytes {
            return Err(refused(format!("the archive holds more than {most_bytes} bytes")));
        }
        let mut file = File::create(&target).map_err(failed)?;
        io::copy(&mut entry, &mut file).map_err(failed)?;
    }
    Ok(())
}

fn read_limited(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_file(path)?.take(LARGEST_DOCUMENT + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > LARGEST_DOCUMENT {
        true => Err(io::Error::other(format!("it is larger than {LARGEST_DOCUMENT} bytes"))),
        false => Ok(bytes),
    }
}

/// Opens a regular file; a pipe or a device would block or never end.
fn open_file(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    let nonblocking = rustix::fs::OFlags::NONBLOCK.bits() as i32;
    let file = fs::OpenOptions::new().read(true).custom_flags(nonblocking).open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::other("it is not a file")),
    }
}
