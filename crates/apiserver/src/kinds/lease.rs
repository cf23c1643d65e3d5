//! Lease: for leader election and heartbeats.

use std::sync::Arc;

use krm::field::{FieldError, Path};
use krm::kind::{History, Kind, MetadataChecks, RawChange, Scope};
use krm::meta::OBJECT_META;
use krm::names;
use krm::object::Object;
use krm::shape::{Field, INT32, Outline, STRING, Shape, Struct};
use krm::table::{Column, Columns};
use serde_json::Value;

use super::columns::{age, column, text};
use super::declare;

const ABOUT_HOLDER: &str = "holderIdentity contains the identity of the holder of a current lease. If Coordinated Leader \
    Election is used, the holder identity must be equal to the elected LeaseCandidate.metadata.name field.";

/// Fields of a way to elect leaders that is not offered; they are dropped where they are new.
const NOT_OFFERED: [&str; 2] = ["strategy", "preferredHolder"];
const STRATEGIES: [&str; 1] = ["OldestEmulationVersion"];

static SHAPE: Shape = Shape::Struct(&Struct {
    name: "Lease",
    type_name: "v1.Lease",
    fields: &[
        Field::if_empty("apiVersion", STRING),
        Field::if_empty("kind", STRING),
        Field::always("metadata", OBJECT_META),
        Field::always("spec", Shape::Struct(&SPEC)),
    ],
});

static SPEC: Struct = Struct {
    name: "LeaseSpec",
    type_name: "v1.LeaseSpec",
    fields: &[
        Field::if_absent("holderIdentity", STRING),
        Field::if_absent("leaseDurationSeconds", INT32),
        Field::if_absent("acquireTime", Shape::MicroTime),
        Field::if_absent("renewTime", Shape::MicroTime),
        Field::if_absent("leaseTransitions", INT32),
        Field::if_absent("strategy", Shape::Text("v1.CoordinatedLeaseStrategy")),
        Field::if_absent("preferredHolder", STRING),
    ],
};

pub fn kind() -> Kind {
    let outline = Outline::of(&SHAPE)
        .says("", "Lease defines a lease concept, used for leader election and heartbeats.")
        .says("spec", "Holder and duration of the lease.")
        .says("spec.holderIdentity", "Identity of the current holder of the lease.")
        .says(
            "spec.leaseDurationSeconds",
            "Number of seconds after renewTime that candidates must wait before they force-acquire the lease. Must be greater than 0.",
        )
        .says("spec.acquireTime", "Time at which the current holder acquired the lease.")
        .says("spec.renewTime", "Time at which the current holder last renewed the lease.")
        .says("spec.leaseTransitions", "Number of transitions of the lease between holders.")
        .says("spec.strategy", "Strategy of coordinated leader election. Not supported by this server.")
        .says("spec.preferredHolder", "Holder that the lease should be handed over to. Not supported by this server.");
    let mut kind =
        declare::core("coordination.k8s.io", "Lease", "leases", Scope::Namespaced, &SHAPE, &outline);
    // Leases are renewed every few seconds.
    kind.history = History::None;
    kind.unconditional_update = false;
    kind.create_on_update = true;
    kind.metadata_checks = MetadataChecks::CUSTOM;
    kind.versions[0].columns = Columns::new(vec![
        Column::name(),
        column("Holder", ABOUT_HOLDER, |object, _| text(object, "/spec/holderIdentity").into()),
        age(),
    ]);
    kind.prepare.push(Arc::new(drop_not_offered));
    kind.validations.push(Arc::new(validate));
    kind
}

fn drop_not_offered(new: &mut Object, old: Option<&Object>, _: &str) {
    let Some(spec) = new.0.get_mut("spec").and_then(Value::as_object_mut) else { return };
    let old = old.and_then(|old| old.get("spec"));
    for field in NOT_OFFERED {
        if old.is_none_or(|old| old.get(field).is_none()) {
            spec.remove(field);
        }
    }
}

fn validate(change: &RawChange<'_>) -> Vec<FieldError> {
    let Some(spec) = change.new.and_then(|new| new.get("spec")) else { return Vec::new() };
    let path = Path::of("spec");
    let number = |field: &str| spec.get(field).and_then(Value::as_i64);
    let text = |field: &str| spec.get(field).and_then(Value::as_str);
    let mut errors = Vec::new();
    if let Some(seconds) = number("leaseDurationSeconds").filter(|seconds| *seconds <= 0) {
        let path = path.field("leaseDurationSeconds");
        errors.push(FieldError::invalid(&path, &seconds.into(), "must be greater than 0"));
    }
    if let Some(count) = number("leaseTransitions").filter(|count| *count < 0) {
        let path = path.field("leaseTransitions");
        errors.push(FieldError::invalid(&path, &count.into(), "must be greater than or equal to 0"));
    }
    let strategy = text("strategy");
    if let Some(strategy) = strategy {
        // Kubernetes names the field twice.
        let path = path.field("strategy");
        let path = path.field("strategy");
        match strategy.contains('/') {
            true => errors.extend(
                names::qualified_name(strategy)
                    .into_iter()
                    .map(|fault| FieldError::invalid_text(&path, strategy, fault)),
            ),
            false if STRATEGIES.contains(&strategy) => {}
            false => errors.push(FieldError::not_supported(&path, &strategy.into(), &STRATEGIES)),
        }
    }
    if text("preferredHolder").is_some_and(|holder| !holder.is_empty()) && strategy.unwrap_or("").is_empty() {
        let detail = "may only be specified if `strategy` is defined";
        errors.push(FieldError::forbidden(&path.field("preferredHolder"), detail));
    }
    errors
}
