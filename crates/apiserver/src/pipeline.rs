//! The request pipeline: authenticate, authorize, route, handle, audit.

mod counted;
pub(crate) mod lasting;
mod noted;
mod request_context;
mod revocation;
mod routed;

use std::net::SocketAddr;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Instant, SystemTime};

use bytes::Bytes;
use futures_util::FutureExt;
use http::header::HeaderValue;
use http::{Method, Request};
use http_body::Body as HttpBody;
use hyper::upgrade::OnUpgrade;
use krm::status::Status;

use lasting::Lasting;
use noted::{AcceptHeaders, Noted};
pub use request_context::RequestContext;

use crate::answer::{self, Answer};
use crate::api::Api;
use crate::audit::{AuditLog, Policy, Record, Stage};
use crate::authn::{Authenticator, Impersonation, Presented, Sessions};
use crate::authz::{Attributes, Authorizer, Decision, Only, REVEAL, RulesFound};
use crate::discovery;
use crate::handle::resource::{self, Asked};
use crate::handle::virtual_resource::VirtualResource;
use crate::handle::{beyond, health, other, past, reviews};
use crate::identity::Identity;
use crate::in_process::InProcess;
use crate::limits::{Limits, Load, Rank, Ticket};
use crate::plane::Plane;
use crate::planes;
use crate::read::all_planes;
use crate::request::accept::{Accept, Form};
use crate::request::body;
use crate::request::path::{Route, Target};
use crate::request::query::Query;
use crate::route::{Requirement, Routes, Upgrade};
use crate::secrets;
use crate::tls::Peer;
use crate::write::admit::STALE_KIND;
use crate::write::fence::HeldLease;

/// How often a request is tried again because a definition changed while it was decided.
const TRIES: usize = 8;

/// What answers requests.
pub struct Pipeline {
    /// The server below.
    pub api: Api,
    /// Who is who.
    pub authenticator: Authenticator,
    /// Who has signed in with a browser.
    pub sessions: Option<Arc<dyn Sessions>>,
    /// How much may go on at once.
    pub limits: Arc<Limits>,
    /// What else there is to know: health, metrics, tokens.
    pub other: other::Other,
    /// Where requests are noted down, and which.
    pub audit: Option<Audit>,
    /// Who answers for resources that are worked out, not stored.
    pub virtual_resources: Vec<Arc<dyn VirtualResource>>,
    /// What modules answer for themselves.
    pub routes: Routes,
}

/// Where requests are noted down, and which.
#[derive(Clone)]
pub struct Audit {
    /// The file.
    pub log: Arc<AuditLog>,
    /// Which requests, and how much of them.
    pub policy: Policy,
}

impl Pipeline {
    /// Answers a request, counts it and notes it down. A bug on the way costs one answer, not the server.
    pub async fn serve<B>(&self, request: Request<B>, peer: &Peer, from: SocketAddr) -> Answer
    where
        B: HttpBody<Data = Bytes> + Send + Unpin + 'static,
        B::Error: std::fmt::Display,
    {
        let id = self.api.new_uid();
        let begun = Instant::now();
        let method = request.method().clone();
        let path = request.uri().path().to_owned();
        let wanted = AcceptHeaders::of(&request);
        let mut noted = Noted { id: id.clone(), from: Some(from), ..Noted::default() };
        let answering = AssertUnwindSafe(self.try_answer(request, peer, &mut noted)).catch_unwind();
        let mut stage = Stage::ResponseComplete;
        let mut answer = match answering.await {
            Ok(Ok(answer)) => answer,
            Ok(Err(status)) => {
                if let Some(record) = &mut noted.record {
                    record.responded(&status.to_json().into());
                }
                noted.failure = Some(status.clone());
                wanted.failure(&status)
            }
            Err(_) => {
                tracing::error!(%method, path, request = id, "panic while handling a request");
                stage = Stage::Panic;
                let why = format!("internal error; please report it with request id {id}");
                wanted.failure(&Status::internal(why))
            }
        };
        name_request(&mut answer, &id);
        let code = noted.failure.as_ref().map_or(answer.status().as_u16(), |status| status.code);
        let took = begun.elapsed();
        if !noted.is_lasting {
            self.other.metrics.answered(noted.labels.clone(), noted.dry_run, code, Some(took));
            self.note_down(&mut noted, code, stage).await;
        }
        tracing::debug!(
            %method, path, code, user = &*noted.user, request = id, %from, micros = took.as_micros() as u64, "answered"
        );
        answer
    }

    /// Writes down how a request was answered.
    async fn note_down(&self, noted: &mut Noted, code: u16, stage: Stage) {
        let (Some(audit), Some(record)) = (&self.audit, &mut noted.record) else { return };
        record.answered(code, noted.failure.as_ref());
        // A request that failed showed nothing.
        if let Some(values) = noted.values.filter(|_| noted.failure.is_none()) {
            record.annotate(secrets::AUDITED, values);
        }
        if let Some(event) = record.event(stage, SystemTime::now()) {
            audit.log.write(event).await;
        }
    }

    async fn try_answer<B>(
        &self,
        request: Request<B>,
        peer: &Peer,
        noted: &mut Noted,
    ) -> Result<Answer, Status>
    where
        B: HttpBody<Data = Bytes> + Send + Unpin + 'static,
        B::Error: std::fmt::Display,
    {
        let (mut parts, body) = request.into_parts();
        let upgrade = parts.extensions.remove::<OnUpgrade>();
        let in_process = parts.extensions.remove::<InProcess>();
        if let Some(page) = self.page_for_browsers(&parts) {
            return Ok(page);
        }
        let Some((plane, route, claimed)) = self.find(&parts)? else {
            return Ok(answer::page_not_found());
        };
        let head = claimed.is_some().then(|| routed::without_credentials(&parts));
        let presented =
            Presented { headers: &parts.headers, peer, path: parts.uri.path(), plane: plane.as_str() };
        let signed_in = || {
            let sessions = self.sessions.as_ref()?;
            sessions.at(&self.api, parts.uri.path(), &parts.headers)
        };
        let authenticated = match in_process.map(|InProcess(who)| who).or_else(signed_in) {
            Some(who) => Ok(who),
            None => self.authenticator.authenticate(&presented).await,
        };
        let uri = parts.uri.clone();
        let query = match (Query::parse(parts.uri.query().unwrap_or_default()), &claimed) {
            // What a route takes as a query is its own affair.
            (Err(_), Some(_)) => Query::default(),
            (query, _) => query?,
        };
        let is_head = parts.method == Method::HEAD;
        let mut known = RequestContext {
            path: parts.uri.path().to_owned(),
            plane,
            project: None,
            route,
            who: Identity::default(),
            only: None,
            redacts: false,
            really: None,
            method: parts.method,
            query,
            headers: parts.headers,
            claimed,
        };
        let authenticated = match known.requirement() {
            // Nobody is kept from what is public by credentials that are not good for anything else.
            Some(Requirement::Public) => Ok(authenticated.unwrap_or_else(|_| Identity::anonymous())),
            _ => authenticated,
        };
        known.who = authenticated.clone().unwrap_or_default();
        noted.tell(&known);
        if let (Some(audit), Some(from)) = (&self.audit, noted.from) {
            let seen = (&uri, &known.headers, from);
            let now = SystemTime::now();
            let record = Record::begin(&audit.policy, &noted.id, &known.who, &known.attributes(), seen, now);
            let is_secret = known.is_about_secrets(&self.api) || known.may_hold_sealed(&self.api);
            noted.record = record.map(|record| if is_secret { record.without_bodies() } else { record });
        }
        if let Err(refused) = authenticated {
            tracing::debug!(reason = %refused, "authentication failed");
            return Err(Status::unauthorized());
        }
        self.authorize(&mut known, noted)?;
        self.guard_values(&mut known, noted);
        if health::is_about(&known) {
            // Health waits for nobody, whatever else goes on, and what is sent along is not read.
            let answer = self.dispatch(&known, Bytes::new()).await?;
            return Ok(if is_head { without_body(answer) } else { answer });
        }
        let is_long_running = known.is_long_running();
        let reads = matches!(known.method, Method::GET | Method::HEAD);
        let load = match (is_long_running, head.is_some(), reads) {
            (true, _, _) => Load::Watch,
            (false, true, _) => Load::Routed,
            (false, false, true) => Load::Read,
            (false, false, false) => Load::Write,
        };
        let user = known.who.user.clone();
        let rank = Rank::of(&known.who, known.plane.is_root());
        if let Some(head) = head {
            let ticket = self.limits.enter(&user, rank, &known.plane, load)?;
            let lasting = self.lasting(ticket, noted, is_long_running);
            let seen = (noted.id.as_str(), noted.from);
            return self.routed(&mut known, seen, head, body, upgrade, lasting).await;
        }
        // A body takes no slot while it is sent: whoever never ends one keeps nobody waiting.
        let (body, held) = match reads || body.is_end_stream() {
            true => (Bytes::new(), None),
            false => {
                let mut held = self.limits.receive(&user, rank)?;
                let body = body::read(&known.headers, body, self.most_bytes(&known), &mut held).await?;
                (body, Some(held))
            }
        };
        let ticket = self.limits.enter(&user, rank, &known.plane, load)?.holding(held);
        if let Some(record) = &mut noted.record {
            record.requested(&body);
        }
        if is_long_running || beyond::is_download(&known.route) {
            let lasting = self.lasting(ticket, noted, is_long_running);
            return self.stream(&known, body, upgrade, lasting).await;
        }
        let mut answer = self.dispatch(&known, body).await?;
        if let Some(record) = noted.record.as_mut().filter(|record| record.wants_response()) {
            answer = answer::kept(answer, |bytes| record.responded(bytes)).await;
        }
        let answer = counted::until_sent(answer::gzip::compress(answer, &known.headers), ticket);
        Ok(if is_head { without_body(answer) } else { answer })
    }

    /// How many bytes the body of a request may have. Transactions and plans may be large, but not of those who may write nothing.
    fn most_bytes(&self, known: &RequestContext) -> usize {
        let most = beyond::most_bytes(&known.route);
        match most > body::LIMIT && !self.api.followers().rights.may_write(&known.plane, &known.who) {
            true => body::LIMIT_WITHOUT_RIGHTS,
            false => most,
        }
    }

    /// Answers a watch or a download, which counts until its stream or its WebSocket ends.
    async fn stream(
        &self,
        known: &RequestContext,
        body: Bytes,
        connection: Option<OnUpgrade>,
        mut lasting: Lasting,
    ) -> Result<Answer, Status> {
        let mut answer = match self.dispatch(known, body).await {
            Ok(answer) => answer,
            Err(status) => {
                lasting.failed(&status);
                return Err(status);
            }
        };
        lasting.started(answer.status().as_u16()).await;
        let upgrade = answer.extensions_mut().remove::<Upgrade>();
        if let Some((upgrade, connection)) = upgrade.zip(connection) {
            let expires = known.who.expires;
            tokio::spawn(async move {
                let _lasting = lasting;
                tokio::select! {
                    biased;
                    () = revocation::expiry(expires) => {}
                    () = upgrade.serve(connection) => {}
                }
            });
            return Ok(answer);
        }
        let is_head = known.method == Method::HEAD;
        let answer = lasting.held_by(answer, known.who.expires);
        Ok(if is_head { without_body(answer) } else { answer })
    }

    /// Finds out whether the request may be made, in whose name it is made.
    fn authorize(&self, known: &mut RequestContext, noted: &mut Noted) -> Result<(), Status> {
        self.is_somebody(&known.plane, &known.who, noted)?;
        let impersonation = Impersonation::requested(&known.headers)?;
        let rights = InPlane { api: &self.api, plane: &known.plane };
        if let Some(impersonation) = impersonation {
            let attributes = known.attributes();
            let acted = impersonation.decide(&rights, &known.who, &attributes)?;
            if let Some(record) = &mut noted.record {
                record.impersonating(&acted);
            }
            // Whoever acts as somebody else does so for as long as their own credentials last.
            let acted = Identity { expires: known.who.expires, ..acted.identity };
            known.really = Some(std::mem::replace(&mut known.who, acted));
            self.is_somebody(&known.plane, &known.who, noted)?;
        }
        planes::put_in_context(self.api.kinds(), &known.plane, &mut known.who);
        known.project = planes::admit(&self.api, &known.plane, &known.who)?;
        let mut attributes = known.attributes();
        let in_all_planes = known.is_in_all_planes();
        if in_all_planes {
            attributes.verb = all_planes::VERB;
            attributes.subresource = all_planes::SUBRESOURCE;
        }
        let decision = match known.requirement() {
            Some(Requirement::Public) => Decision::allow("everybody may"),
            Some(Requirement::Authenticated) if known.who.is_anonymous() => {
                return Err(Status::unauthorized());
            }
            Some(Requirement::Authenticated) => Decision::allow("everybody with valid credentials may"),
            _ => rights.decide(&known.who, &attributes),
        };
        if let Some(record) = &mut noted.record {
            record.decided(&decision);
        }
        if decision.allowed {
            return Ok(());
        }
        let refused = attributes.forbidden(&known.who, &decision.reason);
        // A part of what was asked for is no answer of a route.
        if in_all_planes || known.claimed.is_some() {
            return Err(refused);
        }
        known.only = Some(Arc::new(self.seen_in_part(known, refused)?));
        Ok(())
    }

    /// Refuses an authenticated name whose account is inactive or gone, before anything is told about what it asks for.
    fn is_somebody(&self, plane: &Plane, who: &Identity, noted: &mut Noted) -> Result<(), Status> {
        let Some(refusal) = self.api.followers().rights.standing(plane, who).refusal else { return Ok(()) };
        if let Some(record) = &mut noted.record {
            record.decided(&Decision::deny(refusal.as_str()));
        }
        Err(Status::failure(403, "Forbidden", refusal))
    }

    /// Finds out whether the values of secrets may be shown, and notes down that they are.
    fn guard_values(&self, known: &mut RequestContext, noted: &mut Noted) {
        if known.reveals_sealed(&self.api) {
            noted.values = Some("revealed");
        }
        if !known.is_about_secrets(&self.api) {
            return;
        }
        let rights = &self.api.followers().rights;
        let what = known.attributes();
        let reveal = Attributes { verb: REVEAL, subresource: "", ..what };
        // Whom RBAC allows the request sees what Kubernetes would show; that has no questions about secrets.
        let asked = if what.subresource.is_empty() { what } else { reveal };
        let shows = (known.only.is_none() && rights.by_rbac(&known.plane, &known.who, &asked).allowed)
            || rights.decide(&known.plane, &known.who, &reveal).allowed;
        let in_part = what.name.is_empty() && rights.some_of(&known.plane, &known.who, &reveal).is_some();
        let (is_read, is_part) =
            (matches!(what.verb, "get" | "list" | "watch"), !what.subresource.is_empty());
        known.redacts = !shows;
        if is_read && !is_part && known.is_about_values(&self.api) && shows_objects(known) {
            let values = match (shows, in_part) {
                (true, _) => "revealed",
                (false, true) => "revealed in part",
                (false, false) => "redacted",
            };
            match (known.is_watch(), &mut noted.record) {
                // What a watch shows is not known before it ends: its record says what it may show.
                (true, Some(record)) => record.annotate(secrets::AUDITED, values),
                _ => noted.values = Some(values),
            }
        }
    }

    /// The part of a collection that may be seen by who may not see all of it. Beside such a part, what may not be seen
    /// is not there.
    fn seen_in_part(&self, known: &RequestContext, refused: Status) -> Result<Only, Status> {
        let rights = &self.api.followers().rights;
        let attributes = known.attributes();
        if !attributes.is_resource() {
            return Err(refused);
        }
        if attributes.name.is_empty() {
            let reads = matches!(attributes.verb, "list" | "watch") && attributes.subresource.is_empty();
            let only = reads.then(|| rights.some_of(&known.plane, &known.who, &attributes)).flatten();
            return only.ok_or(refused);
        }
        let get = Attributes { verb: "get", subresource: "", ..attributes };
        let may_get = || rights.decide(&known.plane, &known.who, &get).allowed;
        let list = Attributes { verb: "list", name: "", ..get };
        if may_get() || rights.some_of(&known.plane, &known.who, &list).is_none() {
            return Err(refused);
        }
        let kind = krm::status::Subject::new(attributes.group, attributes.resource);
        Err(Status::not_found(&kind, attributes.name))
    }

    /// What is kept until the last byte of the answer: then the request no longer counts, and its end is written down.
    fn lasting(&self, ticket: Ticket, noted: &mut Noted, is_long_running: bool) -> Lasting {
        noted.is_lasting = true;
        let log = self.audit.as_ref().map(|audit| audit.log.clone());
        let counted = (self.other.metrics.clone(), noted.labels.clone());
        let lasting = Lasting::new(ticket, log.zip(noted.record.take()), counted, is_long_running);
        lasting.with_dry_run(noted.dry_run)
    }

    async fn dispatch(&self, known: &RequestContext, body: Bytes) -> Result<Answer, Status> {
        check_timeout(&known.query)?;
        if known.route.tells_of_kinds() {
            // Whoever has seen that a kind is established finds it in discovery and in the schemas.
            self.api.caught_up(self.api.store().latest().version()).await;
        }
        let catalog = self.api.kinds().of(&known.plane);
        match &known.route {
            Route::Other(_) => self.other.answer(self, known, body).await,
            Route::Resource(target) => self.resource(known, target, body).await,
            route => discovery::answer(&catalog, &self.routes, route, &known.method, &known.headers),
        }
    }

    /// The lease without which a write must not land, if it names one that its sender may see.
    fn held_lease(&self, known: &RequestContext) -> Result<Option<Arc<HeldLease>>, Status> {
        if matches!(known.method, Method::GET | Method::HEAD) {
            return Ok(None);
        }
        let Some(held) = HeldLease::read(&known.headers)? else { return Ok(None) };
        held.may_be_named(&self.api, &known.plane, &known.who)?;
        Ok(Some(Arc::new(held)))
    }

    /// A request about objects. If the definition of their kind changes while it is decided, it is decided anew.
    async fn resource(&self, known: &RequestContext, target: &Target, body: Bytes) -> Result<Answer, Status> {
        let message = past::message_in(&known.headers)?;
        let held = self.held_lease(known)?;
        planes::furnish(&self.api, &known.plane).await?;
        let mut looked_again = false;
        for _ in 0..TRIES {
            let mut catalog = self.api.kinds().of(&known.plane);
            let mut found = resource::find(&catalog, target);
            if known.is_in_all_planes() && !matches!(found, Ok(Some(_))) {
                // What only projects have is asked for in the root too, where the right to all of them is granted.
                catalog = self.api.kinds().of_projects();
                found = resource::find(&catalog, target);
            }
            if !matches!(found, Ok(Some(_))) && !looked_again {
                // The watch that told somebody of a new kind may have been faster than this server's own, or another
                // server's: it is missing only if it still is when all that was written is known here.
                looked_again = true;
                self.api.know_all().await?;
                continue;
            }
            let Some((kind, version)) = found? else {
                return Ok(answer::page_not_found());
            };
            let mut call = resource::call(
                &self.api,
                known.plane.clone(),
                catalog,
                kind,
                version,
                target,
                known.who.clone(),
                &known.headers,
            );
            call.message.clone_from(&message);
            // What was admitted and authorized, however long the body took.
            call.project = known.project;
            call.really.clone_from(&known.really);
            call.held.clone_from(&held);
            call.only.clone_from(&known.only);
            call.redacts = known.redacts;
            if known.is_in_all_planes() {
                let (group, plural) = (call.kind.group.as_str(), call.kind.names.plural.as_str());
                let is_virtual = self.virtual_resources.iter().any(|part| part.is_about(group, plural));
                all_planes::admit(&known.plane, &call.kind, is_virtual)?;
                call.all_planes = true;
            }
            if let Some(review) = reviews::of(&call, target) {
                return review.answer(self, known, &call, &body).await;
            }
            if let Some(asked) = beyond::of(&call, target, &known.method) {
                match asked.answer(known, call, &body).await {
                    Err(status) if status.reason == STALE_KIND => {
                        let now = self.api.store().latest();
                        self.api.caught_up(now.version()).await;
                        continue;
                    }
                    answered => return answered,
                }
            }
            let (group, plural) = (call.kind.group.as_str(), call.kind.names.plural.as_str());
            if let Some(part) = self.virtual_resources.iter().find(|part| part.is_about(group, plural)) {
                return part.answer(known, call, body.clone()).await;
            }
            let asked = Asked {
                method: known.method.clone(),
                query: known.watch_query(),
                headers: known.headers.clone(),
                body: body.clone(),
            };
            match resource::answer(call, target, asked).await {
                Err(status) if status.reason == STALE_KIND => {
                    let now = self.api.store().latest();
                    self.api.caught_up(now.version()).await;
                }
                answered => return answered,
            }
        }
        Err(Status::unavailable("the definition of this kind is changed too frequently; please try again"))
    }
}

/// The rights of one plane, as an authorizer.
pub struct InPlane<'a> {
    /// The server.
    pub api: &'a Api,
    /// The plane.
    pub plane: &'a Plane,
}

impl Authorizer for InPlane<'_> {
    fn decide(&self, who: &Identity, what: &Attributes<'_>) -> Decision {
        self.api.followers().rights.decide(self.plane, who, what)
    }

    fn rules_for(&self, who: &Identity, namespace: &str) -> RulesFound {
        self.api.followers().rights.rules_for(self.plane, who, namespace)
    }

    fn grantable(&self, who: &Identity, namespace: &str) -> RulesFound {
        self.api.followers().rights.grantable(self.plane, who, namespace)
    }
}

/// Whether the answer to a read has whole objects in it: tables and metadata show no values.
fn shows_objects(known: &RequestContext) -> bool {
    let accept = Accept::negotiate(&known.headers, true).and_then(|accept| accept.with_query(&known.query));
    let Ok(accept) = accept else { return false };
    match accept.form {
        Form::Whole => true,
        Form::Table => known.query.get("includeObject") == Some("Object"),
        Form::Partial | Form::PartialList => false,
    }
}

fn without_body(answer: Answer) -> Answer {
    answer.map(|_| answer::empty())
}

/// `timeout` is a Go duration; what can't be one is refused.
fn check_timeout(query: &Query) -> Result<(), Status> {
    let Some(text) = query.get("timeout").filter(|text| !text.is_empty()) else { return Ok(()) };
    let unit = text.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-' || c == '+');
    let has_number = text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | '+'));
    let known = ["ns", "us", "µs", "ms", "s", "m", "h"];
    let begins_known = known.iter().any(|known| unit.starts_with(known));
    match (text == "0") || (has_number && begins_known) {
        true => Ok(()),
        false => Err(Status::bad_request(format!(
            "invalid timeout specified in the request URL - time: invalid duration {text:?}"
        ))),
    }
}

/// Tells a client which request this was.
pub fn name_request(answer: &mut Answer, id: &str) {
    if let Ok(value) = HeaderValue::from_str(id) {
        answer.headers_mut().insert("audit-id", value);
    }
}
