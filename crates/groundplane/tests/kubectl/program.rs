//! kubectl as a person at a terminal has it.

use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::Value;
use testbed::server::Server;
use testbed::{need, parts};

/// One kubectl, and the server it talks to.
pub struct Kubectl {
    program: PathBuf,
    version: String,
    pub server: Server,
}

/// Tells a story with every kubectl there is, each time to a server of its own.
pub fn with_each(story: impl Fn(&Kubectl)) {
    for (program, missing) in [
        (parts::find("kubectl-1.32/kubectl").or_else(on_path), "there is no kubectl"),
        (parts::find("kubectl-1.35/kubectl"), "kubectl 1.35 was not fetched; `cargo xtask test` does that"),
    ] {
        let Some(program) = program else {
            need::passed_over(missing);
            continue;
        };
        let server = Server::fresh(env!("CARGO_BIN_EXE_groundplane"), &[]).unwrap();
        let mut kubectl = Kubectl { program, version: String::new(), server };
        let version: Value = serde_json::from_str(&kubectl.run("version -o json")).unwrap();
        kubectl.version = version["clientVersion"]["gitVersion"].as_str().unwrap().to_owned();
        eprintln!("with kubectl {}", kubectl.version);
        story(&kubectl);
    }
}

fn on_path() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join("kubectl")).find(|program| program.is_file())
}

impl Kubectl {
    fn command(&self, line: &str) -> Command {
        let mut command = Command::new(&self.program);
        command
            .args(words(line))
            .env("KUBECONFIG", self.server.kubeconfig())
            // Discovery is cached below the home of the user.
            .env("HOME", self.server.data().with_file_name("home"))
            .env_remove("KUBECACHEDIR")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Types a command that works, and gives what it printed.
    pub fn run(&self, line: &str) -> String {
        let ended = self.command(line).output().unwrap();
        self.printed(line, &ended)
    }

    /// The same with a file typed in: `kubectl apply -f -`.
    pub fn run_with(&self, line: &str, input: &str) -> String {
        let ended = self.with_input(line, input);
        self.printed(line, &ended)
    }

    fn with_input(&self, line: &str, input: &str) -> Output {
        let mut child = self.command(line).stdin(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        child.wait_with_output().unwrap()
    }

    fn printed(&self, line: &str, ended: &Output) -> String {
        let said = String::from_utf8_lossy(&ended.stderr);
        let printed = String::from_utf8_lossy(&ended.stdout).into_owned();
        assert!(ended.status.success(), "{} kubectl {line}: {said}{printed}", self.version);
        printed
    }

    /// Types a command that opens an editor.
    pub fn run_as_editor(&self, editor: &std::path::Path, line: &str) -> String {
        let ended = self.command(line).env("KUBE_EDITOR", editor).output().unwrap();
        self.printed(line, &ended)
    }

    /// Types a command that is refused, and gives what it said.
    pub fn refused(&self, line: &str) -> String {
        self.said(line, &self.command(line).output().unwrap())
    }

    /// The same with a file typed in.
    pub fn refused_with(&self, line: &str, input: &str) -> String {
        self.said(line, &self.with_input(line, input))
    }

    fn said(&self, line: &str, ended: &Output) -> String {
        let printed = String::from_utf8_lossy(&ended.stdout);
        assert!(!ended.status.success(), "{} kubectl {line} was not refused: {printed}", self.version);
        String::from_utf8_lossy(&ended.stderr).into_owned() + &printed
    }

    /// What a command prints with `-o json`.
    pub fn json(&self, line: &str) -> Value {
        let line = format!("{line} -o json");
        let printed = self.run(&line);
        serde_json::from_str(&printed).unwrap_or_else(|error| panic!("kubectl {line}: {error}: {printed}"))
    }

    /// Starts a command that goes on.
    pub fn start(&self, line: &str) -> Going {
        let mut child = self.command(line).spawn().unwrap();
        let mut printing = child.stdout.take().unwrap();
        let printed = Arc::new(Mutex::new(Vec::new()));
        let kept = printed.clone();
        let reader = std::thread::spawn(move || {
            let mut piece = [0; 4096];
            while let Ok(length @ 1..) = printing.read(&mut piece) {
                kept.lock().unwrap().extend_from_slice(&piece[..length]);
            }
        });
        Going { child: Some(child), reader: Some(reader), printed, line: line.to_owned() }
    }

    /// Repeats a command until it prints what is awaited.
    pub fn until(&self, line: &str, awaited: impl Fn(&str) -> bool) -> String {
        let begun = Instant::now();
        loop {
            let ended = self.command(line).output().unwrap();
            let printed =
                String::from_utf8_lossy(&ended.stdout).into_owned() + &String::from_utf8_lossy(&ended.stderr);
            if awaited(&printed) {
                return printed;
            }
            assert!(begun.elapsed() < Duration::from_secs(20), "kubectl {line} still says {printed}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

/// A command that goes on, such as `get --watch`.
pub struct Going {
    child: Option<Child>,
    reader: Option<JoinHandle<()>>,
    printed: Arc<Mutex<Vec<u8>>>,
    line: String,
}

impl Going {
    /// Waits until it has printed what is awaited, and gives all of it.
    pub fn until(&self, awaited: impl Fn(&str) -> bool) -> String {
        let begun = Instant::now();
        loop {
            let printed = String::from_utf8_lossy(&self.printed.lock().unwrap()).into_owned();
            if awaited(&printed) {
                return printed;
            }
            assert!(begun.elapsed() < Duration::from_secs(20), "kubectl {} still says {printed}", self.line);
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Waits for its end, and gives what it printed.
    pub fn end(mut self) -> String {
        let ended = self.child.take().unwrap().wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&ended.stderr);
        assert!(ended.status.success(), "kubectl {}: {said}", self.line);
        self.all()
    }

    /// Interrupts it, and gives what it printed until then.
    pub fn interrupt(mut self) -> String {
        let mut child = self.child.take().unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        self.all()
    }

    fn all(&mut self) -> String {
        self.reader.take().unwrap().join().unwrap();
        String::from_utf8_lossy(&self.printed.lock().unwrap()).into_owned()
    }
}

impl Drop for Going {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// The words of a command line; what is between single quotes is one.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (index, part) in line.split('\'').enumerate() {
        match index % 2 {
            0 => words.extend(part.split_whitespace().map(str::to_owned)),
            _ => words.push(part.to_owned()),
        }
    }
    words
}
