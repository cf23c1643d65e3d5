//! A server that runs containers on this machine, and what is left of it.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use ::containers::image::Digest;
use ::containers::oci::{Settings, leaks};
use testbed::server::Server;

use crate::commands::{compute, done};
use crate::{GROUNDPLANE, PATIENCE};

/// Whether containers can run here. Skips the calling test otherwise.
pub fn can_run() -> bool {
    if !rustix::process::geteuid().is_root() {
        require::missing("containers need root");
        return false;
    }
    for program in ["runc", "docker-registry", "nft"] {
        if Command::new(program).arg("--version").output().is_err() {
            require::missing(&format!("the program {program} is missing"));
            return false;
        }
    }
    true
}

/// A data folder whose containers end with it.
pub struct Machine {
    folder: tempfile::TempDir,
}

impl Machine {
    pub fn new() -> Machine {
        Machine { folder: tempfile::tempdir().unwrap() }
    }

    pub fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// A server on it, whose cities can be deployed to.
    pub fn start(&self, flags: &[&str]) -> Server {
        let server = Server::start(GROUNDPLANE, &self.data(), flags).unwrap();
        let deadline = Instant::now() + PATIENCE;
        // The services may be a moment away.
        while !compute(&server, &["cities", "-o", "name"]).stdout.starts_with(b"DFW\n") {
            assert!(Instant::now() < deadline, "the cities were not ready within {PATIENCE:?}");
            std::thread::sleep(Duration::from_millis(50));
        }
        server
    }

    /// Process ids of the shims that stay beside the containers.
    pub fn shims(&self) -> Vec<String> {
        let run = self.run_folder().display().to_string();
        let output = Command::new("pgrep").args(["-f", &format!("__shim {run}/")]).output().unwrap();
        String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
    }

    /// Fails if anything of an instance is left.
    pub fn assert_clean(&self) {
        let settings = Settings::new(self.data().join("containers"), self.run_folder(), Vec::new());
        assert_eq!(leaks(&settings), Vec::<String>::new());
    }

    fn run_folder(&self) -> PathBuf {
        let folder = std::path::absolute(self.data().join("containers")).unwrap();
        Path::new("/run/groundplane").join(&Digest::of(folder.as_os_str().as_encoded_bytes()).hex()[..12])
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        // A test that failed leaves its containers behind.
        for shim in self.shims() {
            let _ = Command::new("pkill").args(["-KILL", "-P", &shim]).status();
            let _ = Command::new("kill").args(["-KILL", &shim]).status();
        }
        let run = self.run_folder();
        let _ = Command::new("umount").args(["-l"]).arg(&run).status();
        let _ = std::fs::remove_dir(run);
    }
}

/// The URL that a command ends with.
pub fn url(server: &Server, words: &[&str]) -> String {
    let (out, err) = done(server, words);
    let last = out.lines().last().unwrap_or_default().to_owned();
    assert!(last.starts_with("http://"), "{words:?} ended with {last:?}: {err}");
    last
}

/// What is answered at a URL; the error if nothing is.
pub fn fetch(url: &str) -> Result<String, String> {
    fetch_path(url, "/")
}

/// The same for a path.
pub fn fetch_path(url: &str, path: &str) -> Result<String, String> {
    let address = url.trim_start_matches("http://");
    let mut stream = TcpStream::connect(address).map_err(|error| format!("connecting: {error}"))?;
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let asked = stream.write_all(format!("GET {path} HTTP/1.1\r\nHost: web\r\n\r\n").as_bytes());
    asked.map_err(|error| format!("asking: {error}"))?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).map_err(|error| format!("reading: {error}"))?;
    match answer.split_once("\r\n\r\n") {
        Some((head, text)) if head.starts_with("HTTP/1.1 200") => Ok(text.to_owned()),
        _ => Err(format!("answered {answer:?}")),
    }
}
