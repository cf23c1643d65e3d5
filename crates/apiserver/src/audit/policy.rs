//! The audit policy: which requests are logged at which level. The first rule that matches decides.

use serde::Deserialize;
use serde_json::Value;

use super::{Level, Stage};
use crate::authz::Attributes;
use crate::identity::Identity;

/// Resources whose bodies are secret: they never leave more than metadata in the log, whatever the policy says.
const SECRET: [(&str, &str); 3] =
    [("", "secrets"), ("", "serviceaccounts/token"), ("authentication.k8s.io", "tokenreviews")];

/// What a policy says about one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verdict {
    /// How much is written down.
    pub level: Level,
    omitted: Omitted,
    /// Whether managed fields are left out of bodies.
    pub omit_managed_fields: bool,
}

impl Verdict {
    /// Whether an event is made at this stage.
    pub fn includes(&self, stage: Stage) -> bool {
        self.level != Level::None && self.omitted.0 & bit(stage) == 0
    }
}

/// The stages at which no events are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Omitted(u8);

fn bit(stage: Stage) -> u8 {
    1 << stage as u8
}

/// Which requests are written down.
#[derive(Debug, Clone)]
pub struct Policy {
    rules: Vec<Rule>,
    /// What happens to requests that no rule is about.
    otherwise: Verdict,
}

impl Default for Policy {
    /// Metadata of every request, once it is answered.
    fn default() -> Policy {
        let omitted = Omitted(bit(Stage::RequestReceived));
        Policy {
            rules: Vec::new(),
            otherwise: Verdict { level: Level::Metadata, omitted, omit_managed_fields: false },
        }
    }
}

/// What is wrong with a policy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("audit policy: {field}: {why}")]
pub struct PolicyError {
    /// Where.
    pub field: String,
    /// What.
    pub why: String,
}

impl Policy {
    /// Reads a `Policy` of `audit.k8s.io/v1`. What no rule is about is not written down, as in Kubernetes.
    pub fn from_json(value: &Value) -> Result<Policy, PolicyError> {
        let wrong = |field: String, why: String| PolicyError { field, why };
        let written: WrittenPolicy =
            serde_json::from_value(value.clone()).map_err(|error| wrong("file".into(), error.to_string()))?;
        if written.kind != "Policy" || written.api_version != "audit.k8s.io/v1" {
            return Err(wrong("kind".into(), "must be a Policy of audit.k8s.io/v1".into()));
        }
        let everywhere = omitted(&written.omit_stages).map_err(|why| wrong("omitStages".into(), why))?;
        let mut rules = Vec::new();
        for (index, rule) in written.rules.into_iter().enumerate() {
            let rule = rule.checked(everywhere, written.omit_managed_fields);
            rules.push(rule.map_err(|(field, why)| wrong(format!("rules[{index}].{field}"), why))?);
        }
        let otherwise = Verdict {
            level: Level::None,
            omitted: everywhere,
            omit_managed_fields: written.omit_managed_fields,
        };
        Ok(Policy { rules, otherwise })
    }

    /// What is written down about a request.
    pub fn judge(&self, who: &Identity, what: &Attributes<'_>) -> Verdict {
        let rule = self.rules.iter().find(|rule| rule.matches(who, what));
        let verdict = rule.map_or(self.otherwise, |rule| rule.verdict);
        let combined = what.combined_resource();
        let is_secret = what.is_resource()
            && SECRET.iter().any(|(group, resource)| *group == what.group && *resource == combined);
        let most = if is_secret { Level::Metadata } else { Level::RequestResponse };
        Verdict { level: verdict.level.min(most), ..verdict }
    }
}

#[derive(Debug, Clone)]
struct Rule {
    verdict: Verdict,
    users: Vec<String>,
    user_groups: Vec<String>,
    verbs: Vec<String>,
    resources: Vec<GroupResources>,
    namespaces: Vec<String>,
    non_resource_urls: Vec<String>,
}

impl Rule {
    fn matches(&self, who: &Identity, what: &Attributes<'_>) -> bool {
        let any = |list: &[String], text: &str| list.is_empty() || list.iter().any(|found| found == text);
        let in_group =
            || self.user_groups.is_empty() || self.user_groups.iter().any(|group| who.is_in(group));
        if !any(&self.users, &who.user) || !in_group() || !any(&self.verbs, what.verb) {
            return false;
        }
        if !self.namespaces.is_empty() || !self.resources.is_empty() {
            return what.is_resource()
                && any(&self.namespaces, what.namespace)
                && (self.resources.is_empty() || self.resources.iter().any(|mine| mine.matches(what)));
        }
        match (self.non_resource_urls.is_empty(), what.path) {
            (true, _) => true,
            (false, None) => false,
            (false, Some(path)) => self.non_resource_urls.iter().any(|url| path_matches(url, path)),
        }
    }
}

fn path_matches(pattern: &str, path: &str) -> bool {
    pattern == path || (pattern.ends_with('*') && path.starts_with(pattern.trim_end_matches('*')))
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct GroupResources {
    group: String,
    resources: Vec<String>,
    resource_names: Vec<String>,
}

impl GroupResources {
    fn matches(&self, what: &Attributes<'_>) -> bool {
        if self.group != "*" && self.group != what.group {
            return false;
        }
        if self.resources.is_empty() {
            return true;
        }
        let named =
            self.resource_names.is_empty() || self.resource_names.iter().any(|name| name == what.name);
        let combined = what.combined_resource();
        named
            && self.resources.iter().any(|mine| {
                mine == "*"
                    || *mine == combined
                    || (!what.subresource.is_empty() && mine.strip_prefix("*/") == Some(what.subresource))
                    || mine.strip_suffix("/*") == Some(what.resource)
            })
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct WrittenPolicy {
    api_version: String,
    kind: String,
    #[serde(default, rename = "metadata")]
    _metadata: Value,
    rules: Vec<WrittenRule>,
    #[serde(default)]
    omit_stages: Vec<String>,
    #[serde(default)]
    omit_managed_fields: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct WrittenRule {
    level: String,
    #[serde(default)]
    users: Vec<String>,
    #[serde(default)]
    user_groups: Vec<String>,
    #[serde(default)]
    verbs: Vec<String>,
    #[serde(default)]
    resources: Vec<GroupResources>,
    #[serde(default)]
    namespaces: Vec<String>,
    #[serde(default, rename = "nonResourceURLs")]
    non_resource_urls: Vec<String>,
    #[serde(default)]
    omit_stages: Vec<String>,
    omit_managed_fields: Option<bool>,
}

impl WrittenRule {
    fn checked(self, everywhere: Omitted, omit_managed_fields: bool) -> Result<Rule, (&'static str, String)> {
        let levels = [Level::None, Level::Metadata, Level::Request, Level::RequestResponse];
        let level = levels.into_iter().find(|level| level.as_str() == self.level);
        let level = level.ok_or((
            "level",
            format!("`{}` must be one of {}", self.level, levels.map(Level::as_str).join(", ")),
        ))?;
        let on_resources = !self.resources.is_empty() || !self.namespaces.is_empty();
        if on_resources && !self.non_resource_urls.is_empty() {
            let why = "rules cannot apply to both regular resources and non-resource URLs";
            return Err(("nonResourceURLs", why.to_owned()));
        }
        let own = omitted(&self.omit_stages).map_err(|why| ("omitStages", why))?;
        let omit_managed_fields = self.omit_managed_fields.unwrap_or(omit_managed_fields);
        Ok(Rule {
            verdict: Verdict { level, omitted: Omitted(own.0 | everywhere.0), omit_managed_fields },
            users: self.users,
            user_groups: self.user_groups,
            verbs: self.verbs,
            resources: self.resources,
            namespaces: self.namespaces,
            non_resource_urls: self.non_resource_urls,
        })
    }
}

fn omitted(names: &[String]) -> Result<Omitted, String> {
    let stages = [Stage::RequestReceived, Stage::ResponseStarted, Stage::ResponseComplete, Stage::Panic];
    let mut omitted = Omitted::default();
    for name in names {
        let stage = stages.into_iter().find(|stage| stage.as_str() == name);
        let known = || format!("`{name}` must be one of {}", stages.map(Stage::as_str).join(", "));
        omitted.0 |= bit(stage.ok_or_else(known)?);
    }
    Ok(omitted)
}
