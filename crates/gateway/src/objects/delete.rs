//! Delete.

use std::sync::Arc;

use apiserver::write::delete::{DeleteOptions, delete};

use super::Objects;
use crate::failure::Failure;
use crate::view::Names;

impl Objects {
    /// Deletes an object. While finalizers are left, it stays, and says since when it is to go.
    pub async fn delete(&self, id: &str) -> Result<(), Failure> {
        let names = Names::at(self.caller.now().await?);
        let found = self.find(id, &names)?;
        let kind = self.caller.kind(self.view.collection, &found.plane())?;
        let call = self.caller.call(&kind, &found.plane(), found.name());
        call.may("delete", found.name())?;
        let options = DeleteOptions { dry_run: self.caller.options().dry_run, ..DeleteOptions::default() };
        match delete(&Arc::new(call), &options).await {
            Ok(_) => Ok(()),
            Err(status) if status.code == 404 => Err(Failure::not_found(id)),
            Err(status) => Err(status.into()),
        }
    }
}
