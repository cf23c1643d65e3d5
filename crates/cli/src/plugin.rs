//! datumctl plugins: commands of a subject as a program that datumctl starts, with the context that it passes on.

use std::ffi::OsString;
use std::io::Write;
use std::path::Path;
use std::process::Command as Process;

use serde_json::json;

use crate::console::Console;
use crate::failure::Failure;
use crate::global::Global;

/// A plugin of datumctl: `datumctl NAME …` starts `datumctl-NAME …`.
#[derive(Debug, Clone, Copy)]
pub struct Plugin {
    /// The name after `datumctl-`.
    pub name: &'static str,
    /// What it is for, as its manifest says it.
    pub description: &'static str,
    /// Whether its commands are about the current project. Otherwise they are about the platform.
    pub is_of_project: bool,
}

impl Plugin {
    /// Whether these words, the first of which is the program's name, call the plugin.
    pub fn is_called(&self, words: &[OsString]) -> bool {
        let stem = words.first().and_then(|called| Path::new(called).file_stem());
        stem.and_then(|stem| stem.to_str()).and_then(|stem| stem.strip_prefix("datumctl-")) == Some(self.name)
    }

    /// Whether datumctl asks what the plugin is.
    pub fn asks_for_manifest(words: &[OsString]) -> bool {
        words.iter().skip(1).any(|word| word == "--plugin-manifest")
    }

    /// Prints the manifest, and returns the exit code.
    pub fn manifest(&self, mut console: Console) -> u8 {
        let manifest = json!({
            "name": self.name,
            "version": env!("CARGO_PKG_VERSION"),
            "description": self.description,
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

    /// Takes server, credentials and project from datumctl's environment. An explicit --kubeconfig or --server takes
    /// precedence.
    pub fn in_context(&self, global: &mut Global) -> Result<(), Failure> {
        self.in_context_of(global, &|name| std::env::var(name).ok().filter(|value| !value.is_empty()))
    }

    fn in_context_of(
        &self,
        global: &mut Global,
        said: &dyn Fn(&str) -> Option<String>,
    ) -> Result<(), Failure> {
        match self.is_of_project {
            true => global.project = global.project.take().or_else(|| said("DATUM_PROJECT")),
            false => global.project = None,
        }
        if self.is_of_project && global.project.is_none() {
            return Err(Failure::usage(
                "no project set — pass --project or run 'datumctl config set project <name>'",
            ));
        }
        if global.kubeconfig.is_some() || global.server.is_some() {
            return Ok(());
        }
        let Some(host) = said("DATUM_API_HOST") else {
            let is_kubeconfig = said("KUBECONFIG").or_else(|| said("GROUNDPLANE_KUBECONFIG")).is_some();
            let hint =
                format!("run it as \"datumctl {} …\", or pass --server URL or --kubeconfig FILE", self.name);
            return match is_kubeconfig {
                true => Ok(()),
                false => Err(Failure::usage("DATUM_API_HOST is not set").hint(hint)),
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

#[cfg(test)]
mod tests {
    use super::*;

    const PLUGIN: Plugin = Plugin { name: "compute", description: "", is_of_project: true };

    #[test]
    fn a_plugin_is_known_by_the_name_of_its_program() {
        let is_called = |word: &str| PLUGIN.is_called(&[OsString::from(word)]);
        assert!(is_called("/home/me/.datumctl/plugins/datumctl-compute"));
        assert!(!is_called("datumctl-inventory") && !is_called("compute") && !PLUGIN.is_called(&[]));
    }

    #[test]
    fn a_plugin_takes_project_and_server_from_datumctl() {
        let said = |name: &str| match name {
            "DATUM_PROJECT" => Some("acme".to_owned()),
            "DATUM_API_HOST" => Some("api.example.test".to_owned()),
            _ => None,
        };
        let mut global = Global::default();
        PLUGIN.in_context_of(&mut global, &said).unwrap();
        assert_eq!(global.project.as_deref(), Some("acme"));
        assert_eq!(global.server.as_deref(), Some("https://api.example.test"));
        let mut global = Global {
            project: Some("other".to_owned()),
            server: Some("https://x".to_owned()),
            ..Global::default()
        };
        PLUGIN.in_context_of(&mut global, &said).unwrap();
        assert_eq!((global.project.as_deref(), global.server.as_deref()), (Some("other"), Some("https://x")));
        let error = PLUGIN.in_context_of(&mut Global::default(), &|_| None).unwrap_err();
        assert!(error.text().contains("no project set"), "{}", error.text());
    }
}
