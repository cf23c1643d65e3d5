//! What the disk holds of a file, page by page.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

const PAGE: usize = 4_096;

/// The image, in memory and in a file.
pub struct Image {
    path: PathBuf,
    disk: Vec<u8>,
    /// The file at the last sync, failed or not: what differs from it now is dirty.
    clean: Vec<u8>,
}

impl Image {
    /// An empty disk.
    pub fn at(path: PathBuf) -> Image {
        Image { path, disk: Vec::new(), clean: Vec::new() }
    }

    /// A sync succeeded: what was dirty is on disk.
    pub fn synced(&mut self, file: &Path) {
        let Ok(now) = std::fs::read(file) else { return };
        self.disk.resize(now.len(), 0);
        let written = OpenOptions::new().create(true).truncate(false).write(true).open(&self.path);
        let image = written.and_then(|image| image.set_len(now.len() as u64).map(|()| image));
        let Ok(image) = image else { return };
        for (number, page) in now.chunks(PAGE).enumerate() {
            let at = number * PAGE;
            if self.clean.get(at..at + page.len()) != Some(page) {
                self.disk[at..at + page.len()].copy_from_slice(page);
                let _ = image.write_all_at(page, at as u64);
            }
        }
        self.clean = now;
    }

    /// A sync failed: what was dirty is clean, and not on disk.
    pub fn lose(&mut self, file: &Path, hidden: bool) {
        if hidden {
            self.clean = std::fs::read(file).unwrap_or_default();
            return;
        }
        let shown = OpenOptions::new().write(true).open(file).and_then(|file: File| {
            file.set_len(self.disk.len() as u64)?;
            file.write_all_at(&self.disk, 0)
        });
        if shown.is_ok() {
            self.clean.clone_from(&self.disk);
        }
    }
}
