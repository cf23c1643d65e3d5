//! A parsed ActivityPolicy: rules that match records, and templates of summaries.

use krm::cel::{Expression, Linked};
use krm::field::{FieldError, Path};
use serde_json::Value;

/// What expressions about requests see.
const OF_AUDIT: [&str; 5] = ["audit", "actor", "actorRef", "kind", "before"];
/// What expressions about events see.
const OF_EVENT: [&str; 4] = ["event", "actor", "actorRef", "kind"];

/// What a record is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// A request.
    Audit,
    /// An event.
    Event,
}

impl Origin {
    /// Its name in activities.
    pub fn as_str(self) -> &'static str {
        match self {
            Origin::Audit => "audit",
            Origin::Event => "event",
        }
    }
}

/// The rules for one kind. The first that matches makes the sentence.
#[derive(Debug)]
pub struct Policy {
    audit: Vec<Rule>,
    event: Vec<Rule>,
}

#[derive(Debug)]
struct Rule {
    matches: Expression,
    summary: Vec<Part>,
}

#[derive(Debug)]
enum Part {
    Text(String),
    Made(Expression),
}

impl Policy {
    /// Reads the spec of a policy; the error is all that is wrong with it.
    pub fn read(spec: &Value, at: &Path<'_>) -> Result<Policy, Vec<FieldError>> {
        let mut errors = Vec::new();
        let resource = at.field("resource");
        if spec["resource"]["kind"].as_str().unwrap_or_default().is_empty() {
            errors.push(FieldError::required(
                &resource.field("kind"),
                "must name the kind that the policy applies to",
            ));
        }
        let audit = rules(spec, "auditRules", &OF_AUDIT, at, &mut errors);
        let event = rules(spec, "eventRules", &OF_EVENT, at, &mut errors);
        if errors.is_empty() { Ok(Policy { audit, event }) } else { Err(errors) }
    }

    /// Whether it has something to say of events.
    pub fn tells_of_events(&self) -> bool {
        !self.event.is_empty()
    }

    /// The first rule that matches and what it says; the error is what kept a rule from being tried.
    pub fn tell(&self, origin: Origin, values: &Value) -> Result<Option<(usize, Linked)>, String> {
        let rules = match origin {
            Origin::Audit => &self.audit,
            Origin::Event => &self.event,
        };
        for (index, rule) in rules.iter().enumerate() {
            match (rule.matches.holds(values), origin) {
                (Ok(true), _) => return rule.say(values).map(|said| Some((index, said))),
                (Ok(false), _) | (Err(_), Origin::Event) => {}
                (Err(why), Origin::Audit) => return Err(format!("rule {index}: match: {why}")),
            }
        }
        Ok(None)
    }
}

impl Rule {
    fn say(&self, values: &Value) -> Result<Linked, String> {
        let mut said = Linked::default();
        for part in &self.summary {
            match part {
                Part::Text(text) => said.text.push_str(text),
                Part::Made(expression) => {
                    let made = expression.text(values).map_err(|why| format!("summary: {why}"))?;
                    said.text.push_str(&made.text);
                    said.links.extend(made.links);
                }
            }
        }
        Ok(said)
    }
}

fn rules(
    spec: &Value,
    field: &str,
    names: &[&str],
    at: &Path<'_>,
    errors: &mut Vec<FieldError>,
) -> Vec<Rule> {
    let list = at.field(field);
    let mut read = Vec::new();
    for (index, rule) in spec[field].as_array().into_iter().flatten().enumerate() {
        let place = list.index(index);
        let text = |name: &str| rule[name].as_str().unwrap_or_default();
        let (match_place, summary_place) = (place.field("match"), place.field("summary"));
        for (text, place) in [(text("match"), &match_place), (text("summary"), &summary_place)] {
            if text.is_empty() {
                errors.push(FieldError::required(place, ""));
            }
        }
        if text("match").is_empty() || text("summary").is_empty() {
            continue;
        }
        let matches = Expression::about(text("match"), names)
            .map_err(|why| errors.push(FieldError::invalid_text(&match_place, text("match"), why)));
        let summary = template(text("summary"), names)
            .map_err(|why| errors.push(FieldError::invalid_text(&summary_place, text("summary"), why)));
        if let (Ok(matches), Ok(summary)) = (matches, summary) {
            read.push(Rule { matches, summary });
        }
    }
    read
}

/// A text with expressions between `{{` and `}}`.
fn template(text: &str, names: &[&str]) -> Result<Vec<Part>, String> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("{{") {
        if !before.is_empty() {
            parts.push(Part::Text(before.to_owned()));
        }
        let (inside, after) = after.split_once("}}").ok_or("{{ without a closing }}")?;
        parts.push(Part::Made(Expression::about(inside.trim(), names)?));
        rest = after;
    }
    if rest.contains("}}") {
        return Err("}} without an opening {{".to_owned());
    }
    if !rest.is_empty() {
        parts.push(Part::Text(rest.to_owned()));
    }
    Ok(parts)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn policy(rules: Value) -> Result<Policy, String> {
        let spec = json!({ "resource": { "apiGroup": "x", "kind": "Thing" }, "auditRules": rules });
        Policy::read(&spec, &Path::of("spec")).map_err(|errors| {
            errors.iter().map(|error| format!("{}: {}", error.field, error.message())).collect()
        })
    }

    #[test]
    fn the_first_rule_that_matches_makes_the_sentence() {
        let policy = policy(json!([
            { "name": "delete", "match": "audit.verb == 'delete'", "summary": "{{ actor }} deleted {{kind}} {{ audit.objectRef.name }}" },
            { "name": "named", "match": "audit.objectRef.name == 'a'", "summary": "{{ link(actor, actorRef) }} touched a" },
            { "name": "rest", "match": "true", "summary": "something happened" },
        ]))
        .unwrap();
        let tell = |verb: &str, name: &str| {
            let values = json!({ "actor": "eve", "actorRef": { "type": "user", "name": "eve" }, "kind": "things",
                "audit": { "verb": verb, "objectRef": { "name": name } }, "before": {} });
            policy.tell(Origin::Audit, &values).unwrap().unwrap()
        };
        assert_eq!(tell("delete", "a").1.text, "eve deleted things a");
        let (index, said) = tell("update", "a");
        assert_eq!((index, said.text.as_str(), said.links.len()), (1, "eve touched a", 1));
        assert_eq!(tell("update", "b").1.text, "something happened");
    }

    #[test]
    fn what_cannot_be_tried_is_told_and_what_cannot_be_read_is_refused() {
        let policy_of = |matches: &str, summary: &str| {
            policy(json!([{ "name": "a", "match": matches, "summary": summary }]))
        };
        let broken = policy_of("audit.nothing == 1", "x").unwrap();
        let values = json!({ "actor": "", "actorRef": {}, "kind": "", "audit": {}, "before": {} });
        assert!(broken.tell(Origin::Audit, &values).unwrap_err().contains("no such key: nothing"));
        assert!(policy_of("audit.verb ==", "x").unwrap_err().contains("spec.auditRules[0].match"));
        assert!(policy_of("true", "{{ actor").unwrap_err().contains("without a closing }}"));
        assert!(policy_of("true", "actor }}").unwrap_err().contains("without an opening {{"));
        assert!(policy_of("true", "{{ nobody }}").unwrap_err().contains("undeclared reference"));
        assert!(policy_of("", "").unwrap_err().contains("summary"));
    }
}
