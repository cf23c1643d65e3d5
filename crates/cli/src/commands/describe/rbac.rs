//! Descriptions of roles and bindings.

use serde_json::Value;

use super::Page;
use super::generic::head;

/// A rule about one resource of one group, or one URL.
struct Rule {
    groups: Vec<String>,
    resources: Vec<String>,
    names: Vec<String>,
    urls: Vec<String>,
    verbs: Vec<String>,
}

pub(super) fn role(page: &mut Page, object: &Value) -> bool {
    head(page, object, false);
    page.line(0, "PolicyRule:");
    page.line(1, "Resources\tNon-Resource URLs\tResource Names\tVerbs");
    page.line(1, "---------\t-----------------\t--------------\t-----");
    rules_table(&object["rules"]).lines().for_each(|line| page.line(1, line));
    false
}

/// A line for each thing that rules are about: resource, URLs, names, verbs.
pub fn rules_table(rules: &Value) -> String {
    let mut rules = compact(rules);
    rules.sort_by_key(Rule::key);
    let line = |rule: &Rule| {
        format!("{}\t{}\t{}\t{}\n", rule.shown(), list(&rule.urls), list(&rule.names), list(&rule.verbs))
    };
    rules.iter().map(line).collect()
}

pub(super) fn binding(page: &mut Page, object: &Value) -> bool {
    head(page, object, false);
    let text = |value: &Value, field: &str| value[field].as_str().unwrap_or("").to_owned();
    page.line(0, "Role:");
    page.line(1, &format!("Kind:\t{}", text(&object["roleRef"], "kind")));
    page.line(1, &format!("Name:\t{}", text(&object["roleRef"], "name")));
    page.line(0, "Subjects:");
    page.line(1, "Kind\tName\tNamespace");
    page.line(1, "----\t----\t---------");
    for subject in object["subjects"].as_array().into_iter().flatten() {
        let part = |field: &str| text(subject, field);
        page.line(1, &format!("{}\t{}\t{}", part("kind"), part("name"), part("namespace")));
    }
    false
}

/// Each resource on its own, with all its verbs.
fn compact(rules: &Value) -> Vec<Rule> {
    let mut all: Vec<Rule> = Vec::new();
    for rule in rules.as_array().into_iter().flatten() {
        let texts = |field: &str| -> Vec<String> {
            let list = rule[field].as_array().into_iter().flatten();
            list.filter_map(Value::as_str).map(str::to_owned).collect()
        };
        let (groups, resources, names, urls) =
            (texts("apiGroups"), texts("resources"), texts("resourceNames"), texts("nonResourceURLs"));
        for verb in texts("verbs") {
            for url in &urls {
                all.push(Rule::of(vec![], vec![], vec![], vec![url.clone()], &verb));
            }
            for group in &groups {
                for resource in &resources {
                    let names: Vec<Vec<String>> = match names.is_empty() {
                        true => vec![vec![]],
                        false => names.iter().map(|name| vec![name.clone()]).collect(),
                    };
                    for name in names {
                        add(
                            &mut all,
                            Rule::of(vec![group.clone()], vec![resource.clone()], name, vec![], &verb),
                        );
                    }
                }
            }
        }
    }
    all
}

fn add(all: &mut Vec<Rule>, rule: Rule) {
    let same = |known: &&mut Rule| {
        known.urls.is_empty()
            && (&known.groups, &known.resources, &known.names) == (&rule.groups, &rule.resources, &rule.names)
    };
    match all.iter_mut().find(same) {
        Some(known) => {
            let new = rule.verbs.into_iter().filter(|verb| !known.verbs.contains(verb)).collect::<Vec<_>>();
            known.verbs.extend(new);
        }
        None => all.push(rule),
    }
}

impl Rule {
    fn of(
        groups: Vec<String>,
        resources: Vec<String>,
        names: Vec<String>,
        urls: Vec<String>,
        verb: &str,
    ) -> Rule {
        Rule { groups, resources, names, urls, verbs: vec![verb.to_owned()] }
    }

    /// `widgets.example.com/status`.
    fn shown(&self) -> String {
        let Some(resource) = self.resources.first() else { return String::new() };
        let (plural, subresource) = match resource.split_once('/') {
            Some((plural, subresource)) => (plural, Some(subresource)),
            None => (resource.as_str(), None),
        };
        let group = self.groups.first().filter(|group| !group.is_empty());
        let whole = group.map_or(plural.to_owned(), |group| format!("{plural}.{group}"));
        subresource.map_or(whole.clone(), |subresource| format!("{whole}/{subresource}"))
    }

    /// What kubectl sorts by.
    fn key(&self) -> String {
        format!(
            "Verbs:{},APIGroups:{},Resources:{},ResourceNames:{},NonResourceURLs:{},",
            list(&self.verbs),
            list(&self.groups),
            list(&self.resources),
            list(&self.names),
            list(&self.urls)
        )
    }
}

fn list(items: &[String]) -> String {
    format!("[{}]", items.join(" "))
}
