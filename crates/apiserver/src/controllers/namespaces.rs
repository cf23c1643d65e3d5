//! Namespace deletion: deletes the content first.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use krm::Object;
use krm::condition::Finding;
use krm::kind::Planes;
use reconcile::context::{Context, Refused};
use reconcile::plan::{Deletion, Plan, Propagation, Write};
use reconcile::reconciler::{Changed, Freshness, Reconciler, Scope};
use reconcile::role::Rule;
use reconcile::target::Target;
use reconcile::workers::Settings;
use serde_json::{Value, json};

/// How many refusals a condition names.
const NAMED: usize = 5;
/// Objects that one plan deletes, at most.
const MOST: usize = 10_000;
/// Pause before deletions that were refused are tried again, in case that what was in their way is in another namespace.
const PAUSE: Duration = Duration::from_millis(500);

/// Empties namespaces that are being deleted, and lets them go.
pub struct Namespaces;

impl Namespaces {
    /// Its name.
    pub const NAME: &'static str = "namespace-controller";
}

impl Reconciler for Namespaces {
    fn name(&self) -> &'static str {
        Namespaces::NAME
    }

    fn description(&self) -> &'static str {
        "Empties namespaces that are being deleted."
    }

    fn scope(&self) -> Scope {
        Scope::resource("", "namespaces", Planes::Both)
    }

    fn role(&self) -> Vec<Rule> {
        vec![
            Rule::new("*", &["*"], &["get", "delete"]),
            Rule::new("", &["namespaces/status", "namespaces/finalize"], &["update"]),
        ]
    }

    fn settings(&self) -> Settings {
        Settings { deadline: Duration::from_secs(300), ..Settings::new(self.name()) }
    }

    fn freshness(&self) -> Freshness {
        Freshness::Current
    }

    fn concerns(&self, change: &Changed<'_>) -> bool {
        change.after.is_some_and(Object::is_deleting)
    }

    fn plan(&self, target: &Target, namespace: &Arc<Object>, context: &Context<'_>) -> Plan {
        let mut plan = Plan::nothing();
        if !namespace.is_deleting() {
            return plan;
        }
        let content = context.in_namespace(namespace.name());
        if content.is_empty() {
            plan.writes.extend(finalize(target, namespace));
            return plan;
        }
        let mut remaining = Remaining::default();
        for object in content {
            let Some(metadata) = context.listed(&object) else { continue };
            remaining.add(&object, &metadata);
            let is_refused = context.refused().iter().any(|refused| refused.target == object);
            if !metadata.is_deleting() && !is_refused && plan.independent.len() < MOST {
                let how = Deletion { propagation: Propagation::Background, ..Deletion::default() };
                plan.independent.push(Write::Delete(object, how));
            }
        }
        if !plan.independent.is_empty() {
            // What is left after that is told by the next plan.
            plan.again_after(PAUSE);
            return plan;
        }
        remaining.refused(context.refused());
        let now = context.now().to_string();
        plan.writes.extend(tell(target, namespace, &remaining, &now));
        plan.again_after(PAUSE);
        plan.waiting_for(format!("{} objects in the namespace", remaining.count()))
    }
}

/// What is still in a namespace.
#[derive(Default)]
struct Remaining {
    /// How many of each resource.
    resources: BTreeMap<String, usize>,
    /// How many wait for each finalizer.
    finalizers: BTreeMap<String, usize>,
    /// What could not be deleted, and why.
    refused: Vec<String>,
}

impl Remaining {
    fn add(&mut self, target: &Target, metadata: &Object) {
        *self.resources.entry(format!("{}.{}", target.at.plural, target.at.group)).or_default() += 1;
        for finalizer in metadata.finalizers() {
            *self.finalizers.entry(finalizer.to_owned()).or_default() += 1;
        }
    }

    fn refused(&mut self, refused: &[Refused]) {
        self.refused.extend(refused.iter().map(|refused| refused.status.message.clone()));
    }

    fn count(&self) -> usize {
        self.resources.values().sum()
    }
}

/// The namespace without the finalizer that has kept it until it is empty.
fn finalize(target: &Target, namespace: &Object) -> Option<Write> {
    let mut namespace = namespace.clone();
    let spec = namespace.0.get_mut("spec").and_then(Value::as_object_mut)?;
    let list = spec.get("finalizers").and_then(Value::as_array).cloned().unwrap_or_default();
    let kept: Vec<Value> = list.into_iter().filter(|finalizer| finalizer != "kubernetes").collect();
    match kept.is_empty() {
        true => drop(spec.remove("finalizers")),
        false => drop(spec.insert("finalizers".into(), kept.into())),
    }
    Some(Write::Subresource(target.plane.clone(), namespace, "finalize"))
}

/// Says in the namespace's status what keeps it.
fn tell(target: &Target, namespace: &Object, remaining: &Remaining, now: &str) -> Option<Write> {
    let before = namespace.at("status.conditions").and_then(Value::as_array).cloned().unwrap_or_default();
    let conditions: Vec<Value> =
        conditions(remaining).iter().map(|finding| finding.after(&before, None, now)).collect();
    if conditions == before {
        return None;
    }
    let mut namespace = namespace.clone();
    let status = namespace.0.entry("status").or_insert_with(|| json!({}));
    status["conditions"] = conditions.into();
    Some(Write::Status(target.plane.clone(), namespace))
}

/// What a namespace says while it is being deleted.
fn conditions(remaining: &Remaining) -> [Finding; 5] {
    let counted = |counts: &BTreeMap<String, usize>, word: &str| {
        let all = counts.iter().map(|(name, count)| format!("{name} {word} {count} resource instances"));
        all.collect::<Vec<_>>().join(", ")
    };
    let (resources, finalizers) =
        (counted(&remaining.resources, "has"), counted(&remaining.finalizers, "in"));
    let refused: Vec<&str> = remaining.refused.iter().take(NAMED).map(String::as_str).collect();
    let failed = "NamespaceDeletionContentFailure";
    let content = match refused.is_empty() {
        true => Finding::fails(
            failed,
            "ContentDeleted",
            "All content successfully deleted, may be waiting on finalization",
        ),
        false => Finding::holds(
            failed,
            "ContentDeletionFailed",
            format!("Failed to delete content: {}", refused.join("; ")),
        ),
    };
    let held = "NamespaceFinalizersRemaining";
    let held = match finalizers.is_empty() {
        true => Finding::fails(held, "ContentHasNoFinalizers", "All content-preserving finalizers finished"),
        false => Finding::holds(
            held,
            "SomeFinalizersRemain",
            format!("Some content in the namespace has finalizers remaining: {finalizers}"),
        ),
    };
    [
        Finding::fails(
            "NamespaceDeletionDiscoveryFailure",
            "ResourcesDiscovered",
            "All resources successfully discovered",
        ),
        Finding::fails(
            "NamespaceDeletionGroupVersionParsingFailure",
            "ParsedGroupVersions",
            "All legacy kube types successfully parsed",
        ),
        content,
        Finding::holds(
            "NamespaceContentRemaining",
            "SomeResourcesRemain",
            format!("Some resources are remaining: {resources}"),
        ),
        held,
    ]
}
