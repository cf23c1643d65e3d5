//! Fields that another field manager owns: whose they are, since when, and the two ways out.

use serde_json::Value;

use super::Prepared;
use crate::client::{Ask, Client};
use crate::failure::Failure;

/// A field manager, as the causes of a conflict name it: `"bob" using example.com/v1`.
#[derive(Debug, PartialEq, Eq)]
struct Owner {
    name: String,
    operation: &'static str,
    subresource: String,
}

impl Owner {
    fn read(message: &str) -> Option<Owner> {
        let (_, rest) = message.split_once("conflict with \"")?;
        let (name, rest) = rest.split_once('"')?;
        let subresource = rest.strip_prefix(" with subresource \"").and_then(|rest| rest.split('"').next());
        Some(Owner {
            name: name.to_owned(),
            operation: if rest.contains(" using ") { "Update" } else { "Apply" },
            subresource: subresource.unwrap_or("").to_owned(),
        })
    }

    /// When it last wrote one of its fields.
    fn since(&self, live: &Value) -> Option<String> {
        let entries = live["metadata"]["managedFields"].as_array().into_iter().flatten();
        let is_it = |entry: &&Value| {
            entry["manager"] == *self.name
                && entry["operation"] == self.operation
                && entry["subresource"].as_str().unwrap_or("") == self.subresource
        };
        entries.filter(is_it).filter_map(|entry| entry["time"].as_str()).max().map(str::to_owned)
    }
}

/// Adds the owners of the fields in conflict, and what to do about them; other failures stay as they are.
pub async fn explain(failure: Failure, causes: &[Value], one: &Prepared, client: &Client) -> Failure {
    let mut owners: Vec<(Owner, Vec<&str>)> = Vec::new();
    for cause in causes.iter().filter(|cause| cause["reason"] == "FieldManagerConflict") {
        let Some(owner) = cause["message"].as_str().and_then(Owner::read) else { continue };
        let field = cause["field"].as_str().unwrap_or("").trim_start_matches('.');
        match owners.iter_mut().find(|(known, _)| *known == owner) {
            Some((_, fields)) => fields.push(field),
            None => owners.push((owner, vec![field])),
        }
    }
    if owners.is_empty() {
        return failure;
    }
    // Who may apply it may read it; if not, the times are left out.
    let live = client.value(&Ask::get(one.path())).await.unwrap_or_default();
    let mut failure = failure;
    for (owner, fields) in &owners {
        let since = owner.since(&live).map_or(String::new(), |time| format!(" since {time}"));
        let how = owner.operation.to_lowercase();
        failure = failure.note(format!("\"{}\" ({how}) owns {}{since}", owner.name, fields.join(", ")));
    }
    let names: Vec<String> = owners.iter().map(|(owner, _)| format!("\"{}\"", owner.name)).collect();
    failure.hint("to take these fields over, run the command again with --force-conflicts").hint(format!(
        "to leave them to {}, remove them from {}",
        names.join(" and "),
        one.manifest.source.name
    ))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn owners_are_read_from_messages_and_found_in_the_object() {
        let owner = Owner::read("ConfigMap default/a: conflict with \"bob\" using v1").unwrap();
        assert_eq!((owner.name.as_str(), owner.operation), ("bob", "Update"));
        let applier = Owner::read("conflict with \"ci\" with subresource \"status\"").unwrap();
        assert_eq!((applier.operation, applier.subresource.as_str()), ("Apply", "status"));
        let live = json!({"metadata": {"managedFields": [
            {"manager": "bob", "operation": "Apply", "time": "2026-11-10T09:00:00Z"},
            {"manager": "bob", "operation": "Update", "time": "2026-11-11T09:00:00Z"}]}});
        assert_eq!(owner.since(&live).as_deref(), Some("2026-11-11T09:00:00Z"));
        assert_eq!(applier.since(&live), None);
    }
}
