//! Kustomizations, rendered by kustomize itself: by the program `kustomize`, or by the one within kubectl.

use std::io::ErrorKind;
use std::process::Command;

use crate::failure::Failure;

/// The programs that render a kustomization, in the order in which they are tried.
const RENDERERS: [(&str, &str); 2] = [("kustomize", "build"), ("kubectl", "kustomize")];

/// The manifests that a kustomization stands for.
pub fn render(folder: &str) -> Result<String, Failure> {
    for (program, subcommand) in RENDERERS {
        let output = match Command::new(program).args([subcommand, folder]).output() {
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            Err(error) => return Err(Failure::other(format!("running {program} {subcommand}: {error}"))),
            Ok(output) => output,
        };
        if !output.status.success() {
            let why = String::from_utf8_lossy(&output.stderr);
            let why = why.trim().trim_start_matches("error: ");
            return Err(Failure::other(format!("{program} {subcommand} {folder}: {why}")));
        }
        return String::from_utf8(output.stdout).map_err(|_| {
            Failure::other(format!("{program} {subcommand} {folder}: the output is not UTF-8"))
        });
    }
    Err(Failure::other(format!(
        "-k {folder}: a kustomization needs kustomize or kubectl, and neither is on PATH"
    ))
    .hint("install one of them, or render the manifests elsewhere and pass them with -f"))
}
