//! The compute API of a project, as commands use it.

use std::rc::Rc;

use cli::{Ask, Client, Failure, Session, segment};
use compute::names;
use http::Method;
use serde_json::Value;

use crate::program::Program;
use crate::text::at;

/// The namespace of workloads. A project has no use for others yet.
const NAMESPACE: &str = "default";
/// The field manager of what these commands write.
const MANAGER: &str = "groundplane-compute";

/// How often a write is tried while controllers report on the workload.
const ATTEMPTS: usize = 10;

/// The compute API of one project.
pub struct Compute {
    client: Rc<Client>,
    /// Name of the project.
    pub project: String,
    /// How the program was called.
    pub program: Program,
}

impl Compute {
    /// The API of the session's project.
    pub async fn reach(session: &mut Session) -> Result<Compute, Failure> {
        let project = session.global.project.clone().unwrap_or_default();
        let program = Program::of(session);
        Ok(Compute { client: session.client().await?, project, program })
    }

    /// The client below.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// A workload by its name.
    pub async fn workload(&self, name: &str) -> Result<Value, Failure> {
        self.find_workload(name).await?.ok_or_else(|| {
            Failure::other(format!("workload {name:?} not found in project {}", self.project))
                .hint(format!("\"{}\" lists those that there are", self.program.command("workloads")))
        })
    }

    /// A workload, if there is one of that name.
    pub async fn find_workload(&self, name: &str) -> Result<Option<Value>, Failure> {
        self.find(&path("workloads", name)).await
    }

    /// All workloads.
    pub async fn workloads(&self) -> Result<Vec<Value>, Failure> {
        self.list("workloads", None).await
    }

    /// The deployments of one workload, by its uid, or all; by placement and city.
    pub async fn deployments(&self, workload: Option<&Value>) -> Result<Vec<Value>, Failure> {
        let selector =
            workload.map(|workload| format!("{}={}", names::WORKLOAD_UID, at(workload, "/metadata/uid")));
        let mut found = self.list("workloaddeployments", selector).await?;
        found.sort_by_key(|one| (at(one, "/spec/placementName").to_owned(), city(one).to_owned()));
        Ok(found)
    }

    /// The instances of one workload, by its uid, or all; by workload, city and name.
    pub async fn instances(&self, workload: Option<&Value>) -> Result<Vec<Value>, Failure> {
        let selector =
            workload.map(|workload| format!("{}={}", names::WORKLOAD_UID, at(workload, "/metadata/uid")));
        let mut found = self.list("instances", selector).await?;
        found.sort_by_cached_key(|one| {
            (
                label(one, names::WORKLOAD_NAME).to_owned(),
                city(one).to_owned(),
                ordinal(one),
                name(one).to_owned(),
            )
        });
        Ok(found)
    }

    /// An instance by its name.
    pub async fn instance(&self, name: &str) -> Result<Value, Failure> {
        self.find(&path("instances", name)).await?.ok_or_else(|| {
            Failure::other(format!("instance {name:?} not found in project {}", self.project))
                .hint(format!("\"{}\" lists those that there are", self.program.command("instances")))
        })
    }

    /// Creates a workload.
    pub async fn create(
        &self,
        workload: &Value,
        message: Option<&str>,
        dry_run: bool,
    ) -> Result<Value, Failure> {
        self.write(Method::POST, path("workloads", ""), workload, message, dry_run).await
    }

    /// Changes a workload from the state that it was read in. Where only its status has changed meanwhile, which controllers
    /// do all the time, it is tried again; a change of the specification by somebody else is a conflict.
    pub async fn change(
        &self,
        before: &Value,
        after: &Value,
        message: Option<&str>,
        dry_run: bool,
    ) -> Result<Value, Failure> {
        let mut wanted = after.clone();
        for _ in 0..ATTEMPTS {
            let version = wanted["metadata"]["resourceVersion"].clone();
            let written =
                self.write(Method::PUT, path("workloads", name(after)), &wanted, message, dry_run).await;
            let failure = match written {
                Err(failure) if is_conflict(&failure) => failure,
                written => return written,
            };
            let now = self.workload(name(after)).await?;
            if !is_same(before, &now) || now["metadata"]["resourceVersion"] == version {
                return Err(failure.hint("somebody has changed it meanwhile; run the command again"));
            }
            wanted["metadata"]["resourceVersion"] = now["metadata"]["resourceVersion"].clone();
        }
        Err(Failure::other(format!("workload {:?} changes all the time", name(after)))
            .hint("run the command again"))
    }

    async fn write(
        &self,
        method: Method,
        path: String,
        workload: &Value,
        message: Option<&str>,
        dry_run: bool,
    ) -> Result<Value, Failure> {
        let ask = Ask::new(method, path)
            .query("fieldManager", MANAGER)
            .query("fieldValidation", "Strict")
            .query_if("dryRun", dry_run.then_some("All"))
            .message(message)
            .json(workload);
        self.client.value(&ask).await
    }

    /// Deletes a workload.
    pub async fn delete(&self, workload: &str) -> Result<(), Failure> {
        self.client.value(&Ask::new(Method::DELETE, path("workloads", workload))).await.map(drop)
    }

    /// The object at a path, if there is one.
    pub async fn find(&self, path: &str) -> Result<Option<Value>, Failure> {
        match self.client.value(&Ask::get(path)).await {
            Ok(found) => Ok(Some(found)),
            Err(failure) if failure.is_not_found() => Ok(None),
            Err(failure) => Err(failure),
        }
    }

    async fn list(&self, plural: &str, selector: Option<String>) -> Result<Vec<Value>, Failure> {
        self.list_at(&path(plural, ""), selector).await
    }

    /// All objects of a collection, page by page.
    pub async fn list_at(&self, path: &str, selector: Option<String>) -> Result<Vec<Value>, Failure> {
        let (mut items, mut next) = (Vec::new(), None::<String>);
        loop {
            let ask = Ask::get(path)
                .query("limit", "500")
                .query_if("labelSelector", selector.clone())
                .query_if("continue", next);
            let mut page = self.client.value(&ask).await?;
            if let Some(found) = page["items"].as_array_mut() {
                items.append(found);
            }
            next = Some(at(&page, "/metadata/continue").to_owned()).filter(|token| !token.is_empty());
            if next.is_none() {
                return Ok(items);
            }
        }
    }
}

fn is_conflict(failure: &Failure) -> bool {
    failure.refusal().is_some_and(|refusal| refusal.reason() == "Conflict")
}

/// Whether two states of a workload differ in nothing that users write.
pub fn is_same(one: &Value, other: &Value) -> bool {
    let labels = |workload: &Value| match &workload["metadata"]["labels"] {
        Value::Null => Value::Object(serde_json::Map::new()),
        labels => labels.clone(),
    };
    one["spec"] == other["spec"]
        && labels(one) == labels(other)
        && one["metadata"]["uid"] == other["metadata"]["uid"]
}

/// Path of an object of compute, or of all of a kind.
pub fn path(plural: &str, name: &str) -> String {
    let collection = format!("/apis/{}/{}/namespaces/{NAMESPACE}/{plural}", compute::GROUP, compute::VERSION);
    match name {
        "" => collection,
        name => format!("{collection}/{}", segment(name)),
    }
}

/// Path of networks, or of one.
pub fn networks(name: &str) -> String {
    let collection = format!("/apis/networking.datumapis.com/v1alpha/namespaces/{NAMESPACE}/networks");
    match name {
        "" => collection,
        name => format!("{collection}/{}", segment(name)),
    }
}

/// Name of an object.
pub fn name(object: &Value) -> &str {
    at(object, "/metadata/name")
}

/// A label of an object; empty if it has none.
pub fn label<'a>(object: &'a Value, key: &str) -> &'a str {
    object["metadata"]["labels"][key].as_str().unwrap_or_default()
}

/// City code of a deployment or an instance.
pub fn city(object: &Value) -> &str {
    match label(object, names::CITY_CODE) {
        "" => at(object, "/spec/cityCode"),
        city => city,
    }
}

/// Ordinal of an instance.
fn ordinal(instance: &Value) -> u32 {
    label(instance, names::INSTANCE_INDEX).parse().unwrap_or(u32::MAX)
}
