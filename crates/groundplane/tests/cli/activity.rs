//! `groundplane activity`: sentences in a table, in JSON, and as they happen.

use std::io::{BufRead, BufReader};
use std::path::Path;

use crate::on_a_terminal::{golden, shown};
use crate::program::{GROUNDPLANE, Ground};

fn told(ground: &Ground) {
    for line in
        ["create configmap one --from-literal=a=1 -n default", "label configmap one color=red -n default"]
    {
        ground.run(line);
    }
    ground.run("create configmap two --from-literal=a=1 -n default");
    ground.run("delete configmap two -n default");
}

/// Ages and revisions are of the moment.
fn steady(text: &str) -> String {
    let lines = text.lines().map(|line| match line.split_once("admin") {
        Some((_, rest)) => format!("admin{}", rest.trim_end()),
        None => line.split_whitespace().collect::<Vec<_>>().join(" "),
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn activities_are_sentences_newest_first() {
    let ground = Ground::fresh();
    told(&ground);
    let text = ground.run("activity configmaps -n default");
    assert_eq!(
        steady(&text),
        "AGE SUMMARY\n\
         admin deleted ConfigMap two in namespace default\n\
         admin created ConfigMap two in namespace default\n\
         admin updated ConfigMap one in namespace default\n\
         admin created ConfigMap one in namespace default"
    );
    assert!(
        ground
            .run("activity cm/one -o wide")
            .starts_with("AGE   ACTOR   VERB     KIND        NAMESPACE   NAME   REVISION")
    );
    assert_eq!(ground.run("activity cm one --no-headers").lines().count(), 2);
    assert_eq!(ground.run("activity --verb delete --no-headers -n default").lines().count(), 1);
    assert_eq!(ground.run("activity --search 'created two' --no-headers").lines().count(), 1);
    let named = ground.run("activity cm one -o jsonpath={.items[0].spec.changes[0].field}");
    assert_eq!(named, "metadata.labels.color");
    let none = ground.told("activity --actor nobody");
    assert_eq!((none.code, none.out.as_str()), (0, ""), "{none:?}");
    assert!(none.err.contains("no changes found"), "{none:?}");
    let wrong = ground.told("activity --since yesterday");
    assert!(
        wrong.code == 2 && wrong.err.contains("--since: \"yesterday\" is not a time\nhint: "),
        "{wrong:?}"
    );
    assert_eq!(ground.told("activity --verb look").code, 2);
}

const LINES: [&str; 9] = [
    "activity configmaps -n default",
    "activity cm/one -o wide",
    "activity --verb delete -n default",
    "activity --search 'created two'",
    "activity --filter 'spec.resource.kind in [\"ConfigMap\"] && spec.summary.contains(\"two\")' -o name",
    "activity --actor nobody",
    "activity --since yesterday",
    "activity --filter spec.summary.contains(",
    "activity --help",
];

#[test]
fn activities_on_a_terminal_and_in_a_pipe() {
    let ground = Ground::fresh();
    told(&ground);
    let of_the_moment = |text: &str| {
        let mut text = text.to_owned();
        for (pattern, instead) in
            [(r"(?m)^\d+s +", "AGE   "), (r"act-[0-9a-f]{12}", "act-HASH"), (r"\b\d{6,} ", "REVISION ")]
        {
            text = regex::Regex::new(pattern).unwrap().replace_all(&text, instead).into_owned();
        }
        text
    };
    let (mut on_terminal, mut in_pipe) = (String::new(), String::new());
    for line in LINES {
        let (text, code) = shown(&ground, line, 80, true);
        on_terminal += &format!("$ groundplane {line}\n{}[{code}]\n\n", of_the_moment(&text));
        let told = ground.told(line);
        let text = of_the_moment(&format!("{}{}", told.out, told.err));
        in_pipe += &format!("$ groundplane {line}\n{text}[{}]\n\n", told.code);
    }
    golden("activity-terminal.txt", &on_terminal);
    golden("activity-pipe.txt", &in_pipe);
}

#[test]
fn activities_are_followed_as_they_happen() {
    let ground = Ground::fresh();
    ground.run("create configmap before --from-literal=a=1 -n default");
    let words: Vec<String> = ["activity", "--follow", "cm", "--since", "1h"].map(str::to_owned).to_vec();
    let mut child = ground.command(Path::new(GROUNDPLANE), &words).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut next = || lines.next().unwrap().unwrap();
    assert!(next().ends_with("admin created ConfigMap before in namespace default"));
    ground.run("create configmap after --from-literal=a=1 -n default");
    assert!(next().ends_with("admin created ConfigMap after in namespace default"));
    ground.run("delete configmap after -n default");
    assert!(next().ends_with("admin deleted ConfigMap after in namespace default"));
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn only_what_is_asked_for_is_followed() {
    let ground = Ground::fresh();
    let come_and_go = |name: &str| {
        ground.run(&format!("create configmap {name} --from-literal=a=1 -n default"));
        ground.run(&format!("delete configmap {name} -n default"));
    };
    come_and_go("loud");
    come_and_go("quiet");
    let line = "activity --follow cm --since 1h --verb delete --filter spec.resource.name!=\"quiet\" --search 'IN default' -o json";
    let words: Vec<String> = crate::program::words(line);
    let mut child = ground.command(Path::new(GROUNDPLANE), &words).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut next = || lines.next().unwrap().unwrap();
    assert!(next().contains("deleted ConfigMap loud in namespace default"));
    come_and_go("quiet");
    come_and_go("louder");
    assert!(next().contains("deleted ConfigMap louder in namespace default"));
    child.kill().unwrap();
    child.wait().unwrap();
}
