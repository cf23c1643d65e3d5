//! Tokens as they are stored: one file for an issuer and a client, which its owner alone can read.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use krm::time::Moment;
use ring::digest;
use serde_json::{Value, json};
use zeroize::Zeroizing;

use super::issuer::{Issuer, Tokens};
use crate::error::{Error, Result};
use crate::kubeconfig::now;

/// A token is refreshed this long before it runs out, in seconds.
const EARLY: i64 = 30;

/// A login.
pub struct StoredLogin {
    /// The issuer's URL.
    pub issuer: String,
    /// The OAuth client.
    pub client: String,
    /// The tokens.
    pub tokens: Tokens,
    authority: Option<String>,
}

impl StoredLogin {
    /// A login that was just made.
    pub fn new(issuer: &Issuer, tokens: Tokens, authority: Option<&Path>) -> StoredLogin {
        let authority = authority.map(|file| std::path::absolute(file).unwrap_or_else(|_| file.to_owned()));
        StoredLogin {
            issuer: issuer.url.clone(),
            client: issuer.client.clone(),
            tokens,
            authority: authority.map(|file| file.display().to_string()),
        }
    }

    /// The login at an issuer, with a token that has not run out.
    pub async fn current(issuer: &str, client: &str) -> Result<StoredLogin> {
        let file = file_of(issuer.trim_end_matches('/'), client)?;
        let read = || StoredLogin::read(&file).ok_or_else(|| needed(issuer, client, "nobody is logged in"));
        let login = read()?;
        if login.is_good() {
            return Ok(login);
        }
        // One refreshes, the others wait for what it gets: a refresh token is good once.
        let lock = lock(&file)?;
        let mut login = read()?;
        if !login.is_good() {
            login.refresh().await?;
            login.write()?;
        }
        drop(lock);
        Ok(login)
    }

    /// All logins.
    pub fn all() -> Result<Vec<StoredLogin>> {
        let folder = folder()?;
        let Ok(entries) = std::fs::read_dir(&folder) else { return Ok(Vec::new()) };
        let files = entries.flatten().map(|entry| entry.path());
        Ok(files
            .filter(|file| file.extension().is_some_and(|end| end == "json"))
            .filter_map(|file| StoredLogin::read(&file))
            .collect())
    }

    fn read(file: &Path) -> Option<StoredLogin> {
        let bytes = Zeroizing::new(std::fs::read(file).ok()?);
        let value: Value = serde_json::from_slice(&bytes).ok()?;
        let text = |field: &str| value[field].as_str().filter(|text| !text.is_empty()).map(str::to_owned);
        Some(StoredLogin {
            issuer: text("issuer")?,
            client: text("clientId")?,
            tokens: Tokens {
                id: Zeroizing::new(text("idToken")?),
                refresh: text("refreshToken").map(Zeroizing::new),
            },
            authority: text("issuerCa"),
        })
    }

    /// Writes it, for its owner alone and never by halves.
    pub fn write(&self) -> Result<()> {
        let folder = folder()?;
        let file = file_of(&self.issuer, &self.client)?;
        let failed = |error: std::io::Error| {
            Error::Config(format!("storing the login in {}: {error}", file.display()))
        };
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder).map_err(failed)?;
        let value = json!({
            "issuer": self.issuer, "clientId": self.client, "idToken": self.tokens.id.as_str(),
            "refreshToken": self.tokens.refresh.as_ref().map(|token| token.as_str()), "issuerCa": self.authority,
        });
        let text = Zeroizing::new(value.to_string());
        let beside = file.with_extension(format!("{}.new", std::process::id()));
        let written = (|| {
            let mut new =
                OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&beside)?;
            new.write_all(text.as_bytes())?;
            new.sync_all()?;
            std::fs::rename(&beside, &file)
        })();
        written.map_err(failed)
    }

    /// Deletes it.
    pub fn delete(&self) -> Result<()> {
        let file = file_of(&self.issuer, &self.client)?;
        let gone = std::fs::remove_file(&file);
        gone.map_err(|error| Error::Config(format!("deleting {}: {error}", file.display())))
    }

    /// When the token runs out.
    pub fn expiry(&self) -> String {
        let seconds = self.tokens.claim("exp").as_i64().unwrap_or(0);
        Moment { seconds, nanoseconds: 0 }.to_string()
    }

    /// When the token runs out, in seconds since 1970.
    pub(crate) fn expires(&self) -> Option<i64> {
        self.tokens.claim("exp").as_i64().map(|exp| exp.saturating_sub(EARLY))
    }

    fn is_good(&self) -> bool {
        self.expires().is_some_and(|expires| expires > now())
    }

    async fn refresh(&mut self) -> Result<()> {
        let ended = |why: &str| needed(&self.issuer, &self.client, why);
        let Some(token) = self.tokens.refresh.clone() else {
            return Err(ended("the login has run out, and can't be refreshed,"));
        };
        let issuer = self.reach().await?;
        let form = [("grant_type", "refresh_token"), ("refresh_token", token.as_str())];
        match issuer.tokens(&form).await? {
            Ok(tokens) => {
                // Some issuers give no new refresh token: then the old one goes on.
                let refresh = tokens.refresh.or(Some(token));
                self.tokens = Tokens { id: tokens.id, refresh };
                Ok(())
            }
            Err(error) => Err(ended(&format!("the login has ended ({error})"))),
        }
    }

    /// Asks the issuer to take the login back.
    pub async fn revoke(&self) -> Result<()> {
        let Some(token) = &self.tokens.refresh else { return Ok(()) };
        let issuer = self.reach().await?;
        if issuer.endpoint("revocation_endpoint").is_err() {
            return Ok(());
        }
        issuer.post("revocation_endpoint", &[("token", token.as_str())]).await.map(drop)
    }

    async fn reach(&self) -> Result<Issuer> {
        let authority = self.authority.as_ref().map(PathBuf::from);
        Issuer::discover(&self.issuer, &self.client, None, authority.as_deref()).await
    }
}

/// Holds others off while a login is refreshed.
fn lock(file: &Path) -> Result<File> {
    let path = file.with_extension("lock");
    let failed = |error: std::io::Error| Error::Config(format!("locking {}: {error}", path.display()));
    let lock = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(&path)
        .map_err(failed)?;
    lock.lock().map_err(failed)?;
    Ok(lock)
}

fn file_of(issuer: &str, client: &str) -> Result<PathBuf> {
    let digest = digest::digest(&digest::SHA256, format!("{issuer}\0{client}").as_bytes());
    let name: String = digest.as_ref().iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    Ok(folder()?.join(format!("{name}.json")))
}

fn folder() -> Result<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let base = set("XDG_CONFIG_HOME").or_else(|| Some(set("HOME")?.join(".config")));
    let base = base.ok_or_else(|| {
        Error::Config("no directory to store the login in: set HOME or XDG_CONFIG_HOME".to_owned())
    })?;
    Ok(base.join("groundplane").join("login"))
}

/// Somebody has to log in again.
fn needed(issuer: &str, client: &str, why: &str) -> Error {
    Error::LoginNeeded { why: why.to_owned(), issuer: issuer.to_owned(), client: client.to_owned() }
}
