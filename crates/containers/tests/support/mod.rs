//! What the tests of containers share: images made from nothing, a real registry, a machine of their own.

#![allow(dead_code, reason = "every test file uses a part of it")]

pub mod image;
pub mod liar;
pub mod registry;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use containers::oci::{Oci, Settings, leaks};
use containers::{Backoff, InstanceId, InstanceState, Runtime};

/// Whether real containers can run here. Skips the calling test otherwise.
pub fn can_run() -> bool {
    let is_there = |program: &str| Command::new(program).arg("--version").output().is_ok();
    if !rustix::process::geteuid().is_root() {
        require::missing("containers need root");
        return false;
    }
    for program in ["runc", "docker-registry"] {
        if !is_there(program) {
            require::missing(&format!("the program {program} is missing"));
            return false;
        }
    }
    true
}

/// Whether layers can be unpacked here: their files have owners. Skips the calling test otherwise.
pub fn is_root() -> bool {
    let is_root = rustix::process::geteuid().is_root();
    if !is_root {
        require::missing("unpacking layers needs root");
    }
    is_root
}

/// The static program that images are made of.
pub fn app() -> &'static Path {
    static APP: OnceLock<PathBuf> = OnceLock::new();
    APP.get_or_init(|| {
        let source = include_str!("app.rs");
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let name = &containers::image::Digest::of(source.as_bytes()).hex()[..16].to_owned();
        let app = folder.join(format!("app-{name}"));
        if !app.exists() {
            // Compiled beside and moved: other test programs may be doing the same.
            let new = folder.join(format!("app-{name}.{}", std::process::id()));
            let source_file = folder.join(format!("app-{name}.{}.rs", std::process::id()));
            std::fs::write(&source_file, source).unwrap();
            let compiled = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| OsString::from("rustc")))
                .args([
                    "--edition=2024",
                    "--crate-name=app",
                    "-Copt-level=1",
                    "-Ctarget-feature=+crt-static",
                    "-Cstrip=symbols",
                    "-o",
                ])
                .arg(&new)
                .arg(&source_file)
                .status();
            assert!(compiled.unwrap().success());
            std::fs::remove_file(source_file).unwrap();
            std::fs::rename(new, &app).unwrap();
        }
        app
    })
}

/// Folders of a machine of its own, which are checked for leaks and removed at the end.
pub struct Machine {
    pub folder: tempfile::TempDir,
    pub settings: Settings,
}

impl Machine {
    pub fn new() -> Self {
        let folder = tempfile::Builder::new().prefix("containers-").tempdir().unwrap();
        let shim = vec![OsString::from(env!("CARGO_BIN_EXE_containers-shim"))];
        let mut settings = Settings::new(folder.path().join("data"), folder.path().join("run"), shim);
        settings.backoff = Backoff { first: Duration::from_millis(100), ..Backoff::default() };
        settings.images.registry.idle = Duration::from_secs(2);
        // The folder of a test is its owner's alone; the root of a user namespace has to pass through it.
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o711)).unwrap();
        Self { folder, settings }
    }

    pub async fn open(&self) -> Oci {
        Oci::open(self.settings.clone()).await.unwrap()
    }

    /// Fails if anything is left on the machine.
    pub fn assert_clean(&self) {
        assert_eq!(leaks(&self.settings), Vec::<String>::new());
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        let _ = rustix::mount::unmount(&self.settings.run, rustix::mount::UnmountFlags::DETACH);
    }
}

/// Waits until the state of an instance is as told.
pub async fn until(
    runtime: &dyn Runtime,
    id: &InstanceId,
    is_so: impl Fn(&InstanceState) -> bool,
) -> InstanceState {
    let start = Instant::now();
    loop {
        let state = runtime.observe(id).await.unwrap();
        if is_so(&state) {
            return state;
        }
        assert!(start.elapsed() < Duration::from_secs(60), "it never came to it: {state:#?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

pub fn id(name: &str) -> InstanceId {
    InstanceId::new(name).unwrap()
}

/// The body of `GET path` at an address, or why there is none.
pub async fn get(address: std::net::SocketAddr, path: &str) -> Result<String, String> {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let words = |error: std::io::Error| error.to_string();
    let mut stream = tokio::net::TcpStream::connect(address).await.map_err(words)?;
    stream.write_all(format!("GET {path} HTTP/1.0\r\n\r\n").as_bytes()).await.map_err(words)?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.map_err(words)?;
    match answer.split_once("\r\n\r\n") {
        Some((head, body)) if head.contains(" 200 ") => Ok(body.to_owned()),
        _ => Err(format!("answered {answer:?}")),
    }
}
