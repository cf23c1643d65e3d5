//! OpenStack Ironic: nodes and ports over REST, with no authentication, a password, or Keystone.

mod keystone;
mod mapping;
mod notification;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use http::Method;
use serde_json::Value;
use tokio::sync::Mutex;

use super::{timeout, verify};
use crate::adapter::{Adapter, Capabilities, Change, Fault, FaultKind, Later, Page, Probe};
use crate::http::{Credentials, Http, Verify, escaped};
use crate::kinds::source::SourceSpec;
use crate::observation::{ClassRecord, HostRecord};

pub use mapping::Settings;
pub use notification::decode;

/// The microversion that is asked for: it has resource classes, descriptions and `retired`.
const MICROVERSION: &str = "1.95";
/// The least that is enough.
const LEAST: (u32, u32) = (1, 61);
/// Nodes on a page.
const PAGE: usize = 500;
/// How long ports are used for the pages of one list.
const PORTS_LAST: Duration = Duration::from_secs(120);

/// An Ironic.
pub struct Ironic {
    http: Http,
    keystone: Option<keystone::Keystone>,
    settings: Settings,
    page: usize,
    ports: Mutex<Option<(Instant, Arc<Ports>)>>,
}

/// Ports by the node that they belong to.
type Ports = BTreeMap<String, Vec<Value>>;

impl Ironic {
    /// The Ironic of a Source.
    pub fn new(spec: &SourceSpec, credentials: &Credentials) -> Result<Ironic, Fault> {
        let url = spec.endpoint.trim_end_matches('/').trim_end_matches("/v1").to_owned();
        let microversion = spec.option("microversion").unwrap_or(MICROVERSION);
        let mut http = Http::new(&url, credentials, verify(spec, Verify::Name), timeout(spec))?
            .header("x-openstack-ironic-api-version", microversion)?;
        let keystone = match spec.option("keystoneUrl") {
            Some(url) => Some(keystone::Keystone::new(url, spec, credentials)?),
            None => None,
        };
        if let (None, Some(user), Some(password)) =
            (&keystone, credentials.get("username"), credentials.get("password"))
        {
            http = http.basic(user, password)?;
        }
        if let (None, Some(token)) = (&keystone, credentials.get("token")) {
            http = http.header("x-auth-token", token)?;
        }
        let page = spec.option("pageSize").and_then(|size| size.parse().ok()).unwrap_or(PAGE);
        let settings = Settings::of(spec, credentials, &http.url());
        Ok(Ironic { http, keystone, settings, page: page.clamp(1, 1000), ports: Mutex::default() })
    }

    /// Gets JSON, with a new token if the old one is no longer good.
    async fn get(&self, path: &str) -> Result<Value, Fault> {
        let Some(keystone) = &self.keystone else { return self.http.get(path).await };
        let token = keystone.token(false).await?;
        match self.http.clone().header("x-auth-token", &token)?.get(path).await {
            Err(fault) if fault.kind == FaultKind::Unauthorized => {
                let token = keystone.token(true).await?;
                self.http.clone().header("x-auth-token", &token)?.get(path).await
            }
            got => got,
        }
    }

    /// All ports, read once for a list.
    async fn ports(&self, is_first_page: bool) -> Result<Arc<Ports>, Fault> {
        let mut kept = self.ports.lock().await;
        if let Some((read, ports)) = kept.as_ref()
            && !is_first_page
            && read.elapsed() < PORTS_LAST
        {
            return Ok(ports.clone());
        }
        let (mut ports, mut marker) = (Ports::new(), String::new());
        loop {
            let after =
                if marker.is_empty() { String::new() } else { format!("&marker={}", escaped(&marker)) };
            let page = self.get(&format!("/v1/ports/detail?limit=1000{after}")).await?;
            let items = list(&page, "ports")?;
            for port in items {
                let node = port["node_uuid"].as_str().unwrap_or_default().to_owned();
                ports.entry(node).or_default().push(port.clone());
            }
            match (page["next"].as_str(), items.last().and_then(|port| port["uuid"].as_str())) {
                (Some(_), Some(last)) if last != marker => last.clone_into(&mut marker),
                (Some(_), _) => return Err(Fault::shape("the list of ports has a next page but no ports")),
                _ => break,
            }
        }
        let ports = Arc::new(ports);
        *kept = Some((Instant::now(), ports.clone()));
        Ok(ports)
    }

    async fn list(&self, after: Option<&str>) -> Result<Page, Fault> {
        let ports = self.ports(after.is_none()).await?;
        let marker = after.map(|after| format!("&marker={}", escaped(after))).unwrap_or_default();
        let path = format!("/v1/nodes/detail?limit={}{marker}", self.page);
        let answer = self.get(&path).await?;
        let nodes = list(&answer, "nodes")?;
        let mut page = Page::default();
        for node in nodes {
            let uuid = node["uuid"].as_str().unwrap_or_default();
            let of_node = ports.get(uuid).map(Vec::as_slice).unwrap_or_default();
            match self.settings.host(node, of_node) {
                Ok(None) => {}
                Ok(Some(host)) => {
                    page.classes.extend(host.class.as_deref().filter(|class| !class.is_empty()).map(class));
                    page.hosts.push(host);
                }
                Err(why) => page.unreadable.push((uuid.to_owned(), why)),
            }
        }
        page.next = match (answer["next"].as_str(), nodes.last().and_then(|node| node["uuid"].as_str())) {
            (Some(_), Some(last)) if Some(last) != after => Some(last.to_owned()),
            (Some(_), _) => return Err(Fault::shape("the list of nodes has a next page but no nodes")),
            _ => None,
        };
        Ok(page)
    }

    async fn one(&self, id: &str) -> Result<Option<HostRecord>, Fault> {
        let node = match self.get(&format!("/v1/nodes/{}", escaped(id))).await {
            Err(fault) if fault.why.contains(" 404 ") => return Ok(None),
            node => node?,
        };
        let ports = self.get(&format!("/v1/ports/detail?node={}", escaped(id))).await?;
        self.settings.host(&node, list(&ports, "ports")?).map_err(Fault::shape)
    }

    async fn look(&self) -> Result<Probe, Fault> {
        let answer = self.http.send(Method::GET, "/v1", None).await?;
        let offered = |name: &str| {
            let text = answer.headers.get(name)?.to_str().ok()?;
            let (major, minor) = text.split_once('.')?;
            Some((major.parse().ok()?, minor.parse().ok()?))
        };
        let most: Option<(u32, u32)> = offered("x-openstack-ironic-api-maximum-version");
        if answer.status.as_u16() == 406 || most.is_some_and(|most| most < LEAST) {
            let (major, minor) = most.unwrap_or_default();
            let why = format!(
                "Ironic offers API versions up to {major}.{minor}; {}.{} is the least",
                LEAST.0, LEAST.1
            );
            return Err(Fault::new(FaultKind::WrongVersion, why));
        }
        let Some((major, minor)) = most else {
            return Err(Fault::shape(format!("{} does not answer as Ironic does", self.http.url())));
        };
        let nodes = self.get("/v1/nodes/detail?limit=5").await?;
        let mut warnings = Vec::new();
        let masked = list(&nodes, "nodes")?.iter().any(|node| {
            let info = node["driver_info"].as_object();
            info.is_some_and(|info| {
                info.iter().any(|(key, value)| key.ends_with("password") && value == "******")
            })
        });
        if masked && !self.settings.has_passwords() {
            warnings.push(
                "Ironic masks the passwords of BMCs: put them into the credentials as bmc.username and bmc.password, or \
                 set \"show_password\" in its policy"
                    .to_owned(),
            );
        }
        Ok(Probe { version: format!("Ironic, API {major}.{minor}"), warnings })
    }
}

impl Adapter for Ironic {
    fn capabilities(&self) -> Capabilities {
        Capabilities { has_events: false, has_webhook: true, fetches_one: true }
    }

    fn page<'a>(&'a self, after: Option<&'a str>) -> Later<'a, Page> {
        Box::pin(self.list(after))
    }

    fn fetch<'a>(&'a self, id: &'a str) -> Later<'a, Option<HostRecord>> {
        Box::pin(self.one(id))
    }

    fn notified(&self, body: &Value) -> Option<Change> {
        decode(body)
    }

    fn probe(&self) -> Later<'_, Probe> {
        Box::pin(self.look())
    }
}

fn list<'a>(answer: &'a Value, name: &str) -> Result<&'a [Value], Fault> {
    let items = answer[name].as_array().map(Vec::as_slice);
    items.ok_or_else(|| Fault::shape(format!("the answer has no list {name:?}")))
}

/// Ironic has no object for a class: its name is all there is.
fn class(name: &str) -> ClassRecord {
    ClassRecord {
        id: name.to_owned(),
        name: name.to_owned(),
        title: Some(format!("Ironic resource class {name}")),
        description: Some(String::new()),
    }
}
