//! Lists of packages name packages, with versions a package tool understands.

use std::sync::LazyLock;

use regex::Regex;

use super::finding::{Findings, Validator};
use crate::{
    compile::Site,
    model::{Design, text},
};

pub(super) const VALIDATOR: Validator =
    Validator { code: "GP5002", drydock_id: Some("DD4002"), title: "Bootaction pkg_list Validation", check };

fn check(design: &Design, _: &Site, findings: &mut Findings) {
    for action in &design.boot_actions {
        for asset in action.assets.iter().filter(|asset| text(&asset.kind) == Some("pkg_list")) {
            let packages = asset.packages.iter().flatten();
            let has_location = text(&asset.location).is_some_and(|location| !location.is_empty());
            if !has_location && packages.clone().next().is_none() {
                let message = "A pkg_list asset has neither packages nor a location.".to_owned();
                findings.error(message, "Set `packages` or `location`.", &[&action.document]);
            }
            let versions =
                packages.filter_map(|(_, version)| version.as_deref()).filter(|version| !version.is_empty());
            for version in versions.filter(|version| !is_version(version)) {
                let message = format!("Version specifier {version} is not a valid format.");
                let advice = "A version is [epoch:]upstream-revision, such as 3.2.1-1.";
                findings.error(message, advice, &[&action.document]);
            }
        }
    }
}

fn is_version(version: &str) -> bool {
    static SHAPE: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"^([0-9]+:)?[A-Za-z0-9.+~-]+-[A-Za-z0-9.+~]+$").ok());
    SHAPE.as_ref().is_some_and(|shape| shape.is_match(version))
}
