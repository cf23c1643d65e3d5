//! What is in a region, at a site, in a rack or in a cluster, found out by references.
//!
//! Topology labels say it too, but the inventory controller sets them after the objects: directly after a large import they
//! are missing.

use std::collections::{BTreeMap, BTreeSet};

use cli::{Client, Failure};
use inventory::topology;
use krm::Object;
use krm::selector::field_texts;
use serde_json::{Value, json};

use super::filter::Filter;
use super::select::Selection;
use crate::change::name_of;

/// With more values than this, everything is listed once instead of once per value.
const MANY: usize = 2_000;

/// The places that a list is limited to.
#[derive(Default)]
pub struct Places {
    region: Option<String>,
    site: Option<String>,
    rack: Option<String>,
    cluster: Option<String>,
}

impl Places {
    /// The places that filters name.
    pub fn of(filters: &[&(Filter, String)]) -> Places {
        let value = |wanted: Filter| {
            filters.iter().find(|(filter, _)| *filter == wanted).map(|(_, value)| value.clone())
        };
        Places {
            region: value(Filter::Region),
            site: value(Filter::Site),
            rack: value(Filter::Rack),
            cluster: value(Filter::Cluster),
        }
    }

    /// The selected objects of a kind in these places, sorted by name.
    pub async fn find(
        &self,
        kind: &str,
        selection: &Selection,
        client: &Client,
    ) -> Result<Vec<Value>, Failure> {
        let mut found = match kind {
            "Node" | "NetworkDevice" => self.devices(kind, selection, client).await?,
            "Port" if self.is_anywhere() => selection.every(client).await?.items,
            "Port" => self.ports(selection, client).await?,
            "VirtualMachine" if self.is_anywhere() => selection.every(client).await?.items,
            "VirtualMachine" => {
                let nodes = self.devices("Node", &in_time("nodes", selection), client).await?;
                having(selection, "spec.hostRef.name", &names(&nodes), client).await?
            }
            "Cluster" => self.at_sites("spec.controlPlaneSiteRef.name", selection, client).await?,
            _ => self.at_sites("spec.siteRef.name", selection, client).await?,
        };
        found.sort_by(|one, other| name_of(one).cmp(name_of(other)));
        found.dedup_by(|one, other| name_of(one) == name_of(other));
        Ok(found)
    }

    fn is_anywhere(&self) -> bool {
        self.region.is_none() && self.site.is_none() && self.rack.is_none() && self.cluster.is_none()
    }

    /// Objects whose site is in the region, and is the one that is named.
    async fn at_sites(
        &self,
        field: &str,
        selection: &Selection,
        client: &Client,
    ) -> Result<Vec<Value>, Failure> {
        let selection = match &self.site {
            Some(site) => selection.and(field, site),
            None => selection.clone(),
        };
        let Some(region) = &self.region else { return Ok(selection.every(client).await?.items) };
        let sites =
            in_time("sites", &selection).and("spec.regionRef.name", region).every(client).await?.items;
        let mut sites = names(&sites);
        sites.retain(|site| self.site.as_ref().is_none_or(|only| only == site));
        having(&selection, field, &sites, client).await
    }

    /// Nodes or network devices, those in slots of others included.
    async fn devices(
        &self,
        kind: &str,
        selection: &Selection,
        client: &Client,
    ) -> Result<Vec<Value>, Failure> {
        let cluster = if kind == "Node" { "spec.assignment.clusterRef.name" } else { "spec.clusterRef.name" };
        let selection = match &self.cluster {
            Some(name) => selection.and(cluster, name),
            None => selection.clone(),
        };
        let Some(rack) = &self.rack else {
            return self.at_sites("spec.siteRef.name", &selection, client).await;
        };
        let placed = selection.and("spec.placement.rackRef.name", rack);
        let mut found = self.at_sites("spec.siteRef.name", &placed, client).await?;
        // What is in a slot is where the device with the slot is; that may be in a slot itself.
        let mut around: BTreeSet<(String, String)> = BTreeSet::new();
        for (kind, plural) in [("Node", "nodes"), ("NetworkDevice", "networkdevices")] {
            let holders = in_time(plural, &selection).and("spec.placement.rackRef.name", rack);
            let holders = holders.every(client).await?.items.into_iter();
            let holders = holders
                .filter(|holder| holder["spec"]["slots"].as_array().is_some_and(|slots| !slots.is_empty()));
            around.extend(holders.map(|holder| (kind.to_owned(), name_of(&holder).to_owned())));
        }
        let mut seen = around.clone();
        while let Some((holder_kind, holder)) = around.pop_first() {
            for (inner, plural) in [("Node", "nodes"), ("NetworkDevice", "networkdevices")] {
                let is_inside =
                    |object: &Value| object["spec"]["inSlot"]["deviceRef"]["kind"] == holder_kind.as_str();
                let all = in_time(plural, &selection).and("spec.inSlot.deviceRef.name", &holder);
                let inside = all.every(client).await?.items.into_iter().filter(is_inside);
                for object in inside {
                    let key = (inner.to_owned(), name_of(&object).to_owned());
                    if seen.insert(key.clone()) {
                        around.insert(key);
                    }
                }
                if inner == kind {
                    let wanted = selection.and("spec.inSlot.deviceRef.name", &holder);
                    let wanted = self.at_sites("spec.siteRef.name", &wanted, client).await?;
                    found.extend(wanted.into_iter().filter(is_inside));
                }
            }
        }
        Ok(found)
    }

    /// Ports of nodes, network devices and racks.
    async fn ports(&self, selection: &Selection, client: &Client) -> Result<Vec<Value>, Failure> {
        let mut on: BTreeSet<(String, String)> = BTreeSet::new();
        for (kind, plural) in [("Node", "nodes"), ("NetworkDevice", "networkdevices")] {
            let devices = self.devices(kind, &in_time(plural, selection), client).await?;
            on.extend(names(&devices).into_iter().map(|name| (kind.to_owned(), name)));
        }
        let racks = in_time("racks", selection);
        let racks = match &self.rack {
            Some(rack) => racks.and("metadata.name", rack),
            None => racks,
        };
        let racks = self.at_sites("spec.siteRef.name", &racks, client).await?;
        on.extend(names(&racks).into_iter().map(|name| ("Rack".to_owned(), name)));
        let devices: BTreeSet<String> = on.iter().map(|(_, name)| name.clone()).collect();
        let mut ports = having(selection, "spec.deviceRef.name", &devices, client).await?;
        let text = |value: &Value| value.as_str().unwrap_or("").to_owned();
        ports.retain(|port| {
            let device = &port["spec"]["deviceRef"];
            on.contains(&(text(&device["kind"]), text(&device["name"])))
        });
        Ok(ports)
    }
}

/// Writes the region of each object's site into its label, for tables.
pub async fn fill_regions(items: &mut [Value], as_of: Option<&str>, client: &Client) {
    let sites = Selection { as_of: as_of.map(str::to_owned), ..Selection::all("sites") };
    // Whoever may not list sites sees what the labels say.
    let Ok(sites) = sites.every(client).await else { return };
    let region = |site: &Value| site["spec"]["regionRef"]["name"].as_str().unwrap_or("").to_owned();
    let regions: BTreeMap<String, String> =
        sites.items.iter().map(|site| (name_of(site).to_owned(), region(site))).collect();
    for item in items {
        let site = ["controlPlaneSiteRef", "siteRef"]
            .into_iter()
            .find_map(|field| item["spec"][field]["name"].as_str());
        if let Some(region) = site.and_then(|site| regions.get(site)) {
            item["metadata"]["labels"][topology::REGION] = json!(region);
        }
    }
}

/// All objects of a kind, at the time of a selection.
fn in_time(plural: &'static str, selection: &Selection) -> Selection {
    Selection { as_of: selection.as_of.clone(), ..Selection::all(plural) }
}

fn names(objects: &[Value]) -> BTreeSet<String> {
    objects.iter().map(|object| name_of(object).to_owned()).collect()
}

/// The selected objects whose field has one of these values.
async fn having(
    selection: &Selection,
    field: &str,
    values: &BTreeSet<String>,
    client: &Client,
) -> Result<Vec<Value>, Failure> {
    let mut found = Vec::new();
    let mut is_listed = values.len() > MANY;
    if !is_listed {
        for value in values {
            let one = selection.and(field, value).every(client).await?;
            found.extend(one.items);
            if one.is_picked && values.len() > 1 {
                is_listed = true;
                break;
            }
        }
    }
    if is_listed {
        let all = selection.every(client).await?.items.into_iter();
        let has = |item: &Value| {
            let object = Object::from_value(item.clone());
            object
                .is_some_and(|object| field_texts(&object, field).iter().any(|text| values.contains(&**text)))
        };
        found = all.filter(has).collect();
    }
    Ok(found)
}
