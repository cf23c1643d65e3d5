//! ServiceAccount: an identity for a process.

use std::sync::Arc;

use krm::kind::{Kind, Scope};
use krm::meta::OBJECT_META;
use krm::object::Object;
use krm::shape::{Field, Outline, STRING, Shape, Struct};
use krm::table::{Column, Columns};
use serde_json::{Value, json};

use super::reference::OBJECT_REFERENCE;
use super::{columns, declare};

const MOUNTABLE_SECRETS: &str = "kubernetes.io/enforce-mountable-secrets";

static SHAPE: Shape = Shape::Struct(&Struct {
    name: "ServiceAccount",
    type_name: "v1.ServiceAccount",
    fields: &[
        Field::if_empty("apiVersion", STRING),
        Field::if_empty("kind", STRING),
        Field::always("metadata", OBJECT_META),
        Field::if_empty("secrets", Shape::List("[]v1.ObjectReference", &Shape::Struct(&OBJECT_REFERENCE))),
        Field::if_empty(
            "imagePullSecrets",
            Shape::List("[]v1.LocalObjectReference", &Shape::Struct(&LOCAL_REFERENCE)),
        ),
        Field::if_absent("automountServiceAccountToken", Shape::Flag),
    ],
});

static LOCAL_REFERENCE: Struct = Struct {
    name: "LocalObjectReference",
    type_name: "v1.LocalObjectReference",
    fields: &[Field::if_empty("name", STRING)],
};

pub fn kind() -> Kind {
    let outline = Outline::of(&SHAPE)
        .says("", "ServiceAccount is an identity for processes. Create its subresource token to get a token for it.")
        .says("secrets", "Secrets in the same namespace that pods of the account can use.")
        .says("imagePullSecrets", "Secrets in the same namespace with credentials for image registries.")
        .says("automountServiceAccountToken", "Whether pods of the account get its token mounted automatically.")
        .keyed("secrets", "name")
        .merged("secrets", "name")
        .whole("secrets[]")
        .whole("imagePullSecrets[]");
    let mut kind =
        declare::core("", "ServiceAccount", "serviceaccounts", Scope::Namespaced, &SHAPE, &outline);
    kind.names.short = vec!["sa".into()];
    kind.shows_deleted = true;
    kind.versions[0].columns = Columns::new(vec![Column::name(), columns::age()]);
    kind.prepare.push(Arc::new(|new, _, _| keep_names(new)));
    kind.warnings.push(Arc::new(|change| {
        let has = |object: &Object| object.annotation(MOUNTABLE_SECRETS).is_some();
        let newly = change.new.is_some_and(has) && !change.old.is_some_and(has);
        let warning = || {
            format!(
                "metadata.annotations[{MOUNTABLE_SECRETS}]: deprecated in v1.32+; prefer separate namespaces to isolate \
                 access to mounted secrets"
            )
        };
        newly.then(warning).into_iter().collect()
    }));
    kind
}

/// Secrets are known by their names; whatever else a reference says is dropped.
fn keep_names(object: &mut Object) {
    let secrets = object.0.get_mut("secrets").and_then(Value::as_array_mut);
    for secret in secrets.into_iter().flatten() {
        *secret = match secret.get("name").and_then(Value::as_str) {
            Some(name) => json!({"name": name}),
            None => json!({}),
        };
    }
}
