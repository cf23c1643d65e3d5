//! All commands by name.

use clap::Subcommand;

use crate::commands::{
    activity, api_resources, api_versions, apply, audit, auth, backup, completion, config, create, delete,
    describe, diff, doctor, edit, events, explain, get, history, login, marks, options, patch, plan,
    referrers, replace, restore, rotate_keys, search, support_bundle, undo, version, wait,
};
use crate::failure::Failure;
use crate::session::Session;

/// The commands of a client.
#[derive(Subcommand, Debug)]
#[expect(missing_docs, reason = "each is described by its arguments, for the help")]
pub enum Command {
    Get(get::Arguments),
    Describe(describe::Arguments),
    Explain(explain::Arguments),
    Create(create::Arguments),
    Apply(apply::Arguments),
    Plan(plan::Arguments),
    Diff(diff::Arguments),
    Edit(edit::Arguments),
    Patch(patch::Arguments),
    Replace(replace::Arguments),
    Label(marks::LabelArguments),
    Annotate(marks::AnnotateArguments),
    Delete(delete::Arguments),
    Wait(wait::Arguments),
    Activity(activity::Arguments),
    Events(events::Arguments),
    History(history::Arguments),
    Undo(undo::Arguments),
    Restore(restore::Arguments),
    Referrers(referrers::Arguments),
    Search(search::Arguments),
    ApiResources(api_resources::Arguments),
    ApiVersions(api_versions::Arguments),
    Auth(auth::Arguments),
    Login(login::Arguments),
    Logout(login::LogoutArguments),
    Credential(login::CredentialArguments),
    Audit(audit::Arguments),
    RotateKeys(rotate_keys::Arguments),
    Backup(backup::Arguments),
    Doctor(doctor::Arguments),
    SupportBundle(support_bundle::Arguments),
    Config(config::Arguments),
    Completion(completion::Arguments),
    Version(version::Arguments),
    Options(options::Arguments),
    /// What a shell asks while one types.
    #[command(name = "__complete", hide = true)]
    Complete(completion::Complete),
    /// Write the reference of the commands into a folder.
    #[command(name = "__docs", hide = true)]
    Docs {
        /// Where the page in Markdown goes.
        #[arg(long, value_name = "FILE")]
        markdown: std::path::PathBuf,
        /// The folder where the pages for man go.
        #[arg(long, value_name = "DIR")]
        man: std::path::PathBuf,
    },
}

impl Command {
    /// Carries it out.
    pub(crate) async fn run(self, session: &mut Session) -> Result<(), Failure> {
        match self {
            Command::Get(arguments) => get::run(arguments, session).await,
            Command::Describe(arguments) => describe::run(arguments, session).await,
            Command::Explain(arguments) => explain::run(arguments, session).await,
            Command::Create(arguments) => create::run(arguments, session).await,
            Command::Apply(arguments) => apply::run(arguments, session).await,
            Command::Plan(arguments) => plan::run(arguments, session).await,
            Command::Diff(arguments) => diff::run(arguments, session).await,
            Command::Edit(arguments) => edit::run(arguments, session).await,
            Command::Patch(arguments) => patch::run(arguments, session).await,
            Command::Replace(arguments) => replace::run(arguments, session).await,
            Command::Label(arguments) => marks::label(arguments, session).await,
            Command::Annotate(arguments) => marks::annotate(arguments, session).await,
            Command::Delete(arguments) => delete::run(arguments, session).await,
            Command::Wait(arguments) => wait::run(arguments, session).await,
            Command::Activity(arguments) => activity::run(arguments, session).await,
            Command::Events(arguments) => events::run(arguments, session).await,
            Command::History(arguments) => history::run(arguments, session).await,
            Command::Undo(arguments) => undo::run(arguments, session).await,
            Command::Restore(arguments) => restore::run(arguments, session).await,
            Command::Referrers(arguments) => referrers::run(arguments, session).await,
            Command::Search(arguments) => search::run(arguments, session).await,
            Command::ApiResources(arguments) => api_resources::run(arguments, session).await,
            Command::ApiVersions(arguments) => api_versions::run(arguments, session).await,
            Command::Auth(arguments) => auth::run(arguments, session).await,
            Command::Login(arguments) => login::run(arguments, session).await,
            Command::Logout(arguments) => login::logout(arguments, session).await,
            Command::Credential(arguments) => login::credential(arguments, session).await,
            Command::RotateKeys(arguments) => rotate_keys::run(arguments, session).await,
            Command::Audit(arguments) => audit::run(arguments, session).await,
            Command::Backup(arguments) => backup::run(arguments, session).await,
            Command::Doctor(arguments) => doctor::run(arguments, session).await,
            Command::SupportBundle(arguments) => support_bundle::run(arguments, session).await,
            Command::Config(arguments) => config::run(arguments, session).await,
            Command::Completion(arguments) => completion::run(arguments, session).await,
            Command::Version(arguments) => version::run(arguments, session).await,
            Command::Options(arguments) => options::run(arguments, session).await,
            Command::Complete(words) => completion::complete(words, session).await,
            Command::Docs { markdown, man } => crate::docs::write(&session.root, &markdown, &man),
        }
    }
}
