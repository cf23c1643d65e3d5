//! NVIDIA Base Command Manager: LiteNodes over JSON with mutual TLS, and its session of events.

mod events;
mod mapping;

use std::sync::Arc;

use serde_json::{Value, json};

use super::{timeout, verify};
use crate::adapter::{Adapter, Capabilities, Changes, Fault, FaultKind, Later, Page, Probe};
use crate::http::{Credentials, Http, Verify};
use crate::kinds::source::SourceSpec;
use crate::observation::HostRecord;

/// The least version, as `cm_version` begins.
const LEAST: (u32, u32) = (10, 0);

/// A BCM.
pub struct Bcm {
    calls: Calls,
}

/// Calls of a BCM.
#[derive(Clone)]
struct Calls(Arc<Http>);

impl Bcm {
    /// The BCM of a Source.
    pub fn new(spec: &SourceSpec, credentials: &Credentials) -> Result<Bcm, Fault> {
        if credentials.get("tls.crt").is_none() || credentials.get("tls.key").is_none() {
            let why = "BCM needs a client certificate: tls.crt and tls.key in the credentials";
            return Err(Fault::new(FaultKind::Config, why));
        }
        // Certificates of BCM are made out for other names than that of the head node.
        let http = Http::new(&spec.endpoint, credentials, verify(spec, Verify::Chain), timeout(spec))?;
        Ok(Bcm { calls: Calls(Arc::new(http)) })
    }

    async fn list(&self) -> Result<Page, Fault> {
        let calls = &self.calls;
        let categories = calls.list("cmdevice", "getCategories", json!([])).await?;
        let racks = match calls.list("cmpart", "getRacks", json!([])).await {
            // Older ones have no such call; this one returns all racks whatever it is asked for.
            Err(fault) if fault.kind == FaultKind::WrongShape => {
                calls.list("cmpart", "getRacksByUuids", json!([[]])).await?
            }
            racks => racks?,
        };
        let partitions = calls.list("cmpart", "getPartitions", json!([])).await?;
        let devices = calls.list("cmdevice", "getDevices", json!([])).await?;
        let around = mapping::Around::new(&categories, &racks, &partitions, &self.calls.0.url());
        let mut page =
            Page { classes: categories.iter().filter_map(mapping::class).collect(), ..Page::default() };
        for device in devices.iter().filter(|device| device["childType"] == "LiteNode") {
            match around.host(device) {
                Ok(host) => page.hosts.push(host),
                Err(why) => page.unreadable.push((device["uuid"].as_str().unwrap_or("?").to_owned(), why)),
            }
        }
        Ok(page)
    }

    async fn one(&self, id: &str) -> Result<Option<HostRecord>, Fault> {
        let calls = &self.calls;
        let device = calls.call("cmdevice", "getDevice", json!([id])).await?;
        if device.is_null() || device["childType"] != "LiteNode" {
            return Ok(None);
        }
        let categories = calls.list("cmdevice", "getCategories", json!([])).await?;
        let racks = calls.list("cmpart", "getRacks", json!([])).await?;
        let partitions = calls.list("cmpart", "getPartitions", json!([])).await?;
        let around = mapping::Around::new(&categories, &racks, &partitions, &self.calls.0.url());
        around.host(&device).map(Some).map_err(Fault::shape)
    }

    async fn look(&self) -> Result<Probe, Fault> {
        let version = self.calls.0.get("/rest/v1/version").await?;
        let shown = version["cm_version"].as_str().unwrap_or_default();
        let mut numbers = shown.split('.').filter_map(|number| number.parse::<u32>().ok());
        let found = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
        match found {
            (0, 0) => {
                Err(Fault::shape(format!("{} does not tell its version as BCM does", self.calls.0.url())))
            }
            found if found < LEAST => Err(Fault::new(
                FaultKind::WrongVersion,
                format!("BCM {shown}; {}.{} is the least", LEAST.0, LEAST.1),
            )),
            _ => Ok(Probe { version: format!("BCM {shown}"), warnings: Vec::new() }),
        }
    }
}

impl Calls {
    /// Makes a call; BCM reports errors with status 200.
    async fn call(&self, service: &str, call: &str, args: Value) -> Result<Value, Fault> {
        let body = json!({"service": service, "call": call, "args": args, "minify": true});
        let answer = self.0.json(http::Method::POST, "/json", Some(&body)).await?;
        let Some(why) = answer.get("errormessage").and_then(Value::as_str) else { return Ok(answer) };
        let lower = why.to_lowercase();
        let kind = match (lower.contains("does not allow access"), lower.contains("certificate")) {
            (true, _) => FaultKind::Forbidden,
            (_, true) => FaultKind::Unauthorized,
            _ => FaultKind::WrongShape,
        };
        Err(Fault::new(kind, format!("{service}.{call}: {why}")))
    }

    async fn list(&self, service: &str, call: &str, args: Value) -> Result<Vec<Value>, Fault> {
        match self.call(service, call, args).await? {
            Value::Array(items) => Ok(items),
            _ => Err(Fault::shape(format!("{service}.{call} gave no list"))),
        }
    }
}

impl Adapter for Bcm {
    fn capabilities(&self) -> Capabilities {
        Capabilities { has_events: true, has_webhook: false, fetches_one: true }
    }

    fn page<'a>(&'a self, _: Option<&'a str>) -> Later<'a, Page> {
        Box::pin(self.list())
    }

    fn fetch<'a>(&'a self, id: &'a str) -> Later<'a, Option<HostRecord>> {
        Box::pin(self.one(id))
    }

    fn changes(&self) -> Option<Changes> {
        Some(events::stream(self.calls.clone()))
    }

    fn probe(&self) -> Later<'_, Probe> {
        Box::pin(self.look())
    }
}
