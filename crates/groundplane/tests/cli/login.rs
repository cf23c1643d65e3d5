//! People who log in at an issuer: through a browser, with a code, and never without a terminal.

use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::mpsc;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use sim::oidc::{Issuer, Person};
use testbed::server::Server;

use crate::program::{GROUNDPLANE, Ground, words};

/// A command on a terminal, and what it shows as it shows it.
struct AtTerminal {
    child: Child,
    shown: mpsc::Receiver<String>,
    text: String,
}

impl AtTerminal {
    fn start(ground: &Ground, line: &str) -> AtTerminal {
        let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&ours).unwrap();
        unlockpt(&ours).unwrap();
        let name = ptsname(&ours, Vec::new()).unwrap();
        let theirs =
            std::fs::File::options().read(true).write(true).open(Path::new(name.to_str().unwrap())).unwrap();
        let theirs: OwnedFd = theirs.into();
        let side = || Stdio::from(theirs.try_clone().unwrap());
        let mut command = ground.command(Path::new(GROUNDPLANE), &words(line));
        command.stdin(side()).stdout(side()).stderr(side());
        let child = command.spawn().unwrap();
        drop((command, theirs));
        let (sender, shown) = mpsc::channel();
        std::thread::spawn(move || {
            let mut file = std::fs::File::from(ours);
            let mut chunk = [0; 4096];
            // The end of the other side reads as an error here.
            while let Ok(count) = file.read(&mut chunk) {
                if count == 0
                    || sender.send(String::from_utf8_lossy(&chunk[..count]).replace('\r', "")).is_err()
                {
                    return;
                }
            }
        });
        AtTerminal { child, shown, text: String::new() }
    }

    /// Waits until a pattern is shown, and gives what its first group is.
    fn wait_for(&mut self, pattern: &str) -> String {
        let pattern = regex::Regex::new(pattern).unwrap();
        loop {
            if let Some(found) = pattern.captures(&self.text) {
                return found[1].to_owned();
            }
            self.text += &self.shown.recv().unwrap_or_else(|_| panic!("it ended with: {}", self.text));
        }
    }

    fn end(mut self) -> (String, i32) {
        let code = self.child.wait().unwrap().code().unwrap_or(-1);
        while let Ok(more) = self.shown.recv() {
            self.text += &more;
        }
        (self.text, code)
    }
}

async fn ground(issuer: &Issuer) -> Ground {
    let files = tempfile::tempdir().unwrap();
    let config = files.path().join("authentication.yaml");
    let text = format!(
        "apiVersion: apiserver.config.k8s.io/v1\nkind: AuthenticationConfiguration\njwt:\n- issuer:\n    url: {}\n    audiences: [groundplane]\n  \
         claimMappings:\n    username: {{claim: email, prefix: \"\"}}\n    groups: {{claim: groups, prefix: \"oidc:\"}}\n",
        issuer.url()
    );
    std::fs::write(&config, text).unwrap();
    let server = Server::fresh(GROUNDPLANE, &["--authentication-config", config.to_str().unwrap()]).unwrap();
    Ground { server, files }
}

/// Follows a page as a browser does, to where it is sent on.
fn browse(page: &str) -> String {
    let rest = page.strip_prefix("http://").unwrap();
    let (host, path) = rest.split_once('/').unwrap();
    let mut stream = std::net::TcpStream::connect(host).unwrap();
    write!(stream, "GET /{path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n").unwrap();
    let mut seen = String::new();
    stream.read_to_string(&mut seen).unwrap();
    match seen.lines().find_map(|line| line.strip_prefix("location: ")) {
        Some(next) => browse(next),
        None => seen,
    }
}

fn kept(ground: &Ground) -> Vec<std::path::PathBuf> {
    let folder = ground.server.data().with_file_name("home").join(".config/groundplane/login");
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|end| end == "json"))
        .collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn somebody_logs_in_through_a_browser_and_out_again() {
    let issuer = Issuer::start(Person::new("alice@example.com", &["operators"])).await.unwrap();
    let ground = ground(&issuer).await;
    let line = format!("login --issuer {} --no-browser", issuer.url());
    let mut login = AtTerminal::start(&ground, &line);
    let page = login.wait_for(r"(http://127\.0\.0\.1:\d+/authorize\S+)\n");
    assert!(page.contains("code_challenge_method=S256"), "{page}");
    // A page that nobody asked for is not believed.
    let port = regex::Regex::new(r"redirect_uri=http%3A%2F%2F127\.0\.0\.1%3A(\d+)")
        .unwrap()
        .captures(&page)
        .unwrap()[1]
        .to_owned();
    assert!(
        browse(&format!("http://127.0.0.1:{port}/callback?code=x&state=forged")).contains("not the login")
    );
    assert!(browse(&page).contains("You are logged in"));
    let (text, code) = login.end();
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("Logged in as alice@example.com"), "{text}");
    let who = ground.run("auth whoami");
    assert!(who.contains("alice@example.com") && who.contains("oidc:operators"), "{who}");
    let files = kept(&ground);
    assert_eq!(files.len(), 1);
    assert_eq!(std::fs::metadata(&files[0]).unwrap().permissions().mode() & 0o777, 0o600);
    let token = std::fs::read_to_string(&files[0]).unwrap();
    assert!(
        !std::fs::read_to_string(ground.server.kubeconfig()).unwrap().contains(&token[20..60]),
        "tokens are not in the kubeconfig"
    );
    let out = ground.told("logout");
    assert!(out.code == 0 && out.err.contains("Logged out"), "{out:?}");
    assert!(kept(&ground).is_empty());
    let refused = ground.told("get configmaps");
    assert!(refused.code != 0 && refused.err.contains("groundplane login --issuer"), "{refused:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn somebody_logs_in_with_a_code_and_tokens_are_refreshed() {
    let issuer = Issuer::start(Person::new("bob@example.com", &[])).await.unwrap();
    // Each token is as good as run out at once.
    issuer.tokens_last(20);
    let ground = ground(&issuer).await;
    let line = format!("login --issuer {} --device", issuer.url());
    let mut login = AtTerminal::start(&ground, &line);
    let code = login.wait_for(r"enter the code ([A-Z]{4}-[A-Z]{4})\n");
    assert!(issuer.confirm(&code));
    let (text, code) = login.end();
    assert_eq!(code, 0, "{text}");
    assert_eq!(issuer.given_out(), 1);
    assert!(ground.run("auth whoami").contains("bob@example.com"));
    assert_eq!(issuer.given_out(), 2, "the token was refreshed before it ran out");
    issuer.forget_all();
    let ended = ground.told("auth whoami");
    assert!(ended.code != 0 && ended.err.contains("the login has ended"), "{ended:?}");

    let mut login = AtTerminal::start(&ground, &line);
    let code = login.wait_for(r"enter the code ([A-Z]{4}-[A-Z]{4})\n");
    assert!(issuer.turn_down(&code));
    let (text, code) = login.end();
    assert!(code == 1 && text.contains("the login was denied"), "{text}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_is_asked_without_a_terminal() {
    let issuer = Issuer::start(Person::new("eve@example.com", &[])).await.unwrap();
    let ground = ground(&issuer).await;
    for flow in ["", "--device"] {
        let told = ground.told(&format!("login --issuer {} {flow}", issuer.url()));
        assert!(told.code == 1 && told.err.contains("login needs a terminal"), "{told:?}");
    }
    let told = ground.told(&format!("credential --issuer {}", issuer.url()));
    assert!(told.code == 1 && told.err.contains("nobody is logged in"), "{told:?}");
    assert_eq!(issuer.given_out(), 0);
}
