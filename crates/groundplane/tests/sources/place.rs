//! A server, a folder and the program, as an operator uses them.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;
use testbed::server::Server;

pub const GROUNDPLANE: &str = env!("CARGO_BIN_EXE_groundplane");
/// How long something may take; far more than it needs on a quiet machine.
pub const PATIENCE: Duration = Duration::from_secs(120);

pub struct Place {
    pub server: Server,
    pub folder: TempDir,
}

impl Place {
    pub fn new() -> Place {
        Place::with(&[])
    }

    /// With flags of the server.
    pub fn with(flags: &[&str]) -> Place {
        let server = Server::fresh(GROUNDPLANE, flags).unwrap();
        Place { server, folder: tempfile::tempdir().unwrap() }
    }

    pub fn file(&self, name: &str, content: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::write(&path, content).unwrap();
        path
    }

    pub fn kubeconfig(&self, source: &str) -> PathBuf {
        self.folder.path().join(format!("{source}.kubeconfig"))
    }

    fn command(&self, kubeconfig: &Path, words: &[&str]) -> Command {
        let mut command = Command::new(GROUNDPLANE);
        command.args(words).env("KUBECONFIG", kubeconfig).current_dir(self.folder.path());
        command
    }

    /// Types a command as the administrator.
    pub fn type_in(&self, words: &[&str]) -> Output {
        self.command(self.server.kubeconfig(), words).output().unwrap()
    }

    /// Types a command that works, and gives what it printed.
    pub fn run(&self, words: &[&str]) -> String {
        said(words, self.type_in(words), Some(0))
    }

    /// Looks at a source once, as its own identity, and gives what that printed.
    pub fn sync(&self, source: &str, code: i32) -> String {
        self.sync_with(source, &[], code)
    }

    pub fn sync_with(&self, source: &str, more: &[&str], code: i32) -> String {
        let mut words = vec!["sync", source, "--once", "--log", "warn"];
        words.extend(more);
        said(&words, self.command(&self.kubeconfig(source), &words).output().unwrap(), Some(code))
    }

    /// What a look at a source would write.
    pub fn sync_preview(&self, source: &str) -> String {
        let words = ["sync", source, "--dry-run"];
        said(&words, self.command(&self.kubeconfig(source), &words).output().unwrap(), Some(0))
    }

    /// Types a command with the identity of a source, and gives what it complains of.
    pub fn refused_as(&self, source: &str, words: &[&str]) -> String {
        let ended = self.command(&self.kubeconfig(source), words).output().unwrap();
        assert!(!ended.status.success(), "{words:?} was not refused");
        String::from_utf8_lossy(&ended.stderr).into_owned()
    }

    /// Starts a synchronizer that goes on.
    pub fn start(&self, source: &str, more: &[&str]) -> Process {
        let mut words = vec!["sync", source];
        words.extend(more);
        let log =
            std::fs::File::create(self.folder.path().join(format!("{source}-{}.log", more.len()))).unwrap();
        Process(self.command(&self.kubeconfig(source), &words).stderr(Stdio::from(log)).spawn().unwrap())
    }

    /// The objects of a kind.
    pub fn list(&self, plural: &str) -> Vec<Value> {
        let printed = self.run(&["get", plural, "-o", "json"]);
        serde_json::from_str::<Value>(&printed).unwrap()["items"].as_array().unwrap().clone()
    }

    pub fn hosts(&self) -> Vec<Value> {
        self.list("hosts.fulfillment.groundplane.dev")
    }

    /// The host with a display name.
    pub fn host(&self, name: &str) -> Value {
        let found = self.hosts().into_iter().find(|host| host["displayName"] == name);
        found.unwrap_or_else(|| panic!("there is no host {name}"))
    }

    /// The version of everything that a synchronizer may write.
    pub fn versions(&self) -> BTreeMap<String, String> {
        let mut all = BTreeMap::new();
        for plural in ["hosts.fulfillment.groundplane.dev", "hostclasses", "sources", "sourcefindings"] {
            for object in self.list(plural) {
                let text = |field: &str| object["metadata"][field].as_str().unwrap().to_owned();
                all.insert(format!("{plural}/{}", text("name")), text("resourceVersion"));
            }
        }
        all
    }

    /// Waits until the versions stay as they are: controllers have nothing left to do.
    pub fn settled(&self) -> BTreeMap<String, String> {
        let mut before = self.versions();
        let begun = Instant::now();
        loop {
            std::thread::sleep(Duration::from_millis(700));
            let now = self.versions();
            if now == before || begun.elapsed() > PATIENCE {
                return now;
            }
            before = now;
        }
    }

    /// A condition of an object.
    pub fn condition(object: &Value, kind: &str) -> Option<Value> {
        let all = object["status"]["conditions"].as_array()?;
        all.iter().find(|condition| condition["type"] == kind).cloned()
    }
}

/// Waits for something.
pub fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(begun.elapsed() < PATIENCE, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(300));
    }
}

fn said(words: &[&str], ended: Output, code: Option<i32>) -> String {
    let (out, err) = (String::from_utf8_lossy(&ended.stdout), String::from_utf8_lossy(&ended.stderr));
    assert_eq!(ended.status.code(), code, "{words:?}: {out}{err}");
    out.into_owned()
}

/// A process that ends with this.
pub struct Process(pub Child);

impl Process {
    /// Ends it as a crash would.
    pub fn kill(mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }

    /// Asks it to stop, and gives its exit code.
    pub fn stop(mut self) -> Option<i32> {
        Command::new("kill").args(["-TERM", &self.0.id().to_string()]).status().unwrap();
        self.0.wait().unwrap().code()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A port that nobody listens on.
pub fn free_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// Asks a server on this machine, over plain HTTP: the status code and the JSON of the answer.
pub fn http(
    port: u16,
    method: &str,
    path: &str,
    headers: &str,
    body: Option<&Value>,
) -> Option<(u16, Value)> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
    let body = body.map(Value::to_string).unwrap_or_default();
    let request = format!(
        "{method} {path} HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\nconnection: close\r\n{headers}\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    let code = answer.split_whitespace().nth(1)?.parse().ok()?;
    let (_, body) = answer.split_once("\r\n\r\n")?;
    Some((code, serde_json::from_str(body).unwrap_or_default()))
}
