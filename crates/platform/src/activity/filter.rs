//! CEL filters of queries, and which part of them the ledger can answer.

use std::sync::LazyLock;

use krm::cel::Expression;
use serde_json::{Value, json};

/// What activities are filtered by.
static ACTIVITY: LazyLock<Value> = LazyLock::new(|| {
    let texts = |names: &[&str]| object(names.iter().map(|name| ((*name).to_owned(), text())).collect());
    let mut spec = serde_json::Map::new();
    spec.insert("changeSource".into(), text());
    spec.insert("summary".into(), text());
    spec.insert("actor".into(), texts(&["name", "type", "uid"]));
    spec.insert("resource".into(), texts(&["apiGroup", "kind", "name", "namespace", "uid"]));
    spec.insert("origin".into(), texts(&["type"]));
    json!({ "type": "object", "properties": { "spec": object(spec), "metadata": texts(&["name", "namespace"]) } })
});

/// What audit events are filtered by.
static AUDIT: LazyLock<Value> = LazyLock::new(|| {
    json!({ "type": "object", "properties": {
        "verb": text(),
        "auditID": text(),
        "requestReceivedTimestamp": { "type": "string", "format": "date-time" },
        "user": { "type": "object", "properties": { "username": text(), "uid": text() } },
        "responseStatus": { "type": "object", "properties": { "code": { "type": "integer" } } },
        "objectRef": { "type": "object", "properties": {
            "apiGroup": text(), "namespace": text(), "resource": text(), "name": text(),
        } },
        "secretValues": text(),
    } })
});

fn text() -> Value {
    json!({ "type": "string" })
}

fn object(properties: serde_json::Map<String, Value>) -> Value {
    json!({ "type": "object", "properties": properties })
}

/// A filter of activities.
pub struct Filter {
    expression: Option<Expression>,
    /// What must be equal for it to hold: fields and values.
    pub equal: Vec<(String, String)>,
    /// Whether that is all it asks.
    pub is_equalities: bool,
    /// What it asks for.
    pub asks: Asks,
}

/// What of an activity an expression asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Asks {
    /// The sentence.
    pub summary: bool,
    /// The name of the activity itself.
    pub id: bool,
    /// The name of the object.
    pub name: bool,
    /// Something that stands in the object alone, or that can't be made out from the text of the expression.
    pub what_is_unknown: bool,
}

impl Filter {
    /// Reads a filter of activities; an empty one lets everything through.
    pub fn of_activities(source: &str) -> Result<Filter, String> {
        if source.trim().is_empty() {
            return Ok(Filter {
                expression: None,
                equal: Vec::new(),
                is_equalities: true,
                asks: Asks::default(),
            });
        }
        let expression = compile(source, &ACTIVITY)?;
        let (equal, is_equalities) = equalities(source);
        Ok(Filter { expression: Some(expression), equal, is_equalities, asks: asks(source) })
    }

    /// Whether it lets an activity through.
    pub fn lets_through(&self, activity: &Value) -> bool {
        self.expression.is_none() || self.holds_of(&filled(activity))
    }

    /// The same of an activity that has all fields, also those that are empty.
    pub fn holds_of(&self, filled: &Value) -> bool {
        // What a field is not there for can't be said of it.
        self.expression.as_ref().is_none_or(|expression| expression.holds(filled).unwrap_or(false))
    }
}

/// A filter of audit events.
pub struct AuditFilter(Option<Expression>);

impl AuditFilter {
    /// Reads it; an empty one lets everything through.
    pub fn read(source: &str) -> Result<AuditFilter, String> {
        match source.trim().is_empty() {
            true => Ok(AuditFilter(None)),
            false => compile(source, &AUDIT).map(|expression| AuditFilter(Some(expression))),
        }
    }

    /// Whether it lets an event through.
    pub fn lets_through(&self, event: &Value) -> bool {
        let Some(expression) = &self.0 else { return true };
        let of = |name: &str, field: &str| event[name][field].as_str().unwrap_or_default();
        let mut seen = json!({
            "verb": event["verb"], "auditID": event["auditID"],
            "user": { "username": of("user", "username"), "uid": of("user", "uid") },
            "responseStatus": { "code": event["responseStatus"]["code"].as_i64().unwrap_or(0) },
            "objectRef": {
                "apiGroup": of("objectRef", "apiGroup"), "namespace": of("objectRef", "namespace"),
                "resource": of("objectRef", "resource"), "name": of("objectRef", "name"),
            },
        });
        seen["secretValues"] = of("annotations", apiserver::secrets::AUDITED).into();
        seen["requestReceivedTimestamp"] = event["requestReceivedTimestamp"].clone();
        expression.holds(&seen).unwrap_or(false)
    }
}

fn compile(source: &str, schema: &Value) -> Result<Expression, String> {
    Expression::of_schema(source, schema)
}

/// The fields of an activity that filters ask for: those it has not are empty.
fn filled(activity: &Value) -> Value {
    let spec = &activity["spec"];
    let of = |part: &str, name: &str| spec[part][name].as_str().unwrap_or_default();
    json!({
        "metadata": {
            "name": activity["metadata"]["name"].as_str().unwrap_or_default(),
            "namespace": activity["metadata"]["namespace"].as_str().unwrap_or_default(),
        },
        "spec": {
            "changeSource": spec["changeSource"], "summary": spec["summary"],
            "actor": { "name": of("actor", "name"), "type": of("actor", "type"), "uid": of("actor", "uid") },
            "resource": {
                "apiGroup": of("resource", "apiGroup"), "kind": of("resource", "kind"), "name": of("resource", "name"),
                "namespace": of("resource", "namespace"), "uid": of("resource", "uid"),
            },
            "origin": { "type": of("origin", "type") },
        },
    })
}

/// What a filter says must be equal, where it is nothing but a row of such sayings; and whether it is.
fn equalities(source: &str) -> (Vec<(String, String)>, bool) {
    if source.contains(['|', '?', '(', '[', '{', '!', '\\']) {
        return (Vec::new(), false);
    }
    let mut found = Vec::new();
    let mut is_all = true;
    for part in source.split("&&") {
        match equality(part.trim()) {
            Some(equal) => found.push(equal),
            None => is_all = false,
        }
    }
    (found, is_all)
}

/// What an expression asks for, read off its text: where that could mean something else, it is not known.
fn asks(source: &str) -> Asks {
    const KNOWN: [&str; 8] = [
        "spec.changeSource",
        "spec.actor.name",
        "spec.actor.type",
        "spec.actor.uid",
        "spec.resource.apiGroup",
        "spec.resource.kind",
        "spec.resource.namespace",
        "spec.origin.type",
    ];
    let mut asks = Asks::default();
    for (at, _) in source.match_indices("spec").chain(source.match_indices("metadata")) {
        let rest = &source[at..];
        let end = rest.find(|char: char| !char.is_alphanumeric() && !matches!(char, '.' | '_'));
        let path = &rest[..end.unwrap_or(rest.len())];
        // What is called of a field comes behind it.
        let path = ["startsWith", "endsWith", "contains", "matches", "size", "lowerAscii", "upperAscii"]
            .iter()
            .find_map(|call| path.strip_suffix(call)?.strip_suffix('.'))
            .unwrap_or(path);
        match path {
            "spec.summary" => asks.summary = true,
            "metadata.name" => asks.id = true,
            "spec.resource.name" => asks.name = true,
            "metadata.namespace" => {}
            known if KNOWN.contains(&known) => {}
            _ => asks.what_is_unknown = true,
        }
    }
    asks
}

fn equality(part: &str) -> Option<(String, String)> {
    let (field, value) = part.split_once("==")?;
    let (field, value) = (field.trim(), value.trim());
    let quote = value.chars().next().filter(|quote| matches!(quote, '\'' | '"'))?;
    let inner = value.strip_prefix(quote)?.strip_suffix(quote)?;
    let known = [
        "spec.changeSource",
        "spec.actor.name",
        "spec.resource.apiGroup",
        "spec.resource.kind",
        "spec.resource.name",
        "spec.resource.namespace",
        "spec.resource.uid",
    ];
    (known.contains(&field) && !inner.contains(quote)).then(|| (field.to_owned(), inner.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn activities_are_filtered_by_their_fields() {
        let activity = json!({ "metadata": { "name": "act-1" }, "spec": {
            "summary": "alice created Rack r1", "changeSource": "human",
            "actor": { "name": "alice", "type": "user", "email": "alice@example.com" },
            "resource": { "apiGroup": "inventory.miloapis.com", "kind": "Rack", "name": "r1" },
            "origin": { "type": "audit" },
        } });
        let passes =
            |source: &str| Filter::of_activities(source).map(|filter| filter.lets_through(&activity));
        assert_eq!(passes(""), Ok(true));
        assert_eq!(passes("spec.resource.kind == 'Rack' && spec.actor.name.startsWith('al')"), Ok(true));
        assert_eq!(
            passes("spec.resource.kind in ['Site', 'Node'] || spec.summary.contains('deleted')"),
            Ok(false)
        );
        assert_eq!(passes("spec.resource.namespace == ''"), Ok(true));
        assert!(passes("resource.kind == 'Rack'").unwrap_err().contains("undeclared reference"));
        assert!(passes("spec.actor.email == 'x'").unwrap_err().contains("undefined field 'email'"));
        assert!(passes("spec.resource.kind ==").is_err());
    }

    #[test]
    fn what_must_be_equal_is_found_where_nothing_else_could_be_meant() {
        let of = |source: &str| {
            let filter = Filter::of_activities(source).unwrap();
            (filter.equal.len(), filter.is_equalities)
        };
        assert_eq!(of("spec.resource.kind == 'Rack' && spec.actor.name == \"a\""), (2, true));
        assert_eq!(of("spec.resource.kind == 'Rack' && spec.summary != 'x'"), (0, false));
        assert_eq!(of("spec.resource.kind == 'Rack' && spec.summary == 'x'"), (1, false));
        assert_eq!(of("spec.resource.kind == 'Rack' || spec.actor.name == 'a'"), (0, false));
        assert_eq!(of("spec.resource.kind == 'a&&b'"), (0, false));
    }

    #[test]
    fn what_an_expression_asks_for_is_known_where_its_text_says_so() {
        let known = Asks::default();
        assert_eq!(asks("spec.resource.kind in ['a', 'b'] && !spec.actor.name.startsWith('x')"), known);
        assert_eq!(asks("spec.summary.contains('x')"), Asks { summary: true, ..known });
        assert_eq!(asks("spec.resource.name=='x'||metadata.namespace==''"), Asks { name: true, ..known });
        assert_eq!(asks("metadata.name == 'act-1'"), Asks { id: true, ..known });
        for unknown in
            ["spec.resource.uid == 'x'", "[spec].exists(it, it.summary == '')", "'spec' == spec.summary"]
        {
            assert!(asks(unknown).what_is_unknown, "{unknown}");
        }
    }

    #[test]
    fn audit_events_are_filtered_by_theirs() {
        let event = json!({ "verb": "create", "auditID": "1", "user": { "username": "bob" },
            "responseStatus": { "code": 201 }, "requestReceivedTimestamp": "2026-11-16T10:00:00.000000Z",
            "objectRef": { "resource": "racks", "apiGroup": "inventory.miloapis.com" } });
        let passes = |source: &str| AuditFilter::read(source).map(|filter| filter.lets_through(&event));
        assert_eq!(passes("verb in ['create', 'delete'] && responseStatus.code >= 200"), Ok(true));
        assert_eq!(passes("!user.username.startsWith('system:') && objectRef.namespace == 'x'"), Ok(false));
        assert_eq!(passes("requestReceivedTimestamp < timestamp('2026-11-16T11:00:00Z')"), Ok(true));
        assert!(passes("user.groups == 'x'").is_err());
    }
}
