//! The reference as pages for man.

use clap::Command;

use super::{about, below, commands, flag, global_options, help, own_options, usage};

/// Every page with the name of its file: `groundplane-get.1`.
pub fn pages(root: &Command) -> Vec<(String, String)> {
    let all = commands(root);
    let version = root.get_version().unwrap_or("").to_owned();
    let page = |(name, command): &(String, &Command)| {
        let title = name.replace(' ', "-");
        let mut text =
            format!(".TH \"{}\" 1 \"\" \"groundplane {version}\" \"Groundplane\"\n", title.to_uppercase());
        let first = about(command);
        let first = first.lines().next().unwrap_or("");
        text += &format!(".SH NAME\n{} \\- {}\n", escaped(&title), escaped(first));
        text += &format!(".SH SYNOPSIS\n.nf\n{}\n.fi\n", escaped(&usage(name, command)));
        text += ".SH DESCRIPTION\n";
        for paragraph in about(command).split("\n\n") {
            text += &format!(".PP\n{}\n", escaped(paragraph));
        }
        let options: Vec<(String, String)> =
            own_options(command).map(|argument| (flag(argument), help(argument))).collect();
        text += &section("OPTIONS", options);
        if *name == root.get_name() {
            text += &section("OPTIONS OF ALL COMMANDS", global_options(root));
            text += ".SH COMMANDS\n";
            for (name, command) in all.iter().skip(1) {
                let about = about(command);
                let title = escaped(&name.replace(' ', "-"));
                text +=
                    &format!(".TP\n\\fB{title}\\fR(1)\n{}\n", escaped(about.lines().next().unwrap_or("")));
            }
        } else {
            text += ".PP\nThe options of all commands are in \\fBgroundplane\\fR(1).\n";
        }
        let (notes, examples) = below(command);
        if !notes.is_empty() && *name != root.get_name() {
            text += &format!(".PP\n{}\n", escaped(&notes));
        }
        if let Some(examples) = examples {
            text += &format!(".SH EXAMPLES\n.nf\n{}\n.fi\n", escaped(&examples));
        }
        (format!("{title}.1"), text)
    };
    all.iter().map(page).collect()
}

fn section(title: &str, options: Vec<(String, String)>) -> String {
    if options.is_empty() {
        return String::new();
    }
    let entry =
        |(flag, help): (String, String)| format!(".TP\n\\fB{}\\fR\n{}\n", escaped(&flag), escaped(&help));
    format!(".SH \"{title}\"\n{}", options.into_iter().map(entry).collect::<String>())
}

/// Text in which nothing is a command of roff.
fn escaped(text: &str) -> String {
    let text = text.replace('\\', "\\e").replace('-', "\\-");
    let line =
        |line: &str| if line.starts_with(['.', '\'']) { format!("\\&{line}") } else { line.to_owned() };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}
