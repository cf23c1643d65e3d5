//! What a plan sees: the world at one moment, and a note of everything that was read.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::Arc;

use krm::Object;
use krm::kind::{Address, Bucket, Kind, Parsed, Parser, QueryContext, Reference, Resolution};
use krm::status::Status;
use krm::time::Moment;
use serde_json::Value;

use crate::line::Line;
use crate::operation::Operations;
use crate::read::Read;
use crate::target::Target;

/// The kinds that a plane serves.
pub trait Kinds {
    /// A kind by its group and its name, such as `Rack`.
    fn kind(&self, group: &str, kind: &str) -> Option<Arc<Kind>>;
    /// A kind by its group and its resource, such as `racks`.
    fn resource(&self, group: &str, plural: &str) -> Option<Arc<Kind>>;
    /// All of them, by group and resource.
    fn all(&self) -> Vec<Arc<Kind>>;
}

/// All planes at one moment, as a host shows them.
pub trait World {
    /// The objects of a plane.
    fn look(&self, plane: &str) -> Box<dyn QueryContext + '_>;
    /// The kinds that a plane serves.
    fn kinds(&self, plane: &str) -> Box<dyn Kinds + '_>;
    /// The metadata of an object.
    fn metadata(&self, target: &Target) -> Option<Object>;
    /// Whether an object is stored in another version of its kind than the one that is stored today.
    fn is_outdated(&self, _target: &Target) -> bool {
        false
    }
    /// Whether all objects are of one moment. Where each resource is followed by itself, a change may be shown before another
    /// of the same commit.
    fn is_of_one_moment(&self) -> bool {
        false
    }
    /// Whether an object exists with this uid and is not being deleted.
    fn lives(&self, target: &Target, uid: &str) -> bool {
        self.metadata(target).is_some_and(|found| found.uid() == uid && !found.is_deleting())
    }
    /// When an object was created, in microseconds since 1970.
    fn born(&self, target: &Target) -> Option<u64>;
    /// The objects that an object owns.
    fn owned(&self, plane: &str, uid: &str) -> Vec<Target>;
    /// The objects of a kind, in order.
    fn of_kind(&self, plane: &str, group: &str, plural: &str) -> Vec<Target>;
    /// Everything in a namespace, in order.
    fn in_namespace(&self, plane: &str, namespace: &str) -> Vec<Target>;
    /// Everything in a plane, in order.
    fn in_plane(&self, plane: &str) -> Vec<Target>;
    /// How many small writes one commit of a plan may have, whatever else it has. What is more than that is planned in parts.
    fn most_writes(&self) -> usize {
        20
    }
    /// Whether anything is in a bucket.
    fn has_any(&self, plane: &str, bucket: Bucket, value: &str) -> bool {
        !self.look(plane).places(bucket, value).is_empty()
    }
}

/// Whether it is an object's turn in a line.
pub type Turn<'a> = &'a dyn Fn(&Line) -> bool;

/// A write of the last attempt that was refused.
#[derive(Debug, Clone)]
pub struct Refused {
    /// What was to be written.
    pub target: Target,
    /// Why it was refused.
    pub status: Status,
}

/// What a plan may read. All of it is recorded: when any of it changes, the object is planned again.
pub struct Context<'a> {
    world: &'a dyn World,
    plane: &'a str,
    now: Moment,
    refused: &'a [Refused],
    operations: Operations,
    turn: Option<Turn<'a>>,
    reads: RefCell<BTreeSet<Read>>,
}

impl<'a> Context<'a> {
    /// A context for the plan of an object of a plane.
    pub fn new(world: &'a dyn World, plane: &'a str, now: Moment) -> Context<'a> {
        Context {
            world,
            plane,
            now,
            refused: &[],
            operations: Operations::default(),
            turn: None,
            reads: RefCell::default(),
        }
    }

    /// The same after independent writes of the last plan were refused.
    pub fn after(self, refused: &'a [Refused]) -> Context<'a> {
        Context { refused, ..self }
    }

    /// The same with external actions of earlier plans.
    pub fn with_operations(self, operations: Operations) -> Context<'a> {
        Context { operations, ..self }
    }

    /// The same with the lines that objects wait in.
    pub fn with_turn(self, turn: Turn<'a>) -> Context<'a> {
        Context { turn: Some(turn), ..self }
    }

    /// Whether something is there in the bucket of a line, and everybody who came before has been asked. If not, the
    /// object waits with [`Plan::in_line`](crate::plan::Plan::in_line): it is planned again when it is called.
    pub fn may_take(&self, line: &Line) -> bool {
        self.world.has_any(&line.plane, line.bucket, &line.value) && self.turn.is_none_or(|turn| turn(line))
    }

    /// The result of an external action of an earlier plan, once it is done.
    pub fn result(&self, action: &str) -> Option<&Value> {
        self.operations.get(action)?.result.as_ref()
    }

    /// Where an external action of an earlier plan goes on, as its last attempt said.
    pub fn handle(&self, action: &str) -> Option<&Value> {
        self.operations.get(action)?.handle.as_ref()
    }

    /// All planes. What is read of it directly is not recorded.
    pub fn world(&self) -> &dyn World {
        self.world
    }

    /// The plane of the object.
    pub fn plane(&self) -> &str {
        self.plane
    }

    /// The time of the plan.
    pub fn now(&self) -> Moment {
        self.now
    }

    /// Independent writes of the last plan that were refused.
    pub fn refused(&self) -> &[Refused] {
        self.refused
    }

    /// The objects of the object's own plane.
    pub fn here(&self) -> Recorded<'_> {
        self.look(self.plane)
    }

    /// The objects of the root plane.
    pub fn root(&self) -> Recorded<'_> {
        self.look("")
    }

    /// The objects of a plane.
    pub fn look(&self, plane: &str) -> Recorded<'_> {
        Recorded { inner: self.world.look(plane), plane: plane.to_owned(), reads: &self.reads }
    }

    /// An object of any plane.
    pub fn get(&self, target: &Target) -> Option<Arc<Object>> {
        self.look(&target.plane).get(&target.at)
    }

    /// The metadata of an object.
    pub fn metadata(&self, target: &Target) -> Option<Object> {
        self.record(Read::object(&target.plane, &target.at));
        self.world.metadata(target)
    }

    /// The metadata of an object that was listed: what is recorded of the list covers it.
    pub fn listed(&self, target: &Target) -> Option<Object> {
        self.world.metadata(target)
    }

    /// Whether the object of the plan is stored in another version of its kind than the one that is stored today.
    pub fn is_outdated(&self, target: &Target) -> bool {
        self.world.is_outdated(target)
    }

    /// The objects of the plane that an object owns.
    pub fn owned(&self, uid: &str) -> Vec<Target> {
        self.record(Read::owned(self.plane, uid));
        self.world.owned(self.plane, uid)
    }

    /// The objects of a kind in the plane.
    pub fn of_kind(&self, group: &str, plural: &str) -> Vec<Target> {
        self.record(Read::kind(self.plane, group, plural));
        self.world.of_kind(self.plane, group, plural)
    }

    /// Everything in a namespace of the plane.
    pub fn in_namespace(&self, namespace: &str) -> Vec<Target> {
        self.record(Read::namespace(self.plane, namespace));
        self.world.in_namespace(self.plane, namespace)
    }

    /// Everything in a plane.
    pub fn in_plane(&self, plane: &str) -> Vec<Target> {
        self.record(Read::plane(plane));
        self.world.in_plane(plane)
    }

    /// A kind of the plane by its group and name. Only its absence is recorded.
    pub fn kind(&self, group: &str, kind: &str) -> Option<Arc<Kind>> {
        let found = self.world.kinds(self.plane).kind(group, kind);
        if found.is_none() {
            self.record(Read::served(self.plane, group, kind));
        }
        found
    }

    /// A kind of a plane by its group and resource.
    pub fn resource(&self, plane: &str, group: &str, plural: &str) -> Option<Arc<Kind>> {
        self.world.kinds(plane).resource(group, plural)
    }

    /// `Ready` of an object and its reasons, as its declared references have it. For an object of a kind that is not served,
    /// nothing.
    pub fn resolve(&self, target: &Target, object: &Object) -> Option<Resolution> {
        let kind = self.resource(&target.plane, &target.at.group, &target.at.plural)?;
        let kind_of = |reference: &Reference| {
            let plane = if reference.in_root { "" } else { &*target.plane };
            let found =
                || Some(self.resource(plane, &reference.group, &reference.plural)?.names.kind.clone());
            reference.kind.map(str::to_owned).or_else(found).unwrap_or_else(|| reference.plural.clone())
        };
        Some(Resolution::of(&kind, object, &self.look(&target.plane), &self.root(), &kind_of))
    }

    /// The kinds of the plane.
    pub fn kinds(&self) -> Vec<Arc<Kind>> {
        self.world.kinds(self.plane).all()
    }

    fn record(&self, read: Read) {
        self.reads.borrow_mut().insert(read);
    }

    /// Everything that was read.
    pub fn into_reads(self) -> BTreeSet<Read> {
        self.reads.into_inner()
    }
}

/// The objects of a plane; what is read is recorded.
pub struct Recorded<'a> {
    inner: Box<dyn QueryContext + 'a>,
    plane: String,
    reads: &'a RefCell<BTreeSet<Read>>,
}

impl Recorded<'_> {
    fn record(&self, read: Read) {
        self.reads.borrow_mut().insert(read);
    }
}

impl QueryContext for Recorded<'_> {
    fn get(&self, at: &Address) -> Option<Arc<Object>> {
        self.record(Read::object(&self.plane, at));
        self.inner.get(at)
    }

    fn bucket(&self, bucket: Bucket, value: &str) -> Vec<Arc<Object>> {
        self.record(Read::bucket(&self.plane, bucket, value));
        self.inner.bucket(bucket, value)
    }

    fn having(&self, group: &str, plural: &str, field: &str, value: &str) -> Vec<Arc<Object>> {
        self.record(Read::field(&self.plane, group, plural, field, value));
        self.inner.having(group, plural, field, value)
    }

    fn names_having(&self, group: &str, plural: &str, field: &str, value: &str) -> Vec<String> {
        self.record(Read::field(&self.plane, group, plural, field, value));
        self.inner.names_having(group, plural, field, value)
    }

    fn count_having(&self, group: &str, plural: &str, field: &str, value: &str) -> usize {
        self.record(Read::field(&self.plane, group, plural, field, value));
        self.inner.count_having(group, plural, field, value)
    }

    fn labelled(&self, group: &str, plural: &str, label: &str, value: &str) -> Vec<Arc<Object>> {
        self.record(Read::label(&self.plane, group, plural, label, value));
        self.inner.labelled(group, plural, label, value)
    }

    fn referrers(&self, to: &Address) -> Vec<Arc<Object>> {
        self.record(Read::referrers(&self.plane, to));
        self.inner.referrers(to)
    }

    fn all(&self, group: &str, plural: &str) -> Vec<Arc<Object>> {
        self.record(Read::kind(&self.plane, group, plural));
        self.inner.all(group, plural)
    }

    fn all_in(&self, group: &str, plural: &str, namespace: &str) -> Vec<Arc<Object>> {
        self.record(Read::kind_in(&self.plane, group, plural, namespace));
        self.inner.all_in(group, plural, namespace)
    }

    fn count(&self, group: &str, plural: &str) -> usize {
        self.record(Read::kind(&self.plane, group, plural));
        self.inner.count(group, plural)
    }

    fn names(&self, group: &str, plural: &str) -> Vec<String> {
        self.record(Read::kind(&self.plane, group, plural));
        self.inner.names(group, plural)
    }

    fn version(&self, at: &Address) -> Option<u64> {
        self.record(Read::object(&self.plane, at));
        self.inner.version(at)
    }

    fn bucket_version(&self, bucket: Bucket, value: &str) -> u64 {
        self.record(Read::bucket(&self.plane, bucket, value));
        self.inner.bucket_version(bucket, value)
    }

    fn places(&self, bucket: Bucket, value: &str) -> Vec<Address> {
        self.record(Read::bucket(&self.plane, bucket, value));
        self.inner.places(bucket, value)
    }

    fn versions_in(&self, group: &str, plural: &str, namespace: &str) -> Vec<(String, u64)> {
        self.record(Read::kind_in(&self.plane, group, plural, namespace));
        self.inner.versions_in(group, plural, namespace)
    }

    fn recall(&self, key: &str) -> Option<Parsed> {
        self.inner.recall(key)
    }

    fn keep(&self, key: &str, value: Parsed) {
        self.inner.keep(key, value);
    }

    fn is_incomplete(&self) -> bool {
        self.inner.is_incomplete()
    }

    fn parsed(&self, name: &str, parser: Parser) -> Option<Parsed> {
        self.record(Read::object(&self.plane, &parser.address(name)));
        self.inner.parsed(name, parser)
    }

    fn bucket_parsed(&self, bucket: Bucket, value: &str, parser: Parser) -> Vec<Parsed> {
        self.record(Read::bucket(&self.plane, bucket, value));
        self.inner.bucket_parsed(bucket, value, parser)
    }
}
