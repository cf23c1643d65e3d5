//! The fields of a Host that sources write: where they are stored, how masks name them, and what a record says of them.

use fulfillment::kinds::Host;

use super::Policy;
use crate::observation::{HostRecord, label};

/// A field of a Host that sources write.
pub struct Field {
    /// Path in the Host.
    pub stored: &'static str,
    /// Path in a field mask of the fulfillment API.
    pub mask: &'static str,
    /// What is stored, as text.
    pub expected: fn(&Host) -> String,
    /// What a record says, as text. `None` if the source does not know.
    pub found: fn(&Policy, &HostRecord) -> Option<String>,
}

impl std::fmt::Debug for Field {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.stored)
    }
}

impl PartialEq for Field {
    fn eq(&self, other: &Field) -> bool {
        self.stored == other.stored
    }
}

fn text(value: &Option<String>) -> String {
    value.clone().unwrap_or_default()
}

fn bmc(host: &Host, of: fn(&fulfillment::kinds::host::Bmc) -> String) -> String {
    host.spec.bmc.as_ref().map(of).unwrap_or_default()
}

/// All of them. The password is not here: what is stored of it can't be read.
pub static FIELDS: [Field; 12] = [
    Field {
        stored: "displayName",
        mask: "metadata.name",
        expected: |host| host.display_name().to_owned(),
        found: |_, record| Some(label(&record.name)).filter(|name| !name.is_empty()),
    },
    Field {
        stored: "spec.class",
        mask: "spec.class",
        expected: |host| text(&host.spec.class),
        found: |policy, record| record.class.as_deref().map(|class| policy.class_of(class)),
    },
    Field {
        stored: "spec.bmc.url",
        mask: "spec.bmc.url",
        expected: |host| bmc(host, |bmc| text(&bmc.url)),
        found: |_, record| record.bmc.url.clone(),
    },
    Field {
        stored: "spec.bmc.user",
        mask: "spec.bmc.user",
        expected: |host| bmc(host, |bmc| text(&bmc.user)),
        found: |_, record| record.bmc.user.clone(),
    },
    Field {
        stored: "spec.bmc.insecure",
        mask: "spec.bmc.insecure",
        expected: |host| host.spec.bmc.as_ref().and_then(|bmc| bmc.insecure).unwrap_or(false).to_string(),
        found: |_, record| record.bmc.insecure.map(|insecure| insecure.to_string()),
    },
    Field {
        stored: "spec.rack",
        mask: "spec.rack",
        expected: |host| text(&host.spec.rack),
        found: |_, record| record.rack.clone(),
    },
    Field {
        stored: "spec.bootMac",
        mask: "spec.boot_mac",
        expected: |host| text(&host.spec.boot_mac).to_lowercase(),
        found: |_, record| record.boot_mac.as_ref().map(|mac| mac.to_lowercase()),
    },
    Field {
        stored: "spec.bootIp",
        mask: "spec.boot_ip",
        expected: |host| text(&host.spec.boot_ip),
        found: |_, record| record.boot_ip.clone(),
    },
    Field {
        stored: "spec.title",
        mask: "spec.title",
        expected: |host| text(&host.spec.title),
        found: |_, record| record.title.clone(),
    },
    Field {
        stored: "spec.description",
        mask: "spec.description",
        expected: |host| text(&host.spec.description),
        found: |_, record| record.description.clone(),
    },
    Field {
        stored: "spec.bcmLink",
        mask: "spec.bcm_link",
        expected: |host| text(&host.spec.bcm_link),
        found: |_, record| record.link.clone(),
    },
    Field {
        stored: "spec.hardware",
        mask: "spec.hardware",
        expected: |host| json(&host.spec.hardware.clone().unwrap_or_default()),
        found: |_, record| record.hardware.as_ref().map(json),
    },
];

fn json(hardware: &fulfillment::kinds::hardware::Hardware) -> String {
    serde_json::to_string(hardware).unwrap_or_default()
}
