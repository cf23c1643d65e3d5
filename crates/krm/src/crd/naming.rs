//! Name conflicts: names in a group belong to the definition that claimed them first.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::conditions::{Condition, as_object, find, is_true, set_condition};
use super::definition::Names;
use super::validate::ca_bundle_is_readable;
use crate::Object;
use crate::field::quote;

/// Names that the definitions of a group have been given.
#[derive(Debug, Clone, Default)]
pub struct TakenNames {
    resources: BTreeSet<String>,
    kinds: BTreeSet<String>,
}

impl TakenNames {
    /// The names that these definitions, all of one group, have been given.
    pub fn of<'a>(definitions: impl IntoIterator<Item = &'a Object>) -> TakenNames {
        let mut taken = TakenNames::default();
        for object in definitions {
            let names = accepted(object);
            taken.resources.extend([names.plural, names.singular]);
            taken.resources.extend(names.short_names);
            taken.kinds.extend([names.kind, names.list_kind]);
        }
        taken
    }
}

/// Gives a definition the names it asks for, as far as they are free, and says so in its status. True when the status
/// changed.
///
/// `taken` are the names of all definitions of the group, this one's too.
pub fn accept_names(object: &mut Object, taken: &TakenNames, now: &str) -> bool {
    let wanted = object.at("spec.names").map(Names::read).unwrap_or_default();
    let had = accepted(object);
    if wanted == had {
        return false;
    }
    let (given, verdict) = give(&wanted, &had, taken);
    if given == had && verdict.is_said_by(object) {
        return false;
    }
    let accepted = verdict.status == "True";
    let established = match find(object, "Established") {
        Some(_) if is_true(object, "Established") || !accepted => None,
        None if !accepted => {
            Some(Condition::new("Established", "False", "NotAccepted", "not all names are accepted"))
        }
        _ => {
            Some(Condition::new("Established", "False", "Installing", "the initial names have been accepted"))
        }
    };
    let status = as_object(object.0.entry("status").or_insert(Value::Null));
    status.insert("acceptedNames".into(), Value::Object(written(&given)));
    set_condition(object, &verdict, now);
    if let Some(established) = established {
        set_condition(object, &established, now);
    }
    true
}

/// Says that a definition whose names were accepted is served. True when the status changed.
pub fn establish(object: &mut Object, now: &str) -> bool {
    if !is_true(object, "NamesAccepted") || is_true(object, "Established") {
        return false;
    }
    let bundle = object.at("spec.conversion.webhook.clientConfig.caBundle").and_then(Value::as_str);
    let condition = if bundle.is_none_or(ca_bundle_is_readable) {
        let message = "the initial names have been accepted";
        Condition::new("Established", "True", "InitialNamesAccepted", message)
    } else {
        let message = "The conversion webhook CABundle is invalid";
        Condition::new("Established", "False", "InvalidCABundle", message)
    };
    if condition.is_said_by(object) {
        return false;
    }
    set_condition(object, &condition, now);
    true
}

fn accepted(object: &Object) -> Names {
    object.at("status.acceptedNames").map(Names::read).unwrap_or_default()
}

/// The names that are given, and what is said about those that are not: of several conflicts, the last.
fn give(wanted: &Names, had: &Names, taken: &TakenNames) -> (Names, Condition) {
    let mut given = had.clone();
    let mut conflict = None;
    let mut name = |wanted: &str, had: &str, used: &BTreeSet<String>, reason, slot: &mut String| {
        if wanted == had || !used.contains(wanted) {
            wanted.clone_into(slot);
        } else {
            conflict = Some((reason, in_use(wanted)));
        }
    };
    name(&wanted.plural, &had.plural, &taken.resources, "PluralConflict", &mut given.plural);
    name(&wanted.singular, &had.singular, &taken.resources, "SingularConflict", &mut given.singular);
    if wanted.short_names != had.short_names {
        let clashes: Vec<String> = wanted
            .short_names
            .iter()
            .filter(|name| !had.short_names.contains(name) && taken.resources.contains(*name))
            .map(|name| in_use(name))
            .collect();
        match clashes.as_slice() {
            [] => given.short_names.clone_from(&wanted.short_names),
            [one] => conflict = Some(("ShortNamesConflict", one.clone())),
            many => conflict = Some(("ShortNamesConflict", format!("[{}]", many.join(", ")))),
        }
    }
    let mut name = |wanted: &str, had: &str, reason, slot: &mut String| {
        if wanted == had || !taken.kinds.contains(wanted) {
            wanted.clone_into(slot);
        } else {
            conflict = Some((reason, in_use(wanted)));
        }
    };
    name(&wanted.kind, &had.kind, "KindConflict", &mut given.kind);
    name(&wanted.list_kind, &had.list_kind, "ListKindConflict", &mut given.list_kind);
    given.categories.clone_from(&wanted.categories);
    let verdict = match conflict {
        None => Condition::new("NamesAccepted", "True", "NoConflicts", "no conflicts found"),
        Some((reason, message)) => Condition::new("NamesAccepted", "False", reason, message),
    };
    (given, verdict)
}

fn in_use(name: &str) -> String {
    format!("{} is already in use", quote(name))
}

fn written(names: &Names) -> Map<String, Value> {
    let mut map = Map::new();
    let always = [("plural", &names.plural), ("kind", &names.kind)];
    let sometimes = [("singular", &names.singular), ("listKind", &names.list_kind)];
    for (field, name) in always.into_iter().chain(sometimes.into_iter().filter(|(_, it)| !it.is_empty())) {
        map.insert(field.into(), name.as_str().into());
    }
    for (field, list) in [("shortNames", &names.short_names), ("categories", &names.categories)] {
        if !list.is_empty() {
            map.insert(field.into(), list.clone().into());
        }
    }
    map
}
