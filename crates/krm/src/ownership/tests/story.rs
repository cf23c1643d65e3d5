//! An object and what happens to it, told in a few words.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::object::Object;
use crate::ownership::*;
use crate::time::Moment;

pub(super) const V1: &str = "example.com/v1";

/// An object of which `spec` is all that matters.
pub(super) struct Story {
    pub versions: Versions,
    pub version: &'static str,
    pub live: Option<Object>,
    now: i64,
}

/// A schema of objects whose spec has these properties.
pub(super) fn schema(properties: Value) -> Type {
    Type::from_schema(&json!({"type": "object", "properties": {
        "spec": {"type": "object", "properties": properties},
    }}))
}

impl Story {
    pub(super) fn of(properties: Value) -> Story {
        Story::with(Versions::new("Thing", Origin::Custom).with(V1, schema(properties)))
    }

    pub(super) fn with(versions: Versions) -> Story {
        Story { versions, version: V1, live: None, now: 0 }
    }

    fn endpoint(&self) -> Endpoint<'_> {
        Endpoint { versions: &self.versions, api_version: self.version, subresource: "", resets: &[] }
    }

    pub(super) fn thing(&self, spec: Value) -> Object {
        let mut thing = Object::new(self.version, "Thing");
        thing.set_meta("name", Some("a".into()));
        thing.set("spec", Some(spec));
        thing
    }

    fn tick(&mut self) -> Moment {
        self.now += 1;
        Moment::of_seconds(self.now)
    }

    fn in_version(&self) -> Option<Object> {
        let mut live = self.live.clone()?;
        live.set_type(self.version, "Thing");
        Some(live)
    }

    pub(super) fn update(&mut self, manager: &str, spec: Value) -> Result<(), Untracked> {
        let now = self.tick();
        let mut new = self.thing(spec);
        new.set_meta("uid", Some("u".into()));
        let result = self.endpoint().update(self.in_version().as_ref(), &mut new, manager, now);
        self.live = Some(new);
        result
    }

    /// Brings back an earlier state.
    pub(super) fn bring_back(&mut self, manager: &str, spec: Value, past: &Object) {
        let now = self.tick();
        let mut new = self.thing(spec);
        new.set_meta("uid", Some("u".into()));
        let live = self.in_version().unwrap();
        self.endpoint().bring_back(&live, &mut new, past, manager, now).unwrap();
        self.live = Some(new);
    }

    pub(super) fn try_apply(&mut self, manager: &str, spec: Value) -> Result<(), String> {
        let config = self.thing(spec);
        self.apply_object(Applier { manager, force: false }, &config)
    }

    pub(super) fn apply(&mut self, manager: &str, spec: Value) {
        self.try_apply(manager, spec).unwrap();
    }

    pub(super) fn force(&mut self, manager: &str, spec: Value) {
        let config = self.thing(spec);
        self.apply_object(Applier { manager, force: true }, &config).unwrap();
    }

    pub(super) fn apply_object(&mut self, applier: Applier<'_>, config: &Object) -> Result<(), String> {
        let now = self.tick();
        let live = self.in_version();
        let new = self.endpoint().apply(live.as_ref(), config, applier, now);
        let mut new = new.map_err(|error| error.status().message)?;
        new.set_meta("uid", Some("u".into()));
        self.live = Some(new);
        Ok(())
    }

    pub(super) fn spec(&self) -> Value {
        self.live.as_ref().unwrap().get("spec").cloned().unwrap_or_default()
    }

    /// What each manager owns of the spec.
    pub(super) fn owners(&self) -> BTreeMap<String, Value> {
        let entries = self.live.as_ref().unwrap().meta("managedFields").and_then(Value::as_array);
        let entries = entries.into_iter().flatten().map(|entry| {
            let name =
                format!("{} {}", entry["manager"].as_str().unwrap(), entry["operation"].as_str().unwrap());
            (name, entry["fieldsV1"]["f:spec"].clone())
        });
        entries.collect()
    }
}

/// Who owns what, for comparison.
pub(super) fn owned(entries: &[(&str, Value)]) -> BTreeMap<String, Value> {
    entries.iter().map(|(name, fields)| ((*name).to_owned(), fields.clone())).collect()
}
