//! The type of a kind's objects, reduced to what ownership and merging need to know of it.

mod metadata;
mod schema;
#[cfg(test)]
mod tests;

use serde_json::Value;

/// The type of the objects of one version of a kind, built once and used for every write.
#[derive(Debug, Clone)]
pub struct Type {
    /// Types refer to each other by their place here, so that they may be recursive.
    atoms: Vec<Atom>,
    root: Id,
}

/// Where a type stands in [`Type::atoms`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Id(u32);

/// Anything, owned as a whole.
const UNTYPED: Id = Id(0);
/// Anything; maps are owned entry by entry, lists as a whole.
const DEDUCED: Id = Id(1);
/// Anything, owned as a whole and never looked into.
const OPAQUE: Id = Id(2);

/// What a value may be; where several are possible, the value decides.
#[derive(Debug, Clone, Default)]
pub(super) struct Atom {
    pub scalar: Option<Scalar>,
    pub list: Option<List>,
    pub map: Option<Fields>,
    opaque: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scalar {
    Numeric,
    Text,
    Boolean,
    Any,
}

#[derive(Debug, Clone)]
pub(super) struct List {
    element: Id,
    pub items: Items,
}

/// How the items of a list belong together.
#[derive(Debug, Clone)]
pub(super) enum Items {
    /// The list is one value.
    Atomic,
    /// Each item is owned by itself; no two are the same.
    Set,
    /// Each item is owned field by field, and known by the values of these fields.
    Keyed(Vec<Key>),
}

/// A field that list items are known by.
#[derive(Debug, Clone)]
pub(super) struct Key {
    pub name: String,
    /// The value of items that leave it out.
    pub default: Option<Value>,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Fields {
    /// Sorted by name.
    declared: Vec<(String, Id)>,
    /// The type of all other entries, if there may be any.
    others: Option<Id>,
    pub atomic: bool,
}

/// A type within a [`Type`].
#[derive(Clone, Copy)]
pub(super) struct Shape<'t> {
    of: &'t Type,
    id: Id,
}

/// The part of a type that applies to a value.
#[derive(Clone, Copy)]
pub(super) enum Case<'t> {
    Map(&'t Fields),
    Scalar(Scalar),
    List(&'t List),
}

impl Type {
    /// The type of objects about which nothing is known: maps are owned entry by entry, everything else as a whole.
    pub fn deduced() -> Type {
        Type { atoms: Type::known_atoms(), root: DEDUCED }
    }

    fn known_atoms() -> Vec<Atom> {
        let anything = |element: Id, atomic: bool| Atom {
            scalar: Some(Scalar::Any),
            list: Some(List { element: UNTYPED, items: Items::Atomic }),
            map: Some(Fields { declared: Vec::new(), others: Some(element), atomic }),
            opaque: false,
        };
        vec![
            anything(UNTYPED, true),
            anything(DEDUCED, false),
            Atom { opaque: true, ..anything(OPAQUE, true) },
        ]
    }

    /// The type of whole objects.
    pub(super) fn root(&self) -> Shape<'_> {
        Shape { of: self, id: self.root }
    }

    /// The fields of whole objects.
    pub(super) fn fields(&self) -> &Fields {
        const NONE: &Fields = &Fields { declared: Vec::new(), others: Some(DEDUCED), atomic: false };
        self.atom(self.root).map.as_ref().unwrap_or(NONE)
    }

    fn atom(&self, id: Id) -> &Atom {
        // Ids are made only together with their atoms.
        self.atoms.get(id.0 as usize).unwrap_or(&self.atoms[UNTYPED.0 as usize])
    }
}

impl<'t> Shape<'t> {
    pub(super) fn atom(self) -> &'t Atom {
        self.of.atom(self.id)
    }

    /// Whether values of this type are not looked into.
    pub(super) fn is_opaque(self) -> bool {
        self.atom().opaque
    }

    /// The part of the type that `value` falls under. A value of a wrong type, or null, falls under the first there is.
    pub(super) fn case(self, value: &Value) -> Case<'t> {
        let atom = self.atom();
        let fitting = match value {
            Value::Null => None,
            Value::Bool(_) | Value::Number(_) | Value::String(_) => atom.scalar.map(Case::Scalar),
            Value::Array(_) => atom.list.as_ref().map(Case::List),
            Value::Object(_) => atom.map.as_ref().map(Case::Map),
        };
        fitting.unwrap_or_else(|| self.first_case())
    }

    /// The part of the type that a value falls under that fits none.
    pub(super) fn first_case(self) -> Case<'t> {
        let atom = self.atom();
        match (&atom.map, atom.scalar, &atom.list) {
            (Some(fields), _, _) => Case::Map(fields),
            (None, None, Some(list)) => Case::List(list),
            (None, scalar, _) => Case::Scalar(scalar.unwrap_or(Scalar::Any)),
        }
    }

    /// Whether two values fall under the same part of the type.
    pub(super) fn treats_alike(self, left: &Value, right: &Value) -> bool {
        let atom = self.atom();
        let parts =
            u8::from(atom.scalar.is_some()) + u8::from(atom.list.is_some()) + u8::from(atom.map.is_some());
        parts <= 1 || atom.part_of(left) == atom.part_of(right)
    }

    /// The type of an entry of a map; `None` when there may be no such entry.
    pub(super) fn entry(self, fields: &'t Fields, name: &str) -> Option<Shape<'t>> {
        let id = fields.find(name).or(fields.others)?;
        Some(Shape { id, ..self })
    }

    /// The type of an entry of a map that has been checked to be allowed.
    pub(super) fn entry_or_untyped(self, fields: &'t Fields, name: &str) -> Shape<'t> {
        self.entry(fields, name).unwrap_or(Shape { id: UNTYPED, ..self })
    }

    /// The type of a list's items.
    pub(super) fn item(self, list: &'t List) -> Shape<'t> {
        Shape { id: list.element, ..self }
    }

    /// Whether entries of this map are whatever they are, so that how they are owned cannot have been redeclared.
    pub(super) fn is_free_form(self, fields: &Fields) -> bool {
        let others_are_free =
            fields.others.is_some_and(|id| id == DEDUCED || self.of.atom(id).scalar == Some(Scalar::Any));
        others_are_free && fields.declared.is_empty()
    }
}

impl Atom {
    /// Which part of the type a value asks for; 0 when it has no such part.
    fn part_of(&self, value: &Value) -> u8 {
        match value {
            Value::Bool(_) | Value::Number(_) | Value::String(_) if self.scalar.is_some() => 1,
            Value::Array(_) if self.list.is_some() => 2,
            Value::Object(_) if self.map.is_some() => 3,
            _ => 0,
        }
    }
}

impl Fields {
    fn find(&self, name: &str) -> Option<Id> {
        let at = self.declared.binary_search_by(|(declared, _)| declared.as_str().cmp(name)).ok()?;
        Some(self.declared[at].1)
    }

    /// Whether the schema names this entry, rather than allowing any.
    pub(super) fn declares(&self, name: &str) -> bool {
        self.find(name).is_some()
    }
}
