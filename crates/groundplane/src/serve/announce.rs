//! What `serve` tells whoever started it: that it starts, that it is ready, and what to try next.
//!
//! With `--log-format json` every line on stderr is JSON, and so is the one line on stdout.

use std::path::Path;

use serde_json::json;

use crate::log::Format;
use crate::{modules, shell};

/// Says that the demo starts, before anything that takes time.
pub fn starting_demo(format: Format, data: &Path, is_temporary: bool) {
    let kind = if is_temporary { "a temporary data folder" } else { "data folder" };
    say(format, &format!("Starting Groundplane with a demo fleet in {kind}, {} …", data.display()));
}

/// Says that requests are answered. Data goes to stdout: scripts may `eval` it.
#[expect(clippy::print_stdout, reason = "this is what the command gives")]
pub fn ready(format: Format, url: &str, kubeconfig: &Path, is_demo: bool) {
    if format == Format::Json {
        tracing::info!(url, kubeconfig = %kubeconfig.display(), "ready");
        println!("{}", json!({"ready": true, "url": url, "kubeconfig": kubeconfig}));
        return;
    }
    eprintln!("Groundplane is ready at {url}. To use it:");
    println!("export KUBECONFIG={}", shell::quoted(&kubeconfig.display().to_string()));
    if is_demo {
        let program = shell::program();
        eprintln!("In another terminal, after that line, try these on the demo fleet:");
        for demo in modules::demos() {
            for line in demo.commands {
                eprintln!("  {program} {line}");
            }
            eprintln!("{}", demo.note);
        }
    }
}

/// Says something that is for people, in the format of the log.
pub fn say(format: Format, text: &str) {
    match format {
        Format::Json => tracing::info!("{text}"),
        Format::Text => eprintln!("{text}"),
    }
}
