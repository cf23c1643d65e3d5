//! Finds an object by its identifier, the name of its object, or its display name.

use cli::{Ask, Failure, Session, path_segment};
use serde_json::Value;

use crate::API;
use crate::table::{Shown, identifier};

/// The object that somebody means. A display name that several have is not enough.
pub async fn one(shown: &Shown, name: &str, session: &mut Session) -> Result<Value, Failure> {
    let client = session.client().await?;
    let object = fulfillment::identity::name_of(name);
    let path = format!("{API}/{}/{}", shown.plural, path_segment(&object));
    match client.value(&Ask::get(path)).await {
        Err(failure) if failure.is_not_found() => {}
        found => return found,
    }
    let ask =
        Ask::get(format!("{API}/{}", shown.plural)).query("fieldSelector", format!("displayName={name}"));
    let list = client.value(&ask).await?;
    let found = list["items"].as_array().cloned().unwrap_or_default();
    match found.as_slice() {
        [one] => Ok(one.clone()),
        [] => Err(Failure::other(format!("there is no {} {name:?}", shown.noun))
            .hint(format!("\"groundplane {} list\" lists them", command_of(shown)))),
        several => {
            let ids: Vec<String> = several.iter().map(identifier).collect();
            let why = format!("{} {} are called {name:?}: {}", several.len(), shown.nouns, ids.join(", "));
            Err(Failure::other(why).hint("use the identifier"))
        }
    }
}

/// The path of an object that was found.
pub fn path_of(shown: &Shown, object: &Value) -> String {
    let name = object["metadata"]["name"].as_str().unwrap_or_default();
    format!("{API}/{}/{}", shown.plural, path_segment(name))
}

fn command_of(shown: &Shown) -> &'static str {
    match shown.plural {
        "hosts" => "host",
        "hostclasses" => "host class",
        "clusters" => "cluster",
        "dnszones" => "dns zone",
        _ => "hub",
    }
}
