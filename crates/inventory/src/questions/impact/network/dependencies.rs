//! The dependencies of each device: what all paths to it from the uplinks have in common.

use std::collections::VecDeque;

use super::elements::Element;
use super::neighborhood::Neighborhood;
use super::paths::{Path, PathEnd};

/// An uplink of a device, over elements that must be up.
#[derive(Debug, Clone)]
pub struct Source {
    /// The device.
    pub at: Element,
    /// The elements of the uplink, sorted.
    pub over: Vec<Element>,
    /// Its ports.
    pub ports: Vec<Element>,
}

impl Source {
    /// The uplink of a device over one of its paths: a circuit and its far end.
    pub fn by(at: Element, way: &Path) -> Source {
        let mut over = way.over.clone();
        over.extend(way.to());
        over.sort_unstable();
        over.dedup();
        Source { at, over, ports: way.ports.clone() }
    }

    /// A device that stands in for an uplink.
    pub fn device(at: Element) -> Source {
        Source { at, over: Vec::new(), ports: Vec::new() }
    }
}

/// The dependencies of each reachable device, without itself; sorted.
pub struct Dependencies(Vec<Option<Vec<Element>>>);

impl Dependencies {
    /// The dependencies of a device; `None` if it is unreachable.
    pub fn of(&self, device: Element) -> Option<&[Element]> {
        self.0.get(device as usize)?.as_deref()
    }

    /// Computes them with all elements, or without the failed ones.
    pub fn from(sources: &[Source], neighborhood: &Neighborhood<'_>, has_failed: bool) -> Dependencies {
        let elements = &neighborhood.elements;
        let is_there = |element: Element| !has_failed || !elements.has_failed(element);
        let mut walk = Walk { hangs: vec![None; elements.len() * 2], ahead: VecDeque::new() };
        for source in sources {
            let needs = source.over.iter().chain(&source.ports).chain([&source.at]);
            if needs.into_iter().all(|element| is_there(*element)) {
                walk.narrow(source.at, false, source.over.clone());
            }
        }
        while let Some((device, by_chassis)) = walk.ahead.pop_front() {
            let Some(so_far) = walk.at(device, by_chassis).cloned() else { continue };
            // A host does not forward: what arrives by a cable continues only within its chassis.
            let stays = neighborhood.is_host(device) && !by_chassis;
            for way in neighborhood.paths_of(device) {
                let in_chassis = matches!(way.leads, PathEnd::InChassis(_));
                let Some(to) = way.to().filter(|to| is_there(*to) && neighborhood.is_inside(*to)) else {
                    continue;
                };
                if (stays && !in_chassis) || (has_failed && !way.is_open(elements)) {
                    continue;
                }
                let over = union(&so_far, device, &way.over);
                walk.narrow(to, in_chassis && neighborhood.is_host(to), over);
            }
        }
        Dependencies(walk.found())
    }
}

/// Dependencies after the failure that did not exist before.
pub fn newly<'a>(before: &'a [Element], after: &'a [Element]) -> impl Iterator<Item = Element> + 'a {
    after.iter().copied().filter(|element| before.binary_search(element).is_err())
}

struct Walk {
    hangs: Vec<Option<Vec<Element>>>,
    ahead: VecDeque<(Element, bool)>,
}

impl Walk {
    fn at(&self, device: Element, by_chassis: bool) -> Option<&Vec<Element>> {
        self.hangs.get(index_of(device, by_chassis))?.as_ref()
    }

    /// Adds a path to a device: it depends only on what all paths have in common.
    fn narrow(&mut self, device: Element, by_chassis: bool, over: Vec<Element>) {
        let Some(known) = self.hangs.get_mut(index_of(device, by_chassis)) else { return };
        match known {
            None => *known = Some(over),
            Some(known) => {
                let before = known.len();
                known.retain(|element| over.binary_search(element).is_ok());
                if known.len() == before {
                    return;
                }
            }
        }
        self.ahead.push_back((device, by_chassis));
    }

    fn found(self) -> Vec<Option<Vec<Element>>> {
        let mut found = Vec::with_capacity(self.hangs.len() / 2);
        let mut hangs = self.hangs.into_iter();
        let mut device: Element = 0;
        while let (Some(by_cable), Some(by_chassis)) = (hangs.next(), hangs.next()) {
            let mut on = match (by_cable, by_chassis) {
                (Some(mut one), Some(other)) => {
                    one.retain(|element| other.binary_search(element).is_ok());
                    Some(one)
                }
                (one, other) => one.or(other),
            };
            if let Some(on) = &mut on {
                // A device does not depend on itself.
                on.retain(|element| *element != device);
            }
            found.push(on);
            device += 1;
        }
        found
    }
}

fn index_of(device: Element, by_chassis: bool) -> usize {
    device as usize * 2 + usize::from(by_chassis)
}

fn union(so_far: &[Element], device: Element, over: &[Element]) -> Vec<Element> {
    let mut all = Vec::with_capacity(so_far.len() + over.len() + 1);
    all.extend_from_slice(so_far);
    all.extend_from_slice(over);
    all.push(device);
    all.sort_unstable();
    all.dedup();
    all
}
