//! Lists, page by page: one page is in memory at a time.

use std::marker::PhantomData;

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::error::{Error, Result};
use crate::request::Request;
use crate::sending::Client;

/// Objects on a page, unless a list says otherwise.
const PAGE: usize = 500;
/// How often a list begins again because the server no longer has the revision it was at.
const MOST_RESTARTS: u32 = 5;

/// Which objects are listed or watched.
#[derive(Debug, Clone, Default)]
pub struct ListOptions {
    /// A label selector, such as `tier=front,!old`. Defaults to all objects.
    pub label_selector: Option<String>,
    /// A field selector, such as `metadata.name=a`. Defaults to all objects.
    pub field_selector: Option<String>,
    /// Objects on a page. Defaults to 500.
    pub page: Option<usize>,
}

impl ListOptions {
    /// All objects with these labels.
    pub fn labelled(selector: &str) -> ListOptions {
        ListOptions { label_selector: Some(selector.to_owned()), ..ListOptions::default() }
    }

    pub(crate) fn request(&self, path: &str) -> Request {
        Request::get(path)
            .query_if("labelSelector", self.label_selector.as_deref())
            .query_if("fieldSelector", self.field_selector.as_deref())
    }
}

/// A list that is read page by page.
pub struct Pages<T> {
    client: Client,
    path: String,
    options: ListOptions,
    resume: Resume,
    restarts: u32,
    of: PhantomData<fn() -> T>,
}

enum Resume {
    Start,
    After(String),
    End,
}

/// One page of a list.
#[derive(Debug, Clone)]
pub struct Page<T> {
    /// The objects.
    pub items: Vec<T>,
    /// The resource version of the whole list: a watch from there misses nothing.
    pub resource_version: String,
    /// Whether it is the first page. It can come again: then the server no longer had the revision of the pages before,
    /// and the list has begun anew; what was read before does not count.
    pub is_first: bool,
}

impl<T: DeserializeOwned> Pages<T> {
    pub(crate) fn new(client: Client, path: String, options: ListOptions) -> Pages<T> {
        Pages { client, path, options, resume: Resume::Start, restarts: 0, of: PhantomData }
    }

    /// The next page; `None` after the last one.
    ///
    /// Cancel safe: a page whose future is dropped is read again.
    pub async fn next(&mut self) -> Result<Option<Page<T>>> {
        loop {
            let token = match &self.resume {
                Resume::Start => None,
                Resume::After(token) => Some(token.clone()),
                Resume::End => return Ok(None),
            };
            let is_first = token.is_none();
            let request = self
                .options
                .request(&self.path)
                .query("limit", self.options.page.unwrap_or(PAGE).to_string())
                .query_if("continue", token);
            let mut list = match self.client.value(&request).await {
                Err(error) if error.is_expired() && !is_first && self.restarts < MOST_RESTARTS => {
                    self.restarts += 1;
                    self.resume = Resume::Start;
                    continue;
                }
                list => list?,
            };
            let items = list["items"].as_array_mut().map(std::mem::take).unwrap_or_default();
            let items = items.into_iter().map(|item| self.read(typed(item, &list))).collect::<Result<_>>()?;
            let text = |field: &str| list["metadata"][field].as_str().unwrap_or("").to_owned();
            self.resume = match text("continue") {
                token if token.is_empty() => Resume::End,
                token => Resume::After(token),
            };
            return Ok(Some(Page { items, resource_version: text("resourceVersion"), is_first }));
        }
    }

    /// Everything at once.
    pub async fn all(mut self) -> Result<Vec<T>> {
        let mut all = Vec::new();
        while let Some(page) = self.next().await? {
            if page.is_first {
                all.clear();
            }
            all.extend(page.items);
        }
        Ok(all)
    }

    fn read(&self, item: Value) -> Result<T> {
        read(item, &self.path)
    }
}

/// An object of a type.
pub(crate) fn read<T: DeserializeOwned>(item: Value, path: &str) -> Result<T> {
    let name = item["metadata"]["name"].as_str().unwrap_or("").to_owned();
    serde_json::from_value(item)
        .map_err(|error| Error::Unreadable(format!("{path}: object {}: {error}", krm::field::quote(&name))))
}

/// An item of a list with its type, which Kubernetes leaves out there.
fn typed(mut item: Value, list: &Value) -> Value {
    let kind = list["kind"].as_str().and_then(|kind| kind.strip_suffix("List"));
    if let (Some(map), Some(kind)) = (item.as_object_mut(), kind) {
        map.entry("kind").or_insert_with(|| kind.into());
        map.entry("apiVersion").or_insert_with(|| list["apiVersion"].clone());
    }
    item
}
