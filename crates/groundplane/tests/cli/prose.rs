//! The documentation as text: lines are short, links lead somewhere, and no example names a revision of some other
//! server.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use regex::Regex;

use crate::pages::{self, Page, ROOT};

/// The widest line of prose, in columns.
const WIDTH: usize = 100;

/// Pages that `cargo xtask docs` writes; what they say is written elsewhere.
const GENERATED: [&str; 2] = ["docs/cli.md", "docs/roles.md"];
/// The pages with all fields of the kinds of a subject, which it writes too.
const REFERENCE: &str = "/reference.md";

#[test]
fn prose_is_wrapped() {
    let mut long = Vec::new();
    let is_generated =
        |page: &&Page| GENERATED.contains(&page.path.as_str()) || page.path.ends_with(REFERENCE);
    for page in pages::all().iter().filter(|page| !is_generated(page)) {
        long.extend(long_lines(page));
    }
    assert!(long.is_empty(), "{} lines are longer than {WIDTH} columns:\n{}", long.len(), long.join("\n"));
}

/// The lines that are too long, without those that can't be broken: tables, code, the targets of links.
fn long_lines(page: &Page) -> Vec<String> {
    let target = Regex::new(r"\]\([^)]*\)|https?://\S+").unwrap();
    prose(&page.text)
        .filter(|(_, line)| !line.trim_start().starts_with('|'))
        .filter(|(_, line)| target.replace_all(line, "]").chars().count() > WIDTH)
        .map(|(number, line)| format!("{}:{number}: {} columns", page.path, line.chars().count()))
        .collect()
}

/// The lines outside blocks of code, with their numbers.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut is_code = false;
    text.lines().enumerate().map(|(index, line)| (index + 1, line)).filter(move |(_, line)| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_fence && !is_code
    })
}

#[test]
fn links_lead_somewhere() {
    let pages = pages::all();
    let anchors: BTreeMap<PathBuf, BTreeSet<String>> =
        pages.iter().map(|page| (PathBuf::from(&page.path), anchors(&page.text))).collect();
    let mut broken = Vec::new();
    for page in &pages {
        for (line, link) in links(&page.text) {
            if let Err(why) = follow(&page.path, &link, &anchors) {
                broken.push(format!("{}:{line}: ({link}) {why}", page.path));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

/// The targets of the links of a page; those to other hosts are not followed.
fn links(text: &str) -> Vec<(usize, String)> {
    let code = Regex::new("`[^`]*`").unwrap();
    let link = Regex::new(r#"\]\(([^)\s]+)[^)]*\)|(?:src|srcset|href)="([^"]+)""#).unwrap();
    let mut links = Vec::new();
    for (number, line) in prose(text) {
        let plain = code.replace_all(line, "code");
        for found in link.captures_iter(&plain) {
            let target = found.get(1).or(found.get(2)).unwrap().as_str();
            if !target.contains("://") && !target.starts_with("mailto:") {
                links.push((number, target.to_owned()));
            }
        }
    }
    links
}

fn follow(from: &str, link: &str, anchors: &BTreeMap<PathBuf, BTreeSet<String>>) -> Result<(), String> {
    let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
    let target = match file {
        "" => PathBuf::from(from),
        file => plain(&Path::new(from).parent().unwrap().join(file)),
    };
    if !Path::new(ROOT).join(&target).exists() {
        return Err(format!("there is no {}", target.display()));
    }
    let known = anchors.get(&target);
    match anchor.is_empty() || known.is_none_or(|known| known.contains(anchor)) {
        true => Ok(()),
        false => Err(format!("{} has no heading #{anchor}", target.display())),
    }
}

/// A path without `.` and `..`.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(plain.pop()),
            Component::CurDir => {}
            part => plain.push(part),
        }
    }
    plain
}

/// What can follow `#`: the headings, as GitHub spells them.
fn anchors(text: &str) -> BTreeSet<String> {
    let target = Regex::new(r"\]\([^)]*\)").unwrap();
    let mut anchors = BTreeSet::new();
    for (_, line) in prose(text).filter(|(_, line)| line.starts_with('#')) {
        let title = line.trim_start_matches('#').trim();
        let title = target.replace_all(title, "");
        let kept = |c: &char| c.is_alphanumeric() || " -_".contains(*c);
        let slug: String = title.to_lowercase().chars().filter(kept).collect::<String>().replace(' ', "-");
        let again = (1..).map(|count| format!("{slug}-{count}")).find(|slug| !anchors.contains(slug));
        anchors.insert(if anchors.contains(&slug) { again.unwrap() } else { slug });
    }
    anchors
}

/// `undo --revision` with the number of an example would take back whatever has that number on the reader's server: the
/// examples in pages show where the number comes from, the examples in help have no number.
#[test]
fn examples_name_only_revisions_that_they_show() {
    let mut unknown = Vec::new();
    for page in pages::all() {
        unknown.extend(unknown_revisions(&page));
    }
    assert!(unknown.is_empty(), "{}", unknown.join("\n"));
}

fn unknown_revisions(page: &Page) -> Vec<String> {
    let named = Regex::new(r"--(?:to-)?revision[ =](\d{5,})|--as-of[ =](\d{5,})\b").unwrap();
    let blocks = page.blocks();
    let shown = |line: usize, revision: &str| {
        let steps = blocks.iter().flat_map(|block| &block.steps).filter(|step| step.line < line);
        steps.flat_map(|step| &step.shown).any(|shown| shown.contains(revision))
    };
    let mut unknown = Vec::new();
    for (index, line) in page.text.lines().enumerate() {
        for found in named.captures_iter(line) {
            let revision = found.get(1).or(found.get(2)).unwrap().as_str();
            if !shown(index + 1, revision) {
                let Page { path, .. } = page;
                unknown.push(format!("{path}:{}: {revision} is not shown before", index + 1));
            }
        }
    }
    unknown
}

#[test]
fn the_checks_find_what_they_look_for() {
    let text = "# A title, with `code`\n\n# A title, with `code`\n\n[gone](gone.md) [here](#a-title-with-code-1) \
        `[no](link)`\n\n```console\n$ groundplane history cm a\n65536 create\n$ groundplane undo --revision 65536\n\
        $ groundplane undo --revision 524287\n```\n";
    let long = format!("{} x\n| {} |\n[a]({})\n", "word ".repeat(20), "cell ".repeat(40), "u".repeat(120));
    let page = Page { path: "page.md".to_owned(), text: text.to_owned() + &long };
    assert_eq!(
        anchors(&page.text).into_iter().collect::<Vec<_>>(),
        ["a-title-with-code", "a-title-with-code-1"]
    );
    let targets: Vec<String> = links(&page.text).into_iter().map(|(_, link)| link).collect();
    assert_eq!(targets[..2], ["gone.md", "#a-title-with-code-1"]);
    assert_eq!(long_lines(&page), ["page.md:13: 102 columns"]);
    assert_eq!(unknown_revisions(&page), ["page.md:11: 524287 is not shown before"]);
    let known = BTreeMap::from([(PathBuf::from("page.md"), anchors(&page.text))]);
    assert!(follow("page.md", "gone.md", &known).is_err());
    assert!(follow("README.md", "docs/../README.md", &known).is_ok());
}
