//! Interned names.

use std::collections::HashMap;
use std::sync::Arc;

/// Names by their numbers, and the other way round.
#[derive(Debug, Default)]
pub struct Names {
    all: Vec<Arc<str>>,
    numbers: HashMap<Arc<str>, u32>,
}

impl Names {
    /// The number of a name.
    pub fn number(&mut self, name: &str) -> u32 {
        if let Some(known) = self.numbers.get(name) {
            return *known;
        }
        let number = u32::try_from(self.all.len()).unwrap_or(u32::MAX);
        let name: Arc<str> = name.into();
        self.all.push(name.clone());
        self.numbers.insert(name, number);
        number
    }

    /// The name of a number that was given.
    pub fn name(&self, number: u32) -> Option<&Arc<str>> {
        self.all.get(number as usize)
    }

    /// All of them, in the order of their numbers.
    pub fn all(&self) -> impl Iterator<Item = (u32, &Arc<str>)> {
        (0..).zip(&self.all)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.all.len()
    }
}
