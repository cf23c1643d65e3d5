//! What questions and first pages of lists take, over HTTPS, the client's part included.

use std::time::{Duration, Instant};

use testbed::server::Client;

use crate::fleet::{Fleet, ROOT};
use crate::report::{Report, median};

const SPREAD: &str = "units=2&watts=500&ports=2&count=8&spread=rack";

pub async fn measure(fleet: &Fleet, client: &Client, times: usize, report: &mut Report) {
    // Racks that stand side by side, at as many sites as it takes.
    let names = row_of_twenty(client).await;
    let space = format!("find-space over {} racks", fleet.racks());
    for (what, path, floor) in [
        ("trace of an uplink through a panel", "ports/fra1-a01-leaf1-up1/trace".to_owned(), 5),
        ("trace of a host's port", "ports/fra1-a01-node01-eth0/trace".to_owned(), 5),
        ("a row of 20 racks", format!("racks/-/elevation?names={names}"), 100),
        ("a row of 20 racks, drawn", format!("racks/-/elevation?names={names}&output=svg"), 100),
        ("impact of a spine switch", "networkdevices/fra1-spine1/impact".to_owned(), 100),
        ("impact of a PDU", "networkdevices/fra1-a01-pdu-a/impact".to_owned(), 100),
        ("impact of a rack", "racks/fra1-a01/impact".to_owned(), 100),
        (space.as_str(), "racks/-/find-space?units=2&watts=500".to_owned(), 100),
        ("find-space with ports, spread", format!("racks/-/find-space?{SPREAD}"), 100),
        ("first page: nodes of a site", "nodes?limit=500&fieldSelector=spec.siteRef.name=fra1".to_owned(), 10),
        ("first page: ports of a type", "ports?limit=500&fieldSelector=spec.type=Optical".to_owned(), 10),
        ("first page: ports of a device", "ports?limit=500&fieldSelector=spec.deviceRef.name=fra1-spine1".to_owned(), 10),
        ("first page: cables at a port", "cables?limit=500&fieldSelector=spec.endpoints.name=fra1-a01-node01-eth0".to_owned(), 10),
        ("first page: by a topology label", "ports?limit=500&labelSelector=topology.inventory.miloapis.com/site=fra1".to_owned(), 10),
        ("first page: two fields and a label", "nodes?limit=500&fieldSelector=spec.siteRef.name=fra1,spec.lifecycle=Active&labelSelector=topology.inventory.miloapis.com/region=eu-central".to_owned(), 10),
    ] {
        ask(what, &path, floor, client, times, report).await;
    }
}

/// What is left to ask once there are five thousand racks.
pub async fn of_many_racks(racks: u32, client: &Client, times: usize, report: &mut Report) {
    let what = format!("find-space over {racks} racks");
    ask(&what, "racks/-/find-space?units=2&watts=500", 100, client, times, report).await;
    let path = format!("racks/-/find-space?{SPREAD}");
    ask(&format!("{what}, with ports, spread"), &path, 100, client, times, report).await;
    let path = "racks/-/find-space?units=40&watts=500";
    ask(&format!("{what}, none of which has room"), path, 100, client, times, report).await;
}

async fn ask(what: &str, path: &str, floor: u64, client: &Client, times: usize, report: &mut Report) {
    let path = format!("{ROOT}/{path}");
    let (mut taken, mut first) = (Vec::new(), Duration::ZERO);
    for time in 0..times.max(1) {
        let begun = Instant::now();
        let answer = client.get(&path).await.unwrap();
        let took = begun.elapsed();
        assert_eq!(answer.code, 200, "{path}: {}", answer.text());
        if time == 0 {
            first = took;
        }
        taken.push(took);
    }
    let floor = (floor > 0).then(|| Duration::from_millis(floor));
    report.time(what, median(taken), floor);
    if first > Duration::from_millis(50) {
        report.time(&format!("{what}, the first time"), first, None);
    }
}

async fn row_of_twenty(client: &Client) -> String {
    let list = client.get(&format!("{ROOT}/racks?limit=20")).await.unwrap().json();
    let racks = list["items"].as_array().unwrap().iter();
    racks.filter_map(|rack| rack["metadata"]["name"].as_str()).collect::<Vec<_>>().join(",")
}
