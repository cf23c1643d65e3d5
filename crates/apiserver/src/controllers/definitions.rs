//! CustomResourceDefinitions: accepts names, establishes them, and deletes custom resources with their
//! definition.

use std::sync::Arc;
use std::time::Duration;

use krm::Object;
use krm::crd;
use krm::kind::{Planes, QueryContext};
use reconcile::context::Context;
use reconcile::plan::{Deletion, Guard, Plan, Write};
use reconcile::reconciler::{Freshness, Reconciler, Scope};
use reconcile::role::Rule;
use reconcile::target::Target;
use reconcile::workers::Settings;
use serde_json::Value;

use crate::definitions::{GROUP, OF_GROUP, PLURAL};

/// Objects that one plan deletes, at most.
const MOST: usize = 10_000;
/// Pause before a deletion that was refused is tried again.
const PAUSE: Duration = Duration::from_secs(1);

/// Gives definitions their names, says that they are served, and empties those that are being deleted.
pub struct DefinitionController;

impl DefinitionController {
    /// Its name.
    pub const NAME: &'static str = "definition-controller";
}

impl Reconciler for DefinitionController {
    fn name(&self) -> &'static str {
        DefinitionController::NAME
    }

    fn description(&self) -> &'static str {
        "Serves CustomResourceDefinitions, and deletes custom resources with their definition."
    }

    /// The field manager that clients expect for definitions.
    fn manager(&self) -> &'static str {
        "kube-apiserver"
    }

    fn is_awaited(&self) -> bool {
        true
    }

    fn scope(&self) -> Scope {
        Scope::resource(GROUP, PLURAL, Planes::Both)
    }

    fn role(&self) -> Vec<Rule> {
        vec![
            Rule::new(GROUP, &["customresourcedefinitions", "customresourcedefinitions/status"], &["update"]),
            Rule::new("*", &["*"], &["get", "delete"]),
        ]
    }

    fn settings(&self) -> Settings {
        // One at a time: two that want the same names would only make each other plan again.
        Settings { workers: 1, deadline: Duration::from_secs(300), ..Settings::new(self.name()) }
    }

    fn freshness(&self) -> Freshness {
        Freshness::Current
    }

    fn plan(&self, target: &Target, definition: &Arc<Object>, context: &Context<'_>) -> Plan {
        match definition.is_deleting() {
            true => let_go(target, definition, context),
            false => establish(target, definition, context),
        }
    }
}

fn establish(target: &Target, definition: &Arc<Object>, context: &Context<'_>) -> Plan {
    let now = context.now().to_string();
    let group = text(definition, "spec.group");
    let others = context.here().bucket(OF_GROUP, group);
    // This runs on every server: two that want the same names must not be given them by two servers at once.
    let undisputed = Guard::bucket(&target.plane, OF_GROUP, group, &others);
    let others: Vec<Object> = others.iter().map(|other| Object::clone(other)).collect();
    let taken = crd::TakenNames::of(&others);
    let mut new = Object::clone(definition);
    if let Some(approval) = crd::approval_condition(&new).filter(|it| !it.is_said_by(&new)) {
        crd::set_condition(&mut new, &approval, &now);
    }
    crd::accept_names(&mut new, &taken, &now);
    crd::establish(&mut new, &now);
    let mut plan = Plan::nothing();
    plan.change(&target.plane, definition, new);
    plan.guards.push(undisputed);
    plan
}

/// Deletes the objects of a definition that is being deleted, then lets it go.
fn let_go(target: &Target, definition: &Arc<Object>, context: &Context<'_>) -> Plan {
    let mut plan = Plan::nothing();
    if !definition.finalizers().contains(&crd::CLEANUP_FINALIZER) {
        return plan;
    }
    let now = context.now().to_string();
    let say = |condition: &crd::Condition| {
        let mut new = Object::clone(definition);
        crd::set_condition(&mut new, condition, &now);
        Write::Status(target.plane.clone(), new)
    };
    let was_established = crd::is_true(definition, "Established");
    if was_established && crd::terminating().is_said_by(definition) {
        // It could take a while. Nothing new is made once it says so.
        plan.write(say(&crd::deleting_instances()));
        plan.again_after(Duration::ZERO);
        return plan;
    }
    let (group, plural) = (text(definition, "spec.group"), text(definition, "spec.names.plural"));
    let is_served = context.resource(&target.plane, group, plural).is_some();
    let instances = if is_served { context.of_kind(group, plural) } else { Vec::new() };
    if let Some(first) = context.refused().first() {
        let failed = crd::instances_not_deleted(&first.status.message);
        if !failed.is_said_by(definition) {
            plan.write(say(&failed));
        }
        plan.again_after(PAUSE);
        return plan.waiting_for(first.status.message.clone());
    }
    let remaining = instances.len();
    for instance in instances.into_iter().take(MOST) {
        if context.listed(&instance).is_some_and(|metadata| !metadata.is_deleting()) {
            plan.independent.push(Write::Delete(instance, Deletion::default()));
        }
    }
    if remaining > 0 {
        // The change of the last of them brings it back here.
        return plan.waiting_for(format!("{remaining} custom resources to be deleted"));
    }
    let keep = definition.finalizers().into_iter().filter(|finalizer| *finalizer != crd::CLEANUP_FINALIZER);
    let keep: Vec<String> = keep.map(str::to_owned).collect();
    let done = crd::instances_deleted(was_established);
    // Whoever still holds it should see that this part is done.
    if !keep.is_empty() && !done.is_said_by(definition) {
        plan.write(say(&done));
        plan.again_after(Duration::ZERO);
        return plan;
    }
    let mut rest = Object::clone(definition);
    rest.set_finalizers(keep);
    plan.write(Write::Update(target.plane.clone(), rest));
    plan
}

fn text<'a>(object: &'a Object, path: &str) -> &'a str {
    object.at(path).and_then(Value::as_str).unwrap_or_default()
}
