//! The reference as a page in Markdown.

use clap::Command;

use super::{about, below, commands, flag, global_options, help, own_options, usage};

const HEAD: &str = "\
<!-- Made from the commands' own declarations by `cargo xtask docs`: change those. -->

# The command line

`groundplane` is server and client in one file: `groundplane serve` runs the control plane, every other command speaks with
one over its public API. What kubectl has too, flags, output and messages, is as kubectl has it.

**Which server:** `--kubeconfig`, else `GROUNDPLANE_KUBECONFIG`, else `KUBECONFIG` (several files, parted by colons), else
`admin.kubeconfig` in the default data folder of `groundplane serve`.

**Exit codes:** 0 done, 1 failed, 2 wrong usage; where a command means something else by them, its section says so.

**Streams:** data goes to stdout, everything else to stderr. Colours and shortened tables are for terminals alone, and
`NO_COLOR` turns the colours off. Nobody is asked anything without a terminal.

";

/// The whole page.
pub fn page(root: &Command) -> String {
    let mut text = HEAD.to_owned();
    text += "## Options of all commands\n\n";
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
    let mut text = "| option | means |\n| --- | --- |\n".to_owned();
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
