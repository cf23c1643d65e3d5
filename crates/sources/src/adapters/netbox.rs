//! NetBox: devices and their interfaces over REST, with its paging, and its webhooks.
//!
//! Written against the documentation of NetBox 4; no NetBox was at hand to record.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use fulfillment::kinds::hardware::{Hardware, Nic};
use serde_json::Value;
use tokio::sync::Mutex;

use super::{timeout, verify};
use crate::adapter::{Adapter, Capabilities, Change, Fault, FaultKind, Later, Page, Probe};
use crate::http::{Credentials, Http, Verify};
use crate::kinds::source::SourceSpec;
use crate::observation::{BmcRecord, ClassRecord, HostRecord};

/// Objects on a page.
const PAGE: usize = 500;
/// What identifiers of hosts begin with; NetBox counts its devices.
const PREFIX: &str = "netbox-";

/// A NetBox.
pub struct NetBox {
    http: Http,
    filter: String,
    scheme: String,
    interfaces: Mutex<Option<Arc<Interfaces>>>,
}

/// Interfaces by the device that they belong to.
type Interfaces = HashMap<i64, Vec<Value>>;

impl NetBox {
    /// The NetBox of a Source.
    pub fn new(spec: &SourceSpec, credentials: &Credentials) -> Result<NetBox, Fault> {
        let http = NetBox::http(&spec.endpoint, credentials, verify(spec, Verify::Name), timeout(spec))?;
        let filter = spec.option("filter").map(|filter| format!("&{}", filter.trim_start_matches('&')));
        let scheme = spec.option("bmcScheme").unwrap_or("redfish-virtualmedia").to_owned();
        Ok(NetBox { http, filter: filter.unwrap_or_default(), scheme, interfaces: Mutex::default() })
    }

    /// A client of the NetBox at a URL.
    pub fn client(url: &str, credentials: &Credentials) -> Result<Http, Fault> {
        NetBox::http(url, credentials, Verify::Name, Duration::from_secs(60))
    }

    fn http(url: &str, credentials: &Credentials, verify: Verify, timeout: Duration) -> Result<Http, Fault> {
        let url = url.trim_end_matches('/').trim_end_matches("/api");
        let http = Http::new(url, credentials, verify, timeout)?;
        match credentials.get("token") {
            Some(token) => http.header("authorization", &format!("Token {token}")),
            None => Ok(http),
        }
    }

    /// A page of a collection, and the offset of the next one. A page that is shorter than the count says is a fault: the rest would
    /// look as if it were gone.
    pub async fn collection(
        http: &Http,
        path: &str,
        filter: &str,
        offset: usize,
    ) -> Result<(Vec<Value>, Option<usize>), Fault> {
        let answer = http.get(&format!("/api/{path}/?limit={PAGE}&offset={offset}{filter}")).await?;
        let results = answer["results"].as_array().cloned();
        let results = results.ok_or_else(|| Fault::shape(format!("/api/{path}/ has no list \"results\"")))?;
        let count = answer["count"].as_u64().and_then(|count| usize::try_from(count).ok());
        let count = count.ok_or_else(|| Fault::shape(format!("/api/{path}/ has no \"count\"")))?;
        let end = offset + results.len();
        match (answer["next"].as_str(), end < count) {
            (Some(_), _) if !results.is_empty() => Ok((results, Some(end))),
            (None, false) => Ok((results, None)),
            _ => {
                let why = format!("/api/{path}/ ends after {end} of {count} objects");
                Err(Fault::new(FaultKind::Server, why))
            }
        }
    }

    /// All of a collection.
    pub async fn all(http: &Http, path: &str, filter: &str) -> Result<Vec<Value>, Fault> {
        let (mut all, mut offset) = (Vec::new(), Some(0));
        while let Some(at) = offset {
            let (page, next) = NetBox::collection(http, path, filter, at).await?;
            all.extend(page);
            offset = next;
        }
        Ok(all)
    }

    async fn interfaces(&self, is_first_page: bool) -> Result<Arc<Interfaces>, Fault> {
        let mut kept = self.interfaces.lock().await;
        if let Some(interfaces) = kept.as_ref().filter(|_| !is_first_page) {
            return Ok(interfaces.clone());
        }
        let mut interfaces = Interfaces::new();
        for interface in NetBox::all(&self.http, "dcim/interfaces", "").await? {
            if let Some(device) = interface["device"]["id"].as_i64() {
                interfaces.entry(device).or_default().push(interface);
            }
        }
        let interfaces = Arc::new(interfaces);
        *kept = Some(interfaces.clone());
        Ok(interfaces)
    }

    async fn list(&self, after: Option<&str>) -> Result<Page, Fault> {
        let interfaces = self.interfaces(after.is_none()).await?;
        let offset = after.and_then(|after| after.parse().ok()).unwrap_or(0);
        let (devices, next) = NetBox::collection(&self.http, "dcim/devices", &self.filter, offset).await?;
        let mut page = Page { next: next.map(|next| next.to_string()), ..Page::default() };
        for device in &devices {
            let Some(id) = device["id"].as_i64() else {
                page.unreadable.push(("?".to_owned(), "the device has no id".to_owned()));
                continue;
            };
            page.classes.extend(class(&device["device_type"]));
            let own = interfaces.get(&id).map(Vec::as_slice).unwrap_or_default();
            page.hosts.push(self.host(id, device, own));
        }
        Ok(page)
    }

    async fn one(&self, id: &str) -> Result<Option<HostRecord>, Fault> {
        let Some(number) = id.strip_prefix(PREFIX).and_then(|number| number.parse::<i64>().ok()) else {
            return Ok(None);
        };
        let filter = format!("&id={number}{}", self.filter);
        let (devices, _) = NetBox::collection(&self.http, "dcim/devices", &filter, 0).await?;
        let Some(device) = devices.first() else { return Ok(None) };
        let interfaces = NetBox::all(&self.http, "dcim/interfaces", &format!("&device_id={number}")).await?;
        Ok(Some(self.host(number, device, &interfaces)))
    }

    fn host(&self, id: i64, device: &Value, interfaces: &[Value]) -> HostRecord {
        let text = |path: &str| device.pointer(path).and_then(Value::as_str).filter(|text| !text.is_empty());
        let address =
            |path: &str| text(path).map(|address| address.split('/').next().unwrap_or(address).to_owned());
        let status = text("/status/value").unwrap_or("active");
        let nics: Vec<Nic> = interfaces.iter().filter_map(nic).collect();
        let is_boot = |interface: &&Value| {
            interface["mgmt_only"] != true && mac_of(interface).is_some() && interface["enabled"] != false
        };
        let own = |text: Option<&str>| text.map(str::to_owned);
        HostRecord {
            id: format!("{PREFIX}{id}"),
            name: text("/name").map_or_else(|| format!("{PREFIX}{id}"), str::to_owned),
            class: own(text("/device_type/slug")),
            bmc: BmcRecord {
                url: address("/oob_ip/address").map(|ip| {
                    let ip = if ip.contains(':') { format!("[{ip}]") } else { ip };
                    format!("{}://{ip}", self.scheme)
                }),
                ..BmcRecord::default()
            },
            rack: Some(text("/rack/name").unwrap_or_default().to_owned()),
            boot_mac: interfaces.iter().find(is_boot).and_then(mac_of),
            boot_ip: address("/primary_ip/address").or_else(|| address("/primary_ip4/address")),
            title: own(text("/display")),
            description: Some(text("/description").unwrap_or_default().to_owned()),
            link: own(text("/display_url"))
                .or_else(|| Some(format!("{}/dcim/devices/{id}/", self.http.url()))),
            hardware: Some(Hardware {
                serial: own(text("/serial")),
                manufacturer: own(text("/device_type/manufacturer/name")),
                model: own(text("/device_type/model")),
                nics,
                ..Hardware::default()
            }),
            held_back: (status != "active").then(|| status.to_owned()),
        }
    }

    async fn look(&self) -> Result<Probe, Fault> {
        let status = self.http.get("/api/status/").await?;
        let version = status["netbox-version"].as_str();
        let version = version.ok_or_else(|| Fault::shape(format!("{} is no NetBox", self.http.url())))?;
        let major: u32 = version.split('.').next().and_then(|major| major.parse().ok()).unwrap_or(0);
        match major {
            0..=2 => Err(Fault::new(FaultKind::WrongVersion, format!("NetBox {version}; 3.0 is the least"))),
            _ => Ok(Probe { version: format!("NetBox {version}"), warnings: Vec::new() }),
        }
    }
}

impl Adapter for NetBox {
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
        let id = |value: &Value| value.as_i64().map(|id| format!("{PREFIX}{id}"));
        match (body["model"].as_str()?, body["event"].as_str()?) {
            ("device", "deleted") => id(&body["data"]["id"]).map(Change::Removed),
            ("device", _) => id(&body["data"]["id"]).map(Change::Host),
            ("interface", _) => id(&body["data"]["device"]["id"]).map(Change::Host),
            ("rack" | "devicetype" | "site", _) => Some(Change::Everything),
            _ => None,
        }
    }

    fn probe(&self) -> Later<'_, Probe> {
        Box::pin(self.look())
    }
}

fn class(device_type: &Value) -> Option<ClassRecord> {
    let slug = device_type["slug"].as_str().filter(|slug| !slug.is_empty())?;
    let manufacturer = device_type["manufacturer"]["name"].as_str().unwrap_or_default();
    let model = device_type["model"].as_str().unwrap_or(slug);
    Some(ClassRecord {
        id: slug.to_owned(),
        name: slug.to_owned(),
        title: Some(format!("{manufacturer} {model}").trim().to_owned()),
        description: Some(device_type["description"].as_str().unwrap_or_default().to_owned()),
    })
}

/// NetBox 4.2 has MAC addresses as objects of their own, earlier ones as a text.
fn mac_of(interface: &Value) -> Option<String> {
    let text = interface["mac_address"]
        .as_str()
        .or_else(|| interface["primary_mac_address"]["mac_address"].as_str());
    text.and_then(bmc::inventory::mac)
}

fn nic(interface: &Value) -> Option<Nic> {
    let name = interface["name"].as_str().filter(|name| !name.is_empty())?;
    let is_virtual = matches!(interface["type"]["value"].as_str(), Some("virtual" | "lag" | "bridge"));
    // NetBox counts in kbit/s.
    let speed = interface["speed"].as_i64().and_then(|speed| speed.checked_mul(1000));
    (!is_virtual && interface["mgmt_only"] != true).then(|| Nic {
        name: name.to_owned(),
        mac: mac_of(interface),
        speed_bps: speed,
    })
}
