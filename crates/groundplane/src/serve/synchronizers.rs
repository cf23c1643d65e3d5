//! `serve --sources`: synchronizers of sources in the server, for small sites. They use the API as any other one does, each with
//! a token of its own service account.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use client::{Access, Client, Overrides, Retries};
use sources::runner::{self, Metrics, Settings};
use tokio_util::sync::CancellationToken;

/// How long to wait for a source that is not there yet.
const PAUSE: Duration = Duration::from_secs(10);

/// Starts them; they end when the token is cancelled.
pub fn start(names: &[String], kubeconfig: &Path) -> CancellationToken {
    let stop = CancellationToken::new();
    for name in names {
        tokio::spawn(run(name.clone(), kubeconfig.to_owned(), stop.clone()));
    }
    stop
}

async fn run(name: String, kubeconfig: PathBuf, stop: CancellationToken) {
    while !stop.is_cancelled() {
        match client_of(&name, &kubeconfig).await {
            Ok(client) => {
                let settings = Settings {
                    name: name.clone(),
                    credentials: Default::default(),
                    told: None,
                    adapter: None,
                    once: false,
                    endpoint: None,
                    interval: None,
                };
                runner::run(&client, settings, Arc::new(Metrics::new(&name)), stop.clone()).await;
            }
            Err(error) => tracing::warn!(source = name, %error, "the synchronizer waits for its Source"),
        }
        tokio::select! {
            () = stop.cancelled() => {}
            () = tokio::time::sleep(PAUSE) => {}
        }
    }
}

/// A client with the identity of the source, not the administrator's.
async fn client_of(name: &str, kubeconfig: &Path) -> Result<Client, client::Error> {
    let overrides = Overrides { kubeconfig: Some(kubeconfig.to_owned()), ..Overrides::default() };
    let access = Access::load(&overrides).await?;
    let administrator = Client::new(access.clone())?;
    let token = sources_cli::token(&administrator, name).await?;
    Ok(Client::new(access.with_token(&token))?.with_retries(Retries::when_busy()))
}
