//! Index terms of objects: labels, selectable fields, owners, references and declared buckets.

use std::sync::Arc;

use bytes::Bytes;
use krm::Object;
use krm::kind::{Address, Bucket, History, Kind, Origin, Selected};
use krm::selector::field_texts;
use serde_json::Value;
use store::{Key, Model, Retention, Term};

use crate::catalog::{FoundBy, Kinds};
use crate::definitions;
use crate::keys::{self, Parts};
use crate::plane::Plane;
use crate::search::words;
use crate::write::references::Mention;

/// Tells the store the terms of each object.
pub struct Index(pub Arc<Kinds>);

impl Model for Index {
    fn terms(&self, key: &Key, bytes: &[u8], terms: &mut Vec<Term>) {
        let (Some(parts), Some(of_kind)) = (keys::parts(key), keys::kind(key)) else { return };
        match self.0.shipped(of_kind) {
            Some((kind, found_by)) => shipped(kind, found_by, &parts, bytes, terms),
            None => {
                let found_by = self.0.defined(of_kind);
                if let Some(object) = found_by.sparse.read(bytes) {
                    by_metadata(&parts, &object, terms);
                    by_fields(&found_by.fields, None, &parts, &object, terms);
                    by_words(&found_by.fields, &parts, &object, terms);
                }
            }
        }
        terms.sort_unstable();
        terms.dedup();
    }

    fn retention(&self, key: &Key) -> Retention {
        keys::parts(key)
            .map_or_else(Retention::default, |parts| self.0.retention.of(parts.group, parts.plural))
    }

    fn rules(&self) -> Vec<(String, Retention)> {
        self.0.retention.rules()
    }

    fn kept_alike<'k>(&self, key: &'k Key) -> &'k str {
        keys::kind(key).unwrap_or("")
    }

    /// Definitions say by which fields the objects of their kind are found.
    fn learn(&self, key: &Key, bytes: &[u8]) {
        let Some(parts) = keys::parts(key) else { return };
        if parts.group != definitions::GROUP || parts.plural != definitions::PLURAL {
            return;
        }
        let Ok(definition) = serde_json::from_slice(bytes).map(Object) else { return };
        let text = |path: &str| definition.at(path).and_then(Value::as_str).unwrap_or_default();
        let of = format!("{}/{}/{}/", parts.plane, text("spec.group"), text("spec.names.plural"));
        let versions = definition.at("spec.versions").and_then(Value::as_array).into_iter().flatten();
        let fields =
            versions.flat_map(|version| version["selectableFields"].as_array().into_iter().flatten());
        let fields = fields.filter_map(|field| field["jsonPath"].as_str());
        self.0.select_fields(of, fields.map(|path| path.trim_start_matches('.')));
    }
}

/// The fields by which a search finds objects of a kind: those it declares, or, of a kind that users defined, those that can
/// be selected by. Of what is secret none.
pub fn searched(kinds: &Kinds, plane: &Plane, kind: Option<&Kind>, group: &str, plural: &str) -> Vec<String> {
    match kind {
        Some(kind) if kind.secret => Vec::new(),
        Some(kind) if kind.origin == Origin::BuiltIn => kind.searchable.clone(),
        _ => kinds.selected(plane, group, plural),
    }
}

/// Whether a search finds objects of a kind.
pub fn is_searched(kind: &Kind) -> bool {
    kind.is_searched && kind.history != History::None && kind.mirror.is_none()
}

/// A kind that ships may declare more, which is read off the whole object.
fn shipped(kind: &Kind, found_by: &FoundBy, parts: &Parts<'_>, bytes: &[u8], terms: &mut Vec<Term>) {
    let is_searched = is_searched(kind);
    let words: &[String] = if kind.secret { &[] } else { &kind.searchable };
    let needs_all = kind.selected.is_some()
        || !kind.references.is_empty()
        || !kind.mentions.is_empty()
        || !kind.buckets.is_empty()
        || kind.conversion.is_some()
        || is_searched && !words.is_empty();
    let whole = || serde_json::from_slice(bytes).ok().map(Object);
    let object = match (needs_all, &kind.conversion) {
        // What it is found by is what it says in the version that is stored today.
        (_, Some(conversion)) => whole().map(|object| conversion.to_stored(object.clone()).unwrap_or(object)),
        (true, None) => whole(),
        (false, None) => found_by.sparse.read(bytes),
    };
    let Some(object) = object else { return };
    by_metadata(parts, &object, terms);
    by_fields(&found_by.fields, kind.selected.as_ref(), parts, &object, terms);
    if needs_all {
        let plane = if parts.plane.is_empty() { Plane::root() } else { Plane::project(parts.plane) };
        declared(kind, &plane, parts, &object, terms);
    }
    if is_searched {
        by_words(words, parts, &object, terms);
    }
}

fn by_words(fields: &[String], parts: &Parts<'_>, object: &Object, terms: &mut Vec<Term>) {
    words::of(parts.plane, object, fields, &mut |term| terms.push(Term::index(term)));
}

fn by_metadata(parts: &Parts<'_>, object: &Object, terms: &mut Vec<Term>) {
    for (label, value) in object.labels() {
        terms.push(Term::index(label_is(parts, label, value)));
    }
    for owner in object.owners() {
        terms.push(Term::index(owned(parts.plane, owner.uid)));
    }
    if object.is_deleting() {
        let plane = if parts.plane.is_empty() { Plane::root() } else { Plane::project(parts.plane) };
        terms.push(Term::bucket(going(&plane, &parts.address())));
    }
}

fn by_fields(
    fields: &[String],
    read: Option<&Selected>,
    parts: &Parts<'_>,
    object: &Object,
    terms: &mut Vec<Term>,
) {
    for field in fields {
        let texts = match read.and_then(|read| read(object, field)) {
            Some(text) => vec![text.into()],
            None => field_texts(object, field),
        };
        for text in texts.iter().filter(|text| !text.is_empty()) {
            terms.push(Term::index(field_is(parts, field, text)));
        }
    }
}

fn declared(kind: &Kind, plane: &Plane, parts: &Parts<'_>, object: &Object, terms: &mut Vec<Term>) {
    let root = Plane::root();
    for reference in &kind.references {
        for (_, name) in reference.names(object) {
            let namespace = if reference.same_namespace { parts.namespace } else { "" };
            let target = Address {
                group: reference.group.clone(),
                plural: reference.plural.clone(),
                namespace: namespace.to_owned(),
                name: name.to_owned(),
            };
            let of = if reference.in_root { &root } else { plane };
            terms.push(Term::bucket(referring_to(of, &target)));
        }
    }
    for path in &kind.mentions {
        if let Some(mention) = Mention::at(object, path) {
            terms.push(Term::index(mentioning(plane, &mention)));
        }
    }
    for (bucket, values) in &kind.buckets {
        for value in values(object) {
            terms.push(Term::bucket(in_bucket(plane, *bucket, &value)));
        }
    }
}

/// The beginning of the terms of those objects of a kind that have a label, whatever its value.
pub fn has_label(of: &Parts<'_>, label: &str) -> Bytes {
    label_is(of, label, "")
}

/// Objects of a kind whose label has this value.
pub fn label_is(of: &Parts<'_>, label: &str, value: &str) -> Bytes {
    ["l", of.plane, "/", of.group, "/", of.plural, "\0", label, "\0", value].concat().into()
}

/// Objects of a kind whose field has this value.
pub fn field_is(of: &Parts<'_>, field: &str, value: &str) -> Bytes {
    ["f", of.plane, "/", of.group, "/", of.plural, "\0", field, "\0", value].concat().into()
}

/// Objects with this owner.
pub fn owned_by(plane: &Plane, uid: &str) -> Bytes {
    owned(plane.as_str(), uid)
}

fn owned(plane: &str, uid: &str) -> Bytes {
    format!("o{plane}\0{uid}").into()
}

/// The bucket of those who refer to an object.
pub fn referring_to(plane: &Plane, target: &Address) -> Bytes {
    format!("r{}/{}/{}/{}/{}", plane.as_str(), target.group, target.plural, target.namespace, target.name)
        .into()
}

/// The bucket of an object once it is marked as being deleted: whoever must know of the mark alone is not disturbed by
/// other changes of it.
pub fn going(plane: &Plane, at: &Address) -> Bytes {
    format!("d{}/{}/{}/{}/{}", plane.as_str(), at.group, at.plural, at.namespace, at.name).into()
}

/// Objects that name this one where any may be named.
pub fn mentioning(plane: &Plane, mention: &Mention<'_>) -> Bytes {
    let Mention { group, kind, namespace, name } = mention;
    format!("m{}/{group}/{kind}/{namespace}/{name}", plane.as_str()).into()
}

/// A declared bucket.
pub fn in_bucket(plane: &Plane, bucket: Bucket, value: &str) -> Bytes {
    format!("b{}/{}/{value}", plane.as_str(), bucket.stored()).into()
}

/// Whether a bucket is one of a plane.
pub fn is_of(plane: &Plane, bucket: &[u8]) -> bool {
    bucket.get(1..).and_then(|rest| rest.split(|byte| *byte == b'/').next())
        == Some(plane.as_str().as_bytes())
}
