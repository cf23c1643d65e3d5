//! Client-side queries, for servers that have the inventory kinds but not its queries, such as a stock Milo: everything is
//! listed and queried in memory.

use cli::{Ask, Client, Failure, Refusal};
use inventory::memory::Memory;
use krm::Object;
use krm::kind::{Address, Answered, Form, QueryContext, Questioned};
use serde_json::Value;

use crate::list;
use crate::list::select::Selection;
use crate::output::{ROOT, not_found};

/// Whether the server does not serve the requested path.
pub fn is_unknown(failure: &Failure) -> bool {
    failure.refusal().is_some_and(|refusal| refusal.code() == 404 && refusal.message() == cli::UNKNOWN_PATH)
}

/// The answer as JSON.
pub async fn value(client: &Client, ask: &Ask) -> Result<Value, Failure> {
    match answer(client, ask, Form::Json).await? {
        Answered::Json(value) => Ok(value),
        Answered::Text(text) | Answered::Svg(text) => Ok(Value::String(text)),
        Answered::Members { members, .. } => Ok(members.parts().collect()),
        Answered::Pieces(pieces) => Ok(Value::String(pieces.parts().collect())),
    }
}

/// The answer as text or SVG.
pub async fn text(client: &Client, ask: &Ask, form: Form) -> Result<String, Failure> {
    match answer(client, ask, form).await? {
        Answered::Text(text) | Answered::Svg(text) => Ok(text),
        Answered::Json(value) => Ok(value.to_string()),
        Answered::Members { members, .. } => Ok(members.parts().collect::<Value>().to_string()),
        Answered::Pieces(pieces) => Ok(pieces.parts().collect()),
    }
}

async fn answer(client: &Client, ask: &Ask, form: Form) -> Result<Answered, Failure> {
    let missing = || Failure::other(format!("this server does not serve {}", ask.path));
    let mut steps = ask.path.strip_prefix(ROOT).unwrap_or("").split('/').skip(1);
    let (Some(plural), Some(name), Some(question)) = (steps.next(), steps.next(), steps.next()) else {
        return Err(missing());
    };
    let options: Vec<(String, String)> =
        ask.query.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    if options.iter().any(|(option, _)| option == "asOf") {
        return Err(Failure::other(
            "--as-of: this server has no history (not Groundplane, or an older version)",
        )
        .hint("omit --as-of to read the current state"));
    }
    let kind = inventory::kinds::all().into_iter().find(|kind| kind.names.plural == plural);
    let kind = kind.ok_or_else(missing)?;
    let question = kind.questions.iter().find(|known| known.name == question).ok_or_else(missing)?;
    let memory = everything(client).await?;
    let address = Address {
        group: kind.group.clone(),
        plural: plural.to_owned(),
        namespace: String::new(),
        name: name.to_owned(),
    };
    if name != "-" && memory.get(&address).is_none() {
        return Err(not_found(plural, name));
    }
    let asked = Questioned { name, namespace: "", body: &[], options: &options, form };
    let answered = (question.answer)(&asked, &memory).map_err(|status| {
        let status = serde_json::to_value(&status).unwrap_or_default();
        Failure::Server(Box::new(Refusal { status, during: None }))
    })?;
    Ok(match answered {
        Answered::Json(mut value) => {
            value["apiVersion"] = "groundplane.dev/v1alpha1".into();
            value["kind"] = question.answer_kind.into();
            Answered::Json(value)
        }
        other => other,
    })
}

/// Lists all objects. Kinds that the server does not serve are treated as empty.
async fn everything(client: &Client) -> Result<Memory, Failure> {
    let (mut objects, mut missing) = (Vec::new(), 0);
    for listed in list::all() {
        match Selection::all(listed.plural).found(client).await {
            Ok(found) => objects.extend(found.items.into_iter().filter_map(Object::from_value)),
            Err(failure) if is_unknown(&failure) => missing += 1,
            Err(failure) => return Err(failure.during(&format!("could not list {}", listed.plural))),
        }
    }
    match missing == list::all().len() {
        true => Err(Failure::other(
            "this server does not serve inventory.miloapis.com/v1alpha1 (not Groundplane, or an older version)",
        )),
        false => Ok(Memory::of(objects)),
    }
}
