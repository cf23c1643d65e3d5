//! Virtual media: slots of the system, or of the manager.

use serde_json::{Value, json};

use super::Redfish;
use super::quirks::MediaInsert;
use super::resource::{Resource, text};
use crate::contract::Outcome;
use crate::error::{Cause, Result};
use crate::media::Media;

impl Redfish {
    pub(super) async fn read_media(&self) -> Result<Vec<Media>> {
        let slots = self.slots().await?;
        Ok(slots.iter().map(|(path, slot)| media(path, slot)).collect())
    }

    pub(super) async fn insert(&self, image: &str) -> Result<Outcome> {
        let action = format!("insert {image}");
        if !["http://", "https://", "nfs://", "cifs://"].iter().any(|scheme| image.starts_with(scheme)) {
            let why = format!("\"{image}\" is not a URL that BMCs load images from (http, https, nfs, cifs)");
            return Err(self.failed(&action, Cause::Invalid { why }));
        }
        let slots = self.slots().await?;
        let optical = slots.iter().find(|(path, slot)| media(path, slot).is_optical);
        let Some((path, slot)) = optical else {
            return Err(self.failed(&action, Cause::Unsupported { what: "optical virtual media".to_owned() }));
        };
        let before = media(path, slot);
        if before.image.as_deref() == Some(image) {
            return Ok(Outcome::Unchanged);
        }
        if before.image.is_some() {
            self.empty(path, slot).await?;
        }
        let quirks = self.quirks().await?;
        let target = slot.action("#VirtualMedia.InsertMedia", "Image").map(|(target, _)| target);
        let sent = match (quirks.media_insert, target) {
            (MediaInsert::Action, Some(target)) => {
                self.service
                    .post(&target, &json!({ "Image": image, "Inserted": true, "WriteProtected": true }))
                    .await
            }
            _ => self.service.patch(path, &json!({ "Image": image, "Inserted": true }), quirks.etag).await,
        };
        sent.map_err(|error| error.during(&action))?;
        let found = media(path, &self.service.get(path).await?);
        match found.image.as_deref() == Some(image) {
            true => Ok(Outcome::Changed),
            false => {
                let found = found.image.unwrap_or_else(|| "an empty slot".to_owned());
                Err(self.failed(&action, Cause::NotVerified { wanted: image.to_owned(), found }))
            }
        }
    }

    pub(super) async fn eject(&self) -> Result<Outcome> {
        let mut outcome = Outcome::Unchanged;
        for (path, slot) in self.slots().await? {
            if media(&path, &slot).image.is_some() {
                self.empty(&path, &slot).await?;
                outcome = Outcome::Changed;
            }
        }
        Ok(outcome)
    }

    async fn empty(&self, path: &str, slot: &Resource) -> Result<()> {
        let quirks = self.quirks().await?;
        let target = slot.action("#VirtualMedia.EjectMedia", "Image").map(|(target, _)| target);
        let sent = match (quirks.media_insert, target) {
            (MediaInsert::Action, Some(target)) => self.service.post(&target, &json!({})).await,
            _ => self.service.patch(path, &json!({ "Image": null, "Inserted": false }), quirks.etag).await,
        };
        sent.map_err(|error| error.during("eject virtual media"))?;
        match media(path, &self.service.get(path).await?).image {
            None => Ok(()),
            Some(found) => {
                let wanted = "an empty slot".to_owned();
                Err(self.failed("eject virtual media", Cause::NotVerified { wanted, found }))
            }
        }
    }

    async fn slots(&self) -> Result<Vec<(String, Resource)>> {
        let system = self.service.get(self.system().await?).await?;
        let mut collections: Vec<String> =
            system.link("VirtualMedia").map(str::to_owned).into_iter().collect();
        if collections.is_empty() {
            for manager in system.links_at(&["Links", "ManagedBy"]) {
                let manager = self.service.get(&manager).await?;
                collections.extend(manager.link("VirtualMedia").map(str::to_owned));
            }
        }
        if collections.is_empty() {
            return Err(self.failed("virtual media", Cause::Unsupported { what: "virtual media".to_owned() }));
        }
        let mut slots = Vec::new();
        for collection in collections {
            for path in self.service.members(&collection).await? {
                let slot = self.service.get(&path).await?;
                slots.push((path, slot));
            }
        }
        Ok(slots)
    }
}

fn media(path: &str, slot: &Resource) -> Media {
    let kinds = slot.at(&["MediaTypes"]).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let is_inserted = slot.at(&["Inserted"]).and_then(Value::as_bool) != Some(false);
    let last = path.rsplit('/').next().unwrap_or(path);
    Media {
        id: slot.text("Id").unwrap_or_else(|| last.to_owned()),
        is_optical: kinds.iter().filter_map(text).any(|kind| kind == "CD" || kind == "DVD"),
        image: slot.text("Image").filter(|_| is_inserted),
    }
}
