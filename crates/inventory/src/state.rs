//! The state of objects: which of them are in service, as recorded or as a question assumes.
//!
//! Every question sees the inventory through a [`Fleet`], which knows the state of each object, and follows paths and power
//! in what is [in service](InService): whatever is not in service is as if it were not there.

mod as_if;
mod in_service;

use std::cell::RefCell;
use std::collections::HashMap;

use krm::kind::{QueryContext, Resource};

use crate::kinds::cable::CableState;
use crate::kinds::device::{Device, Lifecycle};
use crate::kinds::{Cable, Circuit, NetworkDevice, Node, Port, Provider, Rack, Region, Site};
use crate::references::EndKind;

pub use as_if::{AsIf, Target, states};
pub use in_service::InService;

impl Lifecycle {
    /// All stages.
    pub const ALL: [Lifecycle; 8] = [
        Lifecycle::Planned,
        Lifecycle::Ordered,
        Lifecycle::Staged,
        Lifecycle::Active,
        Lifecycle::Offline,
        Lifecycle::Failed,
        Lifecycle::Decommissioning,
        Lifecycle::Retired,
    ];

    /// Whether a device in this stage works: what is being decommissioned does until it is retired.
    pub fn is_in_service(self) -> bool {
        matches!(self, Lifecycle::Active | Lifecycle::Decommissioning)
    }

    /// Whether what is in this stage is expected to draw power some day, though it does not now.
    pub fn is_to_come(self) -> bool {
        !self.is_in_service() && self != Lifecycle::Retired
    }

    /// Whether everything inside goes with it, whatever its own stage is.
    fn takes_all_along(self) -> bool {
        matches!(self, Lifecycle::Failed | Lifecycle::Offline)
    }
}

/// The inventory with the state of every object.
pub struct Fleet<'a> {
    look: &'a dyn QueryContext,
    as_if: &'a AsIf,
    known: RefCell<HashMap<String, Lifecycle>>,
}

impl<'a> Fleet<'a> {
    /// The inventory as recorded, except for what is assumed.
    pub fn new(look: &'a dyn QueryContext, as_if: &'a AsIf) -> Fleet<'a> {
        Fleet { look, as_if, known: RefCell::default() }
    }

    /// All objects, in service or not.
    pub fn look(&self) -> &'a dyn QueryContext {
        self.look
    }

    /// The objects that are in service.
    pub fn in_service(&self) -> InService<'_> {
        InService::of(self)
    }

    /// The state of an object. Objects that have none, or are not there, are `Active`.
    pub fn state(&self, kind: &str, name: &str) -> Lifecycle {
        let key = format!("{kind}/{name}");
        if let Some(known) = self.known.borrow().get(&key) {
            return *known;
        }
        // Devices in slots of each other would be asked for again.
        self.known.borrow_mut().insert(key.clone(), Lifecycle::Active);
        let assumed = self.as_if.of(&key);
        let state = match kind {
            Port::KIND => self.port(name, assumed),
            _ => assumed.unwrap_or_else(|| self.recorded(kind, name)),
        };
        self.known.borrow_mut().insert(key, state);
        state
    }

    /// The state of an object unless it is `Active`, for showing it.
    pub fn mark(&self, kind: &str, name: &str) -> Option<Lifecycle> {
        Some(self.state(kind, name)).filter(|state| *state != Lifecycle::Active)
    }

    /// Whether an object is in service. A cable is only while it is connected: one that is being decommissioned may be
    /// pulled already.
    pub fn is_in_service(&self, kind: &str, name: &str) -> bool {
        let state = self.state(kind, name);
        match kind {
            Cable::KIND => state == Lifecycle::Active,
            _ => state.is_in_service(),
        }
    }

    fn recorded(&self, kind: &str, name: &str) -> Lifecycle {
        let state = match kind {
            Site::KIND if self.as_if.is_about_sites() => self.site(name),
            Rack::KIND => self.look.find::<Rack>(name).map(|rack| {
                inside(rack.spec.asset.lifecycle, [self.state(Site::KIND, &rack.spec.asset.site_ref.name)])
            }),
            Node::KIND => self.look.find::<Node>(name).map(|node| self.device(&*node)),
            NetworkDevice::KIND => self.look.find::<NetworkDevice>(name).map(|device| self.device(&*device)),
            Cable::KIND => self.look.find::<Cable>(name).map(|cable| match cable.spec.state {
                Some(CableState::Planned) => Lifecycle::Planned,
                Some(CableState::Decommissioning) => Lifecycle::Decommissioning,
                Some(CableState::Connected) | None => Lifecycle::Active,
            }),
            Circuit::KIND if self.as_if.is_about_sites() => {
                self.look.find::<Circuit>(name).map(|circuit| self.circuit(&circuit))
            }
            _ => None,
        };
        state.unwrap_or(Lifecycle::Active)
    }

    fn site(&self, name: &str) -> Option<Lifecycle> {
        let site = self.look.find::<Site>(name)?;
        let region = self.state(Region::KIND, &site.spec.region_ref.name);
        let provider = site.spec.provider_ref.as_ref();
        let provider = provider.map(|provider| self.state(Provider::KIND, &provider.name));
        Some(inside(None, [region].into_iter().chain(provider)))
    }

    /// A device is in a slot of another, or in a rack, or only at a site.
    fn device(&self, device: &impl Device) -> Lifecycle {
        let around = match (&device.mounting().in_slot, &device.mounting().placement) {
            (Some(slot), _) => self.state(&slot.device_ref.kind.to_string(), &slot.device_ref.name),
            (None, Some(placement)) => self.state(Rack::KIND, &placement.rack_ref.name),
            (None, None) => Lifecycle::Active,
        };
        inside(device.asset().lifecycle, [around, self.state(Site::KIND, &device.asset().site_ref.name)])
    }

    /// A port goes with its device and its feed, whatever is assumed about itself.
    fn port(&self, name: &str, assumed: Option<Lifecycle>) -> Lifecycle {
        let Some(port) = self.look.find::<Port>(name) else { return Lifecycle::Active };
        let on = &port.spec.device_ref;
        let device = self.state(&on.kind.to_string(), &on.name);
        let feed = port.spec.feed().and_then(|feed| self.as_if.of(&Target::feed_key(&on.name, feed)));
        let around = [device].into_iter().chain(feed).find(|state| !state.is_in_service());
        around.or(assumed).unwrap_or(Lifecycle::Active)
    }

    fn circuit(&self, circuit: &Circuit) -> Lifecycle {
        let ends = [&circuit.spec.a_end, &circuit.spec.z_end].into_iter();
        let sites = ends.filter(|end| end.kind == EndKind::Site).map(|end| self.state(Site::KIND, &end.name));
        inside(None, sites.chain([self.state(Provider::KIND, &circuit.spec.provider_ref.name)]))
    }
}

/// The state of something inside others. What has failed or is offline takes everything inside along. Otherwise the own
/// state counts, and without one that of what is around.
fn inside(own: Option<Lifecycle>, around: impl IntoIterator<Item = Lifecycle>) -> Lifecycle {
    let works = own.is_none_or(Lifecycle::is_in_service);
    let out =
        |state: &Lifecycle| works && !state.is_in_service() && (own.is_none() || state.takes_all_along());
    around.into_iter().find(out).or(own).unwrap_or(Lifecycle::Active)
}
