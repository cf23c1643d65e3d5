//! Compiled: a design in the words of Drydock, without its secrets.

use krm::kind::{Answered, Look, Questioned};
use krm::status::Status;
use serde_json::Value;

use super::{design_of, shown};
use crate::drawn::{self, Drawn};

/// Answers `…/designs/<name>/compiled?at=`.
pub fn answer(asked: &Questioned<'_>, look: &dyn Look) -> Result<Answered, Status> {
    let design = design_of(asked, look)?;
    let drawn = Drawn::of(drawn::at(&design, asked.option("at").unwrap_or("documents"), look)?);
    let mut printed = drawn.compiled.to_drydock_json();
    for hosts in ["nodes", "host_profiles"] {
        for host in printed[hosts].as_object_mut().into_iter().flat_map(|hosts| hosts.values_mut()) {
            hide(&mut host["oob_parameters"]);
        }
    }
    let text = format!("{printed:#}\n");
    shown(asked, printed, || text)
}

/// Documents that were written before secrets had a place of their own may still hold some.
fn hide(parameters: &mut Value) {
    for (key, value) in parameters.as_object_mut().into_iter().flatten() {
        if design::inherit::is_secret(&format!("oob.{key}")) {
            *value = "(hidden)".into();
        }
    }
}
