use std::{env, path::PathBuf, process::Command};

use super::Error;

/// How to call etcdctl: with which certificates and as whom.
pub(super) struct Etcdctl {
    /// Where the client's certificates lie, in a TLS cluster.
    pub(super) certificates: Option<PathBuf>,
    /// The root user's password, once passwords are on.
    pub(super) root_password: Option<String>,
}

impl Etcdctl {
    /// Runs one command against `endpoints` and returns what it printed.
    pub(super) fn run(&self, endpoints: &[String], arguments: &[&str]) -> Result<String, Error> {
        let mut command = Command::new(program());
        command
            .env("ETCDCTL_API", "3")
            .arg(format!("--endpoints={}", endpoints.join(",")))
            .args(["--dial-timeout=2s", "--command-timeout=5s"]);
        if let Some(dir) = &self.certificates {
            command
                .arg(format!("--cacert={}", dir.join("ca.pem").display()))
                .arg(format!("--cert={}", dir.join("client.pem").display()))
                .arg(format!("--key={}", dir.join("client-key.pem").display()));
        }
        if let Some(password) = &self.root_password {
            command.arg(format!("--user=root:{password}"));
        }
        let output = command
            .args(arguments)
            .output()
            .map_err(|source| Error::Program { program: program(), source })?;
        if !output.status.success() {
            let cause = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            return Err(Error::Etcdctl { arguments: arguments.join(" "), cause });
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }
}

pub(super) fn program() -> String {
    env::var("ETCDCTL").unwrap_or_else(|_| "etcdctl".to_owned())
}

/// The number that follows `"name":` in etcdctl's JSON. A parser would be one more dependency for two fields.
pub(super) fn number_named(name: &str, json: &str) -> Option<u64> {
    let (_, after) = json.split_once(&format!("\"{name}\":"))?;
    let digits = after.find(|c: char| !c.is_ascii_digit()).map_or(after, |end| &after[..end]);
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::number_named;

    #[test]
    fn numbers_are_found_by_their_whole_name() {
        let status = r#"{"header":{"member_id":17,"raft_term":2},"leader":18}"#;
        assert_eq!(number_named("member_id", status), Some(17));
        assert_eq!(number_named("leader", status), Some(18));
        assert_eq!(number_named("term", status), None);
    }
}
