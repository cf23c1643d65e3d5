//! The hosts, and the calls about them: the same for both.

use std::time::Instant;

use super::wire::{Call, Endpoint, bytes, number};

/// Hosts of one rack.
const PER_RACK: usize = 40;
/// Host classes.
const CLASSES: usize = 50;
/// Calls at once while hosts are created.
const AT_ONCE: usize = 64;

fn id(host: usize) -> String {
    format!("host-{host:06}")
}

/// Creates the hosts; how many in a second.
pub async fn load(endpoint: &Endpoint, hosts: usize, has_classes: bool) -> f64 {
    let mut connection = endpoint.connect().await;
    for class in (0..CLASSES).filter(|_| has_classes) {
        let message = bytes(1, bytes(1, format!("class-{class}")));
        connection.call(&Call { path: "osac.private.v1.HostClasses/Create", message }).await;
    }
    let begun = Instant::now();
    let mut writing = tokio::task::JoinSet::new();
    for writer in 0..AT_ONCE {
        let endpoint = endpoint.clone();
        writing.spawn(async move {
            let mut connection = endpoint.connect().await;
            for host in (writer..hosts).step_by(AT_ONCE) {
                connection.call(&create(host)).await;
            }
        });
    }
    writing.join_all().await;
    hosts as f64 / begun.elapsed().as_secs_f64()
}

fn create(host: usize) -> Call {
    let spec = [
        bytes(3, format!("rack-{}", host / PER_RACK)),
        bytes(4, format!("class-{}", host % CLASSES)),
        bytes(5, format!("52:54:00:{:02x}:{:02x}:{:02x}", host >> 16 & 255, host >> 8 & 255, host & 255)),
        bytes(6, format!("10.{}.{}.{}", host >> 16 & 255, host >> 8 & 255, host & 255)),
        bytes(7, format!("Server {host}")),
        bytes(8, "Two sockets, 512 GiB, four NVMe drives. In the second row, by the window."),
        bytes(9, format!("https://inventory.example.com/base-view/device/{host}")),
    ];
    // Without a BMC: our server would read its power state, and the peer would not.
    let object = [bytes(1, id(host)), bytes(3, spec.concat())].concat();
    Call { path: "osac.private.v1.Hosts/Create", message: bytes(1, object) }
}

/// Numbers that are far apart from each other, the same each time.
fn somewhere(number: usize, below: usize) -> usize {
    number.wrapping_mul(2_654_435_761) % below.max(1)
}

/// Get of one host.
pub fn get(number: usize, hosts: usize) -> Call {
    Call { path: "osac.private.v1.Hosts/Get", message: bytes(1, id(somewhere(number, hosts))) }
}

/// The first hundred hosts.
pub fn list(_: usize, _: usize) -> Call {
    Call { path: "osac.private.v1.Hosts/List", message: number(2, 100) }
}

/// The hosts of one rack.
pub fn filtered(number: usize, hosts: usize) -> Call {
    let rack = somewhere(number, hosts / PER_RACK);
    let message = bytes(3, format!("this.spec.rack == 'rack-{rack}'"));
    Call { path: "osac.private.v1.Hosts/List", message }
}

/// A new title of one host.
pub fn update(number: usize, hosts: usize) -> Call {
    titled(somewhere(number, hosts), &format!("Title {number}"))
}

/// A host with a title.
pub fn titled(host: usize, title: &str) -> Call {
    let object = [bytes(1, id(host)), bytes(3, bytes(7, title))].concat();
    let message = [bytes(1, object), bytes(2, bytes(1, "spec.title"))].concat();
    Call { path: "osac.private.v1.Hosts/Update", message }
}
