//! HostProfile: settings that hosts inherit.

use std::sync::Arc;

use super::{
    DocumentRef, Field, HostSettings,
    host_settings::fields,
    section::{Reading, Section},
};

/// Settings that several hosts share.
#[derive(Clone, Debug)]
pub struct HostProfile {
    /// The document.
    pub document: Arc<DocumentRef>,
    /// The profile it inherits from.
    pub parent: Field<String>,
    /// Its own settings, markers included.
    pub settings: HostSettings,
}

impl HostProfile {
    pub(super) fn read(reading: &mut Reading, data: &Section) -> Self {
        data.only(reading, &fields(reading));
        let (settings, _) = HostSettings::read(reading, data);
        Self { document: reading.document(), parent: data.text(reading, "host_profile"), settings }
    }

    /// The profile's name.
    pub fn name(&self) -> &str {
        &self.document.name
    }
}
