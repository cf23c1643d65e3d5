//! A NetBox in shapes of our own making, after its documentation: paging, a truncated list, a webhook.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use super::place::{Place, free_port, http, until};

#[derive(Default)]
struct State {
    devices: Vec<Value>,
    interfaces: Vec<Value>,
    /// Other collections, by their paths.
    others: std::collections::BTreeMap<String, Vec<Value>>,
    is_truncated: bool,
}

/// A server for `/api/dcim/…` with NetBox's paging.
fn netbox(state: Arc<Mutex<State>>) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let (mut line, mut is_known) = (String::new(), false);
            if reader.read_line(&mut line).is_err() {
                continue;
            }
            loop {
                let mut header = String::new();
                if reader.read_line(&mut header).is_err() || header.trim().is_empty() {
                    break;
                }
                is_known |= header.to_lowercase().trim() == "authorization: token t0ken";
            }
            let target = line.split_whitespace().nth(1).unwrap_or_default();
            let (path, query) = target.split_once('?').unwrap_or((target, ""));
            let value = |name: &str| query.split('&').find_map(|pair| pair.strip_prefix(&format!("{name}=")));
            let number = |name: &str| value(name).and_then(|text| text.parse::<usize>().ok());
            let state = state.lock().unwrap();
            let all: Vec<Value> = match path {
                "/api/dcim/devices/" => state.devices.clone(),
                "/api/dcim/interfaces/" => state.interfaces.clone(),
                path => state.others.get(path).cloned().unwrap_or_default(),
            };
            let all: Vec<Value> = all
                .into_iter()
                .filter(|one| number("id").is_none_or(|id| one["id"] == id))
                .filter(|one| number("device_id").is_none_or(|id| one["device"]["id"] == id))
                .collect();
            // It never gives more than two at once, whatever it is asked for.
            let offset = number("offset").unwrap_or(0);
            let page: Vec<Value> = all.iter().skip(offset).take(2).cloned().collect();
            let is_last = offset + page.len() >= all.len() || state.is_truncated;
            let next = if is_last {
                Value::Null
            } else {
                json!(format!("http://127.0.0.1:{port}{path}?offset={}", offset + 2))
            };
            let (code, body) = match (is_known, path) {
                (false, _) => {
                    ("403 Forbidden", json!({"detail": "Authentication credentials were not provided."}))
                }
                (_, "/api/status/") => ("200 OK", json!({"netbox-version": "4.3.1"})),
                _ => ("200 OK", json!({"count": all.len(), "next": next, "previous": null, "results": page})),
            };
            let body = body.to_string();
            let head =
                format!("HTTP/1.1 {code}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len());
            let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body.as_bytes()));
            let _ = stream.set_read_timeout(Some(std::time::Duration::from_millis(50)));
            let _ = reader.read(&mut [0; 1]);
        }
    });
    port
}

fn device(id: usize) -> Value {
    json!({"id": id, "name": format!("server{id}"), "display": format!("server{id}"), "serial": format!("NB{id}"),
        "display_url": format!("http://netbox.example/dcim/devices/{id}/"), "description": "A server",
        "device_type": {"model": "R760", "slug": "r760", "manufacturer": {"name": "Dell"}},
        "role": {"slug": "server"}, "site": {"slug": "fra1"}, "rack": {"id": 1, "name": "A01"},
        "status": {"value": "active"}, "primary_ip4": {"address": format!("10.0.0.{id}/24")},
        "oob_ip": {"address": format!("192.0.2.{id}/24")}})
}

fn interface(id: usize) -> Value {
    json!({"id": id, "device": {"id": id}, "name": "eth0", "type": {"value": "25gbase-x-sfp28"}, "enabled": true,
        "mgmt_only": false, "speed": 25_000_000, "mac_address": format!("52:54:00:0B:00:{id:02X}")})
}

#[test]
fn devices_of_a_netbox_become_hosts_by_pages_and_by_webhook() {
    let state = Arc::new(Mutex::new(State::default()));
    state.lock().unwrap().devices.extend((1..=5).map(device));
    state.lock().unwrap().interfaces.extend((1..=5).map(interface));
    let port = netbox(state.clone());
    let place = Place::new();
    let token = place.file("token", "t0ken\n");
    let endpoint = format!("http://127.0.0.1:{port}");
    let credential = format!("token={}", token.display());
    let add = ["source", "add", "netbox", "--adapter", "netbox", "--interval", "1h", "--endpoint", &endpoint];
    place.run(&[&add[..], &["--credential", &credential]].concat());
    assert!(place.sync("netbox", 0).contains("5 hosts observed"));
    let host = place.host("server3");
    assert_eq!(host["metadata"]["name"], "netbox-3");
    assert_eq!((&host["spec"]["class"], &host["spec"]["rack"]), (&json!("r760"), &json!("A01")));
    assert_eq!(
        (&host["spec"]["bootMac"], &host["spec"]["bootIp"]),
        (&json!("52:54:00:0b:00:03"), &json!("10.0.0.3"))
    );
    assert_eq!(host["spec"]["hardware"]["nics"][0]["speedBps"], 25_000_000_000_i64);

    // A list that ends early is not a list: nothing is missing.
    state.lock().unwrap().is_truncated = true;
    place.sync("netbox", 1);
    assert!(
        place
            .hosts()
            .iter()
            .all(|host| host["metadata"]["labels"].get("sources.groundplane.dev/missing").is_none())
    );
    state.lock().unwrap().is_truncated = false;

    let webhook = free_port();
    let config = format!(
        "webhook: 127.0.0.1:{webhook}\nwebhookTokenFile: {}\n",
        place.file("hook", "h00k\n").display()
    );
    let config = place.file("sync.yaml", &config);
    let running = place.start("netbox", &["--config", config.to_str().unwrap()]);
    until("the webhook", || http(webhook, "GET", "/healthz", "", None).filter(|(code, _)| *code == 200));
    state.lock().unwrap().devices[1]["description"] = json!("Changed");
    let event = json!({"event": "updated", "model": "device", "data": {"id": 2}});
    assert_eq!(http(webhook, "POST", "/", "authorization: Bearer wrong\r\n", Some(&event)).unwrap().0, 401);
    until("a changed description", || {
        // The first look may still be under way: then the notification waits.
        assert_eq!(
            http(webhook, "POST", "/", "authorization: Bearer h00k\r\n", Some(&event)).unwrap().0,
            202
        );
        (place.host("server2")["spec"]["description"] == "Changed").then_some(())
    });
    assert_eq!(running.stop(), Some(0));
}

fn filled() -> Arc<Mutex<State>> {
    let mut state = State::default();
    state.devices.extend((1..=5).map(device));
    state.interfaces.extend((1..=5).map(interface));
    Arc::new(Mutex::new(state))
}

#[test]
fn a_small_site_runs_its_source_in_the_server() {
    let port = netbox(filled());
    let place = Place::with(&["--sources", "inside"]);
    let token = place.file("token", "t0ken\n");
    place.run(&[
        "source",
        "add",
        "inside",
        "--adapter",
        "netbox",
        "--endpoint",
        &format!("http://127.0.0.1:{port}"),
        "--credential",
        &format!("token={}", token.display()),
    ]);
    until("five hosts without a process", || (place.hosts().len() == 5).then_some(()));
    assert_eq!(place.host("server1")["metadata"]["labels"]["sources.groundplane.dev/source"], "inside");
}

#[test]
fn a_whole_netbox_is_imported_into_the_inventory() {
    let state = filled();
    let others = [
        ("/api/dcim/regions/", json!([{"id": 1, "name": "Europe", "slug": "eu"}])),
        (
            "/api/dcim/sites/",
            json!([{"id": 1, "name": "Frankfurt 1", "slug": "fra1", "region": {"slug": "eu"}},
            {"id": 2, "name": "Nowhere", "slug": "nowhere", "region": null}]),
        ),
        ("/api/dcim/racks/", json!([{"id": 1, "name": "A01", "site": {"slug": "fra1"}, "u_height": 47}])),
        (
            "/api/dcim/cables/",
            json!([{"id": 9, "type": "cat6", "status": {"value": "connected"},
            "a_terminations": [{"object_type": "dcim.interface", "object_id": 1}],
            "b_terminations": [{"object_type": "dcim.interface", "object_id": 2}]}]),
        ),
    ];
    for (path, all) in others {
        state.lock().unwrap().others.insert(path.to_owned(), all.as_array().unwrap().clone());
    }
    let port = netbox(state);
    let place = Place::new();
    let token = place.file("token", "t0ken\n");
    let url = format!("http://127.0.0.1:{port}");
    let token = token.to_str().unwrap();
    let words = ["inventory", "import", "--from", "netbox", "--url", &url, "--token-file", token, "--yes"];
    let ended = place.type_in(&words);
    let told = String::from_utf8_lossy(&ended.stderr).into_owned() + &String::from_utf8_lossy(&ended.stdout);
    assert!(ended.status.success(), "{told}");
    assert!(told.contains("left out: site nowhere") && told.contains("assumed: hosts without"), "{told}");
    assert_eq!(place.list("nodes.inventory.miloapis.com").len(), 5);
    assert_eq!(
        (
            place.list("ports").len(),
            place.list("cables").len(),
            place.list("racks.inventory.miloapis.com").len()
        ),
        (5, 1, 1)
    );
    let again = place.type_in(&words);
    let told = String::from_utf8_lossy(&again.stderr).into_owned();
    assert!(told.contains("nothing to import"), "{told}");
}
