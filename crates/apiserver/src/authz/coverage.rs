//! Whether one set of rules covers another.

use std::collections::BTreeSet;

use super::Rule;
use super::rule::{has, has_or_all, path_matches};

/// More single permissions than a role that people write has; beyond it the question is not answered.
const MOST_COMBINATIONS: usize = 20_000;

/// The roles asked about name too many single permissions to be compared one by one.
#[derive(Debug)]
pub(crate) struct TooMany;

/// What is in `wanted` and not in `held`, broken into single permissions.
pub(crate) fn missing(held: &[Rule], wanted: &[Rule]) -> Result<Vec<Rule>, TooMany> {
    let mut missing = Vec::new();
    let mut budget = MOST_COMBINATIONS;
    for rule in wanted {
        if is_whole(rule) && held.iter().any(|mine| covers(mine, rule)) {
            continue;
        }
        budget = budget.checked_sub(combinations(rule).ok_or(TooMany)?).ok_or(TooMany)?;
        let single = single_permissions(rule).into_iter();
        missing.extend(single.filter(|single| !held.iter().any(|mine| covers(mine, single))));
    }
    Ok(missing)
}

/// The rules with those of the same resource put together, each as one line, sorted.
pub(crate) fn told(missing: &[Rule]) -> Vec<String> {
    let mut together: Vec<Rule> = Vec::new();
    for rule in missing {
        let same = together.iter_mut().find(|other| {
            rule.non_resource_urls.is_empty()
                && other.api_groups == rule.api_groups
                && other.resources == rule.resources
                && other.resource_names == rule.resource_names
                && other.non_resource_urls.is_empty()
        });
        match same {
            Some(other) => other.verbs.extend(rule.verbs.iter().cloned()),
            None => together.push(rule.clone()),
        }
    }
    let lines: BTreeSet<String> = together.iter().map(Rule::compact).collect();
    lines.into_iter().collect()
}

/// Whether a rule is about resources or about paths, and not about both or neither.
fn is_whole(rule: &Rule) -> bool {
    rule.non_resource_urls.is_empty() != rule.resources.is_empty()
}

fn combinations(rule: &Rule) -> Option<usize> {
    let on_resources = rule
        .api_groups
        .len()
        .checked_mul(rule.resources.len())?
        .checked_mul(rule.verbs.len())?
        .checked_mul(rule.resource_names.len().max(1))?;
    on_resources.checked_add(rule.non_resource_urls.len().checked_mul(rule.verbs.len())?)
}

fn single_permissions(rule: &Rule) -> Vec<Rule> {
    let mut single = Vec::new();
    let names: Vec<Vec<String>> = match rule.resource_names.is_empty() {
        true => vec![Vec::new()],
        false => rule.resource_names.iter().map(|name| vec![name.clone()]).collect(),
    };
    for group in &rule.api_groups {
        for resource in &rule.resources {
            for verb in &rule.verbs {
                single.extend(names.iter().map(|name| Rule {
                    verbs: vec![verb.clone()],
                    api_groups: vec![group.clone()],
                    resources: vec![resource.clone()],
                    resource_names: name.clone(),
                    non_resource_urls: Vec::new(),
                }));
            }
        }
    }
    for url in &rule.non_resource_urls {
        single.extend(rule.verbs.iter().map(|verb| Rule {
            verbs: vec![verb.clone()],
            non_resource_urls: vec![url.clone()],
            ..Rule::default()
        }));
    }
    single
}

/// Whether one held rule gives all of `wanted`.
fn covers(held: &Rule, wanted: &Rule) -> bool {
    let names_covered = match (held.resource_names.is_empty(), wanted.resource_names.is_empty()) {
        (true, _) => true,
        (false, true) => false,
        (false, false) => wanted.resource_names.iter().all(|name| has(&held.resource_names, name)),
    };
    names_covered
        && wanted.verbs.iter().all(|verb| has_or_all(&held.verbs, verb))
        && wanted.api_groups.iter().all(|group| has_or_all(&held.api_groups, group))
        && wanted.resources.iter().all(|resource| resource_covered(&held.resources, resource))
        && wanted
            .non_resource_urls
            .iter()
            .all(|url| held.non_resource_urls.iter().any(|mine| path_matches(mine, url)))
}

fn resource_covered(held: &[String], wanted: &str) -> bool {
    has_or_all(held, wanted)
        || wanted.split_once('/').is_some_and(|(_, subresource)| has(held, &format!("*/{subresource}")))
}
