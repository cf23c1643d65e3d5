//! What a person sees on a terminal, and a script in a pipe: both are kept as golden files.

use std::io::Read;
use std::path::Path;

use crate::program::{GROUNDPLANE, Ground, KETTLES, KITCHEN, words};
use crate::terminal;

/// What a command shows on a terminal of so many columns, and its exit code.
fn shown(ground: &Ground, line: &str, columns: u16, no_colour: bool) -> (String, i32) {
    let mut command = ground.command(Path::new(GROUNDPLANE), &words(line));
    if no_colour {
        command.env("NO_COLOR", "1");
    }
    let (mut child, mut terminal) = terminal::run(command, columns);
    let reading = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        // The end of the other side reads as an error here.
        let _ = terminal.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).replace("\r\n", "\n")
    });
    let code = child.wait().unwrap().code().unwrap_or(-1);
    (reading.join().unwrap(), code)
}

/// Holds a text against what is kept; GROUNDPLANE_KEEP=1 keeps the new one instead.
fn golden(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/golden").join(name);
    if std::env::var_os("GROUNDPLANE_KEEP").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(text, kept, "{name} differs; GROUNDPLANE_KEEP=1 keeps what is printed now");
}

/// What changes from run to run, replaced by what it is.
fn steady(text: &str) -> String {
    let ages = regex::Regex::new(r"(?m) \d+s( +|$)").unwrap();
    let text =
        ages.replace_all(text, |found: &regex::Captures| if found[1].is_empty() { " AGE" } else { " AGE " });
    let ids = regex::Regex::new(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}").unwrap();
    let text = ids.replace_all(&text, "UID");
    let times = regex::Regex::new(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z").unwrap();
    let text = times.replace_all(&text, "TIME");
    let revisions = regex::Regex::new(r"\b\d{6,}\b").unwrap();
    revisions.replace_all(&text, "REVISION").into_owned()
}

fn kitchen() -> Ground {
    let ground = Ground::fresh();
    ground.run_with("apply -f -", KETTLES);
    ground.run_with("apply -f -", KITCHEN);
    ground
}

#[test]
fn the_same_commands_on_a_terminal_and_in_a_pipe() {
    let ground = kitchen();
    ground.file("new.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: new}\ndata: {k: v}\n");
    ground.file(
        "bad.yaml",
        "apiVersion: example.com/v1\nkind: Kettle\nmetadata:\n  name: bad\nspec:\n  litres: 12\n",
    );
    let (mut on_terminal, mut in_pipe) = (String::new(), String::new());
    for line in [
        "get kettles -n kitchen",
        "get kettles,cm -n kitchen -o wide",
        "get kettles -A --show-labels",
        "get kettle missing -n kitchen",
        "get kettels -n kitchen",
        "apply -f new.yaml --dry-run=server",
        "apply -f new.yaml",
        "apply -f bad.yaml",
        "diff -f new.yaml",
        "describe kettle whistler -n kitchen",
        "delete -f new.yaml",
    ] {
        let (text, code) = shown(&ground, line, 80, false);
        on_terminal += &format!("$ groundplane {line}\n{}[{code}]\n\n", steady(&text));
        if line.starts_with("apply -f new.yaml") && !line.contains("dry") {
            ground.run("delete -f new.yaml");
        }
        let told = ground.told(line);
        in_pipe +=
            &format!("$ groundplane {line}\n{}{}[{}]\n\n", steady(&told.out), steady(&told.err), told.code);
        if line == "delete -f new.yaml" {
            assert_eq!(code, 0);
        }
    }
    golden("terminal.txt", &on_terminal);
    golden("pipe.txt", &in_pipe);
}

#[test]
fn no_colour_is_shown_where_none_is_wanted() {
    let ground = kitchen();
    let (text, _) = shown(&ground, "get kettles -n kitchen", 80, false);
    assert!(text.contains("\u{1b}["), "{text}");
    let (text, _) = shown(&ground, "get kettles -n kitchen", 80, true);
    assert!(!text.contains('\u{1b}'), "{text}");
    assert!(!ground.run("get kettles -n kitchen").contains('\u{1b}'));
}

#[test]
fn tables_fit_the_terminal() {
    let ground = kitchen();
    for columns in [40, 60, 100] {
        let (text, _) = shown(&ground, "get kettles -n kitchen --show-labels", columns, true);
        assert!(text.lines().all(|line| line.chars().count() <= usize::from(columns)), "{columns}: {text}");
        assert!(text.contains("whistler"), "{text}");
    }
    assert!(ground.run("get kettles -n kitchen --show-labels").contains("app=tea,tier=front"));
}

#[test]
fn nobody_is_asked_without_a_terminal() {
    let ground = kitchen();
    let told = ground.told("delete kettle whistler -n kitchen --interactive");
    assert!(told.out.ends_with("deletion is cancelled\n"), "{told:?}");
    assert_eq!(ground.run("get kettle whistler -n kitchen -o name"), "kettle.example.com/whistler\n");
    let mut command = ground.command(Path::new(GROUNDPLANE), &words("edit kettle whistler -n kitchen"));
    let output = command.env_remove("EDITOR").env_remove("KUBE_EDITOR").output().unwrap();
    assert!(String::from_utf8(output.stderr).unwrap().contains("there is no terminal to edit on"));
}
