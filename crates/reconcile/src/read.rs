//! Reads of a plan, as numbers: what a plan has read, and which reads a change touches.
//!
//! A read is a hash. Two reads with the same hash cost one needless plan, nothing else.

use std::hash::{DefaultHasher, Hash, Hasher};

use krm::Object;
use krm::kind::{Address, Bucket, Kind};
use krm::selector::field_texts;

/// Something that a plan can read: an object, a bucket, a collection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Read(u64);

/// What a read is of. The first is always the plane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum What<'a> {
    /// An object, present or not.
    Object(&'a str, &'a Address),
    /// A bucket and its value.
    Bucket(&'a str, Bucket, &'a str),
    /// Group, plural, selectable field and its value.
    Field(&'a str, &'a str, &'a str, &'a str, &'a str),
    /// Group, plural, label and its value.
    Label(&'a str, &'a str, &'a str, &'a str, &'a str),
    /// The objects that refer to another.
    Referrers(&'a str, &'a Address),
    /// Group and plural.
    Kind(&'a str, &'a str, &'a str),
    /// Group, plural and namespace.
    KindIn(&'a str, &'a str, &'a str, &'a str),
    /// A namespace.
    Namespace(&'a str, &'a str),
    /// All of it.
    Plane(&'a str),
    /// The objects that the one with this uid owns.
    Owned(&'a str, &'a str),
    /// Group and name of a kind.
    Served(&'a str, &'a str, &'a str),
}

impl Read {
    /// The read of something.
    pub fn new(what: &What<'_>) -> Read {
        // Keys of this hasher are fixed: the same read has the same number in every process.
        let mut hasher = DefaultHasher::new();
        what.hash(&mut hasher);
        Read(hasher.finish())
    }

    /// An object, present or not.
    pub fn object(plane: &str, at: &Address) -> Read {
        Read::new(&What::Object(plane, at))
    }

    /// The objects in a bucket.
    pub fn bucket(plane: &str, bucket: Bucket, value: &str) -> Read {
        Read::new(&What::Bucket(plane, bucket, value))
    }

    /// The objects whose selectable field has a value.
    pub fn field(plane: &str, group: &str, plural: &str, field: &str, value: &str) -> Read {
        Read::new(&What::Field(plane, group, plural, field, value))
    }

    /// The objects of a kind with a label.
    pub fn label(plane: &str, group: &str, plural: &str, label: &str, value: &str) -> Read {
        Read::new(&What::Label(plane, group, plural, label, value))
    }

    /// The objects that refer to another.
    pub fn referrers(plane: &str, to: &Address) -> Read {
        Read::new(&What::Referrers(plane, to))
    }

    /// All objects of a kind.
    pub fn kind(plane: &str, group: &str, plural: &str) -> Read {
        Read::new(&What::Kind(plane, group, plural))
    }

    /// All objects of a kind in a namespace.
    pub fn kind_in(plane: &str, group: &str, plural: &str, namespace: &str) -> Read {
        Read::new(&What::KindIn(plane, group, plural, namespace))
    }

    /// Everything in a namespace.
    pub fn namespace(plane: &str, namespace: &str) -> Read {
        Read::new(&What::Namespace(plane, namespace))
    }

    /// Everything in a plane.
    pub fn plane(plane: &str) -> Read {
        Read::new(&What::Plane(plane))
    }

    /// The objects that an object owns.
    pub fn owned(plane: &str, uid: &str) -> Read {
        Read::new(&What::Owned(plane, uid))
    }

    /// Whether a kind is served.
    pub fn served(plane: &str, group: &str, kind: &str) -> Read {
        Read::new(&What::Served(plane, group, kind))
    }
}

/// The reads that a change of an object touches, sorted: those of its place, and of what it contained before and after.
pub fn touched(plane: &str, at: &Address, kind: Option<&Kind>, objects: [Option<&Object>; 2]) -> Vec<Read> {
    let mut reads = Vec::new();
    touched_by_place(plane, at, &mut reads);
    for (object, kind) in objects.into_iter().flatten().filter_map(|object| Some((object, kind?))) {
        touched_by_content(plane, kind, object, &mut reads);
    }
    reads.sort_unstable();
    reads.dedup();
    reads
}

/// The reads that any change of an object touches, whatever it contains.
pub fn touched_by_place(plane: &str, at: &Address, reads: &mut Vec<Read>) {
    reads.push(Read::object(plane, at));
    reads.push(Read::kind(plane, &at.group, &at.plural));
    reads.push(Read::plane(plane));
    if !at.namespace.is_empty() {
        reads.push(Read::kind_in(plane, &at.group, &at.plural, &at.namespace));
        reads.push(Read::namespace(plane, &at.namespace));
    }
}

/// The reads that an object is part of because of what it contains: buckets, fields, references, owners. A change touches
/// those of the object before and after it.
pub fn touched_by_content(plane: &str, kind: &Kind, object: &Object, reads: &mut Vec<Read>) {
    visit_content(plane, kind, object, &mut |what| reads.push(Read::new(&what)));
}

/// The same, one by one, for an index of objects by what can be read of them.
pub fn visit_content(plane: &str, kind: &Kind, object: &Object, found: &mut dyn FnMut(What<'_>)) {
    let (group, plural) = (kind.group.as_str(), kind.names.plural.as_str());
    for (bucket, values) in &kind.buckets {
        values(object).iter().for_each(|value| found(What::Bucket(plane, *bucket, value)));
    }
    for reference in &kind.references {
        for (_, name) in reference.names(object) {
            let to = reference.target(object, name);
            found(What::Referrers(if reference.in_root { "" } else { plane }, &to));
        }
    }
    for field in &kind.stored().selectable {
        let texts = match kind.selected.as_ref().and_then(|read| read(object, field)) {
            Some(text) => vec![text.into()],
            None => field_texts(object, field),
        };
        texts.iter().for_each(|text| found(What::Field(plane, group, plural, field, text)));
    }
    object.labels().for_each(|(label, value)| found(What::Label(plane, group, plural, label, value)));
    object.owners().for_each(|owner| found(What::Owned(plane, owner.uid)));
}
