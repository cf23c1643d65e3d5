//! Images made from nothing.

use std::io::Write;
use std::path::Path;

use containers::image::Digest;
use serde_json::{Value, json};

/// A layer: the bytes of its tar file.
pub struct Layer(pub tar::Builder<Vec<u8>>);

impl Layer {
    pub fn new() -> Self {
        Self(tar::Builder::new(Vec::new()))
    }

    pub fn file(self, path: &str, mode: u32, content: &[u8]) -> Self {
        self.entry(path, tar::EntryType::Regular, mode, None, content)
    }

    pub fn folder(self, path: &str) -> Self {
        self.entry(path, tar::EntryType::Directory, 0o755, None, b"")
    }

    pub fn symlink(self, path: &str, target: &str) -> Self {
        self.entry(path, tar::EntryType::Symlink, 0o777, Some(target), b"")
    }

    pub fn hard_link(self, path: &str, target: &str) -> Self {
        self.entry(path, tar::EntryType::Link, 0o644, Some(target), b"")
    }

    /// An entry whose names are written as they are, however hostile.
    pub fn entry(
        mut self,
        path: &str,
        kind: tar::EntryType,
        mode: u32,
        link: Option<&str>,
        content: &[u8],
    ) -> Self {
        let mut header = tar::Header::new_ustar();
        header.as_old_mut().name[..path.len()].copy_from_slice(path.as_bytes());
        if let Some(link) = link {
            header.as_old_mut().linkname[..link.len()].copy_from_slice(link.as_bytes());
        }
        header.set_entry_type(kind);
        header.set_mode(mode);
        header.set_uid(0);
        header.set_gid(0);
        header.set_mtime(1_700_000_000);
        header.set_size(content.len() as u64);
        if matches!(kind, tar::EntryType::Char | tar::EntryType::Block) {
            header.set_device_major(1).unwrap();
            header.set_device_minor(3).unwrap();
        }
        header.set_cksum();
        self.0.append(&header, content).unwrap();
        self
    }

    pub fn tar(self) -> Vec<u8> {
        self.0.into_inner().unwrap()
    }
}

pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// An image: its blobs, the last of which is the manifest.
pub struct Image {
    pub blobs: Vec<Vec<u8>>,
    pub manifest: Vec<u8>,
}

impl Image {
    /// An image of layers, for this machine.
    pub fn new(layers: Vec<Vec<u8>>, config: Value) -> Self {
        Self::for_platform(layers, config, architecture())
    }

    pub fn for_platform(layers: Vec<Vec<u8>>, config: Value, architecture: &str) -> Self {
        let diff_ids: Vec<_> = layers.iter().map(|layer| Digest::of(layer).to_string()).collect();
        let config = json!({
            "architecture": architecture,
            "os": "linux",
            "config": config,
            "rootfs": { "type": "layers", "diff_ids": diff_ids },
        });
        let config = config.to_string().into_bytes();
        let layers: Vec<_> = layers.iter().map(|layer| gzip(layer)).collect();
        let layer_type = "application/vnd.oci.image.layer.v1.tar+gzip";
        let descriptors: Vec<_> = layers.iter().map(|layer| descriptor(layer, layer_type)).collect();
        let manifest = json!({
            "schemaVersion": 2,
            "mediaType": "application/vnd.oci.image.manifest.v1+json",
            "config": descriptor(&config, "application/vnd.oci.image.config.v1+json"),
            "layers": descriptors,
        });
        let manifest = manifest.to_string().into_bytes();
        let blobs = [layers, vec![config]].concat();
        Self { blobs, manifest }
    }

    pub fn digest(&self) -> Digest {
        Digest::of(&self.manifest)
    }

    /// Writes the image as an OCI layout.
    pub fn write_layout(&self, folder: &Path, tag: &str) {
        let blobs = folder.join("blobs/sha256");
        std::fs::create_dir_all(&blobs).unwrap();
        for blob in self.blobs.iter().chain([&self.manifest]) {
            std::fs::write(blobs.join(Digest::of(blob).hex()), blob).unwrap();
        }
        let mut manifest = descriptor(&self.manifest, "application/vnd.oci.image.manifest.v1+json");
        manifest["annotations"] = json!({ "org.opencontainers.image.ref.name": tag });
        let index = json!({ "schemaVersion": 2, "manifests": [manifest] });
        std::fs::write(folder.join("index.json"), index.to_string()).unwrap();
        std::fs::write(folder.join("oci-layout"), r#"{"imageLayoutVersion":"1.0.0"}"#).unwrap();
    }
}

pub fn descriptor(bytes: &[u8], media_type: &str) -> Value {
    json!({ "mediaType": media_type, "digest": Digest::of(bytes).to_string(), "size": bytes.len() })
}

pub fn architecture() -> &'static str {
    if cfg!(target_arch = "aarch64") { "arm64" } else { "amd64" }
}

/// An image of the test program and a shell, in two layers, which runs `command`.
pub fn app(command: &[&str]) -> Image {
    let program = std::fs::read(super::app()).unwrap();
    let base = Layer::new().folder("etc/").file(
        "etc/passwd",
        0o644,
        b"root:x:0:0:root:/:/bin/sh\nweb:x:33:44:web:/:/bin/sh\n",
    );
    let mut base = base.folder("bin/").folder("tmp/");
    if let Some(files) = shell() {
        for (path, bytes) in files {
            base = base.file(&path, 0o755, &bytes);
        }
    }
    let top = Layer::new().file("app", 0o755, &program);
    let config = json!({ "Cmd": command, "Env": ["FROM_IMAGE=yes"] });
    Image::new(vec![base.tar(), top.tar()], config)
}

/// The machine's shell with what it is linked to.
fn shell() -> Option<Vec<(String, Vec<u8>)>> {
    let linked = std::process::Command::new("ldd").arg("/bin/sh").output().ok()?;
    let linked = String::from_utf8_lossy(&linked.stdout).into_owned();
    let paths = linked.split_whitespace().filter(|word| word.starts_with('/')).map(str::to_owned);
    let files = paths.chain(["/bin/sh".to_owned()]);
    files.map(|path| Some((path[1..].to_owned(), std::fs::read(&path).ok()?))).collect()
}
