//! Selection of activities: time range, filters and words.

use serde_json::Value;

use super::compose::Actor;
use super::filter::Filter;
use super::window::Window;

/// Which activities are asked for.
pub struct Asked {
    /// When they happened.
    pub window: Window,
    /// What their fields must be.
    pub equal: Vec<(String, String)>,
    /// What else must hold.
    pub filter: Filter,
    /// Words of the sentence, in small letters.
    pub words: Vec<String>,
    /// What was done: create, update or delete; nothing for whatever.
    pub verb: String,
}

impl Asked {
    /// Whether an activity is one of those.
    pub fn fits(&self, activity: &Value) -> bool {
        let spec = &activity["spec"];
        let is_equal = |(field, value): &(String, String)| {
            let found =
                field.split('.').fold(activity, |value, step| &value[step]).as_str().unwrap_or_default();
            match field.as_str() {
                "spec.actor.name" => found == value || value.strip_prefix("system:") == Some(found),
                _ => found == value,
            }
        };
        let summary = || spec["summary"].as_str().unwrap_or_default().to_lowercase();
        let verb = &activity["metadata"]["labels"]["activity.miloapis.com/verb"];
        (self.verb.is_empty() || *verb == self.verb)
            && self.equal.iter().all(is_equal)
            && (self.words.is_empty() || {
                let summary = summary();
                self.words.iter().all(|word| summary.contains(word))
            })
            && self.filter.lets_through(activity)
    }

    /// What a field must be.
    pub fn of<'a>(&'a self, field: &'a str) -> impl Iterator<Item = &'a str> {
        self.equal.iter().filter(move |(name, _)| name == field).map(|(_, value)| value.as_str())
    }

    /// Whether a user may have made such activities.
    pub fn may_be_by(&self, user: &str) -> bool {
        let actor = Actor::of(user);
        self.of("spec.actor.name").all(|name| actor.is_called(name))
            && self.of("spec.changeSource").all(|source| actor.change_source() == source)
    }

    /// Whether an event may be told of, and not a change alone.
    pub fn may_be_an_event(&self) -> bool {
        self.verb.is_empty() && self.of("spec.changeSource").all(|source| source == "system")
    }
}
