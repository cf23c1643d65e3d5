//! Numeric ids of devices, cables, circuits and ports, so that sets of them are compact sorted lists.

use std::collections::HashMap;

use crate::failure::Failure;

/// The id of an element of the network.
pub type Element = u32;

/// Assigns ids, and records whether each element has failed.
pub struct Elements<'a> {
    failure: &'a Failure,
    numbers: HashMap<String, Element>,
    elements: Vec<(String, bool)>,
}

impl<'a> Elements<'a> {
    /// Without any ids.
    pub fn new(failure: &'a Failure) -> Elements<'a> {
        Elements { failure, numbers: HashMap::new(), elements: Vec::new() }
    }

    /// The id of `Kind/name`.
    pub fn number(&mut self, name: &str) -> Element {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        let number = Element::try_from(self.elements.len()).unwrap_or(Element::MAX);
        self.numbers.insert(name.to_owned(), number);
        self.elements.push((name.to_owned(), goes(name, self.failure)));
        number
    }

    /// The name of an id.
    pub fn name(&self, element: Element) -> &str {
        self.elements.get(element as usize).map_or("", |(name, _)| name)
    }

    /// Whether it has failed.
    pub fn has_failed(&self, element: Element) -> bool {
        self.elements.get(element as usize).is_some_and(|(_, has_failed)| *has_failed)
    }

    /// Number of ids.
    pub fn len(&self) -> usize {
        self.elements.len()
    }
}

fn goes(element: &str, failure: &Failure) -> bool {
    match element.split_once('/') {
        Some(("Cable", name)) => failure.cables.contains(name),
        Some(("Circuit", name)) => failure.circuits.contains(name),
        Some(("Port", name)) => failure.ports.contains(name),
        _ => failure.devices.contains(element),
    }
}
