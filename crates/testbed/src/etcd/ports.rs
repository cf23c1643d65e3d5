//! Ports that no other test takes, in this process or in another one.

use std::fs::{self, File};
use std::net::TcpListener;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU16, Ordering};
use std::{env, io, process};

use super::Error;

/// Ports of one cluster. They are reserved until this is dropped, so that a member that restarts gets its own again.
pub(super) struct Ports {
    /// The ports.
    pub(super) numbers: Vec<u16>,
    _reserved: Vec<File>,
}

/// Below the ports that the system gives to connections and to listeners that ask for any: there, a port that is free
/// now could be taken by anybody before etcd binds it.
const FIRST: u16 = 15_000;
const USUAL_END: u16 = 32_768;

impl Ports {
    /// Reserves this many ports that are free.
    pub(super) fn reserve(count: usize) -> Result<Ports, Error> {
        let failed = |source| Error::Prepare { what: "free ports on 127.0.0.1".to_owned(), source };
        let folder = env::temp_dir().join("groundplane-testbed-ports");
        fs::create_dir_all(&folder).map_err(failed)?;
        let range = range();
        let mut ports = Ports { numbers: Vec::new(), _reserved: Vec::new() };
        for _ in range.clone() {
            if ports.numbers.len() == count {
                break;
            }
            let port = next(&range);
            if let Some(reserved) = reserve(folder.join(port.to_string()), port) {
                ports.numbers.push(port);
                ports._reserved.push(reserved);
            }
        }
        match ports.numbers.len() == count {
            true => Ok(ports),
            false => Err(failed(io::ErrorKind::AddrInUse.into())),
        }
    }
}

/// Takes the lock of a port, if nobody has it and the port is free.
fn reserve(lock: PathBuf, port: u16) -> Option<File> {
    let lock = File::options().create(true).truncate(false).write(true).open(lock).ok()?;
    lock.try_lock().ok()?;
    TcpListener::bind(("127.0.0.1", port)).ok()?;
    Some(lock)
}

fn range() -> Range<u16> {
    let given = fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").unwrap_or_default();
    let first_given = given.split_whitespace().next().and_then(|first| first.parse::<u16>().ok());
    FIRST..first_given.unwrap_or(USUAL_END).clamp(FIRST + 1_000, USUAL_END)
}

/// Another port each time; processes begin at different ones, so that they seldom try the same.
fn next(range: &Range<u16>) -> u16 {
    static STEP: AtomicU16 = AtomicU16::new(0);
    let start = (process::id() as u16).wrapping_mul(97);
    let step = STEP.fetch_add(1, Ordering::Relaxed);
    range.start + start.wrapping_add(step) % (range.end - range.start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_are_reserved_until_they_are_dropped() {
        let first = Ports::reserve(4).unwrap();
        let second = Ports::reserve(4).unwrap();
        assert!(first.numbers.iter().all(|port| !second.numbers.contains(port)));
        let port = first.numbers[0];
        let lock = env::temp_dir().join("groundplane-testbed-ports").join(port.to_string());
        assert!(reserve(lock.clone(), port).is_none(), "another process can't have it");
        drop(first);
        assert!(reserve(lock, port).is_some());
    }

    #[test]
    fn a_port_that_somebody_listens_on_is_passed_over() {
        let taken = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = taken.local_addr().unwrap().port();
        let folder = tempfile::tempdir().unwrap();
        assert!(reserve(folder.path().join("lock"), port).is_none());
    }
}
