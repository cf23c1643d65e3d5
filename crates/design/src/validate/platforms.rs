//! Images and kernels cannot be validated without a provisioner; this says so.

use super::finding::{Findings, Validator};
use crate::{compile::Site, model::Design};

pub(super) const VALIDATOR: Validator =
    Validator { code: "GP3001", drydock_id: Some("DD3001"), title: "Platform Selection", check };

fn check(_: &Design, _: &Site, findings: &mut Findings) {
    let message = "Platform Validation: No enabled node driver, image and kernel selections not validated.";
    let advice = "Cannot validate platform selection without accessing the node provisioner.";
    findings.warning(message.to_owned(), advice, &[]);
}
