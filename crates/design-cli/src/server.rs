//! Designs on a server: the selected design, its documents and revisions.

use std::{cell::RefCell, collections::HashMap, fmt, str::FromStr};

use cli::path_segment;
use design::{
    deckhand::Problem,
    document::{Document, native},
    object::{GROUP, ITEMS, KINDS, VERSION, compose, documents_of},
};
use serde_json::{Value, json};

use crate::outcome::{Streams, Trouble};

/// Label of items that are copies of objects of user-defined kinds. They are not restored.
pub(crate) const COPIED: &str = "design.groundplane.dev/copied";

/// A design on a server.
pub(crate) struct ServerDesign {
    pub(crate) namespace: String,
    pub(crate) name: String,
    /// The Design object; null if it does not exist yet.
    pub(crate) object: Value,
}

/// A state of a design.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// The current documents.
    Documents,
    /// The active revision.
    Live,
    /// A revision.
    Revision(i64),
}

impl FromStr for State {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "documents" => Ok(Self::Documents),
            "live" => Ok(Self::Live),
            number => number.parse().map(Self::Revision).map_err(|_| {
                format!("`{number}` is not a state of a design: use a revision number, `live` or `documents`")
            }),
        }
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Documents => f.write_str("the documents"),
            Self::Live => f.write_str("the active revision"),
            Self::Revision(number) => write!(f, "revision {number}"),
        }
    }
}

/// Whether secrets are read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Secrecy {
    /// Not read.
    Hidden,
    /// Read, as far as the user is allowed.
    Read,
}

impl ServerDesign {
    /// The named design, or the only one of the namespace.
    pub(crate) fn find(asked: Option<&str>, streams: &mut Streams<'_>) -> Result<Self, Trouble> {
        let place = Self::look(asked, streams)?;
        if place.object.is_null() {
            let Self { namespace, name, .. } = &place;
            return Err(Trouble::Asked(match asked {
                Some(_) => format!("design {name} not found in namespace {namespace}"),
                None => format!(
                    "namespace {namespace} has no design; import one with `groundplane design import DIR`, or select \
                     another namespace with -n"
                ),
            }));
        }
        Ok(place)
    }

    /// The same, but it need not exist.
    pub(crate) fn look(asked: Option<&str>, streams: &mut Streams<'_>) -> Result<Self, Trouble> {
        let namespace = streams.server()?.namespace()?;
        let listed = streams.server()?.get(&of_kind(&namespace, "designs"), &[])?;
        let designs = listed["items"].as_array().cloned().unwrap_or_default();
        let name_of = |design: &Value| design["metadata"]["name"].as_str().unwrap_or_default().to_owned();
        let (name, object) = match (asked, &designs[..]) {
            (Some(asked), all) => {
                let found = all.iter().find(|design| name_of(design) == asked);
                (asked.to_owned(), found.cloned().unwrap_or_default())
            }
            (None, [only]) => (name_of(only), only.clone()),
            (None, []) => (namespace.clone(), Value::Null),
            (None, several) => {
                let names: Vec<String> = several.iter().map(name_of).collect();
                return Err(Trouble::Asked(format!(
                    "namespace {namespace} has several designs; select one with --design: {}",
                    names.join(", ")
                )));
            }
        };
        Ok(Self { namespace, name, object })
    }

    /// The number of the active revision.
    pub(crate) fn live(&self) -> Option<i64> {
        self.object["spec"]["revision"].as_i64()
    }

    /// The objects of the current documents.
    pub(crate) fn objects(&self, streams: &mut Streams<'_>) -> Result<Vec<Value>, Trouble> {
        let labels = self.object["spec"]["matchLabels"].as_object().into_iter().flatten();
        let labels: Vec<String> =
            labels.map(|(key, value)| format!("{key}={}", value.as_str().unwrap_or_default())).collect();
        let mut query = Vec::new();
        if !labels.is_empty() {
            query.push(("labelSelector", labels.join(",")));
        }
        let mut objects = Vec::new();
        for (kind, plural) in KINDS.iter().chain([&ITEMS]) {
            let listed = streams.server()?.get(&of_kind(&self.namespace, plural), &query)?;
            for mut object in listed["items"].as_array().cloned().unwrap_or_default() {
                object["apiVersion"] = json!(format!("{GROUP}/{VERSION}"));
                object["kind"] = json!(kind);
                objects.push(object);
            }
        }
        Ok(objects)
    }

    /// The objects of user-defined kinds, as ConfigurationItems.
    pub(crate) fn user_objects(&self, streams: &mut Streams<'_>) -> Result<Vec<Value>, Trouble> {
        let mut items = Vec::new();
        for kind in self.object["spec"]["kinds"].as_array().into_iter().flatten() {
            let (group, plural) = (kind["group"].as_str().unwrap_or_default(), kind["resource"].as_str());
            let Some(plural) = plural else { continue };
            let found = streams.server()?.get(&format!("/apis/{}", path_segment(group)), &[])?;
            let version = found["preferredVersion"]["version"].as_str().unwrap_or_default().to_owned();
            let path =
                format!("/apis/{group}/{version}/namespaces/{}/{plural}", path_segment(&self.namespace));
            let listed = streams.server()?.get(&path, &[])?;
            let of_list = listed["kind"].as_str().unwrap_or_default();
            let kind = of_list.strip_suffix("List").unwrap_or(of_list).to_owned();
            for object in listed["items"].as_array().into_iter().flatten() {
                let name = object["metadata"]["name"].clone();
                items.push(json!({
                    "apiVersion": format!("{GROUP}/{VERSION}"), "kind": ITEMS.0,
                    "metadata": {
                        "name": format!("{group}.{kind}.{version}.{}", name.as_str().unwrap_or_default()),
                        "labels": {COPIED: "true"},
                    },
                    "spec": {"schema": format!("{group}/{kind}/{version}"), "name": name, "data": object["spec"]},
                }));
            }
        }
        Ok(items)
    }

    /// The revisions, sorted by number.
    pub(crate) fn revisions(&self, streams: &mut Streams<'_>) -> Result<Vec<Value>, Trouble> {
        let query = [("fieldSelector", format!("spec.design={}", self.name))];
        let listed = streams.server()?.get(&of_kind(&self.namespace, "designrevisions"), &query)?;
        let mut revisions = listed["items"].as_array().cloned().unwrap_or_default();
        revisions.sort_by_key(|revision| revision["spec"]["number"].as_i64());
        Ok(revisions)
    }

    /// The objects of a state and the order of their layers: current, or of a revision.
    pub(crate) fn objects_at(
        &self,
        state: State,
        streams: &mut Streams<'_>,
    ) -> Result<(Vec<Value>, Vec<String>), Trouble> {
        let number = match (state, self.live()) {
            (State::Documents, _) => {
                let mut objects = self.objects(streams)?;
                objects.extend(self.user_objects(streams)?);
                return Ok((objects, self.layers()));
            }
            (State::Revision(number), _) | (State::Live, Some(number)) => number,
            (State::Live, None) => {
                let name = &self.name;
                return Err(Trouble::Asked(format!(
                    "{name} has no active revision; activate one with `groundplane design promote`"
                )));
            }
        };
        let path = format!(
            "{}/{}",
            of_kind(&self.namespace, "designrevisions"),
            path_segment(&format!("{}-{number}", self.name))
        );
        let revision = streams.server()?.get(&path, &[])?;
        let objects = revision["spec"]["documents"].as_array().into_iter().flatten().map(kept);
        Ok((objects.collect(), layers_in(&revision)))
    }

    /// The documents of a state, ready to compile.
    pub(crate) fn read(
        &self,
        state: State,
        secrecy: Secrecy,
        streams: &mut Streams<'_>,
    ) -> Result<Vec<Document>, Trouble> {
        let (objects, layers) = self.objects_at(state, streams)?;
        self.documents(&objects, &layers, secrecy, streams)
    }

    /// The order of the layers of the current documents.
    pub(crate) fn layers(&self) -> Vec<String> {
        layers_in(&self.object)
    }

    /// The documents of objects, after layering and substitution.
    pub(crate) fn documents(
        &self,
        objects: &[Value],
        layers: &[String],
        secrecy: Secrecy,
        streams: &mut Streams<'_>,
    ) -> Result<Vec<Document>, Trouble> {
        let secrets = match secrecy {
            Secrecy::Hidden => HashMap::new(),
            Secrecy::Read => self.secrets(objects, streams)?,
        };
        let missed = RefCell::new(0);
        let look_up = |secret: &str, key: &str| {
            let found = secrets.get(&(secret.to_owned(), key.to_owned())).cloned();
            if found.is_none() {
                *missed.borrow_mut() += 1;
            }
            found
        };
        let documents = documents_of(objects, &look_up);
        let missed = missed.into_inner();
        if missed > 0 && secrecy == Secrecy::Read {
            streams.note(format_args!(
                "warning: {missed} secrets could not be read; placeholders are used instead"
            ));
        }
        let composed =
            compose(documents, layers).map_err(|problems: Vec<Problem>| Trouble::Layers(problems))?;
        let missing = composed.missing.iter().filter(|one| native::is_schema_of_a_design(&one.document));
        missing.for_each(|one| streams.note(format_args!("warning: {}", one.warning.message)));
        Ok(composed.documents)
    }

    /// The secrets that objects refer to, as far as the user may read them.
    fn secrets(
        &self,
        objects: &[Value],
        streams: &mut Streams<'_>,
    ) -> Result<HashMap<(String, String), String>, Trouble> {
        let mut names: Vec<String> = Vec::new();
        for object in objects {
            names.extend(secrets_of(object));
        }
        names.sort();
        names.dedup();
        let mut secrets = HashMap::new();
        for name in names {
            let path = format!(
                "/api/v1/namespaces/{}/secrets/{}",
                path_segment(&self.namespace),
                path_segment(&name)
            );
            let secret = match streams.server()?.get(&path, &[]) {
                Ok(secret) => secret,
                Err(refused) if matches!(refused.code, 403 | 404) => continue,
                Err(refused) => return Err(refused.into()),
            };
            for (key, value) in secret["data"].as_object().into_iter().flatten() {
                let bytes = value.as_str().and_then(|text| krm::base64::decode(text).ok());
                let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
                secrets.extend(text.map(|text| ((name.clone(), key.clone()), text)));
            }
        }
        Ok(secrets)
    }
}

/// The names of the Secrets that an object refers to.
pub(crate) fn secrets_of(object: &Value) -> Vec<String> {
    let spec = &object["spec"];
    let oob = spec["oob_secrets"].as_object().into_iter().flat_map(|named| named.values());
    let values = spec["secret_values"].as_array().into_iter().flatten();
    let references = oob.chain(values).chain([&spec["data_secret"]]);
    references.filter_map(|reference| reference["name"].as_str().map(str::to_owned)).collect()
}

fn layers_in(object: &Value) -> Vec<String> {
    let layers = object["spec"]["layers"].as_array().into_iter().flatten();
    layers.filter_map(|layer| layer.as_str().map(str::to_owned)).collect()
}

/// The API path of a design kind in a namespace.
pub(crate) fn of_kind(namespace: &str, plural: &str) -> String {
    format!("/apis/{GROUP}/{VERSION}/namespaces/{}/{plural}", path_segment(namespace))
}

/// A document of a revision as an object.
pub(crate) fn kept(document: &Value) -> Value {
    json!({
        "apiVersion": format!("{GROUP}/{VERSION}"),
        "kind": document["kind"],
        "metadata": {
            "name": document["name"], "labels": document["labels"], "annotations": document["origins"],
        },
        "spec": document["spec"],
    })
}

/// Sends a transaction, as a dry run if the options say so.
pub(crate) fn commit(
    items: Vec<Value>,
    manager: &str,
    options: &[(&'static str, String)],
    message: Option<&str>,
    streams: &mut Streams<'_>,
) -> Result<Value, Trouble> {
    let mut spec = json!({"fieldManager": manager, "items": items});
    if let Some(message) = message {
        spec["message"] = json!(message);
    }
    let body = json!({"apiVersion": "groundplane.dev/v1alpha1", "kind": "Transaction", "spec": spec});
    let answer = streams.server()?.post("/apis/groundplane.dev/v1alpha1/transactions", options, &body)?;
    Ok(answer["status"].clone())
}
