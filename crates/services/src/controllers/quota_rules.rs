//! The service quota controller: makes the registrations and policies of the quota that a service declares.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use krm::Object;
use krm::condition::Finding;
use krm::kind::{Planes, QueryContext};
use reconcile::context::Context;
use reconcile::plan::{Deletion, Plan, Write};
use reconcile::reconciler::{Reconciler, Scope};
use reconcile::role::Rule;
use reconcile::target::Target;
use serde_json::{Value, json};

use super::{address, read, text};
use crate::kinds::ServiceConfiguration;
use crate::kinds::service_configuration::{KindSelector, MetricRule, QuotaLimit, ServiceQuota};

/// Label of what a configuration makes: its name.
const OF_CONFIGURATION: &str = "services.miloapis.com/service-configuration";

const QUOTA_VERSION: &str = "quota.miloapis.com/v1alpha1";
const REGISTRATIONS: (&str, &str) = ("ResourceRegistration", "resourceregistrations");
const CLAIM_POLICIES: (&str, &str) = ("ClaimCreationPolicy", "claimcreationpolicies");
const GRANT_POLICIES: (&str, &str) = ("GrantCreationPolicy", "grantcreationpolicies");
const MADE: &[&str] = &[REGISTRATIONS.1, CLAIM_POLICIES.1, GRANT_POLICIES.1];

/// Allowances of one grant, at most.
const MOST_ALLOWANCES: usize = 20;

/// Reconciles configurations of services.
pub struct ServiceQuotaController;

impl Reconciler for ServiceQuotaController {
    fn name(&self) -> &'static str {
        "service-quota-controller"
    }

    fn description(&self) -> &'static str {
        "Makes the registrations and policies of the quota that services declare."
    }

    fn scope(&self) -> Scope {
        Scope::of::<ServiceConfiguration>(Planes::Root)
    }

    fn role(&self) -> Vec<Rule> {
        vec![
            Rule::new(crate::QUOTA_GROUP, MADE, &["create", "update", "delete"]),
            Rule::new(crate::GROUP, &["serviceconfigurations/status"], &["update"]),
        ]
    }

    fn plan(&self, target: &Target, object: &Arc<Object>, context: &Context<'_>) -> Plan {
        let mut plan = Plan::nothing();
        let Some(configuration) = read::<ServiceConfiguration>(object) else { return plan };
        if object.is_deleting() {
            return plan;
        }
        let quota = configuration.spec.quota.as_ref().filter(|_| configuration.spec.phase.is_offered());
        let mut declared =
            Declared { configuration: object, context, wanted: Vec::new(), problems: Vec::new() };
        if let Some(quota) = quota {
            declared.registrations(quota, &configuration);
            declared.claim_policies(quota);
            declared.grant_policies(quota);
        }
        let Declared { wanted, mut problems, .. } = declared;
        for (kind, plural) in [GRANT_POLICIES, CLAIM_POLICIES, REGISTRATIONS] {
            let wanted = wanted.iter().filter(|wanted| wanted.kind() == kind);
            let wanted = wanted.map(|wanted| (wanted.name(), wanted)).collect();
            bring_about(&mut plan, object, plural, wanted, &mut problems, context);
        }
        let told = match (quota, problems.is_empty()) {
            (None, _) => Finding::fails("QuotaRegistered", "NotOffered", "No quota is declared and offered"),
            (_, true) => Finding::holds("QuotaRegistered", "Registered", ""),
            (_, false) => Finding::fails("QuotaRegistered", "Incomplete", problems.join("; ")),
        };
        let mut new = Object::clone(object);
        told.tell(&mut new, &context.now().to_string());
        plan.change(&target.plane, object, new);
        plan
    }
}

/// What the quota of a configuration comes to.
struct Declared<'a> {
    configuration: &'a Object,
    context: &'a Context<'a>,
    wanted: Vec<Object>,
    problems: Vec<String>,
}

impl Declared<'_> {
    /// A registration for each metric that has a limit or is costed.
    fn registrations(&mut self, quota: &ServiceQuota, configuration: &ServiceConfiguration) {
        let limited = quota.limits.iter().map(|limit| limit.metric.as_str());
        let costed = quota.metric_rules.iter().flat_map(|rule| rule.metric_costs.keys().map(String::as_str));
        let metrics: BTreeSet<&str> = limited.chain(costed).collect();
        for metric in &metrics {
            let costs = |rule: &&MetricRule| rule.metric_costs.contains_key(*metric);
            let rules: Vec<&MetricRule> = quota.metric_rules.iter().filter(costs).collect();
            if rules.is_empty() {
                self.problems.push(format!("metric {metric:?} has a limit, but no rule costs it"));
                continue;
            }
            let limit = quota.limits.iter().find(|limit| limit.metric == *metric);
            let declared = configuration.spec.metrics.iter().find(|found| found.name == *metric);
            let unit = limit.and_then(|limit| limit.unit.as_deref());
            let unit = unit.or_else(|| declared?.unit.as_deref()).unwrap_or("unit");
            let is_count = rules.iter().all(|rule| rule.metric_costs.get(*metric) == Some(&1));
            let mut spec = json!({
                "resourceType": metric,
                "type": if is_count { "Entity" } else { "Allocation" },
                "consumerType": limit.map_or_else(project, |limit| kind_ref(&limit.consumer_type)),
                "baseUnit": unit, "displayUnit": unit, "unitConversionFactor": 1,
                "claimingResources": rules.iter().map(|rule| kind_ref(&rule.selector)).collect::<Vec<_>>(),
            });
            if let Some(description) = declared.and_then(|declared| declared.description.as_deref()) {
                spec["description"] = description.into();
            }
            let others = metrics.iter().filter(|other| short(other) == short(metric)).count();
            let name = if others > 1 { metric } else { short(metric) };
            self.want(REGISTRATIONS.0, name, spec);
        }
    }

    /// A policy for each kind that costs something.
    fn claim_policies(&mut self, quota: &ServiceQuota) {
        for rule in &quota.metric_rules {
            let KindSelector { api_group: group, kind } = &rule.selector;
            let requests = rule.metric_costs.iter();
            let requests: Vec<Value> =
                requests.map(|(metric, cost)| json!({"resourceType": metric, "amount": cost})).collect();
            let spec = json!({
                "trigger": {"resource": {"apiVersion": self.api_version(group, kind), "kind": kind}},
                "target": {"resourceClaimTemplate": {"metadata": {}, "spec": {"requests": requests}}},
                "whenExceeded": rule.when_exceeded,
                "disabled": false,
            });
            let others = quota.metric_rules.iter().filter(|other| other.selector.kind == *kind).count();
            let name = if others > 1 { format!("{kind}-{group}") } else { kind.clone() };
            self.want(CLAIM_POLICIES.0, &name, spec);
        }
    }

    /// Policies that give new consumers of each kind what the limits say.
    fn grant_policies(&mut self, quota: &ServiceQuota) {
        let mut given: BTreeMap<(&str, &str), Vec<&QuotaLimit>> = BTreeMap::new();
        for limit in quota.limits.iter().filter(|limit| limit.default_limit > 0) {
            let KindSelector { api_group: group, kind } = &limit.consumer_type;
            given.entry((group, kind)).or_default().push(limit);
        }
        for ((group, kind), limits) in given {
            for (number, limits) in limits.chunks(MOST_ALLOWANCES).enumerate() {
                let allowance = |limit: &&QuotaLimit| json!({"resourceType": limit.metric, "buckets": [{"amount": limit.default_limit}]});
                let allowances: Vec<Value> = limits.iter().map(allowance).collect();
                let spec = json!({
                    "trigger": {"resource": {"apiVersion": self.api_version(group, kind), "kind": kind}},
                    "target": {"resourceGrantTemplate": {"metadata": {}, "spec": {"allowances": allowances}}},
                    "disabled": false,
                });
                let name = match number {
                    0 => format!("{kind}-defaults"),
                    _ => format!("{kind}-defaults-{}", number + 1),
                };
                self.want(GRANT_POLICIES.0, &name, spec);
            }
        }
    }

    fn want(&mut self, kind: &str, name: &str, spec: Value) {
        let mut made = Object::new(QUOTA_VERSION, kind);
        let configuration = self.configuration;
        made.set_meta("name", Some(format!("{}-{}", configuration.name(), slug(name)).into()));
        made.set_meta("labels", Some(json!({ OF_CONFIGURATION: configuration.name() })));
        let owner = json!({
            "apiVersion": configuration.api_version(), "kind": configuration.kind(),
            "name": configuration.name(), "uid": configuration.uid(),
        });
        made.set_meta("ownerReferences", Some(json!([owner])));
        made.set("spec", Some(spec));
        self.wanted.push(made);
    }

    /// The version of a kind that is stored. Policies hold for all of them.
    fn api_version(&self, group: &str, kind: &str) -> String {
        let known = self.context.kind(group, kind);
        let version = known.as_ref().map_or("v1", |kind| kind.versions[kind.storage].name.as_str());
        krm::kind::api_version(group, version)
    }
}

/// Creates, changes and deletes what a configuration makes of one kind.
fn bring_about(
    plan: &mut Plan,
    configuration: &Object,
    plural: &'static str,
    wanted: BTreeMap<&str, &Object>,
    problems: &mut Vec<String>,
    context: &Context<'_>,
) {
    let root = context.root();
    let there = root.all(crate::QUOTA_GROUP, plural);
    let is_ours = |found: &Object| found.label(OF_CONFIGURATION) == Some(configuration.name());
    for gone in there.iter().filter(|found| is_ours(found) && !wanted.contains_key(found.name())) {
        let at = address(crate::QUOTA_GROUP, plural, gone.name());
        let deletion = Deletion { uid: Some(gone.uid().to_owned()), ..Deletion::default() };
        plan.write(Write::Delete(Target::new("", at), deletion));
    }
    for (name, wanted) in wanted {
        let resource = text(wanted, "spec.resourceType");
        let has_type = |found: &&Arc<Object>| {
            !resource.is_empty() && text(found, "spec.resourceType") == resource && found.name() != name
        };
        if let Some(other) = there.iter().find(has_type) {
            problems.push(format!("ResourceRegistration {} has the type {resource}", other.name()));
            continue;
        }
        match there.iter().find(|found| found.name() == name) {
            None => plan.write(Write::Create(String::new(), wanted.clone())),
            Some(found) if !is_ours(found) => {
                problems.push(format!("{} {name} exists already, and is not of this service", wanted.kind()));
            }
            Some(found) => {
                let mut new = Object::clone(found);
                let mut spec = wanted.get("spec").cloned().unwrap_or_default();
                // How a resource is counted can't change.
                if let Some(kind) = found.at("spec.type") {
                    spec["type"] = kind.clone();
                }
                new.set("spec", Some(spec));
                plan.change("", found, new);
            }
        }
    }
}

fn project() -> Value {
    json!({"apiGroup": crate::TENANCY_GROUP, "kind": "Project"})
}

fn kind_ref(selector: &KindSelector) -> Value {
    json!({"apiGroup": selector.api_group, "kind": selector.kind})
}

/// The part of the name of a metric after its slash.
fn short(metric: &str) -> &str {
    metric.rsplit('/').next().unwrap_or(metric)
}

/// A text as a part of a name of an object.
fn slug(text: &str) -> String {
    let sign = |sign: char| if sign.is_ascii_alphanumeric() { sign.to_ascii_lowercase() } else { '-' };
    let slug: String = text.chars().map(sign).collect();
    slug.trim_matches('-').to_owned()
}
