//! `groundplane inventory apply`: server-side apply of inventory manifests in dependency order.

use std::io::Write;

use cli::{Ask, Client, Failure, FileFlags, Manifest, Session};
use http::Method;
use serde_json::{Value, json};

use crate::bulk::{ORDER, transact};
use crate::output::ROOT;

/// Apply inventory manifests, in any order, as one transaction.
///
/// Either all objects are applied or none. On a server without transactions, objects are applied one by one in dependency
/// order, and the command stops at the first error. Only inventory kinds are accepted; use "groundplane apply" for others.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    #[command(flatten)]
    files: FileFlags,

    /// Validate without changing anything: "server" sends the request as a server-side dry run.
    #[arg(long, value_name = "MODE", default_value = "none", num_args = 0..=1, require_equals = true,
        default_missing_value = "server")]
    dry_run: String,

    /// Message recorded in the change history.
    #[arg(long, value_name = "TEXT")]
    message: Option<String>,
}

const EXAMPLES: &str = "\
Examples:
  groundplane inventory apply -f site.yaml
  groundplane inventory apply -f racks.yaml -f nodes.yaml --dry-run=server
  groundplane demo | groundplane inventory apply -f -";

const MANAGER: &str = "datumctl-inventory";

/// Applies manifests.
pub async fn run(arguments: Arguments, session: &mut Session) -> Result<(), Failure> {
    let is_real = match arguments.dry_run.as_str() {
        "none" => true,
        "server" => false,
        other => {
            let other = krm::field::quote(other);
            return Err(Failure::usage(format!(
                "invalid value {other} for --dry-run; allowed: none, server"
            )));
        }
    };
    if arguments.files.is_empty() {
        return Err(Failure::usage("at least one -f/--filename is required"));
    }
    let mut manifests = arguments.files.read(&mut session.console)?;
    if manifests.is_empty() {
        return Err(Failure::other("no inventory objects found in input"));
    }
    for manifest in &manifests {
        supported(manifest)?;
    }
    manifests.sort_by_key(|manifest| rank(&manifest.object));
    let client = session.client().await?;
    if session.discovery().await?.has_transactions() {
        let items: Vec<Value> = manifests
            .iter()
            .map(|manifest| json!({"operation": "apply", "object": manifest.object}))
            .collect();
        let transaction = transact::Transaction {
            items: &items,
            field_manager: MANAGER,
            force: true,
            message: arguments.message.as_deref(),
        };
        let status = transaction.send(&client, is_real).await?;
        let failures = transact::failures(&status, |index, _, told| {
            let name = manifests.get(index).map_or(String::new(), |manifest| short(&manifest.object));
            Failure::other(format!("apply {name}: {told}"))
        });
        transact::refused(failures, "applied")?;
        return manifests.iter().try_for_each(|manifest| tell(&manifest.object, is_real, session));
    }
    for manifest in &manifests {
        apply_one(&client, manifest, is_real, arguments.message.as_deref()).await?;
        tell(&manifest.object, is_real, session)?;
    }
    Ok(())
}

async fn apply_one(
    client: &Client,
    manifest: &Manifest,
    is_real: bool,
    message: Option<&str>,
) -> Result<(), Failure> {
    let object = &manifest.object;
    let listed = crate::list::kinds::named(object["kind"].as_str().unwrap_or(""))?;
    let name = object["metadata"]["name"].as_str().unwrap_or("");
    let ask = Ask::new(Method::PATCH, format!("{ROOT}/{}/{}", listed.plural, cli::segment(name)))
        .query("fieldManager", MANAGER)
        .query("force", "true")
        .query_if("dryRun", (!is_real).then_some("All"))
        .message(message)
        .body("application/apply-patch+yaml", krm::encode::to_json(object));
    let applied = client.value(&ask).await;
    applied.map(drop).map_err(|failure| failure.during(&format!("apply {}", short(object))))
}

fn tell(object: &Value, is_real: bool, session: &mut Session) -> Result<(), Failure> {
    let suffix = if is_real { "" } else { " (server dry-run)" };
    Ok(writeln!(session.console.out, "applied {}{suffix}", short(object))?)
}

/// `site/us-east-1a`.
fn short(object: &Value) -> String {
    let kind = object["kind"].as_str().unwrap_or("").to_lowercase();
    format!("{kind}/{}", object["metadata"]["name"].as_str().unwrap_or(""))
}

fn supported(manifest: &Manifest) -> Result<(), Failure> {
    let kind = manifest.object["kind"].as_str().unwrap_or("");
    let group = manifest.object["apiVersion"].as_str().and_then(|version| version.split_once('/'));
    let is_ours = group.is_some_and(|(group, _)| group == inventory::kinds::GROUP) && ORDER.contains(&kind);
    match is_ours {
        true => Ok(()),
        false => Err(Failure::other(format!(
            "unsupported kind {} in {} (apply handles: {})",
            krm::field::quote(kind),
            manifest.source_name(),
            ORDER.join(", ")
        ))
        .hint("use \"groundplane apply -f\" for other kinds")),
    }
}

fn rank(object: &Value) -> usize {
    let kind = object["kind"].as_str().unwrap_or("");
    ORDER.iter().position(|known| *known == kind).unwrap_or(ORDER.len())
}
