//! Files as a package holds them, written as tar archives that are the same every time.

use std::collections::BTreeMap;
use std::io::Write;
use std::rc::Rc;

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::step::Failure;

/// What goes into an archive, sorted by path.
#[derive(Clone, Default)]
pub struct Files(BTreeMap<String, Entry>);

#[derive(Clone)]
struct Entry {
    /// `None` for a folder.
    bytes: Option<Rc<[u8]>>,
    mode: u32,
    /// Numeric user and group.
    owner: u32,
}

impl Files {
    /// A file of root's, by its path without a leading slash.
    pub fn file(&mut self, path: impl Into<String>, bytes: impl Into<Rc<[u8]>>, mode: u32) {
        self.0.insert(path.into(), Entry { bytes: Some(bytes.into()), mode, owner: 0 });
    }

    /// A folder with a mode or an owner that differ from the usual.
    pub fn folder(&mut self, path: impl Into<String>, mode: u32, owner: u32) {
        self.0.insert(path.into(), Entry { bytes: None, mode, owner });
    }

    /// Adds the folders that lead to each entry, of root's, readable by everybody.
    pub fn with_folders(mut self) -> Self {
        let paths: Vec<_> = self.0.keys().cloned().collect();
        for path in paths {
            for (end, _) in path.match_indices('/') {
                let folder = Entry { bytes: None, mode: 0o755, owner: 0 };
                self.0.entry(path[..end].to_owned()).or_insert(folder);
            }
        }
        self
    }

    /// The same files below a folder.
    pub fn below(self, folder: &str) -> Self {
        Self(self.0.into_iter().map(|(path, entry)| (format!("{folder}/{path}"), entry)).collect())
    }

    /// Size of all files in bytes.
    pub fn size(&self) -> usize {
        self.0.values().filter_map(|entry| entry.bytes.as_ref()).map(|bytes| bytes.len()).sum()
    }

    /// A tar archive whose entries all have one time, in seconds since 1970.
    pub fn tar(&self, time: u64) -> Result<Vec<u8>, Failure> {
        let failed = |error: std::io::Error| Failure(format!("writing a tar archive: {error}"));
        let mut archive = tar::Builder::new(Vec::with_capacity(self.size() + (1 << 20)));
        for (path, entry) in &self.0 {
            let mut header = tar::Header::new_gnu();
            header.set_mode(entry.mode);
            header.set_uid(entry.owner.into());
            header.set_gid(entry.owner.into());
            header.set_mtime(time);
            let bytes: &[u8] = match &entry.bytes {
                Some(bytes) => bytes,
                None => {
                    header.set_entry_type(tar::EntryType::Directory);
                    &[]
                }
            };
            header.set_size(bytes.len() as u64);
            let path = if entry.bytes.is_none() { format!("{path}/") } else { path.clone() };
            archive.append_data(&mut header, path, bytes).map_err(failed)?;
        }
        archive.into_inner().map_err(failed)
    }
}

/// Compressed, without a name or a time in the header.
pub fn gzip(bytes: &[u8]) -> Result<Vec<u8>, Failure> {
    let failed = |error: std::io::Error| Failure(format!("compressing: {error}"));
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).map_err(failed)?;
    encoder.finish().map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_archive_does_not_depend_on_the_order_in_which_it_was_filled() {
        let mut one = Files::default();
        one.file("usr/bin/b", *b"b", 0o755);
        one.file("usr/bin/a", *b"a", 0o755);
        let mut other = Files::default();
        other.file("usr/bin/a", *b"a", 0o755);
        other.file("usr/bin/b", *b"b", 0o755);
        assert_eq!(one.with_folders().tar(7).unwrap(), other.with_folders().tar(7).unwrap());
    }

    #[test]
    fn folders_come_before_what_is_in_them_and_keep_their_mode() {
        let mut files = Files::default();
        files.file("var/lib/x/y", *b"y", 0o600);
        files.folder("var/lib/x", 0o700, 6443);
        let tar = files.with_folders().tar(7).unwrap();
        let mut archive = tar::Archive::new(tar.as_slice());
        let entries: Vec<_> = archive
            .entries()
            .unwrap()
            .map(|entry| {
                let entry = entry.unwrap();
                let header = entry.header();
                let path = entry.path().unwrap().display().to_string();
                (path, header.mode().unwrap(), header.uid().unwrap(), header.mtime().unwrap())
            })
            .collect();
        let entries: Vec<_> =
            entries.iter().map(|entry| (entry.0.as_str(), entry.1, entry.2, entry.3)).collect();
        assert_eq!(
            entries,
            [
                ("var/", 0o755, 0, 7),
                ("var/lib/", 0o755, 0, 7),
                ("var/lib/x/", 0o700, 6443, 7),
                ("var/lib/x/y", 0o600, 0, 7)
            ]
        );
    }
}
