//! A program of the operator's that keeps the records, for servers that speak no RFC 2136.
//!
//! The program reads one JSON object from its standard input and writes one to its standard output:
//!
//! | operation | input besides `operation`, `zone`, `ttl` | output |
//! | --- | --- | --- |
//! | `ensure` | `records`: list of `{name, addresses}` | `{"changed": true}` or `{"changed": false}` |
//! | `remove` | `names` | the same |
//! | `lookup` | `name` | `{"addresses": […]}` |
//! | `check` | | `{}` |
//!
//! A failure is an exit status other than 0 and a line on standard error.

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::Command;

use crate::error::Error;
use crate::name::DnsName;
use crate::provider::{Ensured, Later, Provider, within_zone};
use crate::records::Addresses;

/// Output beyond this is an error.
const LARGEST_OUTPUT: u64 = 64 * 1024;

/// How much of a program's complaint is passed on.
const LONGEST_COMPLAINT: usize = 300;

/// A zone that a program keeps.
#[derive(Clone, Debug)]
pub struct Exec {
    program: PathBuf,
    zone: DnsName,
    ttl: u32,
    timeout: Duration,
}

impl Exec {
    /// A zone that `program` keeps, with a time to live of 60 s for new records. The program runs with no environment
    /// but `PATH`, and is killed after `timeout`.
    pub fn new(program: impl Into<PathBuf>, zone: DnsName, timeout: Duration) -> Exec {
        Exec { program: program.into(), zone, ttl: 60, timeout }
    }

    async fn run<T: DeserializeOwned>(&self, mut input: Value) -> Result<T, Error> {
        input["zone"] = json!(self.zone);
        input["ttl"] = json!(self.ttl);
        let (succeeded, output, complaint) = match tokio::time::timeout(self.timeout, self.talk(&input)).await
        {
            Ok(Ok(ended)) => ended,
            Ok(Err(error)) => return Err(self.failed(error.to_string())),
            Err(_) => return Err(self.failed(format!("it did not end within {} s", self.timeout.as_secs()))),
        };
        if output.len() as u64 > LARGEST_OUTPUT {
            return Err(self.failed(format!("its output is larger than {LARGEST_OUTPUT} bytes")));
        }
        if !succeeded {
            let complaint = String::from_utf8_lossy(&complaint);
            let line =
                complaint.lines().find(|line| !line.trim().is_empty()).unwrap_or("it failed without a word");
            return Err(
                self.failed(line.chars().filter(|c| !c.is_control()).take(LONGEST_COMPLAINT).collect())
            );
        }
        serde_json::from_slice(&output)
            .map_err(|error| self.failed(format!("its output is not what is expected: {error}")))
    }

    async fn talk(&self, input: &Value) -> std::io::Result<(bool, Vec<u8>, Vec<u8>)> {
        let mut command = Command::new(&self.program);
        command.env_clear().kill_on_drop(true);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        if let Some(path) = std::env::var_os("PATH") {
            command.env("PATH", path);
        }
        let mut child = command.spawn()?;
        let text = input.to_string();
        let stdin = child.stdin.take();
        let write = async {
            // A program that reads nothing has closed its end: what it answers counts.
            if let Some(mut stdin) = stdin {
                let _ = stdin.write_all(text.as_bytes()).await;
            }
        };
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let (_, output, complaint) = tokio::join!(write, bounded(stdout), bounded(stderr));
        let (output, complaint) = (output?, complaint?);
        let status = child.wait().await?;
        Ok((status.success(), output, complaint))
    }

    async fn change(&self, input: Value) -> Result<Ensured, Error> {
        let Changed { changed } = self.run(input).await?;
        Ok(if changed { Ensured::Changed } else { Ensured::Unchanged })
    }

    fn failed(&self, reason: String) -> Error {
        Error::Program { program: self.program.display().to_string(), reason }
    }
}

#[derive(Deserialize)]
struct Changed {
    changed: bool,
}

#[derive(Deserialize)]
struct Found {
    addresses: BTreeSet<IpAddr>,
}

#[derive(Deserialize)]
struct Nothing {}

impl Provider for Exec {
    fn ensure<'a>(&'a self, wanted: &'a [Addresses]) -> Later<'a, Ensured> {
        Box::pin(async move {
            within_zone(&self.zone, wanted.iter().map(|wanted| &wanted.name))?;
            self.change(json!({"operation": "ensure", "records": wanted})).await
        })
    }

    fn remove<'a>(&'a self, names: &'a [DnsName]) -> Later<'a, Ensured> {
        Box::pin(async move {
            within_zone(&self.zone, names)?;
            self.change(json!({"operation": "remove", "names": names})).await
        })
    }

    fn lookup<'a>(&'a self, name: &'a DnsName) -> Later<'a, Addresses> {
        Box::pin(async move {
            within_zone(&self.zone, [name])?;
            let Found { addresses } = self.run(json!({"operation": "lookup", "name": name})).await?;
            Ok(Addresses { name: name.clone(), addresses })
        })
    }

    fn check(&self) -> Later<'_, ()> {
        Box::pin(async move { self.run(json!({"operation": "check"})).await.map(|Nothing {}| ()) })
    }
}

/// Reads to the end, one byte past the limit at most.
async fn bounded(stream: Option<impl tokio::io::AsyncRead + Unpin>) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if let Some(stream) = stream {
        stream.take(LARGEST_OUTPUT + 1).read_to_end(&mut bytes).await?;
    }
    Ok(bytes)
}
