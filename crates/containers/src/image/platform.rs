//! The platform of this machine, in the words of images.

use super::manifest::Platform;

/// The architecture of this machine, as images name it.
pub(crate) fn architecture() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        "x86" => "386",
        other => other,
    }
}

/// This machine, as messages name it.
pub(crate) fn machine() -> String {
    format!("linux/{}", architecture())
}

/// Whether programs of the platform run here.
pub(crate) fn runs(platform: &Platform) -> bool {
    // The first variant of amd64 and arm64 runs on every such machine; later variants may need more than it has.
    let has_plain_variant = matches!(platform.variant.as_deref(), None | Some("" | "v1" | "v8"));
    platform.os == "linux" && platform.architecture == architecture() && has_plain_variant
}
