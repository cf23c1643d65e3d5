//! Command lines in units, images, settings and documentation.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use super::{GROUNDPLANE, packaging};

/// Fails unless every flag is one of the command, by `--help`. The words are a command and its arguments.
pub fn is_known(words: &[String], place: &str) {
    let flags: Vec<_> = words.iter().filter(|word| word.starts_with("--")).collect();
    let commands: Vec<_> = words.iter().take_while(|word| is_command(word)).collect();
    let help = Command::new(GROUNDPLANE).args(&commands).arg("--help").output().unwrap();
    assert!(help.status.success(), "{place}: there is no command {commands:?}");
    let known = long_flags(&String::from_utf8(help.stdout).unwrap());
    let options = Command::new(GROUNDPLANE).arg("options").output().unwrap();
    let known: BTreeSet<_> =
        known.union(&long_flags(&String::from_utf8(options.stdout).unwrap())).cloned().collect();
    for flag in flags {
        let name = flag.split('=').next().unwrap();
        assert!(known.contains(name), "{place}: {commands:?} has no flag {name}");
    }
}

/// Commands are lower-case words; the first file, flag or name ends them.
fn is_command(word: &str) -> bool {
    ["serve", "keys", "config", "view", "backup", "version", "get", "restore-backup", "completion"]
        .contains(&word)
}

fn long_flags(text: &str) -> BTreeSet<String> {
    let words = text.split(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '-'));
    words.filter(|word| word.starts_with("--") && word.len() > 3).map(str::to_owned).collect()
}

fn words(text: &str) -> Vec<String> {
    let bare = |word: &str| word.trim_matches(|letter: char| "\"[],'`".contains(letter)).to_owned();
    text.split_whitespace().map(bare).filter(|word| !word.is_empty() && word != "\\").collect()
}

/// Lines that end with a backslash are joined with the next.
fn joined(text: &str) -> String {
    text.replace("\\\n", " ")
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
#[should_panic(expected = "has no flag --lisen")]
fn a_flag_that_does_not_exist_is_found() {
    is_known(&words("serve --data /d --lisen 0.0.0.0:6443"), "a mistake");
}

#[test]
fn the_unit_and_its_settings_have_flags_of_the_server() {
    let unit = read(&packaging("systemd/groundplane.service"));
    let start = unit.lines().find_map(|line| line.strip_prefix("ExecStart=")).unwrap();
    let (program, arguments) = start.split_once(' ').unwrap();
    assert_eq!(program, "/usr/bin/groundplane");
    is_known(&words(arguments), "the unit");

    let settings = read(&packaging("systemd/groundplane.default"));
    let examples: Vec<_> = settings
        .lines()
        .filter_map(|line| line.trim_start_matches('#').strip_prefix("GROUNDPLANE_FLAGS="))
        .collect();
    assert!(!examples.is_empty(), "the settings show how flags are given");
    for example in examples {
        is_known(&words(&format!("serve {example}")), "the settings");
    }
}

/// A setting that nobody reads would be ignored without a word.
#[test]
fn every_setting_is_read_by_the_unit_or_by_the_server() {
    let unit = read(&packaging("systemd/groundplane.service"));
    let help = Command::new(GROUNDPLANE).args(["serve", "--help"]).output().unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    let serve = read(&packaging("../docs/serve.md"));
    for line in read(&packaging("systemd/groundplane.default")).lines() {
        let Some((name, _)) = line.trim_start_matches('#').split_once('=') else { continue };
        if !name.starts_with("GROUNDPLANE_") || name.contains(' ') {
            continue;
        }
        let is_used = unit.contains(&format!("${name}")) || unit.contains(&format!("${{{name}}}"));
        assert!(is_used || help.contains(name) || serve.contains(name), "nothing reads {name}");
    }
}

#[test]
fn the_image_has_flags_of_the_server() {
    let text = read(&packaging("Containerfile"));
    let line = |key: &str| text.lines().find_map(|line| line.strip_prefix(key)).unwrap().to_owned();
    assert_eq!(words(&line("ENTRYPOINT ")), ["/usr/bin/groundplane"]);
    let command = words(&line("CMD "));
    assert!(command.len() > 1, "{command:?}");
    is_known(&command, "the Containerfile");
}

#[test]
fn the_documentation_of_packages_has_commands_that_exist() {
    let mut checked = 0;
    for file in ["README.md", "kubernetes/README.md", "helm/README.md", "../docs/install.md"] {
        let mut is_code = false;
        for line in joined(&read(&packaging(file))).lines() {
            if line.starts_with("```") {
                is_code = !is_code;
            }
            let line = line.trim_start().trim_start_matches("$ ").trim_start_matches("sudo ");
            // The command alone, or what is run in a pod or a container.
            let inside = ["-- groundplane ", "exec groundplane groundplane "];
            let inside = inside.iter().find_map(|before| Some(line.split_once(before)?.1));
            let Some(run) = line.strip_prefix("groundplane ").or(inside).filter(|_| is_code) else {
                continue;
            };
            let run = run.split(['>', '|', '#', '&']).next().unwrap();
            let words = words(run);
            // Options of the program may come first.
            let at = words.iter().position(|word| is_command(word));
            let Some(at) = at else { panic!("{file}: which command is {line:?}?") };
            is_known(&words[at..], file);
            checked += 1;
        }
    }
    assert!(checked >= 6, "{checked} command lines were found");
}

/// Upgrade steps that install to another path than the unit starts leave the old version running.
#[test]
fn everything_speaks_of_one_path_of_the_binary() {
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut open = vec![packaging(""), packaging("../docs"), packaging("../README.md")];
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
            continue;
        }
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        for word in text.split(|letter: char| letter.is_whitespace() || "\"'`[](),;=".contains(letter)) {
            // A full path, not one below a folder of a build.
            let is_full =
                word.starts_with('/') && !word.starts_with("/image/") && !word.starts_with("/home/");
            if is_full && word.trim_end_matches('.').ends_with("/bin/groundplane") {
                let place = path.display().to_string();
                found.entry(word.trim_end_matches('.').to_owned()).or_default().push(place);
            }
        }
    }
    assert_eq!(found.keys().collect::<Vec<_>>(), ["/usr/bin/groundplane"], "{found:#?}");
    assert!(found["/usr/bin/groundplane"].len() > 3, "{found:#?}");
}
