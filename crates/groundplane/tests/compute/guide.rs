//! Follows docs/compute/ten-minutes.md as a reader does.

use std::path::Path;
use std::process::Command;

use testbed::server::Server;

use crate::GROUNDPLANE;
use crate::image::{Image, Registry};
use crate::machine::{Machine, can_run};

/// A command of the page, and what it is shown to print.
struct Step {
    command: String,
    shown: Vec<String>,
}

#[test]
fn the_ten_minutes_are_as_the_page_says() {
    if !can_run() {
        return;
    }
    if Command::new("curl").arg("--version").output().is_err() {
        return require::missing("the program curl is missing");
    }
    let (machine, registry) = (Machine::new(), Registry::start());
    registry.push("1", &Image::of(&["serve", "version 1"]));
    registry.push("2", &Image::of(&["serve", "version 2"]));
    let repository = registry.reference("1").trim_end_matches(":1").to_owned();
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/compute/ten-minutes.md");
    let page = std::fs::read_to_string(page).unwrap();
    let steps = steps(&page);
    assert!(steps.len() > 12, "the page has {} commands", steps.len());
    assert_eq!(steps[0].command, "groundplane serve --data /var/lib/groundplane");
    assert_eq!(steps[1].command, "export KUBECONFIG=/var/lib/groundplane/admin.kubeconfig");
    let server = Server::start_plain(GROUNDPLANE, &machine.data(), None).unwrap();
    assert_eq!(server.kubeconfig().file_name().unwrap(), "admin.kubeconfig");
    let programs = Path::new(GROUNDPLANE).parent().unwrap().display();
    let path = format!("{programs}:{}", std::env::var("PATH").unwrap());
    for Step { command, shown } in &steps[2..] {
        let typed = command.replace("ghcr.io/acme/web", &repository);
        let output = Command::new("bash")
            // Data and messages in one, as on a terminal.
            .args(["-c", &format!("{{ {typed}; }} 2>&1")])
            .env("PATH", &path)
            .env("KUBECONFIG", server.kubeconfig())
            .output()
            .unwrap();
        let printed = String::from_utf8(output.stdout).unwrap().replace(&repository, "ghcr.io/acme/web");
        let is_failure = shown.iter().any(|line| line.starts_with("Next: "));
        assert_eq!(!output.status.success(), is_failure, "{command}: {}\n{printed}", output.status);
        assert!(
            is_as_shown(&printed, shown),
            "{command} printed\n{printed}\nand the page shows\n{}",
            shown.join("\n")
        );
    }
    machine.assert_clean();
    server.stop();
}

fn steps(page: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut is_inside = false;
    for line in page.lines() {
        match line {
            "```console" => is_inside = true,
            "```" => is_inside = false,
            line if is_inside => match line.strip_prefix("$ ") {
                Some(command) => steps.push(Step { command: command.to_owned(), shown: Vec::new() }),
                None => steps.last_mut().unwrap().shown.push(line.to_owned()),
            },
            _ => {}
        }
    }
    steps
}

/// Whether the lines that are shown come in this order. `…` stands for anything, alone for any number of lines.
fn is_as_shown(printed: &str, shown: &[String]) -> bool {
    let mut lines = printed.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    let mut is_open = false;
    for wanted in shown {
        if wanted == "…" {
            is_open = true;
            continue;
        }
        let wanted = wanted.split_whitespace().collect::<Vec<_>>().join(" ");
        loop {
            let Some(line) = lines.next() else { return wanted.is_empty() };
            if fits(&line, &wanted) {
                break;
            }
            if !is_open && !line.is_empty() {
                return false;
            }
        }
        is_open = false;
    }
    true
}

fn fits(line: &str, wanted: &str) -> bool {
    let mut rest = line;
    let parts: Vec<&str> = wanted.split('…').map(str::trim).collect();
    for (index, part) in parts.iter().enumerate() {
        match rest.find(part) {
            Some(0) => rest = &rest[part.len()..],
            Some(at) if index > 0 => rest = &rest[at + part.len()..],
            _ => return false,
        }
    }
    rest.trim().is_empty() || parts.last() == Some(&"") || wanted.ends_with('…')
}
