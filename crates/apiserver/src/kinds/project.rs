//! A minimal Project kind, for servers without the platform: all that the server needs of it is that it
//! exists.

use std::sync::Arc;

use krm::kind::{Kind, Planes, Scope, Subresource, Version};
use krm::names;
use krm::table::Columns;
use serde_json::json;

use crate::planes::{FINALIZER, GROUP, PLURAL};

/// The kind.
pub fn kind() -> Kind {
    let anything = |about: &str| json!({ "type": "object", "description": about, "x-kubernetes-preserve-unknown-fields": true });
    let schema = json!({
        "type": "object",
        "description": "Project is a tenant with a control plane of its own.",
        "properties": {
            "spec": anything("Desired state of the project."),
            "status": anything("Observed state of the project. Set by the server."),
        },
    });
    #[expect(clippy::expect_used, reason = "the schema stands above")]
    let mut version = Version::new("v1alpha1", schema).expect("the schema of Project is one");
    version.subresources.push(Subresource::Status);
    version.columns = Columns::of_custom_resource(&[]);
    let mut kind = Kind::new(GROUP, "Project", PLURAL, Scope::Cluster, version);
    kind.planes = Planes::Root;
    kind.name_rule = names::name_is_dns_label;
    kind.prepare.push(Arc::new(|project, old, _| {
        if old.is_none() {
            let mut finalizers: Vec<String> = project.finalizers().into_iter().map(str::to_owned).collect();
            if !finalizers.iter().any(|finalizer| finalizer == FINALIZER) {
                finalizers.push(FINALIZER.to_owned());
            }
            project.set_finalizers(finalizers);
        }
    }));
    kind
}
