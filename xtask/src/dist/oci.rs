//! The container image, as an archive of an OCI image layout.
//!
//! <https://github.com/opencontainers/image-spec/blob/main/image-layout.md>

use serde_json::{Value, json};

use super::contents::{BINARY, Contents};
use super::digest::sha256;
use super::files::{Files, gzip};
use super::release::Release;
use crate::step::Failure;

/// User and group that the server runs as.
const USER: u32 = 6443;
const DATA: &str = "var/lib/groundplane";

/// The whole archive. `manifest.json` is for `docker load` of versions that read no image layouts.
pub fn image(contents: &Contents, certificates: &[u8], release: &Release) -> Result<Vec<u8>, Failure> {
    let layers = [base(certificates)?, program(contents)];
    let mut blobs = Files::default();
    let (mut diffs, mut descriptors) = (Vec::new(), Vec::new());
    for layer in layers {
        let tar = layer.with_folders().tar(release.time)?;
        diffs.push(format!("sha256:{}", sha256(&tar)));
        descriptors.push(blob(&mut blobs, "application/vnd.oci.image.layer.v1.tar+gzip", gzip(&tar)?));
    }
    let config = config(release, &diffs);
    let config =
        blob(&mut blobs, "application/vnd.oci.image.config.v1+json", config.to_string().into_bytes());
    let manifest = json!({
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "config": config,
        "layers": descriptors,
        "annotations": labels(release),
    });
    let mut manifest =
        blob(&mut blobs, "application/vnd.oci.image.manifest.v1+json", manifest.to_string().into_bytes());
    let name = format!("groundplane:{}", release.version());
    manifest["platform"] = json!({"architecture": release.machine.oci(), "os": "linux"});
    manifest["annotations"] =
        json!({"org.opencontainers.image.ref.name": release.version(), "io.containerd.image.name": name});
    let index = json!({
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.index.v1+json",
        "manifests": [manifest],
    });
    let path = |descriptor: &Value| {
        descriptor["digest"].as_str().unwrap_or_default().replace("sha256:", "blobs/sha256/")
    };
    let for_docker = json!([{
        "Config": path(&config),
        "RepoTags": [name],
        "Layers": descriptors.iter().map(path).collect::<Vec<_>>(),
    }]);
    blobs.file("oci-layout", json!({"imageLayoutVersion": "1.0.0"}).to_string().into_bytes(), 0o644);
    blobs.file("index.json", index.to_string().into_bytes(), 0o644);
    blobs.file("manifest.json", for_docker.to_string().into_bytes(), 0o644);
    blobs.with_folders().tar(release.time)
}

/// What changes seldom: certificates, the user, the data folder.
fn base(certificates: &[u8]) -> Result<Files, Failure> {
    if !certificates.windows(27).any(|line| line == b"-----BEGIN CERTIFICATE-----") {
        return Err(Failure("the bundle of CA certificates holds no certificate in PEM".to_owned()));
    }
    let mut files = Files::default();
    files.file("etc/ssl/certs/ca-certificates.crt", certificates.to_vec(), 0o644);
    files.file(
        "etc/passwd",
        format!(
            "root:x:0:0:root:/:/sbin/nologin\ngroundplane:x:{USER}:{USER}:Groundplane:/{DATA}:/sbin/nologin\n"
        )
        .into_bytes(),
        0o644,
    );
    files.file("etc/group", format!("root:x:0:\ngroundplane:x:{USER}:\n").into_bytes(), 0o644);
    files.file("etc/nsswitch.conf", *b"hosts: files dns\n", 0o644);
    // A new volume takes over owner and mode of the folder that it is mounted on.
    files.folder(DATA, 0o700, USER);
    files.folder("tmp", 0o1777, 0);
    Ok(files)
}

fn program(contents: &Contents) -> Files {
    let mut files = Files::default();
    files.file(BINARY, contents.binary.clone(), 0o755);
    for file in &contents.documents {
        files.file(format!("usr/share/doc/groundplane/{}", file.path), file.bytes.clone(), 0o644);
    }
    files
}

/// The same as packaging/Containerfile sets.
fn config(release: &Release, diffs: &[String]) -> Value {
    json!({
        "created": release.timestamp(),
        "architecture": release.machine.oci(),
        "os": "linux",
        "config": {
            "User": format!("{USER}:{USER}"),
            "ExposedPorts": {"6443/tcp": {}},
            "Env": ["PATH=/usr/bin", format!("GROUNDPLANE_DATA=/{DATA}")],
            "Entrypoint": [format!("/{BINARY}")],
            "Cmd": ["serve", "--listen", "0.0.0.0:6443", "--log-format", "json"],
            "Volumes": {format!("/{DATA}"): {}},
            "WorkingDir": "/",
            "StopSignal": "SIGTERM",
            "Labels": labels(release),
        },
        "rootfs": {"type": "layers", "diff_ids": diffs},
        "history": [
            {"created": release.timestamp(), "created_by": "cargo xtask dist: CA certificates and user"},
            {"created": release.timestamp(), "created_by": "cargo xtask dist: groundplane"},
        ],
    })
}

fn labels(release: &Release) -> Value {
    json!({
        "org.opencontainers.image.title": "groundplane",
        "org.opencontainers.image.description": "One control plane from the rack to the workload",
        "org.opencontainers.image.version": release.version(),
        "org.opencontainers.image.revision": release.commit(),
        "org.opencontainers.image.created": release.timestamp(),
        "org.opencontainers.image.licenses": "Apache-2.0",
    })
}

/// Adds a blob, and gives its descriptor.
fn blob(blobs: &mut Files, kind: &str, bytes: Vec<u8>) -> Value {
    let digest = sha256(&bytes);
    let descriptor = json!({"mediaType": kind, "digest": format!("sha256:{digest}"), "size": bytes.len()});
    blobs.file(format!("blobs/sha256/{digest}"), bytes, 0o644);
    descriptor
}
