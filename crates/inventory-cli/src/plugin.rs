//! The datumctl plugin `datumctl-inventory`: the same commands under another program name.

use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::path::Path;
use std::process::Command as Process;

use clap::{CommandFactory, FromArgMatches, Parser};
use cli::{Console, Failure, Global};
use serde_json::json;

const NAME: &str = "datumctl-inventory";

/// List and query the physical inventory.
#[derive(Parser)]
#[command(name = "inventory", bin_name = "datumctl inventory", version, about)]
struct Whole {
    #[command(flatten)]
    global: Global,

    #[command(flatten)]
    arguments: crate::Arguments,
}

/// Whether the program was called by the plugin's name.
pub fn is_plugin(called: Option<&OsStr>) -> bool {
    called.and_then(|called| Path::new(called).file_stem()).is_some_and(|name| name == NAME)
}

/// Runs as the plugin and returns the exit code.
pub fn run(words: Vec<OsString>, console: Console) -> u8 {
    if words.iter().skip(1).any(|word| word == "--plugin-manifest") {
        return manifest(console);
    }
    let root = Whole::command();
    let words = cli::plain_booleans(&root, words);
    let matches = root.clone().get_matches_from(words);
    let whole = Whole::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    let mut global = whole.global;
    cli::run_with(global.clone(), console, root, async move |session| {
        in_context(&mut global, &|name| std::env::var(name).ok().filter(|value| !value.is_empty()))?;
        session.global = global;
        crate::run(whole.arguments, session).await
    })
}

fn manifest(mut console: Console) -> u8 {
    let manifest = json!({
        "name": "inventory",
        "version": env!("CARGO_PKG_VERSION"),
        "description": "List and query the physical inventory: racks, traces, impact and space",
        "min_datumctl_version": "0.5.0",
        "api_version": 1,
        "min_api_version": 1,
    });
    let printed = writeln!(console.out, "{}", krm::encode::to_json_pretty(&manifest));
    match printed.and_then(|()| console.out.flush()) {
        Ok(()) => 0,
        Err(_) => 1,
    }
}

/// Takes server and credentials from datumctl's environment. An explicit --kubeconfig or --server takes precedence.
fn in_context(global: &mut Global, said: &dyn Fn(&str) -> Option<String>) -> Result<(), Failure> {
    // The inventory belongs to the platform, so the current project does not matter.
    global.project = None;
    if global.kubeconfig.is_some() || global.server.is_some() {
        return Ok(());
    }
    let Some(host) = said("DATUM_API_HOST") else {
        let is_kubeconfig = said("KUBECONFIG").or_else(|| said("GROUNDPLANE_KUBECONFIG")).is_some();
        return match is_kubeconfig {
            true => Ok(()),
            false => Err(Failure::usage("DATUM_API_HOST is not set")
                .hint("run it as \"datumctl inventory …\", or pass --server URL or --kubeconfig FILE")),
        };
    };
    let has_scheme = host.starts_with("https://") || host.starts_with("http://");
    // Contexts of a kubeconfig belong to other servers: neither their CA nor their users apply here.
    global.kubeconfig = Some("/dev/null".into());
    global.server = Some(if has_scheme { host } else { format!("https://{host}") });
    if global.token.is_none()
        && let Some(helper) = said("DATUM_CREDENTIALS_HELPER")
    {
        global.token = Some(token(&helper, said("DATUM_SESSION").as_deref())?);
    }
    Ok(())
}

/// A bearer token from datumctl: `<helper> auth get-token [--session NAME]`.
fn token(helper: &str, session: Option<&str>) -> Result<String, Failure> {
    let mut command = Process::new(helper);
    command.args(["auth", "get-token"]);
    if let Some(session) = session {
        command.args(["--session", session]);
    }
    let output = command
        .output()
        .map_err(|error| Failure::other(format!("cannot run {helper} to get a token: {error}")))?;
    let token = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    if !output.status.success() || token.is_empty() {
        let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        return Err(
            Failure::other(format!("{helper} returned no token: {said}")).hint("run \"datumctl auth login\"")
        );
    }
    Ok(token)
}
