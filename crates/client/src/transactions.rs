//! Many objects in one commit, and plans of it.

use http::Method;
use krm::Object;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::error::Result;
use crate::request::{Request, segment};
use crate::sending::Client;

const API_VERSION: &str = "groundplane.dev/v1alpha1";
const TRANSACTIONS: &str = "/apis/groundplane.dev/v1alpha1/transactions";
const PLANS: &str = "/apis/groundplane.dev/v1alpha1/plans";

/// Changes that are committed together, or not at all. The server orders them.
#[derive(Debug, Clone, Default)]
pub struct Transaction {
    spec: Map<String, Value>,
    items: Vec<Value>,
    query: Vec<(&'static str, String)>,
    is_dry_run: bool,
}

/// What is sent. Tens of thousands of objects are not copied for it.
#[derive(Serialize)]
struct Body<'a> {
    #[serde(rename = "apiVersion")]
    api_version: &'a str,
    kind: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<Value>,
    spec: Spec<'a>,
}

#[derive(Serialize)]
struct Spec<'a> {
    #[serde(flatten)]
    fields: &'a Map<String, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    items: Option<&'a [Value]>,
}

impl Transaction {
    /// A transaction without changes.
    pub fn new() -> Transaction {
        Transaction::default()
    }

    /// Applies an object; see [`Collection::apply`](crate::Collection::apply).
    pub fn apply(self, object: &Object) -> Transaction {
        self.item(json!({"operation": "apply", "object": object}))
    }

    /// Creates an object.
    pub fn create(self, object: &Object) -> Transaction {
        self.item(json!({"operation": "create", "object": object}))
    }

    /// Replaces an object. If it has a resource version, only at that one.
    pub fn replace(self, object: &Object) -> Transaction {
        self.item(json!({"operation": "update", "object": object}))
    }

    /// Deletes the object of this type and name; if it has a UID, only that one.
    pub fn delete(self, object: &Object) -> Transaction {
        let mut item = json!({"operation": "delete", "target": {
            "apiVersion": object.api_version(), "kind": object.kind(),
            "namespace": object.namespace(), "name": object.name(),
        }});
        if !object.uid().is_empty() {
            item["preconditions"] = json!({"uid": object.uid()});
        }
        self.item(item)
    }

    /// Adds an item of any operation, as the API has it.
    pub fn item(mut self, item: Value) -> Transaction {
        self.items.push(item);
        self
    }

    /// Requires something of an object that is not written, as the API has it.
    pub fn precondition(mut self, precondition: Value) -> Transaction {
        let all = self.spec.entry("preconditions").or_insert_with(|| Value::Array(Vec::new()));
        if let Some(all) = all.as_array_mut() {
            all.push(precondition);
        }
        self
    }

    /// Requires that the project in whose control plane it is made has this UID: a later one of its name does not.
    pub fn in_project_life(self, uid: &str) -> Transaction {
        self.with("projectUid", uid.into())
    }

    /// Undoes changes to many objects instead: those of a commit, or those after a time, as the API has it.
    pub fn undo(self, undo: Value) -> Transaction {
        self.with("undo", undo)
    }

    /// The same under the name of a field manager.
    pub fn managed_by(self, manager: &str) -> Transaction {
        self.with("fieldManager", manager.into())
    }

    /// The same with a reason that is kept in the history of what it changes.
    pub fn because(self, message: &str) -> Transaction {
        self.with("message", message.into())
    }

    /// The same, which takes fields over from other managers.
    pub fn force(self, force: bool) -> Transaction {
        self.with("force", force.into())
    }

    /// The same, which is checked and answered, and not made.
    pub fn dry_run(mut self, is_dry_run: bool) -> Transaction {
        self.is_dry_run = is_dry_run;
        self
    }

    /// The same with a parameter, such as `diff=true` or `fieldValidation=Strict`.
    pub fn query(mut self, name: &'static str, value: impl Into<String>) -> Transaction {
        self.query.push((name, value.into()));
        self
    }

    fn with(mut self, field: &str, value: Value) -> Transaction {
        self.spec.insert(field.to_owned(), value);
        self
    }

    /// The body of a request, as JSON.
    fn body(&self, kind: &str, metadata: Option<Value>) -> String {
        let items = (!self.spec.contains_key("undo")).then_some(self.items.as_slice());
        let spec = Spec { fields: &self.spec, items };
        let body = Body { api_version: API_VERSION, kind, metadata, spec };
        serde_json::to_string(&body).unwrap_or_default()
    }

    /// The request that makes it.
    pub fn request(&self) -> Request {
        let body = self.body("Transaction", None);
        let mut request = Request::new(Method::POST, TRANSACTIONS).body("application/json", body);
        request.query.extend(self.query.iter().cloned());
        request.query_if("dryRun", self.is_dry_run.then_some("All"))
    }

    /// The request that saves it as a plan; without a name the server gives one.
    pub fn plan_request(&self, name: Option<&str>) -> Request {
        let metadata = match name {
            None => json!({"generateName": "plan-"}),
            Some(name) => json!({"name": name}),
        };
        let body = self.body("Plan", Some(metadata));
        let mut request = Request::new(Method::POST, PLANS).body("application/json", body);
        request.query.extend(self.query.iter().cloned());
        request
    }
}

/// What came of a transaction, or would come of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// The response: a `Transaction` or a `Plan` with its status.
    pub value: Value,
}

impl Report {
    /// The name of a saved plan; empty for a transaction.
    pub fn name(&self) -> &str {
        self.value["metadata"]["name"].as_str().unwrap_or("")
    }

    /// The revision of the commit; of a dry run and a plan the one that it was checked against.
    pub fn revision(&self) -> &str {
        self.value["status"]["revision"].as_str().unwrap_or("")
    }

    /// Whether a dry run or a plan found something that can't be done.
    pub fn is_refused(&self) -> bool {
        self.value["status"]["refused"] == true
    }

    /// What came of each item: objects with `result`, `kind`, `namespace`, `name` and more, as the API has them.
    pub fn items(&self) -> impl Iterator<Item = &Value> {
        self.value["status"]["items"].as_array().into_iter().flatten()
    }

    /// The whole status.
    pub fn status(&self) -> &Value {
        &self.value["status"]
    }
}

impl Client {
    /// Commits a transaction. An item that can't be done is a refusal of all of it.
    pub async fn transact(&self, transaction: &Transaction) -> Result<Report> {
        Ok(Report { value: self.value(&transaction.request()).await? })
    }

    /// The same for a transaction that has the same outcome if it is made twice: all that it writes carries a name or a
    /// resource version. It is repeated when the connection is lost; a conflict can then be with the first attempt.
    pub async fn transact_repeatably(&self, transaction: &Transaction) -> Result<Report> {
        Ok(Report { value: self.value(&transaction.request().repeatable()).await? })
    }

    /// Saves a plan: what the transaction would do, and everything that depends on. It is kept for a day.
    pub async fn plan(&self, transaction: &Transaction, name: Option<&str>) -> Result<Report> {
        Ok(Report { value: self.value(&transaction.plan_request(name)).await? })
    }

    /// Commits a saved plan, if nothing that it depends on has changed.
    ///
    /// A plan is applied once, so the request is repeated when the connection is lost; a conflict can then be with the first
    /// attempt.
    pub async fn apply_plan(&self, name: &str) -> Result<Report> {
        let request = Request::new(Method::POST, format!("{}/apply", plan_path(name))).repeatable();
        Ok(Report { value: self.value(&request).await? })
    }
}

/// The path of a saved plan.
pub fn plan_path(name: &str) -> String {
    format!("{PLANS}/{}", segment(name))
}
