//! docs/guides/back-up-and-restore.md, word for word: its commands are run, and the commands that they print.

use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use regex::Regex;
use serde_json::json;
use testbed::etcd::Cluster;
use testbed::need;
use testbed::server::Server;

use crate::{GROUNDPLANE, MAPS, map};

const GUIDE: &str =
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/guides/back-up-and-restore.md"));
const ENDPOINT: &str = "http://10.0.0.11:2379";
/// Where the guide keeps things, each a folder below one of the test's own.
const PLACES: [&str; 3] = ["/var/lib", "/safe", "/tmp/drill"];

struct Step {
    command: String,
    shown: Vec<String>,
}

fn steps() -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for block in GUIDE.split("```console\n").skip(1) {
        let block = block.split("```").next().unwrap().replace("\\\n", "");
        for line in block.lines() {
            match line.strip_prefix("$ ") {
                Some(command) => steps.push(Step { command: command.to_owned(), shown: Vec::new() }),
                None => steps.last_mut().unwrap().shown.push(line.to_owned()),
            }
        }
    }
    steps
}

struct Ground {
    folder: tempfile::TempDir,
    cluster: Option<Cluster>,
    servers: Vec<Server>,
}

impl Ground {
    fn place(&self, place: &str) -> PathBuf {
        self.folder.path().join(place.trim_start_matches('/'))
    }

    /// A line of the guide as it is here.
    fn here(&self, line: &str) -> String {
        let mut line = line.to_owned();
        for place in PLACES {
            line = line.replace(place, &self.place(place).display().to_string());
        }
        match &self.cluster {
            Some(cluster) => line.replace(ENDPOINT, &cluster.endpoints()[0]),
            None => line,
        }
    }

    /// A line as people compare it: how many and how large is different each time.
    fn compared(line: &str) -> String {
        let line = line.replace(GROUNDPLANE, "groundplane");
        let words = line.split_whitespace().collect::<Vec<_>>().join(" ");
        Regex::new(r"\b[0-9]+ (bytes|objects|records|checkpoints)|revision [0-9]+")
            .unwrap()
            .replace_all(&words, "N $1")
            .into_owned()
    }

    fn run(&self, step: &Step) -> String {
        let path = std::env::var("PATH").unwrap_or_default();
        let programs = PathBuf::from(GROUNDPLANE).parent().unwrap().display().to_string();
        let output = Command::new("bash")
            .args(["-c", &self.here(&step.command)])
            .current_dir(self.folder.path())
            .env("PATH", format!("{programs}:{path}"))
            .env("KUBECONFIG", self.servers[0].kubeconfig())
            .env_remove("GROUNDPLANE_KUBECONFIG")
            .env_remove("GROUNDPLANE_DATA")
            .output()
            .unwrap();
        let shown =
            format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "$ {}\n{shown}", step.command);
        for line in &step.shown {
            let wanted = Self::compared(&self.here(line));
            assert!(
                shown.lines().any(|found| Self::compared(found) == wanted),
                "$ {}\n{wanted}\nis not in\n{shown}",
                step.command
            );
        }
        assert!(!shown.contains("Note:"), "all keys were there: {shown}");
        shown
    }

    /// Starts a server with a command as a shell reads it here, on another port.
    fn serve(&mut self, command: &str) {
        let line = format!("printf '%s\\n' {}", command.trim_end_matches('&'));
        let words = Command::new("sh").args(["-c", &line]).output().unwrap();
        let words = String::from_utf8(words.stdout).unwrap();
        let mut words: Vec<&str> = words.lines().collect();
        assert_eq!(words.get(1), Some(&"serve"), "{command}");
        let mut take = |flag: &str| {
            let at = words.iter().position(|word| *word == flag)?;
            words.remove(at);
            Some(words.remove(at))
        };
        take("--listen");
        let data = PathBuf::from(take("--data").unwrap());
        self.servers.push(Server::start(GROUNDPLANE, &data, &words[2..]).unwrap());
    }
}

/// Waits until history is signed: only then does a restore need the key that signed it.
async fn signed(server: &Server) {
    let begun = Instant::now();
    let path = "/apis/groundplane.dev/v1alpha1/checkpoints/latest";
    while server.client().get(path).await.unwrap().code != 200 {
        assert!(begun.elapsed() < Duration::from_secs(60), "no checkpoint was made");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

async fn has_everything(server: &Server) {
    let client = server.client();
    assert_eq!(client.get(&format!("{MAPS}/kept")).await.unwrap().json()["data"]["k"], "changed");
    let secret = client.get("/api/v1/namespaces/default/secrets/s").await.unwrap().json();
    assert_eq!(secret["data"]["word"], "eHl6enk=");
    let history = client.get(&format!("{MAPS}/kept/history")).await.unwrap().json();
    assert_eq!(history["items"].as_array().unwrap().len(), 2, "{history}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_guide_works_as_it_stands_in_a_folder_and_on_etcd() {
    let cluster = match Cluster::available() {
        true => Some(Cluster::start(1).unwrap()),
        false => {
            need::passed_over("there is no etcd; only the restore into a folder is tried");
            None
        }
    };
    let folder = tempfile::tempdir().unwrap();
    let mut ground = Ground { folder, cluster, servers: Vec::new() };
    std::fs::create_dir_all(ground.place("/var/lib")).unwrap();
    let data = ground.place("/var/lib/groundplane");
    let old = Server::start(GROUNDPLANE, &data, &[]).unwrap();
    let client = old.client();
    client.post(MAPS, &map("kept", "first")).await.unwrap();
    client.merge(&format!("{MAPS}/kept"), &json!({"data": {"k": "changed"}})).await.unwrap();
    let secret = json!({"metadata": {"name": "s"}, "stringData": {"word": "xyzzy"}});
    client.post("/api/v1/namespaces/default/secrets", &secret).await.unwrap();
    signed(&old).await;
    ground.servers.push(old);

    let steps = steps();
    assert!(steps.len() > 10, "the commands of the guide are found");
    let mut on_etcd = 0;
    for step in &steps {
        if ground.cluster.is_none() && step.command.contains("etcd") | step.command.contains("tuesday") {
            continue;
        }
        if step.command.starts_with("groundplane serve") {
            ground.serve(&ground.here(&step.command));
            has_everything(ground.servers.last().unwrap()).await;
            on_etcd += usize::from(step.command.contains("--etcd"));
            continue;
        }
        let shown = ground.run(step);
        if step.command.contains("restore-backup monday.backup --data /var/lib/restored") {
            // What it prints is what serves it, and its clients need no new kubeconfig.
            let printed = shown.lines().find(|line| line.contains(" serve --data ")).unwrap().to_owned();
            ground.serve(&printed);
            let restored = ground.servers.pop().unwrap();
            let ca = |server: &Server| std::fs::read(server.data().join("ca.crt")).unwrap();
            assert_eq!(ca(&restored), ca(&ground.servers[0]));
            has_everything(&restored).await;
            restored.stop().unwrap();
        }
    }
    assert_eq!(on_etcd, usize::from(ground.cluster.is_some()));
}
