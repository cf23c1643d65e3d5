//! How activity feeds tell what happens to objects of a kind.

use serde_json::Value;

/// Sentences of a kind beyond the plain ones: somebody created, updated or deleted an object.
#[derive(Debug, Clone, Copy, Default)]
pub struct Activity {
    /// Sentences for a creation, tried in order before the plain one.
    pub created: &'static [Sentence],
    /// Sentences for an update, tried in order before the plain one.
    pub updated: &'static [Sentence],
    /// Whether people know objects by `spec.displayName` rather than by their names.
    pub is_displayed: bool,
    /// The rules that tell the Events of its objects, given the name of the kind: a list as in `spec.eventRules` of an
    /// ActivityPolicy.
    pub event_rules: Option<fn(&str) -> Value>,
}

/// One way to tell a change.
#[derive(Debug, Clone, Copy)]
pub struct Sentence {
    /// When it fits: a CEL expression. `$` stands for the spec of the object, `before` for the object before the change.
    pub when: &'static str,
    /// The sentence after the actor. `@` stands for the object's kind and linked name.
    pub says: &'static str,
}

impl Activity {
    /// Whether all its changes are told by the plain sentences.
    pub fn is_plain(&self) -> bool {
        self.created.is_empty() && self.updated.is_empty() && !self.is_displayed
    }
}
