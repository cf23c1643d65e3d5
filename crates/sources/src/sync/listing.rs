//! What a source has said: everything, or some hosts.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::net::IpAddr;

use crate::adapter::Page;
use crate::observation::{ClassRecord, HostRecord, label};

/// What a source has said.
#[derive(Debug, Clone, Default)]
pub struct Listing {
    /// Classes, by their identifiers.
    pub classes: BTreeMap<String, ClassRecord>,
    /// Hosts. Those whose identifier occurs twice are not among them.
    pub hosts: Vec<HostRecord>,
    /// Identifiers that occurred more than once.
    pub duplicates: BTreeSet<String>,
    /// Hosts that were listed but could not be read, with the reason.
    pub unreadable: BTreeMap<String, String>,
    /// Endpoints that did not answer, as `host:port`.
    pub unreachable: BTreeSet<String>,
    /// Whether these are all hosts of the source. Otherwise nothing is missing.
    pub is_complete: bool,
    places: HashMap<String, usize>,
}

impl Listing {
    /// The beginning of a complete list.
    pub fn complete() -> Listing {
        Listing { is_complete: true, ..Listing::default() }
    }

    /// One host that was fetched.
    pub fn of_one(record: HostRecord) -> Listing {
        let mut listing = Listing::default();
        listing.add(record);
        listing
    }

    /// Adds a page.
    pub fn take_in(&mut self, page: Page) {
        self.classes.extend(page.classes.into_iter().map(|class| (class.id.clone(), class)));
        self.unreadable.extend(page.unreadable);
        self.unreachable.extend(page.unreachable);
        for record in page.hosts {
            self.add(record);
        }
    }

    fn add(&mut self, mut record: HostRecord) {
        if record.id.is_empty() {
            self.unreadable
                .insert(format!("(without an identifier) {}", record.name), "has no identifier".to_owned());
            return;
        }
        tidy(&mut record);
        if self.duplicates.contains(&record.id) {
            return;
        }
        match self.places.get(&record.id).copied() {
            // The same record twice, as pages overlap while hosts come and go, contradicts nothing.
            Some(place) if self.hosts[place] == record => {}
            Some(place) => {
                self.duplicates.insert(record.id.clone());
                self.remove(place);
            }
            None => {
                self.places.insert(record.id.clone(), self.hosts.len());
                self.hosts.push(record);
            }
        }
    }

    fn remove(&mut self, place: usize) {
        let removed = self.hosts.swap_remove(place);
        self.places.remove(&removed.id);
        if let Some(moved) = self.hosts.get(place) {
            self.places.insert(moved.id.clone(), place);
        }
    }

    /// Where a host is among the hosts.
    pub fn place(&self, id: &str) -> Option<usize> {
        self.places.get(id).copied()
    }

    /// Whether a host was listed, whatever was said of it.
    pub fn has_seen(&self, id: &str) -> bool {
        self.places.contains_key(id) || self.duplicates.contains(id) || self.unreadable.contains_key(id)
    }

    /// Whether the BMC at a URL did not answer.
    pub fn is_unreachable(&self, url: &str) -> bool {
        let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
        let authority = rest.split('/').next().unwrap_or_default();
        self.unreachable.contains(authority)
    }

    /// The hosts by the names that they have as Hosts, where only one has it.
    pub fn by_name(&self) -> HashMap<String, Option<usize>> {
        let mut names: HashMap<String, Option<usize>> = HashMap::new();
        for (place, record) in self.hosts.iter().enumerate() {
            let name = label(&record.name);
            if !name.is_empty() {
                names.entry(name).and_modify(|found| *found = None).or_insert(Some(place));
            }
        }
        names
    }
}

/// Brings values into the form in which they are stored. What is no address is not known.
fn tidy(record: &mut HostRecord) {
    record.boot_mac = match record.boot_mac.take() {
        Some(mac) if mac.is_empty() => Some(mac),
        Some(mac) => bmc::inventory::mac(&mac),
        None => None,
    };
    let is_address = |ip: &String| ip.is_empty() || ip.parse::<IpAddr>().is_ok_and(|ip| !ip.is_unspecified());
    record.boot_ip = record.boot_ip.take().filter(is_address);
    for text in [&mut record.title, &mut record.rack].into_iter().flatten() {
        cut(text, 253);
    }
    if let Some(text) = &mut record.description {
        cut(text, 16_384);
    }
}

fn cut(text: &mut String, most: usize) {
    if text.chars().count() > most {
        *text = text.chars().take(most).collect();
    }
}
