//! The inventory on servers that are not ours: a plain API server whose kinds are only defined, as a stock Milo.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::sync::Arc;

use inventory::demo::{Size, fleet};
use serde_json::{Value, json};

use crate::program::{GROUNDPLANE, Told};

const ROOT: &str = "/apis/inventory.miloapis.com/v1alpha1/";

#[test]
fn lists_are_filtered_where_the_server_does_not() {
    let milo = Milo::start();
    let nodes = milo.told(&["nodes", "--rack", "fra1-a01", "-o", "name"]);
    assert_eq!((nodes.code, nodes.out.lines().count()), (0, 6), "{nodes:?}");
    let cables = milo.told(&["cables", "--port", "fra1-a01-node01-eth0", "-o", "name"]);
    assert_eq!(
        cables.out, "cable.inventory.miloapis.com/fra1-a01-node01-eth0--fra1-a01-leaf1\n",
        "{cables:?}"
    );
    let ports = milo.told(&["ports", "--device", "fra1-a01-node01", "--type", "optical", "--no-headers"]);
    assert_eq!((ports.code, ports.out.lines().count()), (0, 2), "{ports:?}");
    let none = milo.told(&["nodes", "--site", "nowhere"]);
    assert_eq!((none.code, none.out.as_str()), (0, "No matching inventory found.\n"), "{none:?}");
    let racks = milo.told(&["export", "racks", "-o", "csv", "--field-selector", "spec.siteRef.name=ams1"]);
    assert_eq!((racks.code, racks.out.lines().count()), (0, 1 + 4), "{racks:?}");
    // What is wrong with the selector itself stays wrong.
    let silly = milo.told(&["nodes", "--field-selector", "nonsense"]);
    assert_eq!(silly.code, 2, "{silly:?}");
}

#[test]
fn questions_are_answered_by_the_client_where_the_server_knows_none() {
    let milo = Milo::start();
    let said = |words: &[&str]| {
        let told = milo.told(words);
        assert_eq!(told.code, 0, "{words:?}: {told:?}");
        told.out
    };
    assert!(said(&["summary"]).contains("nodes             36"), "as the original's");
    assert!(said(&["tree", "--region", "eu-west"]).starts_with("eu-west\n"));
    let rack = said(&["rack", "show", "fra1-a01"]);
    assert!(rack.contains("fra1-a01-leaf1 (Leaf)") && rack.contains("Power 4444 of 18401 W"), "{rack}");
    assert!(said(&["trace", "fra1-a01-node01", "eth0"]).contains("Ends at NetworkDevice/fra1-a01-leaf1"));
    assert!(said(&["trace", "fra1-a01-leaf1-up1", "-o", "svg"]).starts_with("<svg "));
    assert!(said(&["impact", "fra1-a01-pdu-a"]).contains("Lose power redundancy (8)"));
    let room = said(&["find-space", "--units", "2", "--site", "fra1", "-o", "json"]);
    let room: Value = serde_json::from_str(&room).unwrap();
    assert!(!room["places"].as_array().unwrap().is_empty() && room["kind"].is_string(), "{room}");
    let nowhere = milo.told(&["rack", "show", "nowhere"]);
    assert!(
        nowhere.err.contains("racks.inventory.miloapis.com \"nowhere\" not found\nhint: "),
        "{nowhere:?}"
    );
}

#[test]
fn what_only_ours_can_do_is_said_plainly() {
    let milo = Milo::start();
    for words in [["nodes", "--as-of=2h"], ["summary", "--as-of=2h"], ["export", "--as-of=2h"]] {
        let told = milo.told(&words);
        assert_eq!(told.code, 1, "{words:?}: {told:?}");
        assert!(told.err.contains("this server has no history"), "{words:?}: {told:?}");
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("regions.csv");
    std::fs::write(&file, "name,spec.displayName\noz,Oz\n").unwrap();
    let told = milo.told(&["import", file.to_str().unwrap(), "--yes"]);
    assert_eq!(told.code, 1, "{told:?}");
    assert!(told.err.contains("this server does not support transactions"), "{told:?}");
}

/// A plain API server with the demo fleet: it selects by nothing but names, and knows no questions.
struct Milo {
    address: String,
}

impl Milo {
    fn start() -> Milo {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let objects: Arc<Vec<Value>> =
            Arc::new(fleet(Size::SMALL, 1).into_iter().map(|object| Value::Object(object.0)).collect());
        // It ends with the test.
        std::thread::spawn(move || {
            for connection in listener.incoming().flatten() {
                let objects = objects.clone();
                std::thread::spawn(move || serve(connection, &objects));
            }
        });
        Milo { address }
    }

    fn told(&self, words: &[&str]) -> Told {
        let plugin = std::env::temp_dir().join(format!("groundplane-plugin-{}", std::process::id()));
        std::fs::create_dir_all(&plugin).unwrap();
        let plugin = plugin.join("datumctl-inventory");
        if !plugin.exists() {
            // Another test may have been quicker.
            let _ = std::os::unix::fs::symlink(GROUNDPLANE, &plugin);
        }
        let output = Command::new(&plugin)
            .args(words)
            .env_clear()
            .env("DATUM_API_HOST", &self.address)
            .output()
            .unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Told { out: text(output.stdout), err: text(output.stderr), code: output.status.code().unwrap() }
    }
}

fn serve(connection: TcpStream, objects: &[Value]) {
    let mut reader = BufReader::new(connection.try_clone().unwrap());
    let mut writer = connection;
    loop {
        let (mut line, mut header) = (String::new(), String::new());
        if reader.read_line(&mut line).unwrap_or(0) == 0 {
            return;
        }
        while reader.read_line(&mut header).unwrap_or(0) > 2 {
            header.clear();
        }
        let target = line.split(' ').nth(1).unwrap_or("/");
        let (code, kind, body) = answer(target, objects);
        let head =
            format!("HTTP/1.1 {code} X\r\ncontent-type: {kind}\r\ncontent-length: {}\r\n\r\n", body.len());
        if writer.write_all((head + &body).as_bytes()).is_err() {
            return;
        }
    }
}

fn answer(target: &str, objects: &[Value]) -> (u16, &'static str, String) {
    const JSON: &str = "application/json";
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let parameter = |name: &str| {
        let pair = query.split('&').filter_map(|pair| pair.split_once('=')).find(|(key, _)| *key == name);
        pair.map(|(_, value)| value.replace("%3D", "=").replace("%2C", ","))
    };
    match path {
        "/api" => return (200, JSON, json!({"kind": "APIVersions", "versions": ["v1"]}).to_string()),
        "/api/v1" => {
            let list = json!({"kind": "APIResourceList", "groupVersion": "v1", "resources": []});
            return (200, JSON, list.to_string());
        }
        "/apis" => return (200, JSON, json!({"kind": "APIGroupList", "groups": []}).to_string()),
        _ => {}
    }
    let kinds = inventory::kinds::all();
    let plural = path.strip_prefix(ROOT).unwrap_or("");
    let Some(kind) = kinds.iter().find(|kind| kind.names.plural == plural) else {
        return (404, "text/plain", "404 page not found\n".to_owned());
    };
    let selector = parameter("fieldSelector").unwrap_or_default();
    let name = selector.strip_prefix("metadata.name=");
    if name.is_none() && !selector.is_empty() {
        let field = selector.split('=').next().unwrap_or("");
        let message = format!(
            "Unable to find \"inventory.miloapis.com/v1alpha1, Resource={plural}\" that match label selector \"\", \
             field selector \"{selector}\": field label not supported: {field}"
        );
        let status = json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
            "message": message, "reason": "BadRequest", "code": 400});
        return (400, JSON, status.to_string());
    }
    let mut items: Vec<&Value> =
        objects.iter().filter(|object| object["kind"] == kind.names.kind.as_str()).collect();
    items.retain(|object| name.is_none_or(|name| object["metadata"]["name"] == name));
    items.sort_by_key(|object| object["metadata"]["name"].as_str().unwrap_or("").to_owned());
    // Page by page, as it was asked.
    let limit: usize = parameter("limit").and_then(|limit| limit.parse().ok()).unwrap_or(usize::MAX);
    let begin: usize = parameter("continue").and_then(|begin| begin.parse().ok()).unwrap_or(0);
    let end = begin.saturating_add(limit).min(items.len());
    let mut metadata = json!({"resourceVersion": "7"});
    if end < items.len() {
        metadata["continue"] = end.to_string().into();
    }
    let list = json!({"apiVersion": "inventory.miloapis.com/v1alpha1", "kind": format!("{}List", kind.names.kind),
        "metadata": metadata, "items": items[begin..end]});
    (200, JSON, list.to_string())
}
