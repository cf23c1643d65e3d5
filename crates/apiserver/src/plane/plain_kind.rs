//! A minimal kind with control planes, for servers without a module that has one, as in tests: all that the server needs is
//! that its objects exist.

use std::sync::Arc;

use krm::kind::{Kind, Planes, Scope, Subresource, Version};
use krm::names;
use krm::table::Columns;
use serde_json::json;

use super::PlaneKind;
use crate::planes::FINALIZER;

impl PlaneKind {
    /// A kind that has control planes and nothing else.
    pub fn plain_kind(&self) -> Kind {
        let anything = |about: &str| json!({ "type": "object", "description": about, "x-kubernetes-preserve-unknown-fields": true });
        let schema = json!({
            "type": "object",
            "description": "A tenant with a control plane of its own.",
            "properties": {
                "spec": anything("Desired state of the tenant."),
                "status": anything("Observed state of the tenant. Set by the server."),
            },
        });
        #[expect(clippy::expect_used, reason = "the schema stands above")]
        let mut version = Version::new(self.version, schema).expect("the schema above is one");
        version.subresources.push(Subresource::Status);
        version.columns = Columns::of_custom_resource(&[]);
        let mut kind = Kind::new(self.group, self.kind, self.plural, Scope::Cluster, version);
        kind.planes = Planes::Root;
        kind.name_rule = names::name_is_dns_label;
        kind.prepare.push(Arc::new(|object, old, _| {
            if old.is_none() {
                let mut finalizers: Vec<String> =
                    object.finalizers().into_iter().map(str::to_owned).collect();
                if !finalizers.iter().any(|finalizer| finalizer == FINALIZER) {
                    finalizers.push(FINALIZER.to_owned());
                }
                object.set_finalizers(finalizers);
            }
        }));
        kind
    }
}
