//! A design on the server: its documents, collected and compiled.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use design::compile::{Compiled, Compiler};
use design::deckhand::{MissingValue, Problem};
use design::document::{Document, native};
use design::object::{Composer, ITEMS, Shared};
use design::user_kinds::UserKinds;
use design::validate::{Diagnostic, Severity, diagnose};
use krm::Object;
use krm::kind::QueryContext;
use krm::status::Status;
use serde_json::json;

use crate::kept;
use crate::kinds::{Design, DesignRevision, GROUP};

/// The documents of a design as they were written, and the order of their layers.
#[derive(Clone, Default)]
pub struct State {
    /// The documents.
    pub documents: Vec<Arc<Document>>,
    /// Their layers, the most general first.
    pub layers: Vec<String>,
}

/// A compiled design with its documents.
pub struct CompiledDesign {
    /// All documents, after layering and substitution.
    pub documents: Vec<Arc<Document>>,
    /// The compiled site, not validated.
    pub compiled: Compiled,
    /// Errors of layers and substitutions. If there are any, nothing was compiled.
    pub problems: Vec<Problem>,
    /// Values of design documents whose source is missing.
    pub missing: Vec<MissingValue>,
    /// The documents as they were written.
    pub written: State,
    /// The findings, once somebody asked for them.
    findings: OnceLock<Vec<Diagnostic>>,
}

/// Compiles states of one design, one after another: only what changed is rendered and compiled.
#[derive(Default)]
pub struct Stages {
    composer: Composer,
    compiler: Compiler,
}

impl Stages {
    /// Renders and compiles documents. Secrets are not resolved.
    pub fn compile(&mut self, state: State) -> CompiledDesign {
        let (shared, problems) = match self.composer.compose(&state.documents, &state.layers) {
            Ok(shared) => (shared, Vec::new()),
            Err(problems) => (Shared { documents: state.documents.clone(), missing: Vec::new() }, problems),
        };
        let Shared { documents, mut missing } = shared;
        missing.retain(|one| native::is_schema_of_a_design(&one.document));
        let compiled = self.compiler.compile(&documents);
        CompiledDesign { documents, compiled, problems, missing, written: state, findings: OnceLock::new() }
    }
}

impl CompiledDesign {
    /// Renders and compiles documents for once.
    pub fn of(state: State) -> CompiledDesign {
        Stages::default().compile(state)
    }

    /// The compiled site with the findings of the validators.
    pub fn validated(&self) -> Compiled {
        self.compiled.clone().validated()
    }

    /// All findings. They are computed once.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        self.findings.get_or_init(|| self.diagnose())
    }

    fn diagnose(&self) -> Vec<Diagnostic> {
        let substitutions = self.problems.iter().map(|problem| Diagnostic {
            code: "GP0002",
            drydock_id: None,
            severity: Severity::Error,
            message: problem.message.clone(),
            advice: "Correct the layers and substitutions of the document, or spec.layers of the Design."
                .to_owned(),
            at: Some(problem.at.clone()),
            documents: problem.documents.iter().map(|one| one.id.to_string()).collect(),
        });
        let missing = self.missing.iter().map(|one| Diagnostic {
            code: "GP0002",
            drydock_id: None,
            severity: Severity::Error,
            message: one.warning.message.clone(),
            advice: "Import the document that the value comes from, or remove the substitution.".to_owned(),
            at: Some(one.warning.at.clone()),
            documents: vec![one.document.to_string()],
        });
        let mut told: Vec<Diagnostic> = substitutions.chain(missing).collect();
        told.extend(diagnose(&self.validated()));
        told.extend(UserKinds::of(&self.documents).check(&self.documents));
        told
    }
}

pub(crate) fn as_document(object: &Object) -> Option<Document> {
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

/// A state of a design, compiled: a revision (`3`), the active revision (`live`), or the current documents (`documents`).
/// Without some of its documents a design compiles to something else, with other values and with findings about what seems to
/// be missing; so it is refused unless all may be read.
pub fn at(design: &Design, which: &str, look: &dyn QueryContext) -> Result<Arc<CompiledDesign>, Status> {
    let number = match (which, design.spec.revision) {
        ("documents" | "draft", _) => {
            let compiled = kept::current(design, look);
            return match look.is_incomplete() {
                false => Ok(compiled),
                true => {
                    let why = "you may not read everything that the design consists of, so it cannot be compiled for you";
                    Err(Status::failure(403, "Forbidden", why))
                }
            };
        }
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
    kept::revision(&design.metadata.namespace, &name, look).ok_or_else(|| {
        Status::bad_request(format!("revision {number} of {} not found", design.metadata.name))
    })
}

/// Replaces documents of the same kind and name, adds new ones and removes `without`. A document that names its layer replaces
/// the one of that layer only.
pub fn changed(now: &State, with: State, without: &[(&str, &str)]) -> State {
    let is_gone = |one: &Document| without.contains(&(one.id.kind().unwrap_or_default(), one.name()));
    let mut replaced: HashMap<(Option<&str>, &str), Vec<Option<&str>>> = HashMap::new();
    for one in &with.documents {
        replaced.entry((one.id.kind(), one.name())).or_default().push(layer(one));
    }
    let is_replaced = |one: &Document| {
        replaced.get(&(one.id.kind(), one.name())).is_some_and(|layers| {
            layers.iter().any(|new| new.is_none() || layer(one).is_none() || *new == layer(one))
        })
    };
    let stays = |one: &&Arc<Document>| !is_replaced(one) && !is_gone(one);
    let mut documents: Vec<Arc<Document>> = now.documents.iter().filter(stays).cloned().collect();
    drop(replaced);
    documents.extend(with.documents);
    State { documents, layers: if with.layers.is_empty() { now.layers.clone() } else { with.layers } }
}

fn layer(document: &Document) -> Option<&str> {
    document.metadata.get("layeringDefinition")?.get("layer")?.value.as_str()
}
