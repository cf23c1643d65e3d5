//! `compiled`: the compiled design in Drydock's format, without secrets.

use krm::kind::{Answered, QueryContext, Questioned};
use krm::status::Status;
use serde_json::Value;

use super::{design_of, shown};
use crate::compiled_design;

/// Answers `…/designs/<name>/compiled?at=`.
pub fn answer(asked: &Questioned<'_>, look: &dyn QueryContext) -> Result<Answered, Status> {
    let design = design_of(asked, look)?;
    let result = compiled_design::at(&design, asked.option("at").unwrap_or("documents"), look)?;
    let mut printed = result.validated().to_drydock_json();
    for hosts in ["nodes", "host_profiles"] {
        for host in printed[hosts].as_object_mut().into_iter().flat_map(|hosts| hosts.values_mut()) {
            hide(&mut host["oob_parameters"]);
        }
    }
    let text = format!("{printed:#}\n");
    shown(asked, printed, || text)
}

/// Hides secrets of documents that were written before `oob_secrets` existed.
fn hide(parameters: &mut Value) {
    for (key, value) in parameters.as_object_mut().into_iter().flatten() {
        if design::secrets::is_secret_path(&format!("oob.{key}")) {
            *value = "(hidden)".into();
        }
    }
}
