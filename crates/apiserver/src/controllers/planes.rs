//! Deletion of control planes: deletes everything in them first, and reports what remains.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use krm::Object;
use krm::condition::Finding;
use krm::kind::Planes;
use reconcile::context::Context;
use reconcile::plan::{Deletion, Plan, Propagation, Write};
use reconcile::reconciler::{Changed, Freshness, Reconciler, Scope};
use reconcile::role::Rule;
use reconcile::target::Target;
use reconcile::workers::Settings;
use serde_json::Value;

use crate::definitions;
use crate::plane::PlaneKind;
use crate::planes::FINALIZER;

/// Objects that one plan removes, at most.
const MOST: usize = 10_000;
/// Pause before it is looked again what remains.
const PAUSE: Duration = Duration::from_millis(500);
/// Finalizers of the garbage collector; in a plane that goes there is nothing to wait for.
const OF_GARBAGE: [&str; 2] = ["foregroundDeletion", "orphan"];

/// Empties the control planes of objects that are being deleted, and lets the objects go. The module that declares their kind
/// brings it.
pub struct PlaneController {
    /// Its name.
    pub name: &'static str,
    /// What it does, in a sentence.
    pub description: &'static str,
    /// The kind whose objects have control planes.
    pub planes: PlaneKind,
    /// What it writes: the plural of that kind, and its status.
    pub writes: &'static [&'static str],
}

impl Reconciler for PlaneController {
    fn name(&self) -> &'static str {
        self.name
    }

    fn description(&self) -> &'static str {
        self.description
    }

    fn scope(&self) -> Scope {
        Scope::resource(self.planes.group, self.planes.plural, Planes::Root)
    }

    fn role(&self) -> Vec<Rule> {
        vec![
            Rule::new("*", &["*"], &["get", "delete"]),
            Rule::new(self.planes.group, self.writes, &["update"]),
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

    fn plan(&self, target: &Target, project: &Arc<Object>, context: &Context<'_>) -> Plan {
        let mut plan = Plan::nothing();
        if !project.is_deleting() || !project.finalizers().contains(&FINALIZER) {
            return plan;
        }
        let mut left = Left::default();
        let content = context.in_plane(project.name());
        let has_content = !content.is_empty();
        // While anything is there of a kind, so is its definition: what an object holds elsewhere is released by its kind.
        let only_definitions = content.iter().all(is_definition);
        for object in content.into_iter().filter(|object| only_definitions || !is_definition(object)) {
            if plan.independent.len() == MOST {
                break;
            }
            let metadata = context.listed(&object).unwrap_or_default();
            if !has_to_wait(&metadata) {
                // All of it goes, so it does not matter who refers to whom.
                plan.independent.push(Write::Purge(object));
                continue;
            }
            left.add(&object, &metadata);
            if metadata.is_deleting() {
                continue;
            }
            let is_served = context.resource(&object.plane, &object.at.group, &object.at.plural).is_some();
            plan.independent.push(match is_served {
                true => {
                    let how = Deletion { propagation: Propagation::Background, ..Deletion::default() };
                    Write::Delete(object, how)
                }
                // No controller is left that would remove the finalizer.
                false => Write::Purge(object),
            });
        }
        if !has_content {
            let mut rest = Object::clone(project);
            let kept = project.finalizers().into_iter().filter(|finalizer| *finalizer != FINALIZER);
            rest.set_finalizers(kept.map(str::to_owned).collect());
            plan.write(Write::Update(target.plane.clone(), rest));
            return plan;
        }
        let waiting = left.told();
        if let Some(told) = &waiting {
            let now = context.now().to_string();
            let mut new = Object::clone(project);
            let deleting = format!("{} is being deleted", self.planes.kind);
            Finding::fails("Ready", "Deleting", deleting).tell(&mut new, &now);
            Finding::fails("ResourceCleanup", "CleanupAwaitingCompletion", told.as_str())
                .tell(&mut new, &now);
            plan.change(&target.plane, project, new);
        }
        plan.again_after(PAUSE);
        Plan { waiting, ..plan }
    }
}

/// What is left of a plane.
#[derive(Default)]
struct Left {
    /// How many objects of each resource.
    resources: BTreeMap<String, usize>,
    /// What they wait for.
    finalizers: BTreeSet<String>,
}

impl Left {
    fn add(&mut self, target: &Target, object: &Object) {
        let resource =
            krm::status::Subject::new(target.at.group.clone(), target.at.plural.clone()).to_string();
        *self.resources.entry(resource).or_default() += 1;
        self.finalizers.extend(object.finalizers().into_iter().map(str::to_owned));
    }

    /// What is left, for people; nothing when nothing is.
    fn told(&self) -> Option<String> {
        let count: usize = self.resources.values().sum();
        let listed: Vec<String> =
            self.resources.iter().map(|(resource, count)| format!("{count} of {resource}")).collect();
        let finalizers: Vec<&str> = self.finalizers.iter().map(String::as_str).collect();
        let objects = if count == 1 { "object" } else { "objects" };
        let waiting = format!("waiting for finalizers {}", finalizers.join(", "));
        (count > 0).then(|| format!("{count} {objects} remaining: {}; {waiting}", listed.join(", ")))
    }
}

fn is_definition(object: &Target) -> bool {
    object.at.group == definitions::GROUP && object.at.plural == definitions::PLURAL
}

fn has_to_wait(object: &Object) -> bool {
    object.finalizers().iter().any(|finalizer| !OF_GARBAGE.contains(finalizer))
        && object.at("metadata.finalizers").is_some_and(Value::is_array)
}
