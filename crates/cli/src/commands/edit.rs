//! `groundplane edit`: an object in an editor.

use std::io::Write;
use std::path::Path;

use http::Method;
use serde_json::{Map, Value};

use crate::client::Ask;
use crate::commands::found::{self, ObjectTarget};
use crate::commands::selection::Selection;
use crate::failure::Failure;
use crate::manifests::FileFlags;
use crate::session::Session;

/// Edit an object in an editor.
///
/// Opens the object as YAML in the editor of KUBE_EDITOR, EDITOR or vi. The saved text is written unless the object has
/// changed meanwhile. If the server rejects it, the editor opens again with the error above the text. Saving no change, or
/// an empty file, cancels the edit.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  groundplane create configmap settings --from-literal=limit=3\n  \
    groundplane edit configmap settings\n  \
    KUBE_EDITOR=nano groundplane edit cm/settings --message 'new limits'")]
pub struct Arguments {
    /// TYPE NAME… or TYPE/NAME…
    #[arg(value_name = "TYPE NAME | TYPE/NAME")]
    words: Vec<String>,

    #[command(flatten)]
    files: FileFlags,

    /// Subresource to write, such as status.
    #[arg(long, value_name = "NAME")]
    subresource: Option<String>,

    /// Field manager to record as the owner of the fields.
    #[arg(long, value_name = "NAME", default_value = "groundplane")]
    field_manager: String,

    /// Reason for the change, shown in the history.
    #[arg(long, value_name = "TEXT")]
    message: Option<String>,
}

const HEAD: &str = "# Lines that start with # are ignored. Save no change, or an empty file, to cancel the edit.\n\
    # What can't be written is shown here again, with the reason.\n#\n";

/// Edits each object.
pub async fn run(arguments: Arguments, session: &mut Session) -> Result<(), Failure> {
    let places =
        found::places(&arguments.words, &arguments.files, &Selection::default(), false, session).await?;
    if places.is_empty() {
        return Err(Failure::usage("name an object to edit: TYPE NAME or TYPE/NAME"));
    }
    for place in &places {
        edit(&arguments, place, session).await?;
    }
    Ok(())
}

async fn edit(arguments: &Arguments, place: &ObjectTarget, session: &mut Session) -> Result<(), Failure> {
    let client = session.client().await?;
    let path = match &arguments.subresource {
        Some(subresource) => format!("{}/{subresource}", place.path()),
        None => place.path(),
    };
    let mut before = client.value(&Ask::get(path.clone())).await?;
    crate::print::without_managed_fields(&mut before);
    let mut text = format!("{HEAD}{}", krm::encode::to_yaml(&before));
    let mut why: Option<String> = None;
    loop {
        let shown = why.as_ref().map_or(text.clone(), |why| with_reason(&text, why));
        let saved = in_editor(&shown, place, session).await?;
        let content: String =
            saved.lines().filter(|line| !line.starts_with('#')).map(|line| format!("{line}\n")).collect();
        let is_same = content.trim().is_empty() || saved == shown;
        if is_same && why.is_some() {
            let kept = keep(&saved)?;
            let message = format!("Edit cancelled, the changes are saved in {kept}");
            return Err(why.take().map_or(Failure::Exit(1), |why| {
                Failure::Several(vec![Failure::Bare(why), Failure::other(message)])
            }));
        }
        if is_same {
            writeln!(session.console.out, "Edit cancelled, no changes made.")?;
            return Ok(());
        }
        text = saved;
        let after = match krm::decode::read_yaml(content.as_bytes()) {
            Ok(yaml) => yaml.value,
            Err(error) => {
                why = Some(format!("error: {error}"));
                continue;
            }
        };
        let patch = difference(&before, &after);
        if patch == Value::Object(Map::new()) {
            writeln!(session.console.out, "Edit cancelled, no changes made.")?;
            return Ok(());
        }
        let mut patch = patch;
        patch["metadata"]["resourceVersion"] = before["metadata"]["resourceVersion"].clone();
        let ask = Ask::new(Method::PATCH, path.clone())
            .query("fieldManager", arguments.field_manager.as_str())
            .query("fieldValidation", "Strict")
            .message(arguments.message.as_deref())
            .body("application/merge-patch+json", patch.to_string());
        match client.value(&ask).await {
            Ok(_) => {
                writeln!(session.console.out, "{} edited", place.shown())?;
                return Ok(());
            }
            Err(failure)
                if failure
                    .refusal()
                    .is_some_and(|refusal| matches!(refusal.code(), 400 | 403 | 409 | 422)) =>
            {
                why = Some(failure.text().trim_end().to_owned());
            }
            Err(failure) => return Err(failure),
        }
    }
}

fn with_reason(text: &str, why: &str) -> String {
    let body = text.strip_prefix(HEAD).unwrap_or(text);
    let body: String =
        body.lines().skip_while(|line| line.starts_with('#')).map(|line| format!("{line}\n")).collect();
    let why: String = why.lines().map(|line| format!("# {line}\n")).collect();
    format!("{HEAD}{why}#\n{body}")
}

async fn in_editor(text: &str, place: &ObjectTarget, session: &mut Session) -> Result<String, Failure> {
    let set = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let editor = set("KUBE_EDITOR").or_else(|| set("EDITOR")).unwrap_or_else(|| "vi".to_owned());
    let is_chosen = set("KUBE_EDITOR").is_some() || set("EDITOR").is_some();
    if !is_chosen && !session.console.can_ask {
        return Err(Failure::other("edit needs a terminal").hint("in scripts, use \"groundplane patch\""));
    }
    let file = temporary(&format!("{}-{}", place.resource.plural, place.name), text)?;
    session.console.flush()?;
    // The editor may come with arguments, as a shell would read them.
    let ended = tokio::process::Command::new("sh")
        .arg("-c")
        .arg(format!("{editor} \"$1\""))
        .arg("sh")
        .arg(&file)
        .status()
        .await;
    let read = std::fs::read_to_string(&file);
    let _ = std::fs::remove_file(&file);
    match ended {
        Ok(status) if status.success() => {
            read.map_err(|error| Failure::other(format!("reading what the editor saved: {error}")))
        }
        Ok(status) => {
            Err(Failure::other(format!("there was a problem with the editor \"{editor}\": {status}")))
        }
        Err(error) => Err(Failure::other(format!("starting the editor \"{editor}\": {error}"))),
    }
}

fn keep(text: &str) -> Result<String, Failure> {
    temporary("edit", text).map(|path| path.display().to_string())
}

/// A file that only its owner can read: objects may hold secrets.
fn temporary(name: &str, text: &str) -> Result<std::path::PathBuf, Failure> {
    use std::os::unix::fs::OpenOptionsExt;
    let name: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let folder = std::env::temp_dir();
    for number in 0..1000 {
        let path =
            Path::new(&folder).join(format!("groundplane-{name}-{}-{number}.yaml", std::process::id()));
        match std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path) {
            Ok(mut file) => {
                return match file.write_all(text.as_bytes()) {
                    Ok(()) => Ok(path),
                    Err(error) => Err(Failure::other(format!("writing {}: {error}", path.display()))),
                };
            }
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(Failure::other(format!("creating {}: {error}", path.display()))),
        }
    }
    Err(Failure::other(format!("creating a file for the editor in {} failed", folder.display())))
}

/// The merge patch that leads from one value to the other.
fn difference(before: &Value, after: &Value) -> Value {
    let (Value::Object(before), Value::Object(after)) = (before, after) else { return after.clone() };
    let mut patch = Map::new();
    for (key, value) in after {
        match before.get(key) {
            Some(old) if old == value => {}
            Some(old @ Value::Object(_)) if value.is_object() => {
                patch.insert(key.clone(), difference(old, value));
            }
            _ => {
                patch.insert(key.clone(), value.clone());
            }
        }
    }
    for key in before.keys().filter(|key| !after.contains_key(*key)) {
        patch.insert(key.clone(), Value::Null);
    }
    Value::Object(patch)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_patch_holds_what_changed() {
        let before = json!({"a": 1, "b": {"c": 2, "d": 3}, "e": [1]});
        let after = json!({"a": 1, "b": {"c": 5}, "e": [1, 2]});
        assert_eq!(difference(&before, &after), json!({"b": {"c": 5, "d": null}, "e": [1, 2]}));
        assert_eq!(difference(&before, &before), json!({}));
    }
}
