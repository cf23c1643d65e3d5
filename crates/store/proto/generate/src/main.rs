//! Makes the etcd client's message types and stubs from `proto/etcd.proto`, without a protoc binary.

use std::error::Error;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let protos = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let client = protos.join("../src/etcd/client");
    let descriptors = protox::compile([protos.join("etcd.proto")], [&protos])?;
    let out = std::env::temp_dir().join(format!("groundplane-etcd-proto-{}", std::process::id()));
    std::fs::create_dir_all(&out)?;
    tonic_prost_build::configure()
        .build_server(false)
        // Values reach readers as slices of what came from the socket.
        .bytes(".")
        // A password sits in this one.
        .skip_debug(["etcdserverpb.AuthenticateRequest"])
        .out_dir(&out)
        .compile_fds(descriptors)?;
    std::fs::copy(out.join("etcdserverpb.rs"), client.join("wire.rs"))?;
    std::fs::remove_dir_all(&out)?;
    Ok(())
}
