//! Enumerated fields: string fields that take one of a fixed set of values.

/// A value of an enumerated field.
pub trait Choice: Copy {
    /// The value as written in manifests.
    fn as_str(self) -> &'static str;
}

/// Declares an enumerated field with its values as written in manifests.
macro_rules! choice {
    ($(#[$about:meta])* $name:ident: $($word:ident),+ $(,)?) => {
        $(#[$about])*
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
            schemars::JsonSchema,
        )]
        #[allow(missing_docs, non_camel_case_types, reason = "values are named as in manifests")]
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
