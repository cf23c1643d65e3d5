//! What is kept of an image beside its layers.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use super::{Image, disk_error};
use crate::error::{Error, Result};
use crate::image::digest::Digest;
use crate::image::manifest::parse_config;

#[derive(Serialize, Deserialize)]
pub(super) struct Record {
    pub(super) reference: String,
    digest: Digest,
    pub(super) layers: Vec<Digest>,
    config: String,
    pub(super) last_used: SystemTime,
}

impl Record {
    pub(super) fn new(reference: &str, image: &Image, config: Vec<u8>) -> Self {
        Self {
            reference: reference.to_owned(),
            digest: image.digest.clone(),
            layers: image.layers.clone(),
            config: String::from_utf8_lossy(&config).into_owned(),
            last_used: SystemTime::now(),
        }
    }

    pub(super) fn read(store: &Path, reference: &str) -> Option<Self> {
        Self::load(&path(store, reference)).filter(|record| record.reference == reference)
    }

    pub(super) fn load(path: &Path) -> Option<Self> {
        serde_json::from_slice(&fs::read(path).ok()?).ok()
    }

    pub(super) fn image(&self) -> Option<Image> {
        let config = parse_config(self.config.as_bytes()).ok()?;
        Some(Image { digest: self.digest.clone(), config, layers: self.layers.clone() })
    }

    /// Notes a use. A failure costs the order of collection only.
    pub(super) fn touch(&mut self, store: &Path) {
        self.last_used = SystemTime::now();
        let _ = self.write(store);
    }

    pub(super) fn write(&self, store: &Path) -> Result<()> {
        let path = path(store, &self.reference);
        let bytes = serde_json::to_vec(self).map_err(|error| Error::machine("keeping an image", error))?;
        let new = path.with_extension("new");
        let written = fs::write(&new, bytes).and_then(|()| fs::rename(&new, &path));
        written.map_err(|error| disk_error(&path, error))
    }
}

fn path(store: &Path, reference: &str) -> PathBuf {
    store.join("images").join(format!("{}.json", Digest::of(reference.as_bytes()).hex()))
}
