//! ServiceConfiguration: where a service runs, what it measures, and what its kinds cost.

use std::collections::{BTreeMap, BTreeSet};

use krm::condition::Condition;
use krm::field::{FieldError, Path};
use krm::kind::{Change, Declaration, Metadata, Planes, Reference, Resource};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::service::{Phase, phase_goes_forward};
use super::{NameRef, Service};

/// Configuration of a service: the classes of locations that it supports, the metrics that it declares, and the quota that
/// its kinds use.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ServiceConfiguration {
    /// Standard object metadata.
    pub metadata: Metadata,
    /// Specification of the configuration. Set by the operators of the platform.
    pub spec: ServiceConfigurationSpec,
    /// Observed state of the configuration. Set by the service controllers; read-only for users.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<ServiceConfigurationStatus>,
}

/// Observed state of the configuration of a service.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct ServiceConfigurationStatus {
    /// `QuotaRegistered` is `True` while everything that `spec.quota` declares is registered. Its message names what is not.
    #[serde(default)]
    pub conditions: Vec<Condition>,
}

/// Specification of the configuration of a service.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ServiceConfigurationSpec {
    /// The Service. Immutable.
    pub service_ref: NameRef,
    /// Lifecycle phase. It only goes forward: `Draft`, `Published`, `Deprecated`, `Retired`.
    pub phase: Phase,
    /// Where the service can run.
    #[serde(default)]
    pub locations: ServiceLocations,
    /// Metrics that the service declares.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 100))]
    pub metrics: Vec<Metric>,
    /// Which metrics are billed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub billing: Option<Billing>,
    /// Quota of the service.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quota: Option<ServiceQuota>,
}

/// Where a service can run.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ServiceLocations {
    /// Classes of locations that the service supports, such as `datum-managed`. Without any, it is available nowhere.
    #[serde(default)]
    #[schemars(length(max = 10), inner(length(min = 1, max = 63)))]
    pub supported_classes: Vec<String>,
}

/// A metric of a service.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Metric {
    /// Name of the metric, such as `compute.datumapis.com/instances`. Unique in the configuration.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
    /// Name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 253))]
    pub display_name: Option<String>,
    /// What the metric measures, in a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1024))]
    pub description: Option<String>,
    /// Unit of the metric.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 63))]
    pub unit: Option<String>,
}

/// Which metrics of a service are billed.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Billing {
    /// Names of the billed metrics. Each must be declared in `metrics`.
    #[serde(default)]
    #[schemars(length(max = 100), inner(length(min = 1, max = 253)))]
    pub consumer_metrics: Vec<String>,
}

/// Quota of a service. While the configuration is published or deprecated, the server keeps a ResourceRegistration for each
/// metric in it, a ClaimCreationPolicy for each rule and GrantCreationPolicies for the default limits.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ServiceQuota {
    /// What the kinds of the service cost. One rule for each kind.
    #[serde(default)]
    #[schemars(length(max = 100))]
    pub metric_rules: Vec<MetricRule>,
    /// Limits of the metrics, with what a new consumer gets. One for each metric.
    #[serde(default)]
    #[schemars(length(max = 100))]
    pub limits: Vec<QuotaLimit>,
}

/// What a kind costs.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MetricRule {
    /// The kind.
    pub selector: KindSelector,
    /// How much of each metric an object takes, by the name of the metric. Each must be declared in `metrics`.
    #[schemars(length(min = 1, max = 20))]
    pub metric_costs: BTreeMap<String, u64>,
    /// What happens to a new object if there is no room: with `Refuse`, it is not created (403); with `Wait`, it is created and
    /// its claim waits. Defaults to `Refuse`.
    #[serde(default)]
    pub when_exceeded: WhenExceeded,
}

/// What happens if there is no room for an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub enum WhenExceeded {
    /// The object is not created.
    #[default]
    Refuse,
    /// The claim of the object waits.
    Wait,
}

/// A kind by its group and name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KindSelector {
    /// API group of the kind.
    #[schemars(length(max = 253))]
    pub api_group: String,
    /// Name of the kind.
    #[schemars(length(min = 1, max = 63))]
    pub kind: String,
}

/// A limit on a metric.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct QuotaLimit {
    /// Name of the limit.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
    /// The limited metric. It must be declared in `metrics`.
    #[schemars(length(min = 1, max = 253))]
    pub metric: String,
    /// Whom the limit holds for: each Project or each Organization. Immutable.
    pub consumer_type: KindSelector,
    /// Unit of the limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 63))]
    pub unit: Option<String>,
    /// What a new consumer gets.
    #[serde(default)]
    pub default_limit: u64,
}

impl Resource for ServiceConfiguration {
    const GROUP: &'static str = crate::GROUP;
    const VERSION: &'static str = crate::VERSION;
    const KIND: &'static str = "ServiceConfiguration";
    const PLURAL: &'static str = "serviceconfigurations";

    fn declare() -> Declaration<ServiceConfiguration> {
        Declaration::cluster()
            .planes(Planes::Root)
            .status()
            .refers(Reference::to::<Service>("spec.serviceRef.name").immutable())
            .selects(&["spec.serviceRef.name"])
            .prints("Service", "string", ".spec.serviceRef.name")
            .prints("Phase", "string", ".spec.phase")
            .prints("Classes", "string", ".spec.locations.supportedClasses")
            .prints_wide("Quota", "string", r#".status.conditions[?(@.type=="QuotaRegistered")].status"#)
            .prints_age()
            .validate(names_declared_metrics)
            .validate(limits_each_metric_once)
            .validate(goes_forward)
    }
}

fn goes_forward(change: &Change<ServiceConfiguration>) -> Vec<FieldError> {
    let (Some(before), Some(after)) = (change.before(), change.after()) else { return Vec::new() };
    phase_goes_forward(before.spec.phase, after.spec.phase)
}

/// A metric has one limit, and a kind one rule. Whom a limit holds for stays.
fn limits_each_metric_once(change: &Change<ServiceConfiguration>) -> Vec<FieldError> {
    let quota = |configuration: &ServiceConfiguration| configuration.spec.quota.clone().unwrap_or_default();
    let Some(new) = change.after().map(quota) else { return Vec::new() };
    let old = change.before().map(quota).unwrap_or_default();
    let spec = Path::of("spec");
    let at = spec.field("quota");
    let (rules, limits) = (at.field("metricRules"), at.field("limits"));
    let mut errors = Vec::new();
    for (index, rule) in new.metric_rules.iter().enumerate() {
        if new.metric_rules[..index].iter().any(|other| other.selector == rule.selector) {
            errors.push(FieldError::duplicate(&rules.index(index).field("selector"), &json!(rule.selector)));
        }
    }
    for (index, limit) in new.limits.iter().enumerate() {
        let limit_at = limits.index(index);
        if new.limits[..index].iter().any(|other| other.metric == limit.metric) {
            errors.push(FieldError::duplicate(&limit_at.field("metric"), &json!(limit.metric)));
        }
        let before = old.limits.iter().find(|before| before.metric == limit.metric);
        if before.is_some_and(|before| before.consumer_type != limit.consumer_type) {
            let why = "whom the limit of a metric holds for can't change";
            let field = limit_at.field("consumerType");
            errors.push(FieldError::invalid(&field, &json!(limit.consumer_type), why));
        }
    }
    errors
}

/// Whatever names a metric names a declared one.
fn names_declared_metrics(change: &Change<ServiceConfiguration>) -> Vec<FieldError> {
    let Some(configuration) = change.after() else { return Vec::new() };
    let (spec, at) = (&configuration.spec, Path::of("spec"));
    let mut errors = Vec::new();
    let mut declared = BTreeSet::new();
    let metrics = at.field("metrics");
    for (index, metric) in spec.metrics.iter().enumerate() {
        if !declared.insert(metric.name.as_str()) {
            errors.push(FieldError::duplicate(&metrics.index(index).field("name"), &json!(metric.name)));
        }
    }
    let check = |name: &str, at: &Path<'_>| {
        let why = "must be the name of a metric in spec.metrics";
        (!declared.contains(name)).then(|| FieldError::invalid(at, &json!(name), why))
    };
    let billing = at.field("billing");
    let billed = billing.field("consumerMetrics");
    let names = spec.billing.iter().flat_map(|billing| &billing.consumer_metrics);
    errors.extend(names.enumerate().filter_map(|(index, name)| check(name, &billed.index(index))));
    let Some(quota) = &spec.quota else { return errors };
    let at = at.field("quota");
    let rules = at.field("metricRules");
    for (index, rule) in quota.metric_rules.iter().enumerate() {
        let rule_at = rules.index(index);
        let costs = rule_at.field("metricCosts");
        errors.extend(rule.metric_costs.keys().filter_map(|name| check(name, &costs.key(name))));
    }
    let limits = at.field("limits");
    for (index, limit) in quota.limits.iter().enumerate() {
        let limit_at = limits.index(index);
        errors.extend(check(&limit.metric, &limit_at.field("metric")));
    }
    errors
}
