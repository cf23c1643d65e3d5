//! `groundplane controllers`: the list of controllers, running some of them beside the server, and the role that takes.

mod in_projects;
mod listen;
mod run;

use std::io::Write;
use std::sync::Arc;

use cli::{Failure as Refusal, Session};
use reconcile::reconciler::Reconciler;
use remote::Catalog;
use remote::role::{self, Principal};

use crate::failure::Failure;
use crate::modules;

/// Show the controllers of the server, or run some of them beside it.
///
/// A controller brings objects to their desired state: it collects garbage, empties namespaces and projects that are being deleted, and keeps status and labels up to date. With several servers one of them runs each controller; the table is that of the server that you ask: the queue and the attempts of each, and the objects that fail. A controller that runs beside the server is shown with the holder of its lease.
#[derive(clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:\n  groundplane controllers\n  groundplane controllers inventory-controller\n  groundplane controllers -o json\n  groundplane controllers role inventory-controller | groundplane apply -f -\n  groundplane controllers run inventory-controller"
)]
#[group(skip)]
pub struct Arguments {
    #[command(subcommand)]
    action: Option<Action>,

    #[command(flatten)]
    list: cli::controllers::List,
}

#[derive(clap::Subcommand)]
enum Action {
    Run(run::Arguments),
    Role(RoleArguments),
}

/// Print the role that a controller needs to run beside the server.
///
/// The manifests hold the permissions that the controller declares and no others: a ClusterRole for what it reads and writes and for its lease, its binding, and a service account of the namespace kube-system unless you name a user. For a controller whose objects are in projects, name a user of IAM: the manifests then also hold a Role and a PolicyBinding on all projects.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  groundplane controllers role inventory-controller | groundplane apply -f -\n  groundplane controllers role inventory-controller --user site-a-controllers\n  groundplane controllers role network-controller --user networks"
)]
pub struct RoleArguments {
    /// Name of the controller.
    #[arg(required = true)]
    names: Vec<String>,

    /// Bind the role to this user instead of a service account.
    #[arg(long, value_name = "USER")]
    user: Option<String>,

    /// Let it also read this resource: PLURAL or PLURAL.GROUP. For kinds that users define and objects refer to.
    #[arg(long, value_name = "RESOURCE")]
    read: Vec<String>,
}

/// What was asked for.
pub enum Asked {
    /// Something of a server.
    Client(OfServer),
    /// The role of controllers.
    Role(RoleArguments),
}

/// What is asked of a server.
pub enum OfServer {
    List(cli::controllers::List),
    Run(run::Arguments),
}

impl Arguments {
    /// Whether it connects to a server.
    pub fn connects(&self) -> bool {
        !matches!(self.action, Some(Action::Role(_)))
    }

    /// What was asked for.
    pub fn split(self) -> Asked {
        match self.action {
            None => Asked::Client(OfServer::List(self.list)),
            Some(Action::Run(arguments)) => Asked::Client(OfServer::Run(arguments)),
            Some(Action::Role(arguments)) => Asked::Role(arguments),
        }
    }
}

impl OfServer {
    /// Carries it out.
    pub async fn run(self, session: &mut Session) -> Result<(), Refusal> {
        match self {
            OfServer::List(arguments) => cli::controllers::run(arguments, session).await,
            OfServer::Run(arguments) => run::run(arguments, session).await,
        }
    }
}

/// Prints the roles of controllers.
pub fn role(arguments: &RoleArguments) -> Result<(), Failure> {
    let catalog = Catalog::new(modules::portable_kinds());
    let resource = |text: &String| match text.split_once('.') {
        Some((plural, group)) => (group.to_owned(), plural.to_owned()),
        None => (String::new(), text.clone()),
    };
    let further: Vec<(String, String)> = arguments.read.iter().map(resource).collect();
    let mut text = String::new();
    for reconciler in chosen(&arguments.names).map_err(|why| Failure::new("controllers role", why))? {
        let principal = match &arguments.user {
            Some(user) => Principal::User(user.clone()),
            None => Principal::ServiceAccount(reconciler.name().to_owned()),
        };
        let mut objects = role::manifest(&*reconciler, &catalog, &principal, &further);
        if role::is_for_projects(&*reconciler) {
            let user = arguments.user.as_ref().ok_or_else(|| {
                let why = format!(
                    "{} has objects in projects, where a service account of the root is nobody; name a user of IAM \
                     with --user",
                    reconciler.name()
                );
                Failure::new("controllers role", why)
            })?;
            objects.extend(in_projects::manifest(&*reconciler, user));
        }
        for object in objects {
            text += &format!("---\n{}", krm::encode::to_yaml(&object));
        }
    }
    match std::io::stdout().write_all(text.as_bytes()) {
        // The reader has closed the pipe: it has what it wanted.
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Failure::new("printing the role", error))
        }
        _ => Ok(()),
    }
}

/// The controllers of these names that need nothing of the server but its API.
fn chosen(names: &[String]) -> Result<Vec<Arc<dyn Reconciler>>, String> {
    let all = modules::domain_controllers(&modules::feature_gates());
    let known = || all.iter().map(|reconciler| reconciler.name()).collect::<Vec<_>>().join(", ");
    let find = |name: &String| {
        let found = all.iter().find(|reconciler| reconciler.name() == name).cloned();
        found.ok_or_else(|| format!("{name:?} can't run beside the server; those that can are {}", known()))
    };
    names.iter().map(find).collect()
}
