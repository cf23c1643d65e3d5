//! Makes the etcd client's message types and stubs from `proto/etcd.proto`, without a protoc binary.

use std::error::Error;

const PROTO: &str = "proto/etcd.proto";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={PROTO}");
    let descriptors = protox::compile([PROTO], ["proto"])?;
    tonic_prost_build::configure()
        .build_server(false)
        // Values reach readers as slices of what came from the socket.
        .bytes(".")
        // A password sits in this one.
        .skip_debug(["etcdserverpb.AuthenticateRequest"])
        .compile_fds(descriptors)?;
    Ok(())
}
