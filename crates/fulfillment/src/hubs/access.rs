//! Kubeconfigs of hubs. They come through the API, so that nothing in them may name a file or a program of this machine.

use client::kubeconfig::{Access, Entry, Kubeconfig, Overrides};
use serde_json::Value;

/// Why a kubeconfig can't be used for a hub.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidKubeconfig {
    /// It can't be read. What it contains is not told.
    #[error("the kubeconfig can't be read as YAML")]
    Unreadable,
    /// It names something of the machine that the server runs on.
    #[error("the kubeconfig has the field {0}, which names a file or a program; put the data itself into it")]
    Outside(String),
    /// It has no usable context.
    #[error("{0}")]
    Unusable(String),
}

/// Fields of clusters and users that name files or programs.
const OUTSIDE: [&str; 7] = [
    "certificate-authority",
    "client-certificate",
    "client-key",
    "tokenFile",
    "exec",
    "auth-provider",
    "proxy-url",
];

/// How a hub is reached by its kubeconfig.
pub async fn access_of(kubeconfig: &str) -> Result<Access, InvalidKubeconfig> {
    let read = krm::decode::read_yaml(kubeconfig.as_bytes()).map_err(|_| InvalidKubeconfig::Unreadable)?;
    let yaml = read.value;
    let entries = |list: &str, inner: &str| -> Vec<Entry> {
        let all = yaml[list].as_array().into_iter().flatten();
        let entry = |entry: &Value| Entry {
            name: entry["name"].as_str().unwrap_or_default().to_owned(),
            value: entry[inner].clone(),
            folder: std::path::PathBuf::new(),
        };
        all.map(entry).collect()
    };
    let (clusters, users) = (entries("clusters", "cluster"), entries("users", "user"));
    for entry in clusters.iter().chain(&users) {
        if let Some(field) = OUTSIDE.iter().find(|field| entry.value.get(**field).is_some()) {
            return Err(InvalidKubeconfig::Outside((*field).to_owned()));
        }
    }
    let config = Kubeconfig {
        files: Vec::new(),
        current_context: yaml["current-context"].as_str().unwrap_or_default().to_owned(),
        clusters,
        contexts: entries("contexts", "context"),
        users,
    };
    let unusable = |error: client::Error| InvalidKubeconfig::Unusable(error.to_string());
    Access::of(&config, &Overrides::default()).await.map_err(unusable)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(user: &str) -> String {
        format!(
            "clusters: [{{name: c, cluster: {{server: 'https://127.0.0.1:1'}}}}]\nusers: [{{name: u, user: {user}}}]\n\
             contexts: [{{name: x, context: {{cluster: c, user: u}}}}]\ncurrent-context: x\n"
        )
    }

    #[tokio::test]
    async fn a_kubeconfig_reaches_no_file_and_no_program_of_the_server() {
        assert!(access_of(&config("{token: abc}")).await.is_ok());
        for user in ["{exec: {command: id}}", "{tokenFile: /etc/shadow}", "{client-key: /etc/ssl/key}"] {
            let refused = access_of(&config(user)).await.err();
            assert!(matches!(refused, Some(InvalidKubeconfig::Outside(_))), "{user}: {refused:?}");
        }
        assert_eq!(access_of("{").await.err(), Some(InvalidKubeconfig::Unreadable));
    }
}
