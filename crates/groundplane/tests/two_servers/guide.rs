//! docs/guides/run-on-etcd.md, word for word: its commands are run, on folders that stand for machines.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use testbed::etcd::Cluster;
use testbed::server::Server;
use testbed::{need, parts};

use super::GROUNDPLANE;

const GUIDE: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/guides/run-on-etcd.md"));
const ENDPOINTS: &str = "https://10.0.0.11:2379,https://10.0.0.12:2379,https://10.0.0.13:2379";

/// A command of the guide: on which machine, what, and what it shows.
struct Step {
    machine: String,
    command: String,
    shown: Vec<String>,
}

/// The commands in the blocks for a console.
fn steps() -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for block in GUIDE.split("```console\n").skip(1) {
        let block = block.split("```").next().unwrap().replace("\\\n", "");
        for line in block.lines() {
            match line.split_once("$ ").filter(|(machine, _)| ["first", "second", "you"].contains(machine)) {
                Some((machine, command)) => steps.push(Step {
                    machine: machine.to_owned(),
                    command: command.to_owned(),
                    shown: Vec::new(),
                }),
                None => steps.last_mut().unwrap().shown.push(line.to_owned()),
            }
        }
    }
    steps
}

/// Machines that are folders, with an etcd beside them.
struct Ground {
    cluster: Cluster,
    folder: tempfile::TempDir,
    servers: BTreeMap<String, Server>,
}

impl Ground {
    fn data(&self, machine: &str) -> PathBuf {
        self.folder.path().join(machine).join("groundplane")
    }

    /// The words of the guide as they are here.
    fn here(&self, step: &Step) -> String {
        let mut words = step.command.replace(ENDPOINTS, &self.cluster.endpoints().join(","));
        words = words.replace("/etc/groundplane/etcd", &self.cluster.dir().display().to_string());
        for machine in ["first", "second"] {
            let data = self.data(machine).display().to_string();
            words = words.replace(&format!("{machine}:/var/lib/groundplane"), &data);
            if let Some(server) = self.servers.get(machine) {
                words = words.replace(&format!("https://{machine}:6443"), &address(server));
            }
        }
        let own = self.data(&step.machine).display().to_string();
        words.replace("/var/lib/groundplane", &own).replace("scp ", "cp ")
    }

    /// Starts a server as a step says.
    fn serve(&mut self, step: &Step) {
        let here = self.here(step);
        let words: Vec<&str> = here.split_whitespace().collect();
        let value = |flag: &str| words.iter().position(|word| *word == flag).map(|at| words[at + 1]);
        assert_eq!(value("--listen"), Some("0.0.0.0:6443"));
        let own = ["--data", "--listen"].map(|flag| words.iter().position(|word| *word == flag).unwrap());
        let is_own = |at: usize| own.iter().any(|flag| at == *flag || at == flag + 1);
        let rest: Vec<&str> =
            words.iter().enumerate().skip(2).filter(|(at, _)| !is_own(*at)).map(|(_, word)| *word).collect();
        let server = Server::start(GROUNDPLANE, Path::new(value("--data").unwrap()), &rest);
        self.servers.insert(step.machine.clone(), server.unwrap());
    }

    /// Runs a step, and gives what it showed.
    fn run(&self, step: &Step, kubectl: &Path) -> String {
        let folders =
            [Path::new(GROUNDPLANE), kubectl].map(|program| program.parent().unwrap().display().to_string());
        let output = Command::new("bash")
            .args(["-c", &self.here(step)])
            // What one machine has made and another one uses lies in one place.
            .current_dir(self.folder.path())
            .env("HOME", self.folder.path())
            .env("PATH", format!("{}:{}", folders.join(":"), std::env::var("PATH").unwrap_or_default()))
            .env_remove("KUBECONFIG")
            .env_remove("GROUNDPLANE_KUBECONFIG")
            .output()
            .unwrap();
        let shown =
            format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{}$ {}\n{shown}", step.machine, step.command);
        shown
    }
}

/// Runs the command that a restore printed, on another port, and looks for what was restored.
fn serves_what_was_restored(printed: &str) {
    let words: Vec<&str> = printed.split_whitespace().collect();
    assert_eq!(words[1..3], ["serve", "--data"], "{printed}");
    let server = Server::start(GROUNDPLANE, Path::new(words[3]), &words[4..]).unwrap();
    for (asked, shown) in
        [("get configmap hello -o jsonpath={.data.from}", "first"), ("audit verify", "verified: ")]
    {
        let output = Command::new(GROUNDPLANE)
            .args(asked.split(' '))
            .env("KUBECONFIG", server.kubeconfig())
            .output()
            .unwrap();
        let out = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && out.starts_with(shown), "{asked}: {output:?}");
    }
}

fn address(server: &Server) -> String {
    let kubeconfig = std::fs::read_to_string(server.kubeconfig()).unwrap();
    let (_, rest) = kubeconfig.split_once("https://").unwrap();
    format!("https://{}", rest.split(['\n', '"']).next().unwrap())
}

#[test]
fn the_guide_works_as_it_stands() {
    let (true, Some(kubectl)) = (Cluster::available(), parts::find("kubectl-1.35/kubectl")) else {
        need::passed_over("there is no etcd, or no kubectl");
        return;
    };
    let cluster = Cluster::with(1).tls().flag("--max-txn-ops=10000").flag("--max-request-bytes=16777216");
    let folder = tempfile::tempdir().unwrap();
    let mut ground = Ground { cluster: cluster.start().unwrap(), folder, servers: BTreeMap::new() };
    for machine in ["first", "second"] {
        std::fs::create_dir_all(ground.folder.path().join(machine)).unwrap();
    }
    let steps = steps();
    assert!(steps.len() > 12, "the commands of the guide are found");
    for step in &steps {
        if step.command.starts_with("groundplane serve") {
            ground.serve(step);
            continue;
        }
        let shown = ground.run(step, &kubectl);
        if step.command.contains("restore-backup") {
            let printed = shown.lines().find(|line| line.contains(" serve --data ")).unwrap();
            serves_what_was_restored(printed);
        }
        for line in &step.shown {
            assert!(shown.lines().any(|found| found == line), "{}$ {}: {shown}", step.machine, step.command);
        }
    }
    // What it says of the limits is so: more than a cluster of usual limits takes, in one commit.
    let many: String = (0..300)
        .map(|number| format!("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: many-{number}}}\n"))
        .collect();
    std::fs::write(ground.folder.path().join("many.yaml"), many).unwrap();
    let apply = "groundplane --kubeconfig first.kubeconfig apply -f many.yaml";
    let step = Step { machine: "you".into(), command: apply.into(), shown: Vec::new() };
    assert!(ground.run(&step, &kubectl).contains("300 objects in one commit"), "as the limits allow");
}
