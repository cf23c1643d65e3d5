//! What is done to templates as JSON: spelling, restarts of a city, and what they refer to.

use serde_json::{Value, json};

use crate::names::{RESTARTED_AT, canonical_instance_type};

/// Writes the instance type as the catalog has it.
pub fn normalize(template: &mut Value) {
    let path = "/spec/runtime/resources/instanceType";
    let Some(Value::String(name)) = template.pointer_mut(path) else { return };
    *name = canonical_instance_type(name);
}

/// The template of a workload as the instances of a city get it: restarts of the city count, those of others do not.
pub fn in_city(template: &Value, city: &str) -> Value {
    let mut template = template.clone();
    normalize(&mut template);
    let Some(annotations) =
        template.pointer_mut("/metadata/annotations").and_then(|value| value.as_object_mut())
    else {
        return template;
    };
    let own = format!("{RESTARTED_AT}.{city}");
    let others = format!("{RESTARTED_AT}.");
    let of_city = annotations.get(&own).and_then(Value::as_str).map(str::to_owned);
    annotations.retain(|key, _| !key.starts_with(&others));
    if let Some(time) = of_city {
        // The later of both: a restart of everything does not undo one of the city.
        let whole = annotations.get(RESTARTED_AT).and_then(Value::as_str).unwrap_or_default();
        if time.as_str() > whole {
            annotations.insert(RESTARTED_AT.to_owned(), json!(time));
        }
    }
    template
}

/// What a template refers to.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct DataReference {
    /// `ConfigMap` or `Secret`.
    pub kind: &'static str,
    /// Its name.
    pub name: String,
}

impl DataReference {
    /// Its resource.
    pub fn plural(&self) -> &'static str {
        if self.kind == SECRET { "secrets" } else { "configmaps" }
    }
}

const CONFIG_MAP: &str = "ConfigMap";
const SECRET: &str = "Secret";

/// The ConfigMaps and Secrets that instances of a template spec can't start without, in order, each once.
pub fn required_data(spec: &Value) -> Vec<DataReference> {
    let mut found = Vec::new();
    let mut add = |kind: &'static str, reference: &Value, field: &str| {
        let name = reference[field].as_str().unwrap_or_default();
        if !name.is_empty() && reference["optional"] != json!(true) {
            found.push(DataReference { kind, name: name.to_owned() });
        }
    };
    for container in list(&spec["runtime"]["sandbox"]["containers"]) {
        for variable in list(&container["env"]) {
            add(CONFIG_MAP, &variable["valueFrom"]["configMapKeyRef"], "name");
            add(SECRET, &variable["valueFrom"]["secretKeyRef"], "name");
        }
        for source in list(&container["envFrom"]) {
            add(CONFIG_MAP, &source["configMapRef"], "name");
            add(SECRET, &source["secretRef"], "name");
        }
    }
    for secret in list(&spec["runtime"]["sandbox"]["imagePullSecrets"]) {
        add(SECRET, secret, "name");
    }
    for volume in list(&spec["volumes"]) {
        add(CONFIG_MAP, &volume["configMap"], "name");
        add(SECRET, &volume["secret"], "secretName");
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// The names of the networks of a template spec, in the order of its interfaces.
pub fn networks(spec: &Value) -> Vec<&str> {
    list(&spec["networkInterfaces"]).filter_map(|interface| interface["network"]["name"].as_str()).collect()
}

/// The items of a list; none if it is none.
pub fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_restart_of_a_city_is_of_that_city_alone() {
        let template = json!({"metadata": {"annotations": {
            "compute.datumapis.com/restartedAt": "2026-06-04T10:00:00Z",
            "compute.datumapis.com/restartedAt.DFW": "2026-06-05T10:00:00Z",
            "compute.datumapis.com/restartedAt.IAD": "2026-06-03T10:00:00Z",
        }}, "spec": {}});
        let restarted =
            |city: &str| in_city(&template, city)["metadata"]["annotations"].as_object().unwrap().clone();
        assert_eq!(restarted("DFW").len(), 1);
        assert_eq!(restarted("DFW")[RESTARTED_AT], "2026-06-05T10:00:00Z");
        assert_eq!(restarted("IAD")[RESTARTED_AT], "2026-06-04T10:00:00Z", "the later one counts");
        assert_eq!(restarted("LHR")[RESTARTED_AT], "2026-06-04T10:00:00Z");
    }

    #[test]
    fn what_is_required_is_found_everywhere_and_optional_things_are_not() {
        let spec = json!({
            "runtime": {"sandbox": {
                "imagePullSecrets": [{"name": "pull"}],
                "containers": [{
                    "env": [{"name": "A", "valueFrom": {"secretKeyRef": {"name": "db", "key": "url"}}},
                            {"name": "B", "valueFrom": {"configMapKeyRef": {"name": "maybe", "key": "x", "optional": true}}}],
                    "envFrom": [{"configMapRef": {"name": "env"}}],
                }],
            }},
            "volumes": [{"name": "c", "configMap": {"name": "env"}}, {"name": "s", "secret": {"secretName": "tls"}}],
        });
        let found: Vec<String> =
            required_data(&spec).iter().map(|found| format!("{}/{}", found.kind, found.name)).collect();
        assert_eq!(found, ["ConfigMap/env", "Secret/db", "Secret/pull", "Secret/tls"]);
    }
}
