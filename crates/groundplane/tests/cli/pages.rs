//! The pages of the documentation: which there are, and the console blocks in them.

use std::path::{Path, PathBuf};

/// The root of the repository.
pub const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// A page, by its path from the root of the repository.
pub struct Page {
    pub path: String,
    pub text: String,
}

/// A command of a console block, and the output that the page shows for it.
#[derive(Debug, PartialEq)]
pub struct Step {
    /// The line of the page, counted from 1.
    pub line: usize,
    pub command: String,
    pub shown: Vec<String>,
}

/// A console block.
#[derive(Debug, PartialEq)]
pub struct Block {
    pub line: usize,
    pub steps: Vec<Step>,
    /// Why no test can run it, from the comment `<!-- not run: … -->` in front of it.
    pub not_run: Option<String>,
}

/// Every Markdown page that people read: in the root, below `docs` and below `packaging`.
pub fn all() -> Vec<Page> {
    let root = Path::new(ROOT);
    let mut files = Vec::new();
    for entry in std::fs::read_dir(root).unwrap() {
        files.extend(Some(entry.unwrap().path()).filter(|path| path.is_file()));
    }
    for folder in ["docs", "packaging"] {
        collect(&root.join(folder), &mut files);
    }
    files.retain(|path| path.extension().is_some_and(|ext| ext == "md"));
    files.sort();
    files.iter().map(|path| Page::read(path.strip_prefix(root).unwrap())).collect()
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, files);
        } else {
            files.push(path);
        }
    }
}

impl Page {
    fn read(path: &Path) -> Page {
        let text = std::fs::read_to_string(Path::new(ROOT).join(path)).unwrap();
        Page { path: path.to_str().unwrap().to_owned(), text }
    }

    /// The console blocks, from top to bottom.
    pub fn blocks(&self) -> Vec<Block> {
        let mut blocks = Vec::new();
        let mut not_run = None;
        let mut lines = self.text.lines().enumerate();
        while let Some((index, line)) = lines.next() {
            let inside = line.trim_start();
            if let Some(reason) = inside.strip_prefix("<!-- not run: ") {
                not_run = Some(reason.trim_end_matches("-->").trim().to_owned());
                continue;
            }
            let Some(language) = inside.strip_prefix("```") else {
                not_run = not_run.filter(|_| inside.is_empty());
                continue;
            };
            let indent = line.len() - inside.len();
            let body: Vec<(usize, &str)> = lines
                .by_ref()
                .take_while(|(_, line)| line.trim_start() != "```")
                .map(|(index, line)| (index + 1, line.get(indent..).unwrap_or("")))
                .collect();
            if language == "console" {
                let steps = steps(&self.path, &body);
                blocks.push(Block { line: index + 1, steps, not_run: not_run.take() });
            }
            not_run = None;
        }
        blocks
    }
}

/// The commands of one block, each with the lines that follow it.
fn steps(path: &str, body: &[(usize, &str)]) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for &(line, text) in body {
        // A prompt may name its machine, as in `first$ `.
        let prompt = text.split_once("$ ").filter(|(host, _)| host.chars().all(|c| c.is_ascii_lowercase()));
        match (prompt, steps.last_mut()) {
            (_, Some(step)) if is_open(&step.command) => {
                step.command.push('\n');
                step.command += text;
            }
            (Some((_, command)), _) => {
                steps.push(Step { line, command: command.to_owned(), shown: Vec::new() });
            }
            (None, Some(step)) => step.shown.push(text.to_owned()),
            (None, None) => panic!("{path}:{line}: a console block begins with a command, after `$ `"),
        }
    }
    steps
}

/// Whether a shell would wait for more: a line that goes on, a here-document without its end, an open quote.
fn is_open(command: &str) -> bool {
    if command.ends_with('\\') {
        return true;
    }
    if let Some((first, rest)) = command.split_once("<<") {
        let end = rest.lines().next().unwrap_or("").trim_matches(|c| "'\"-".contains(c));
        return !first.is_empty() && !rest.lines().skip(1).any(|line| line == end);
    }
    command.matches('\'').count() % 2 == 1
}

#[test]
fn a_block_is_commands_with_what_they_show() {
    let page = Page {
        path: "page.md".to_owned(),
        text: "\
```console
$ kubectl apply -f - <<'END'
kind: Kettle
END
kettle created
$ groundplane get \\
    kettles
```

<!-- not run: needs a terminal -->

```console
$ groundplane edit kettle whistler
```

```yaml
kind: Kettle
```
"
        .to_owned(),
    };
    let step = |line, command: &str, shown: &[&str]| Step {
        line,
        command: command.to_owned(),
        shown: shown.iter().map(|&line| line.to_owned()).collect(),
    };
    let first = vec![
        step(2, "kubectl apply -f - <<'END'\nkind: Kettle\nEND", &["kettle created"]),
        step(6, "groundplane get \\\n    kettles", &[]),
    ];
    let second = vec![step(13, "groundplane edit kettle whistler", &[])];
    let not_run = Some("needs a terminal".to_owned());
    assert_eq!(
        page.blocks(),
        [Block { line: 1, steps: first, not_run: None }, Block { line: 12, steps: second, not_run }]
    );
}
