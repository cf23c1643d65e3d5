//! `groundplane services`: the services that a project can ask for.

use cli::{Ask, Client, Failure, Session};
use serde_json::{Value, json};

use crate::output::{self, Form, age, text};

/// API path of services.
pub const API: &str = "/apis/services.miloapis.com/v1alpha1";

/// List services, and what a project has of them.
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Examples:\n  groundplane services list --project acme\n  groundplane services describe compute --project acme\n  groundplane services list --project acme -o json"
)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand, Debug)]
enum Command {
    /// List the services that the project can ask for.
    #[command(
        after_help = "Examples:\n  groundplane services list --project acme\n  groundplane services list --project acme -o json"
    )]
    List {
        /// Output format.
        #[arg(long, short, value_name = "FORMAT", value_enum, default_value_t = Form::Table)]
        output: Form,
    },
    /// Show one service, and what the project has of it.
    #[command(after_help = "Examples:\n  groundplane services describe compute --project acme")]
    Describe {
        /// Name of the service, such as compute, or its canonical name.
        service: String,
        /// Output format.
        #[arg(long, short, value_name = "FORMAT", value_enum, default_value_t = Form::Table)]
        output: Form,
    },
}

/// Lists services.
pub async fn run(arguments: Arguments, session: &mut Session) -> Result<(), Failure> {
    let project = output::project(session)?;
    let client = session.client().await?;
    match arguments.command {
        Command::List { output } => {
            let services = catalog(&client).await?;
            if output != Form::Table {
                return output::value(output, &json!({ "project": project, "items": services }), session);
            }
            if services.is_empty() {
                return output::line("No services are offered.", session);
            }
            let mut rows = vec![["NAME", "SERVICE", "STATE", "DESCRIPTION"].map(str::to_owned).to_vec()];
            let cell = |service: &Value, field: &str| text(service, field).to_owned();
            rows.extend(services.iter().map(|service| {
                vec![
                    cell(service, "/name"),
                    cell(service, "/serviceName"),
                    words(text(service, "/state")).to_owned(),
                    cell(service, "/description"),
                ]
            }));
            output::table(&rows, session)
        }
        Command::Describe { service, output } => {
            let service = find(&client, &service).await?;
            match output {
                Form::Table => describe(&service, &project, session),
                form => output::value(form, &service, session),
            }
        }
    }
}

/// All services that are offered to the project.
pub async fn catalog(client: &Client) -> Result<Vec<Value>, Failure> {
    let answer = client.value(&Ask::get(format!("{API}/serviceentitlements/-/catalog"))).await?;
    Ok(answer["items"].as_array().cloned().unwrap_or_default())
}

/// A service by its name or canonical name.
pub async fn find(client: &Client, name: &str) -> Result<Value, Failure> {
    let services = catalog(client).await?;
    let found = services
        .iter()
        .find(|service| text(service, "/name") == name || text(service, "/serviceName") == name);
    found.cloned().ok_or_else(|| {
        let names: Vec<&str> = services.iter().map(|service| text(service, "/name")).collect();
        let offered = if names.is_empty() {
            "none is offered".to_owned()
        } else {
            format!("offered: {}", names.join(", "))
        };
        Failure::other(format!("the {name} service is not available on this platform environment"))
            .note(offered)
    })
}

/// A state in words.
pub fn words(state: &str) -> &str {
    match state {
        "NotRequested" => "Not requested",
        "PendingApproval" => "Pending approval",
        other => other,
    }
}

/// What is told of a service.
pub fn describe(service: &Value, project: &str, session: &mut Session) -> Result<(), Failure> {
    let requested = format!(" (requested {} ago)", age(text(service, "/requestedAt")));
    let since = match text(service, "/state") {
        "Active" => format!(" (enabled {} ago)", age(text(service, "/entitledAt"))),
        "PendingApproval" | "Processing" => requested,
        _ => String::new(),
    };
    output::line(
        &format!("Service:  {} ({})", text(service, "/displayName"), text(service, "/serviceName")),
        session,
    )?;
    if !text(service, "/description").is_empty() {
        output::line(&format!("          {}", text(service, "/description")), session)?;
    }
    output::line(&format!("Project:  {project}"), session)?;
    output::line(&format!("Status:   {}{since}", words(text(service, "/state"))), session)?;
    let message = text(service, "/message");
    if !message.is_empty() && text(service, "/state") != "Active" {
        output::line(&format!("          {message}"), session)?;
    }
    Ok(())
}
