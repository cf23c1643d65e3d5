//! The image: every digest is right, and the server starts from its layers as its configuration says.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::root::{HOST, Root};
use super::server::Start;
use super::{Subject, create, ensure, run};
use crate::dist::digest::sha256;
use crate::dist::read;
use crate::step::Failure;

pub fn check(archive: &Path, subject: &Subject, folder: &Path) -> Result<(), Failure> {
    let layout = folder.join("layout");
    create(&layout)?;
    run(Command::new("tar").arg("xf").arg(archive).arg("-C").arg(&layout))?;
    let index = json(&read(&layout.join("index.json"))?)?;
    let manifest = json(&blob(&layout, &index["manifests"][0])?)?;
    let config = json(&blob(&layout, &manifest["config"])?)?;

    let root = Root::new(&folder.join("root"))?;
    let diffs = items(&config["rootfs"]["diff_ids"]);
    let layers = items(&manifest["layers"]);
    ensure(!layers.is_empty() && layers.len() == diffs.len(), || "a layer without a diff ID".to_owned())?;
    for (layer, diff) in layers.iter().zip(diffs) {
        let packed = folder.join("layer.tar.gz");
        crate::dist::write(&packed, &blob(&layout, layer)?, 0o644)?;
        run(Command::new("gzip").args(["--decompress", "--force"]).arg(&packed))?;
        let unpacked = folder.join("layer.tar");
        let digest = format!("sha256:{}", sha256(&read(&unpacked)?));
        ensure(*diff == digest, || format!("the diff ID is {diff}, the layer has {digest}"))?;
        run(Command::new("tar")
            .args(["--extract", "--numeric-owner", "--same-owner", "--same-permissions", "--file"])
            .arg(&unpacked)
            .arg("-C")
            .arg(&root.path))?;
    }
    let certificates = root.read("etc/ssl/certs/ca-certificates.crt")?;
    ensure(certificates.contains("-----BEGIN CERTIFICATE-----"), || {
        "the image has no CA certificates".to_owned()
    })?;
    let start = start(&config["config"])?;
    root.expect("var/lib/groundplane", 0o700, start.user)?;
    root.expect("usr/bin/groundplane", 0o755, (0, 0))?;
    ensure(root.user("groundplane")? == start.user, || "the user of the image has no name".to_owned())?;
    root.complete(subject)?;
    start.check(&root, subject)?;
    println!("ok: the digests of the image are right, and it serves");
    Ok(())
}

/// What a container runtime would start; the port is any free one of the loopback address.
fn start(config: &Value) -> Result<Start, Failure> {
    let texts = |value: &Value| {
        items(value).iter().filter_map(|word| Some(word.as_str()?.to_owned())).collect::<Vec<_>>()
    };
    let user = config["User"].as_str().and_then(|user| user.split_once(':'));
    let user = user.and_then(|(user, group)| Some((user.parse().ok()?, group.parse().ok()?)));
    let user = user.filter(|user| *user != (0, 0));
    let user = user
        .ok_or_else(|| Failure(format!("the image runs as {}, not as a user by number", config["User"])))?;
    let environment = texts(&config["Env"]);
    let environment = environment.iter().filter_map(|line| line.split_once('='));
    let mut words = texts(&config["Entrypoint"]);
    words.extend(texts(&config["Cmd"]));
    let listen = words.iter().position(|word| word == "--listen");
    let address = listen.and_then(|at| words.get_mut(at + 1));
    let address = address.ok_or_else(|| Failure("the image does not set --listen".to_owned()))?;
    "127.0.0.1:0".clone_into(address);
    words.extend(["--name".to_owned(), HOST.to_owned()]);
    Ok(Start {
        user,
        environment: environment.map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
        words,
    })
}

/// The content of a descriptor, if it is what the descriptor says.
fn blob(layout: &Path, descriptor: &Value) -> Result<Vec<u8>, Failure> {
    let digest = descriptor["digest"].as_str().unwrap_or_default();
    let bytes = read(&layout.join("blobs").join(digest.replace(':', "/")))?;
    ensure(digest == format!("sha256:{}", sha256(&bytes)), || format!("blob {digest} has another digest"))?;
    ensure(descriptor["size"] == bytes.len(), || format!("blob {digest} has another size"))?;
    Ok(bytes)
}

fn json(bytes: &[u8]) -> Result<Value, Failure> {
    serde_json::from_slice(bytes).map_err(|error| Failure(format!("the image has broken JSON: {error}")))
}

fn items(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}
