//! `groundplane auth`: who I am, what I may do, and why.

mod machine_account;
mod machine_token;
mod signing;
mod why;

use std::io::Write;

use http::Method;
use serde_json::{Value, json};

use super::describe::rules_table;
use crate::client::Ask;
use crate::failure::Failure;
use crate::print::{self, Output, shown_as_go};
use crate::session::Session;

/// Check permissions, and manage accounts of programs.
#[derive(clap::Args, Debug)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand, Debug)]
enum Command {
    CanI(CanI),
    Whoami(WhoAmI),
    Why(why::Why),
    MachineAccount(machine_account::MachineAccount),
    MachineToken(machine_token::MachineToken),
}

/// Check whether an action is allowed.
///
/// Prints yes or no. Exit code: 0 for yes, 1 for no.
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Examples:\n  groundplane auth can-i create racks\n  groundplane auth can-i get configmaps/settings -n default\n  \
    groundplane auth can-i '*' '*'\n  groundplane auth can-i get /metrics\n  groundplane auth can-i --list --as eve"
)]
struct CanI {
    /// VERB TYPE, VERB TYPE/NAME or VERB /PATH
    #[arg(value_name = "VERB [TYPE[/NAME] | /PATH]")]
    words: Vec<String>,

    /// List all allowed actions.
    #[arg(long)]
    list: bool,

    /// All namespaces.
    #[arg(long, short = 'A')]
    all_namespaces: bool,

    /// Subresource, such as status.
    #[arg(long, value_name = "NAME", default_value = "")]
    subresource: String,

    /// Print nothing; the exit code is the answer.
    #[arg(long, short)]
    quiet: bool,

    /// With --list: print no headers.
    #[arg(long)]
    no_headers: bool,
}

/// Show the user and groups that the server authenticates you as.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  groundplane auth whoami\n  groundplane auth whoami -o json")]
struct WhoAmI {
    /// Output format: json, yaml, jsonpath=TEMPLATE.
    #[arg(long, short, value_name = "FORMAT")]
    output: Option<String>,
}

const VERBS: [&str; 17] = [
    "get",
    "list",
    "watch",
    "create",
    "update",
    "patch",
    "delete",
    "deletecollection",
    "use",
    "bind",
    "impersonate",
    "*",
    "approve",
    "sign",
    "escalate",
    "attest",
    "reveal",
];
const PATH_VERBS: [&str; 8] = ["get", "put", "post", "head", "options", "delete", "patch", "*"];

/// Answers.
pub async fn run(arguments: Arguments, session: &mut Session) -> Result<(), Failure> {
    match arguments.command {
        Command::CanI(can_i) if can_i.list => list(&can_i, session).await,
        Command::CanI(can_i) => check(&can_i, session).await,
        Command::Whoami(who) => whoami(&who, session).await,
        Command::Why(why) => why::run(&why, session).await,
        Command::MachineAccount(account) => machine_account::run(&account, session).await,
        Command::MachineToken(token) => machine_token::run(&token, session),
    }
}

async fn review(
    kind: &str,
    group: &str,
    spec: Option<Value>,
    session: &mut Session,
) -> Result<Value, Failure> {
    let api_version = format!("{group}/v1");
    let plural = format!("{}s", kind.to_lowercase());
    let mut body = json!({"apiVersion": api_version, "kind": kind});
    if let Some(spec) = spec {
        body["spec"] = spec;
    }
    let ask = Ask::new(Method::POST, format!("/apis/{api_version}/{plural}")).json(&body);
    session.client().await?.value(&ask).await
}

async fn check(can_i: &CanI, session: &mut Session) -> Result<(), Failure> {
    let [verb, what] = can_i.words.as_slice() else {
        return Err(Failure::usage(
            "you must specify two arguments: verb resource or verb resource/resourceName.",
        )
        .hint("\"groundplane auth can-i --help\" has examples"));
    };
    if can_i.no_headers {
        return Err(Failure::usage("--no-headers cannot be set without --list specified"));
    }
    let namespace = if can_i.all_namespaces { String::new() } else { session.namespace().await? };
    let spec = match what.strip_prefix('/') {
        Some(_) => {
            if !PATH_VERBS.contains(&verb.as_str()) {
                session.console.warn(&format!("verb '{verb}' is not a known verb\n"));
            }
            json!({"nonResourceAttributes": {"verb": verb, "path": what}})
        }
        None => {
            let (word, name) = what.split_once('/').unwrap_or((what, ""));
            let (group, plural) = resource(word, can_i.all_namespaces, session).await?;
            if !VERBS.contains(&verb.as_str()) {
                session.console.warn(&format!("verb '{verb}' is not a known verb\n"));
            }
            json!({"resourceAttributes": {"namespace": namespace, "verb": verb, "group": group, "resource": plural,
                "subresource": can_i.subresource, "name": name}})
        }
    };
    let answer = review("SelfSubjectAccessReview", "authorization.k8s.io", Some(spec), session).await?;
    let status = &answer["status"];
    let is_allowed = status["allowed"] == true;
    if !can_i.quiet {
        let mut line = if is_allowed { "yes" } else { "no" }.to_owned();
        for why in ["reason", "evaluationError"].iter().filter(|_| !is_allowed) {
            if let Some(why) = status[why].as_str().filter(|why| !why.is_empty()) {
                line += &format!(" - {why}");
            }
        }
        writeln!(session.console.out, "{line}")?;
    }
    if is_allowed { Ok(()) } else { Err(Failure::Exit(1)) }
}

/// Group and plural of a type; what is unknown is asked about as it was written.
async fn resource(word: &str, everywhere: bool, session: &mut Session) -> Result<(String, String), Failure> {
    if word == "*" {
        return Ok((String::new(), word.to_owned()));
    }
    let discovery = session.discovery().await?;
    match discovery.resource(word) {
        Ok(resource) => {
            if !resource.is_namespaced && !everywhere {
                let group = match resource.group.as_str() {
                    "" => String::new(),
                    group => format!(" in group '{group}'"),
                };
                session
                    .console
                    .warn(&format!("resource '{}' is not namespace scoped{group}\n", resource.plural));
            }
            Ok((resource.group.clone(), resource.plural.clone()))
        }
        Err(_) => {
            if !matches!(word, "users" | "groups") {
                let told = match word.split_once('.') {
                    Some((plural, group)) => {
                        format!("the server doesn't have a resource type '{plural}' in group '{group}'\n")
                    }
                    None => format!("the server doesn't have a resource type '{word}'\n"),
                };
                session.console.warn(&told);
            }
            Ok((String::new(), word.to_owned()))
        }
    }
}

async fn list(can_i: &CanI, session: &mut Session) -> Result<(), Failure> {
    if !can_i.words.is_empty() {
        return Err(Failure::usage("list option must be specified with no arguments"));
    }
    if can_i.quiet || can_i.all_namespaces || !can_i.subresource.is_empty() {
        return Err(Failure::usage(
            "list option can't be specified with neither quiet, all-namespaces nor subresource options",
        ));
    }
    let namespace = session.namespace().await?;
    let answer = review(
        "SelfSubjectRulesReview",
        "authorization.k8s.io",
        Some(json!({"namespace": namespace})),
        session,
    )
    .await?;
    let status = &answer["status"];
    if status["incomplete"] == true {
        let why = status["evaluationError"].as_str().unwrap_or("");
        session.console.warn(&format!("the list may be incomplete: {why}"));
    }
    let both =
        ["resourceRules", "nonResourceRules"].iter().filter_map(|field| status[field].as_array()).flatten();
    let mut text = String::new();
    if !can_i.no_headers {
        text += "Resources\tNon-Resource URLs\tResource Names\tVerbs\n";
    }
    text += &rules_table(&Value::Array(both.cloned().collect()));
    let text = print::fitted(&text, session.console.table_width());
    session.console.out.write_all(text.as_bytes())?;
    Ok(())
}

async fn whoami(who: &WhoAmI, session: &mut Session) -> Result<(), Failure> {
    let answer = review("SelfSubjectReview", "authentication.k8s.io", None, session).await?;
    if let Some(form) = &who.output {
        return Output::parse(Some(form), false)?.print(&mut session.console.out, &answer);
    }
    let user = &answer["status"]["userInfo"];
    let mut text = "ATTRIBUTE\tVALUE\n".to_owned();
    for (title, field) in [("Username", "username"), ("UID", "uid")] {
        if let Some(value) = user[field].as_str().filter(|value| !value.is_empty()) {
            text += &format!("{title}\t{value}\n");
        }
    }
    if user["groups"].as_array().is_some_and(|groups| !groups.is_empty()) {
        text += &format!("Groups\t{}\n", shown_as_go(&user["groups"]));
    }
    for (key, value) in user["extra"].as_object().into_iter().flatten() {
        text += &format!("Extra: {key}\t{}\n", shown_as_go(value));
    }
    let text = print::fitted(&text, None);
    session.console.out.write_all(text.as_bytes())?;
    Ok(())
}
