//! A node driven by libvirt says where it is and by which MAC address it boots.

use super::finding::{Findings, Validator};
use crate::{
    compile::Site,
    model::{Design, text},
};

pub(super) const VALIDATOR: Validator =
    Validator { code: "GP4002", drydock_id: Some("DD4002"), title: "Valid Libvirt Configuration", check };

fn check(_: &Design, site: &Site, findings: &mut Findings) {
    for node in site.nodes.iter().filter(|node| text(&node.effective.settings.oob_type) == Some("libvirt")) {
        let uri =
            node.effective.settings.oob_parameters.get("libvirt_uri").filter(|uri| !uri.value.is_empty());
        match uri {
            None => {
                let message = format!("OOB parameter libvirt_uri missing for node {}.", node.name());
                findings.error(message, "Define `libvirt_uri` under `oob`.", &[&node.document]);
            }
            Some(uri) if !uri.value.starts_with("qemu+ssh") => {
                let message = "OOB parameter libvirt_uri has invalid scheme.".to_owned();
                findings.error(message, "The only supported scheme is qemu+ssh.", &[&node.document]);
            }
            Some(_) => {}
        }
        if text(&node.boot_mac).unwrap_or_default().is_empty() {
            let message = "libvirt-based node requires a defined boot MAC address.".to_owned();
            findings.error(message, "Specify the boot MAC of the node under `metadata`.", &[&node.document]);
        }
    }
}
