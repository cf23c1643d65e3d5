//! References, manifests and configs of images, as registries send them.

use containers::image::{Document, Reference, parse_config, parse_document};

use super::Target;

pub(super) const TARGET: Target = Target {
    name: "images",
    check,
    seeds,
    words: &[
        "schemaVersion",
        "manifests",
        "layers",
        "config",
        "digest",
        "sha256:",
        "size",
        "platform",
        "rootfs",
        "diff_ids",
    ],
};

fn check(input: &[u8]) {
    if let Ok(Document::Manifest(manifest)) = parse_document(input) {
        assert!(manifest.layers.len() <= 127);
        assert!(manifest.layers.iter().all(|layer| layer.digest.hex().len() == 64));
    }
    if let Ok(config) = parse_config(input) {
        assert!(config.rootfs.diff_ids.iter().all(|layer| !layer.hex().contains(['/', '.'])));
    }
    let Ok(text) = std::str::from_utf8(input) else { return };
    if let Ok(Reference::Registry(remote)) = Reference::parse(text) {
        // Both become parts of a URL.
        assert!(!remote.repository.contains("..") && !remote.repository.contains([' ', '?', '#', '%']));
        assert!(!remote.registry.contains(['/', '@', ' ', '?', '#']));
    }
}

fn seeds() -> Vec<Vec<u8>> {
    let digest = format!("sha256:{}", "0".repeat(64));
    let layer = format!(
        r#"{{"mediaType":"application/vnd.oci.image.layer.v1.tar+gzip","digest":"{digest}","size":1}}"#
    );
    [
        format!(r#"{{"schemaVersion":2,"config":{layer},"layers":[{layer}]}}"#),
        format!(r#"{{"schemaVersion":2,"manifests":[{layer}]}}"#),
        format!(r#"{{"architecture":"amd64","os":"linux","config":{{"Cmd":["/app"]}},"rootfs":{{"diff_ids":["{digest}"]}}}}"#),
        format!("registry.example.com:5000/team/web:1.2@{digest}"),
        "oci:/images/web:1".to_owned(),
    ]
    .map(String::into_bytes)
    .to_vec()
}
