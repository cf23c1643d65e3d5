//! Ours and bare redb side by side, with the same 50,000 objects.

use std::sync::Arc;

use store::Level;
use tempfile::TempDir;

use crate::Outcome;
use crate::bare_redb::BareRedb;
use crate::load::Filled;
use crate::options::Options;
use crate::ours::{self, Ours};

/// Objects on the stage.
pub const OBJECTS: usize = 50_000;

pub struct Stage {
    pub ours: Arc<Filled<Ours>>,
    pub bare: Arc<Filled<BareRedb>>,
    _folder: TempDir,
}

impl Stage {
    pub async fn set(options: &Options) -> Outcome<Stage> {
        let folder = options.folder()?;
        let store = ours::embedded(&folder.path().join("ours"), options.cache()).await?;
        let ours = Filled::with(Ours::on(store, Level::Full), OBJECTS).await?;
        // What has to be done after the filling is not the cost of what is measured next.
        ours.subject.store.tidy(None).await?;
        let bare = Filled::with(BareRedb::open(folder.path(), options.cache())?, OBJECTS).await?;
        Ok(Stage { ours, bare, _folder: folder })
    }

    pub async fn strike(self) -> Outcome {
        Ok(self.ours.subject.store.close().await?)
    }
}
