//! The size and the number of huge pages are given together.

use super::finding::{Findings, Validator};
use crate::{compile::Site, model::Design};

pub(super) const VALIDATOR: Validator =
    Validator { code: "GP1008", drydock_id: Some("DD1008"), title: "Hugepages", check };

fn check(_: &Design, site: &Site, findings: &mut Findings) {
    for node in &site.nodes {
        let has = |param| node.kernel_params.contains_key(param);
        if has("hugepages") != has("hugepagesz") {
            let advice = "hugepages and hugepagesz must be specified together";
            findings.error("Invalid hugepages kernel configuration".to_owned(), advice, &[&node.document]);
        }
    }
}
