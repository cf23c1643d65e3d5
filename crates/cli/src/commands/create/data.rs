//! Config maps and secrets from texts and files.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::How;
use crate::failure::Failure;

/// Where entries come from.
#[derive(clap::Args, Debug)]
pub struct Data {
    /// Name of the object.
    #[arg(value_name = "NAME")]
    pub name: String,

    /// Entry as KEY=VALUE. Can be repeated.
    #[arg(long, value_name = "KEY=TEXT")]
    from_literal: Vec<String>,

    /// Entry from a file, as FILE or KEY=FILE, or all files of a directory. Can be repeated.
    #[arg(long, value_name = "[KEY=]FILE")]
    from_file: Vec<String>,

    /// File with lines of KEY=VALUE.
    #[arg(long, value_name = "FILE")]
    from_env_file: Vec<PathBuf>,

    #[command(flatten)]
    pub how: How,
}

/// Create a Secret.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  groundplane create secret generic bmc --from-literal=password=x\n  \
    groundplane create secret tls site --cert=site.crt --key=site.key")]
pub struct Secret {
    #[command(subcommand)]
    kind: SecretKind,
}

#[derive(clap::Subcommand, Debug)]
enum SecretKind {
    /// Create a Secret from values and files.
    #[command(after_help = "Examples:\n  groundplane create secret generic bmc --from-file=password=bmc.txt")]
    Generic {
        #[command(flatten)]
        data: Data,
        /// Type of the Secret.
        #[arg(long = "type", value_name = "TYPE")]
        kind: Option<String>,
    },
    /// Create a TLS Secret from a certificate and its key.
    #[command(after_help = "Examples:\n  groundplane create secret tls site --cert=site.crt --key=site.key")]
    Tls {
        /// Name of the object.
        #[arg(value_name = "NAME")]
        name: String,
        /// File with the certificate, in PEM.
        #[arg(long, value_name = "FILE")]
        cert: PathBuf,
        /// File with the private key, in PEM.
        #[arg(long, value_name = "FILE")]
        key: PathBuf,
        #[command(flatten)]
        how: How,
    },
}

impl Data {
    /// The config map with its entries.
    pub fn config_map(&self, mut object: Value) -> Result<Value, Failure> {
        let (mut texts, mut binaries) = (Map::new(), Map::new());
        for (key, bytes) in self.entries()? {
            match String::from_utf8(bytes) {
                Ok(text) => texts.insert(key, text.into()),
                Err(error) => binaries.insert(key, krm::base64::encode(error.as_bytes()).into()),
            };
        }
        for (field, entries) in [("data", texts), ("binaryData", binaries)] {
            if !entries.is_empty() {
                object[field] = Value::Object(entries);
            }
        }
        Ok(object)
    }

    fn entries(&self) -> Result<Vec<(String, Vec<u8>)>, Failure> {
        let mut entries: Vec<(String, Vec<u8>)> = Vec::new();
        for literal in &self.from_literal {
            let Some((key, text)) = literal.split_once('=').filter(|(key, _)| !key.is_empty()) else {
                return Err(Failure::usage(format!("invalid literal source {literal}, expected key=value")));
            };
            entries.push((key.to_owned(), text.as_bytes().to_vec()));
        }
        for source in &self.from_file {
            let (key, path) = match source.split_once('=') {
                Some((key, path)) => (Some(key.to_owned()), Path::new(path)),
                None => (None, Path::new(source)),
            };
            if path.is_dir() && key.is_none() {
                let listed = std::fs::read_dir(path).map_err(|error| unreadable(path, &error))?;
                let mut files: Vec<PathBuf> =
                    listed.flatten().map(|entry| entry.path()).filter(|path| path.is_file()).collect();
                files.sort();
                for file in files {
                    entries.push((file_name(&file), read(&file)?));
                }
            } else {
                entries.push((key.unwrap_or_else(|| file_name(path)), read(path)?));
            }
        }
        for file in &self.from_env_file {
            for line in String::from_utf8_lossy(&read(file)?).lines() {
                let line = line.trim_start();
                if line.is_empty() || line.starts_with('#') {
                    continue;
                }
                let (key, text) = line.split_once('=').unwrap_or((line, ""));
                entries.push((key.to_owned(), text.as_bytes().to_vec()));
            }
        }
        for at in 1..entries.len() {
            if entries[..at].iter().any(|(key, _)| *key == entries[at].0) {
                let key = &entries[at].0;
                return Err(Failure::other(format!(
                    "cannot add key {}, another key by that name already exists",
                    krm::field::quote(key)
                )));
            }
        }
        Ok(entries)
    }
}

impl Secret {
    /// The secret, and how it is to be made.
    pub fn object(&self, namespace: Option<&str>) -> Result<(Value, &How), Failure> {
        let secret = |name: &str, kind: &str, data: Map<String, Value>| {
            let mut object = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}});
            if let Some(namespace) = namespace {
                object["metadata"]["namespace"] = namespace.into();
            }
            if !kind.is_empty() {
                object["type"] = kind.into();
            }
            if !data.is_empty() {
                object["data"] = Value::Object(data);
            }
            object
        };
        match &self.kind {
            SecretKind::Generic { data, kind } => {
                let entries =
                    data.entries()?.into_iter().map(|(key, bytes)| (key, krm::base64::encode(&bytes).into()));
                Ok((secret(&data.name, kind.as_deref().unwrap_or(""), entries.collect()), &data.how))
            }
            SecretKind::Tls { name, cert, key, how } => {
                let mut data = Map::new();
                data.insert("tls.crt".into(), krm::base64::encode(&read(cert)?).into());
                data.insert("tls.key".into(), krm::base64::encode(&read(key)?).into());
                Ok((secret(name, "kubernetes.io/tls", data), how))
            }
        }
    }
}

fn file_name(path: &Path) -> String {
    path.file_name().map_or(String::new(), |name| name.to_string_lossy().into_owned())
}

fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    std::fs::read(path).map_err(|error| unreadable(path, &error))
}

fn unreadable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::other(format!("error reading {}: {error}", path.display()))
}
