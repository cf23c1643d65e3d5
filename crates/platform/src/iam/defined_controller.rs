//! Creates the ProtectedResources and roles of custom resources as objects.

use std::collections::BTreeSet;
use std::sync::Arc;

use apiserver::definitions::{GROUP as DEFINITIONS, PLURAL};
use krm::Object;
use krm::kind::{Kind, Origin, Planes, QueryContext};
use reconcile::context::Context;
use reconcile::plan::{Deletion, Plan, Write};
use reconcile::reconciler::{Reconciler, Scope};
use reconcile::role::Rule;
use reconcile::target::Target;
use serde_json::Value;

use super::roles::SYSTEM_NAMESPACE;
use super::{GROUP, shipped};

/// On what is made for a definition, what it is made for: the definition, or the group.
const MADE_FOR: &str = "iam.miloapis.com/made-for";

/// Reconciles the objects created for custom resources.
pub struct DefinedController;

impl DefinedController {
    /// Its name.
    pub const NAME: &'static str = "iam-definitions-controller";
}

impl Reconciler for DefinedController {
    fn name(&self) -> &'static str {
        DefinedController::NAME
    }

    fn description(&self) -> &'static str {
        "Maintains roles and ProtectedResources for kinds that users define."
    }

    fn scope(&self) -> Scope {
        Scope::resource(DEFINITIONS, PLURAL, Planes::Both)
    }

    /// A kind is served once its definition says so in its status.
    fn depends_on(&self) -> reconcile::reconciler::DependsOn {
        reconcile::reconciler::DependsOn::Everything
    }

    fn role(&self) -> Vec<Rule> {
        vec![
            Rule::new(GROUP, &["protectedresources"], &["patch", "delete"]),
            // The roles of a kind grant what is done with it, which this controller itself does not do.
            Rule::new(GROUP, &["roles"], &["patch", "delete", "escalate"]),
            Rule::new("", &["namespaces"], &["create"]),
        ]
    }

    fn plan(&self, target: &Target, _: &Arc<Object>, context: &Context<'_>) -> Plan {
        self.plan_absent(target, context)
    }

    /// What is made for a definition goes with it.
    fn plan_absent(&self, target: &Target, context: &Context<'_>) -> Plan {
        let mut plan = Plan::nothing();
        if !takes_content(target, context) {
            return plan;
        }
        let group = target.at.name.split_once('.').map_or("", |(_, group)| group);
        let all: Vec<Arc<Kind>> = context.kinds().into_iter().filter(|kind| kind.group == group).collect();
        let defined: Vec<&Kind> =
            all.iter().map(|kind| &**kind).filter(|kind| kind.origin != Origin::BuiltIn).collect();
        let mut wanted: Vec<Object> = Vec::new();
        for kind in &defined {
            let Origin::Custom { definition, .. } = &kind.origin else { continue };
            wanted.push(made_for(shipped::protected_resource(kind), definition));
        }
        // Where kinds of the group ship, so do its roles; what is defined counts beside them.
        if !defined.is_empty() && defined.len() == all.len() {
            wanted.extend(shipped::roles_of(group, &defined).into_iter().map(|role| made_for(role, group)));
        }
        if !wanted.is_empty() && !target.plane.is_empty() {
            plan.writes.extend(furnish(target, context));
        }
        for object in &wanted {
            let plural = if object.kind() == "Role" { "roles" } else { "protectedresources" };
            let existing = context.here().get(&address(plural, object));
            if existing.is_none_or(|existing| existing.get("spec") != object.get("spec")) {
                plan.write(Write::Apply(target.plane.clone(), object.clone()));
            }
        }
        sweep(target, context, group, &wanted, &mut plan);
        plan
    }
}

/// Whether the plane of the definition exists and is not being deleted.
fn takes_content(target: &Target, context: &Context<'_>) -> bool {
    if target.plane.is_empty() {
        return true;
    }
    let project = crate::tenancy::project_address(&target.plane);
    context.metadata(&Target::new("", project)).is_some_and(|project| !project.is_deleting())
}

/// Roles of the system are in its namespace, in a project too.
fn furnish(target: &Target, context: &Context<'_>) -> Option<Write> {
    let mut namespace = Object::new("v1", "Namespace");
    namespace.set_meta("name", Some(SYSTEM_NAMESPACE.into()));
    let at = krm::kind::Address {
        group: String::new(),
        plural: "namespaces".to_owned(),
        namespace: String::new(),
        name: SYSTEM_NAMESPACE.to_owned(),
    };
    let is_there = context.metadata(&Target::new(target.plane.clone(), at)).is_some();
    (!is_there).then(|| Write::Create(target.plane.clone(), namespace))
}

/// Removes what was made for kinds of the group that are no longer there.
fn sweep(target: &Target, context: &Context<'_>, group: &str, wanted: &[Object], plan: &mut Plan) {
    let kept: BTreeSet<(&str, &str)> = wanted.iter().map(|object| (object.kind(), object.name())).collect();
    for plural in ["protectedresources", "roles"] {
        for made in context.world().of_kind(&target.plane, GROUP, plural) {
            let Some(object) = context.listed(&made) else { continue };
            let kind = if plural == "roles" { "Role" } else { "ProtectedResource" };
            let of = object.annotation(MADE_FOR).unwrap_or_default();
            let is_of_group = of == group || of.split_once('.').is_some_and(|(_, of)| of == group);
            if is_of_group && !kept.contains(&(kind, object.name())) {
                plan.independent.push(Write::Delete(made, Deletion::default()));
            }
        }
    }
}

fn address(plural: &str, object: &Object) -> krm::kind::Address {
    krm::kind::Address {
        group: GROUP.to_owned(),
        plural: plural.to_owned(),
        namespace: object.namespace().to_owned(),
        name: object.name().to_owned(),
    }
}

fn made_for(mut object: Object, what: &str) -> Object {
    let mut notes = object.meta("annotations").and_then(Value::as_object).cloned().unwrap_or_default();
    notes.insert(MADE_FOR.to_owned(), what.into());
    object.set_meta("annotations", Some(notes.into()));
    object
}
