//! What a synchronizer asks of the server: its Source, hosts, classes, findings.

use std::collections::BTreeMap;

use client::{Client, DeleteOptions, Fence, ListOptions, Patch};
use fulfillment::kinds::HostClass;
use krm::Object;
use krm::kind::Metadata;
use serde_json::{Value, json};

use super::grpc::{self, CallError};
use super::wire;
use crate::http::Credentials;
use crate::kinds::source::SourceStatus;
use crate::kinds::source_finding::SourceFindingSpec;
use crate::kinds::{Source, SourceFinding};
use crate::labels;
use crate::observation::ClassRecord;
use crate::sync::{Listing, Planner, Policy, Stored, Update};

const HOSTS: &str = "/osac.private.v1.Hosts/Sync";
/// Hosts in one call.
const BATCH: usize = 1000;

/// The server, for one Source.
#[derive(Clone)]
pub struct Server {
    client: Client,
    name: String,
}

/// What became of a host that was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// Identifier of the host.
    pub host: String,
    /// What was done, or why nothing was.
    pub outcome: Result<Done, String>,
}

/// What was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Done {
    /// It was created.
    Created,
    /// It was changed.
    Updated,
    /// It was like that already.
    Unchanged,
}

impl Server {
    /// The server that a client speaks to, for a Source.
    pub fn new(client: &Client, name: &str) -> Server {
        Server { client: client.in_root(), name: name.to_owned() }
    }

    /// The same with writes that land only while a lease is held.
    pub fn fenced(&self, fence: &Fence) -> Server {
        Server { client: self.client.fenced(fence), name: self.name.clone() }
    }

    /// The client.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// The Source.
    pub async fn source(&self) -> Result<Source, client::Error> {
        self.client.kind::<Source>().get(&self.name).await
    }

    /// The credentials of the Source.
    pub async fn credentials(&self, source: &Source) -> Result<Credentials, client::Error> {
        let mut credentials = Credentials::default();
        let Some(secret) = &source.spec.credentials_ref else { return Ok(credentials) };
        let secrets = self.client.resource("v1", "secrets").in_namespace(crate::NAMESPACE);
        let secret = secrets.get(&secret.name).await?;
        for (key, value) in secret.get("data").and_then(Value::as_object).into_iter().flatten() {
            let bytes = value.as_str().and_then(|text| data_encoding::BASE64.decode(text.as_bytes()).ok());
            if let Some(text) = bytes.and_then(|bytes| String::from_utf8(bytes).ok()) {
                credentials.set(key, text.trim_end_matches(['\r', '\n']).to_owned());
            }
        }
        Ok(credentials)
    }

    /// Shows a planner all hosts. If the list has to begin again, so does the planner.
    pub async fn show_all<'a>(&self, begin: impl Fn() -> Planner<'a>) -> Result<Planner<'a>, client::Error> {
        let hosts = self.client.resource(&api_version(), "hosts");
        let mut pages = hosts.list(ListOptions { page: Some(BATCH), ..ListOptions::default() });
        let mut planner = begin();
        while let Some(page) = pages.next().await? {
            if page.is_first {
                planner = begin();
            }
            for stored in page.items.iter().filter_map(Stored::read) {
                planner.add(stored);
            }
        }
        Ok(planner)
    }

    /// Shows a planner the hosts that a short list is about.
    pub async fn show_some(&self, listing: &Listing, planner: &mut Planner<'_>) -> Result<(), client::Error> {
        let hosts = self.client.resource(&api_version(), "hosts");
        for record in &listing.hosts {
            if let Some(found) = hosts.find(&fulfillment::identity::name_of(&record.id)).await? {
                Stored::read(&found).into_iter().for_each(|stored| planner.add(stored));
                continue;
            }
            let name = crate::observation::label(&record.name);
            let named =
                ListOptions { field_selector: Some(format!("displayName={name}")), ..ListOptions::default() };
            let found: Vec<Object> = hosts.list(named).all().await?;
            found.iter().filter_map(Stored::read).for_each(|stored| planner.add(stored));
        }
        Ok(())
    }

    /// The findings of the Source, by the names of their hosts.
    pub async fn findings(&self) -> Result<BTreeMap<String, SourceFinding>, client::Error> {
        let own = ListOptions {
            field_selector: Some(format!("spec.source={}", self.name)),
            ..ListOptions::default()
        };
        let all = self.client.kind::<SourceFinding>().list(own).all().await?;
        Ok(all.into_iter().map(|finding| (finding.spec.host.clone(), finding)).collect())
    }

    /// Writes a finding, unless it is known like that.
    pub async fn find(
        &self,
        spec: &SourceFindingSpec,
        known: Option<&SourceFinding>,
    ) -> Result<bool, client::Error> {
        let findings = self.client.kind::<SourceFinding>();
        match known {
            Some(known) if known.spec == *spec => Ok(false),
            Some(known) => {
                let new = SourceFinding { metadata: known.metadata.clone(), spec: spec.clone() };
                findings.replace(&new).await.map(|_| true)
            }
            None => findings.create(&SourceFinding::new(spec.clone())).await.map(|_| true),
        }
    }

    /// Deletes a finding that is settled.
    pub async fn settle(&self, name: &str) -> Result<(), client::Error> {
        gone(self.client.kind::<SourceFinding>().delete(name, &DeleteOptions::default()).await)
    }

    /// Writes the HostClasses that the Source owns or that are new, and gives how many.
    pub async fn write_classes(
        &self,
        policy: &Policy,
        classes: &BTreeMap<String, ClassRecord>,
    ) -> Result<usize, client::Error> {
        let collection = self.client.kind::<HostClass>().managed_by(&labels::user_of(&self.name));
        let mut written = 0;
        for class in classes.values().filter(|class| !policy.classes.contains_key(&class.id)) {
            let name = fulfillment::identity::name_of(&class.id);
            let stored = collection.find(&name).await?;
            let owner = stored.as_ref().map(|stored| stored.metadata.labels.get(labels::SOURCE));
            // A class that somebody else made is used as it is.
            if owner.is_some_and(|owner| owner != Some(&self.name)) {
                continue;
            }
            let wanted = host_class(&self.name, &name, class);
            let says = |class: &HostClass| {
                (
                    class.display_name.clone(),
                    class.title.clone().unwrap_or_default(),
                    class.description.clone().unwrap_or_default(),
                )
            };
            if stored.as_ref().is_some_and(|stored| says(stored) == says(&wanted)) {
                continue;
            }
            match &stored {
                None => drop(collection.create(&wanted).await?),
                Some(_) => {
                    let patch = json!({"displayName": wanted.display_name, "title": wanted.title,
                        "description": wanted.description});
                    collection.patch(&name, &Patch::Merge(patch)).await?;
                }
            }
            written += 1;
        }
        Ok(written)
    }

    /// Sends observations of hosts, and gives what became of each.
    pub async fn sync(
        &self,
        observations: &[wire::SyncRequest],
        is_forced: bool,
        is_rehearsal: bool,
    ) -> Result<Vec<Written>, CallError> {
        let mut headers = Vec::new();
        if is_forced {
            headers.push(("x-force", "true"));
        }
        if is_rehearsal {
            headers.push(("x-dry-run", "true"));
        }
        let mut all = Vec::with_capacity(observations.len());
        for batch in observations.chunks(BATCH) {
            let responses: Vec<wire::SyncResponse> = grpc::call(&self.client, HOSTS, batch, &headers).await?;
            all.extend(responses.into_iter().flat_map(|response| response.results).map(written));
        }
        Ok(all)
    }

    /// Deletes a host at a version.
    pub async fn delete(&self, name: &str, version: &str) -> Result<(), client::Error> {
        let at = DeleteOptions { resource_version: Some(version.to_owned()), ..DeleteOptions::default() };
        gone(self.client.resource(&api_version(), "hosts").delete(name, &at).await)
    }

    /// Writes the status of the Source.
    pub async fn tell(&self, status: &SourceStatus) -> Result<(), client::Error> {
        let mut patch = json!({ "status": status });
        // What is no longer said is removed: a merge patch keeps what it does not name.
        for field in ["counts", "doubts", "errors", "lastSuccess", "system"] {
            if patch["status"].get(field).is_none() {
                patch["status"][field] = Value::Null;
            }
        }
        self.client.kind::<Source>().patch_status(&self.name, &Patch::Merge(patch)).await.map(drop)
    }
}

fn api_version() -> String {
    format!("{}/{}", fulfillment::GROUP, fulfillment::VERSION)
}

fn gone(deleted: Result<(), client::Error>) -> Result<(), client::Error> {
    match deleted {
        Err(error) if error.is_not_found() => Ok(()),
        deleted => deleted,
    }
}

fn written(result: wire::SyncResult) -> Written {
    let outcome = match result.outcome {
        1 => Ok(Done::Created),
        2 => Ok(Done::Updated),
        3 => Ok(Done::Unchanged),
        _ => Err(result.message),
    };
    Written { host: result.id, outcome }
}

fn host_class(source: &str, name: &str, class: &ClassRecord) -> HostClass {
    let label = crate::observation::label(&class.name);
    HostClass {
        metadata: Metadata {
            name: name.to_owned(),
            labels: [(labels::SOURCE.to_owned(), source.to_owned())].into(),
            ..Metadata::default()
        },
        id: (name != class.id).then(|| class.id.clone()),
        display_name: Some(label).filter(|label| !label.is_empty() && label != name),
        title: class.title.clone().filter(|title| !title.is_empty()),
        description: class.description.clone().filter(|text| !text.is_empty()),
        // What operators decide about their classes.
        cleaning: None,
        requirements: None,
        root_device: None,
        provisioning_limit_seconds: None,
        cleaning_limit_seconds: None,
    }
}

/// The observation that creates the host of a record.
pub fn creation(policy: &Policy, listing: &Listing, place: usize) -> wire::SyncRequest {
    let record = &listing.hosts[place];
    let mut host = wire::Host { id: record.id.clone(), ..wire::Host::default() };
    for field in &crate::sync::FIELDS {
        if let Some(found) = (field.found)(policy, record) {
            set(&mut host, field.stored, found);
        }
    }
    let spec = host.spec.get_or_insert_default();
    spec.hardware = record.hardware.as_ref().map(wire::hardware);
    if let Some(password) = &record.bmc.password {
        spec.bmc.get_or_insert_default().password = password.reveal().to_owned();
    }
    let metadata = host.metadata.get_or_insert_default();
    metadata.labels.insert(labels::SOURCE.to_owned(), policy.source.clone());
    if record.held_back.is_some() {
        metadata.labels.insert(labels::HELD_BACK.to_owned(), "true".to_owned());
    }
    if !policy.joins_inventory {
        metadata.labels.insert(labels::INVENTORY.to_owned(), "off".to_owned());
    }
    wire::SyncRequest { object: Some(host), update_mask: None }
}

/// The observation that changes a host.
pub fn change(policy: &Policy, listing: &Listing, update: &Update) -> wire::SyncRequest {
    let record = &listing.hosts[update.record];
    let mut host = wire::Host { id: update.host.clone(), ..wire::Host::default() };
    let mut paths = Vec::new();
    for field in &update.fields {
        set(&mut host, field.stored, (field.found)(policy, record).unwrap_or_default());
        if field.stored == "spec.hardware" {
            host.spec.get_or_insert_default().hardware = record.hardware.as_ref().map(wire::hardware);
        }
        paths.push(field.mask.to_owned());
    }
    if let (true, Some(password)) = (update.with_password, &record.bmc.password) {
        let bmc = host.spec.get_or_insert_default().bmc.get_or_insert_default();
        bmc.password = password.reveal().to_owned();
        paths.push("spec.bmc.password".to_owned());
    }
    let metadata = host.metadata.get_or_insert_default();
    if update.is_back {
        paths.push(label_path(labels::MISSING));
        paths.push(annotation_path(labels::MISSING_SINCE));
    }
    if update.changes_hold {
        paths.push(label_path(labels::HELD_BACK));
        if record.held_back.is_some() {
            metadata.labels.insert(labels::HELD_BACK.to_owned(), "true".to_owned());
        }
    }
    if update.notes_id {
        paths.push(annotation_path(labels::NATIVE_ID));
        metadata.annotations.insert(labels::NATIVE_ID.to_owned(), record.id.clone());
    }
    wire::SyncRequest { object: Some(host), update_mask: Some(wire::FieldMask { paths }) }
}

/// The observation that marks a host as missing.
pub fn missing(host: &str, is_labelled: bool, now: &str) -> wire::SyncRequest {
    let mut metadata = wire::Metadata::default();
    let mut paths = vec![annotation_path(labels::MISSING_SINCE)];
    metadata.annotations.insert(labels::MISSING_SINCE.to_owned(), now.to_owned());
    if is_labelled {
        paths.push(label_path(labels::MISSING));
        metadata.labels.insert(labels::MISSING.to_owned(), "true".to_owned());
    }
    let object = wire::Host { id: host.to_owned(), metadata: Some(metadata), spec: None };
    wire::SyncRequest { object: Some(object), update_mask: Some(wire::FieldMask { paths }) }
}

fn label_path(key: &str) -> String {
    format!("metadata.labels.`{key}`")
}

fn annotation_path(key: &str) -> String {
    format!("metadata.annotations.`{key}`")
}

fn set(host: &mut wire::Host, field: &str, value: String) {
    if field == "displayName" {
        host.metadata.get_or_insert_default().name = value;
        return;
    }
    let spec = host.spec.get_or_insert_default();
    match field {
        "spec.class" => spec.class = value,
        "spec.bmc.url" => spec.bmc.get_or_insert_default().url = value,
        "spec.bmc.user" => spec.bmc.get_or_insert_default().user = value,
        "spec.bmc.insecure" => spec.bmc.get_or_insert_default().insecure = value == "true",
        "spec.rack" => spec.rack = value,
        "spec.bootMac" => spec.boot_mac = value,
        "spec.bootIp" => spec.boot_ip = value,
        "spec.title" => spec.title = value,
        "spec.description" => spec.description = value,
        "spec.bcmLink" => spec.bcm_link = value,
        _ => {}
    }
}
