//! Handlers of read-only subresources that kinds declare, in JSON, YAML, text or SVG.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use http::header::ACCEPT;
use krm::Object;
use krm::kind::{Address, Answered, Form, Parsed, Parser, QueryContext, Question, Questioned};
use krm::status::Status;
use store::{Key, Snapshot};

use super::resource::Asked;
use crate::answer::{self, Answer};
use crate::api::Api;
use crate::call::Call;
use crate::encode;
use crate::index;
use crate::keys::{self, Parts};
use crate::past::as_of::AsOf;
use crate::plane::Plane;
use crate::request::accept::Accept;

/// The name that means all objects of the kind.
const ALL: &str = "-";

/// Answers a question about an object, or about all of them.
pub async fn answer(call: &Call, question: &Question, asked: &Asked) -> Result<Answer, Status> {
    let form = form(asked);
    let accept = match form {
        Form::Json => Accept::negotiate(&asked.headers, false)?.with_query(&asked.query)?,
        _ => Accept::default(),
    };
    let snapshot = match asked.query.get("asOf") {
        None => call.api.store().current().await.map_err(|error| crate::api::store_failure(&error))?,
        // All of the plane, since a question may look at any kind of it.
        Some(text) => {
            let everything = format!("{}/", call.plane.as_str());
            AsOf::parse(text, call.api.now())?.under(call, everything.as_bytes()).await?
        }
    };
    if call.name != ALL && snapshot.get(&call.key()?).is_none() {
        return Err(call.not_found());
    }
    let seen = Seen { api: call.api.clone(), plane: call.plane.clone(), snapshot };
    let options: BTreeMap<String, String> = asked.query.pairs().cloned().collect();
    let (name, namespace) = (call.name.clone(), call.namespace.clone());
    let (body, asking) = (asked.body.clone(), question.answer.clone());
    // A large fleet takes a while to look at: others are answered meanwhile.
    let answered = tokio::task::spawn_blocking(move || {
        let asked = Questioned { name: &name, namespace: &namespace, body: &body, options: &options, form };
        asking(&asked, &seen)
    });
    match answered.await.map_err(Status::internal)?? {
        Answered::Json(mut value) => {
            if let Some(map) = value.as_object_mut() {
                map.insert("apiVersion".into(), "groundplane.dev/v1alpha1".into());
                map.insert("kind".into(), question.answer_kind.into());
            }
            Ok(answer::object::value(&accept, 200, &value))
        }
        Answered::Text(text) => Ok(answer::text(200, text)),
        Answered::Svg(drawing) => Ok(answer::bytes(200, "image/svg+xml", drawing)),
    }
}

/// The form that is asked for: by `?output=`, which a browser and `kubectl get --raw` can say, or by the header.
fn form(asked: &Asked) -> Form {
    match asked.query.get("output") {
        Some("text") => return Form::Text,
        Some("svg") => return Form::Svg,
        Some(_) => return Form::Json,
        None => {}
    }
    let accepted = asked.headers.get(ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    match accepted.split([',', ';']).next().unwrap_or_default().trim() {
        "text/plain" => Form::Text,
        "image/svg+xml" => Form::Svg,
        _ => Form::Json,
    }
}

/// Everything at one moment.
pub struct Seen {
    /// The server.
    pub api: Api,
    /// The plane that is looked at.
    pub plane: Plane,
    /// The moment.
    pub snapshot: Snapshot,
}

impl Seen {
    fn read(&self, key: &Key) -> Option<Arc<Object>> {
        let entry = self.snapshot.get(key)?;
        let bytes = self.api.reveal(key, entry).ok()?;
        encode::read(&bytes).ok().map(Arc::new)
    }

    fn having(&self, term: &bytes::Bytes) -> Vec<Arc<Object>> {
        self.snapshot.having(term).filter_map(|key| self.read(key)).collect()
    }

    fn read_as(&self, key: &Key, parser: Parser) -> Option<Parsed> {
        let entry = self.snapshot.get(key)?;
        let parse = || (parser.parse)(&*self.read(key)?);
        if entry.is_sealed() {
            return parse();
        }
        self.api.parsed().get(key, entry.version(), entry.bytes().len(), parse)
    }
}

impl QueryContext for Seen {
    fn get(&self, at: &Address) -> Option<Arc<Object>> {
        self.read(&keys::object(&self.plane, at).ok()?)
    }

    fn bucket(&self, bucket: &str, value: &str) -> Vec<Arc<Object>> {
        self.having(&index::in_bucket(&self.plane, bucket, value))
    }

    fn having(&self, group: &str, plural: &str, field: &str, value: &str) -> Vec<Arc<Object>> {
        let of = Parts { plane: self.plane.as_str(), group, plural, namespace: "", name: "" };
        self.having(&index::field_is(&of, field, value))
    }

    fn referrers(&self, to: &Address) -> Vec<Arc<Object>> {
        self.having(&index::referring_to(&self.plane, to))
    }

    fn all(&self, group: &str, plural: &str) -> Vec<Arc<Object>> {
        let prefix = keys::of_kind(&self.plane, group, plural);
        self.snapshot.list(prefix.as_bytes()).filter_map(|(key, _)| self.read(key)).collect()
    }

    fn all_in(&self, group: &str, plural: &str, namespace: &str) -> Vec<Arc<Object>> {
        let prefix = keys::in_namespace(&self.plane, group, plural, namespace);
        self.snapshot.list(prefix.as_bytes()).filter_map(|(key, _)| self.read(key)).collect()
    }

    fn count(&self, group: &str, plural: &str) -> usize {
        self.snapshot.list(keys::of_kind(&self.plane, group, plural).as_bytes()).count()
    }

    fn names(&self, group: &str, plural: &str) -> Vec<String> {
        let prefix = keys::of_kind(&self.plane, group, plural);
        let names = self.snapshot.list(prefix.as_bytes());
        names.filter_map(|(key, _)| keys::parts(key).map(|parts| parts.name.to_owned())).collect()
    }

    fn version(&self, at: &Address) -> Option<u64> {
        let key = keys::object(&self.plane, at).ok()?;
        self.snapshot.get(&key).map(|entry| entry.version().get())
    }

    fn bucket_version(&self, bucket: &str, value: &str) -> u64 {
        let mut hasher = DefaultHasher::new();
        for key in self.snapshot.having(&index::in_bucket(&self.plane, bucket, value)) {
            key.as_bytes().hash(&mut hasher);
            self.snapshot.get(key).map(|entry| entry.version().get()).hash(&mut hasher);
        }
        hasher.finish()
    }

    fn places(&self, bucket: &str, value: &str) -> Vec<Address> {
        let keys = self.snapshot.having(&index::in_bucket(&self.plane, bucket, value));
        keys.filter_map(|key| keys::parts(key).map(|parts| parts.address())).collect()
    }

    fn parsed(&self, name: &str, parser: Parser) -> Option<Parsed> {
        self.read_as(&keys::object(&self.plane, &parser.address(name)).ok()?, parser)
    }

    fn bucket_parsed(&self, bucket: &str, value: &str, parser: Parser) -> Vec<Parsed> {
        let term = index::in_bucket(&self.plane, bucket, value);
        let of_kind = keys::of_kind(&self.plane, parser.group, parser.plural);
        let found = self.snapshot.having_after(&term, of_kind.as_bytes(), None);
        found.filter_map(|key| self.read_as(key, parser)).collect()
    }
}
