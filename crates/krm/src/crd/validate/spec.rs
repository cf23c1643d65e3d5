//! The spec of a definition: its group, scope, names, versions, and what they share.

use std::collections::{BTreeMap, BTreeSet};

use super::{columns, conversion, joined, names, selectable, subresources};
use crate::crd::go_text;
use crate::crd::json_schema::JsonSchema;
use crate::crd::schema::{self, Demands as SchemaDemands};
use crate::crd::spec::{Names, PerVersion, Spec, Version};
use crate::field::{FieldError, Path};
use crate::names::{dns1035_label, dns1123_subdomain};

/// What is asked of a definition. Rules that came later are not asked of one that already broke them.
pub(super) struct Demands<'a> {
    schema_in_every_version: bool,
    schema: SchemaDemands,
    conversion: conversion::Leniency,
    /// Versions whose schema is as it was: single rules that cost too much stay.
    unchanged_schemas: BTreeSet<&'a str>,
    /// Versions that already had too many selectable fields; an empty name stands for what all share.
    too_many_selectable: BTreeSet<&'a str>,
}

impl<'a> Demands<'a> {
    pub fn of_a_new_one() -> Demands<'a> {
        Demands {
            schema_in_every_version: true,
            schema: SchemaDemands::all(),
            conversion: conversion::Leniency { unrecognized_version: false, invalid_ca_bundle: true },
            unchanged_schemas: BTreeSet::new(),
            too_many_selectable: BTreeSet::new(),
        }
    }

    pub fn of_a_changed_one(spec: &Spec<'a>, before: &Spec<'_>, established: bool) -> Demands<'a> {
        let client = before.conversion.as_ref().and_then(|conversion| conversion.client.as_ref());
        let had_faulty_bundle =
            client.is_some_and(|client| conversion::ca_bundle_fault(client.ca_bundle).is_some());
        let recognized = before
            .conversion
            .as_ref()
            .is_none_or(|before| conversion::has_recognized_version(&before.review_versions));
        Demands {
            schema_in_every_version: before.shared.schema().is_some()
                || before.versions().iter().all(|version| version.own.schema().is_some()),
            schema: SchemaDemands::still_met_by(before.validations()),
            conversion: conversion::Leniency {
                unrecognized_version: !recognized,
                invalid_ca_bundle: !established || had_faulty_bundle,
            },
            unchanged_schemas: unchanged_schemas(spec, before),
            too_many_selectable: too_many_selectable(spec, before),
        }
    }

    fn schema_of(&self, version: &str) -> SchemaDemands {
        let costs_are_old = self.unchanged_schemas.contains(version);
        SchemaDemands { cheap_rules: !costs_are_old, ..self.schema }
    }
}

pub(super) fn validate(spec: &Spec<'_>, demands: &Demands<'_>) -> Vec<FieldError> {
    let path = Path::of("spec");
    let mut errors = Vec::new();
    errors.extend(group(spec.group, &path.field("group")));
    errors.extend(one_of(spec.scope, &["Cluster", "Namespaced"], &path.field("scope")));
    errors.extend(missing_schemas(spec, demands, &path));
    if spec.preserve_unknown && spec.schemas().any(|it| it.has(&mut |it| it.default.is_some())) {
        let detail = "must be false in order to use defaults in the schema";
        errors.push(FieldError::invalid(&path.field("preserveUnknownFields"), &true.into(), detail));
    }
    let structural = demands.schema.structural || !spec.preserve_unknown || needs_structure(spec);
    errors.extend(versions(spec, demands, structural, &path));
    errors.extend(required_names(&spec.names, &path.field("names")));
    errors.extend(names::validate(&spec.names, &path.field("names")));
    errors.extend(shared(spec, demands, structural, &path));
    let conversion_path = path.field("conversion");
    if let Some(conversion) = &spec.conversion
        && conversion.strategy != "None"
        && spec.preserve_unknown
    {
        let shown = go_text::text(conversion.strategy);
        let detail = "must be None if spec.preserveUnknownFields is true";
        let strategy = conversion_path.field("strategy");
        errors.push(FieldError::invalid_shown(&strategy, shown, detail));
    }
    errors.extend(conversion::validate(spec.conversion.as_ref(), demands.conversion, &conversion_path));
    errors
}

/// What no longer changes: the group and the plural, and once the kind is served, its scope and its name.
pub(super) fn immutable(spec: &Spec<'_>, before: &Spec<'_>, established: bool) -> Vec<FieldError> {
    let path = Path::of("spec");
    let names = path.field("names");
    let mut errors = Vec::new();
    let mut check = |changed: bool, path: Path<'_>, shown: String| {
        if changed {
            errors.push(FieldError::invalid_shown(&path, shown, "field is immutable"));
        }
    };
    if established {
        check(spec.scope != before.scope, path.field("scope"), go_text::text(spec.scope));
        let kind = spec.names.kind;
        check(kind != before.names.kind, names.field("kind"), crate::field::quote(kind));
    }
    check(spec.group != before.group, path.field("group"), crate::field::quote(spec.group));
    let plural = spec.names.plural;
    check(plural != before.names.plural, names.field("plural"), crate::field::quote(plural));
    errors
}

/// What is wrong with a word that has to be one of a few.
pub(super) fn one_of(word: &str, allowed: &[&str], path: &Path<'_>) -> Option<FieldError> {
    if word.is_empty() {
        return Some(FieldError::required(path, ""));
    }
    (!allowed.contains(&word)).then(|| FieldError::not_supported(path, &word.into(), allowed))
}

fn group(group: &str, path: &Path<'_>) -> Option<FieldError> {
    if group.is_empty() {
        return Some(FieldError::required(path, ""));
    }
    let no_dot = || (!group.contains('.')).then(|| "should be a domain with at least one dot".to_owned());
    let detail = joined(dns1123_subdomain(group)).or_else(no_dot)?;
    Some(FieldError::invalid_text(path, group, detail))
}

fn missing_schemas(spec: &Spec<'_>, demands: &Demands<'_>, path: &Path<'_>) -> Vec<FieldError> {
    let everywhere = demands.schema_in_every_version;
    if spec.shared.schema().is_some() || (!everywhere && spec.preserve_unknown) {
        return Vec::new();
    }
    let versions = path.field("versions");
    let lacking = |(index, version): (usize, &Version<'_>)| {
        if version.own.schema().is_some() || (!everywhere && !version.served) {
            return None;
        }
        let version = versions.index(index);
        let schema = version.field("schema");
        let detail = if everywhere { "" } else { "because otherwise all fields are pruned" };
        Some(FieldError::required(&schema.field("openAPIV3Schema"), detail))
    };
    spec.versions().iter().enumerate().filter_map(lacking).collect()
}

/// Extensions and defaults are only for structural schemas.
fn needs_structure(spec: &Spec<'_>) -> bool {
    spec.schemas().any(|schema| {
        schema.has(&mut |it| {
            it.default.is_some()
                || it.embedded
                || it.preserve_unknown.is_some()
                || it.int_or_string
                || !it.list_map_keys.is_empty()
                || it.list_type.is_some()
                || !it.rules.is_empty()
        })
    })
}

fn versions(spec: &Spec<'_>, demands: &Demands<'_>, structural: bool, path: &Path<'_>) -> Vec<FieldError> {
    let list = path.field("versions");
    let mut errors = Vec::new();
    let mut seen = BTreeSet::new();
    let mut unique = true;
    let status_is_shared = spec.shared.has_status();
    for (index, version) in spec.versions().iter().enumerate() {
        unique &= seen.insert(version.name);
        let path = list.index(index);
        if let Some(detail) = joined(dns1035_label(version.name)) {
            errors.push(FieldError::invalid_text(&path.field("name"), version.name, detail));
        }
        let asked = SchemaDemands { structural, ..demands.schema_of(version.name) };
        let has_status = status_is_shared || version.own.has_status();
        errors.extend(one_version(version, has_status, asked, demands, &path));
    }
    let mut about_all = |detail: &'static str| {
        let shown = go_text::versions(spec.versions.as_deref());
        errors.push(FieldError::invalid_shown(&list, shown, detail));
    };
    if !unique {
        about_all("must contain unique version names");
    }
    if spec.versions().iter().filter(|version| version.storage).count() != 1 {
        about_all("must have exactly one version marked as storage version");
    }
    if let Some(first) = spec.versions().first().filter(|first| !first.name.is_empty())
        && let Some(detail) = joined(dns1035_label(first.name))
    {
        errors.push(FieldError::invalid_text(&path.field("version"), first.name, detail));
    }
    errors
}

fn one_version(
    version: &Version<'_>,
    has_status: bool,
    asked: SchemaDemands,
    demands: &Demands<'_>,
    path: &Path<'_>,
) -> Vec<FieldError> {
    let own = &version.own;
    let mut errors = deprecation_warning(version, &path.field("deprecationWarning"));
    errors.extend(schema::validate(own.validation.as_ref(), has_status, asked, &path.field("schema")));
    errors.extend(subresources::validate(own.subresources.as_ref(), &path.field("subresources")));
    errors.extend(columns::validate(&own.columns, &path.field("additionalPrinterColumns")));
    let path = path.field("selectableFields");
    if own.selectable.is_empty() {
        return errors;
    }
    match own.schema() {
        Some(schema) => {
            let too_many = demands.too_many_selectable.contains(version.name);
            errors.extend(selectable::validate(&own.selectable, schema, too_many, &path));
        }
        // Kubernetes says "not included" and means "included".
        None => {
            let detail = "may only be set when `version.schema.openAPIV3Schema` is not included";
            errors.push(FieldError::invalid_text(&path, "", detail));
        }
    }
    errors
}

fn shared(spec: &Spec<'_>, demands: &Demands<'_>, structural: bool, path: &Path<'_>) -> Vec<FieldError> {
    let shared = &spec.shared;
    let first = spec.versions().first().map_or("", |version| version.name);
    let asked = SchemaDemands { structural, ..demands.schema_of(first) };
    let has_status = spec.any_status();
    let mut errors =
        schema::validate(shared.validation.as_ref(), has_status, asked, &path.field("validation"));
    errors.extend(subresources::validate(shared.subresources.as_ref(), &path.field("subresources")));
    errors.extend(columns::validate(&shared.columns, &path.field("additionalPrinterColumns")));
    let path = path.field("selectableFields");
    if shared.selectable.is_empty() {
        return errors;
    }
    match &shared.validation {
        Some(validation) => {
            let empty = Default::default();
            let schema = validation.schema.as_ref().unwrap_or(&empty);
            let too_many = demands.too_many_selectable.contains("");
            errors.extend(selectable::validate(&shared.selectable, schema, too_many, &path));
        }
        None => {
            let detail = "may only be set when validations.schema is included";
            errors.push(FieldError::invalid_text(&path, "", detail));
        }
    }
    errors
}

fn deprecation_warning(version: &Version<'_>, path: &Path<'_>) -> Vec<FieldError> {
    let Some(warning) = version.deprecation_warning else { return Vec::new() };
    let fault = |detail: String| FieldError::invalid_shown(path, go_text::text(warning), detail);
    if !version.deprecated {
        return vec![fault("can only be set for deprecated versions".to_owned())];
    }
    let mut errors = Vec::new();
    if warning.len() > 256 {
        errors.push(fault("must be <= 256 characters long".to_owned()));
    }
    if warning.is_empty() {
        errors.push(fault("must not be an empty string".to_owned()));
    }
    // Of spaces, only the plain one is printable.
    let unprintable = |c: char| c.is_control() || (c.is_whitespace() && c != ' ');
    if let Some((index, _)) = warning.char_indices().find(|(_, c)| unprintable(*c)) {
        errors.push(fault(format!(
            "must only contain printable UTF-8 characters; non-printable character found at index {index}"
        )));
    }
    errors
}

fn required_names(names: &Names<'_>, path: &Path<'_>) -> Vec<FieldError> {
    let all = [
        ("plural", names.plural),
        ("singular", names.singular),
        ("kind", names.kind),
        ("listKind", names.list_kind),
    ];
    let missing = all.into_iter().filter(|(_, name)| name.is_empty());
    missing.map(|(field, _)| FieldError::required(&path.field(field), "")).collect()
}

fn unchanged_schemas<'a>(spec: &Spec<'a>, before: &Spec<'_>) -> BTreeSet<&'a str> {
    let (now, then) = (Schemas::of(spec), Schemas::of(before));
    let versions = spec.versions().iter().map(|version| version.name);
    versions.filter(|name| now.get(name).is_some_and(|now| then.get(name) == Some(now))).collect()
}

/// The schema of each version, wherever it stands.
struct Schemas<'s, 'a> {
    shared: Option<Option<&'s JsonSchema<'a>>>,
    own: BTreeMap<&'a str, Option<&'s JsonSchema<'a>>>,
}

impl<'s, 'a> Schemas<'s, 'a> {
    fn of(spec: &'s Spec<'a>) -> Schemas<'s, 'a> {
        if spec.versions().iter().all(|version| version.own.validation.is_none()) {
            return Schemas { shared: Some(spec.shared.schema()), own: BTreeMap::new() };
        }
        let own = spec.versions().iter().rev().map(|version| (version.name, version.own.schema()));
        Schemas { shared: None, own: own.collect() }
    }

    fn get(&self, version: &str) -> Option<Option<&'s JsonSchema<'a>>> {
        self.shared.or_else(|| self.own.get(version).copied())
    }
}

fn too_many_selectable<'a>(spec: &Spec<'a>, before: &Spec<'_>) -> BTreeSet<&'a str> {
    let unchanged = |now: &[&str], then: &[&str]| then.len() > selectable::MOST && now == then;
    let then = before.versions().iter().map(|version| (version.name, &version.own));
    let then: BTreeMap<&str, &PerVersion<'_>> = then.collect();
    let of_version = spec.versions().iter().filter(|version| {
        let then = then.get(version.name);
        then.is_some_and(|then| unchanged(&version.own.selectable, &then.selectable))
    });
    let mut allowed: BTreeSet<&str> = of_version.map(|version| version.name).collect();
    if unchanged(&spec.shared.selectable, &before.shared.selectable) {
        allowed.insert("");
    }
    allowed
}
