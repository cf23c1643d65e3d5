//! The stylesheet, the script and the icon, compiled in.

use std::sync::LazyLock;

use apiserver::answer::Answer;

use crate::{PATH, answers};

const STYLE: &str = include_str!("../assets/portal.css");
const SCRIPT: &str = include_str!("../assets/portal.js");
const ICON: &str = include_str!("../assets/icon.svg");

/// Changes with the content of any of them, so that browsers may keep each for ever.
static EDITION: LazyLock<String> = LazyLock::new(|| {
    let digest = ring::digest::digest(&ring::digest::SHA256, format!("{STYLE}\0{SCRIPT}\0{ICON}").as_bytes());
    digest.as_ref().iter().take(6).map(|byte| format!("{byte:02x}")).collect()
});

/// The address of an asset.
pub fn address(name: &str) -> String {
    format!("{PATH}/assets/{}/{name}", *EDITION)
}

/// An asset by its name.
pub fn answer(name: &str) -> Option<Answer> {
    match name {
        "portal.css" => Some(answers::asset("text/css; charset=utf-8", STYLE)),
        "portal.js" => Some(answers::asset("text/javascript; charset=utf-8", SCRIPT)),
        "icon.svg" => Some(answers::asset("image/svg+xml", ICON)),
        _ => None,
    }
}
