//! A definition's spec, read, with what all its versions share moved to the top.
//!
//! Kubernetes checks definitions in this form, so its messages name fields that nobody wrote:
//! `spec.validation.openAPIV3Schema` for a schema that is the same in every version.

use serde_json::Value;

use super::json_schema::JsonSchema;
use crate::Object;

/// The spec of a definition.
#[derive(Debug, Default)]
pub(super) struct Spec<'a> {
    pub group: &'a str,
    pub scope: &'a str,
    pub names: Names<'a>,
    /// `None` when the list is not given at all, which messages show.
    pub versions: Option<Vec<Version<'a>>>,
    /// What all versions share.
    pub shared: PerVersion<'a>,
    pub conversion: Option<Conversion<'a>>,
    pub preserve_unknown: bool,
}

#[derive(Debug, Default, PartialEq)]
pub(super) struct Names<'a> {
    pub plural: &'a str,
    pub singular: &'a str,
    pub kind: &'a str,
    pub list_kind: &'a str,
    pub short_names: Vec<&'a str>,
    pub categories: Vec<&'a str>,
}

#[derive(Debug)]
pub(super) struct Version<'a> {
    pub name: &'a str,
    pub served: bool,
    pub storage: bool,
    pub deprecated: bool,
    pub deprecation_warning: Option<&'a str>,
    pub own: PerVersion<'a>,
}

/// What a version may have for itself.
#[derive(Debug, Default)]
pub(super) struct PerVersion<'a> {
    pub validation: Option<Validation<'a>>,
    pub subresources: Option<Subresources<'a>>,
    pub columns: Vec<Column<'a>>,
    pub selectable: Vec<&'a str>,
}

#[derive(Debug)]
pub(super) struct Validation<'a> {
    pub schema: Option<JsonSchema<'a>>,
    /// The schema as it is written.
    pub raw: Option<&'a Value>,
}

#[derive(Debug, Clone)]
pub(super) struct Subresources<'a> {
    pub status: bool,
    pub scale: Option<Scale<'a>>,
}

#[derive(Debug, Clone)]
pub(super) struct Scale<'a> {
    pub spec_replicas: &'a str,
    pub status_replicas: &'a str,
    pub label_selector: Option<&'a str>,
}

#[derive(Debug, Clone)]
pub(super) struct Column<'a> {
    pub name: &'a str,
    pub kind: &'a str,
    pub format: &'a str,
    pub description: &'a str,
    pub priority: i64,
    pub json_path: &'a str,
}

#[derive(Debug)]
pub(super) struct Conversion<'a> {
    pub strategy: &'a str,
    pub client: Option<Client<'a>>,
    pub review_versions: Vec<&'a str>,
}

#[derive(Debug)]
pub(super) struct Client<'a> {
    pub url: Option<&'a str>,
    pub service: Option<Service<'a>>,
    pub ca_bundle: &'a str,
}

#[derive(Debug)]
pub(super) struct Service<'a> {
    pub namespace: &'a str,
    pub name: &'a str,
    pub path: Option<&'a str>,
    pub port: i64,
}

impl<'a> Spec<'a> {
    pub fn read(object: &'a Object) -> Spec<'a> {
        let Some(spec) = object.get("spec") else { return Spec::default() };
        let written = spec.get("versions").and_then(Value::as_array);
        let shareable = ["schema", "subresources", "additionalPrinterColumns", "selectableFields"];
        let alike: Vec<&str> = shareable.into_iter().filter(|field| same_in_all(written, field)).collect();
        let same = |field: &str| alike.contains(&field);
        let shared = |field: &str| written.and_then(|all| all.first()?.get(field)).filter(|_| same(field));
        let versions = written.map(|all| {
            all.iter()
                .map(|version| {
                    let own = |field: &str| version.get(field).filter(|_| !same(field));
                    Version::read(version, PerVersion::read(own))
                })
                .collect()
        });
        Spec {
            group: text(spec, "group"),
            scope: text(spec, "scope"),
            names: spec.get("names").map(Names::read).unwrap_or_default(),
            versions,
            shared: PerVersion::read(shared),
            conversion: given(spec, "conversion").map(Conversion::read),
            preserve_unknown: flag(spec, "preserveUnknownFields"),
        }
    }

    /// The versions, none when the list is not given.
    pub fn versions(&self) -> &[Version<'a>] {
        self.versions.as_deref().unwrap_or_default()
    }

    /// Every schema there is, the shared one or those of the versions.
    pub fn schemas(&self) -> impl Iterator<Item = &JsonSchema<'a>> {
        self.validations().filter_map(|validation| validation.schema.as_ref())
    }

    /// The same, where they stand.
    pub fn validations(&self) -> impl Iterator<Item = &Validation<'a>> {
        let own = self.versions().iter().map(|version| &version.own);
        std::iter::once(&self.shared).chain(own).filter_map(|it| it.validation.as_ref())
    }

    /// Whether some version, or all together, have the status subresource.
    pub fn any_status(&self) -> bool {
        let own = self.versions().iter().map(|version| &version.own);
        std::iter::once(&self.shared).chain(own).any(PerVersion::has_status)
    }
}

impl<'a> PerVersion<'a> {
    fn read(field: impl Fn(&str) -> Option<&'a Value>) -> PerVersion<'a> {
        let list = |name: &str| field(name).and_then(Value::as_array).into_iter().flatten();
        let there = |name: &str| field(name).filter(|value| !value.is_null());
        PerVersion {
            validation: there("schema").map(|value| {
                let raw = given(value, "openAPIV3Schema");
                Validation { schema: raw.map(JsonSchema::parse), raw }
            }),
            subresources: there("subresources").map(Subresources::read),
            columns: list("additionalPrinterColumns").map(Column::read).collect(),
            selectable: list("selectableFields").map(|value| text(value, "jsonPath")).collect(),
        }
    }

    pub fn schema(&self) -> Option<&JsonSchema<'a>> {
        self.validation.as_ref()?.schema.as_ref()
    }

    pub fn has_status(&self) -> bool {
        self.subresources.as_ref().is_some_and(|subresources| subresources.status)
    }
}

impl<'a> Names<'a> {
    pub fn read(value: &'a Value) -> Names<'a> {
        Names {
            plural: text(value, "plural"),
            singular: text(value, "singular"),
            kind: text(value, "kind"),
            list_kind: text(value, "listKind"),
            short_names: texts(value, "shortNames"),
            categories: texts(value, "categories"),
        }
    }
}

impl<'a> Version<'a> {
    fn read(value: &'a Value, own: PerVersion<'a>) -> Version<'a> {
        Version {
            name: text(value, "name"),
            served: flag(value, "served"),
            storage: flag(value, "storage"),
            deprecated: flag(value, "deprecated"),
            deprecation_warning: value.get("deprecationWarning").and_then(Value::as_str),
            own,
        }
    }
}

impl<'a> Subresources<'a> {
    pub fn read(value: &'a Value) -> Subresources<'a> {
        let scale = given(value, "scale").map(|scale| Scale {
            spec_replicas: text(scale, "specReplicasPath"),
            status_replicas: text(scale, "statusReplicasPath"),
            label_selector: scale.get("labelSelectorPath").and_then(Value::as_str),
        });
        Subresources { status: given(value, "status").is_some(), scale }
    }
}

impl<'a> Column<'a> {
    pub fn read(value: &'a Value) -> Column<'a> {
        Column {
            name: text(value, "name"),
            kind: text(value, "type"),
            format: text(value, "format"),
            description: text(value, "description"),
            priority: value.get("priority").and_then(Value::as_i64).unwrap_or(0),
            json_path: text(value, "jsonPath"),
        }
    }
}

impl<'a> Conversion<'a> {
    fn read(value: &'a Value) -> Conversion<'a> {
        let webhook = given(value, "webhook");
        let client = webhook.and_then(|webhook| given(webhook, "clientConfig")).map(|client| Client {
            url: client.get("url").and_then(Value::as_str),
            service: given(client, "service").map(|service| Service {
                namespace: text(service, "namespace"),
                name: text(service, "name"),
                path: service.get("path").and_then(Value::as_str),
                port: service.get("port").and_then(Value::as_i64).unwrap_or(443),
            }),
            ca_bundle: text(client, "caBundle"),
        });
        Conversion {
            strategy: text(value, "strategy"),
            client,
            review_versions: webhook.map(|it| texts(it, "conversionReviewVersions")).unwrap_or_default(),
        }
    }
}

/// Whether a field is the same in all versions, or in none.
fn same_in_all(versions: Option<&Vec<Value>>, field: &str) -> bool {
    let mut all = versions.into_iter().flatten().map(|version| version.get(field));
    let first = all.next().flatten();
    all.all(|other| other == first)
}

pub(super) fn given<'a>(value: &'a Value, field: &str) -> Option<&'a Value> {
    value.get(field).filter(|value| !value.is_null())
}

pub(super) fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value.get(field).and_then(Value::as_str).unwrap_or("")
}

pub(super) fn texts<'a>(value: &'a Value, field: &str) -> Vec<&'a str> {
    let list = value.get(field).and_then(Value::as_array);
    list.into_iter().flatten().map(|item| item.as_str().unwrap_or("")).collect()
}

pub(super) fn flag(value: &Value, field: &str) -> bool {
    value.get(field).and_then(Value::as_bool).unwrap_or(false)
}
