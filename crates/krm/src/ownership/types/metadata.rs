//! The type of `metadata`, which is the same for every kind.

use super::schema::Builder;
use super::{Atom, Fields, Id, Items, Key, List, OPAQUE, Scalar};

const TEXTS: [&str; 6] = ["name", "generateName", "namespace", "selfLink", "uid", "resourceVersion"];
const TIMES: [&str; 2] = ["creationTimestamp", "deletionTimestamp"];
const NUMBERS: [&str; 2] = ["generation", "deletionGracePeriodSeconds"];

impl Builder<'_> {
    /// The type of `metadata`, made when it is first asked for.
    pub(super) fn object_meta(&mut self) -> Id {
        if let Some(id) = self.object_meta {
            return id;
        }
        let text = self.scalar(Scalar::Text);
        let time = self.scalar(Scalar::Any);
        let number = self.scalar(Scalar::Numeric);
        let texts = Atom { map: Some(Fields { others: Some(text), ..Fields::default() }), ..Atom::default() };
        let texts = self.add(texts);
        let finalizers = self.list(text, Items::Set);
        let owner = self.owner_reference(text);
        let by_uid = vec![Key { name: "uid".to_owned(), default: Some("".into()) }];
        let owners = self.list(owner, Items::Keyed(by_uid));
        let entries = self.list(OPAQUE, Items::Atomic);
        let mut declared = Vec::new();
        declared.extend(TEXTS.map(|name| (name.to_owned(), text)));
        declared.extend(TIMES.map(|name| (name.to_owned(), time)));
        declared.extend(NUMBERS.map(|name| (name.to_owned(), number)));
        declared.extend(["labels", "annotations"].map(|name| (name.to_owned(), texts)));
        declared.push(("finalizers".to_owned(), finalizers));
        declared.push(("ownerReferences".to_owned(), owners));
        declared.push(("managedFields".to_owned(), entries));
        let id = self.fields(declared, false);
        self.object_meta = Some(id);
        id
    }

    fn owner_reference(&mut self, text: Id) -> Id {
        let flag = self.scalar(Scalar::Boolean);
        let mut declared: Vec<_> =
            ["apiVersion", "kind", "name", "uid"].map(|name| (name.to_owned(), text)).into();
        declared.extend(["controller", "blockOwnerDeletion"].map(|name| (name.to_owned(), flag)));
        self.fields(declared, true)
    }

    /// A struct of these fields and no others.
    pub(super) fn fields(&mut self, mut declared: Vec<(String, Id)>, atomic: bool) -> Id {
        declared.sort_by(|left, right| left.0.cmp(&right.0));
        self.add(Atom { map: Some(Fields { declared, others: None, atomic }), ..Atom::default() })
    }

    pub(super) fn scalar(&mut self, scalar: Scalar) -> Id {
        self.add(Atom { scalar: Some(scalar), ..Atom::default() })
    }

    fn list(&mut self, element: Id, items: Items) -> Id {
        self.add(Atom { list: Some(List { element, items }), ..Atom::default() })
    }
}
