//! The command line: a client of the public API, made for people and for scripts.
//!
//! Commands, flags and output are kubectl's wherever kubectl has them, to the byte where scripts parse it; what it has
//! not (plans, history, undo, search) reads the same way.

mod client;
mod command;
mod commands;
mod console;
mod discovery;
mod docs;
mod failure;
pub mod fetch;
mod flags;
mod global;
mod gotemplate;
mod kubeconfig;
mod locate;
mod manifests;
mod names;
mod of_kubectl;
mod print;
mod server;
mod session;
mod tabs;

pub use client::{Answer, Ask, Client, UNKNOWN_PATH, refused, segment};
pub use command::Command;
pub use commands::get::headed;
pub use commands::plan::show as show_plan;
pub use console::Console;
pub use failure::{Failure, Refusal};
pub use flags::{moment, plain_booleans};
pub use global::Global;
pub use manifests::{FileFlags, Manifest};
pub use names::of_object as name_of;
pub use of_kubectl::refused as refused_word;
pub use server::{Refused, Server, path_segment};
pub use session::Session;

/// Carries out a command, and gives the code to exit with: 0 done, 1 failed, 2 wrong usage, others as the help of a
/// command says.
///
/// `root` is the whole command line, for completion and reference.
pub fn run(command: Command, global: Global, console: Console, root: clap::Command) -> u8 {
    run_with(global, console, root, async move |session| command.run(session).await)
}

/// The same for commands that other crates bring: whatever they do with a session, they end alike.
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
                session.console.say("hint: \"groundplane auth can-i --list\" shows what you may do");
            }
            failure.exit_code()
        }
    }
}
