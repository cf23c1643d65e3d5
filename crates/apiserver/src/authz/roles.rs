//! The roles of one scope, by name and by resource.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use krm::Object;
use krm::selector::LabelSelector;
use serde_json::Value;

use super::{Attributes, Rule};

/// A role, or a cluster role.
#[derive(Debug, Default)]
pub(super) struct Role {
    pub rules: Vec<Rule>,
    pub labels: BTreeMap<String, String>,
    /// Which other cluster roles it is the sum of; its own rules count for nothing then.
    pub sums: Option<Vec<LabelSelector>>,
}

impl Role {
    pub fn from_object(object: &Object) -> Role {
        let selectors = object.at("aggregationRule.clusterRoleSelectors").and_then(Value::as_array);
        let sums = selectors.map(|list| {
            list.iter().filter_map(|selector| LabelSelector::from_json(Some(selector)).ok()).collect()
        });
        let labels = object.labels().map(|(key, value)| (key.to_owned(), value.to_owned()));
        Role {
            rules: Rule::list_from_json(object.get("rules")),
            labels: labels.collect(),
            sums: sums.filter(|list: &Vec<_>| !list.is_empty()),
        }
    }

    /// The places where the role is looked for: the resources of a rule for all objects, the names of one for some.
    fn topics(&self) -> HashSet<Topic> {
        let mut topics = HashSet::new();
        for rule in &self.rules {
            if !rule.non_resource_urls.is_empty() {
                topics.insert(Topic::Paths);
            }
            // Names times resources could be a great many; a rule on names stands under its names alone.
            match rule.resource_names.is_empty() {
                true => {
                    topics.extend(rule.resources.iter().map(|text| Topic::Resource(text.as_str().into())))
                }
                false => {
                    topics.extend(rule.resource_names.iter().map(|text| Topic::Name(text.as_str().into())))
                }
            }
        }
        topics
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Topic {
    Resource(Box<str>),
    Name(Box<str>),
    Paths,
}

/// The roles of one namespace, or the cluster roles.
#[derive(Debug, Default)]
pub(super) struct Shelf {
    roles: HashMap<Arc<str>, Role>,
    about: HashMap<Topic, HashSet<Arc<str>>>,
}

impl Shelf {
    pub fn get(&self, name: &str) -> Option<&Role> {
        self.roles.get(name)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&Arc<str>, &Role)> {
        self.roles.iter()
    }

    pub fn is_empty(&self) -> bool {
        self.roles.is_empty()
    }

    pub fn put(&mut self, name: Arc<str>, role: Role) {
        self.remove(&name);
        for topic in role.topics() {
            self.about.entry(topic).or_default().insert(name.clone());
        }
        self.roles.insert(name, role);
    }

    pub fn remove(&mut self, name: &str) {
        let Some(role) = self.roles.remove(name) else { return };
        for topic in role.topics() {
            if let Some(names) = self.about.get_mut(&topic) {
                names.remove(name);
                if names.is_empty() {
                    self.about.remove(&topic);
                }
            }
        }
    }

    /// The names of all roles with a rule that could allow this; each may come more than once.
    pub fn concerned(&self, what: &Attributes<'_>) -> Vec<&HashSet<Arc<str>>> {
        let topics = match what.path {
            Some(_) => vec![Topic::Paths],
            None => vec![
                Topic::Resource(what.combined_resource().into()),
                Topic::Resource("*".into()),
                Topic::Resource(format!("*/{}", what.subresource).into()),
                Topic::Name(what.name.into()),
            ],
        };
        topics.iter().filter_map(|topic| self.about.get(topic)).collect()
    }
}
