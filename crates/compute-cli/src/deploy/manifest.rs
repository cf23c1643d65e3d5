//! Workloads in files.

use cli::{Failure, FileFlags, Session};
use serde_json::{Value, json};

use crate::program::Program;
use crate::text::at;

/// Reads the one workload of a file.
pub fn read(file: &str, session: &mut Session) -> Result<Value, Failure> {
    let mut found = FileFlags::of(file).read(&mut session.console)?;
    let one = found.pop();
    let Some(one) = one.filter(|_| found.is_empty()) else {
        return Err(Failure::other(format!("{file}: a manifest for deploy holds one Workload"))
            .hint("\"groundplane apply -f\" takes several objects"));
    };
    let mut workload = one.object;
    let api = format!("{}/{}", compute::GROUP, compute::VERSION);
    if at(&workload, "/kind") != "Workload" || at(&workload, "/apiVersion") != api {
        return Err(Failure::other(format!(
            "{file} holds {} {}, and not a Workload of {api}",
            at(&workload, "/apiVersion"),
            at(&workload, "/kind")
        )));
    }
    if at(&workload, "/metadata/name").is_empty() {
        return Err(Failure::other(format!("{file}: metadata.name is required")));
    }
    workload["metadata"]["namespace"] = "default".into();
    Ok(workload)
}

/// Writes a workload to a file, without what a server adds.
pub fn save(file: &str, workload: &Value, program: &Program) -> Result<(), Failure> {
    let mut metadata = json!({"name": workload["metadata"]["name"]});
    for field in ["labels", "annotations"] {
        if let Some(value) = workload["metadata"].get(field) {
            metadata[field] = value.clone();
        }
    }
    let kept = json!({
        "apiVersion": workload["apiVersion"], "kind": workload["kind"], "metadata": metadata, "spec": workload["spec"],
    });
    let text = format!(
        "# Written by compute deploy --save.\n# Apply with: {}\n{}",
        program.command(&format!("deploy -f {file}")),
        krm::encode::to_yaml(&kept)
    );
    std::fs::write(file, text).map_err(|error| Failure::other(format!("writing {file}: {error}")))
}
