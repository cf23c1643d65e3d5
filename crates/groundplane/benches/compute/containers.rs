//! From a deploy to an answer, with a real container whose image is there.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use testbed::server::Server;

use crate::image::Image;
use crate::report::{Report, median};
use crate::{GROUNDPLANE, PLANE, create, until, workload};

const DEPLOYMENTS: &str = "/apis/compute.datumapis.com/v1alpha/namespaces/default/workloaddeployments";

pub async fn measure(containers: usize, report: &mut Report) {
    let folder = tempfile::tempdir().unwrap();
    let layout = folder.path().join("image");
    Image::of(&["serve", "hello"]).write_layout(&layout);
    let image = format!("oci:{}:1", layout.display());
    let flags = ["--audit-log", "none", "--local-cities", "DFW", "--instances", "containers"];
    let server = Server::start(GROUNDPLANE, &folder.path().join("data"), &flags).unwrap();
    let client = server.client();
    let workloads = format!("{PLANE}{}", crate::WORKLOADS);
    until("a workload can be deployed", async || {
        client.post(&workloads, &workload("first", &image, "DFW", 1)).await.unwrap().code == 201
    })
    .await;
    let mut times = Vec::new();
    for number in 0..=containers {
        let name = if number == 0 { "first".to_owned() } else { format!("web-{number}") };
        let begun = Instant::now();
        if number > 0 {
            create(&client, &workload(&name, &image, "DFW", 1)).await;
        }
        let deployment = format!("{PLANE}{DEPLOYMENTS}/{name}-default-dfw");
        until("it has an address that answers", async || {
            let found = client.get(&deployment).await.unwrap().json();
            let address = found["status"]["addresses"][0]["address"].as_str().map(str::to_owned);
            address.is_some_and(|address| answers(&address))
        })
        .await;
        // The first has unpacked the image.
        if number > 0 {
            times.push(begun.elapsed());
        }
        let removed = client.delete(&format!("{workloads}/{name}")).await.unwrap();
        assert_eq!(removed.code, 200, "{}", removed.text());
        until("it is gone", async || client.get(&deployment).await.unwrap().code == 404).await;
    }
    report.time(
        "container from deploy to answer, image there, p50",
        median(times),
        Some(Duration::from_secs(1)),
    );
    server.stop();
}

/// Whether an address answers; it waits for an instance itself.
fn answers(address: &str) -> bool {
    let Ok(mut stream) = TcpStream::connect(address) else { return false };
    let mut answer = String::new();
    let asked = stream.write_all(b"GET / HTTP/1.1\r\nHost: web\r\n\r\n");
    asked.is_ok() && stream.read_to_string(&mut answer).is_ok() && answer.ends_with("hello")
}
