//! The reference as a page in Markdown.

use clap::Command;

use super::{about, below, commands, flag, global_options, help, own_options, usage};

const HEAD: &str = "\
<!-- Generated from the command definitions by `cargo xtask docs`. Do not edit. -->

# The command line

`groundplane` is server and client in one binary. `groundplane serve` runs the control plane; client commands use its
public API. Commands that kubectl has, too, have the same flags, output and messages.

**Server:** the kubeconfig is `--kubeconfig`, then `GROUNDPLANE_KUBECONFIG`, then `KUBECONFIG` (several files, separated by
colons), then `admin.kubeconfig` in the default data directory of `groundplane serve`.

**Exit codes:** 0 success, 1 failure, 2 wrong usage. Sections of commands list other codes.

**Streams:** data goes to stdout, everything else to stderr. Colors are used on terminals only, and `NO_COLOR` disables
them. On a terminal, long texts in tables are shortened; names and identifiers never are. Without a terminal, no command
asks for input.

";

/// The whole page.
pub fn page(root: &Command) -> String {
    let mut text = HEAD.to_owned();
    text += "## Global options\n\n";
    text += &table(global_options(root));
    for (name, command) in commands(root).into_iter().skip(1) {
        text += &format!("\n## {name}\n\n{}\n", paragraphs(&about(command)));
        text += &format!("\n```console\n$ {}\n```\n", usage(&name, command).replace('\n', "\n$ "));
        let options: Vec<(String, String)> =
            own_options(command).map(|argument| (flag(argument), help(argument))).collect();
        if !options.is_empty() {
            text += &format!("\n{}", table(options));
        }
        let (notes, examples) = below(command);
        if !notes.is_empty() {
            text += &format!("\n{}\n", paragraphs(&notes));
        }
        if let Some(examples) = examples {
            text += &format!("\n```sh\n{examples}\n```\n");
        }
    }
    text
}

fn table(options: Vec<(String, String)>) -> String {
    let mut text = "| option | description |\n| --- | --- |\n".to_owned();
    for (flag, help) in options {
        let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
        text += &format!(
            "| `{}` | {} |\n",
            flag.replace('|', "\\|"),
            help.replace('|', "\\|").replace('<', "\\<")
        );
    }
    text
}

fn paragraphs(text: &str) -> String {
    text.replace('<', "\\<")
}
