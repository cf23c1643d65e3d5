//! A policy rule: verbs on resources.

use krm::field::quote;
use serde_json::{Map, Value};

use super::Attributes;

/// These verbs on these resources, or on these paths.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Rule {
    /// The verbs; `*` for all.
    pub verbs: Vec<String>,
    /// The groups; `*` for all.
    pub api_groups: Vec<String>,
    /// `plural`, `plural/sub`, `*/sub` or `*`.
    pub resources: Vec<String>,
    /// The objects; none for all.
    pub resource_names: Vec<String>,
    /// The paths, which may end in `*`.
    pub non_resource_urls: Vec<String>,
}

impl Rule {
    /// Verbs on resources of groups.
    pub fn on(verbs: &[&str], api_groups: &[&str], resources: &[&str]) -> Rule {
        Rule {
            verbs: owned(verbs),
            api_groups: owned(api_groups),
            resources: owned(resources),
            ..Rule::default()
        }
    }

    /// Verbs on paths.
    pub fn on_paths(verbs: &[&str], paths: &[&str]) -> Rule {
        Rule { verbs: owned(verbs), non_resource_urls: owned(paths), ..Rule::default() }
    }

    /// The same for these objects only.
    pub fn named(mut self, names: &[&str]) -> Rule {
        self.resource_names = owned(names);
        self
    }

    /// The rules in a role's `rules`.
    pub fn list_from_json(rules: Option<&Value>) -> Vec<Rule> {
        rules.and_then(Value::as_array).into_iter().flatten().map(Rule::from_json).collect()
    }

    /// A rule as a role writes it. What is not a list of texts counts as empty, so it allows nothing.
    pub fn from_json(rule: &Value) -> Rule {
        let texts = |field: &str| {
            let list = rule.get(field).and_then(Value::as_array).into_iter().flatten();
            list.filter_map(Value::as_str).map(str::to_owned).collect()
        };
        Rule {
            verbs: texts("verbs"),
            api_groups: texts("apiGroups"),
            resources: texts("resources"),
            resource_names: texts("resourceNames"),
            non_resource_urls: texts("nonResourceURLs"),
        }
    }

    /// The same without reading secrets: what else it allows, in one rule or two.
    pub fn without_secrets(self) -> Vec<Rule> {
        let is_core = self.api_groups.iter().any(|group| group.is_empty() || group == "*");
        let is_secret = |resource: &String| resource == "secrets" || resource == "*";
        if !is_core || !self.resources.iter().any(is_secret) {
            return vec![self];
        }
        let (secret, others): (Vec<String>, Vec<String>) =
            self.resources.iter().cloned().partition(is_secret);
        let is_read = |verb: &String| matches!(verb.as_str(), "get" | "list" | "watch" | "*");
        let writes: Vec<String> = self.verbs.iter().filter(|verb| !is_read(verb)).cloned().collect();
        let about_others = Rule { resources: others, ..self.clone() };
        let about_secrets = Rule { resources: secret, verbs: writes, ..self };
        let all = [about_others, about_secrets].into_iter();
        all.filter(|rule| !rule.resources.is_empty() && !rule.verbs.is_empty()).collect()
    }

    /// Whether it allows a change of something that is stored. Reviews and transactions are made by `create`, but change nothing
    /// by themselves.
    pub fn changes_something(&self) -> bool {
        const CHANGES: [&str; 6] = ["*", "create", "update", "patch", "delete", "deletecollection"];
        const ASKING: [&str; 3] = ["authentication.k8s.io", "authorization.k8s.io", "groundplane.dev"];
        self.verbs.iter().any(|verb| CHANGES.contains(&verb.as_str()))
            && self.api_groups.iter().any(|group| !ASKING.contains(&group.as_str()))
            && !self.resources.is_empty()
    }

    /// As a role writes it; empty lists are left out, but for the verbs.
    pub fn to_json(&self) -> Value {
        let mut map = Map::new();
        map.insert("verbs".to_owned(), Value::from(self.verbs.clone()));
        for (field, list) in [
            ("apiGroups", &self.api_groups),
            ("resources", &self.resources),
            ("resourceNames", &self.resource_names),
            ("nonResourceURLs", &self.non_resource_urls),
        ] {
            if !list.is_empty() {
                map.insert(field.to_owned(), Value::from(list.clone()));
            }
        }
        Value::Object(map)
    }

    /// Whether the rule allows this.
    pub fn allows(&self, what: &Attributes<'_>) -> bool {
        let verb = || has_or_all(&self.verbs, what.verb);
        match what.path {
            Some(path) => verb() && self.non_resource_urls.iter().any(|url| path_matches(url, path)),
            None => {
                verb()
                    && has_or_all(&self.api_groups, what.group)
                    && self.resources.iter().any(|mine| resource_matches(mine, what))
                    && (self.resource_names.is_empty() || has(&self.resource_names, what.name))
            }
        }
    }

    /// The objects on which the rule allows this, whatever name `what` has: all when there are no names.
    pub(super) fn names_for(&self, what: &Attributes<'_>) -> Option<&[String]> {
        let allows = what.is_resource()
            && has_or_all(&self.verbs, what.verb)
            && has_or_all(&self.api_groups, what.group)
            && self.resources.iter().any(|mine| resource_matches(mine, what));
        allows.then_some(&self.resource_names)
    }

    /// The rule in one line, as messages about escalation show it.
    pub(super) fn compact(&self) -> String {
        let parts = [
            ("APIGroups", &self.api_groups),
            ("Resources", &self.resources),
            ("NonResourceURLs", &self.non_resource_urls),
            ("ResourceNames", &self.resource_names),
            ("Verbs", &self.verbs),
        ];
        let shown: Vec<String> = parts
            .iter()
            .filter(|(_, list)| !list.is_empty())
            .map(|(name, list)| format!("{name}:{}", quoted(list.iter().map(String::as_str))))
            .collect();
        format!("{{{}}}", shown.join(", "))
    }
}

/// A list of texts as Go's `%q` writes it.
pub(super) fn quoted<'a>(texts: impl IntoIterator<Item = &'a str>) -> String {
    let texts: Vec<String> = texts.into_iter().map(quote).collect();
    format!("[{}]", texts.join(" "))
}

pub(super) fn has(list: &[String], text: &str) -> bool {
    list.iter().any(|found| found == text)
}

pub(super) fn has_or_all(list: &[String], text: &str) -> bool {
    list.iter().any(|found| found == "*" || found == text)
}

/// A path matches itself, and one that ends in stars whatever starts like it.
pub(super) fn path_matches(pattern: &str, path: &str) -> bool {
    pattern == path || (pattern.ends_with('*') && path.starts_with(pattern.trim_end_matches('*')))
}

fn resource_matches(mine: &str, what: &Attributes<'_>) -> bool {
    if mine == "*" {
        return true;
    }
    if what.subresource.is_empty() {
        return mine == what.resource;
    }
    // The subresource may hold slashes itself: the user extras that are impersonated do.
    let Some(before) = mine.strip_suffix(what.subresource) else { return false };
    before == "*/" || before.strip_suffix('/') == Some(what.resource)
}

fn owned(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}
