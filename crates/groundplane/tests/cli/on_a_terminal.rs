//! What a person sees on a terminal, and a script in a pipe: both are kept as golden files.

use std::io::Read;
use std::path::Path;

use crate::program::{GROUNDPLANE, Ground, KETTLES, KITCHEN, Told, ended, words};
use crate::terminal;

/// What a command shows on a terminal of so many columns, and its exit code.
pub fn shown(ground: &Ground, line: &str, columns: u16, no_colour: bool) -> (String, i32) {
    let mut command = ground.command(Path::new(GROUNDPLANE), &words(line));
    // An editor that leaves everything as it is.
    command.env("KUBE_EDITOR", "true");
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

/// The same in a pipe.
fn in_a_pipe(ground: &Ground, line: &str) -> Told {
    let mut command = ground.command(Path::new(GROUNDPLANE), &words(line));
    ended(command.env_remove("KUBE_EDITOR").env_remove("EDITOR").output().unwrap())
}

/// Holds a text against what is kept; GROUNDPLANE_KEEP=1 keeps the new one instead.
pub fn golden(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/golden").join(name);
    if std::env::var_os("GROUNDPLANE_KEEP").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(text, kept, "{name} differs; GROUNDPLANE_KEEP=1 keeps what is printed now");
}

/// What changes from run to run, replaced by what it is.
pub fn steady(ground: &Ground, text: &str) -> String {
    let mut text = text.replace(&ground.server.kubeconfig().display().to_string(), "KUBECONFIG");
    for (pattern, instead) in [
        (r"(?m) \d+s$", " AGE"),
        (r" \d+s +", " AGE "),
        (r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "UID"),
        (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", "TIME"),
        (r"X509SHA256=[0-9a-f]+…?", "X509SHA256=HASH"),
        (r"127\.0\.0\.1:\d+", "ADDRESS"),
        // Whether a checkpoint was kept elsewhere by then depends on how long the server runs.
        (r"(?m)^not proven: .*\n", ""),
        (r"\d+ records of \d+ objects, \d+ checkpoints(, signed through revision \d+)?", "RECORDS"),
        (r"\d+ bytes", "N bytes"),
        (r"\d+ types in \d+ groups", "N types in N groups"),
        (r"plan-[a-z0-9]{5}\b", "plan-RANDOM"),
        (r"\b\d{6,}\b", "REVISION"),
        (r"v\d+\.\d+\.\d+(\+groundplane-\d+\.\d+\.\d+)?", "VERSION"),
    ] {
        text = regex::Regex::new(pattern).unwrap().replace_all(&text, instead).into_owned();
    }
    text
}

fn kitchen() -> Ground {
    let ground = Ground::fresh();
    ground.run_with("apply -f -", KETTLES);
    ground.run_with("apply -f -", KITCHEN);
    ground
}

/// A line for each command, and for what is often seen of it; what each changes is undone by the next.
const LINES: [&str; 64] = [
    "get kettles -n kitchen",
    "get kettles,cm -n kitchen -o wide --field-selector metadata.name!=kube-root-ca.crt",
    "get kettles -A --show-labels",
    "get kettle missing -n kitchen",
    "get kettels -n kitchen",
    "get kettles -n kitchen -o go-template='{{range .items}}{{.metadata.name}} {{end}}'",
    "get kettles -n kitchen -o go-template='{{range .items}}{{nam .metadata}}{{end}}'",
    "apply -f new.yaml --dry-run=server",
    "apply -f new.yaml",
    "delete -f new.yaml",
    "apply -f bad.yaml",
    "apply -f missing.yaml",
    "apply -f broken.yaml",
    "apply -f site",
    "plan -f changed",
    "plan -f changed -o name",
    "diff -f changed",
    "diff --since 1h kettle/whistler -n kitchen",
    "diff",
    "describe kettle whistler -n kitchen",
    "describe kettle missing -n kitchen",
    "explain kettle.spec",
    "explain kettle.spec.liters",
    "explain ketle",
    "create configmap settings --from-literal=limit=5 --dry-run=client -o yaml",
    "create namespace cellar --dry-run=server",
    "create configmap settings",
    "patch configmap row-0 -p '{\"data\":{\"height\":\"43\"}}' --message 'one more'",
    "patch kettle whistler -n kitchen --type=merge -p '{\"spec\":{\"litres\":12}}'",
    "replace -f site/0.yaml",
    "replace -f missing-row.yaml",
    "label configmap row-0 shelf=top --overwrite",
    "annotate configmap row-0 note=first --overwrite",
    "edit configmap row-0",
    "delete configmap missing",
    "delete kettle whistler -n kitchen --dry-run=server",
    "wait kettle/whistler -n kitchen --for=jsonpath={.spec.litres}=2 --timeout=5s",
    "wait kettle/whistler -n kitchen --for=condition=Ready --timeout=1s",
    "events -n kitchen",
    "history configmap row-0",
    "history configmap row-0 --diff --limit 1",
    "history configmap missing",
    "undo configmap row-0 --dry-run=server",
    "undo configmap missing",
    "undo",
    "restore configmap missing",
    "referrers kettle whistler -n kitchen",
    "search whistler",
    "search 'nothing like it'",
    "api-resources --api-group=example.com",
    "api-resources --api-group=rbac.authorization.k8s.io -o wide",
    "auth can-i get kettles -n kitchen",
    "auth whoami",
    "get kettles -n kitchen --as eve",
    "audit verify",
    "backup here.backup",
    "doctor",
    "support-bundle here.tar.gz",
    "config get-contexts",
    "config get-clusters",
    "completion tcsh",
    "version",
    "rollout status",
    "frobnicate",
];

#[test]
fn the_same_commands_on_a_terminal_and_in_a_pipe() {
    let ground = kitchen();
    ground.file("new.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: new}\ndata: {k: v}\n");
    ground.file(
        "bad.yaml",
        "apiVersion: example.com/v1\nkind: Kettle\nmetadata:\n  name: bad\nspec:\n  litres: 12\n",
    );
    ground.file("broken.yaml", "kind: ConfigMap\nmetadata:\n  name: a: b\n");
    let row = |height: u32| {
        format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: row-0}}\ndata: {{height: '{height}'}}\n")
    };
    ground.file("site/0.yaml", &row(42));
    ground.file("missing-row.yaml", &row(42).replace("row-0", "missing"));
    ground.file("site/1.yaml", &row(42).replace("row-0", "row-1"));
    ground.file("changed/0.yaml", &row(45));
    ground.file("changed/2.yaml", &row(45).replace("row-0", "row-2"));
    let (mut on_terminal, mut in_pipe) = (String::new(), String::new());
    for line in LINES {
        let (text, code) = shown(&ground, line, 80, true);
        on_terminal += &format!("$ groundplane {line}\n{}[{code}]\n\n", steady(&ground, &text));
        match line {
            "apply -f new.yaml" => drop(ground.run("delete -f new.yaml")),
            "delete -f new.yaml" => drop(ground.run("apply -f new.yaml")),
            "create configmap settings" => drop(ground.run("delete configmap settings")),
            "backup here.backup" => std::fs::remove_file(ground.files.path().join("here.backup")).unwrap(),
            "support-bundle here.tar.gz" => {
                std::fs::remove_file(ground.files.path().join("here.tar.gz")).unwrap();
            }
            _ => {}
        }
        let told = in_a_pipe(&ground, line);
        let (out, err) = (steady(&ground, &told.out), steady(&ground, &told.err));
        in_pipe += &format!("$ groundplane {line}\n{out}{err}[{}]\n\n", told.code);
    }
    golden("terminal.txt", &on_terminal);
    golden("pipe.txt", &in_pipe);
}

#[test]
fn every_command_is_among_what_is_kept() {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/cli.md")).unwrap();
    // What runs a server, makes files for one, has golden files of its own, or prints what is long, changes with every
    // kind, and is tested elsewhere.
    let elsewhere = [
        "serve",
        "keys",
        "design",
        "inventory",
        "restore-backup",
        "demo",
        "crds",
        "options",
        "api-versions",
        "activity",
        "login",
        "logout",
        "credential",
        "rotate-keys",
        "controllers",
        // In the tests of hosts.
        "host",
        "hub",
        // In the tests of clusters, sources, tasks and the portal.
        "cluster",
        "dns",
        "source",
        "sync",
        "task",
        "node",
        "why",
        "portal",
        // In the tests of compute.
        "compute",
        // In the tests of quota.
        "quota",
        "access",
        "services",
        "locations",
    ];
    for name in page.lines().filter_map(|line| line.strip_prefix("## groundplane ")) {
        let name = name.split(' ').next().unwrap();
        let is_kept = LINES.iter().any(|line| line.split(' ').next() == Some(name));
        assert!(is_kept || elsewhere.contains(&name), "groundplane {name} is in no golden file");
    }
}

#[test]
fn the_colours_of_a_terminal() {
    let ground = kitchen();
    let mut colours = String::new();
    for line in [
        "get kettles -n kitchen",
        "diff --since 1h kettle/whistler -n kitchen",
        "get kettle missing -n kitchen",
    ] {
        let (text, code) = shown(&ground, line, 80, false);
        colours +=
            &format!("$ groundplane {line}\n{}[{code}]\n\n", steady(&ground, &text).replace('\u{1b}', "ESC"));
    }
    golden("colours.txt", &colours);
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
fn names_and_labels_are_never_cut_and_sentences_are() {
    let ground = kitchen();
    for columns in [20, 40, 60] {
        let (text, _) = shown(&ground, "get kettles -n kitchen --show-labels", columns, true);
        assert!(text.contains("whistler") && text.contains("app=tea,tier=front"), "{columns}: {text}");
        assert!(!text.contains('…'), "{columns}: {text}");
    }
    ground.run("create cm long --from-literal=a=1 -n kitchen --message 'a reason that takes many words and does not fit'");
    let (text, _) = shown(&ground, "history cm long -n kitchen -o wide", 300, true);
    assert!(text.contains("does not fit"), "{text}");
    let (text, _) = shown(&ground, "history cm long -n kitchen", 80, true);
    assert!(text.contains("a reason that") && text.contains('…'), "{text}");
}

#[test]
fn help_is_wrapped_at_the_width_of_the_terminal() {
    let ground = Ground::fresh();
    for line in ["--help", "apply --help", "undo --help", "get -h", "auth machine-account --help"] {
        let (text, code) = shown(&ground, line, 80, true);
        let longest = text.lines().map(|line| line.chars().count()).max().unwrap();
        assert!(code == 0 && longest <= 80, "{line}: {longest} columns\n{text}");
    }
    let (text, _) = shown(&ground, "--help", 80, true);
    for heading in ["Basic commands:", "Inventory and design:", "Server administration:"] {
        assert!(text.contains(heading), "{text}");
    }
}

#[test]
fn nobody_is_asked_without_a_terminal() {
    let ground = kitchen();
    let told = ground.told("delete kettle whistler -n kitchen --interactive");
    assert!(told.out.ends_with("deletion is cancelled\n"), "{told:?}");
    assert_eq!(ground.run("get kettle whistler -n kitchen -o name"), "kettle.example.com/whistler\n");
    let mut command = ground.command(Path::new(GROUNDPLANE), &words("edit kettle whistler -n kitchen"));
    let output = command.env_remove("EDITOR").env_remove("KUBE_EDITOR").output().unwrap();
    assert!(String::from_utf8(output.stderr).unwrap().contains("edit needs a terminal"));
}
