//! Label and field selectors, evaluated through the index where possible.

use std::borrow::Cow;
use std::sync::Arc;

use bytes::Bytes;
use krm::Object;
use krm::kind::{Conversion, Kind, Selected, Version};
use krm::selector::{FieldSelector, LabelSelector, Operator, field_texts};
use krm::sparse::Sparse;
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
    /// The parts of an object that tell whether it is meant; `None` where it takes all of it.
    needed: Option<Arc<Sparse>>,
    /// How stored objects of another version are read.
    conversion: Option<Arc<Conversion>>,
}

/// Kubernetes' kinds that say nothing about their fields have words of their own.
fn not_selectable(field: &str, kind: &Kind, version: &Version) -> String {
    if kind.shape.is_some() && version.selectable.is_empty() {
        return format!(
            "{} is not a known field selector: only \"metadata.name\", \"metadata.namespace\"",
            krm::field::quote(field)
        );
    }
    format!("field label not supported: {field}")
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
                return Err(Status::bad_request(not_selectable(field, kind, version)));
            }
        }
        let Some(mirror) = &kind.mirror else {
            return Ok(Selection::of(labels, fields, kind));
        };
        let kept = fields.requirements().iter().cloned().map(|mut requirement| {
            requirement.field = mirror.kept_field(&requirement.field).to_owned();
            requirement
        });
        Ok(Selection::of(labels, FieldSelector::of(kept.collect()), kind))
    }

    fn of(labels: LabelSelector, fields: FieldSelector, kind: &Kind) -> Selection {
        let by_label = (!labels.selects_everything()).then_some("metadata.labels");
        let by_field = fields.requirements().iter().map(|requirement| requirement.field.as_str());
        let reads_parts = kind.selected.is_none() && kind.conversion.is_none();
        let needed = reads_parts.then(|| Arc::new(Sparse::new(by_label.into_iter().chain(by_field))));
        let (read, conversion) = (kind.selected.clone(), kind.conversion.clone());
        Selection { read, needed, conversion, labels, fields }
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
        let object = match &self.needed {
            Some(sparse) => sparse.read(bytes),
            None => serde_json::from_slice(bytes).map(Object).ok().map(|object| match &self.conversion {
                Some(conversion) => conversion.to_stored(object.clone()).unwrap_or(object),
                None => object,
            }),
        };
        // Bytes that were stored are an object; anything else is nobody's.
        object.is_some_and(|object| self.matches(&object))
    }

    /// What the index says of each requirement that it can answer.
    fn answers(&self, of: &Parts<'_>) -> Vec<Indexed> {
        let labels = self.labels.requirements().iter().filter_map(|requirement| {
            let key = requirement.key.as_str();
            match (requirement.one_of(), &requirement.operator) {
                (Some(values), _) => {
                    let terms = values.iter().map(|value| index::label_is(of, key, value));
                    Some(Indexed::OneOf(terms.collect()))
                }
                (None, Operator::Exists) => Some(Indexed::Beginning(index::has_label(of, key))),
                _ => None,
            }
        });
        let fields = self.fields.requirements().iter().filter(|requirement| {
            // A field that is not there reads as empty, and what is not there is in no index.
            let indexed = !requirement.field.starts_with("metadata.");
            requirement.is_equal && !requirement.value.is_empty() && indexed
        });
        let fields = fields.map(|requirement| {
            Indexed::OneOf(vec![index::field_is(of, &requirement.field, &requirement.value)])
        });
        labels.chain(fields).collect()
    }

    /// The matching objects under `prefix`, in order, found through the narrowest index there is: at most `limit` of
    /// those that come after `after`.
    pub fn find(
        &self,
        snapshot: &Snapshot,
        of: &Parts<'_>,
        prefix: &str,
        (after, limit): (Option<&Key>, usize),
        reveal: impl Fn(&Key, &Entry) -> Option<Bytes>,
    ) -> Vec<(Key, Arc<Entry>)> {
        let matches = |key: &Key, entry: &Entry| {
            self.is_everything() || reveal(key, entry).is_some_and(|bytes| self.matches_bytes(&bytes))
        };
        let own = |(key, entry): (&Key, &Arc<Entry>)| (key.clone(), entry.clone());
        let prefix = prefix.as_bytes();
        let Some(narrowest) = narrowest(snapshot, self.answers(of)) else {
            let all = snapshot.list_from(prefix, after);
            return all.filter(|(key, entry)| matches(key, entry)).map(own).take(limit).collect();
        };
        // Where nothing else is required, those that the index names are the answer.
        let is_all = self.labels.requirements().len() + self.fields.requirements().len() == 1;
        let with_entry = |key| Some((key, snapshot.get(key)?));
        let meant = |(key, entry): &(&Key, &Arc<Entry>)| is_all || matches(key, entry);
        match narrowest.as_slice() {
            [term] => {
                let keys = snapshot.having_after(term, prefix, after);
                keys.filter_map(with_entry).filter(meant).map(own).take(limit).collect()
            }
            terms => {
                let mut keys: Vec<&Key> =
                    terms.iter().flat_map(|term| snapshot.having_after(term, prefix, after)).collect();
                keys.sort_unstable();
                keys.dedup();
                keys.into_iter().filter_map(with_entry).filter(meant).map(own).take(limit).collect()
            }
        }
    }
}

/// Which terms the objects that meet a requirement have.
enum Indexed {
    /// One of these.
    OneOf(Vec<Bytes>),
    /// One that begins with this.
    Beginning(Bytes),
}

/// The terms of the requirement that the fewest objects meet; `None` where the index can answer none.
fn narrowest(snapshot: &Snapshot, answers: Vec<Indexed>) -> Option<Vec<Bytes>> {
    let mut best: Option<(usize, Vec<Bytes>)> = None;
    for answer in answers {
        let most = best.as_ref().map_or(usize::MAX, |(count, _)| *count);
        let mut count: usize = 0;
        let terms = match answer {
            Indexed::OneOf(terms) => {
                count = terms.iter().map(|term| snapshot.count_having(term)).sum();
                terms
            }
            Indexed::Beginning(beginning) => {
                let mut terms = Vec::new();
                // No further than it could still be the narrowest.
                for (term, bearers) in snapshot.terms(&beginning) {
                    count = count.saturating_add(bearers);
                    terms.push(term.clone());
                    if count >= most {
                        break;
                    }
                }
                terms
            }
        };
        if best.is_none() || count < most {
            best = Some((count, terms));
        }
    }
    best.map(|(_, terms)| terms)
}
