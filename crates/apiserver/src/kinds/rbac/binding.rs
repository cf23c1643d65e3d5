//! What RoleBinding and ClusterRoleBinding have in common: a role and its subjects.

use krm::field::{FieldError, Path};
use krm::kind::RawChange;
use krm::names;
use krm::object::Object;
use krm::shape::{Field, Outline, STRING, Shape, Struct};
use krm::table::{Column, Columns};
use serde_json::{Value, json};

use super::GROUP;
use crate::kinds::columns::{age, column, wide};
use crate::kinds::declare::MOST_ERRORS;

/// `[]v1.Subject`.
pub const SUBJECTS: Shape = Shape::List("[]v1.Subject", &Shape::Struct(&SUBJECT));

static SUBJECT: Struct = Struct {
    name: "Subject",
    type_name: "v1.Subject",
    fields: &[
        Field::always("kind", STRING),
        Field::if_empty("apiGroup", STRING),
        Field::always("name", STRING),
        Field::if_empty("namespace", STRING),
    ],
};

/// `v1.RoleRef`.
pub static ROLE_REF: Struct = Struct {
    name: "RoleRef",
    type_name: "v1.RoleRef",
    fields: &[
        Field::always("apiGroup", STRING),
        Field::always("kind", STRING),
        Field::always("name", STRING),
    ],
};

/// Words about subjects and roles.
pub fn described(outline: Outline) -> Outline {
    outline
        .says("subjects", "Users, groups and service accounts that the role applies to.")
        .says("subjects[].kind", "Kind of the subject: User, Group or ServiceAccount.")
        .says("subjects[].apiGroup", "API group of the subject. Defaults to \"\" for ServiceAccount and to rbac.authorization.k8s.io for User and Group.")
        .says("subjects[].name", "Name of the subject.")
        .says("subjects[].namespace", "Namespace of the subject. Required for ServiceAccount, and must be empty for User and Group.")
        .says("roleRef", "Role that is granted: a ClusterRole, or a Role in the same namespace. Immutable.")
        .whole("subjects[]")
        .requires("subjects[]", &["kind", "name"])
        .whole("roleRef")
        .requires("roleRef", &["kind", "name"])
        .requires("", &["roleRef"])
}

/// Fills in the groups that are left out.
pub fn complete(object: &mut Object) {
    let fill = |of: &mut Value| {
        if text(of, "apiGroup").is_empty() {
            of["apiGroup"] = GROUP.into();
        }
    };
    if let Some(role) = object.0.get_mut("roleRef").filter(|role| role.is_object()) {
        fill(role);
    }
    let subjects = object.0.get_mut("subjects").and_then(Value::as_array_mut).into_iter().flatten();
    subjects.filter(|subject| matches!(text(subject, "kind"), "User" | "Group")).for_each(fill);
}

/// What is wrong with a binding that may refer to roles of these kinds.
pub fn validate(change: &RawChange<'_>, roles: &[&str], is_namespaced: bool) -> Vec<FieldError> {
    let Some(new) = change.new else { return Vec::new() };
    let mut errors = role_faults(new, roles);
    let path = Path::of("subjects");
    for (index, subject) in subjects(new).enumerate() {
        if errors.len() >= MOST_ERRORS {
            break;
        }
        subject_faults(subject, is_namespaced, &path.index(index), &mut errors);
    }
    if change.old.is_some_and(|old| old.get("roleRef") != new.get("roleRef")) {
        let role = new.get("roleRef").unwrap_or(&Value::Null);
        let shown = ["APIGroup", "Kind", "Name"].map(|name| {
            let field = if name == "APIGroup" { "apiGroup".to_owned() } else { name.to_lowercase() };
            format!("\"{name}\":{}", json!(text(role, &field)))
        });
        let shown = format!("{{{}}}", shown.join(","));
        errors.push(FieldError::invalid_shown(&Path::of("roleRef"), shown, "cannot change roleRef"));
    }
    errors
}

fn role_faults(object: &Object, roles: &[&str]) -> Vec<FieldError> {
    let role = object.get("roleRef").unwrap_or(&Value::Null);
    let path = Path::of("roleRef");
    let mut errors = Vec::new();
    let group = text(role, "apiGroup");
    if group != GROUP {
        errors.push(FieldError::not_supported(&path.field("apiGroup"), &group.into(), &[GROUP]));
    }
    let kind = text(role, "kind");
    if !roles.contains(&kind) {
        errors.push(FieldError::not_supported(&path.field("kind"), &kind.into(), roles));
    }
    match text(role, "name") {
        "" => errors.push(FieldError::required(&path.field("name"), "")),
        name => {
            let faults = names::path_segment(name).into_iter();
            errors.extend(faults.map(|fault| FieldError::invalid_text(&path.field("name"), name, fault)));
        }
    }
    errors
}

fn subject_faults(subject: &Value, is_namespaced: bool, path: &Path<'_>, errors: &mut Vec<FieldError>) {
    let name = text(subject, "name");
    if name.is_empty() {
        errors.push(FieldError::required(&path.field("name"), ""));
    }
    let group = text(subject, "apiGroup");
    let of_group = |expected: &str| {
        let fault = || FieldError::not_supported(&path.field("apiGroup"), &group.into(), &[expected]);
        (group != expected).then(fault)
    };
    match text(subject, "kind") {
        "ServiceAccount" => {
            if !name.is_empty() {
                let faults = names::dns1123_subdomain(name).into_iter();
                errors.extend(faults.map(|fault| FieldError::invalid_text(&path.field("name"), name, fault)));
            }
            errors.extend(of_group(""));
            if !is_namespaced && text(subject, "namespace").is_empty() {
                errors.push(FieldError::required(&path.field("namespace"), ""));
            }
        }
        "User" | "Group" => errors.extend(of_group(GROUP)),
        kind => {
            let known = ["ServiceAccount", "User", "Group"];
            errors.push(FieldError::not_supported(&path.field("kind"), &kind.into(), &known));
        }
    }
}

/// The columns of a table of bindings; `kind` is what a binding is called in them.
pub fn table(kind: &str) -> Columns {
    let role = match kind {
        "roleBinding" => {
            "RoleRef can reference a Role in the current namespace or a ClusterRole in the global namespace. If the RoleRef \
             cannot be resolved, the Authorizer must return an error."
        }
        _ => {
            "RoleRef can only reference a ClusterRole in the global namespace. If the RoleRef cannot be resolved, the \
             Authorizer must return an error."
        }
    };
    let about = |subjects: &str| format!("{subjects} in the {kind}");
    Columns::new(vec![
        Column::name(),
        column("Role", role, |binding, _| {
            let role = binding.get("roleRef").unwrap_or(&Value::Null);
            format!("{}/{}", text(role, "kind"), text(role, "name")).into()
        }),
        age(),
        wide("Users", &about("Users"), |binding, _| named(binding, "User")),
        wide("Groups", &about("Groups"), |binding, _| named(binding, "Group")),
        wide("ServiceAccounts", &about("ServiceAccounts"), |binding, _| named(binding, "ServiceAccount")),
    ])
}

fn named(binding: &Value, kind: &str) -> Value {
    let subjects = binding.get("subjects").and_then(Value::as_array).into_iter().flatten();
    let these = subjects.filter(|subject| text(subject, "kind") == kind);
    let names: Vec<String> = these
        .map(|subject| match kind {
            "ServiceAccount" => format!("{}/{}", text(subject, "namespace"), text(subject, "name")),
            _ => text(subject, "name").to_owned(),
        })
        .collect();
    names.join(", ").into()
}

fn subjects(object: &Object) -> impl Iterator<Item = &Value> {
    object.get("subjects").and_then(Value::as_array).into_iter().flatten()
}

fn text<'a>(of: &'a Value, field: &str) -> &'a str {
    of.get(field).and_then(Value::as_str).unwrap_or("")
}
