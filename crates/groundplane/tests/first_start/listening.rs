//! Where the server listens, and what it says in JSON.

use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;
use testbed::server::Server;

use crate::{GROUNDPLANE, serve};

/// The kubeconfig's address, as clients check it against the certificate.
fn reached(server: &Server) -> String {
    let told = Command::new(GROUNDPLANE)
        .args(["get", "--raw", "/readyz"])
        .env("KUBECONFIG", server.kubeconfig())
        .output()
        .unwrap();
    assert!(told.status.success(), "{}", String::from_utf8_lossy(&told.stderr));
    assert_eq!(String::from_utf8_lossy(&told.stdout), "ok");
    let kubeconfig = std::fs::read_to_string(server.kubeconfig()).unwrap();
    let line = kubeconfig.lines().find(|line| line.contains("server:")).unwrap();
    line.trim().trim_start_matches("server: ").trim_matches('"').to_owned()
}

#[test]
fn a_server_listens_on_names_and_on_every_address() {
    let host = |listen: &str| {
        let folder = TempDir::new().unwrap();
        let server = Server::start_on(GROUNDPLANE, &folder.path().join("data"), listen, &[]).unwrap();
        let url = reached(&server);
        url.rsplit_once(':').unwrap().0.to_owned()
    };
    assert_eq!(host("localhost:0"), "https://localhost");
    // An address of this machine that no certificate names by itself.
    assert_eq!(host("127.0.0.2:0"), "https://127.0.0.2");
    assert_eq!(host("0.0.0.0:0"), "https://127.0.0.1");
    let every = host(":0");
    assert!(["https://localhost", "https://127.0.0.1"].contains(&every.as_str()), "{every}");
    if std::net::TcpListener::bind("[::1]:0").is_ok() {
        assert_eq!(host("[::1]:0"), "https://[::1]");
        assert_eq!(host("[::]:0"), "https://localhost");
    }
}

#[test]
fn a_place_to_listen_at_that_is_none_is_refused_with_what_to_write() {
    for (wrong, next) in [("7451", "127.0.0.1:7451"), ("localhost", "localhost:6443"), ("::1", "[::1]:6443")]
    {
        let ended = serve(&["--listen", wrong]);
        let said = String::from_utf8(ended.stderr).unwrap();
        assert_eq!(ended.status.code(), Some(2), "{said}");
        assert!(said.contains(next), "{wrong}: {said}");
    }
    let folder = TempDir::new().unwrap();
    let data = folder.path().to_str().unwrap();
    let ended = serve(&["--listen", "no-such-host.invalid:7451", "--data", data]);
    let said = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(1), "{said}");
    assert!(said.contains("no-such-host.invalid:7451") && said.contains("--listen"), "{said}");
}

#[test]
fn everything_is_json_when_the_log_is() {
    let is_json = |text: &str| {
        assert!(!text.trim().is_empty());
        for line in text.lines() {
            assert!(serde_json::from_str::<Value>(line).is_ok(), "{line:?} in {text}");
        }
    };
    let json = ["--log-format", "json"];
    let server = Server::fresh(GROUNDPLANE, &[json[0], json[1], "--demo"]).unwrap();
    is_json(&server.said());
    let data = server.data().to_str().unwrap();
    for wrong in [
        &["--data", data, "--listen", "127.0.0.1:0"][..],
        &["--data", data, "--listen", "127.0.0.1:0", "--log", "off"],
        &["--data", data, "--controllers", "no-such", "--listen", "127.0.0.1:0"],
        &["--no-such-flag"],
        &["--listen", "7451"],
        &["--log", "===", "--data", data],
    ] {
        let ended = serve(&[&json[..], wrong].concat());
        assert!(!ended.status.success());
        is_json(&String::from_utf8(ended.stderr).unwrap());
        assert_eq!(ended.stdout, b"");
    }
}
