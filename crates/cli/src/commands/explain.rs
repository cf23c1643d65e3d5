//! `groundplane explain`: what the fields of a type mean.

mod page;

use std::io::Write;

use serde_json::Value;

use self::page::Page;
use crate::client::{Ask, Client};
use crate::discovery::Resource;
use crate::failure::Failure;
use crate::session::Session;

/// Show the documentation of a type and its fields.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// TYPE or TYPE.FIELD.FIELD
    #[arg(value_name = "TYPE[.FIELD…]")]
    what: String,

    /// List all nested fields, without their descriptions.
    #[arg(long)]
    recursive: bool,

    /// With --recursive: depth; 0 for all levels.
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    max_depth: usize,

    /// API group and version, such as example.com/v1.
    #[arg(long, value_name = "GROUP/VERSION")]
    api_version: Option<String>,

    /// plaintext, or plaintext-openapiv2 for compatibility: both are the same here.
    #[arg(long, short, hide = true, value_name = "FORMAT")]
    output: Option<String>,
}

const EXAMPLES: &str = "\
Examples:
  groundplane explain rack
  groundplane explain rack.spec --recursive
  groundplane explain configmap --api-version=v1";

/// Explains.
pub async fn run(arguments: Arguments, session: &mut Session) -> Result<(), Failure> {
    let discovery = session.discovery().await?;
    let (resource, fields) = find(&arguments, &discovery)?;
    let client = session.client().await?;
    let document = document(&client, &resource).await?;
    let page = Page { document: &document, recursive: arguments.recursive, max_depth: arguments.max_depth };
    let (text, ended) = page.explain(&resource, &fields);
    session.console.out.write_all(text.as_bytes())?;
    ended
}

/// The type, and the fields that lead into it. A group in the name may have dots as well.
fn find(
    arguments: &Arguments,
    discovery: &crate::discovery::Discovery,
) -> Result<(Resource, Vec<String>), Failure> {
    let parts: Vec<&str> = arguments.what.split('.').collect();
    let mut found = None;
    for end in (1..=parts.len()).rev() {
        let word = parts[..end].join(".");
        if let Ok(resource) = discovery.resource(&word) {
            let fields =
                parts[end..].iter().map(|field| (*field).to_owned()).filter(|field| !field.is_empty());
            found = Some((resource.clone(), fields.collect()));
            break;
        }
    }
    let (resource, fields) = match found {
        Some(found) => found,
        None => {
            let word = krm::field::quote(parts[0]);
            let failure = Failure::Bare(format!("the server doesn't have a resource type {word}"));
            return Err(match discovery.nearest(parts[0]) {
                Some(resource) => failure.hint(format!("did you mean \"{}\"?", resource.plural)),
                None => failure,
            });
        }
    };
    let Some(api_version) = &arguments.api_version else { return Ok((resource, fields)) };
    let wanted = |other: &&Resource| other.api_version() == *api_version && other.plural == resource.plural;
    match discovery.resources.iter().find(wanted) {
        Some(resource) => Ok((resource.clone(), fields)),
        None => Err(Failure::other(format!(
            "couldn't find resource for \"{api_version}, Resource={}\"",
            resource.plural
        ))),
    }
}

/// The OpenAPI document of a group and version.
async fn document(client: &Client, resource: &Resource) -> Result<Value, Failure> {
    let index = client.value(&Ask::get("/openapi/v3")).await?;
    let key = match resource.group.as_str() {
        "" => format!("api/{}", resource.version),
        group => format!("apis/{group}/{}", resource.version),
    };
    let path = index["paths"][&key]["serverRelativeURL"]
        .as_str()
        .map_or(format!("/openapi/v3/{key}"), str::to_owned);
    // In a project's plane the address is told with the prefix that requests have anyway.
    let path = path.find("/openapi/v3").map_or(path.clone(), |at| path[at..].to_owned());
    client.value(&Ask::get(path)).await
}
