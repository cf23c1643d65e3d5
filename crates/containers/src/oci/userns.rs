//! User namespaces: one for each instance, with a network namespace that belongs to it.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tokio::process::{Child, Command};

use crate::error::{Error, Result};
use crate::image::unpack::IdShift;

/// How often a new process is looked at until it is in its namespaces: for two seconds.
const LOOKS: u32 = 2000;

/// Makes both namespaces and keeps them at the two paths. They last as long as something is mounted there.
pub(super) async fn make(ids: IdShift, user: &Path, network: &Path) -> Result<()> {
    try_make(ids, user, network).await.map_err(|error| Error::machine("making a user namespace", error))
}

async fn try_make(ids: IdShift, user: &Path, network: &Path) -> io::Result<()> {
    // A process has to be in them until they are mounted.
    let mut holder = Command::new("unshare")
        .args(["--user", "--net", "--", "sleep", "60"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()?;
    let made = keep(&holder, ids, user, network).await;
    let _ = holder.kill().await;
    made
}

async fn keep(holder: &Child, ids: IdShift, user: &Path, network: &Path) -> io::Result<()> {
    let pid = holder.id().ok_or_else(|| io::Error::other("unshare has ended"))?;
    let process = PathBuf::from(format!("/proc/{pid}"));
    let of = |process: &Path, kind: &str| fs::read_link(process.join("ns").join(kind)).ok();
    let own = Path::new("/proc/self");
    let mut is_inside = false;
    for _ in 0..LOOKS {
        is_inside = ["user", "net"].iter().all(|kind| {
            let other = of(&process, kind);
            other.is_some() && other != of(own, kind)
        });
        if is_inside {
            break;
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    if !is_inside {
        return Err(io::Error::other("unshare can't make namespaces here"));
    }
    let mapping = format!("0 {} {}", ids.base, ids.size);
    fs::write(process.join("uid_map"), &mapping)?;
    fs::write(process.join("gid_map"), &mapping)?;
    File::create(user)?;
    rustix::mount::mount_bind(process.join("ns/user"), user)?;
    Ok(rustix::mount::mount_bind(process.join("ns/net"), network)?)
}
