//! Which objects of a kind a request is about, and how they are found without looking at the others.

use std::borrow::Cow;
use std::sync::Arc;

use bytes::Bytes;
use krm::Object;
use krm::kind::{Kind, Selected, Version};
use krm::selector::{FieldSelector, LabelSelector, Operator, field_texts};
use krm::status::Status;
use store::{Entry, Key, Snapshot};

use crate::index;
use crate::keys::Parts;

/// Labels and fields that objects must have.
#[derive(Clone, Default)]
pub struct Selection {
    labels: LabelSelector,
    fields: FieldSelector,
    /// How fields are read that are not where their name says.
    read: Option<Selected>,
}

impl Selection {
    /// Reads both selectors; fields must be ones that the version lets be selected.
    pub fn parse(labels: &str, fields: &str, kind: &Kind, version: &Version) -> Result<Selection, Status> {
        let labels = LabelSelector::parse(labels).map_err(Status::bad_request)?;
        let fields = FieldSelector::parse(fields).map_err(Status::bad_request)?;
        for requirement in fields.requirements() {
            let field = requirement.field.as_str();
            let known = matches!(field, "metadata.name" | "metadata.namespace")
                || version.selectable.iter().any(|selectable| selectable == field);
            if !known {
                return Err(Status::bad_request(format!("field label not supported: {field}")));
            }
        }
        let Some(mirror) = &kind.mirror else {
            return Ok(Selection { labels, fields, read: kind.selected.clone() });
        };
        let kept = fields.requirements().iter().cloned().map(|mut requirement| {
            requirement.field = mirror.kept_field(&requirement.field).to_owned();
            requirement
        });
        Ok(Selection { labels, fields: FieldSelector::of(kept.collect()), read: kind.selected.clone() })
    }

    /// Whether every object is meant.
    pub fn is_everything(&self) -> bool {
        self.labels.selects_everything() && self.fields.selects_everything()
    }

    /// The one name that is asked for, if it is just one.
    pub fn name(&self) -> Option<&str> {
        self.fields.exact("metadata.name")
    }

    /// The one namespace that is asked for, if it is just one.
    pub fn namespace(&self) -> Option<&str> {
        self.fields.exact("metadata.namespace")
    }

    /// Whether the object is meant.
    pub fn matches(&self, object: &Object) -> bool {
        if !self.labels.selects_everything() && !self.labels.matches(|label| object.label(label)) {
            return false;
        }
        self.fields.matches_any(|field| match field {
            "metadata.name" => vec![Cow::Borrowed(object.name())],
            "metadata.namespace" => vec![Cow::Borrowed(object.namespace())],
            field => match self.read.as_ref().and_then(|read| read(object, field)) {
                Some(text) => vec![Cow::Owned(text)],
                None => field_texts(object, field),
            },
        })
    }

    /// Whether the stored object is meant.
    pub fn matches_bytes(&self, bytes: &[u8]) -> bool {
        if self.is_everything() {
            return true;
        }
        // Bytes that were stored are an object; anything else is nobody's.
        serde_json::from_slice(bytes).map(Object).is_ok_and(|object| self.matches(&object))
    }

    /// The terms of which a matching object must have one, for each requirement that an index can answer.
    fn terms(&self, of: &Parts<'_>) -> Vec<Vec<Bytes>> {
        let labels = self.labels.requirements().iter().filter_map(|requirement| {
            let key = requirement.key.as_str();
            match (requirement.one_of(), &requirement.operator) {
                (Some(values), _) => {
                    Some(values.iter().map(|value| index::label_is(of, key, value)).collect())
                }
                (None, Operator::Exists) => Some(vec![index::has_label(of, key)]),
                _ => None,
            }
        });
        let fields = self.fields.requirements().iter().filter(|requirement| {
            // A field that is not there reads as empty, and what is not there is in no index.
            let indexed = !requirement.field.starts_with("metadata.");
            requirement.is_equal && !requirement.value.is_empty() && indexed
        });
        let fields =
            fields.map(|requirement| vec![index::field_is(of, &requirement.field, &requirement.value)]);
        labels.chain(fields).collect()
    }

    /// The matching objects under `prefix`, in order, found through the narrowest index there is.
    pub fn find(
        &self,
        snapshot: &Snapshot,
        of: &Parts<'_>,
        prefix: &str,
        reveal: impl Fn(&Key, &Entry) -> Option<Bytes>,
    ) -> Vec<(Key, Arc<Entry>)> {
        let matches = |key: &Key, entry: &Entry| {
            self.is_everything() || reveal(key, entry).is_some_and(|bytes| self.matches_bytes(&bytes))
        };
        let own = |(key, entry): (&Key, &Arc<Entry>)| (key.clone(), entry.clone());
        match narrowest(snapshot, &self.terms(of)) {
            None => {
                snapshot.list(prefix.as_bytes()).filter(|(key, entry)| matches(key, entry)).map(own).collect()
            }
            Some(keys) => {
                let here = keys.iter().filter(|key| key.as_bytes().starts_with(prefix.as_bytes()));
                let found = here.filter_map(|key| Some((key, snapshot.get(key)?)));
                found.filter(|(key, entry)| matches(key, entry)).map(own).collect()
            }
        }
    }
}

/// The keys of the requirement that the fewest objects meet. All are walked side by side until the first one ends,
/// so that it costs no more than that one, times their number.
fn narrowest(snapshot: &Snapshot, requirements: &[Vec<Bytes>]) -> Option<Vec<Key>> {
    let mut walks: Vec<_> = requirements
        .iter()
        .map(|terms| (terms.iter().flat_map(|term| snapshot.having(term)), Vec::new()))
        .collect();
    loop {
        if walks.is_empty() {
            return None;
        }
        for (walk, found) in &mut walks {
            match walk.next() {
                Some(key) => found.push(key.clone()),
                None => {
                    let mut keys = std::mem::take(found);
                    keys.sort_unstable();
                    keys.dedup();
                    return Some(keys);
                }
            }
        }
    }
}
