//! Images of the tests, made from a static program of their own, on disk or in a registry.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::Duration;

use ::containers::image::Digest;
use serde_json::{Value, json};

/// The program: compiled by itself, linked statically.
const PROGRAM: &str = include_str!("program.rs.txt");

/// An image whose program answers requests with a text.
pub struct Image {
    blobs: Vec<Vec<u8>>,
    manifest: Vec<u8>,
}

impl Image {
    /// An image that runs the program with these words.
    pub fn of(words: &[&str]) -> Image {
        let mut layer = tar::Builder::new(Vec::new());
        layer.append_path_with_name(program(), "program").unwrap();
        let layer = layer.into_inner().unwrap();
        let entrypoint: Vec<&str> = ["/program"].into_iter().chain(words.iter().copied()).collect();
        let config = json!({
            "architecture": if cfg!(target_arch = "aarch64") { "arm64" } else { "amd64" }, "os": "linux",
            "config": {"Entrypoint": entrypoint},
            "rootfs": {"type": "layers", "diff_ids": [Digest::of(&layer).to_string()]},
        });
        let config = config.to_string().into_bytes();
        let manifest = json!({
            "schemaVersion": 2, "mediaType": MANIFEST,
            "config": descriptor(&config, "application/vnd.oci.image.config.v1+json"),
            "layers": [descriptor(&layer, "application/vnd.oci.image.layer.v1.tar")],
        });
        Image { blobs: vec![layer, config], manifest: manifest.to_string().into_bytes() }
    }

    /// Writes it as an OCI layout.
    pub fn write_layout(&self, folder: &Path) {
        let blobs = folder.join("blobs/sha256");
        std::fs::create_dir_all(&blobs).unwrap();
        for blob in self.blobs.iter().chain([&self.manifest]) {
            std::fs::write(blobs.join(Digest::of(blob).hex()), blob).unwrap();
        }
        let mut manifest = descriptor(&self.manifest, MANIFEST);
        manifest["annotations"] = json!({"org.opencontainers.image.ref.name": "1"});
        let index = json!({"schemaVersion": 2, "manifests": [manifest]});
        std::fs::write(folder.join("index.json"), index.to_string()).unwrap();
        std::fs::write(folder.join("oci-layout"), r#"{"imageLayoutVersion":"1.0.0"}"#).unwrap();
    }
}

const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";

fn descriptor(bytes: &[u8], media: &str) -> Value {
    json!({"mediaType": media, "digest": Digest::of(bytes).to_string(), "size": bytes.len()})
}

fn program() -> &'static Path {
    static COMPILED: OnceLock<PathBuf> = OnceLock::new();
    COMPILED.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let name = format!("program-{}", &Digest::of(PROGRAM.as_bytes()).hex()[..16]);
        let (program, new) = (folder.join(&name), folder.join(format!("{name}.{}", std::process::id())));
        if !program.exists() {
            let source = folder.join(format!("{name}.{}.rs", std::process::id()));
            std::fs::write(&source, PROGRAM).unwrap();
            let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
            let flags = [
                "--edition=2024",
                "--crate-name=program",
                "-Ctarget-feature=+crt-static",
                "-Cstrip=symbols",
                "-o",
            ];
            let compiled = Command::new(rustc).args(flags).arg(&new).arg(&source).status().unwrap();
            assert!(compiled.success());
            std::fs::remove_file(source).unwrap();
            // Moved: other test programs may be doing the same.
            std::fs::rename(new, &program).unwrap();
        }
        program
    })
}

/// Debian's docker-registry on loopback.
pub struct Registry {
    address: SocketAddr,
    child: Child,
    _folder: tempfile::TempDir,
}

impl Registry {
    pub fn start() -> Registry {
        let folder = tempfile::tempdir().unwrap();
        let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let config = format!(
            "version: 0.1\nlog:\n  level: error\nstorage:\n  filesystem:\n    rootdirectory: {}\nhttp:\n  addr: {address}\n",
            folder.path().join("storage").display()
        );
        let file = folder.path().join("config.yml");
        std::fs::write(&file, config).unwrap();
        let child = Command::new("docker-registry")
            .arg("serve")
            .arg(&file)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let registry = Registry { address, child, _folder: folder };
        for _ in 0..1000 {
            if TcpStream::connect(address).is_ok() {
                return registry;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        panic!("docker-registry does not listen at {address}");
    }

    /// Pushes an image and gives its reference.
    pub fn push(&self, tag: &str, image: &Image) -> String {
        for blob in &image.blobs {
            let (status, head) = self.send("POST", "/v2/acme/web/blobs/uploads/", "", b"");
            assert_eq!(status, 202);
            let location = head.lines().find_map(|line| line.strip_prefix("Location: ")).unwrap().trim();
            let path = location.split_once(&self.address.to_string()).map_or(location, |(_, path)| path);
            let separator = if path.contains('?') { '&' } else { '?' };
            let path = format!("{path}{separator}digest={}", Digest::of(blob));
            assert_eq!(self.send("PUT", &path, "application/octet-stream", blob).0, 201);
        }
        let (status, head) =
            self.send("PUT", &format!("/v2/acme/web/manifests/{tag}"), MANIFEST, &image.manifest);
        assert_eq!(status, 201, "{head}");
        self.reference(tag)
    }

    /// The reference of a tag, whether there is such an image or not.
    pub fn reference(&self, tag: &str) -> String {
        format!("{}/acme/web:{tag}", self.address)
    }

    fn send(&self, method: &str, path: &str, media: &str, body: &[u8]) -> (u16, String) {
        let mut stream = TcpStream::connect(self.address).unwrap();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nContent-Type: {media}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
            self.address,
            body.len()
        );
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(body).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let answer = String::from_utf8_lossy(&answer).into_owned();
        (answer.split(' ').nth(1).unwrap().parse().unwrap(), answer)
    }
}

impl Drop for Registry {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
