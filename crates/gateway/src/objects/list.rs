//! List.

use std::collections::BTreeMap;
use std::sync::Arc;

use apiserver::authz::Only;
use apiserver::keys::{self, Parts};
use apiserver::plane::Plane;
use apiserver::{encode, index};
use krm::kind::Kind;
use prost_reflect::DynamicMessage;
use store::{Entry, Key};

use super::page::Page;
use super::{Found, Objects};
use crate::collection::{Collection, Face, GROUP, Public};
use crate::failure::Failure;
use crate::filter::{Filter, Term};
use crate::schema;
use crate::view::Names;

/// How many objects are returned if nobody says.
const USUAL: usize = 100;
/// How many are returned at most.
const MOST: usize = 1_000;

/// What is asked of a list.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    /// How many matches to leave out.
    pub offset: Option<i32>,
    /// How many to return.
    pub limit: Option<i32>,
    /// A filter.
    pub filter: String,
    /// The token of an earlier page.
    pub page_token: String,
}

/// A page of a list.
#[derive(Debug, Clone, Default)]
pub struct Listed {
    /// The objects.
    pub items: Vec<DynamicMessage>,
    /// How many match.
    pub total: usize,
    /// The token of the next page; empty if this is the last.
    pub next_page_token: String,
}

/// An object, and its place in the order.
type Candidate = (String, Key, Arc<Entry>);

impl Objects {
    /// The objects that match a filter, in the order of their identifiers.
    pub async fn list(&self, wanted: &Wanted) -> Result<Listed, Failure> {
        let filter = match wanted.filter.trim() {
            "" => None,
            text => {
                let filter = Filter::parse(text, self.view.message(), schema::is_secret);
                Some(filter.map_err(|error| Failure::invalid(error.to_string()))?)
            }
        };
        let limit = match wanted.limit {
            None | Some(0) => USUAL,
            Some(limit) => usize::try_from(limit).unwrap_or(0).min(MOST),
        };
        let offset = wanted.offset.and_then(|offset| usize::try_from(offset).ok()).unwrap_or(0);
        let after = match wanted.page_token.as_str() {
            "" => None,
            token => Some(Page::read(token, wanted.filter.trim())?),
        };
        let names = Names::at(self.caller.now().await?);
        if filter.is_none()
            && let Some(listed) = self.everything(offset, limit, after.as_deref(), &names)?
        {
            return Ok(listed);
        }
        let now = self.caller.api.now();
        let now = i128::from(now.seconds) * 1_000_000_000 + i128::from(now.nanoseconds);
        let mut listed = Listed::default();
        let mut last = String::new();
        let is_after = |place: &str| after.as_deref().is_none_or(|after| place > after);
        let candidates = self.candidates(filter.as_ref(), &names)?;
        let mut reached = 0;
        for (place, key, entry) in candidates {
            let is_in_page = is_after(&place);
            let is_wanted = is_in_page && reached >= offset && listed.items.len() < limit;
            // Without a filter only what is returned has to be read.
            let found = Found { key, entry };
            let message = match (&filter, is_wanted) {
                (None, false) => None,
                _ => Some(self.show(&found, &names)?),
            };
            if let (Some(filter), Some(message)) = (&filter, &message)
                && !filter.matches(message, now)
            {
                continue;
            }
            listed.total += 1;
            if !is_in_page {
                continue;
            }
            reached += 1;
            match message.filter(|_| is_wanted) {
                Some(message) => {
                    listed.items.push(message);
                    last = place;
                }
                None if listed.items.len() >= limit
                    && !listed.items.is_empty()
                    && listed.next_page_token.is_empty() =>
                {
                    listed.next_page_token = Page::after(&last, wanted.filter.trim()).token();
                }
                None => {}
            }
        }
        Ok(listed)
    }

    /// A page of all objects of the root, if the caller may read all of them: only what is returned is looked at.
    fn everything(
        &self,
        offset: usize,
        limit: usize,
        after: Option<&str>,
        names: &Names,
    ) -> Result<Option<Listed>, Failure> {
        let (collection, root) = (self.view.collection, Plane::root());
        let reads_all = match (self.view.face, collection.public) {
            (Face::Public, Public::Everybody) => true,
            (Face::Public, _) => false,
            (Face::Private, _) => matches!(self.caller.reads(collection, &root, "list"), Some(None)),
        };
        if collection.in_projects || !reads_all {
            return Ok(None);
        }
        let snapshot = names.snapshot();
        let prefix = keys::of_kind(&root, GROUP, collection.plural);
        let after = after.map(|name| self.caller.key(collection, &root, name)).transpose()?;
        let mut rest = snapshot.list_from(prefix.as_bytes(), after.as_ref()).skip(offset);
        let mut listed = Listed { total: snapshot.count(prefix.as_bytes()), ..Listed::default() };
        let mut last = "";
        for (key, entry) in rest.by_ref().take(limit) {
            let found = Found { key: key.clone(), entry: entry.clone() };
            listed.items.push(self.show(&found, names)?);
            last = keys::parts(key).map_or("", |parts| parts.name);
        }
        if !listed.items.is_empty() && rest.next().is_some() {
            listed.next_page_token = Page::after(last, "").token();
        }
        Ok(Some(listed))
    }

    /// Everything that the caller may read and that may match, in order.
    fn candidates(&self, filter: Option<&Filter>, names: &Names) -> Result<Vec<Candidate>, Failure> {
        let terms = filter.and_then(Filter::terms);
        let collection = self.view.collection;
        if self.view.face == Face::Public && collection.public == Public::ReadersOfCluster {
            return Ok(self.hosts_of_clusters(names));
        }
        let readable = match self.view.face == Face::Public && collection.public == Public::Everybody {
            true => vec![(Plane::root(), None)],
            false => self.caller.readable(collection, names.snapshot(), "list"),
        };
        if readable.is_empty() && !collection.in_projects {
            return Err(self.caller.refusal(collection, &Plane::root(), "list"));
        }
        let mut all = Vec::new();
        for (plane, only) in readable {
            let kind = self.caller.kind(collection, &plane)?;
            self.candidates_in(&plane, &kind, only.as_deref(), terms.as_deref(), names, &mut all);
        }
        if collection.in_projects {
            all.sort_by(|(a, ..), (b, ..)| a.cmp(b));
        }
        Ok(all)
    }

    fn candidates_in(
        &self,
        plane: &Plane,
        kind: &Kind,
        only: Option<&Only>,
        terms: Option<&[Term]>,
        names: &Names,
        into: &mut Vec<Candidate>,
    ) {
        let snapshot = names.snapshot();
        let keys = terms.and_then(|terms| self.indexed(plane, kind, terms, names));
        let is_seen = |key: &Key| {
            only.is_none_or(|only| keys::parts(key).is_some_and(|parts| only.has("", parts.name)))
        };
        match keys {
            Some(keys) => {
                let entries = keys.into_values().filter(|(key, _)| is_seen(key));
                into.extend(
                    entries.filter_map(|(key, entry)| Some((self.order_of(&key, &entry)?, key, entry))),
                );
            }
            None => {
                let prefix = keys::of_kind(plane, GROUP, self.view.collection.plural);
                let entries = snapshot.list(prefix.as_bytes()).filter(|(key, _)| is_seen(key));
                let placed = |(key, entry): (&Key, &Arc<Entry>)| {
                    Some((self.order_of(key, entry)?, key.clone(), entry.clone()))
                };
                into.extend(entries.filter_map(placed));
            }
        }
    }

    /// The place of an object in the order: that of its name in the root, where names stand for identifiers.
    fn order_of(&self, key: &Key, entry: &Entry) -> Option<String> {
        match self.view.collection.in_projects {
            true => Some(self.view.id(&encode::read(entry.bytes()).ok()?)),
            false => keys::parts(key).map(|parts| parts.name.to_owned()),
        }
    }

    /// The objects that have one of the terms, by their names; `None` where no index answers.
    fn indexed(
        &self,
        plane: &Plane,
        kind: &Kind,
        terms: &[Term],
        names: &Names,
    ) -> Option<BTreeMap<String, (Key, Arc<Entry>)>> {
        let snapshot = names.snapshot();
        let of = Parts {
            plane: plane.as_str(),
            group: GROUP,
            plural: self.view.collection.plural,
            namespace: "",
            name: "",
        };
        let mut found = BTreeMap::new();
        let mut add = |key: &Key| {
            if let (Some(parts), Some(entry)) = (keys::parts(key), snapshot.get(key)) {
                found.insert(parts.name.to_owned(), (key.clone(), entry.clone()));
            }
        };
        for term in terms {
            let (field, value) = match term {
                Term::Label(label, value) => {
                    snapshot.having(&index::label_is(&of, label, value)).for_each(&mut add);
                    continue;
                }
                Term::Field(field, value) => (field.as_str(), value),
            };
            if field == "id" {
                match self.view.collection.in_projects {
                    true => {
                        if let Some(found) = self.find_in_plane(plane, value, names) {
                            add(&found);
                        }
                    }
                    false => {
                        let name = fulfillment::identity::name_of(value);
                        if let Ok(key) = self.caller.key(self.view.collection, plane, &name) {
                            add(&key);
                        }
                    }
                }
                continue;
            }
            // The name of what has no display name is that of its object.
            if field == "metadata.name"
                && let Ok(key) = self.caller.key(self.view.collection, plane, value)
            {
                add(&key);
            }
            let (path, value) = stored_as(field, value);
            if !kind.versions.get(kind.storage)?.selectable.contains(&path) {
                return None;
            }
            snapshot.having(&index::field_is(&of, &path, &value)).for_each(&mut add);
        }
        Some(found)
    }

    fn find_in_plane(&self, plane: &Plane, id: &str, names: &Names) -> Option<Key> {
        let own = Objects { caller: self.caller.clone(), view: self.view.clone() };
        own.find(id, names).ok().filter(|found| found.plane() == *plane).map(|found| found.key)
    }

    /// Hosts of the clusters that the caller may read.
    fn hosts_of_clusters(&self, names: &Names) -> Vec<Candidate> {
        let snapshot = names.snapshot();
        let Some(clusters) = Collection::of_plural("clusters") else { return Vec::new() };
        let of = Parts { plane: "", group: GROUP, plural: "hosts", namespace: "", name: "" };
        let mut found = BTreeMap::new();
        for (plane, _) in self.caller.readable(clusters, snapshot, "get") {
            for key in snapshot.having(&index::field_is(&of, "status.project", plane.as_str())) {
                let Some((parts, entry)) = keys::parts(key).zip(snapshot.get(key)) else { continue };
                if self.sees_cluster_of(entry, names) {
                    found.insert(parts.name.to_owned(), (key.clone(), entry.clone()));
                }
            }
        }
        found.into_iter().map(|(name, (key, entry))| (name, key, entry)).collect()
    }
}

/// The field of a resource that a field of a message shows, and the value as it is stored there.
fn stored_as(field: &str, value: &str) -> (String, String) {
    let path = match field {
        "metadata.name" => "displayName".to_owned(),
        field => camel(field),
    };
    let is_reference = matches!(field, "spec.class" | "spec.template" | "status.hub");
    let value = if is_reference { fulfillment::identity::name_of(value) } else { value.to_owned() };
    (path, value)
}

fn camel(field: &str) -> String {
    let mut camel = String::with_capacity(field.len());
    let mut is_word = false;
    for c in field.chars() {
        match c {
            '_' => is_word = true,
            c if is_word => {
                camel.push(c.to_ascii_uppercase());
                is_word = false;
            }
            c => camel.push(c),
        }
    }
    camel
}
