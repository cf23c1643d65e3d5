//! Limits on concurrent requests and watches, so that one user cannot starve the others.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use krm::status::Status;

use crate::plane::Plane;

/// How much may go on at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// Requests of everybody together, watches apart.
    pub requests: usize,
    /// Requests of one user, watches apart.
    pub requests_per_user: usize,
    /// Watches of one user.
    pub watches_per_user: usize,
    /// Watches in one project.
    pub watches_per_project: usize,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            requests: 1_000,
            requests_per_user: 400,
            watches_per_user: 20_000,
            watches_per_project: 10_000,
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
    users: HashMap<Arc<str>, Counts>,
    /// The watches in each project.
    projects: HashMap<Plane, usize>,
}

#[derive(Default, Clone, Copy)]
struct Counts {
    requests: usize,
    watches: usize,
}

/// A request or a watch that goes on; it counts until this is dropped.
pub struct Ticket {
    limits: Arc<Limits>,
    user: Arc<str>,
    plane: Plane,
    load: Load,
}

/// What a request does while it goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Load {
    /// It reads.
    Read,
    /// It may change something.
    Write,
    /// It goes on until it is ended.
    Watch,
}

impl Limits {
    /// Limits of these sizes.
    pub fn new(settings: Settings) -> Arc<Limits> {
        Arc::new(Limits { settings, going_on: Mutex::default() })
    }

    /// Lets a request or a watch in, or says that there are too many.
    pub fn enter(self: &Arc<Limits>, user: &Arc<str>, plane: &Plane, load: Load) -> Result<Ticket, Status> {
        let is_watch = load == Load::Watch;
        let mut going_on = self.going_on.lock().unwrap_or_else(PoisonError::into_inner);
        let counts = going_on.users.get(user).copied().unwrap_or_default();
        let in_project = going_on.projects.get(plane).copied().unwrap_or(0);
        let (found, most, what) = match is_watch {
            true if !plane.is_root() && in_project >= self.settings.watches_per_project => {
                (in_project, self.settings.watches_per_project, "watches in this project")
            }
            true => (counts.watches, self.settings.watches_per_user, "watches of this user"),
            false if going_on.requests >= self.settings.requests => {
                (going_on.requests, self.settings.requests, "requests")
            }
            false => (counts.requests, self.settings.requests_per_user, "requests of this user"),
        };
        if found >= most {
            return Err(Status::too_many_requests(
                format!("too many concurrent {what}: limit is {most}; please try again later"),
                1,
            ));
        }
        let counts = going_on.users.entry(user.clone()).or_default();
        if is_watch {
            counts.watches += 1;
            if !plane.is_root() {
                *going_on.projects.entry(plane.clone()).or_default() += 1;
            }
        } else {
            counts.requests += 1;
            going_on.requests += 1;
            going_on.writes += usize::from(load == Load::Write);
        }
        drop(going_on);
        Ok(Ticket { limits: self.clone(), user: user.clone(), plane: plane.clone(), load })
    }

    /// How many requests that read, and how many that may change something, go on.
    pub fn going_on(&self) -> (usize, usize) {
        let going_on = self.going_on.lock().unwrap_or_else(PoisonError::into_inner);
        (going_on.requests.saturating_sub(going_on.writes), going_on.writes)
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let mut going_on = self.limits.going_on.lock().unwrap_or_else(PoisonError::into_inner);
        let is_watch = self.load == Load::Watch;
        if !is_watch {
            going_on.requests = going_on.requests.saturating_sub(1);
            going_on.writes = going_on.writes.saturating_sub(usize::from(self.load == Load::Write));
        }
        if is_watch && let Some(watches) = going_on.projects.get_mut(&self.plane) {
            *watches = watches.saturating_sub(1);
            if *watches == 0 {
                going_on.projects.remove(&self.plane);
            }
        }
        if let Some(counts) = going_on.users.get_mut(&self.user) {
            match is_watch {
                true => counts.watches = counts.watches.saturating_sub(1),
                false => counts.requests = counts.requests.saturating_sub(1),
            }
            if counts.requests == 0 && counts.watches == 0 {
                going_on.users.remove(&self.user);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_user_cannot_keep_the_others_out() {
        let limits = Limits::new(Settings {
            requests: 3,
            requests_per_user: 2,
            watches_per_user: 1,
            watches_per_project: 2,
        });
        let (ann, ben): (Arc<str>, Arc<str>) = ("ann".into(), "ben".into());
        let root = Plane::root();
        let first = limits.enter(&ann, &root, Load::Read).unwrap();
        let _second = limits.enter(&ann, &root, Load::Read).unwrap();
        assert_eq!(limits.enter(&ann, &root, Load::Read).err().unwrap().code, 429);
        let _bens = limits.enter(&ben, &root, Load::Read).unwrap();
        assert_eq!(
            limits.enter(&ben, &root, Load::Read).err().unwrap().code,
            429,
            "all together have their limit too"
        );
        drop(first);
        assert!(limits.enter(&ann, &root, Load::Read).is_ok());
        let _watch = limits.enter(&ann, &root, Load::Watch).unwrap();
        assert_eq!(limits.enter(&ann, &root, Load::Watch).err().unwrap().code, 429);
        assert!(limits.enter(&ben, &root, Load::Watch).is_ok());
    }

    #[test]
    fn one_project_cannot_keep_the_others_from_watching() {
        let settings = Settings { watches_per_project: 2, ..Settings::default() };
        let limits = Limits::new(settings);
        let (web, shop, root) = (Plane::project("web"), Plane::project("shop"), Plane::root());
        let enter = |user: &str, plane| limits.enter(&user.into(), plane, Load::Watch);
        let first = enter("ann", &web).unwrap();
        let _second = enter("ben", &web).unwrap();
        let refused = enter("cat", &web).err().unwrap();
        assert_eq!(refused.code, 429);
        assert!(
            refused.message.contains("too many concurrent watches in this project: limit is 2"),
            "{refused}"
        );
        let _elsewhere = enter("cat", &shop).unwrap();
        let _root = enter("cat", &root).unwrap();
        drop(first);
        assert!(enter("cat", &web).is_ok());
    }
}
