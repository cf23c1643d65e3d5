//! The command line: a client of the public API, for people and scripts.
//!
//! Commands, flags and output equal kubectl's wherever kubectl has them. Additional commands (plan, history, undo, search)
//! follow its conventions.

mod client;
mod command;
mod command_module;
mod commands;
mod console;
mod discovery;
mod docs;
mod failure;
pub mod fetch;
mod flags;
mod global;
mod gotemplate;
mod grouped;
mod kubeconfig;
mod locate;
mod manifests;
mod mistyped;
mod names;
mod plugin;
mod print;
mod server;
mod session;
mod tabs;
mod wrap;

pub use client::{Answer, Ask, Client, UNKNOWN_PATH, refused, segment};
pub use command::Command;
pub use command_module::CommandModule;
pub use commands::controllers;
pub use commands::get::headed;
pub use commands::plan::show as show_plan;
pub use console::Console;
pub use failure::{Failure, Refusal};
pub use flags::{duration, moment, plain_booleans};
pub use global::Global;
pub use grouped::grouped;
pub use locate::{Target as Located, targets as located};
pub use manifests::{FileFlags, Manifest};
pub use mistyped::explain as explain_mistyped;
pub use names::of_object as name_of;
pub use plugin::Plugin;
pub use server::{Refused, Server, path_segment};
pub use session::Session;

/// Runs a command, and returns the exit code: 0 success, 1 failure, 2 wrong usage, others as the help of a command says.
///
/// `root` is the whole command line, for completion and reference.
pub fn run(command: Command, global: Global, console: Console, root: clap::Command) -> u8 {
    run_with(global, console, root, async move |session| command.run(session).await)
}

/// The same for commands of other crates.
pub fn run_with(
    global: Global,
    console: Console,
    root: clap::Command,
    act: impl AsyncFnOnce(&mut Session) -> Result<(), Failure>,
) -> u8 {
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("error: starting: {error}");
            return 1;
        }
    };
    let mut session = Session::new(global, console, root);
    let ended = runtime.block_on(act(&mut session));
    let ended = ended.and_then(|()| session.console.flush());
    match ended {
        Ok(()) => 0,
        Err(failure) => {
            // What was printed before stands before the complaint, also where both go to one file.
            let _ = session.console.flush();
            failure.tell(&mut session.console);
            let is_forbidden = failure.refusal().is_some_and(|refusal| refusal.reason() == "Forbidden");
            if is_forbidden && session.console.err_is_terminal {
                session
                    .console
                    .say("hint: \"groundplane auth can-i --list\" lists what you are allowed to do");
            }
            failure.exit_code()
        }
    }
}
