//! Changes of several objects as one plan: shown, confirmed on a terminal or with --yes, and sent as one transaction.

use cli::{Client, Failure, Session};
use serde_json::{Value, json};

use crate::bulk::transact::{self, Transaction};
use crate::list::kinds;
use crate::list::select::Selection;
use crate::output::{self, Form};

/// The flags of commands that change several objects.
#[derive(clap::Args, Debug)]
pub struct PlanFlags {
    /// Change without asking for confirmation.
    #[arg(long, short)]
    yes: bool,

    /// Show the plan and exit.
    #[arg(long, conflicts_with = "yes")]
    dry_run: bool,

    /// Message recorded in the change history.
    #[arg(long, value_name = "TEXT")]
    message: Option<String>,

    /// Output format of the plan: table, json, yaml.
    #[arg(long, short, value_name = "FORMAT")]
    output: Option<String>,
}

/// A plan: what is changed, and what its reader should know.
#[derive(Default)]
pub struct Plan {
    /// Items of the transaction.
    pub items: Vec<Value>,
    /// What to look at before.
    pub notes: Vec<String>,
}

impl Plan {
    /// Deletes an object.
    pub fn delete(&mut self, kind: &str, name: &str) {
        self.items.push(json!({"operation": "delete", "target": target(kind, name)}));
    }

    /// Patches an object.
    pub fn patch(&mut self, kind: &str, name: &str, patch: Value) {
        self.items.push(json!({"operation": "patch", "target": target(kind, name), "patch": patch}));
    }

    /// Shows the plan, asks, and carries it out.
    pub async fn run(
        self,
        what: &str,
        flags: &PlanFlags,
        client: &Client,
        session: &mut Session,
    ) -> Result<(), Failure> {
        let form = Form::parse(flags.output.as_deref(), &[Form::Table, Form::Json, Form::Yaml])?;
        if !session.discovery().await?.has_transactions() {
            return Err(Failure::other(
                "this server cannot change several objects at once (not Groundplane, or an older version)",
            ));
        }
        let transaction = Transaction {
            items: &self.items,
            field_manager: "groundplane-inventory",
            force: true,
            message: flags.message.as_deref(),
        };
        let told = |_: usize, field: &str, message: &str| match field {
            "" => Failure::other(message),
            field => Failure::other(format!("{field}: {message}")),
        };
        let status = transaction.send(client, false).await?;
        transact::refused(transact::failures(&status, told), "changed")?;
        match form {
            Form::Table => {
                cli::show_plan(&status, session)?;
                self.notes.iter().for_each(|note| session.console.say(note));
            }
            form => {
                let plan = json!({"items": self.items, "notes": self.notes, "dryRun": status["items"]});
                output::value(form, &plan, session)?;
            }
        }
        if flags.dry_run {
            return Ok(());
        }
        let count = self.items.len();
        let objects = if count == 1 { "1 object".to_owned() } else { format!("{count} objects") };
        let console = &mut session.console;
        if !(flags.yes || (console.can_ask && console.confirm(&format!("{what}: change {objects}?")))) {
            return Err(Failure::other("nothing was changed; pass --yes to change without asking"));
        }
        let status = transaction.send(client, true).await?;
        transact::refused(transact::failures(&status, told), "changed")?;
        let revision = status["revision"].as_str().unwrap_or("");
        session.console.say(&format!(
            "changed {objects} in one commit (revision {revision}); to undo: groundplane undo --revision {revision}"
        ));
        Ok(())
    }
}

fn target(kind: &str, name: &str) -> Value {
    let version = format!("{}/{}", inventory::kinds::GROUP, inventory::kinds::VERSION);
    json!({"apiVersion": version, "kind": kind, "name": name})
}

/// A node or network device, with its ports and cables.
pub struct Device {
    /// `Node` or `NetworkDevice`.
    pub kind: &'static str,
    /// Its name.
    pub name: String,
    /// The object.
    pub object: Value,
    /// Its ports.
    pub ports: Vec<Value>,
    /// The cables in its ports.
    pub cables: Vec<Value>,
}

impl Device {
    /// Reads a device named as `KIND/NAME`, or `NAME` if it is unambiguous.
    pub async fn find(word: &str, client: &Client) -> Result<Device, Failure> {
        let (kinds_of, name) = match word.split_once('/') {
            Some((kind, name)) => (vec![kinds::named(kind)?.kind], name),
            None => (vec!["Node", "NetworkDevice"], word),
        };
        if kinds_of.iter().any(|kind| !matches!(*kind, "Node" | "NetworkDevice")) {
            return Err(Failure::usage(format!("{word} is neither a node nor a network device")));
        }
        let mut found = Vec::new();
        for kind in kinds_of {
            let plural = kinds::named(kind)?.plural;
            found.extend(
                named(plural, "metadata.name", name, client).await?.into_iter().map(|object| (kind, object)),
            );
        }
        let (kind, object) = match found.len() {
            0 => {
                return Err(Failure::other(format!("no node or networkdevice is named {name}"))
                    .hint(format!("find it with \"groundplane search {name}\"")));
            }
            1 => found.remove(0),
            _ => {
                return Err(Failure::usage(format!("several devices are named {name}"))
                    .hint(format!("choose one: node/{name}, networkdevice/{name}")));
            }
        };
        let mut ports = named("ports", "spec.deviceRef.name", name, client).await?;
        ports.retain(|port| port["spec"]["deviceRef"]["kind"] == kind);
        let mut cables: Vec<Value> = Vec::new();
        for port in &ports {
            let at = port["metadata"]["name"].as_str().unwrap_or("");
            for cable in named("cables", "spec.endpoints.name", at, client).await? {
                if !cables.iter().any(|known| known["metadata"]["name"] == cable["metadata"]["name"]) {
                    cables.push(cable);
                }
            }
        }
        Ok(Device { kind, name: name.to_owned(), object, ports, cables })
    }
}

/// The objects of a kind whose field has a value.
pub async fn named(
    plural: &'static str,
    field: &str,
    value: &str,
    client: &Client,
) -> Result<Vec<Value>, Failure> {
    let selection = Selection { fields: Some(format!("{field}={value}")), ..Selection::all(plural) };
    Ok(selection.every(client).await?.items)
}

/// The name of an object.
pub fn name_of(object: &Value) -> &str {
    object["metadata"]["name"].as_str().unwrap_or("")
}
