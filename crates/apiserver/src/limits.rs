//! Limits on concurrent requests, watches and bytes, so that one user cannot starve the others.

mod bytes;
mod rank;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use krm::status::Status;

use crate::plane::Plane;

pub use bytes::HeldBytes;
pub use rank::Rank;

/// How much may go on at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// Requests of everybody together, watches apart. A tenth of them is kept for administrators and for parts of the system.
    pub requests: usize,
    /// Requests of one user, watches apart, and request bodies of one user that are still being sent.
    pub requests_per_user: usize,
    /// Requests in one project, watches apart.
    pub requests_per_project: usize,
    /// Requests without credentials, which do not count among the others.
    pub anonymous_requests: usize,
    /// Requests that routes of modules answer, which do not count among the others: they hold their place while their bodies
    /// are sent.
    pub routed_requests: usize,
    /// Watches of one user.
    pub watches_per_user: usize,
    /// Watches in one project.
    pub watches_per_project: usize,
    /// Bytes of request bodies that are held in memory, with what they are parsed into. A quarter of them is kept for
    /// administrators and for parts of the system.
    pub body_bytes: usize,
    /// The same of one user.
    pub body_bytes_per_user: usize,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            requests: 1_000,
            requests_per_user: 400,
            requests_per_project: 400,
            anonymous_requests: 100,
            routed_requests: 1_000,
            watches_per_user: 20_000,
            watches_per_project: 10_000,
            body_bytes: 1 << 30,
            body_bytes_per_user: 384 << 20,
        }
    }
}

/// Counts what goes on.
pub struct Limits {
    settings: Settings,
    going_on: Mutex<GoingOn>,
}

#[derive(Default)]
struct GoingOn {
    requests: usize,
    /// Those of the requests that may change something.
    writes: usize,
    anonymous: usize,
    routed: usize,
    body_bytes: usize,
    users: HashMap<Arc<str>, Counts>,
    projects: HashMap<Plane, InProject>,
}

#[derive(Default, Clone, Copy, PartialEq, Eq)]
struct Counts {
    requests: usize,
    routed: usize,
    watches: usize,
    /// Bodies that are being sent.
    bodies: usize,
    body_bytes: usize,
}

#[derive(Default, Clone, Copy, PartialEq, Eq)]
struct InProject {
    requests: usize,
    watches: usize,
}

/// A request or a watch that goes on; it counts until this is dropped.
pub struct Ticket {
    limits: Arc<Limits>,
    user: Arc<str>,
    plane: Plane,
    rank: Rank,
    load: Load,
    /// Its body, as long as it is in memory.
    _body: Option<HeldBytes>,
}

/// What a request does while it goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Load {
    /// It reads.
    Read,
    /// It may change something.
    Write,
    /// A route of a module answers it.
    Routed,
    /// It goes on until it is ended.
    Watch,
}

impl Limits {
    /// Limits of these sizes.
    pub fn new(settings: Settings) -> Arc<Limits> {
        Arc::new(Limits { settings, going_on: Mutex::default() })
    }

    /// Lets a request or a watch in, or says that there are too many.
    pub fn enter(
        self: &Arc<Limits>,
        user: &Arc<str>,
        rank: Rank,
        plane: &Plane,
        load: Load,
    ) -> Result<Ticket, Status> {
        let mut going_on = self.lock();
        self.has_room(&going_on, user, rank, plane, load)?;
        going_on.step(user, rank, plane, load, 1);
        drop(going_on);
        Ok(Ticket { limits: self.clone(), user: user.clone(), plane: plane.clone(), rank, load, _body: None })
    }

    fn has_room(
        &self,
        going_on: &GoingOn,
        user: &Arc<str>,
        rank: Rank,
        plane: &Plane,
        load: Load,
    ) -> Result<(), Status> {
        let settings = &self.settings;
        let counts = going_on.users.get(user).copied().unwrap_or_default();
        let in_project = going_on.projects.get(plane).copied().unwrap_or_default();
        let kept = if rank == Rank::System { 0 } else { settings.requests.div_ceil(10) };
        let of_all = (going_on.requests, settings.requests.saturating_sub(kept).max(1), "requests");
        let of_user = (counts.requests + counts.routed, settings.requests_per_user, "requests of this user");
        let of_project = (in_project.requests, settings.requests_per_project, "requests in this project");
        const FREE: (usize, usize, &str) = (0, 1, "");
        let checks = match load {
            Load::Watch => [
                (in_project.watches, settings.watches_per_project, "watches in this project"),
                (counts.watches, settings.watches_per_user, "watches of this user"),
                FREE,
            ],
            Load::Routed => [(going_on.routed, settings.routed_requests, "requests"), of_user, FREE],
            Load::Read | Load::Write if rank == Rank::Anonymous => {
                let most = settings.anonymous_requests;
                [(going_on.anonymous, most, "requests without credentials"), FREE, FREE]
            }
            // Whoever keeps the server running is not kept out by what goes on in a project.
            Load::Read | Load::Write if rank == Rank::System || plane.is_root() => [of_all, of_user, FREE],
            Load::Read | Load::Write => [of_all, of_project, of_user],
        };
        match checks.into_iter().find(|(found, most, _)| found >= most) {
            None => Ok(()),
            Some((_, most, what)) => Err(too_many(what, most)),
        }
    }

    /// How many requests that read, and how many that may change something, go on.
    pub fn going_on(&self) -> (usize, usize) {
        let going_on = self.lock();
        (going_on.requests.saturating_sub(going_on.writes), going_on.writes)
    }

    /// Bytes of request bodies that are in memory now.
    pub fn body_bytes(&self) -> usize {
        self.lock().body_bytes
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, GoingOn> {
        self.going_on.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn too_many(what: &str, most: usize) -> Status {
    let why = format!("too many concurrent {what}: limit is {most}; please try again later");
    Status::too_many_requests(why, 1)
}

impl GoingOn {
    /// Counts a request or watch that begins or ends.
    fn step(&mut self, user: &Arc<str>, rank: Rank, plane: &Plane, load: Load, by: isize) {
        let step = |count: &mut usize| *count = count.saturating_add_signed(by);
        let counts = self.users.entry(user.clone()).or_default();
        match load {
            Load::Watch => step(&mut counts.watches),
            Load::Routed => {
                step(&mut counts.routed);
                step(&mut self.routed);
            }
            Load::Read | Load::Write if rank == Rank::Anonymous => step(&mut self.anonymous),
            Load::Read | Load::Write => {
                step(&mut counts.requests);
                step(&mut self.requests);
                if load == Load::Write {
                    step(&mut self.writes);
                }
            }
        }
        self.forget_idle(user);
        if plane.is_root() || load == Load::Routed {
            return;
        }
        let in_project = self.projects.entry(plane.clone()).or_default();
        step(if load == Load::Watch { &mut in_project.watches } else { &mut in_project.requests });
        if *in_project == InProject::default() {
            self.projects.remove(plane);
        }
    }

    fn forget_idle(&mut self, user: &Arc<str>) {
        if self.users.get(user).is_some_and(|counts| *counts == Counts::default()) {
            self.users.remove(user);
        }
    }
}

impl Ticket {
    /// The same, which holds the bytes of a body.
    pub fn holding(mut self, body: Option<HeldBytes>) -> Ticket {
        self._body = body;
        self
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.limits.lock().step(&self.user, self.rank, &self.plane, self.load, -1);
    }
}

#[cfg(test)]
mod tests;
