//! `groundplane host class`: the classes of hosts that tenants can ask for.

use cli::{Failure, Session};
use serde_json::Value;

use crate::output::{self, Form, text};
use crate::table::{self, CLASSES};
use crate::{edit, find, input};

/// Manage host classes: the kinds of hardware that tenants can ask for.
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Examples:\n  groundplane host class create gpu --title 'GPU node'\n  groundplane host class list"
)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand, Debug)]
enum Command {
    /// List host classes.
    #[command(after_help = "Examples:\n  groundplane host class list\n  groundplane host class list -o json")]
    List(List),
    /// Show a host class.
    #[command(after_help = "Examples:\n  groundplane host class describe gpu")]
    Describe(Describe),
    /// Create a host class.
    #[command(
        after_help = "Examples:\n  groundplane host class create gpu --title 'GPU node' --description 'Eight GPUs.'"
    )]
    Create(Create),
    #[command(after_help = "Examples:\n  groundplane host class edit gpu")]
    Edit(edit::Arguments),
    /// Delete host classes. A class stays while hosts or templates are of it.
    #[command(after_help = "Examples:\n  groundplane host class delete gpu")]
    Delete(Delete),
}

#[derive(clap::Args, Debug)]
struct List {
    /// Output format.
    #[arg(long, short, value_name = "FORMAT", value_enum, default_value_t = Form::Table)]
    output: Form,
}

#[derive(clap::Args, Debug)]
struct Describe {
    /// Name or identifier.
    #[arg(value_name = "NAME")]
    name: String,

    /// Output format.
    #[arg(long, short, value_name = "FORMAT", value_enum, default_value_t = Form::Table)]
    output: Form,
}

#[derive(clap::Args, Debug)]
struct Create {
    /// Identifier of the class.
    #[arg(value_name = "ID")]
    id: String,

    /// Name for people, a DNS label.
    #[arg(long, value_name = "NAME")]
    name: Option<String>,

    /// Title for people.
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,

    /// Description for people, in Markdown.
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,

    /// Reason for the change, shown in the history.
    #[arg(long, short, value_name = "TEXT")]
    message: Option<String>,

    /// Output format.
    #[arg(long, short, value_name = "FORMAT", value_enum, default_value_t = Form::Table)]
    output: Form,
}

#[derive(clap::Args, Debug)]
struct Delete {
    /// Names or identifiers.
    #[arg(value_name = "NAME", required = true)]
    names: Vec<String>,

    /// Reason for the change, shown in the history.
    #[arg(long, short, value_name = "TEXT")]
    message: Option<String>,
}

impl Arguments {
    /// What is to be edited, if that is asked for.
    pub fn edits(&self) -> Option<&edit::Arguments> {
        match &self.command {
            Command::Edit(arguments) => Some(arguments),
            _ => None,
        }
    }
}

/// Runs a subcommand.
pub async fn run(arguments: Arguments, session: &mut Session) -> Result<(), Failure> {
    match arguments.command {
        Command::List(list) => table::list(&CLASSES, &[], None, list.output, session, |_| true).await,
        Command::Describe(describe) => self::describe(&describe, session).await,
        Command::Create(create) => {
            let mut class = input::object("HostClass", &create.id);
            let fields =
                [("displayName", create.name), ("title", create.title), ("description", create.description)];
            for (field, value) in fields {
                if let Some(value) = value {
                    class[field] = Value::from(value);
                }
            }
            input::create(&CLASSES, &class, create.message.as_deref(), create.output, session).await
        }
        Command::Delete(delete) => {
            input::delete(&CLASSES, &delete.names, delete.message.as_deref(), session).await
        }
        Command::Edit(_) => Ok(()),
    }
}

async fn describe(describe: &Describe, session: &mut Session) -> Result<(), Failure> {
    let class = find::one(&CLASSES, &describe.name, session).await?;
    if matches!(describe.output, Form::Json | Form::Yaml) {
        return output::value(describe.output, &class, session);
    }
    let fields = [
        ("ID", table::identifier(&class)),
        ("Name", table::name(&class)),
        ("Title", text(&class, "/title").to_owned()),
        ("Description", text(&class, "/description").to_owned()),
        ("Created", text(&class, "/metadata/creationTimestamp").to_owned()),
    ];
    output::fields(&fields, session)
}
