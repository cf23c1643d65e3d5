//! What a definition declares, read once for all who ask.

use std::cmp::Ordering;

use serde_json::Value;

use super::shape::{Malformed, decode};
use super::spec::{self, flag, given, text, texts};
use crate::Object;

/// A kind as its definition declares it.
#[derive(Debug, Clone, PartialEq)]
pub struct Definition {
    /// The group the kind is in.
    pub group: String,
    /// What it wants to be called.
    pub names: Names,
    /// What it may be called, by its status: this is what is served.
    pub accepted_names: Names,
    /// Whether its objects are in namespaces.
    pub scope: Scope,
    /// Its versions, as they are written.
    pub versions: Vec<Version>,
    /// How objects get from one version to another.
    pub conversion: Conversion,
    /// Whether fields that no schema knows are kept.
    pub preserve_unknown_fields: bool,
    /// Versions that objects may be stored in.
    pub stored_versions: Vec<String>,
}

/// What a kind is called.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Names {
    /// In paths: `widgets`.
    pub plural: String,
    /// `widget`.
    pub singular: String,
    /// `Widget`.
    pub kind: String,
    /// `WidgetList`.
    pub list_kind: String,
    /// For short: `wd`.
    pub short_names: Vec<String>,
    /// What it is listed with: `all`.
    pub categories: Vec<String>,
}

/// Whether objects are in namespaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// They are.
    Namespaced,
    /// They are not.
    Cluster,
}

/// How objects get from one version to another.
#[derive(Debug, Clone, PartialEq)]
pub enum Conversion {
    /// Only their `apiVersion` changes.
    None,
    /// A webhook converts them; this is its configuration.
    Webhook(Value),
}

/// One version of a kind.
#[derive(Debug, Clone, PartialEq)]
pub struct Version {
    /// `v1`.
    pub name: String,
    /// Whether it can be asked for.
    pub served: bool,
    /// Whether objects are stored in it.
    pub storage: bool,
    /// What its users are warned with, when it is deprecated.
    pub deprecation_warning: Option<String>,
    /// Its `openAPIV3Schema`.
    pub schema: Option<Value>,
    /// Whether its status is written apart.
    pub has_status: bool,
    /// Where scale finds its numbers, when it can be scaled.
    pub scale: Option<Scale>,
    /// Columns that are printed.
    pub columns: Vec<Column>,
    /// Fields that a field selector may name, as paths such as `.spec.color`.
    pub selectable_fields: Vec<String>,
}

/// Where scale finds its numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scale {
    /// How many are wanted.
    pub spec_replicas_path: String,
    /// How many there are.
    pub status_replicas_path: String,
    /// Which they are.
    pub label_selector_path: Option<String>,
}

/// A column that is printed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// Its head.
    pub name: String,
    /// `string`, `integer`, `number`, `boolean` or `date`.
    pub kind: String,
    /// The OpenAPI format of its values.
    pub format: String,
    /// What it shows.
    pub description: String,
    /// 0 for columns that are always printed.
    pub priority: i64,
    /// Where its values stand.
    pub json_path: String,
}

impl Definition {
    /// Reads a definition.
    pub fn parse(object: &Object) -> Result<Definition, Malformed> {
        let mut object = object.clone();
        decode(&mut object)?;
        super::default(&mut object);
        let empty = Value::Null;
        let spec = object.get("spec").unwrap_or(&empty);
        let status = object.get("status").unwrap_or(&empty);
        let group = text(spec, "group");
        let names = spec.get("names").map(Names::read).unwrap_or_default();
        let versions = spec.get("versions").and_then(Value::as_array).into_iter().flatten();
        let conversion = given(spec, "conversion").filter(|it| text(it, "strategy") == "Webhook");
        let webhook = conversion.map(|it| it.get("webhook").cloned().unwrap_or_default());
        Ok(Definition {
            group: group.to_owned(),
            versions: versions
                .clone()
                .map(|version| {
                    Version::read(version, group, &names.kind, newer(versions.clone(), text(version, "name")))
                })
                .collect(),
            names,
            accepted_names: status.get("acceptedNames").map(Names::read).unwrap_or_default(),
            scope: if text(spec, "scope") == "Cluster" { Scope::Cluster } else { Scope::Namespaced },
            conversion: webhook.map_or(Conversion::None, Conversion::Webhook),
            preserve_unknown_fields: flag(spec, "preserveUnknownFields"),
            stored_versions: owned(texts(status, "storedVersions")),
        })
    }

    /// A version by its name.
    pub fn version(&self, name: &str) -> Option<&Version> {
        self.versions.iter().find(|version| version.name == name)
    }

    /// The version that objects are stored in.
    pub fn storage_version(&self) -> Option<&Version> {
        self.versions.iter().find(|version| version.storage)
    }

    /// The served versions, the preferred one first: stable ones before betas and alphas, later ones before earlier.
    pub fn served_versions(&self) -> Vec<&Version> {
        let mut served: Vec<&Version> = self.versions.iter().filter(|version| version.served).collect();
        served.sort_by(|a, b| compare_versions(&b.name, &a.name));
        served
    }
}

/// The most mature version that users of an old one can turn to: served, not deprecated itself, and more mature.
fn newer<'a>(versions: impl Iterator<Item = &'a Value>, old: &str) -> Option<&'a str> {
    let usable = versions.filter(|version| flag(version, "served") && !flag(version, "deprecated"));
    let names = usable.map(|version| text(version, "name"));
    names.filter(|name| compare_versions(old, name).is_lt()).max_by(|a, b| compare_versions(a, b))
}

impl Names {
    pub(super) fn read(value: &Value) -> Names {
        let names = spec::Names::read(value);
        Names {
            plural: names.plural.to_owned(),
            singular: names.singular.to_owned(),
            kind: names.kind.to_owned(),
            list_kind: names.list_kind.to_owned(),
            short_names: owned(names.short_names),
            categories: owned(names.categories),
        }
    }
}

impl Version {
    fn read(value: &Value, group: &str, kind: &str, newer: Option<&str>) -> Version {
        let name = text(value, "name");
        let subresources = given(value, "subresources").map(spec::Subresources::read);
        let warning = flag(value, "deprecated").then(|| {
            let own = value.get("deprecationWarning").and_then(Value::as_str);
            let usual = || {
                let instead = newer.map(|newer| format!("; use {group}/{newer} {kind}")).unwrap_or_default();
                format!("{group}/{name} {kind} is deprecated{instead}")
            };
            own.map_or_else(usual, ToOwned::to_owned)
        });
        let list = |field: &str| value.get(field).and_then(Value::as_array).into_iter().flatten();
        Version {
            name: name.to_owned(),
            served: flag(value, "served"),
            storage: flag(value, "storage"),
            deprecation_warning: warning,
            schema: given(value, "schema").and_then(|it| given(it, "openAPIV3Schema")).cloned(),
            has_status: subresources.as_ref().is_some_and(|it| it.status),
            scale: subresources.and_then(|it| it.scale).map(|scale| Scale {
                spec_replicas_path: scale.spec_replicas.to_owned(),
                status_replicas_path: scale.status_replicas.to_owned(),
                label_selector_path: scale.label_selector.map(ToOwned::to_owned),
            }),
            columns: list("additionalPrinterColumns").map(Column::read).collect(),
            selectable_fields: list("selectableFields").map(|it| text(it, "jsonPath").to_owned()).collect(),
        }
    }
}

impl Column {
    fn read(value: &Value) -> Column {
        let column = spec::Column::read(value);
        Column {
            name: column.name.to_owned(),
            kind: column.kind.to_owned(),
            format: column.format.to_owned(),
            description: column.description.to_owned(),
            priority: column.priority,
            json_path: column.json_path.to_owned(),
        }
    }
}

/// Orders versions as Kubernetes prefers them, the least preferred first: `foo1` < `v1alpha1` < `v1beta1` < `v1` < `v2`.
pub fn compare_versions(a: &str, b: &str) -> Ordering {
    match (rank(a), rank(b)) {
        (Some(a), Some(b)) => a.cmp(&b),
        (Some(_), None) => Ordering::Greater,
        (None, Some(_)) => Ordering::Less,
        // Names that are no versions come in the order of the alphabet.
        (None, None) => b.cmp(a),
    }
}

/// How stable, which major, which minor.
fn rank(version: &str) -> Option<(u8, u64, u64)> {
    let rest = version.strip_prefix('v')?;
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let (major, rest) = rest.split_at(digits);
    let major = number(major)?;
    if rest.is_empty() {
        return Some((2, major, 0));
    }
    let (stability, minor) = match (rest.strip_prefix("alpha"), rest.strip_prefix("beta")) {
        (Some(minor), _) => (0, minor),
        (None, Some(minor)) => (1, minor),
        (None, None) => return None,
    };
    Some((stability, major, number(minor)?))
}

/// A number as versions write them: no zero in front.
fn number(digits: &str) -> Option<u64> {
    let starts_well = digits.bytes().next().is_some_and(|byte| (b'1'..=b'9').contains(&byte));
    if starts_well && digits.bytes().all(|byte| byte.is_ascii_digit()) { digits.parse().ok() } else { None }
}

fn owned(texts: Vec<&str>) -> Vec<String> {
    texts.into_iter().map(ToOwned::to_owned).collect()
}
