//! Chooses hosts for a node set: which fit, what rules out the others, and how they are spread.

mod considered;
mod fit;
mod spread;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use krm::kind::{QueryContext, Resource};

pub use considered::considered;
pub use fit::{Unfit, unfit};
pub use spread::{choose, hash};

use crate::kinds::cluster_template::SpreadOver;
use crate::kinds::host::FREE;
use crate::kinds::{Host, HostClaim, HostClass};

/// Hosts that are looked at beyond those that are needed, so that there is a choice of racks and feeds.
const CHOICE: usize = 4;
/// The least number of hosts that are looked at, if there are as many.
const LEAST: usize = 64;

/// Hosts that are wanted.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    /// Name of the HostClass.
    pub class: String,
    /// How many.
    pub count: usize,
    /// Labels that they must have.
    pub selector: BTreeMap<String, String>,
    /// What they are spread over.
    pub spread: Vec<SpreadOver>,
}

/// Why there are not enough hosts: how many were looked at, and how many each reason ruled out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Shortage {
    /// Class of the hosts.
    pub class: String,
    /// How many were wanted.
    pub wanted: usize,
    /// How many fit.
    pub fitting: usize,
    /// How many did not, by reason.
    pub ruled_out: BTreeMap<&'static str, usize>,
}

impl std::fmt::Display for Shortage {
    /// Names no host: tenants read it.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Shortage { class, wanted, fitting, ruled_out } = self;
        write!(f, "needs {wanted} more hosts of class {class}, and {fitting} free ones fit")?;
        if !ruled_out.is_empty() {
            let all: Vec<String> = ruled_out.iter().map(|(why, number)| format!("{number} {why}")).collect();
            write!(f, " (of the others: {})", all.join(", "))?;
        }
        Ok(())
    }
}

/// Chooses free hosts, beside those that the node set has and those that are taken otherwise. `seed` tells clusters apart that
/// choose at the same time, so that they look at different hosts first.
pub fn select(
    world: &dyn QueryContext,
    wanted: &Wanted,
    has: &[Arc<Host>],
    taken: &BTreeSet<String>,
    seed: &str,
) -> Result<Vec<Arc<Host>>, Shortage> {
    let class = world.find::<HostClass>(&wanted.class);
    let mut places = world.places(FREE, &wanted.class);
    if !places.is_empty() {
        let start = hash(seed) % places.len();
        places.rotate_left(start);
    }
    let mut shortage = Shortage { class: wanted.class.clone(), wanted: wanted.count, ..Shortage::default() };
    let mut fitting: Vec<Arc<Host>> = Vec::new();
    let enough = (wanted.count * CHOICE).max(LEAST);
    for at in places.iter().filter(|at| at.plural == Host::PLURAL && !taken.contains(&at.name)) {
        let Some(host) = world.find::<Host>(&at.name) else { continue };
        let claim = world.find::<HostClaim>(&at.name);
        match unfit(&host, claim.as_deref(), class.as_deref(), &wanted.selector) {
            None => fitting.push(host),
            Some(why) => *shortage.ruled_out.entry(why.group()).or_default() += 1,
        }
        if fitting.len() >= enough {
            break;
        }
    }
    shortage.fitting = fitting.len();
    if fitting.len() < wanted.count {
        return Err(shortage);
    }
    Ok(choose(fitting, has, wanted.count, &wanted.spread))
}
