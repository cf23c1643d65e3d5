//! What a cluster may say about its template, and what the template adds to it.

use std::collections::BTreeMap;

use krm::field::{FieldError, Path};

use crate::kinds::cluster::{ClusterNodeSet, ClusterSpec};
use crate::kinds::cluster_template::{ClusterTemplate, ParameterDefinition, TypedValue};

/// Completes a new cluster from its template: host classes and sizes of node sets, node sets that it does not name, and
/// defaults of parameters.
pub fn complete(spec: &mut ClusterSpec, template: &ClusterTemplate) {
    for (name, of_template) in &template.node_sets {
        let absent = || ClusterNodeSet { size: of_template.size, ..ClusterNodeSet::default() };
        let set = spec.node_sets.entry(name.clone()).or_insert_with(absent);
        if set.host_class.as_ref().is_none_or(String::is_empty) {
            set.host_class = Some(of_template.host_class.clone());
        }
    }
    for parameter in &template.parameters {
        if let Some(default) = &parameter.default {
            spec.template_parameters.entry(parameter.name.clone()).or_insert_with(|| default.clone());
        }
    }
}

/// What is wrong with a cluster, by its template. Node sets that it had before are not looked at again.
pub fn faults(
    spec: &ClusterSpec,
    before: Option<&ClusterSpec>,
    template: &ClusterTemplate,
) -> Vec<FieldError> {
    let mut faults = Vec::new();
    let at = Path::of("spec");
    let sets = at.field("nodeSets");
    let is_new = |name: &str| before.is_none_or(|before| !before.node_sets.contains_key(name));
    for (name, set) in spec.node_sets.iter().filter(|(name, _)| is_new(name)) {
        let path = sets.key(name);
        let Some(of_template) = template.node_sets.get(name) else {
            let why = format!("the template has no such node set; it has {}", listed(&template.node_sets));
            faults.push(FieldError::invalid_text(&path, name, why));
            continue;
        };
        let class = set.host_class.as_deref().filter(|class| !class.is_empty());
        if let Some(class) = class.filter(|class| *class != of_template.host_class) {
            let why = format!("must be {}, the host class of the template", of_template.host_class);
            faults.push(FieldError::invalid_text(&path.field("hostClass"), class, why));
        }
    }
    let was = before.and_then(|before| before.release.as_deref());
    let release = spec.release.as_deref().filter(|release| Some(*release) != was);
    if let Some(release) = release.filter(|release| template.release(Some(release)).is_none()) {
        let offered: BTreeMap<&str, ()> =
            template.releases.iter().map(|release| (release.name.as_str(), ())).collect();
        let why = format!("the template has no such release; it has {}", listed(&offered));
        faults.push(FieldError::invalid_text(&at.field("release"), release, why));
    }
    if before.is_none() {
        faults.extend(parameter_faults(&spec.template_parameters, template));
    }
    faults
}

fn parameter_faults(given: &BTreeMap<String, TypedValue>, template: &ClusterTemplate) -> Vec<FieldError> {
    let mut faults = Vec::new();
    let at = Path::of("spec");
    let path = at.field("templateParameters");
    let defined: BTreeMap<&str, &ParameterDefinition> =
        template.parameters.iter().map(|parameter| (parameter.name.as_str(), parameter)).collect();
    for (name, value) in given {
        let at = path.key(name);
        match defined.get(name.as_str()) {
            None => {
                let why = format!("the template has no such parameter; it has {}", listed(&defined));
                faults.push(FieldError::invalid_text(&at, name, why));
            }
            Some(parameter) => {
                let kind = parameter.kind.as_deref().filter(|kind| *kind != value.kind);
                if let Some(kind) = kind {
                    let why = format!("must be {kind}");
                    faults.push(FieldError::invalid_text(&at.field("@type"), &value.kind, why));
                }
            }
        }
    }
    let required = template.parameters.iter().filter(|parameter| parameter.required == Some(true));
    for parameter in required.filter(|parameter| parameter.default.is_none()) {
        if !given.contains_key(&parameter.name) {
            faults.push(FieldError::required(&path.key(&parameter.name), "the template requires it"));
        }
    }
    faults
}

/// Names as a sentence has them: 'a', 'b' and 'c'.
fn listed<K: AsRef<str>, V>(map: &BTreeMap<K, V>) -> String {
    let names: Vec<String> = map.keys().map(|name| format!("'{}'", name.as_ref())).collect();
    match names.split_last() {
        None => "none".to_owned(),
        Some((only, [])) => only.clone(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn template() -> ClusterTemplate {
        let of = |name: &str| json!({"@type": "t/Int32Value", "value": 1, "name": name});
        serde_json::from_value(json!({
            "metadata": {"name": "small"},
            "parameters": [
                {"name": "size", "type": "t/Int32Value", "default": of("size")},
                {"name": "key", "type": "t/StringValue", "required": true},
            ],
            "nodeSets": {"infra": {"hostClass": "plain", "size": 1}, "workers": {"hostClass": "gpu", "size": 3}},
        }))
        .unwrap()
    }

    fn spec(value: serde_json::Value) -> ClusterSpec {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn a_cluster_gets_from_its_template_what_it_does_not_say() {
        let mut spec = spec(json!({
            "template": "small",
            "templateParameters": {"key": {"@type": "t/StringValue", "value": "k"}},
            "nodeSets": {"workers": {"size": 5}},
        }));
        assert!(faults(&spec, None, &template()).is_empty());
        complete(&mut spec, &template());
        let sets: Vec<(&str, &str, i32)> = spec
            .node_sets
            .iter()
            .map(|(name, set)| (name.as_str(), set.host_class.as_deref().unwrap(), set.size))
            .collect();
        assert_eq!(sets, [("infra", "plain", 1), ("workers", "gpu", 5)]);
        assert_eq!(spec.template_parameters.keys().collect::<Vec<_>>(), ["key", "size"]);
    }

    #[test]
    fn what_the_template_does_not_have_is_refused_with_what_it_has() {
        let spec = spec(json!({
            "template": "small",
            "templateParameters": {"colour": {"@type": "t/StringValue"}, "size": {"@type": "t/BoolValue"}},
            "nodeSets": {"storage": {"size": 1}, "workers": {"size": 1, "hostClass": "plain"}},
        }));
        let told: Vec<String> = faults(&spec, None, &template()).iter().map(ToString::to_string).collect();
        let all = told.join("\n");
        assert_eq!(told.len(), 5, "{all}");
        for part in [
            "it has 'infra' and 'workers'",
            "must be gpu",
            "it has 'key' and 'size'",
            "must be t/Int32Value",
            "requires it",
        ] {
            assert!(all.contains(part), "{part} in {all}");
        }
    }
}
