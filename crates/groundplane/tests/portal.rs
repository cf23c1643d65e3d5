//! The portal in a real browser: what people do on its pages, found by role and name; and what nobody may do.
#![allow(clippy::unwrap_used, reason = "in a test a failed step is a failed test")]

use std::path::PathBuf;
use std::process::Command;

use testbed::server::Server;
use testbed::{need, parts};

const SCRIPTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/portal");
/// Tokens of an administrator and of two people who belong to one project each.
const TOKENS: &str = "root-token,root,1,system:masters\nann-token,ann,2,\nben-token,ben,3,\n";

/// Runs a script in Node with Playwright against a server with the demo fleet. `GROUNDPLANE_PICTURES` names a folder for
/// screenshots.
fn tell(script: &str) {
    let Some(library) = parts::find("browser/node_modules/playwright-core/index.mjs") else {
        return need::passed_over("Playwright was not fetched; `cargo xtask test` does that");
    };
    let browser = ["/usr/bin/chromium", "/usr/bin/chromium-browser"].map(PathBuf::from);
    let Some(browser) = browser.into_iter().find(|path| path.exists()) else {
        return need::passed_over("Chromium is not installed");
    };
    let folder = tempfile::TempDir::with_prefix("portal-").unwrap();
    let tokens = folder.path().join("tokens.csv");
    std::fs::write(&tokens, TOKENS).unwrap();
    let binary = env!("CARGO_BIN_EXE_groundplane");
    let arguments = ["--demo", "--token-auth-file", tokens.to_str().unwrap()];
    let server = Server::fresh(binary, &arguments).unwrap();
    let ended = Command::new("node")
        .arg(format!("{SCRIPTS}/{script}.mjs"))
        .env("KUBECONFIG", server.kubeconfig())
        .env("GROUNDPLANE", binary)
        .env("PLAYWRIGHT", &library)
        .env("AXE", library.with_file_name("../axe-core/axe.min.js"))
        .env("CHROMIUM", browser)
        .env("NODE_TLS_REJECT_UNAUTHORIZED", "0")
        .env("NODE_NO_WARNINGS", "1")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&ended.stdout).into_owned() + &String::from_utf8_lossy(&ended.stderr);
    eprintln!("{said}");
    assert!(ended.status.success(), "{said}\n{}", server.said());
}

#[test]
fn people_see_and_change_the_fleet() {
    tell("stories");
}

#[test]
fn pages_suit_every_reader_and_give_nothing_away() {
    tell("readers");
}
