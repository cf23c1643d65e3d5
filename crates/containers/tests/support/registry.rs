//! Debian's docker-registry on loopback.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use containers::image::Digest;

use super::image::Image;

pub struct Registry {
    pub address: SocketAddr,
    child: Child,
    _folder: tempfile::TempDir,
}

impl Registry {
    pub fn start() -> Self {
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
        // Dropping it ends the program, also where it never listens.
        let registry = Self { address, child, _folder: folder };
        for _ in 0..500 {
            if TcpStream::connect(address).is_ok() {
                return registry;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        panic!("docker-registry does not listen at {address}");
    }

    /// Pushes an image and gives its reference.
    pub fn push(&self, name: &str, tag: &str, image: &Image) -> String {
        for blob in &image.blobs {
            let (status, head) = self.send("POST", &format!("/v2/{name}/blobs/uploads/"), "", b"");
            assert_eq!(status, 202);
            let location = head.lines().find_map(|line| line.strip_prefix("Location: ")).unwrap().trim();
            let path = location.split_once(&self.address.to_string()).map_or(location, |(_, path)| path);
            let separator = if path.contains('?') { '&' } else { '?' };
            let path = format!("{path}{separator}digest={}", Digest::of(blob));
            assert_eq!(self.send("PUT", &path, "application/octet-stream", blob).0, 201);
        }
        self.push_manifest(name, tag, &image.manifest, "application/vnd.oci.image.manifest.v1+json");
        format!("{}/{name}:{tag}", self.address)
    }

    pub fn push_manifest(&self, name: &str, tag: &str, manifest: &[u8], media_type: &str) {
        let (status, head) = self.send("PUT", &format!("/v2/{name}/manifests/{tag}"), media_type, manifest);
        assert_eq!(status, 201, "{head}");
    }

    fn send(&self, method: &str, path: &str, media_type: &str, body: &[u8]) -> (u16, String) {
        let mut stream = TcpStream::connect(self.address).unwrap();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nContent-Type: {media_type}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
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
