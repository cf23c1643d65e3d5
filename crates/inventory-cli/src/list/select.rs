//! Lists objects of a kind by label and field selectors, in pages. Filters on the client if the server does not support the
//! field selector.

use std::borrow::Cow;

use cli::{Ask, Client, Failure};
use krm::Object;
use krm::selector::{FieldSelector, field_texts};
use serde_json::Value;

use crate::output::ROOT;

/// Page size.
const PAGE: &str = "500";

/// Selects objects of a kind.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    /// Plural of the kind.
    pub plural: &'static str,
    /// Label selector.
    pub labels: Option<String>,
    /// Field selector.
    pub fields: Option<String>,
    /// Point in time.
    pub as_of: Option<String>,
}

/// The selected objects.
pub struct Found {
    /// The objects, sorted by name.
    pub items: Vec<Value>,
    /// The revision of the list.
    pub revision: String,
    /// Whether the server does not select by the field, so that everything was listed and filtered here.
    pub is_picked: bool,
}

impl Selection {
    /// Selects all objects of a kind.
    pub fn all(plural: &'static str) -> Selection {
        Selection { plural, ..Selection::default() }
    }

    /// Also by the value of a field.
    pub fn and(&self, field: &str, value: &str) -> Selection {
        let escaped = value.replace('\\', "\\\\").replace(',', "\\,").replace('=', "\\=");
        let added = format!("{field}={escaped}");
        let fields = match &self.fields {
            Some(fields) => format!("{fields},{added}"),
            None => added,
        };
        Selection { fields: Some(fields), ..self.clone() }
    }

    /// Lists the objects.
    pub async fn every(&self, client: &Client) -> Result<Found, Failure> {
        self.found(client).await.map_err(|failure| {
            failure.during(&format!("could not list {}", self.plural)).without("inventory")
        })
    }

    /// Lists the objects; errors are the server's own.
    pub async fn found(&self, client: &Client) -> Result<Found, Failure> {
        match self.asked(client, self.fields.as_deref()).await {
            Err(failure) if self.fields.is_some() && is_without_that_field(&failure) => {
                self.picked(self.asked(client, None).await)
            }
            found => found,
        }
    }

    async fn asked(&self, client: &Client, fields: Option<&str>) -> Result<Found, Failure> {
        let ask = Ask::get(format!("{ROOT}/{}", self.plural))
            .query_if("labelSelector", self.labels.as_deref())
            .query_if("fieldSelector", fields)
            .query_if("asOf", self.as_of.as_deref())
            .query("limit", PAGE);
        let mut found = Found { items: Vec::new(), revision: String::new(), is_picked: false };
        let mut resume = None::<String>;
        loop {
            let mut page = client.value(&ask.clone().query_if("continue", resume.take())).await?;
            found.revision = page["metadata"]["resourceVersion"].as_str().unwrap_or("").to_owned();
            let next = page["metadata"]["continue"].as_str().unwrap_or("").to_owned();
            let (version, kind) = (page["apiVersion"].take(), page["kind"].take());
            let kind = kind.as_str().and_then(|kind| kind.strip_suffix("List")).unwrap_or("").to_owned();
            if let Some(Value::Array(items)) = page.get_mut("items").map(Value::take) {
                found.items.extend(items.into_iter().map(|mut item| {
                    item["apiVersion"] = version.clone();
                    item["kind"] = kind.clone().into();
                    if let Some(metadata) = item["metadata"].as_object_mut() {
                        metadata.remove("managedFields");
                    }
                    item
                }));
            }
            if next.is_empty() {
                return Ok(found);
            }
            resume = Some(next);
        }
    }

    /// Filters a list by the field selector on the client.
    fn picked(&self, found: Result<Found, Failure>) -> Result<Found, Failure> {
        let Found { items, revision, .. } = found?;
        let fields = FieldSelector::parse(self.fields.as_deref().unwrap_or("")).map_err(Failure::usage)?;
        let has = |object: &Object| {
            fields.matches_any(|field| {
                field_texts(object, field).into_iter().map(|text| Cow::Owned(text.into_owned())).collect()
            })
        };
        let items = items.into_iter().filter_map(|item| match item {
            Value::Object(map) => Some(Object(map)).filter(has).map(|object| Value::Object(object.0)),
            _ => None,
        });
        Ok(Found { items: items.collect(), revision, is_picked: true })
    }
}

/// Whether the server does not support the field selector, like a stock apiserver for a CRD.
fn is_without_that_field(failure: &Failure) -> bool {
    failure.refusal().is_some_and(|refusal| {
        refusal.code() == 400 && refusal.message().contains("field label not supported")
    })
}
