//! Compiles a design again and again: only what changed is read and compiled.
//!
//! Every stage keeps what it made and what it made it of. A part is the same if it is the same allocation, so nothing has to be
//! compared, and what is reused is shared by all results that hold it.

use std::{collections::HashMap, sync::Arc};

use super::{Compiled, LshwInputs, Outcome, Site, site::CompiledBefore};
use crate::{
    document::Document,
    model::{Design, ReadDocument},
};

/// Compiles states of one design, one after another.
#[derive(Debug, Default)]
pub struct Compiler {
    /// The documents of the last state by address, each with what was read from it.
    read: HashMap<usize, (Arc<Document>, Option<ReadDocument>)>,
    before: CompiledBefore,
}

impl Compiler {
    /// The effective site of some documents, as [`compile`](super::compile) makes it.
    pub fn compile(&mut self, documents: &[Arc<Document>]) -> Compiled {
        let mut read = HashMap::with_capacity(documents.len());
        let mut design = Design::default();
        for document in documents {
            let address = Arc::as_ptr(document) as usize;
            let (_, one) = match self.read.remove(&address) {
                // The address is that of a living document, so it is the same one.
                Some(known) => read.entry(address).or_insert(known),
                None => {
                    read.entry(address).or_insert_with(|| (Arc::clone(document), ReadDocument::of(document)))
                }
            };
            if let Some(one) = one {
                design.add(one);
            }
        }
        self.read = read;
        let outcome = match design.is_whole() {
            true => Site::of_with(&design, &LshwInputs::new(), &mut self.before)
                .map_or_else(Outcome::Refused, |site| Outcome::Site(Box::new(site))),
            false => Outcome::Unreadable,
        };
        Compiled { design, outcome, report: None }
    }
}
