//! What all instances share.

use tokio::sync::broadcast;

use super::cgroup::Cgroups;
use super::network::Networks;
use super::runc::Runc;
use super::settings::Settings;
use crate::error::Result;
use crate::id::InstanceId;
use crate::image::ImageStore;
use crate::runtime::Event;

/// How many events a receiver may be behind.
const EVENTS: usize = 1024;

pub(super) struct Machine {
    pub(super) images: ImageStore,
    pub(super) networks: Networks,
    pub(super) cgroups: Cgroups,
    pub(super) runc: Runc,
    pub(super) events: broadcast::Sender<Event>,
    pub(super) settings: Settings,
}

impl Machine {
    pub(super) fn new(settings: Settings) -> Result<Self> {
        Ok(Self {
            images: ImageStore::open(&settings.image_folder(), settings.images.clone())?,
            networks: Networks::new(settings.ip.clone(), settings.nft.clone(), settings.prefix()),
            cgroups: Cgroups::detect(settings.prefix()),
            runc: Runc::new(settings.runc.clone(), settings.runc_folder()),
            events: broadcast::channel(EVENTS).0,
            settings,
        })
    }

    pub(super) fn announce(&self, id: &InstanceId, epoch: u64, removed: bool) {
        // Nobody has to listen.
        let _ = self.events.send(Event { id: id.clone(), epoch, removed });
    }
}
