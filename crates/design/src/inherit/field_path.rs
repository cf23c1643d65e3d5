//! The path of a value in the settings, formatted lazily: most values do not change.

use std::fmt;

/// The path of a value.
#[derive(Clone, Copy)]
pub(crate) enum FieldPath<'p> {
    /// A field at the top, such as `primary_network` or `storage.volume_groups`.
    Top(&'p str),
    /// A field or member of what stands above.
    In(&'p FieldPath<'p>, &'p str),
    /// An entry of the list above.
    Entry(&'p FieldPath<'p>, &'p str),
}

impl fmt::Display for FieldPath<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Top(name) => f.write_str(name),
            Self::In(above, name) => write!(f, "{above}.{name}"),
            Self::Entry(list, entry) => write!(f, "{list}[{entry}]"),
        }
    }
}
