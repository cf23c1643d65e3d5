//! PostgreSQL on a folder of its own, reached by a socket in it.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;
use tokio_postgres::NoTls;

/// Where Debian has it.
const PROGRAMS: &str = "/usr/lib/postgresql/15/bin";

/// A database, until it is dropped.
pub struct Postgres {
    child: Child,
    url: String,
    _folder: TempDir,
}

impl Postgres {
    pub async fn start() -> Postgres {
        let folder = TempDir::with_prefix("groundplane-postgres-").unwrap();
        let data = folder.path().join("data");
        std::fs::create_dir(&data).unwrap();
        let is_root = Command::new("id").arg("-u").output().is_ok_and(|id| id.stdout == b"0\n");
        if is_root {
            // It refuses to run as root.
            let owned = Command::new("chown").args(["-R", "postgres"]).arg(folder.path()).status().unwrap();
            assert!(owned.success(), "there is no user postgres: install postgresql-15");
        }
        let made = as_its_user(is_root, "initdb")
            .args(["--auth=trust", "--username=postgres", "--pgdata"])
            .arg(&data)
            .stdout(Stdio::null())
            .status()
            .unwrap();
        assert!(made.success(), "initdb failed: install postgresql-15");
        let child = as_its_user(is_root, "postgres")
            .arg("-D")
            .arg(&data)
            // Durable, as it is by default; memory for all rows.
            .args([
                "-c",
                "listen_addresses=",
                "-c",
                "shared_buffers=512MB",
                "-c",
                "max_connections=100",
                "-k",
            ])
            .arg(&data)
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let url = format!("host={} user=postgres dbname=postgres", data.display());
        let begun = Instant::now();
        while tokio_postgres::connect(&url, NoTls).await.is_err() {
            assert!(begun.elapsed() < Duration::from_secs(60), "PostgreSQL does not come up");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        Postgres { child, url, _folder: folder }
    }

    pub fn url(&self) -> &str {
        &self.url
    }
}

fn as_its_user(is_root: bool, program: &str) -> Command {
    let program: PathBuf = Path::new(PROGRAMS).join(program);
    if !is_root {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups"]).arg(program);
    command
}

impl Drop for Postgres {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
