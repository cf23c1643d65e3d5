//! Editing: the same as `groundplane edit` with the resource named.

use clap::{FromArgMatches as _, Subcommand as _};
use cli::{Console, Failure, Global, Session};

use crate::find;
use crate::table::Shown;

/// Edit an object in an editor.
///
/// Opens it as YAML in the editor of KUBE_EDITOR, EDITOR or vi. Credentials are not shown; write a new one in their place to
/// change it.
#[derive(clap::Args, Debug)]
pub struct Arguments {
    /// Name or identifier.
    #[arg(value_name = "NAME")]
    name: String,

    /// Reason for the change, shown in the history.
    #[arg(long, short, value_name = "TEXT")]
    message: Option<String>,
}

/// What is to be edited.
pub struct Edits {
    shown: &'static Shown,
    arguments: Arguments,
}

impl Arguments {
    /// Edits an object of this kind.
    pub fn of(&self, shown: &'static Shown) -> Edits {
        let arguments = Arguments { name: self.name.clone(), message: self.message.clone() };
        Edits { shown, arguments }
    }
}

/// Finds the object, and opens it in an editor.
pub fn run(edits: Edits, global: Global, root: clap::Command) -> u8 {
    let mut words = Vec::new();
    let finding = async |session: &mut Session| -> Result<(), Failure> {
        let found = find::one(edits.shown, &edits.arguments.name, session).await?;
        let name = found["metadata"]["name"].as_str().unwrap_or_default();
        words = vec!["edit".to_owned(), format!("{}.{}/{name}", edits.shown.plural, fulfillment::GROUP)];
        Ok(())
    };
    let code = cli::run_with(global.clone(), Console::of_process(), root.clone(), finding);
    if code != 0 {
        return code;
    }
    if let Some(message) = edits.arguments.message {
        words.extend(["--message".to_owned(), message]);
    }
    let typed = cli::Command::augment_subcommands(clap::Command::new("groundplane").no_binary_name(true));
    let typed = typed.get_matches_from(words);
    let command = cli::Command::from_arg_matches(&typed).unwrap_or_else(|error| error.exit());
    cli::run(command, global, Console::of_process(), root)
}
