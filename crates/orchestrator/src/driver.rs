//! The contract of a provisioner's driver.
//!
//! A driver executes one step at a time for one node, or for the site. It holds no state that matters: what it began is in the
//! handle that it returns while it waits, and it is asked again, maybe by another process, until the step is done. Each call
//! must be idempotent: look first whether the wanted state is there.

use std::pin::Pin;
use std::time::Duration;

use krm::time::Moment;
use reconcile::gate::Gates;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::action::Step;
use crate::kinds::provisioner::ProvisionerSpec;
use crate::work::{NodeWork, SiteWork};

/// A call that is made later.
pub type Working<'a> = Pin<Box<dyn Future<Output = Progress> + Send + 'a>>;

/// Installs machines.
pub trait NodeDriver: Send + Sync {
    /// Its name, for people.
    fn name(&self) -> &'static str;

    /// What it can do. What a design asks for beyond that is an error when the design is validated.
    fn abilities(&self) -> Abilities;

    /// Works on a step for a few seconds at most.
    fn work<'a>(&'a self, call: &'a Call) -> Working<'a>;
}

/// What a driver can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Abilities {
    /// Whether it runs commissioning hooks for firmware, BIOS settings and RAID volumes.
    pub commissions: bool,
    /// Whether it configures interfaces.
    pub networks: bool,
    /// Whether it makes partitions.
    pub partitions: bool,
    /// Whether it makes volume groups.
    pub volume_groups: bool,
    /// Whether it sets kernel parameters.
    pub kernel_parameters: bool,
    /// Whether it delivers boot actions.
    pub boot_actions: bool,
}

/// Everything can be done.
impl Default for Abilities {
    fn default() -> Abilities {
        Abilities {
            commissions: true,
            networks: true,
            partitions: true,
            volume_groups: true,
            kernel_parameters: true,
            boot_actions: true,
        }
    }
}

/// What a driver is called with.
pub struct Call {
    /// The step.
    pub step: Step,
    /// Which try it is, from 1.
    pub tries: i64,
    /// The node; `None` for steps of the site.
    pub node: Option<NodeWork>,
    /// The site; only for its own steps.
    pub site: Option<SiteWork>,
    /// How the provisioner is reached.
    pub provisioner: ProvisionerSpec,
    /// Credential of the provisioner, if it has one.
    pub credential: Option<Credential>,
    /// Password of the node's BMC, if it is known.
    pub bmc_password: Option<Credential>,
    /// URL of the BMC.
    pub bmc_url: Option<String>,
    /// Key of the node for the node listener, in hexadecimal.
    pub node_key: Option<Credential>,
    /// What the driver said when it was called last about this step.
    pub handle: Value,
    /// The same for all calls of one try, after a restart too.
    pub operation: String,
    /// The time.
    pub now: Moment,
    /// Gates in front of endpoints.
    pub gates: Gates,
}

/// A secret that is not shown.
#[derive(Clone, Serialize, Deserialize)]
pub struct Credential(String);

impl Credential {
    /// A secret.
    pub fn new(text: impl Into<String>) -> Credential {
        Credential(text.into())
    }

    /// The secret itself.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for Credential {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Credential(hidden)")
    }
}

/// How far a step is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Progress {
    /// It succeeded.
    Done(Finished),
    /// It failed.
    #[serde(rename_all = "camelCase")]
    Failed {
        /// Why, for people.
        message: String,
        /// Whether trying again may help.
        may_retry: bool,
    },
    /// It goes on; ask again after the pause.
    Waiting {
        /// What it waits for, for people.
        message: String,
        /// What the next call gets to know.
        handle: Value,
        /// Pause before the next call.
        pause: Duration,
    },
}

/// What came of a step that succeeded.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Finished {
    /// What was done, for people.
    pub message: String,
    /// Steps that are not needed any more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skips: Vec<Step>,
    /// What was found, to be kept as BuildData.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub found: Vec<Found>,
}

/// Something that was found on a node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Found {
    /// What made it: `lshw`, `lldp`, `commission:<script>`.
    pub generator: String,
    /// Media type.
    pub format: String,
    /// The data.
    pub data: String,
}

impl Progress {
    /// It succeeded.
    pub fn done(message: impl Into<String>) -> Progress {
        Progress::Done(Finished { message: message.into(), ..Finished::default() })
    }

    /// It failed, and trying again does not help.
    pub fn broken(message: impl Into<String>) -> Progress {
        Progress::Failed { message: message.into(), may_retry: false }
    }

    /// It failed, and may succeed when it is tried again.
    pub fn failed(message: impl Into<String>) -> Progress {
        Progress::Failed { message: message.into(), may_retry: true }
    }

    /// It goes on.
    pub fn waiting(message: impl Into<String>, pause: Duration) -> Progress {
        Progress::Waiting { message: message.into(), handle: Value::Null, pause }
    }
}

/// What a design asks for that a driver can't do, in a sentence for each node and ability.
pub fn inabilities(driver: &str, abilities: Abilities, node: &NodeWork) -> Vec<String> {
    let mut all = Vec::new();
    let mut needs = |is_needed: bool, can: bool, what: &str| {
        if is_needed && !can {
            all.push(format!("node {} needs {what}, which the driver {driver} does not offer", node.name));
        }
    };
    needs(
        node.machine.needs_commissioning(),
        abilities.commissions,
        "firmware, BIOS settings or RAID volumes",
    );
    let has_network = node.interfaces.iter().any(|one| !one.is_untouched && !one.networks.is_empty());
    needs(has_network, abilities.networks, "a network configuration");
    let has_partitions = node.storage.disks.iter().any(|disk| !disk.partitions.is_empty());
    needs(has_partitions, abilities.partitions, "partitions");
    needs(!node.storage.volume_groups.is_empty(), abilities.volume_groups, "volume groups");
    needs(!node.kernel_parameters.is_empty(), abilities.kernel_parameters, "kernel parameters");
    needs(!node.boot_actions.is_empty(), abilities.boot_actions, "boot actions");
    all
}
