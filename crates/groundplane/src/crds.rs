//! `groundplane crds`: the built-in kinds as CustomResourceDefinitions, for another Kubernetes API server.

use std::io::{self, BufWriter, Write};

use krm::crd;
use krm::encode::to_yaml;
use krm::kind::Kind;

use crate::failure::Failure;
use crate::modules;

/// Print the inventory types as CustomResourceDefinitions.
///
/// With them, another Kubernetes API server accepts the same manifests, with the same schemas, columns and selectable
/// fields. Validation across objects, references and controllers need a Groundplane server.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  groundplane crds | kubectl apply --server-side -f -\n  groundplane crds \
    inventory.miloapis.com > inventory.yaml\n  groundplane crds racks.inventory.miloapis.com"
)]
pub struct Arguments {
    /// API groups, or resources such as racks.inventory.miloapis.com. By default all.
    #[arg(value_name = "GROUP|RESOURCE.GROUP")]
    only: Vec<String>,
}

/// Writes one document after the other.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let kinds = ours();
    for asked in &arguments.only {
        if !kinds.iter().any(|kind| is(kind, asked)) {
            return Err(Failure::new(
                format_args!("finding {asked}"),
                format_args!("no such group or resource; the resources are {}", known(&kinds)),
            ));
        }
    }
    let mut out = BufWriter::new(io::stdout().lock());
    let wanted =
        |kind: &&Kind| arguments.only.is_empty() || arguments.only.iter().any(|asked| is(kind, asked));
    for kind in kinds.iter().filter(wanted) {
        let written = write!(out, "---\n{}", to_yaml(&crd::of_kind(kind)));
        // The reader has closed the pipe.
        if written.is_err() {
            return Ok(());
        }
    }
    let _ = out.flush();
    Ok(())
}

/// Kinds that another server can serve.
fn ours() -> Vec<Kind> {
    modules::portable_kinds()
}

fn name(kind: &Kind) -> String {
    format!("{}.{}", kind.names.plural, kind.group)
}

fn is(kind: &Kind, asked: &str) -> bool {
    kind.group == asked || name(kind) == asked
}

fn known(kinds: &[Kind]) -> String {
    let names: Vec<String> = kinds.iter().map(name).collect();
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use krm::Object;

    #[test]
    fn every_kind_of_ours_is_a_definition_that_is_taken() {
        for kind in ours() {
            let mut object = Object::from_value(crd::of_kind(&kind)).unwrap();
            crd::default(&mut object);
            crd::prepare_for_create(&mut object);
            let errors = crd::validate_create(&object);
            assert!(errors.is_empty(), "{}: {errors:?}", name(&kind));
        }
    }
}
