//! ConfigMaps, which the reconcilers of these tests work on, and the faults that they meet.

use krm::Object;
use krm::kind::{Address, Planes};
use reconcile::reconciler::Scope;
use reconcile::role::Rule;
use reconcile::target::Target;
use serde_json::json;
use simulation::{Chances, Simulation, User};

/// What the reconcilers may write.
pub const ROLE: Rule = Rule::new("", &["configmaps"], &["update", "patch"]);

/// A ConfigMap with some data.
pub fn map(name: &str, data: &[(&str, &str)]) -> Object {
    let mut object = Object::new("v1", "ConfigMap");
    object.set_meta("namespace", Some("default".into()));
    object.set_meta("name", Some(name.into()));
    data.iter().for_each(|(key, value)| set(&mut object, key, value));
    object
}

/// Where it is.
pub fn at(name: &str) -> Target {
    let [group, plural, namespace, name] = ["", "configmaps", "default", name].map(str::to_owned);
    Target::new("", Address { group, plural, namespace, name })
}

/// All of them.
pub fn scope() -> Scope {
    Scope::resource("", "configmaps", Planes::Root)
}

/// A value of its data; empty if it is not set.
pub fn text<'a>(object: &'a Object, key: &str) -> &'a str {
    object.get("data").and_then(|data| data.get(key)?.as_str()).unwrap_or_default()
}

/// A number of its data; 0 if it is not set.
pub fn number(object: &Object, key: &str) -> i64 {
    text(object, key).parse().unwrap_or(0)
}

/// Sets a value of its data.
pub fn set(object: &mut Object, key: &str, value: &str) {
    let mut data = object.get("data").cloned().unwrap_or_else(|| json!({}));
    data[key] = value.into();
    object.set("data", Some(data));
}

/// The same with a value of its data.
pub fn with(object: &Object, key: &str, value: &str) -> Object {
    let mut object = object.clone();
    set(&mut object, key, value);
    object
}

/// Creates the namespace and ConfigMaps in it.
pub async fn create(user: &User, objects: &[Object]) -> Result<(), String> {
    let mut namespace = Object::new("v1", "Namespace");
    namespace.set_meta("name", Some("default".into()));
    user.create(&namespace).await?;
    for object in objects {
        user.create(object).await?;
    }
    Ok(())
}

/// Nothing goes wrong.
pub fn calm(seed: u64) -> Simulation {
    Simulation::seeded(seed)
}

/// All kinds of things go wrong.
pub fn rough(seed: u64) -> Simulation {
    Simulation::seeded(seed).with_faults(|point, dice| Chances::mixed().draw(point, dice))
}
