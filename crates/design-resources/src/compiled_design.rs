//! A design on the server: its documents, collected and compiled.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use design::compile::{Compiled, LshwInputs, compile};
use design::deckhand::Problem;
use design::document::Document;
use design::object::{ITEMS, KINDS, compose, documents_of};
use design::user_kinds::UserKinds;
use design::validate::{Diagnostic, Severity, diagnose};
use krm::Object;
use krm::kind::{Address, QueryContext};
use krm::status::Status;
use serde_json::{Value, json};

use crate::kinds::design::UserKind;
use crate::kinds::{Design, DesignRevision, GROUP};

/// A compiled design with its documents.
pub struct CompiledDesign {
    /// All documents, after substitution.
    pub documents: Vec<Document>,
    /// The compiled and validated site.
    pub compiled: Compiled,
    /// Substitution errors. If there are any, nothing was compiled.
    pub problems: Vec<Problem>,
}

impl CompiledDesign {
    /// Substitutes and compiles documents. Secrets are not resolved.
    pub fn of(documents: Vec<Document>) -> CompiledDesign {
        let (documents, problems) = match compose(documents.clone()) {
            Ok(documents) => (documents, Vec::new()),
            Err(problems) => (documents, problems),
        };
        let compiled = compile(&documents, &LshwInputs::new()).validated();
        CompiledDesign { documents, compiled, problems }
    }

    /// All findings.
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        let substitutions = self.problems.iter().map(|problem| Diagnostic {
            code: "GP0002",
            drydock_id: None,
            severity: Severity::Error,
            message: problem.message.clone(),
            advice: "Correct the substitutions of the document.".to_owned(),
            at: None,
            documents: problem.documents.iter().map(ToString::to_string).collect(),
        });
        let mut told: Vec<Diagnostic> = substitutions.collect();
        told.extend(diagnose(&self.compiled));
        told.extend(UserKinds::of(&self.documents).check(&self.documents));
        told
    }
}

/// The current documents of a design, before substitution.
pub fn documents_now(design: &Design, look: &dyn QueryContext) -> Vec<Document> {
    in_objects(design, &objects_now(design, look), look)
}

/// The objects that hold the documents of a design.
pub fn objects_now(design: &Design, look: &dyn QueryContext) -> Vec<Value> {
    let plurals = KINDS.iter().map(|(_, plural)| *plural).chain([ITEMS.1]);
    plurals
        .flat_map(|plural| look.all_in(GROUP, plural, &design.metadata.namespace))
        .filter(|object| design.spec.takes(object))
        .map(|object| Value::Object(object.0.clone()))
        .collect()
}

/// The documents in those objects, and in the objects of user-defined kinds.
pub fn in_objects(design: &Design, objects: &[Value], look: &dyn QueryContext) -> Vec<Document> {
    let mut documents = documents_of(objects, &|_, _| None);
    for kind in design.spec.kinds.iter().flatten() {
        documents.extend(of_user_kind(kind, &design.metadata.namespace, look));
    }
    documents
}

/// The field managers of objects.
pub fn sources(objects: &[Value]) -> BTreeSet<String> {
    let entries = objects.iter().flat_map(|object| object["metadata"]["managedFields"].as_array()).flatten();
    let own = entries.filter(|entry| entry["subresource"].as_str().is_none_or(str::is_empty));
    own.filter_map(|entry| entry["manager"].as_str().map(str::to_owned)).collect()
}

/// The objects of a user-defined kind as documents, with their `spec` as data. Only CRDs are read: a reader of the design
/// may not be allowed to read other kinds.
fn of_user_kind(kind: &UserKind, namespace: &str, look: &dyn QueryContext) -> Vec<Document> {
    let definition = look.get(&Address {
        group: "apiextensions.k8s.io".to_owned(),
        plural: "customresourcedefinitions".to_owned(),
        namespace: String::new(),
        name: format!("{}.{}", kind.resource, kind.group),
    });
    let is_namespaced =
        |definition: &Arc<Object>| definition.at("spec.scope").and_then(Value::as_str) == Some("Namespaced");
    if !definition.as_ref().is_some_and(is_namespaced) {
        return Vec::new();
    }
    let objects = look.all_in(&kind.group, &kind.resource, namespace);
    objects.iter().filter_map(|object| as_document(object)).collect()
}

fn as_document(object: &Object) -> Option<Document> {
    let (group, version) = krm::kind::split_api_version(object.api_version());
    let item = json!({
        "apiVersion": format!("{GROUP}/v1alpha1"),
        "kind": ITEMS.0,
        "metadata": {"name": object.name()},
        "spec": {
            "schema": format!("{group}/{}/{version}", object.kind()),
            "name": object.name(),
            "data": object.get("spec").cloned().unwrap_or_default(),
        },
    });
    design::object::document_of(&item, &|_, _| None)
}

/// The documents of a revision (`3`), of the active revision (`live`), or the current ones (`documents`).
pub fn at(design: &Design, which: &str, look: &dyn QueryContext) -> Result<Vec<Document>, Status> {
    let number = match (which, design.spec.revision) {
        ("documents" | "draft", _) => return Ok(documents_now(design, look)),
        ("live", Some(number)) => number,
        ("live", None) => {
            let name = &design.metadata.name;
            return Err(Status::bad_request(format!("{name} has no active revision; promote one first")));
        }
        (text, _) => text.parse().map_err(|_| {
            Status::bad_request(format!(
                "{text:?} is not a state of a design; use a revision number, live or documents"
            ))
        })?,
    };
    let name = DesignRevision::name_of(&design.metadata.name, number);
    let address = <DesignRevision as krm::kind::Resource>::address(&design.metadata.namespace, &name);
    let revision = look.get(&address);
    let revision = revision.and_then(|object| DesignRevision::read(&object)).ok_or_else(|| {
        Status::bad_request(format!("revision {number} of {} not found", design.metadata.name))
    })?;
    Ok(revision.spec.documents())
}

/// Replaces documents of the same kind and name, adds new ones and removes `without`.
pub fn changed(documents: Vec<Document>, with: Vec<Document>, without: &[(&str, &str)]) -> Vec<Document> {
    let replaced: HashSet<(Option<&str>, &str)> =
        with.iter().map(|one| (one.id.kind(), one.name())).collect();
    let is_gone = |one: &Document| without.contains(&(one.id.kind().unwrap_or_default(), one.name()));
    let stays = |one: &Document| !replaced.contains(&(one.id.kind(), one.name())) && !is_gone(one);
    let mut kept: Vec<Document> = documents.into_iter().filter(stays).collect();
    drop(replaced);
    kept.extend(with);
    kept
}
