//! The order of a transaction: referenced objects before those that refer to them, deletions last.

use std::collections::HashMap;

use krm::kind::Kind;

use super::item::{Doing, Item};
use crate::catalog::Catalog;

/// The places of the items in the order in which they are written, which is that of their versions.
pub fn of(catalog: &Catalog, items: &[Item]) -> Vec<usize> {
    let mut ranks = Ranks { catalog, known: HashMap::new() };
    let mut order: Vec<(bool, i64, usize)> = items
        .iter()
        .map(|item| match &item.doing {
            Err(_) => (false, 0, item.index),
            Ok((call, doing)) => {
                let rank = ranks.of(&call.kind, 0);
                match doing {
                    Doing::Delete(_) => (true, -rank, item.index),
                    _ => (false, rank, item.index),
                }
            }
        })
        .collect();
    order.sort_unstable();
    order.into_iter().map(|(_, _, index)| index).collect()
}

struct Ranks<'a> {
    catalog: &'a Catalog,
    known: HashMap<(String, String), i64>,
}

/// Kinds that refer to each other in a circle are not followed further than this.
const DEEPEST: i64 = 32;

impl Ranks<'_> {
    /// Namespaces and definitions first, then kinds that refer to nothing, then those that refer to them.
    fn of(&mut self, kind: &Kind, depth: i64) -> i64 {
        if matches!(kind.names.plural.as_str(), "namespaces" | "customresourcedefinitions") {
            return 0;
        }
        let name = (kind.group.clone(), kind.names.plural.clone());
        if let Some(rank) = self.known.get(&name) {
            return *rank;
        }
        if depth > DEEPEST {
            return 1;
        }
        // A kind that is come back to on the way to itself counts as referring to nothing.
        self.known.insert(name.clone(), 1);
        let targets = kind.references.iter().filter_map(|reference| {
            let target = self.catalog.resource(&reference.group, &reference.plural)?;
            (target.group != kind.group || target.names.plural != kind.names.plural).then(|| target.clone())
        });
        let targets: Vec<_> = targets.collect();
        let rank = targets.iter().map(|target| self.of(target, depth + 1) + 1).max().unwrap_or(1);
        // What it mentions may be of any kind, so it comes after all that mention nothing.
        let rank = if kind.mentions.is_empty() { rank } else { rank.max(DEEPEST + 2) };
        self.known.insert(name, rank);
        rank
    }
}
