//! Things by number: devices, cables, circuits and ports, so that sets of them are short lists.

use std::collections::HashMap;

use super::super::failure::Failure;

/// The number of a thing.
pub type Thing = u32;

/// Things by number, and whether each is among what goes.
pub struct Things<'a> {
    failure: &'a Failure,
    numbers: HashMap<String, Thing>,
    things: Vec<(String, bool)>,
}

impl<'a> Things<'a> {
    /// None yet.
    pub fn new(failure: &'a Failure) -> Things<'a> {
        Things { failure, numbers: HashMap::new(), things: Vec::new() }
    }

    /// The number of `Kind/name`.
    pub fn number(&mut self, name: &str) -> Thing {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        let number = Thing::try_from(self.things.len()).unwrap_or(Thing::MAX);
        self.numbers.insert(name.to_owned(), number);
        self.things.push((name.to_owned(), goes(name, self.failure)));
        number
    }

    /// The name of a number.
    pub fn name(&self, thing: Thing) -> &str {
        self.things.get(thing as usize).map_or("", |(name, _)| name)
    }

    /// Whether it goes.
    pub fn is_gone(&self, thing: Thing) -> bool {
        self.things.get(thing as usize).is_some_and(|(_, is_gone)| *is_gone)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.things.len()
    }
}

fn goes(thing: &str, failure: &Failure) -> bool {
    match thing.split_once('/') {
        Some(("Cable", name)) => failure.cables.contains(name),
        Some(("Circuit", name)) => failure.circuits.contains(name),
        Some(("Port", name)) => failure.ports.contains(name),
        _ => failure.devices.contains(thing),
    }
}
