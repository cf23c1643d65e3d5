//! Removes images that nobody uses, the least recently used first, until the rest fits its limit.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use super::record::Record;
use super::{ImageStore, disk_error};
use crate::error::Result;
use crate::image::digest::Digest;

impl ImageStore {
    /// Removes what is beyond the limit. Returns the references that are gone. Pulls wait while it runs.
    pub async fn collect(&self) -> Result<Vec<String>> {
        let _alone = self.collecting.write().await;
        let sizes = self.sizes()?;
        let mut total: u64 = sizes.values().sum();
        let pinned: BTreeSet<Digest> = self.pins().values().flatten().cloned().collect();
        let mut records = self.records()?;
        records.sort_by_key(|(_, record)| record.last_used);
        let mut gone = Vec::new();
        // Layers that no image has any more go first: they cost nobody anything.
        total -= self.remove_unused(&sizes, &records, &pinned)?;
        while total > self.settings.most_bytes {
            let unused =
                |(_, record): &(PathBuf, Record)| !record.layers.iter().any(|layer| pinned.contains(layer));
            let Some(position) = records.iter().position(unused) else { break };
            let (path, record) = records.remove(position);
            fs::remove_file(&path).map_err(|error| disk_error(&path, error))?;
            gone.push(record.reference);
            let left = self.sizes()?;
            total -= self.remove_unused(&left, &records, &pinned)?;
        }
        Ok(gone)
    }

    /// Bytes of all layers.
    pub fn size(&self) -> Result<u64> {
        Ok(self.sizes()?.values().sum())
    }

    fn remove_unused(
        &self,
        sizes: &BTreeMap<Digest, u64>,
        records: &[(PathBuf, Record)],
        pinned: &BTreeSet<Digest>,
    ) -> Result<u64> {
        let used: BTreeSet<&Digest> =
            records.iter().flat_map(|(_, record)| &record.layers).chain(pinned).collect();
        let mut freed = 0;
        for (layer, size) in sizes.iter().filter(|(layer, _)| !used.contains(layer)) {
            let folder = self.root.join("layers").join(layer.hex());
            fs::remove_dir_all(&folder).map_err(|error| disk_error(&folder, error))?;
            freed += size;
        }
        Ok(freed)
    }

    fn sizes(&self) -> Result<BTreeMap<Digest, u64>> {
        let folder = self.root.join("layers");
        let layers = fs::read_dir(&folder).map_err(|error| disk_error(&folder, error))?;
        let size = |path: PathBuf| fs::read_to_string(path.join("size")).ok()?.parse().ok();
        let layers = layers.flatten().filter_map(|layer| {
            let digest = Digest::parse(&format!("sha256:{}", layer.file_name().to_str()?)).ok()?;
            Some((digest, size(layer.path()).unwrap_or(0)))
        });
        Ok(layers.collect())
    }

    fn records(&self) -> Result<Vec<(PathBuf, Record)>> {
        let folder = self.root.join("images");
        let files = fs::read_dir(&folder).map_err(|error| disk_error(&folder, error))?;
        let records = files.flatten().filter_map(|file| Some((file.path(), Record::load(&file.path())?)));
        Ok(records.collect())
    }
}
