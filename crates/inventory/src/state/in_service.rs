//! The part of the inventory that is in service.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use krm::Object;
use krm::kind::{Address, Bucket, Parsed, Parser, QueryContext, Resource};

use super::Fleet;
use crate::kinds::device::Lifecycle;
use crate::kinds::{Cable, Circuit, GROUP, NetworkDevice, Node, Port, Rack, Site};
use crate::questions::shows;

/// The objects that are in service. Others are as if they were not there; it is recorded which were left out.
pub struct InService<'a> {
    fleet: &'a Fleet<'a>,
    left_out: RefCell<BTreeMap<String, Lifecycle>>,
}

impl<'a> InService<'a> {
    pub(super) fn of(fleet: &'a Fleet<'a>) -> InService<'a> {
        InService { fleet, left_out: RefCell::default() }
    }

    /// The devices, cables and circuits that were left out so far, as `Kind/name`, with their states.
    pub fn left_out(&self) -> BTreeMap<String, Lifecycle> {
        self.left_out.borrow().clone()
    }

    /// The inventory that this is a part of.
    pub fn fleet(&self) -> &'a Fleet<'a> {
        self.fleet
    }

    /// Whether an object is in service. If not, it is recorded.
    fn has(&self, plural: &str, name: &str) -> bool {
        let kind = match plural {
            Node::PLURAL => Node::KIND,
            NetworkDevice::PLURAL => NetworkDevice::KIND,
            Rack::PLURAL => Rack::KIND,
            Port::PLURAL => Port::KIND,
            Cable::PLURAL => Cable::KIND,
            Circuit::PLURAL => Circuit::KIND,
            Site::PLURAL => Site::KIND,
            _ => return true,
        };
        let has = self.fleet.is_in_service(kind, name);
        if !has {
            self.record(kind, name);
        }
        has
    }

    /// Records what was left out; for a port, its device.
    fn record(&self, kind: &str, name: &str) {
        if kind != Port::KIND {
            self.left_out.borrow_mut().insert(format!("{kind}/{name}"), self.fleet.state(kind, name));
            return;
        }
        let Some(port) = self.fleet.look().find::<Port>(name) else { return };
        let on = &port.spec.device_ref;
        let device = on.kind.to_string();
        // By the port alone it may not be read.
        if shows(&format!("{device}/{}", on.name), self.fleet.look())
            && !self.fleet.is_in_service(&device, &on.name)
        {
            self.record(&device, &on.name);
        }
    }

    fn only(&self, objects: Vec<Arc<Object>>) -> Vec<Arc<Object>> {
        let is_in = |object: &Arc<Object>| {
            let plural = match object.kind() {
                Node::KIND => Node::PLURAL,
                NetworkDevice::KIND => NetworkDevice::PLURAL,
                Rack::KIND => Rack::PLURAL,
                Port::KIND => Port::PLURAL,
                Cable::KIND => Cable::PLURAL,
                Circuit::KIND => Circuit::PLURAL,
                Site::KIND => Site::PLURAL,
                _ => return true,
            };
            self.has(plural, object.name())
        };
        objects.into_iter().filter(is_in).collect()
    }
}

impl QueryContext for InService<'_> {
    fn get(&self, at: &Address) -> Option<Arc<Object>> {
        let found = self.fleet.look().get(at)?;
        (at.group != GROUP || self.has(&at.plural, &at.name)).then_some(found)
    }

    fn bucket(&self, bucket: Bucket, value: &str) -> Vec<Arc<Object>> {
        self.only(self.fleet.look().bucket(bucket, value))
    }

    fn having(&self, group: &str, plural: &str, field: &str, value: &str) -> Vec<Arc<Object>> {
        self.only(self.fleet.look().having(group, plural, field, value))
    }

    fn names_having(&self, group: &str, plural: &str, field: &str, value: &str) -> Vec<String> {
        let mut names = self.fleet.look().names_having(group, plural, field, value);
        names.retain(|name| group != GROUP || self.has(plural, name));
        names
    }

    fn labelled(&self, group: &str, plural: &str, label: &str, value: &str) -> Vec<Arc<Object>> {
        self.only(self.fleet.look().labelled(group, plural, label, value))
    }

    fn referrers(&self, to: &Address) -> Vec<Arc<Object>> {
        self.only(self.fleet.look().referrers(to))
    }

    fn all(&self, group: &str, plural: &str) -> Vec<Arc<Object>> {
        self.only(self.fleet.look().all(group, plural))
    }

    fn count(&self, group: &str, plural: &str) -> usize {
        self.names(group, plural).len()
    }

    fn names(&self, group: &str, plural: &str) -> Vec<String> {
        let mut names = self.fleet.look().names(group, plural);
        names.retain(|name| group != GROUP || self.has(plural, name));
        names
    }

    fn version(&self, at: &Address) -> Option<u64> {
        let version = self.fleet.look().version(at)?;
        (at.group != GROUP || self.has(&at.plural, &at.name)).then_some(version)
    }

    fn bucket_version(&self, bucket: Bucket, value: &str) -> u64 {
        self.fleet.look().bucket_version(bucket, value)
    }

    fn places(&self, bucket: Bucket, value: &str) -> Vec<Address> {
        let mut places = self.fleet.look().places(bucket, value);
        places.retain(|at| at.group != GROUP || self.has(&at.plural, &at.name));
        places
    }

    fn parsed(&self, name: &str, parser: Parser) -> Option<Parsed> {
        let found = self.fleet.look().parsed(name, parser)?;
        (parser.group != GROUP || self.has(parser.plural, name)).then_some(found)
    }

    fn bucket_parsed(&self, bucket: Bucket, value: &str, parser: Parser) -> Vec<Parsed> {
        let places = self.places(bucket, value).into_iter();
        let of_kind = places.filter(|at| at.group == parser.group && at.plural == parser.plural);
        of_kind.filter_map(|at| self.fleet.look().parsed(&at.name, parser)).collect()
    }

    fn is_incomplete(&self) -> bool {
        self.fleet.look().is_incomplete()
    }
}
