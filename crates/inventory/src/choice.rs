//! Fields that take one of a few words.

/// A field that takes one of a few words.
pub trait Choice: Copy {
    /// The word.
    fn as_str(self) -> &'static str;
}

/// Declares such a field: its words, as they stand in manifests.
macro_rules! choice {
    ($(#[$about:meta])* $name:ident: $($word:ident),+ $(,)?) => {
        $(#[$about])*
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
            schemars::JsonSchema,
        )]
        #[allow(missing_docs, non_camel_case_types, reason = "each word says what it is, and is spelled as in manifests")]
        pub enum $name { $($word),+ }

        impl $crate::Choice for $name {
            fn as_str(self) -> &'static str {
                match self { $($name::$word => stringify!($word)),+ }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad($crate::Choice::as_str(*self))
            }
        }
    };
}

pub(crate) use choice;
