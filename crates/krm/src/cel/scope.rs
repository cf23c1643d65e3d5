//! The declaration that the rules of a schema are about, found on the way down from the root.

use std::sync::Arc;

use super::compile::{Compiled, compile, most_in_request};
use super::decl::{DeclId, Decls};
use crate::crd::JsonSchema;

/// A place in a schema as rules see it.
#[derive(Debug, Clone)]
pub(crate) struct Scope {
    /// `None` where rules can see nothing.
    declared: Option<(Arc<Decls>, DeclId)>,
}

impl Scope {
    /// The root of a schema.
    pub fn root(schema: &JsonSchema<'_>) -> Scope {
        Scope::of(schema, true)
    }

    /// A part of a schema, for itself.
    pub fn part(schema: &JsonSchema<'_>) -> Scope {
        Scope::of(schema, schema.embedded)
    }

    fn of(schema: &JsonSchema<'_>, is_resource: bool) -> Scope {
        let declared = Decls::of(schema, is_resource).map(|decls| {
            let root = decls.root();
            (Arc::new(decls), root)
        });
        Scope { declared }
    }

    /// A property.
    pub fn property(&self, name: &str, property: &JsonSchema<'_>) -> Scope {
        let within = self.declared.as_ref();
        let found = within.and_then(|(decls, decl)| Some((decls.clone(), decls.property(*decl, name)?)));
        match found {
            Some(declared) => Scope { declared: Some(declared) },
            // What expressions cannot name from above, rules of its own can still be about.
            None => Scope::of(property, property.embedded),
        }
    }

    /// What a list or a map holds.
    pub fn element(&self, element: &JsonSchema<'_>) -> Scope {
        let within = self.declared.as_ref();
        let found = within.and_then(|(decls, decl)| Some((decls.clone(), decls.element(*decl)?)));
        match found {
            Some(declared) => Scope { declared: Some(declared) },
            None => Scope::of(element, element.embedded),
        }
    }

    /// The declaration, where there is one.
    pub(super) fn declared(&self) -> Option<&(Arc<Decls>, DeclId)> {
        self.declared.as_ref()
    }

    /// The rules of a schema as programs; `None` when rules can see nothing here.
    pub fn compile(&self, schema: &JsonSchema<'_>) -> Option<Vec<Compiled>> {
        let (decls, decl) = self.declared.as_ref()?;
        Some(schema.rules.iter().map(|rule| compile(rule, decls, *decl)).collect())
    }

    /// How often such values can stand in a request.
    pub fn most_in_request(&self) -> u64 {
        let least = self.declared.as_ref().map_or(0, |(decls, decl)| decls.get(*decl).least_bytes);
        most_in_request(least)
    }
}
