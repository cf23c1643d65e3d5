//! `groundplane auth why`: which binding and role allow something, or what would.

use std::io::Write;

use http::Method;
use serde_json::{Value, json};

use super::resource;
use crate::client::Ask;
use crate::failure::Failure;
use crate::print::Output;
use crate::session::Session;

/// Explain which bindings allow an action, or what would allow it.
///
/// Exit code: 0 when the action is allowed, 1 when not.
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Examples:\n  groundplane auth why delete racks\n  groundplane auth why get projects/web\n  \
    groundplane auth why list secrets -n default --user eve@example.com"
)]
pub struct Why {
    /// Verb, such as get, list, create, update, patch or delete.
    verb: String,

    /// TYPE, TYPE/NAME or /PATH
    #[arg(value_name = "TYPE[/NAME] | /PATH")]
    what: String,

    /// Explain the permissions of this user instead of your own.
    #[arg(long, value_name = "NAME")]
    user: Option<String>,

    /// With --user: a group of that user. Can be repeated.
    #[arg(long = "group", value_name = "NAME")]
    groups: Vec<String>,

    /// Subresource, such as status.
    #[arg(long, value_name = "NAME", default_value = "")]
    subresource: String,

    /// All namespaces.
    #[arg(long, short = 'A')]
    all_namespaces: bool,

    /// Output format: json or yaml.
    #[arg(long, short, value_name = "FORMAT")]
    output: Option<String>,
}

/// Asks, and tells.
pub async fn run(why: &Why, session: &mut Session) -> Result<(), Failure> {
    let namespace = if why.all_namespaces { String::new() } else { session.namespace().await? };
    let mut spec = match why.what.starts_with('/') {
        true => json!({"nonResourceAttributes": {"verb": why.verb, "path": why.what}}),
        false => {
            let (word, name) = why.what.split_once('/').unwrap_or((&why.what, ""));
            let (group, plural) = resource(word, true, session).await?;
            json!({"resourceAttributes": {"namespace": namespace, "verb": why.verb, "group": group,
                "resource": plural, "subresource": why.subresource, "name": name}})
        }
    };
    if let Some(user) = &why.user {
        spec["user"] = json!(user);
        let mut groups = why.groups.clone();
        groups.push("system:authenticated".to_owned());
        spec["groups"] = json!(groups);
    } else if !why.groups.is_empty() {
        return Err(Failure::usage("--group needs --user"));
    }
    let body = json!({"apiVersion": "groundplane.dev/v1alpha1", "kind": "AccessExplanation", "spec": spec});
    let ask = Ask::new(Method::POST, "/apis/groundplane.dev/v1alpha1/accessexplanations").json(&body);
    let answer = session.client().await?.value(&ask).await?;
    match &why.output {
        Some(form) => Output::parse(Some(form), false)?.print(&mut session.console.out, &answer)?,
        None => write!(session.console.out, "{}", told(&answer["status"]))?,
    }
    if answer["status"]["allowed"] == true { Ok(()) } else { Err(Failure::Exit(1)) }
}

/// The answer, for people.
fn told(status: &Value) -> String {
    let list = |field: &str| status[field].as_array().cloned().unwrap_or_default();
    let mut text = if status["allowed"] == true { "yes\n" } else { "no\n" }.to_owned();
    for grant in list("allowedBy") {
        match grant.get("binding") {
            Some(binding) => {
                text += &format!(
                    "  {} gives {} to {} on {}: {}\n",
                    named(binding),
                    named(&grant["role"]),
                    grant["subject"].as_str().unwrap_or_default(),
                    grant["on"].as_str().unwrap_or_default(),
                    grant["permission"].as_str().unwrap_or_default(),
                );
            }
            None => text += &format!("  {}\n", grant["reason"].as_str().unwrap_or_default()),
        }
    }
    let would = list("wouldAllow");
    if let Some(first) = would.first() {
        let places: Vec<&str> =
            first["boundOn"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        text += &format!("  nothing grants {}\n", first["permission"].as_str().unwrap_or_default());
        text += &format!("  one of these, bound on {}, would:\n", places.join(" or on "));
        for role in &would {
            text += &format!("    {}\n", named(&role["role"]));
        }
    } else if let Some(reason) = status["reason"].as_str().filter(|_| status["allowed"] != true) {
        text += &format!("  {reason}\n");
    }
    text
}

fn named(object: &Value) -> String {
    let part = |field: &str| object[field].as_str().unwrap_or_default();
    format!("{} {}/{}", part("kind"), part("namespace"), part("name"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grant_and_the_lack_of_one_read_as_sentences() {
        let role =
            json!({"kind": "Role", "namespace": "milo-system", "name": "inventory.miloapis.com-viewer"});
        let binding = json!({"kind": "PolicyBinding", "namespace": "milo-system", "name": "ann"});
        let permission = "inventory.miloapis.com/racks.get";
        let allowed = json!({"allowed": true, "allowedBy": [{
            "binding": binding, "role": role, "subject": "User \"ann\"", "on": "every Rack", "permission": permission,
        }]});
        assert_eq!(
            told(&allowed),
            "yes\n  PolicyBinding milo-system/ann gives Role milo-system/inventory.miloapis.com-viewer to User \"ann\" on \
             every Rack: inventory.miloapis.com/racks.get\n"
        );
        let refused = json!({"allowed": false, "wouldAllow": [{
            "role": role, "permission": permission, "boundOn": ["every Rack", "Rack \"r1\""],
        }]});
        assert_eq!(
            told(&refused),
            "no\n  nothing grants inventory.miloapis.com/racks.get\n  one of these, bound on every Rack or on Rack \"r1\", \
             would:\n    Role milo-system/inventory.miloapis.com-viewer\n"
        );
    }
}
