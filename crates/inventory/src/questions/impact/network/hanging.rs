//! What each device hangs on: what all ways to it from where the network begins have in common.

use std::collections::VecDeque;

use super::around::Surroundings;
use super::things::Thing;
use super::ways::{Leads, Way};

/// Where the network begins: at a device, over something that has to be there.
#[derive(Debug, Clone)]
pub struct Source {
    /// The device.
    pub at: Thing,
    /// What it begins over, in order.
    pub over: Vec<Thing>,
    /// The ports there.
    pub ports: Vec<Thing>,
}

impl Source {
    /// At a device by one of its ways: a circuit, and what is at its other end.
    pub fn by(at: Thing, way: &Way) -> Source {
        let mut over = way.over.clone();
        over.extend(way.to());
        over.sort_unstable();
        over.dedup();
        Source { at, over, ports: way.ports.clone() }
    }

    /// At a device that stands in for a circuit.
    pub fn device(at: Thing) -> Source {
        Source { at, over: Vec::new(), ports: Vec::new() }
    }
}

/// What each device that is reached hangs on, itself left out; in order.
pub struct Hanging(Vec<Option<Vec<Thing>>>);

impl Hanging {
    /// What a device hangs on; nothing when no way leads to it.
    pub fn of(&self, device: Thing) -> Option<&[Thing]> {
        self.0.get(device as usize)?.as_deref()
    }

    /// As things are, or as they are without what goes.
    pub fn from(sources: &[Source], around: &Surroundings<'_>, is_gone: bool) -> Hanging {
        let things = &around.things;
        let is_there = |thing: Thing| !is_gone || !things.is_gone(thing);
        let mut walk = Walk { hangs: vec![None; things.len() * 2], ahead: VecDeque::new() };
        for source in sources {
            let needs = source.over.iter().chain(&source.ports).chain([&source.at]);
            if needs.into_iter().all(|thing| is_there(*thing)) {
                walk.narrow(source.at, false, source.over.clone());
            }
        }
        while let Some((device, by_chassis)) = walk.ahead.pop_front() {
            let Some(so_far) = walk.at(device, by_chassis).cloned() else { continue };
            // A host is no switch: what comes in by a cable goes on only to what is in its slots, or around it.
            let stays = around.is_host(device) && !by_chassis;
            for way in around.ways_of(device) {
                let in_chassis = matches!(way.leads, Leads::InChassis(_));
                let Some(to) = way.to().filter(|to| is_there(*to) && around.is_inside(*to)) else { continue };
                if (stays && !in_chassis) || (is_gone && !way.is_open(things)) {
                    continue;
                }
                let over = union(&so_far, device, &way.over);
                walk.narrow(to, in_chassis && around.is_host(to), over);
            }
        }
        Hanging(walk.found())
    }
}

/// What is hung on after that was not before.
pub fn newly<'a>(before: &'a [Thing], after: &'a [Thing]) -> impl Iterator<Item = Thing> + 'a {
    after.iter().copied().filter(|thing| before.binary_search(thing).is_err())
}

struct Walk {
    hangs: Vec<Option<Vec<Thing>>>,
    ahead: VecDeque<(Thing, bool)>,
}

impl Walk {
    fn at(&self, device: Thing, by_chassis: bool) -> Option<&Vec<Thing>> {
        self.hangs.get(place(device, by_chassis))?.as_ref()
    }

    /// A further way to a device: it hangs only on what this one has in common with the others.
    fn narrow(&mut self, device: Thing, by_chassis: bool, over: Vec<Thing>) {
        let Some(known) = self.hangs.get_mut(place(device, by_chassis)) else { return };
        match known {
            None => *known = Some(over),
            Some(known) => {
                let before = known.len();
                known.retain(|thing| over.binary_search(thing).is_ok());
                if known.len() == before {
                    return;
                }
            }
        }
        self.ahead.push_back((device, by_chassis));
    }

    fn found(self) -> Vec<Option<Vec<Thing>>> {
        let mut found = Vec::with_capacity(self.hangs.len() / 2);
        let mut hangs = self.hangs.into_iter();
        let mut device: Thing = 0;
        while let (Some(by_cable), Some(by_chassis)) = (hangs.next(), hangs.next()) {
            let mut on = match (by_cable, by_chassis) {
                (Some(mut one), Some(other)) => {
                    one.retain(|thing| other.binary_search(thing).is_ok());
                    Some(one)
                }
                (one, other) => one.or(other),
            };
            if let Some(on) = &mut on {
                // To itself, a device is never in the way.
                on.retain(|thing| *thing != device);
            }
            found.push(on);
            device += 1;
        }
        found
    }
}

fn place(device: Thing, by_chassis: bool) -> usize {
    device as usize * 2 + usize::from(by_chassis)
}

fn union(so_far: &[Thing], device: Thing, over: &[Thing]) -> Vec<Thing> {
    let mut all = Vec::with_capacity(so_far.len() + over.len() + 1);
    all.extend_from_slice(so_far);
    all.extend_from_slice(over);
    all.push(device);
    all.sort_unstable();
    all.dedup();
    all
}
