//! Telling whoever started us how far we are, in the protocol of systemd's `Type=notify`.

use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::net::{SocketAddr, UnixDatagram};

/// Requests are answered from now on.
pub fn ready() {
    tell(b"READY=1");
}

/// It ends, and this is no accident.
pub fn stopping() {
    tell(b"STOPPING=1");
}

/// Nobody may be listening: then there is nothing to tell.
fn tell(state: &[u8]) {
    let Some(place) = std::env::var_os("NOTIFY_SOCKET").filter(|place| !place.is_empty()) else { return };
    if let Err(error) = send(&place.into_vec(), state) {
        tracing::warn!(%error, "the supervisor at NOTIFY_SOCKET can't be told");
    }
}

fn send(place: &[u8], state: &[u8]) -> std::io::Result<()> {
    let address = match place.strip_prefix(b"@") {
        Some(name) => SocketAddr::from_abstract_name(name)?,
        None => SocketAddr::from_pathname(std::ffi::OsStr::from_bytes(place))?,
    };
    UnixDatagram::unbound()?.send_to_addr(state, &address)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(at: &UnixDatagram) -> Vec<u8> {
        let mut said = [0; 64];
        let length = at.recv(&mut said).unwrap();
        said[..length].to_vec()
    }

    #[test]
    fn a_supervisor_is_told_at_a_path_and_at_an_abstract_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notify");
        let supervisor = UnixDatagram::bind(&path).unwrap();
        send(path.as_os_str().as_bytes(), b"READY=1").unwrap();
        assert_eq!(heard(&supervisor), b"READY=1");

        let name = format!("groundplane-notify-{}", std::process::id());
        let supervisor = UnixDatagram::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
        send(format!("@{name}").as_bytes(), b"STOPPING=1").unwrap();
        assert_eq!(heard(&supervisor), b"STOPPING=1");
    }

    #[test]
    fn a_supervisor_that_is_gone_is_an_error_and_no_more() {
        assert!(send(b"/nowhere/at/all", b"READY=1").is_err());
    }
}
