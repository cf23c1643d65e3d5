//! A kind without stored objects that presents those of another kind in its own format.

use crate::object::Object;

/// Whose objects a kind shows, and how they get from one form to the other.
///
/// Everything a client sees and writes is in the form of the kind that shows them: schema, owners of fields, checks. What is
/// stored, indexed and watched is of the kind that keeps them.
#[derive(Clone, Copy)]
pub struct Mirror {
    /// The group of the kind that keeps the objects.
    pub group: &'static str,
    /// Its resource.
    pub plural: &'static str,
    /// A kept object as it is shown.
    pub show: fn(Object) -> Object,
    /// A shown object as it is kept.
    pub keep: fn(Object) -> Object,
    /// What the fields that selectors may name are called where the objects are kept.
    pub fields: &'static [(&'static str, &'static str)],
}

impl Mirror {
    /// What a selectable field is called where the objects are kept.
    pub fn kept_field<'a>(&self, shown: &'a str) -> &'a str {
        self.fields.iter().find(|(name, _)| *name == shown).map_or(shown, |(_, kept)| *kept)
    }
}
