//! `groundplane quota grant`: gives a project or an organization more of a resource.

use cli::{Ask, Failure, Session};
use http::Method;
use serde_json::{Value, json};

use super::API;
use crate::output::{self, Form, text};

/// Grant a project or an organization more of a resource.
///
/// Creates a ResourceGrant in the root. Grants of one consumer add up. To take one back, delete it.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Type of the resource, such as compute.datumapis.com/instances.
    resource: String,

    /// Amount to add, in base units of the resource.
    #[arg(value_parser = clap::value_parser!(i64).range(0..))]
    amount: i64,

    /// Grant it to this organization instead of a project.
    #[arg(long, value_name = "NAME")]
    organization: Option<String>,

    /// Name of the grant. Defaults to one that is generated from the name of the consumer.
    #[arg(long, value_name = "NAME")]
    name: Option<String>,

    /// Reason of the grant, for the history.
    #[arg(long, short, value_name = "TEXT")]
    message: Option<String>,

    /// Output format.
    #[arg(long, short, value_name = "FORMAT", value_enum, default_value_t = Form::Table)]
    output: Form,
}

const EXAMPLES: &str = "\
Examples:
  groundplane quota grant compute.datumapis.com/instances 5 --project acme
  groundplane quota grant compute.datumapis.com/vcpus 8000 --project acme --name acme-launch -m 'launch week'
  groundplane quota grant resourcemanager.miloapis.com/projects 3 --organization acme";

/// Creates the grant.
pub async fn run(arguments: Arguments, session: &mut Session) -> Result<(), Failure> {
    let (kind, consumer, namespace) = match arguments.organization {
        Some(name) => ("Organization", name.clone(), format!("organization-{name}")),
        None => ("Project", output::project(session)?, "milo-system".to_owned()),
    };
    let metadata = match &arguments.name {
        Some(name) => json!({ "name": name }),
        None => json!({ "generateName": format!("{consumer}-") }),
    };
    let grant = json!({
        "apiVersion": "quota.miloapis.com/v1alpha1", "kind": "ResourceGrant", "metadata": metadata,
        "spec": {
            "consumerRef": {"apiGroup": "resourcemanager.miloapis.com", "kind": kind, "name": consumer},
            "allowances": [{"resourceType": arguments.resource, "buckets": [{"amount": arguments.amount}]}],
        },
    });
    let client = session.client().await?;
    let ask = Ask::new(Method::POST, format!("{API}/namespaces/{}/resourcegrants", cli::segment(&namespace)));
    let ask = ask.json(&grant).message(arguments.message.as_deref());
    let made: Value = client.inner().in_root().value(&ask).await?;
    match arguments.output {
        Form::Table => {
            let name = text(&made, "/metadata/name");
            output::line(
                &format!(
                    "Granted {} of {} to {} {consumer} ({name}).",
                    arguments.amount,
                    arguments.resource,
                    kind.to_lowercase()
                ),
                session,
            )
        }
        form => output::value(form, &made, session),
    }
}
