//! A host as its provisioner needs it.

use krm::kind::QueryContext;

use crate::controllers::reach::sealed;
use crate::kinds::host::HostProvisioning;
use crate::kinds::{Cluster, Host, HostClass};
use crate::provisioners::{HostFacts, labels};

/// A host that is to be part of a cluster.
pub fn of(host: &Host, cluster: &Cluster, set: &str, root: &dyn QueryContext) -> HostFacts {
    let class = host.spec.class.as_deref().and_then(|class| root.find::<HostClass>(class));
    let mut facts = base(host, class.as_deref(), root);
    facts.cluster = cluster.identifier().to_owned();
    facts.node_set = set.to_owned();
    facts.image = super::super::image_of(cluster, root).unwrap_or_default();
    facts
}

/// A host that leaves a cluster.
pub fn leaving(
    host: &Host,
    before: &HostProvisioning,
    class: Option<&HostClass>,
    root: &dyn QueryContext,
) -> HostFacts {
    let mut facts = base(host, class, root);
    facts.cluster.clone_from(&before.cluster);
    facts.is_clean = !before.is_dirty;
    facts
}

fn base(host: &Host, class: Option<&HostClass>, root: &dyn QueryContext) -> HostFacts {
    let bmc = host.spec.bmc.clone().unwrap_or_default();
    let identifier = host.identifier();
    let id = if labels::is_value(identifier) { identifier } else { &host.metadata.name };
    let class_id = |class: &HostClass| class.id.clone().unwrap_or_else(|| class.metadata.name.clone());
    let class_name =
        |class: &HostClass| class.display_name.clone().unwrap_or_else(|| class.metadata.name.clone());
    HostFacts {
        id: id.to_owned(),
        name: host.display_name().to_owned(),
        class: class.map(|class| (class_id(class), class_name(class))).unwrap_or_default(),
        cleaning: class.map(HostClass::cleaning).unwrap_or_default(),
        bmc_password: sealed(bmc.password_ref.as_ref(), root).unwrap_or_default(),
        bmc_url: bmc.url.unwrap_or_default(),
        bmc_user: bmc.user.unwrap_or_default(),
        bmc_insecure: bmc.insecure == Some(true),
        boot_mac: host.spec.boot_mac.clone().unwrap_or_default(),
        root_device: class.and_then(|class| class.root_device.clone()),
        ..HostFacts::default()
    }
}
