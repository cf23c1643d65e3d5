//! One informer: lists a resource page by page, watches it, and resumes after whatever interrupts it.

use client::{Collection, Event, InPlane, ListOptions, Watch};
use krm::Object;
use krm::kind::Address;
use reconcile::backoff::{Backoff, system_randomness};
use reconcile::context::Kinds;
use reconcile::target::Target;
use serde::de::DeserializeOwned;

use crate::feed::Informers;
use crate::place::Place;
use crate::source::Source;

/// The first pauses of the back-off are made for events in one process; a server is left alone for longer.
const FIRST_ATTEMPT: u32 = 5;
/// The pauses grow up to about twenty seconds.
const MOST_ATTEMPTS: u32 = 7;

/// Follows a source for ever. Connections that are lost and servers that are away are no errors: the watch goes on where it
/// was, or lists everything again and tells the difference.
pub(crate) async fn follow(informers: &Informers, source: &Source) {
    let objects = collection(informers, source).await;
    match &source.plane {
        None => run(informers, source, objects.watch_all_planes(ListOptions::default())).await,
        Some(_) => run(informers, source, objects.watch(ListOptions::default())).await,
    }
}

/// The objects of the resource at the version in which they are stored, as far as that is known.
async fn collection(informers: &Informers, source: &Source) -> Collection<Object> {
    let plane = source.plane.as_deref().unwrap_or_default();
    let client = informers.client();
    let client = if plane.is_empty() { client.in_root() } else { client.in_plane(plane) };
    let (backoff, mut attempts) = (Backoff::with_jitter(system_randomness()), 0);
    loop {
        let catalog = informers.catalog();
        let kind = catalog.of(plane).resource(&source.group, &source.plural);
        // What only projects have is listed over all of them in the root.
        let in_projects = || catalog.in_projects(&source.group, &source.plural);
        if let Some(kind) = kind.or_else(|| in_projects().filter(|_| source.plane.is_none())) {
            return client.resource(&kind.api_version(&kind.stored().name), &source.plural);
        }
        if let Err(error) = informers.catalog().discover(&client, plane).await {
            informers.failed(source, &error.to_string());
        } else if informers.catalog().of(plane).resource(&source.group, &source.plural).is_none() {
            informers.failed(source, "the server does not serve this resource");
        } else {
            continue;
        }
        attempts += 1;
        tokio::time::sleep(backoff.pause(FIRST_ATTEMPT + attempts.min(MOST_ATTEMPTS))).await;
    }
}

async fn run<T: DeserializeOwned + Placed>(informers: &Informers, source: &Source, mut watch: Watch<T>) {
    let place = |plane: &str, namespace: &str, name: &str| {
        let at = Address {
            group: source.group.clone(),
            plural: source.plural.clone(),
            namespace: namespace.to_owned(),
            name: name.to_owned(),
        };
        Place::of(&Target::new(source.plane.as_deref().unwrap_or(plane), at))
    };
    let mut was_failing = false;
    loop {
        let event = watch.next().await;
        let version = watch.version().and_then(|version| version.parse().ok());
        if was_failing && event.is_ok() {
            was_failing = false;
            tracing::info!(resource = %source, "followed again");
        }
        match event {
            Ok(Event::Added(found) | Event::Changed(found)) => {
                let (plane, object) = found.split();
                let place = place(&plane, object.namespace(), object.name());
                informers.changed(source, &place, Some(&object), version);
            }
            Ok(Event::Deleted { key, .. }) => {
                let place = place(&key.project, &key.namespace, &key.name);
                informers.changed(source, &place, None, version);
            }
            Ok(Event::Synced) => informers.listed(source, version.unwrap_or(0)),
            Err(error) if error.is_not_found() => informers.emptied(source),
            Err(error) => {
                // It is told once: the watch tries again, with pauses that grow.
                if !std::mem::replace(&mut was_failing, true) {
                    tracing::warn!(resource = %source, %error, "can't be followed; trying again");
                }
                informers.failed(source, &error.to_string());
            }
        }
    }
}

/// An object with the name of its plane, where a watch tells it.
trait Placed {
    fn split(self) -> (String, Object);
}

impl Placed for Object {
    fn split(self) -> (String, Object) {
        (String::new(), self)
    }
}

impl Placed for InPlane<Object> {
    fn split(self) -> (String, Object) {
        (self.project.unwrap_or_default(), self.object)
    }
}
