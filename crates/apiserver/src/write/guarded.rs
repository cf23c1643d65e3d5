//! The store inside a transaction, as rules and references see it: every read guards the commit.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use krm::Object;
use krm::kind::{Address, Bucket, Project, Reader};
use krm::status::Status;
use store::{Entry, Key, Uid, View};

use crate::call::Call;
use crate::catalog::Kinds;
use crate::index;
use crate::keys;
use crate::plane::Plane;

/// Reads objects of one plane.
pub struct Guarded<'a> {
    view: &'a mut View,
    plane: Plane,
    /// Which life of the plane's project.
    project: Option<Uid>,
    /// What is in no bucket yet, as far as the reader is concerned.
    newcomer: Option<Key>,
    /// How objects of earlier versions are read; without it, as they are stored.
    kinds: Option<Arc<Kinds>>,
    /// What was shown to the reader.
    shown: Shown,
    /// Whether the change that is decided is an effect of another one.
    is_effect: bool,
    /// Who makes the change.
    writer: Option<Arc<str>>,
}

/// The keys of objects that were shown to the code of a kind, which may name them.
pub type Shown = Rc<RefCell<Vec<Key>>>;

impl<'a> Guarded<'a> {
    /// Reads this plane through the view.
    pub fn new(view: &'a mut View, plane: &Plane) -> Guarded<'a> {
        let shown = Shown::default();
        let plane = plane.clone();
        let (project, newcomer, kinds, writer) = (None, None, None, None);
        Guarded { view, plane, project, newcomer, kinds, shown, is_effect: false, writer }
    }

    /// Reads the plane of a call, for the rules of its kind.
    pub fn of(view: &'a mut View, call: &Call) -> Guarded<'a> {
        let kinds = Some(call.api.kinds().clone());
        let writer = Some(call.who.user.clone());
        let is_effect = call.depth > 0;
        Guarded { project: call.project, kinds, is_effect, writer, ..Guarded::new(view, &call.plane) }
    }

    /// The same for the rules of an object that is made: whether it is written already or not, it is in no bucket.
    pub fn making(self, key: Option<Key>) -> Guarded<'a> {
        Guarded { newcomer: key, ..self }
    }

    /// The keys of all objects that it shows from now on.
    pub fn shown(&self) -> Shown {
        self.shown.clone()
    }

    /// The view below.
    pub fn view(&mut self) -> &mut View {
        self.view
    }

    /// A stored object with what the store knows of it.
    pub fn entry(&mut self, key: &Key) -> Result<Option<(Arc<Entry>, Object)>, Status> {
        let Some(entry) = self.view.get(key) else { return Ok(None) };
        let object = self.open(key, &entry)?;
        Ok(Some((entry, object)))
    }

    /// Whether an object is marked as being deleted. It may change otherwise before the commit, but not be marked.
    pub fn is_going(&mut self, at: &Address) -> bool {
        let term = index::going(&self.plane, at);
        keys::object(&self.plane, at).is_ok_and(|key| self.view.is_in_bucket(&term, &key))
    }

    /// Those who refer to an object: the guarded bucket of its referrers.
    pub fn referrers(&mut self, target: &Address) -> Vec<(Key, Object)> {
        let members = self.view.bucket(&index::referring_to(&self.plane, target));
        let open = |(key, entry): (Key, Arc<Entry>)| Some((key.clone(), self.open(&key, &entry).ok()?));
        members.into_iter().filter_map(open).collect()
    }

    fn open(&self, key: &Key, entry: &Entry) -> Result<Object, Status> {
        let object = match entry.is_sealed() {
            false => crate::encode::read(entry.bytes())?,
            true => {
                let bytes =
                    self.view.reveal(key, entry).map_err(|error| crate::api::store_failure(&error))?;
                crate::encode::read(&bytes)?
            }
        };
        Ok(match &self.kinds {
            Some(kinds) => kinds.in_storage_version(key, object),
            None => object,
        })
    }

    /// A bucket that no kind declares is empty, and guards nothing: whoever reads it has made a mistake.
    fn term(&self, bucket: Bucket, value: &str) -> bytes::Bytes {
        debug_assert!(
            self.kinds.as_ref().is_none_or(|kinds| kinds.declares(bucket)),
            "no kind declares the bucket {bucket}"
        );
        index::in_bucket(&self.plane, bucket, value)
    }
}

impl Reader for Guarded<'_> {
    fn get(&mut self, at: &Address) -> Option<Arc<Object>> {
        let key = keys::object(&self.plane, at).ok()?;
        let (_, object) = self.entry(&key).ok()??;
        self.shown.borrow_mut().push(key);
        Some(Arc::new(object))
    }

    fn version(&mut self, at: &Address) -> Option<String> {
        let key = keys::object(&self.plane, at).ok()?;
        let entry = self.view.get(&key)?;
        self.shown.borrow_mut().push(key);
        Some(entry.version().to_string())
    }

    fn exists(&mut self, at: &Address) -> bool {
        keys::object(&self.plane, at).is_ok_and(|key| self.view.exists(&key))
    }

    fn bucket(&mut self, bucket: Bucket, value: &str) -> Vec<Arc<Object>> {
        let term = self.term(bucket, value);
        let members = self.view.bucket(&term);
        let others = members.into_iter().filter(|(key, _)| Some(key) != self.newcomer.as_ref());
        let mut shown = self.shown.borrow_mut();
        let open = |(key, entry): (Key, Arc<Entry>)| {
            let object = self.open(&key, &entry).ok()?;
            shown.push(key);
            Some(Arc::new(object))
        };
        others.filter_map(open).collect()
    }

    fn members(&mut self, bucket: Bucket, value: &str, after: Option<&Address>, most: usize) -> Vec<Address> {
        let term = self.term(bucket, value);
        let mut after = after.and_then(|after| keys::object(&self.plane, after).ok());
        let mut members = Vec::new();
        while members.len() < most {
            let page = self.view.having_after(&term, after.as_ref(), most - members.len());
            let Some(last) = page.last() else { break };
            after = Some(last.clone());
            let others = page.iter().filter(|key| Some(*key) != self.newcomer.as_ref());
            self.shown.borrow_mut().extend(page.iter().cloned());
            members.extend(others.filter_map(|key| keys::parts(key).map(|parts| parts.address())));
        }
        members
    }

    fn somewhere(&mut self, bucket: Bucket, value: &str, seed: u64) -> Option<Address> {
        let term = self.term(bucket, value);
        let key = self.view.somewhere(&term, seed)?;
        keys::parts(&key).map(|parts| parts.address())
    }

    fn peek(&mut self, at: &Address) -> Option<Arc<Object>> {
        let key = keys::object(&self.plane, at).ok()?;
        let entry = self.view.peek(&key)?;
        let object = self.open(&key, &entry).ok()?;
        self.shown.borrow_mut().push(key);
        Some(Arc::new(object))
    }

    fn peek_json(&mut self, at: &Address) -> Option<Vec<u8>> {
        let key = keys::object(&self.plane, at).ok()?;
        let entry = self.view.peek(&key)?;
        self.shown.borrow_mut().push(key.clone());
        self.view.reveal(&key, &entry).ok().map(|bytes| bytes.to_vec())
    }

    fn root(&mut self) -> Box<dyn Reader + '_> {
        let (newcomer, is_effect) = (self.newcomer.clone(), self.is_effect);
        let (kinds, shown) = (self.kinds.clone(), self.shown.clone());
        Box::new(Guarded {
            view: &mut *self.view,
            plane: Plane::root(),
            project: None,
            newcomer,
            kinds,
            shown,
            is_effect,
            writer: self.writer.clone(),
        })
    }

    fn project(&self) -> Option<Project> {
        let uid = super::uid_text(self.project?);
        Some(Project { name: self.plane.as_str().to_owned(), uid })
    }

    fn is_effect(&self) -> bool {
        self.is_effect
    }

    fn writer(&self) -> Option<&str> {
        self.writer.as_deref()
    }
}
