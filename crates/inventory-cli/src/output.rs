//! Output formats (`-o`), and queries sent to the server.

use std::io::Write;

use cli::{Ask, Client, Failure, Session};
use serde_json::{Value, json};

use crate::locally;

/// API path of the inventory.
pub const ROOT: &str = "/apis/inventory.miloapis.com/v1alpha1";

/// An output format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    Table,
    Wide,
    Json,
    Yaml,
    Name,
    Svg,
}

impl Form {
    /// Parses the value of `-o` among the formats that a command supports. Defaults to a table.
    pub fn parse(text: Option<&str>, allowed: &[Form]) -> Result<Form, Failure> {
        let Some(text) = text else { return Ok(Form::Table) };
        let found = allowed.iter().find(|form| form.word() == text);
        found.copied().ok_or_else(|| {
            let allowed: Vec<&str> = allowed.iter().map(|form| form.word()).collect();
            Failure::usage(format!(
                "invalid value {} for --output; allowed: {}",
                krm::field::quote(text),
                allowed.join(", ")
            ))
        })
    }

    fn word(self) -> &'static str {
        match self {
            Form::Table => "table",
            Form::Wide => "wide",
            Form::Json => "json",
            Form::Yaml => "yaml",
            Form::Name => "name",
            Form::Svg => "svg",
        }
    }
}

/// The output formats of lists.
pub const LISTED: [Form; 5] = [Form::Table, Form::Wide, Form::Json, Form::Yaml, Form::Name];

/// Prints a value as JSON or YAML.
pub fn value(form: Form, value: &Value, session: &mut Session) -> Result<(), Failure> {
    let text = match form {
        Form::Yaml => krm::encode::to_yaml(value),
        _ => krm::encode::to_json_pretty(value) + "\n",
    };
    Ok(session.console.out.write_all(text.as_bytes())?)
}

/// Prints text unchanged.
pub fn text(text: &str, session: &mut Session) -> Result<(), Failure> {
    Ok(session.console.out.write_all(text.as_bytes())?)
}

/// Prints rows below their headings, or a message if there are none.
pub fn table(rows: &[Vec<String>], session: &mut Session) -> Result<(), Failure> {
    if rows.len() < 2 {
        return text("No matching inventory found.\n", session);
    }
    let laid_out = inventory::questions::table(rows);
    let shown = cli::headed(&session.console, &laid_out, false);
    text(&shown, session)
}

/// Sends a query and returns the answer as JSON.
pub async fn answer(client: &Client, ask: Ask) -> Result<Value, Failure> {
    match client.value(&ask).await {
        Err(failure) if locally::is_unknown(&failure) => locally::value(client, &ask).await,
        answer => answer.map_err(explained),
    }
}

/// Whether an answer lacks something that the user may not read.
pub fn is_incomplete(answer: &Value) -> bool {
    answer["incomplete"] == true
}

/// Says on stderr that an answer is incomplete, if it is, where what is printed of it does not.
pub fn say_incomplete(answer: &Value, session: &mut Session) {
    if is_incomplete(answer) {
        session.console.say(
            "incomplete: something may be missing, because you may not read everything that this depends on",
        );
    }
}

/// Sends a query and returns the answer as text.
pub async fn answer_text(client: &Client, ask: Ask) -> Result<String, Failure> {
    as_it_comes(client, ask.accept("text/plain"), krm::kind::Form::Text).await
}

/// Sends a query and returns the answer as SVG.
pub async fn answer_drawing(client: &Client, ask: Ask) -> Result<String, Failure> {
    as_it_comes(client, ask.accept("image/svg+xml"), krm::kind::Form::Svg).await
}

async fn as_it_comes(client: &Client, ask: Ask, form: krm::kind::Form) -> Result<String, Failure> {
    let answer = client.answer(&ask).await?;
    if (200..300).contains(&answer.code) {
        return Ok(String::from_utf8_lossy(&answer.body).into_owned());
    }
    match cli::refused(&answer) {
        failure if locally::is_unknown(&failure) => locally::text(client, &ask, form).await,
        failure => Err(explained(failure)),
    }
}

/// A NotFound error like the server's, with a hint.
pub fn not_found(plural: &str, name: &str) -> Failure {
    let group = inventory::kinds::GROUP;
    let message = format!("{plural}.{group} {} not found", krm::field::quote(name));
    let details = json!({"name": name, "group": group, "kind": plural});
    let status = json!({
        "kind": "Status", "status": "Failure", "code": 404, "reason": "NotFound", "message": message, "details": details,
    });
    explained(Failure::Server(Box::new(cli::Refusal { status, during: None })))
}

/// Fails on servers without history: they would ignore `asOf` and return the current state.
pub async fn keeps_a_past(session: &mut Session) -> Result<(), Failure> {
    match session.discovery().await?.has_transactions() {
        true => Ok(()),
        false => {
            Err(Failure::other("--as-of: this server has no history (not Groundplane, or an older version)")
                .hint("omit --as-of to read the current state"))
        }
    }
}

/// Adds a hint to an error of the server.
fn explained(failure: Failure) -> Failure {
    let Some(refusal) = failure.refusal() else { return failure };
    let details = refusal.status["details"].clone();
    match (refusal.reason(), details["kind"].as_str(), details["name"].as_str()) {
        ("NotFound", Some(plural), Some(name)) if !name.is_empty() => failure.hint(format!(
            "find it with \"groundplane search {name}\", or list all with \"groundplane inventory {plural}\""
        )),
        ("NotFound", ..) => failure.without("inventory"),
        _ => failure,
    }
}

/// The request of a query about an object; `-` means all objects of its kind.
pub fn question(plural: &str, name: &str, question: &str) -> Ask {
    Ask::get(format!("{ROOT}/{plural}/{}/{question}", cli::segment(name)))
}

/// Parses `--as-of` into the form that the API takes.
pub fn moment(as_of: Option<&str>) -> Result<Option<String>, Failure> {
    as_of.map(cli::moment).transpose()
}

/// Prints names as `kind.group/name`, one per line.
pub fn names<'a>(
    found: impl IntoIterator<Item = (&'a str, &'a str)>,
    session: &mut Session,
) -> Result<(), Failure> {
    for (kind, name) in found {
        writeln!(session.console.out, "{}.{}/{name}", kind.to_lowercase(), inventory::kinds::GROUP)?;
    }
    Ok(())
}
