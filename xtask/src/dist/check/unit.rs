//! The systemd unit, as far as a server can be started by it without systemd.

use std::path::Path;
use std::process::Command;

use super::root::{HOST, Root};
use super::server::Start;
use super::{create, ensure, run};
use crate::step::Failure;

const UNIT: &str = "usr/lib/systemd/system/groundplane.service";

/// How the unit in a root starts the server: its user, its environment with the settings of /etc/default, its
/// command. It listens on a free port of the loopback address, by the settings that a person would change.
pub fn start(root: &Root) -> Result<Start, Failure> {
    let unit = root.read(UNIT)?;
    let value = |key: &str| unit.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('='));
    let values =
        |key: &'static str| unit.lines().filter_map(move |line| line.strip_prefix(key)?.strip_prefix('='));
    let wanted = |key: &str| value(key).ok_or_else(|| Failure(format!("the unit has no {key}=")));

    let mut environment: Vec<(String, String)> = values("Environment").filter_map(pair).collect();
    let settings = root.read(wanted("EnvironmentFile")?.trim_start_matches('-'))?;
    environment.extend(settings.lines().filter_map(pair));
    environment.push(("GROUNDPLANE_LISTEN".to_owned(), "127.0.0.1:0".to_owned()));
    environment.push(("GROUNDPLANE_FLAGS".to_owned(), format!("--name {HOST}")));

    let set =
        |name: &str| environment.iter().rev().find(|(key, _)| key == name).map(|(_, value)| value.clone());
    let mut words = Vec::new();
    for word in wanted("ExecStart")?.split_whitespace() {
        // systemd keeps ${NAME} as one word, and splits $NAME where it stands alone.
        if let Some(name) = word.strip_prefix("${").and_then(|word| word.strip_suffix('}')) {
            words.push(set(name).unwrap_or_default());
        } else if let Some(name) = word.strip_prefix('$') {
            words.extend(set(name).unwrap_or_default().split_whitespace().map(str::to_owned));
        } else {
            words.push(word.to_owned());
        }
    }
    let program = words.first().cloned().unwrap_or_default();
    ensure(root.has(&program), || format!("the unit starts {program}, which is not in the package"))?;
    Ok(Start { user: root.user(wanted("User")?)?, environment, words })
}

fn pair(line: &str) -> Option<(String, String)> {
    let line = line.trim();
    let (name, value) = line.split_once('=').filter(|_| !line.starts_with('#'))?;
    Some((name.to_owned(), value.trim_matches('"').to_owned()))
}

/// Has systemd read the unit, where systemd is installed: what it does not understand it would ignore at run time.
pub fn verify(root: &Root, folder: &Path) -> Result<(), Failure> {
    if !Path::new("/usr/bin/systemd-analyze").exists() {
        println!("the unit is not verified: there is no systemd-analyze");
        return Ok(());
    }
    let units = folder.join("usr/lib/systemd/system");
    create(&units)?;
    let failed = |error: std::io::Error| Failure(format!("{}: {error}", units.display()));
    // The targets that the unit names, and the program it starts.
    for entry in std::fs::read_dir("/usr/lib/systemd/system").map_err(failed)?.flatten() {
        let path = entry.path();
        if path.extension().is_some_and(|ending| ending == "target" || ending == "slice") && path.is_file() {
            std::fs::copy(&path, units.join(entry.file_name())).map_err(failed)?;
        }
    }
    std::fs::copy(root.path.join(UNIT), units.join("groundplane.service")).map_err(failed)?;
    let program = folder.join("usr/bin/groundplane");
    create(&folder.join("usr/bin"))?;
    std::fs::copy("/bin/true", program).map_err(failed)?;
    let mut command = Command::new("systemd-analyze");
    let said = run(command.arg(format!("--root={}", folder.display())).args([
        "--man=no",
        "verify",
        "groundplane.service",
    ]))?;
    ensure(said.trim().is_empty(), || format!("systemd-analyze verify says {said}"))?;
    let mut command = Command::new("systemd-analyze");
    command.arg(format!("--root={}", folder.display())).args([
        "security",
        "--offline=true",
        "--threshold=20",
    ]);
    // It ends with 1 above 2.0 of 10.
    run(command.args(["--no-pager", "groundplane.service"])).map(drop)
}
