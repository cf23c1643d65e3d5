//! Commands that kubectl has and we have not.

use clap::error::{ContextKind, ContextValue, ErrorKind};

/// They work with our servers as far as there is something for them to work on.
const THEIRS: [&str; 23] = [
    "attach",
    "autoscale",
    "certificate",
    "cluster-info",
    "cordon",
    "cp",
    "debug",
    "drain",
    "exec",
    "expose",
    "kustomize",
    "logs",
    "plugin",
    "port-forward",
    "proxy",
    "rollout",
    "run",
    "scale",
    "set",
    "taint",
    "top",
    "uncordon",
    "kuberc",
];

/// What to say to somebody who used such a command.
pub fn refused(error: &clap::Error) -> Option<String> {
    let (ErrorKind::InvalidSubcommand, Some(ContextValue::String(word))) =
        (error.kind(), error.get(ContextKind::InvalidSubcommand))
    else {
        return None;
    };
    THEIRS.contains(&word.as_str()).then(|| {
        format!(
            "error: groundplane has no command '{word}'\nhint: kubectl has, and works with this server: kubectl {word} --help"
        )
    })
}
