//! How fast subnets are claimed, the last no slower than the first.

use std::time::Instant;

use serde_json::json;
use testbed::server::{Client, Server};

use crate::report::Report;
use crate::{GROUNDPLANE, all, inside, make, make_project};

const API: &str = "/apis/networking.datumapis.com/v1alpha/namespaces/default";
/// Milliseconds for a thousand: 2,000 each second.
const FLOOR: f64 = 500.0;

pub async fn measure(subnets: usize, report: &mut Report) {
    let server = Server::fresh(GROUNDPLANE, &["--audit-log", "none"]).unwrap();
    let client = server.client();
    make_project(&client, "acme").await;
    let network =
        json!({"metadata": {"name": "net"}, "spec": {"ipam": {"mode": "Auto"}, "ipFamilies": ["IPv6"]}});
    make(&client, &inside(&format!("{API}/networks")), &network).await;
    let context = json!({"metadata": {"name": "net-dfw"}, "spec": {"network": {"name": "net"}, "location": {"name": "dfw"}}});
    make(&client, &inside(&format!("{API}/networkcontexts")), &context).await;
    let half = subnets / 2;
    for (part, what) in
        ["the first half of the subnets, for 1,000", "the second half, for 1,000"].into_iter().enumerate()
    {
        let begun = Instant::now();
        all(&client, half, move |client: Client, number| claim(client, part * half + number)).await;
        let millis = begun.elapsed().as_secs_f64() * 1000.0 / half as f64 * 1000.0;
        report.line(what, millis, "ms", Some(FLOOR));
    }
}

async fn claim(client: Client, number: usize) {
    let claim = json!({"metadata": {"name": format!("c{number}")}, "spec": {
        "subnetClass": "private", "ipFamily": "IPv6", "prefixLength": 64,
        "networkContext": {"name": "net-dfw"}, "location": {"name": "dfw"}}});
    let made = make(&client, &inside(&format!("{API}/subnetclaims")), &claim).await;
    assert!(made["status"]["startAddress"].is_string(), "{made}");
}
