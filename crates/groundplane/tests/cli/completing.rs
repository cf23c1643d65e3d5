//! Shells offer what can come next: the scripts, in the real shells.

use std::io::{Read, Write};
use std::path::Path;
use std::process::Command;

use testbed::need;

use crate::program::{GROUNDPLANE, Ground, KETTLES};
use crate::terminal;

/// Lines that are typed up to the key that completes, and what each becomes when only one thing can come next.
const TYPED: [(&str, &str); 8] = [
    ("groundplane desc", "groundplane describe "),
    ("groundplane get kettl", "groundplane get kettles "),
    ("groundplane get cm ket", "groundplane get cm kettle-settings "),
    ("groundplane get cm/pan", "groundplane get cm/pan-settings "),
    ("groundplane -n kube-system get cm -n kube-s", "groundplane -n kube-system get cm -n kube-system "),
    ("groundplane get cm --no-h", "groundplane get cm --no-headers "),
    ("groundplane get cm --output=ya", "groundplane get cm --output=yaml "),
    ("groundplane get cm -o custom-col", "groundplane get cm -o custom-columns="),
];

/// A server with something to offer, and a shell, if it is there.
fn ground(shell: &str) -> Option<Ground> {
    let runs = Command::new(shell).arg("--version").output().is_ok_and(|told| told.status.success());
    if !runs {
        need::passed_over(&format!("there is no {shell}"));
        return None;
    }
    let ground = Ground::fresh();
    ground.run_with("apply -f -", KETTLES);
    ground.run("create configmap kettle-settings");
    ground.run("create configmap pan-settings");
    ground.file("script", &ground.run(&format!("completion {shell}")));
    Some(ground)
}

/// A shell that finds the program, in the folder of the files.
fn shell(ground: &Ground, name: &str, words: &[&str]) -> Command {
    let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    let mut command = ground.command(Path::new(name), &words);
    let folder = Path::new(GROUNDPLANE).parent().unwrap().display().to_string();
    command.env("PATH", format!("{folder}:{}", std::env::var("PATH").unwrap_or_default()));
    command
}

/// Types each line and the key that completes into a shell on a terminal, and looks at what stands there then. `begin`
/// makes Ctrl-X print the line between `<` and `>`.
fn type_all(ground: &Ground, mut command: Command, begin: &str) {
    command.env("HOME", ground.files.path()).env("TERM", "dumb");
    let (mut child, mut terminal) = terminal::run(command, 200);
    let mut told = terminal.try_clone().unwrap();
    let (send, received) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let mut bytes = [0; 4096];
        while let Ok(count @ 1..) = told.read(&mut bytes) {
            if send.send(String::from_utf8_lossy(&bytes[..count]).into_owned()).is_err() {
                return;
            }
        }
    });
    let until = |end: &str| {
        let mut said = String::new();
        while !said.contains(end) {
            match received.recv_timeout(std::time::Duration::from_secs(60)) {
                Ok(more) => said += &more,
                Err(_) => panic!("{end:?} does not come: {said:?}"),
            }
        }
        said
    };
    writeln!(terminal, "{begin}; echo rea''dy").unwrap();
    until("ready\r\n");
    for (typed, expected) in TYPED {
        write!(terminal, "{typed}\t\x18").unwrap();
        let said = until(">\r");
        let line = said.rsplit_once('<').unwrap().1.split_once('>').unwrap().0;
        assert_eq!(line, expected, "{typed}: {said:?}");
        // Ctrl-U: the next line is a new one.
        write!(terminal, "\x15").unwrap();
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn bash_completes() {
    let Some(ground) = ground("bash") else { return };
    let show = r#"PS1='$ '; bind 'set bell-style none'; source ./script; show() { echo "<$READLINE_LINE>"; }; bind -x '"\C-x": show'"#;
    type_all(&ground, shell(&ground, "bash", &["--norc", "--noprofile", "-i"]), show);
}

#[test]
fn zsh_completes() {
    let Some(ground) = ground("zsh") else { return };
    let begin = r#"PS1='$ '; unsetopt zle_bracketed_paste 2>/dev/null; bindkey -e; setopt no_beep; autoload -Uz compinit; compinit -u -D; show() { print -r -- "<$BUFFER>" }; zle -N show; bindkey '^X' show"#;
    type_all(&ground, shell(&ground, "zsh", &["-f", "-i"]), &format!("{begin}; source ./script"));
    // As a file in a folder of functions, where it is read when it is first asked for.
    std::fs::create_dir(ground.files.path().join("functions")).unwrap();
    std::fs::rename(ground.files.path().join("script"), ground.files.path().join("functions/_groundplane"))
        .unwrap();
    type_all(
        &ground,
        shell(&ground, "zsh", &["-f", "-i"]),
        &format!("fpath=($PWD/functions $fpath); {begin}"),
    );
}

#[test]
fn fish_completes() {
    let Some(ground) = ground("fish") else { return };
    for (typed, expected) in TYPED {
        let script = format!("source script; complete -C '{typed}'");
        let output =
            shell(&ground, "fish", &["--no-config", "-c", &script]).env("HOME", ground.files.path()).output();
        let output = output.unwrap();
        let told = String::from_utf8_lossy(&output.stdout).into_owned();
        let offered: Vec<&str> = told.lines().filter_map(|line| line.split('\t').next()).collect();
        let word = expected.trim_end().rsplit(' ').next().unwrap();
        assert_eq!(offered, [word], "{typed}: {told}{}", String::from_utf8_lossy(&output.stderr));
    }
    ground.file("site.yaml", "");
    let script = "source script; complete -C 'groundplane apply -f site'";
    let output = shell(&ground, "fish", &["--no-config", "-c", script]).output().unwrap();
    assert!(String::from_utf8_lossy(&output.stdout).starts_with("site.yaml"), "files are offered");
}
