//! Generates a demo fleet of any size, deterministic for a seed. Also used for benchmarks.
//!
//! Every reference resolves, every rack is within its power budget, A and B feeds have separate PDUs, every uplink traces
//! to a circuit, and names follow an operator's conventions.

mod rack;
mod site;

use krm::Object;
use serde_json::{Value, json};

use crate::kinds::{GROUP, VERSION};

/// The size of a fleet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// Number of sites.
    pub sites: u32,
    /// Number of racks with hosts per site, besides the network rack.
    pub racks: u32,
    /// Number of hosts per rack.
    pub hosts: u32,
}

impl Size {
    /// Two sites with a few racks, for a first look.
    pub const SMALL: Size = Size { sites: 2, racks: 3, hosts: 6 };

    /// The size of a fleet with about this number of objects.
    pub fn of_about(objects: u32) -> Size {
        // A rack of 16 hosts is about 250 objects, its site a few dozen more.
        let racks = (objects / 250).max(1);
        let sites = (racks / 24).max(1);
        Size { sites, racks: racks.div_ceil(sites), hosts: 16 }
    }
}

/// Cities of the sites: code, name, region, latitude and longitude.
const CITIES: [(&str, &str, &str, f64, f64); 12] = [
    ("fra", "Frankfurt", "eu-central", 50.11, 8.68),
    ("ams", "Amsterdam", "eu-west", 52.37, 4.9),
    ("lhr", "London", "eu-west", 51.51, -0.13),
    ("arn", "Stockholm", "eu-north", 59.33, 18.06),
    ("iad", "Ashburn", "us-east", 39.04, -77.49),
    ("ord", "Chicago", "us-central", 41.88, -87.63),
    ("dfw", "Dallas", "us-central", 32.78, -96.8),
    ("sjc", "San Jose", "us-west", 37.34, -121.89),
    ("gru", "São Paulo", "sa-east", -23.55, -46.63),
    ("nrt", "Tokyo", "ap-northeast", 35.68, 139.69),
    ("sin", "Singapore", "ap-southeast", 1.35, 103.82),
    ("syd", "Sydney", "ap-southeast", -33.87, 151.21),
];

/// All objects of a fleet, each after the objects it refers to.
pub fn fleet(size: Size, seed: u64) -> Vec<Object> {
    let mut fleet = Fleet { objects: Vec::new(), chance: Chance::new(seed), serial: 0, cables: 0 };
    for (name, display, kind) in [
        ("equinix", "Equinix", "Colocation"),
        ("arelion", "Arelion", "Transit"),
        ("de-cix", "DE-CIX", "InternetExchange"),
    ] {
        fleet.add("Provider", name, json!({"displayName": display, "type": kind}));
    }
    let mut regions = std::collections::BTreeSet::new();
    for index in 0..size.sites {
        let (code, city, region, latitude, longitude) = CITIES[index as usize % CITIES.len()];
        if regions.insert(region) {
            let coordinates = json!({"latitude": latitude, "longitude": longitude});
            fleet.add("Region", region, json!({"displayName": region, "coordinates": coordinates}));
        }
        let name = format!("{code}{}", index as usize / CITIES.len() + 1);
        site::build(&mut fleet, &name, city, region, size);
    }
    fleet.objects
}

/// A fleet under construction.
struct Fleet {
    objects: Vec<Object>,
    chance: Chance,
    serial: u32,
    cables: u32,
}

impl Fleet {
    fn add(&mut self, kind: &str, name: &str, spec: Value) {
        let mut object = Object::new(&format!("{GROUP}/{VERSION}"), kind);
        object.set_meta("name", Some(name.into()));
        object.set("spec", Some(spec));
        self.objects.push(object);
    }

    fn port(&mut self, name: &str, device: (&str, &str), kind: &str, label: &str, more: Value) -> String {
        let mut spec =
            json!({"deviceRef": {"kind": device.0, "name": device.1}, "type": kind, "name": label});
        for (key, value) in more.as_object().into_iter().flatten() {
            spec[key] = value.clone();
        }
        self.add("Port", name, spec);
        name.to_owned()
    }

    fn cable(&mut self, name: &str, ends: [&str; 2], media: &str, metres: u32) {
        self.cables += 1;
        let ends: Vec<Value> = ends.iter().map(|end| json!({"name": end})).collect();
        let label = format!("C-{:05}", self.cables);
        let spec = json!({"endpoints": ends, "media": media, "lengthM": metres.to_string(), "label": label});
        self.add("Cable", name, spec);
    }

    /// A unique serial number and asset tag.
    fn tags(&mut self, maker: &str) -> (String, String) {
        self.serial += 1;
        let noise = self.chance.below(46_656);
        (format!("{maker}{:06}{noise:05}", self.serial), format!("GP-{:06}", self.serial))
    }
}

/// Deterministic pseudo-random numbers.
struct Chance(u64);

impl Chance {
    fn new(seed: u64) -> Chance {
        Chance(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn below(&mut self, most: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        u32::try_from((self.0 >> 20) % u64::from(most.max(1))).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::{BTreeMap, BTreeSet};

    #[test]
    fn the_same_seed_gives_the_same_fleet_and_every_reference_comes_after_its_target() {
        let objects = fleet(Size::SMALL, 7);
        assert_eq!(objects, fleet(Size::SMALL, 7));
        assert_ne!(objects, fleet(Size::SMALL, 8));
        let kinds: BTreeMap<String, krm::kind::Kind> =
            crate::kinds::all().into_iter().map(|kind| (kind.names.kind.clone(), kind)).collect();
        let mut there: BTreeSet<(String, String)> = BTreeSet::new();
        for object in &objects {
            let kind = &kinds[object.kind()];
            for reference in &kind.references {
                for (field, name) in reference.names(object) {
                    let target = (reference.plural.clone(), name.to_owned());
                    assert!(
                        there.contains(&target),
                        "{} {} names {target:?} in {field}",
                        object.kind(),
                        object.name()
                    );
                }
            }
            let (spec, name) = (object.clone().into_value(), object.name().to_owned());
            assert_eq!(kind.stored().schema.validate(&spec, None), [], "{spec}");
            assert!(there.insert((kind.names.plural.clone(), name)), "{} twice", object.name());
        }
    }

    #[test]
    fn a_fleet_is_about_as_large_as_was_asked() {
        for wanted in [10_000, 200_000] {
            let objects = u32::try_from(fleet(Size::of_about(wanted), 1).len()).unwrap();
            assert!(objects > wanted * 7 / 10 && objects < wanted * 14 / 10, "{objects} for {wanted}");
        }
    }
}
