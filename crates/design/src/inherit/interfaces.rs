//! An interface merged field by field.

use super::{field_path::FieldPath, keyed::Member, ledger::Ledger, lists, scalars};
use crate::model::{Interface, Set, Sriov};

impl Member for Interface {
    fn name(&self) -> &Set<String> {
        &self.name
    }

    fn bare(name: Set<String>) -> Self {
        Interface::bare(name)
    }

    fn merge(ledger: &mut Ledger, path: &FieldPath<'_>, parent: &Self, child: &Self) -> Self {
        Self {
            name: parent.name.clone(),
            link: scalars::merge(ledger, &FieldPath::In(path, "device_link"), &parent.link, &child.link),
            slaves: lists::merge(ledger, &FieldPath::In(path, "slaves"), &parent.slaves, &child.slaves),
            networks: lists::merge(
                ledger,
                &FieldPath::In(path, "networks"),
                &parent.networks,
                &child.networks,
            ),
            sriov: merge_sriov(ledger, &FieldPath::In(path, "sriov"), &parent.sriov, &child.sriov),
        }
    }
}

/// The stanza is there if any level has it; its fields follow the scalar rule.
fn merge_sriov(
    ledger: &mut Ledger,
    path: &FieldPath<'_>,
    parent: &Option<Sriov>,
    child: &Option<Sriov>,
) -> Option<Sriov> {
    let Some(child) = child else { return parent.clone() };
    let nothing = Sriov::default();
    let parent = parent.as_ref().unwrap_or(&nothing);
    Some(Sriov {
        vf_count: scalars::merge(ledger, &FieldPath::In(path, "vf_count"), &parent.vf_count, &child.vf_count),
        trustedmode: scalars::merge(
            ledger,
            &FieldPath::In(path, "trustedmode"),
            &parent.trustedmode,
            &child.trustedmode,
        ),
    })
}
