//! Runs one instance and stays, for the tests of this crate, which kill it.

use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;

use containers::oci::{Oci, Settings};
use containers::{InstanceSpec, Runtime};

/// Arguments: the folders `data` and `run`, the shim, a file with the spec as JSON.
#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    let [data, run, shim, spec] = arguments.as_slice() else { return Err("four arguments".into()) };
    let settings = Settings::new(PathBuf::from(data), PathBuf::from(run), vec![shim.clone()]);
    let spec: InstanceSpec = serde_json::from_slice(&std::fs::read(spec)?)?;
    let id = spec.id.clone();
    let oci = Oci::open(settings).await?;
    let mut events = oci.events();
    oci.ensure(spec).await?;
    while !oci.observe(&id).await?.ready {
        events.recv().await?;
    }
    writeln!(std::io::stdout(), "ready")?;
    std::io::stdout().flush()?;
    std::future::pending().await
}
