//! Which objects of a type: selectors, namespaces, a moment; and fetching them.

use serde_json::Value;

use crate::client::{Ask, Client};
use crate::discovery::Resource;
use crate::failure::Failure;
use crate::session::Session;

/// How many objects are asked for at once.
pub const CHUNK: u32 = 500;

/// Which objects of a type.
#[derive(clap::Args, Debug, Clone, Default)]
pub struct Selection {
    /// Label selector, such as app=web,tier!=db or "env in (prod, test)".
    #[arg(long, short = 'l', value_name = "LABELS")]
    pub selector: Option<String>,

    /// Field selector, such as metadata.name=a,spec.colour=red.
    #[arg(long, value_name = "FIELDS")]
    pub field_selector: Option<String>,

    /// All namespaces.
    #[arg(long, short = 'A')]
    pub all_namespaces: bool,
}

impl Selection {
    /// Whether anything narrows it down.
    pub fn is_narrow(&self) -> bool {
        self.selector.is_some() || self.field_selector.is_some()
    }

    /// With its parameters.
    pub fn on(&self, ask: Ask) -> Ask {
        ask.query_if("labelSelector", self.selector.clone())
            .query_if("fieldSelector", self.field_selector.clone())
    }

    /// The namespace to look in: none for all of them.
    pub async fn namespace(&self, session: &mut Session) -> Result<Option<String>, Failure> {
        match self.all_namespaces {
            true => Ok(None),
            false => session.namespace().await.map(Some),
        }
    }
}

/// A list that was refused, with what was looked for, as kubectl tells it.
pub fn told(failure: Failure, resource: &Resource, selection: &Selection) -> Failure {
    if !failure.refusal().is_some_and(|refusal| matches!(refusal.reason(), "BadRequest" | "NotFound")) {
        return failure;
    }
    let quote = krm::field::quote;
    let what = quote(&format!("{}, Resource={}", resource.api_version(), resource.plural));
    let (labels, fields) = (selection.selector.as_deref(), selection.field_selector.as_deref());
    match (labels, fields) {
        (None, None) => failure.during(&format!("Unable to list {what}")),
        (labels, fields) => failure.during(&format!(
            "Unable to find {what} that match label selector {}, field selector {}",
            quote(labels.unwrap_or("")),
            quote(fields.unwrap_or(""))
        )),
    }
}

/// Lists page by page; `each` gets every page.
pub async fn pages(
    client: &Client,
    ask: &Ask,
    chunk: u32,
    mut each: impl FnMut(Value) -> Result<(), Failure>,
) -> Result<String, Failure> {
    let mut resume: Option<String> = None;
    loop {
        let mut page = ask.clone();
        if chunk > 0 {
            page = page.query("limit", chunk.to_string());
        }
        page = page.query_if("continue", resume.clone());
        let found = client.value(&page).await?;
        let text = |field: &str| found["metadata"][field].as_str().unwrap_or("").to_owned();
        let (version, next) = (text("resourceVersion"), text("continue"));
        each(found)?;
        if next.is_empty() {
            return Ok(version);
        }
        resume = Some(next);
    }
}

/// All objects of a resource that are selected, each with its type.
pub async fn list(
    client: &Client,
    resource: &Resource,
    namespace: Option<&str>,
    selection: &Selection,
) -> Result<Vec<Value>, Failure> {
    let ask = selection.on(Ask::get(resource.collection(namespace)));
    let mut objects = Vec::new();
    pages(client, &ask, CHUNK, |mut page| {
        objects.extend(items(&mut page));
        Ok(())
    })
    .await
    .map_err(|failure| told(failure, resource, selection))?;
    Ok(objects)
}

/// Takes the objects out of a list; where they don't say what they are, the list does.
pub fn items(page: &mut Value) -> Vec<Value> {
    let kind = page["kind"].as_str().and_then(|kind| kind.strip_suffix("List")).unwrap_or("").to_owned();
    let api_version = page["apiVersion"].as_str().unwrap_or("").to_owned();
    let Some(Value::Array(mut items)) = page.get_mut("items").map(Value::take) else { return Vec::new() };
    for item in &mut items {
        if let Some(object) = item.as_object_mut() {
            object.entry("kind").or_insert_with(|| kind.clone().into());
            object.entry("apiVersion").or_insert_with(|| api_version.clone().into());
        }
    }
    items
}
