//! Compiles a design: the effective settings of every node after inheritance and resolution.
//!
//! The result is separate from its input: compiling changes neither the documents nor the models.

mod boot_targets;
mod drydock_json;
mod duplicates;
mod incremental;
mod kernel_params;
mod lshw;
mod nic_selectors;
mod node;
mod route_domains;
mod site;

pub use incremental::Compiler;
pub use kernel_params::{NoCommandLine, command_line};
pub use lshw::{Lshw, LshwError, LshwInputs};
pub use nic_selectors::Selector;
pub use node::Node;
pub use site::{BootActionTargets, Profile, Site};

use crate::{
    document::Document,
    inherit::Refusal,
    model::Design,
    validate::{Report, validate},
    yaml::YamlError,
};

/// A design and the result of compiling it.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// The documents as they were written.
    pub design: Design,
    /// The result.
    pub outcome: Outcome,
    /// Findings, if validated.
    pub report: Option<Report>,
}

/// The result of compiling a design.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// Some documents cannot be read; nothing was compiled.
    Unreadable,
    /// References between the documents are broken; nothing was compiled. There is at least one mistake.
    Refused(Vec<Refusal>),
    /// The effective site.
    Site(Box<Site>),
}

/// Types the documents and makes them one effective site. Whatever the documents are, this answers.
pub fn compile(documents: &[Document], lshw: &LshwInputs) -> Compiled {
    let design = Design::read(documents);
    let outcome = if design.is_whole() {
        Site::of(&design, lshw).map_or_else(Outcome::Refused, |site| Outcome::Site(Box::new(site)))
    } else {
        Outcome::Unreadable
    };
    Compiled { design, outcome, report: None }
}

/// As the original prints a design, for bytes that are not YAML: a failed status that tells the line.
pub fn unparsable_as_drydock_json(error: &YamlError) -> serde_json::Value {
    drydock_json::unparsable(&error.to_string())
}

impl Compiled {
    /// The effective site, if there is one.
    pub fn site(&self) -> Option<&Site> {
        match &self.outcome {
            Outcome::Site(site) => Some(site),
            Outcome::Unreadable | Outcome::Refused(_) => None,
        }
    }

    /// Runs all validators. A design that does not compile is not validated.
    pub fn validated(mut self) -> Self {
        self.report = self.site().map(|site| validate(&self.design, site));
        self
    }

    /// As the original printed a design: its models, statuses and messages.
    pub fn to_drydock_json(&self) -> serde_json::Value {
        drydock_json::render(self)
    }
}
