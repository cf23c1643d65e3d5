//! The past of an object, who refers to it, and questions about it.

use http::Method;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::collection::Collection;
use crate::error::Result;
use crate::request::Request;

/// Revisions in one response, at most.
const MOST_AT_ONCE: usize = 1000;

/// How the revisions of an object are listed.
#[derive(Debug, Clone, Default)]
pub struct HistoryOptions {
    /// Whether each revision has the values before and after it.
    pub diff: bool,
    /// At most so many, the newest first. Defaults to all.
    pub limit: Option<usize>,
    /// The media type of the response. Defaults to JSON.
    pub accept: Option<String>,
}

/// Which state an undo writes again.
#[derive(Debug, Clone, Default)]
pub struct Undo {
    /// The state right after this revision.
    pub to_revision: Option<String>,
    /// The state in this generation: a revision of the history of rollouts.
    pub to_generation: Option<i64>,
    /// The state before so many changes. Defaults to 1 where neither is named.
    pub steps: Option<u64>,
    /// Why, for the history.
    pub message: Option<String>,
}

impl Undo {
    /// The request for the object at a path.
    pub fn request(&self, object: &str) -> Request {
        let mut body = json!({"apiVersion": "groundplane.dev/v1alpha1", "kind": "UndoOptions"});
        if let Some(revision) = &self.to_revision {
            body["toRevision"] = revision.as_str().into();
        }
        if let Some(generation) = self.to_generation {
            body["toGeneration"] = generation.into();
        }
        if let Some(steps) = self.steps {
            body["steps"] = steps.into();
        }
        if let Some(message) = &self.message {
            body["message"] = message.as_str().into();
        }
        Request::new(Method::POST, format!("{object}/undo")).json(&body)
    }
}

impl crate::Client {
    /// The revisions of the object at a path, newest first, as the lists that the server sent.
    pub async fn history(&self, object: &str, options: &HistoryOptions) -> Result<Vec<Value>> {
        let wanted = options.limit.unwrap_or(usize::MAX);
        let (mut pages, mut count, mut resume) = (Vec::new(), 0, None::<String>);
        loop {
            let mut request = Request::get(format!("{object}/history"))
                .query("limit", (wanted - count).min(MOST_AT_ONCE).to_string())
                .query_if("diff", options.diff.then_some("true"))
                .query_if("continue", resume.clone());
            if let Some(accept) = &options.accept {
                request = request.accept(accept);
            }
            let page = self.value(&request).await?;
            count += page["items"].as_array().or(page["rows"].as_array()).map_or(0, Vec::len);
            let token = page["metadata"]["continue"].as_str().filter(|token| !token.is_empty());
            resume = token.map(str::to_owned);
            pages.push(page);
            if resume.is_none() || count >= wanted {
                return Ok(pages);
            }
        }
    }

    /// One revision of the object at a path, with what it changed and the whole object after it.
    pub async fn revision(&self, object: &str, revision: &str) -> Result<Value> {
        self.value(&Request::get(format!("{object}/history")).query("revision", revision)).await
    }

    /// The objects that refer to the one at a path: a list of references.
    pub async fn referrers(&self, object: &str) -> Result<Value> {
        self.value(&Request::get(format!("{object}/referrers"))).await
    }
}

impl<T: Serialize + DeserializeOwned> Collection<T> {
    /// The revisions of an object, newest first.
    pub async fn history(&self, name: &str, options: &HistoryOptions) -> Result<Vec<Value>> {
        let pages = self.client().history(&self.path_of(name), options).await?;
        let items = pages.into_iter().flat_map(|mut page| match page["items"].take() {
            Value::Array(items) => items,
            _ => Vec::new(),
        });
        Ok(items.collect())
    }

    /// Writes an older state of an object again.
    pub async fn undo(&self, name: &str, undo: &Undo) -> Result<T> {
        self.client().read(&self.parameters(undo.request(&self.path_of(name)))).await
    }

    /// The objects that refer to an object: a list of references.
    pub async fn referrers(&self, name: &str) -> Result<Vec<Value>> {
        let mut list = self.client().referrers(&self.path_of(name)).await?;
        Ok(list["items"].as_array_mut().map(std::mem::take).unwrap_or_default())
    }

    /// Asks a question about an object, such as `elevation` of a rack.
    pub async fn ask(
        &self,
        name: &str,
        question: &str,
        parameters: &[(&'static str, String)],
    ) -> Result<Value> {
        let mut request = Request::get(format!("{}/{question}", self.path_of(name)));
        request.query.extend(parameters.iter().cloned());
        self.client().value(&request).await
    }
}
