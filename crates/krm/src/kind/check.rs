//! Checks declarations when a server starts: what one names must exist.

use std::borrow::Borrow;
use std::collections::BTreeMap;
use std::fmt;

use serde_json::Value;

use super::{Kind, Missing, OnDelete, Origin, Planes, Reference, SHOWN_TO_PROJECT};

/// Mistakes in the declarations of kinds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mistakes(Vec<String>);

impl fmt::Display for Mistakes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "mistakes in the declarations of kinds: {}", self.0.join("; "))
    }
}

impl std::error::Error for Mistakes {}

/// Checks the kinds that a server serves together. Each mistake names the kind and the field.
pub fn check<K: Borrow<Kind>>(kinds: &[K]) -> Result<(), Mistakes> {
    let kinds: Vec<&Kind> = kinds.iter().map(Borrow::borrow).collect();
    let mut mistakes = names_are_unique(&kinds);
    mistakes.extend(buckets_are_distinct(&kinds));
    for kind in kinds.iter().filter(|kind| kind.origin == Origin::BuiltIn) {
        mistakes.extend(fields_exist(kind));
        for reference in &kind.references {
            let at = |why: String| format!("{}: reference {}: {why}", kind.resource(), reference.path);
            mistakes.extend(reference_mistakes(kind, reference, &kinds).into_iter().map(at));
        }
    }
    if mistakes.is_empty() { Ok(()) } else { Err(Mistakes(mistakes)) }
}

fn names_are_unique(kinds: &[&Kind]) -> Vec<String> {
    let mut seen = BTreeMap::new();
    let mut mistakes = Vec::new();
    for kind in kinds {
        for name in [&kind.names.plural, &kind.names.kind] {
            if seen.insert((&kind.group, name), *kind).is_some() {
                mistakes.push(format!("{}: {name} is declared twice in the group", kind.resource()));
            }
        }
    }
    mistakes
}

/// A bucket belongs to the group of its kinds, and no other is kept under its name.
fn buckets_are_distinct(kinds: &[&Kind]) -> Vec<String> {
    let mut stored = BTreeMap::new();
    let mut mistakes = Vec::new();
    for kind in kinds {
        for (at, (bucket, _)) in kind.buckets.iter().enumerate() {
            // Kinds of all groups have the one that shows objects of the root to projects.
            if bucket.group() != kind.group && *bucket != SHOWN_TO_PROJECT {
                mistakes.push(format!("{}: bucket {bucket} is named after another group", kind.resource()));
            }
            if kind.buckets[..at].iter().any(|(other, _)| other == bucket) {
                mistakes.push(format!("{}: bucket {bucket} is declared twice", kind.resource()));
            }
            let other = stored.insert(bucket.stored(), *bucket).filter(|other| other != bucket);
            if let Some(other) = other {
                let name = bucket.stored();
                mistakes.push(format!(
                    "{}: bucket {bucket} is stored under the name {name:?} of bucket {other}",
                    kind.resource()
                ));
            }
        }
    }
    mistakes
}

/// Selectable, searchable, printed and mentioned fields are in the schema.
fn fields_exist(kind: &Kind) -> Vec<String> {
    let mut mistakes = Vec::new();
    for version in &kind.versions {
        let mut need = |what: &str, path: &str| {
            if !field_exists(&version.openapi, path) {
                let name = &version.name;
                mistakes.push(format!("{}: {what} {path} is not in its schema ({name})", kind.resource()));
            }
        };
        // A kind may read the fields of its selectors from elsewhere.
        if kind.selected.is_none() && kind.mirror.is_none() {
            version.selectable.iter().for_each(|path| need("selectable field", path));
        }
        for column in version.columns.declared() {
            need("column", column["jsonPath"].as_str().unwrap_or_default());
        }
        if version.name == kind.stored().name {
            kind.searchable.iter().for_each(|path| need("searchable field", path));
            kind.mentions.iter().for_each(|path| need("mention", path));
            for sealed in &kind.sealed {
                need("sealed field", sealed.path);
                for field in ["name", "key", "generation"] {
                    need("reference of a sealed field", &format!("{}.{field}", sealed.reference()));
                }
            }
        }
    }
    mistakes
}

fn reference_mistakes(kind: &Kind, reference: &Reference, kinds: &[&Kind]) -> Vec<String> {
    let mut mistakes = Vec::new();
    match field_at(&kind.stored().openapi, &reference.path) {
        None => mistakes.push("the field is not in the schema".to_owned()),
        Some(field) if field["type"] != "string" => mistakes.push("the field is not a string".to_owned()),
        Some(_) => {}
    }
    if let Some((beside, says)) = reference.when {
        let path = match reference.path.rsplit_once('.') {
            Some((parent, _)) => format!("{parent}.{beside}"),
            None => beside.to_owned(),
        };
        let allows = |field: &Value| match field["enum"].as_array() {
            Some(values) => values.iter().any(|value| value == says),
            None => true,
        };
        if !field_at(&kind.stored().openapi, &path).is_some_and(allows) {
            mistakes.push(format!("{path} cannot be {says:?}"));
        }
    }
    mistakes.extend(target_mistakes(kind, reference, kinds));
    let reasons = [
        if let Missing::NotReady(reason) = reference.missing { Some(reason) } else { None },
        if let OnDelete::NotReady(reason) = reference.on_delete { Some(reason) } else { None },
        reference.reason,
        reference.condition.map(|(condition, _)| condition),
    ];
    for word in reasons.into_iter().flatten().filter(|word| !is_camel_case(word)) {
        mistakes.push(format!("{word:?} is not a word in CamelCase"));
    }
    let is_reported = matches!(reference.missing, Missing::NotReady(_));
    if reference.in_root && !reference.shared && is_reported {
        let why =
            "its status would tell whether an object of the root exists; refuse missing ones, or share them";
        mistakes.push(why.to_owned());
    }
    mistakes
}

/// The target is a kind of every plane where it is looked for, with namespaces or without as the reference has it.
fn target_mistakes(kind: &Kind, reference: &Reference, kinds: &[&Kind]) -> Vec<String> {
    let name = super::Subject::new(reference.group.clone(), reference.plural.clone());
    let is_target = |other: &&&Kind| other.group == reference.group && other.names.plural == reference.plural;
    let Some(target) = kinds.iter().find(is_target) else {
        return vec![format!("there is no kind {name}")];
    };
    let looked_for = if reference.in_root { Planes::Root } else { kind.planes };
    let mut mistakes = Vec::new();
    if target.planes != Planes::Both && target.planes != looked_for {
        mistakes.push(format!("{name} is not served in every plane where it is looked for"));
    }
    match (reference.same_namespace, target.is_namespaced()) {
        (true, false) => mistakes.push(format!("{name} has no namespaces")),
        (false, true) => mistakes.push(format!("{name} is in namespaces; say same_namespace")),
        _ => {}
    }
    mistakes
}

fn is_camel_case(word: &str) -> bool {
    word.starts_with(|first: char| first.is_ascii_uppercase())
        && word.chars().all(|letter| letter.is_ascii_alphanumeric())
}

pub(super) fn field_exists(schema: &Value, path: &str) -> bool {
    field_at(schema, path).is_some()
}

/// The schema of a field. Lists on the way are stepped into, with or without an index or a filter in the path; where the
/// schema leaves open what there is, anything is. Metadata are the server's.
fn field_at<'a>(schema: &'a Value, path: &str) -> Option<&'a Value> {
    let steps: Vec<Vec<&str>> = steps(path);
    if steps.first().is_some_and(|first| first == &["metadata"]) {
        return Some(&OPEN);
    }
    descend(schema, &steps)
}

fn descend<'a>(schema: &'a Value, steps: &[Vec<&str>]) -> Option<&'a Value> {
    let mut at = schema;
    while at["type"] == "array" {
        at = &at["items"];
    }
    let Some((names, rest)) = steps.split_first() else { return Some(at) };
    let is_open = at["x-kubernetes-preserve-unknown-fields"] == true
        || at["type"] == "object" && at["properties"].is_null();
    if is_open {
        return Some(&OPEN);
    }
    let mut found = None;
    for name in names {
        found = Some(descend(at["properties"].get(name)?, rest)?);
    }
    found
}

/// What stands for a field that the schema leaves open.
static OPEN: std::sync::LazyLock<Value> =
    std::sync::LazyLock::new(|| serde_json::json!({ "type": "string" }));

/// The names of fields in a path such as `.status.conditions[?(@.type=="Ready")].status`; several where any of them is
/// meant, as in `.spec['siteRef', 'rackRef'].name`.
fn steps(path: &str) -> Vec<Vec<&str>> {
    let mut depth = 0;
    let parts = path.split(move |letter: char| {
        match letter {
            '[' => depth += 1,
            ']' => depth -= 1,
            _ => {}
        }
        letter == '.' && depth == 0
    });
    let mut steps = Vec::new();
    for part in parts {
        let (name, bracket) = part.split_once('[').unwrap_or((part, ""));
        if !name.is_empty() {
            steps.push(vec![name]);
        }
        if bracket.starts_with(['\'', '"']) {
            let names = bracket.trim_end_matches(']').split(',');
            steps.push(names.map(|name| name.trim().trim_matches(['\'', '"'])).collect());
        }
    }
    steps
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;
    use crate::kind::{Bucket, Scope, Version};

    fn kind(plural: &str, planes: Planes) -> Kind {
        let schema = json!({ "type": "object", "properties": {
            "spec": { "type": "object", "properties": {
                "site": { "type": "string" },
                "width": { "type": "integer" },
                "ends": { "type": "array", "items": { "type": "object", "properties": {
                    "kind": { "type": "string", "enum": ["Site"] }, "name": { "type": "string" },
                } } },
            } },
        } });
        let version = Version::new("v1", schema).unwrap();
        let mut kind = Kind::new("g.example", &plural.to_uppercase(), plural, Scope::Cluster, version);
        kind.planes = planes;
        kind
    }

    fn told(kinds: &[Kind]) -> Vec<String> {
        check(kinds).err().map(|mistakes| mistakes.0).unwrap_or_default()
    }

    fn referring(reference: Reference) -> Vec<String> {
        let (mut racks, sites) = (kind("racks", Planes::Both), kind("sites", Planes::Both));
        racks.references.push(reference);
        told(&[racks, sites, kind("hosts", Planes::Root)])
    }

    fn to(path: &str, plural: &str) -> Reference {
        Reference::at(path, "g.example", plural)
    }

    #[test]
    fn what_exists_is_no_mistake() {
        assert_eq!(referring(to("spec.site", "sites")), [] as [String; 0]);
        assert_eq!(referring(to("spec.ends[].name", "sites").when_kind("Site")), [] as [String; 0]);
        assert_eq!(referring(to("spec.site", "hosts").in_root()), [] as [String; 0]);
        let mut racks = kind("racks", Planes::Both);
        racks.versions[0].selectable = vec!["spec.site".into(), "spec.ends.name".into()];
        racks.searchable = vec!["metadata.labels.anything".into()];
        assert_eq!(told(&[racks]), [] as [String; 0]);
    }

    #[test]
    fn a_reference_that_cannot_work_is_told_with_its_kind_and_field() {
        let of = |path: &str| format!("racks.g.example: reference {path}: ");
        let site = of("spec.site");
        let cases = [
            (to("spec.room", "sites"), of("spec.room") + "the field is not in the schema"),
            (to("spec.width", "sites"), of("spec.width") + "the field is not a string"),
            (to("spec.site", "places"), site.clone() + "there is no kind places.g.example"),
            (
                to("spec.site", "hosts"),
                site.clone() + "hosts.g.example is not served in every plane where it is looked for",
            ),
            (to("spec.site", "sites").same_namespace(), site.clone() + "sites.g.example has no namespaces"),
            (
                to("spec.ends[].name", "sites").when_kind("Port"),
                of("spec.ends[].name") + "spec.ends[].kind cannot be \"Port\"",
            ),
            (
                to("spec.site", "sites").missing(Missing::NotReady("site not found")),
                site.clone() + "\"site not found\" is not a word in CamelCase",
            ),
            (
                to("spec.site", "hosts").in_root().missing(Missing::NotReady("HostNotFound")),
                site + "its status would tell whether an object of the root exists; refuse missing ones, or share \
                        them",
            ),
        ];
        for (reference, mistake) in cases {
            assert_eq!(referring(reference), [mistake]);
        }
    }

    #[test]
    fn fields_and_columns_that_are_not_in_the_schema_are_told() {
        let mut racks = kind("racks", Planes::Both);
        racks.versions[0].selectable = vec!["spec.room".into()];
        racks.searchable = vec!["spec.ends.label".into()];
        let column = json!({ "name": "Ready", "type": "string", "jsonPath": ".status.conditions[?(@.type==\"Ready\")].status" });
        racks.versions[0].columns = crate::table::Columns::of_custom_resource(&[column]);
        assert_eq!(
            told(&[racks]),
            [
                "racks.g.example: selectable field spec.room is not in its schema (v1)",
                "racks.g.example: column .status.conditions[?(@.type==\"Ready\")].status is not in its schema (v1)",
                "racks.g.example: searchable field spec.ends.label is not in its schema (v1)",
            ]
        );
    }

    #[test]
    fn buckets_of_two_subjects_do_not_collide() {
        let with = |plural: &str, buckets: &[Bucket]| {
            let mut kind = kind(plural, Planes::Both);
            for bucket in buckets {
                kind.buckets.push((*bucket, Arc::new(|_| Vec::new())));
            }
            kind
        };
        let shared = Bucket::new("g.example/in-rack");
        assert_eq!(told(&[with("racks", &[shared]), with("nodes", &[shared])]), [] as [String; 0]);
        let old = Bucket::new("g.example/held").stored_as("g.example/in-rack");
        assert_eq!(
            told(&[with("racks", &[shared, shared]), with("nodes", &[old, Bucket::new("other.example/x")])]),
            [
                "racks.g.example: bucket g.example/in-rack is declared twice",
                "nodes.g.example: bucket g.example/held is stored under the name \"g.example/in-rack\" of bucket \
                 g.example/in-rack",
                "nodes.g.example: bucket other.example/x is named after another group",
            ]
        );
    }

    #[test]
    fn no_two_kinds_have_one_name() {
        let twice = [kind("racks", Planes::Root), kind("racks", Planes::Both)];
        assert_eq!(told(&twice).len(), 2);
    }
}
