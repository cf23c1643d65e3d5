//! The console blocks of the documentation are run: every command on a real server, and its output is compared with
//! what the page shows.
//!
//! In what a page shows, `…` stands for anything, also for several lines when it is alone on one. Ages, times,
//! revisions and generated names may differ. A revision or a generated name that a page shows stands for the real one in
//! its later commands.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use regex::Regex;
use testbed::server::Server;

use crate::pages::{self, Page, ROOT, Step};
use crate::program::{GROUNDPLANE, Ground, kubectl};

/// Pages with blocks that other tests run, because they need more than one server.
const ELSEWHERE: [&str; 2] = ["docs/guides/run-on-etcd.md", "docs/guides/back-up-and-restore.md"];

/// Pages that show prompts, or a fleet that is not the demo's; their blocks are not run.
const NOT_RUN: [&str; 3] = [
    "docs/inventory/csv-round-trip.md",
    "docs/inventory/rack-and-cable-a-host.md",
    "docs/inventory/undo-a-mistake.md",
];

/// How long one command may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

#[test]
fn the_pages_work_on_a_fresh_server() {
    let Some(kubectl) = kubectl() else { return };
    let pages = runnable();
    let pages: Vec<&Page> = pages.iter().filter(|page| !needs_demo(page)).collect();
    let mut failures = Vec::new();
    for page in &pages {
        let server = Server::fresh(GROUNDPLANE, &[]).unwrap();
        failures.extend(run(page, &server, &kubectl));
    }
    eprintln!("{} pages run, each on a fresh server", pages.len());
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

/// One server for all of them: they clash neither with the demo nor with each other.
#[test]
fn the_pages_work_beside_the_demo() {
    let Some(kubectl) = kubectl() else { return };
    let ground = Ground::with_fleet();
    let pages = runnable();
    let pages: Vec<&Page> = pages.iter().filter(|page| !starts_fresh(page)).collect();
    let mut failures = Vec::new();
    for page in &pages {
        failures.extend(run(page, &ground.server, &kubectl));
    }
    eprintln!("{} pages run on a server with the demo", pages.len());
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

/// Nothing is left out in silence: a block runs here, runs elsewhere, or says why no test can run it.
#[test]
fn blocks_that_do_not_run_say_why() {
    let (mut run, mut counted) = (0, BTreeMap::<String, usize>::new());
    for page in runnable() {
        for block in page.blocks() {
            match block.not_run {
                None => run += block.steps.len(),
                Some(reason) => {
                    assert!(reason.split(' ').count() > 1, "{}:{}: {reason:?}", page.path, block.line);
                    *counted.entry(reason).or_default() += block.steps.len();
                }
            }
        }
    }
    eprintln!("{run} commands of the documentation are run");
    for (reason, commands) in &counted {
        eprintln!("{commands} are not: {reason}");
    }
    eprintln!("pages that are not run at all: {}", NOT_RUN.join(", "));
    let left_out: usize = counted.values().sum();
    assert!(run > 100 && left_out * 3 < run, "{left_out} of {run} commands are not run");
}

/// The pages whose blocks run here.
fn runnable() -> Vec<Page> {
    let is_run = |path: &str| {
        ["README.md", "docs/start.md"].contains(&path)
            || ["docs/for-", "docs/guides/", "docs/inventory/"].iter().any(|start| path.starts_with(start))
    };
    let mut pages = pages::all();
    let is_left_out = |path: &str| ELSEWHERE.contains(&path) || NOT_RUN.contains(&path);
    pages.retain(|page| is_run(&page.path) && !is_left_out(&page.path));
    pages.retain(|page| page.blocks().iter().any(|block| block.not_run.is_none()));
    pages
}

/// A page that says so is about the fleet of the demo, and so are the guides of the inventory.
fn needs_demo(page: &Page) -> bool {
    page.text.contains("serve --demo") || page.path.starts_with("docs/inventory/")
}

/// A page that starts a server of its own starts an empty one, unless it says otherwise.
fn starts_fresh(page: &Page) -> bool {
    let mut blocks = page.blocks().into_iter().filter(|block| block.not_run.is_none());
    !needs_demo(page) && blocks.any(|block| block.steps.iter().any(|step| starts_server(&step.command)))
}

fn starts_server(command: &str) -> bool {
    ["groundplane serve", "cargo run --release -p groundplane -- serve"]
        .iter()
        .any(|start| command.starts_with(start))
}

/// Runs the blocks of a page in one shell, and gives what was not as shown. With `GROUNDPLANE_KEEP=1` the page is
/// changed to show what was printed: read the difference before you commit it.
fn run(page: &Page, server: &Server, kubectl: &Path) -> Vec<String> {
    let mut shell = Shell::new(server, kubectl);
    let mut real = BTreeMap::new();
    let (mut failures, mut outdated) = (Vec::new(), Vec::new());
    for block in page.blocks().into_iter().filter(|block| block.not_run.is_none()) {
        for step in block.steps {
            let outcome = match starts_server(&step.command) {
                true => compare_start(&step, server),
                false => run_step(&mut shell, &step, &mut real),
            };
            match outcome {
                Ok(()) => {}
                Err(Differs::Output(printed)) if keeps() => outdated.push((step, printed)),
                Err(why) => {
                    let Step { line, command, shown } = step;
                    let shown = shown.join("\n");
                    failures.push(format!("{}:{line}: $ {command}\nis to show\n{shown}\n{why}", page.path));
                }
            }
            if shell.is_stuck {
                return failures;
            }
        }
    }
    if !outdated.is_empty() {
        std::fs::write(Path::new(ROOT).join(&page.path), showing(page, &outdated)).unwrap();
    }
    failures
}

/// How a command was not as shown.
#[derive(Debug)]
enum Differs {
    /// It printed something else.
    Output(String),
    /// It failed, or names the wrong thing.
    Other(String),
}

impl std::fmt::Display for Differs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Differs::Output(printed) => write!(f, "and printed\n{printed}"),
            Differs::Other(why) => f.write_str(why),
        }
    }
}

fn keeps() -> bool {
    std::env::var_os("GROUNDPLANE_KEEP").is_some()
}

/// The page with what these commands printed in place of what it showed.
fn showing(page: &Page, outdated: &[(Step, String)]) -> String {
    let mut lines: Vec<String> = page.text.lines().map(str::to_owned).collect();
    for (step, printed) in outdated.iter().rev() {
        let start = step.line - 1 + step.command.lines().count();
        lines.splice(start..start + step.shown.len(), printed.lines().map(|line| line.trim_end().to_owned()));
    }
    lines.join("\n") + "\n"
}

/// The test has started the server itself; what the page shows of it has to be what it says.
fn compare_start(step: &Step, server: &Server) -> Result<(), Differs> {
    let said = format!("{}\nexport KUBECONFIG={}\n", server.said(), server.kubeconfig().display());
    for shown in step.shown.iter().filter(|shown| shown.trim() != "…") {
        let shown_here = shown.replace("127.0.0.1:6443", "127.0.0.1:…");
        let (pattern, _) = pattern_of(&[shown_here.replace("/home/you/.local/share/groundplane", "…")]);
        if !Regex::new(&format!("(?m)^{pattern}")).unwrap().is_match(&said) {
            return Err(Differs::Other(format!("but {shown:?} is not in what it printed\n{said}")));
        }
    }
    Ok(())
}

fn run_step(shell: &mut Shell, step: &Step, real: &mut BTreeMap<String, String>) -> Result<(), Differs> {
    let word = Regex::new(r"[a-z0-9-]+").unwrap();
    let known =
        |word: &regex::Captures<'_>| real.get(&word[0]).cloned().unwrap_or_else(|| word[0].to_owned());
    let command = word.replace_all(&step.command, known).into_owned();
    let (printed, code) = shell.run(&command).map_err(Differs::Other)?;
    // A command that is meant to fail shows how.
    if code != 0 && step.shown.iter().all(|shown| shown.trim() == "…") {
        return Err(Differs::Other(format!("and ended with {code}:\n{printed}")));
    }
    if step.shown.is_empty() {
        return Ok(());
    }
    learn(&step.shown, &printed, real)
}

/// Compares what was printed with what is shown, and takes note of which revision and name stands for which.
fn learn(shown: &[String], printed: &str, real: &mut BTreeMap<String, String>) -> Result<(), Differs> {
    let (pattern, variables) = pattern_of(shown);
    let pattern = Regex::new(&format!(r"\A{pattern}\z")).unwrap();
    let printed: String = printed.lines().map(|line| format!("{}\n", line.trim_end())).collect();
    let Some(found) = pattern.captures(&printed) else { return Err(Differs::Output(printed)) };
    for (variable, actual) in variables.iter().zip(found.iter().skip(1).flatten()) {
        let known = real.entry(variable.clone()).or_insert_with(|| actual.as_str().to_owned());
        if known != actual.as_str() {
            let why = format!("but {variable} stood for {known} before and now for {}", actual.as_str());
            return Err(Differs::Other(why));
        }
    }
    Ok(())
}

/// A pattern for lines that a page shows, and what it captures: revisions and generated names.
fn pattern_of(shown: &[String]) -> (String, Vec<String>) {
    let (mut pattern, mut variables) = (String::new(), Vec::new());
    for line in shown {
        if line.trim() == "…" {
            pattern += r"(?:[^\n]*\n)*?";
            continue;
        }
        let line = line.trim_end();
        let mut end = 0;
        for found in varying().captures_iter(line) {
            let whole = found.get(0).unwrap();
            let (name, with) = VARYING.iter().find(|(name, _)| found.name(name).is_some()).unwrap();
            // The names of people end in letters, generated ones nearly always have a digit.
            if *name == "name" && !whole.as_str()[whole.len() - 5..].contains(|c: char| c.is_ascii_digit()) {
                continue;
            }
            if with.starts_with('(') {
                variables.push(whole.as_str().to_owned());
            }
            pattern += &regex::escape(&line[end..whole.start()]);
            pattern += with;
            end = whole.end();
        }
        pattern += &regex::escape(&line[end..]);
        pattern += "\n";
    }
    (pattern, variables)
}

/// What may differ from what is shown, and by what; captured is what later commands may name.
const VARYING: [(&str, &str); 6] = [
    ("any", r"[^\n]*"),
    ("space", r"[ \t]+"),
    ("time", r"\d{4}-\d\d-\d\dT[\d:.]+Z"),
    ("revision", r"(\d{5,})"),
    ("age", r"\d+(?:[smhdy]|m\d+s|h\d+m|d\d+h)"),
    ("name", r"([a-z][a-z0-9-]*-[a-z0-9]{5})"),
];

/// Finds in a shown line what may differ.
fn varying() -> Regex {
    Regex::new(
        r"(?x) (?<any>…) | (?<space>\s+) | (?<time>\d{4}-\d\d-\d\dT[\d:.]+Z) | (?<revision>\b\d{5,}\b)
        | (?<age>\b\d+(?:[smhdy]|m\d+s|h\d+m|d\d+h)\b)
        | (?<name>\b[a-z][a-z0-9-]*-[bcdfghjklmnpqrstvwxz2456789]{5}\b)",
    )
    .unwrap()
}

/// A bash that keeps its variables from one command to the next, in a folder and a home of its own.
struct Shell {
    child: Child,
    input: ChildStdin,
    output: Receiver<String>,
    folder: tempfile::TempDir,
    count: usize,
    /// Whether a command has not ended: then nothing more can be run.
    is_stuck: bool,
}

/// What no command prints.
const END: &str = "\u{1}end of step ";

impl Shell {
    fn new(server: &Server, kubectl: &Path) -> Shell {
        let folder = tempfile::tempdir().unwrap();
        let (work, home) = (folder.path().join("work"), folder.path().join("home"));
        std::fs::create_dir_all(home.join(".local/share")).unwrap();
        std::fs::create_dir(&work).unwrap();
        let link = |from: &Path, to: &Path| std::os::unix::fs::symlink(from, to).unwrap();
        link(server.data(), &home.join(".local/share/groundplane"));
        link(&Path::new(ROOT).join("docs"), &work.join("docs"));
        let path = [Path::new(GROUNDPLANE).parent().unwrap(), kubectl.parent().unwrap()];
        let inherited = std::env::var_os("PATH").unwrap_or_default();
        let path = path.into_iter().map(Path::to_owned).chain(std::env::split_paths(&inherited));
        let mut child = Command::new("bash")
            .args(["--noprofile", "--norc"])
            .current_dir(&work)
            .env("PATH", std::env::join_paths(path).unwrap())
            .env("KUBECONFIG", server.kubeconfig())
            .env("HOME", &home)
            .env("TERM", "dumb")
            .env("LC_ALL", "C.UTF-8")
            .env_remove("GROUNDPLANE_KUBECONFIG")
            .env_remove("KUBECACHEDIR")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = child.stdin.take().unwrap();
        writeln!(input, "exec 2>&1").unwrap();
        let output = follow(child.stdout.take().unwrap());
        Shell { child, input, output, folder, count: 0, is_stuck: false }
    }

    /// Runs a command, and gives what it printed on both streams and how it ended.
    fn run(&mut self, command: &str) -> Result<(String, i32), String> {
        self.count += 1;
        let script = self.folder.path().join(format!("step-{}.sh", self.count));
        std::fs::write(&script, format!("{command}\n")).unwrap();
        writeln!(self.input, "source {} </dev/null; echo; echo $'{END}'$?", script.display()).unwrap();
        let mut printed = String::new();
        loop {
            let Ok(line) = self.output.recv_timeout(PATIENCE) else {
                self.is_stuck = true;
                return Err(format!("and did not end within {PATIENCE:?}:\n{printed}"));
            };
            if let Some(code) = line.strip_prefix(END) {
                // The line feed before the end is ours.
                printed.pop();
                return Ok((printed, code.trim().parse().unwrap()));
            }
            printed += &line;
        }
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        let _ = writeln!(self.input, "kill $(jobs -p) 2>/dev/null; exit");
        std::thread::sleep(Duration::from_millis(20));
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn follow(from: impl Read + Send + 'static) -> Receiver<String> {
    let (lines, output) = channel();
    std::thread::spawn(move || {
        let mut from = BufReader::new(from);
        let mut line = String::new();
        while from.read_line(&mut line).is_ok_and(|read| read > 0) {
            if lines.send(std::mem::take(&mut line)).is_err() {
                return;
            }
        }
    });
    output
}

#[test]
fn a_page_is_changed_to_show_what_was_printed() {
    let text = "```console\n$ one \\\n    two\nold\n…\n$ three\n```\nend\n";
    let page = Page { path: "page.md".to_owned(), text: text.to_owned() };
    let step = page.blocks().remove(0).steps.remove(0);
    let shown = showing(&page, &[(step, "new \n".to_owned())]);
    assert_eq!(shown, "```console\n$ one \\\n    two\nnew\n$ three\n```\nend\n");
}

#[test]
fn what_is_shown_stands_for_what_is_printed() {
    let shown = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    let mut real = BTreeMap::new();
    let table = shown("REVISION   AGE   VERB\n720896     2m    apply\n…\nkept as plan-x7k2p");
    learn(
        &table,
        "REVISION AGE VERB\n458752 1m3s apply\n393216 9s create\n\nkept as plan-aaaaa\n",
        &mut real,
    )
    .unwrap();
    assert_eq!(real["720896"], "458752");
    assert_eq!(real["plan-x7k2p"], "plan-aaaaa");
    learn(&shown("revision 720896"), "revision 458752\n", &mut real).unwrap();
    for (told, printed) in [
        ("revision 720896", "revision 393216\n"),
        ("configmap/a created", "configmap/b created\n"),
        ("configmap/a created", "configmap/a created\nconfigmap/b created\n"),
        ("configmap/a created\nconfigmap/b created", "configmap/a created\n"),
        ("limit: 5", "limit: 50\n"),
    ] {
        assert!(learn(&shown(told), printed, &mut real).is_err(), "{told} {printed}");
    }
}
