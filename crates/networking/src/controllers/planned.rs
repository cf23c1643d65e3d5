//! The view of the allocator in a plan: its reads are recorded instead of guarding a commit.

use std::sync::Arc;

use krm::Object;
use krm::kind::{Address, Bucket, Project, QueryContext, Reader};
use reconcile::context::Context;

/// Reads a plane through the context of a plan, so that whatever decided that there is no room queues the claim again.
pub struct Planned<'a> {
    context: &'a Context<'a>,
    plane: String,
}

impl<'a> Planned<'a> {
    /// Reads the plane of the planned object.
    pub fn new(context: &'a Context<'a>) -> Planned<'a> {
        Planned { context, plane: context.plane().to_owned() }
    }
}

impl Reader for Planned<'_> {
    fn get(&mut self, at: &Address) -> Option<Arc<Object>> {
        self.context.look(&self.plane).get(at)
    }

    fn exists(&mut self, at: &Address) -> bool {
        self.get(at).is_some()
    }

    fn bucket(&mut self, bucket: Bucket, value: &str) -> Vec<Arc<Object>> {
        self.context.look(&self.plane).bucket(bucket, value)
    }

    fn members(&mut self, bucket: Bucket, value: &str, after: Option<&Address>, most: usize) -> Vec<Address> {
        let mut places = self.context.look(&self.plane).places(bucket, value);
        places.retain(|at| after.is_none_or(|after| at > after));
        places.truncate(most);
        places
    }

    fn somewhere(&mut self, bucket: Bucket, value: &str, seed: u64) -> Option<Address> {
        let places = self.context.look(&self.plane).places(bucket, value);
        let at = seed.checked_rem(places.len() as u64)?;
        places.into_iter().nth(at as usize)
    }

    fn peek(&mut self, at: &Address) -> Option<Arc<Object>> {
        self.get(at)
    }

    fn root(&mut self) -> Box<dyn Reader + '_> {
        Box::new(Planned { context: self.context, plane: String::new() })
    }

    fn project(&self) -> Option<Project> {
        None
    }
}
