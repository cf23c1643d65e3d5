//! Handlers of the verbs on objects of any kind.

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, Method};
use http_body_util::{BodyExt, StreamBody};
use krm::Object;
use krm::kind::Kind;
use krm::status::{Details, Status};
use serde_json::Value;
use tokio::sync::mpsc;

use super::body::{decode, decode_options};
use super::verb::Verb;
use crate::answer::{self, Answer};
use crate::api::Api;
use crate::call::Call;
use crate::catalog::Catalog;
use crate::conversion::{self, Turns};
use crate::identity::Identity;
use crate::plane::Plane;
use crate::planes;
use crate::read;
use crate::request::accept::{Accept, Form, Media};
use crate::request::body::media_type;
use crate::request::path::Target;
use crate::request::query::{ListOptions, Query, WriteOptions};
use crate::secrets::tokens::Tokens;
use crate::write::admit::STALE_KIND;
use crate::write::delete::DeleteOptions;
use crate::write::patch::{Patch, Style};
use crate::write::{self, Written};

/// A request about objects, with its body read.
pub struct Asked {
    /// The method.
    pub method: Method,
    /// The query.
    pub query: Query,
    /// The headers.
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
}

impl Asked {
    /// The form in which objects of the call's kind are answered.
    pub fn accept(&self, call: &Call) -> Result<Accept, Status> {
        Accept::of_kind(&self.headers, &call.kind, &call.version().name)?.with_query(&self.query)
    }

    /// The same once more.
    fn again(&self) -> Asked {
        Asked {
            method: self.method.clone(),
            query: self.query.clone(),
            headers: self.headers.clone(),
            body: self.body.clone(),
        }
    }
}

/// What a path names, found in the catalog: the kind and the index of its version; nothing where there is no page at all.
pub fn find(catalog: &Catalog, target: &Target) -> Result<Option<(Arc<Kind>, usize)>, Status> {
    let kind = catalog.resource(&target.group, &target.resource);
    let version = kind.and_then(|kind| {
        let at = kind.versions.iter().position(|version| version.served && version.name == target.version);
        Some((kind.clone(), at?))
    });
    match version {
        Some(found) => Ok(Some(found)),
        None if is_builtin_group(catalog, target) => Err(Status::no_such_resource()),
        None => Ok(None),
    }
}

fn is_builtin_group(catalog: &Catalog, target: &Target) -> bool {
    target.group.is_empty() || catalog.group(&target.group).any(|kind| kind.strategic)
}

/// Answers a request about objects.
pub async fn answer(call: Call, target: &Target, asked: Asked) -> Result<Answer, Status> {
    let watches = asked.query.flag("watch").unwrap_or(false);
    let Some(verb) = Verb::of(&asked.method, target, watches) else {
        return Err(not_supported(&call.kind, ""));
    };
    if let Some(refusal) = misplaced(&call, target, verb) {
        return refusal;
    }
    if call.kind.strategic && asked.method == Method::HEAD {
        return Err(Status::method_not_allowed());
    }
    if !target.subresource.is_empty() {
        return part_verb(call, target, verb, asked).await;
    }
    if !call.kind.takes(verb.as_str()) {
        return Err(not_supported(&call.kind, verb.as_str()));
    }
    let deprecated = call.version().deprecated.clone();
    let api_version = call.api_version();
    let kind = call.kind.names.kind.clone();
    let call = Arc::new(call);
    let mut answer = match (whole_verb(call, verb, asked).await, &deprecated) {
        // Whoever uses an old version hears of it also when it fails.
        (Err(status), Some(_)) if status.reason != STALE_KIND => answer::failure(&status),
        (other, _) => other?,
    };
    if let Some(warning) = deprecated {
        let usual = || format!("{api_version} {kind} is deprecated");
        answer::warn(&mut answer, &[if warning.is_empty() { usual() } else { warning }]);
    }
    Ok(answer)
}

/// Answers about a part of an object, as often as it takes until a webhook has converted what the answer needs.
async fn part_verb(call: Call, target: &Target, verb: Verb, asked: Asked) -> Result<Answer, Status> {
    if call.conversions.is_none() {
        return super::subresource::answer(call, target, verb, asked).await;
    }
    let mut turns = Turns::default();
    loop {
        match super::subresource::answer(call.clone(), target, verb, asked.again()).await {
            Err(refused) => turns.next(&call, refused).await?,
            answer => return answer,
        }
    }
}

/// The same about whole objects. A watch has them converted as it goes on.
async fn whole_verb(call: Arc<Call>, verb: Verb, asked: Asked) -> Result<Answer, Status> {
    if call.conversions.is_none() || verb == Verb::Watch {
        return object_verb(call, verb, asked).await;
    }
    let mut turns = Turns::default();
    loop {
        match object_verb(call.clone(), verb, asked.again()).await {
            Err(refused) => turns.next(&call, refused).await?,
            answer => return answer,
        }
    }
}

async fn object_verb(call: Arc<Call>, verb: Verb, asked: Asked) -> Result<Answer, Status> {
    match verb {
        Verb::Get => get(&call, &asked).await,
        Verb::List => {
            let options = ListOptions::read(&asked.query)?;
            let accept = asked.accept(&call)?;
            let listed = read::list::list(&call, &options).await?;
            conversion::prepare(&call, &listed.items).await?;
            answer::list::list(&call, &accept, listed)
        }
        Verb::Watch => watch(&call, asked).await,
        Verb::Create => create(&call, &asked).await,
        Verb::Update => update(&call, &asked).await,
        Verb::Patch => patch(&call, &asked).await,
        Verb::Delete => delete(&call, &asked).await,
        Verb::DeleteCollection => delete_collection(&call, &asked).await,
    }
}

/// A kind is asked for at a path where it is not: in a namespace though it has none, or the other way round.
fn misplaced(call: &Call, target: &Target, verb: Verb) -> Option<Result<Answer, Status>> {
    let in_namespace = !target.namespace.is_empty();
    let across = matches!(verb, Verb::List | Verb::Watch);
    let fits = match call.kind.is_namespaced() {
        true => in_namespace || (across && target.name.is_empty()),
        false => !in_namespace,
    };
    if !fits {
        return Some(match (call.kind.strategic, call.kind.is_namespaced()) {
            // The collection across all namespaces is there, if only to be read; objects are not.
            (true, true) if target.name.is_empty() => Err(Status::method_not_allowed()),
            (true, _) => Err(Status::no_such_resource()),
            (false, _) => Ok(answer::page_not_found()),
        });
    }
    let on_object = !target.name.is_empty() && target.subresource.is_empty();
    match (verb, call.kind.strategic) {
        (Verb::Create, true) if on_object => Some(Err(not_supported(&call.kind, verb.as_str()))),
        (Verb::Update | Verb::Patch, true) if target.name.is_empty() => {
            Some(Err(not_supported(&call.kind, verb.as_str())))
        }
        (Verb::Update | Verb::Patch, false) if target.name.is_empty() => {
            Some(Err(Status::bad_request("name must be provided")))
        }
        _ => None,
    }
}

/// The kind does not do that.
pub fn not_supported(kind: &Kind, verb: &str) -> Status {
    if kind.strategic {
        return Status::method_not_allowed();
    }
    let message = format!("{verb} is not supported on resources of kind \"{}\"", kind.resource());
    Status::failure(405, "MethodNotAllowed", message).about(Details {
        group: kind.group.clone(),
        kind: kind.names.plural.clone(),
        ..Details::default()
    })
}

async fn get(call: &Call, asked: &Asked) -> Result<Answer, Status> {
    if asked.query.flag("export").unwrap_or(false) {
        let why = "the export parameter, deprecated since v1.14, is no longer supported";
        return Err(Status::bad_request(why));
    }
    let accept = asked.accept(call)?;
    let version = asked.query.get("resourceVersion").unwrap_or_default();
    let bytes = match asked.query.get("asOf") {
        None => read::get::get(call, version).await?,
        Some(text) => read::get::as_of(call, text, version).await?,
    };
    match (accept.form, call.kind.strategic) {
        (Form::PartialList, false) => return Err(Status::failure(500, "", "content is not a list")),
        (Form::PartialList, true) => {
            let what = answer::go_type(call, &call.kind.names.kind, "Unstructured");
            let why = format!(
                "you requested PartialObjectMetadataList, but the requested object is not a list ({what})"
            );
            return Err(Status::failure(406, "NotAcceptable", why));
        }
        _ => {}
    }
    answer::object::stored(call, &accept, 200, bytes)
}

async fn watch(call: &Call, asked: Asked) -> Result<Answer, Status> {
    let mut options = ListOptions::read(&asked.query)?;
    if options.as_of.is_some() {
        return Err(Status::bad_request("asOf: not supported for watch"));
    }
    if !call.name.is_empty() {
        options.field_selector = of_one(&options.field_selector, &call.name)?;
    }
    let accept = asked.accept(call)?;
    if accept.media == Media::Yaml {
        let streamed = "application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch";
        return Err(Status::not_acceptable(streamed));
    }
    let in_messages = accept.media == Media::Protobuf;
    let (lines, read) = mpsc::channel(1);
    match read::watch::open(call, &accept, &options).await? {
        Ok(opened) => drop(tokio::spawn(opened.follow(lines))),
        Err(status) => drop(lines.try_send(read::watch::error_line(&status))),
    }
    if super::websocket::is_asked_for(&asked.headers) {
        return super::websocket::answer(&asked.headers, read);
    }
    let frames =
        tokio_stream::StreamExt::map(tokio_stream::wrappers::ReceiverStream::new(read), move |bytes| {
            Ok(http_body::Frame::data(if in_messages { messages(&bytes) } else { bytes }))
        });
    let content_type = match in_messages {
        true => "application/vnd.kubernetes.protobuf;stream=watch",
        false => "application/json",
    };
    Ok(answer::stream(200, content_type, StreamBody::new(frames).boxed_unsync()))
}

/// The old path of a watch names one object: what is selected besides must be that one.
fn of_one(selector: &str, name: &str) -> Result<String, Status> {
    let names_it = |term: &str| {
        let value = term.strip_prefix("metadata.name=").map(|value| value.strip_prefix('=').unwrap_or(value));
        value == Some(name)
    };
    match selector.is_empty() || selector.split(',').any(names_it) {
        true if selector.is_empty() => Ok(format!("metadata.name={name}")),
        true => Ok(selector.to_owned()),
        false => Err(Status::bad_request("fieldSelector metadata.name doesn't match requested name")),
    }
}

/// Lines of a watch as messages; what has no message is left out.
fn messages(lines: &Bytes) -> Bytes {
    let lines = lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let events = lines.filter_map(|line| serde_json::from_slice::<Value>(line).ok());
    events.filter_map(|event| krm::proto::encode_event(&event)).flatten().collect::<Vec<u8>>().into()
}

async fn create(call: &Arc<Call>, asked: &Asked) -> Result<Answer, Status> {
    let accept = asked.accept(call)?;
    let options = WriteOptions::read(&asked.query, "CreateOptions", false)?;
    let (object, warnings) = decode(call, &asked.headers, &asked.body, options.validation)?;
    write::admit::matches_path(call, &object, false)?;
    let decided = options.clone();
    let written = write::run(call, &options, move |call, view| {
        write::create::decide(call, view, &decided, object.clone(), warnings.clone())
    });
    respond(call, &accept, written.await?)
}

async fn update(call: &Arc<Call>, asked: &Asked) -> Result<Answer, Status> {
    let accept = asked.accept(call)?;
    let options = WriteOptions::read(&asked.query, "UpdateOptions", false)?;
    let (object, warnings) = decode(call, &asked.headers, &asked.body, options.validation)?;
    write::admit::matches_path(call, &object, true)?;
    let decided = options.clone();
    let written = write::run(call, &options, move |call, view| {
        write::update::decide(call, view, &decided, object.clone(), warnings.clone())
    });
    respond(call, &accept, written.await?)
}

/// Answers a patch of an object or of its status.
pub async fn patch(call: &Arc<Call>, asked: &Asked) -> Result<Answer, Status> {
    let style = Style::of(media_type(&asked.headers), call)?;
    let accept = asked.accept(call)?;
    let options = WriteOptions::read(&asked.query, "PatchOptions", style == Style::Apply)?;
    let patch = match style {
        Style::Apply => {
            let (wanted, warnings) = super::body::decode_applied(&asked.body, options.validation)?;
            Patch::Apply(wanted, warnings)
        }
        style => Patch::read(style, &asked.body, options.validation),
    };
    let decided = options.clone();
    let written =
        write::run(call, &options, move |call, view| write::patch::decide(call, view, &decided, &patch));
    respond(call, &accept, written.await?)
}

/// What was written, as an answer.
pub fn respond(call: &Call, accept: &Accept, written: Written) -> Result<Answer, Status> {
    let code = if written.created { 201 } else { 200 };
    let mut answer = answer::object::stored(call, accept, code, written.bytes)?;
    answer::warn(&mut answer, &written.warnings);
    Ok(answer)
}

async fn delete(call: &Arc<Call>, asked: &Asked) -> Result<Answer, Status> {
    let accept = asked.accept(call)?;
    let body = decode_options(&asked.headers, &asked.body)?;
    let options = DeleteOptions::read(&asked.query, body.as_ref())?;
    let written = write::delete::delete(call, &options).await?;
    if !written.gone || call.kind.shows_deleted {
        return respond(call, &accept, written);
    }
    let last = write::delete::last_state(&written.bytes)?;
    let status = write::delete::success(call, &last);
    let value = serde_json::to_value(status).map_err(Status::internal)?;
    Ok(answer::object::value(&Accept { form: Form::Whole, ..accept }, 200, &value))
}

async fn delete_collection(call: &Arc<Call>, asked: &Asked) -> Result<Answer, Status> {
    let accept = asked.accept(call)?;
    let body = decode_options(&asked.headers, &asked.body)?;
    let options = DeleteOptions::read(&asked.query, body.as_ref())?;
    let which = ListOptions::read(&asked.query)?;
    if which.as_of.is_some() {
        return Err(Status::bad_request("asOf: not supported for delete"));
    }
    let listed = read::list::list(call, &which).await?;
    conversion::prepare(call, &listed.items).await?;
    for (key, _) in &listed.items {
        let Some(parts) = crate::keys::parts(key) else { continue };
        let mut one = Call::clone(call);
        one.name = parts.name.to_owned();
        one.namespace = parts.namespace.to_owned();
        delete_listed(&Arc::new(one), &options).await?;
    }
    answer::list::list(call, &accept, listed)
}

/// Deletes one object of a collection. What a webhook has to convert for it is converted here: were all of it begun anew, those
/// that are gone already would be missing in the answer.
async fn delete_listed(call: &Arc<Call>, options: &DeleteOptions) -> Result<(), Status> {
    let mut turns = Turns::default();
    loop {
        match write::delete::delete(call, options).await {
            Ok(_) => return Ok(()),
            // Somebody else deleted it in between.
            Err(status) if status.code == 404 => return Ok(()),
            Err(refused) => turns.next(call, refused).await?,
        }
    }
}

/// A call about one kind in one plane.
#[expect(clippy::too_many_arguments, reason = "all of it is what a call is")]
pub fn call(
    api: &Api,
    plane: Plane,
    catalog: Arc<Catalog>,
    kind: Arc<Kind>,
    version: usize,
    target: &Target,
    who: Identity,
    headers: &HeaderMap,
) -> Call {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
    let kind_has_converter = kind.converter.is_some();
    Call {
        api: api.clone(),
        project: planes::project_of(api, &plane).map(|(_, uid)| uid),
        plane,
        catalog,
        kind,
        version,
        namespace: target.namespace.clone(),
        name: target.name.clone(),
        subresource: target.subresource.clone(),
        who,
        really: None,
        agent: text("user-agent").unwrap_or_default(),
        message: None,
        only: None,
        redacts: false,
        tokens: Tokens::default(),
        fence: None,
        held: None,
        all_planes: false,
        depth: 0,
        asker: None,
        budget: Arc::default(),
        conversions: kind_has_converter.then(Arc::default),
    }
}

/// The object that a body's value is.
pub fn object(value: Value) -> Result<Object, Status> {
    Object::from_value(value).ok_or_else(|| Status::bad_request("the request body must be an object"))
}
