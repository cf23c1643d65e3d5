//! Instances that really run: deployed from an image on disk, rolled, kept over a kill of the server, and gone at the end.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use ::containers::image::Digest;
use serde_json::{Value, json};
use testbed::server::Server;

use crate::commands::{compute, done, json as output};
use crate::{GROUNDPLANE, PATIENCE};

/// A web server that answers every request with its argument, and ends when it is asked to.
const PROGRAM: &str = r#"
use std::io::{Read, Write};
unsafe extern "C" {
    fn signal(number: i32, handler: extern "C" fn(i32)) -> usize;
    fn _exit(code: i32) -> !;
}
extern "C" fn end(_: i32) {
    unsafe { _exit(0) }
}
fn main() {
    // The first process of a namespace gets no signal that it has no handler for.
    unsafe { signal(15, end) };
    let text = std::env::args().nth(1).unwrap();
    let listener = std::net::TcpListener::bind("0.0.0.0:80").unwrap();
    println!("serving");
    for stream in listener.incoming() {
        let Ok(mut stream) = stream else { continue };
        let _ = stream.read(&mut [0; 4096]);
        let _ = write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{text}", text.len());
    }
}
"#;

const FLAGS: [&str; 4] = ["--local-cities", "DFW", "--instances", "containers"];

#[test]
fn real_containers_roll_outlive_the_server_and_leave_nothing() {
    if !can_run() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = (image(folder.path(), "hello"), image(folder.path(), "world"));
    let data = folder.path().join("data");
    let server = ready(Server::start(GROUNDPLANE, &data, &FLAGS).unwrap());

    done(&server, &["deploy", "web", "--image", &first, "--city", "DFW", "--port", "80", "--timeout", "60s"]);
    assert_eq!(answer(&server), "hello");
    let before = shims(&data);
    assert_eq!(before.len(), 1, "{before:?}");

    // Killed, not stopped: the container goes on, and the next server takes it up as it is.
    server.kill();
    assert_eq!(shims(&data), before);
    let server = ready(Server::start(GROUNDPLANE, &data, &FLAGS).unwrap());
    assert_eq!(answer(&server), "hello");
    assert_eq!(shims(&data), before);

    let missing = format!("oci:{}:1", folder.path().join("missing").display());
    let output = compute(&server, &["deploy", "web", "--image", &missing, "--timeout", "90s"]);
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(3), "{told}");
    assert!(told.contains("the image can't be pulled") && told.contains("rollout undo web"), "{told}");

    done(&server, &["deploy", "web", "--image", &second, "--timeout", "90s"]);
    assert_eq!(answer(&server), "world");
    done(&server, &["destroy", "web", "--yes"]);
    assert_eq!(shims(&data), Vec::<String>::new());
    let namespaces = Command::new("ip").args(["netns", "list"]).output().unwrap();
    let namespaces = String::from_utf8(namespaces.stdout).unwrap();
    assert!(!namespaces.contains(&prefix(&data)), "{namespaces}");
    let run = run_folder(&data);
    server.stop();
    let ended = Command::new("umount").arg(&run).status().unwrap();
    assert!(ended.success());
    std::fs::remove_dir(run).unwrap();
}

fn can_run() -> bool {
    if !rustix::process::geteuid().is_root() {
        require::missing("containers need root");
        return false;
    }
    if Command::new("runc").arg("--version").output().is_err() {
        require::missing("the program runc is missing");
        return false;
    }
    true
}

/// Waits until the city can be deployed to.
fn ready(server: Server) -> Server {
    let deadline = Instant::now() + PATIENCE;
    while done(&server, &["cities", "-o", "name"]).0 != "DFW\n" {
        assert!(Instant::now() < deadline, "the city was not ready within {PATIENCE:?}");
        std::thread::sleep(Duration::from_millis(50));
    }
    server
}

/// What the instance answers, asked from within its network.
fn answer(server: &Server) -> String {
    let instances = output(server, &["instances"]);
    let address = instances[0]["internalIP"].as_str().unwrap().to_owned();
    let namespaces = Command::new("ip").args(["netns", "list"]).output().unwrap();
    let namespaces = String::from_utf8(namespaces.stdout).unwrap();
    let network = format!("{}-n-", prefix(server.data()));
    let network = namespaces.split_whitespace().find(|name| name.starts_with(&network)).unwrap();
    let request = format!("exec 3<>/dev/tcp/{address}/80; printf 'GET / HTTP/1.0\\r\\n\\r\\n' >&3; cat <&3");
    let output =
        Command::new("ip").args(["netns", "exec", network, "bash", "-c", &request]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    text.rsplit("\r\n").next().unwrap_or_default().to_owned()
}

/// Process ids of the shims that stay beside the containers of a server.
fn shims(data: &Path) -> Vec<String> {
    let run = run_folder(data).display().to_string();
    let output = Command::new("pgrep").args(["-f", &format!("__shim {run}/")]).output().unwrap();
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

fn run_folder(data: &Path) -> PathBuf {
    let folder = std::path::absolute(data.join("containers")).unwrap();
    Path::new("/run/groundplane").join(&Digest::of(folder.as_os_str().as_encoded_bytes()).hex()[..12])
}

/// What namespaces of a server's containers begin with.
fn prefix(data: &Path) -> String {
    format!("gp-{}", &Digest::of(run_folder(data).as_os_str().as_encoded_bytes()).hex()[..8])
}

/// An image on disk whose program answers with a text; its reference.
fn image(folder: &Path, text: &str) -> String {
    let program = folder.join("program");
    if !program.exists() {
        let source = folder.join("program.rs");
        std::fs::write(&source, PROGRAM).unwrap();
        let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let flags = ["--edition=2024", "-Ctarget-feature=+crt-static", "-Cstrip=symbols", "-o"];
        let compiled = Command::new(rustc).args(flags).arg(&program).arg(&source).status().unwrap();
        assert!(compiled.success());
    }
    let layout = folder.join(text);
    let blobs = layout.join("blobs/sha256");
    std::fs::create_dir_all(&blobs).unwrap();
    let put = |bytes: &[u8], media: &str| -> Value {
        let digest = Digest::of(bytes);
        std::fs::write(blobs.join(digest.hex()), bytes).unwrap();
        json!({"mediaType": media, "digest": digest.to_string(), "size": bytes.len()})
    };
    let mut layer = tar::Builder::new(Vec::new());
    layer.append_path_with_name(&program, "program").unwrap();
    let layer = layer.into_inner().unwrap();
    let config = json!({
        "architecture": if cfg!(target_arch = "aarch64") { "arm64" } else { "amd64" }, "os": "linux",
        "config": {"Entrypoint": ["/program", text]},
        "rootfs": {"type": "layers", "diff_ids": [Digest::of(&layer).to_string()]},
    });
    let layer = put(&layer, "application/vnd.oci.image.layer.v1.tar");
    let config = put(config.to_string().as_bytes(), "application/vnd.oci.image.config.v1+json");
    let media = "application/vnd.oci.image.manifest.v1+json";
    let manifest = json!({"schemaVersion": 2, "mediaType": media, "config": config, "layers": [layer]});
    let mut manifest = put(manifest.to_string().as_bytes(), media);
    manifest["annotations"] = json!({"org.opencontainers.image.ref.name": "1"});
    let index = json!({"schemaVersion": 2, "manifests": [manifest]});
    std::fs::write(layout.join("index.json"), index.to_string()).unwrap();
    let mut version = std::fs::File::create(layout.join("oci-layout")).unwrap();
    version.write_all(br#"{"imageLayoutVersion":"1.0.0"}"#).unwrap();
    format!("oci:{}:1", layout.display())
}
