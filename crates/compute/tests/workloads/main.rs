//! Workloads through the API: admission, deployments, instances, rollouts, quota and access, with the controllers and an agent
//! on a simulated runtime.
#![allow(clippy::unwrap_used, reason = "in a test a failed step is a failed test")]

#[path = "../../../apiserver/tests/shelves/objects.rs"]
#[allow(dead_code, reason = "these tests don't do everything that the others do")]
mod objects;
#[path = "../../../apiserver/tests/shelves/server.rs"]
#[allow(dead_code, reason = "these tests don't do everything that the others do")]
mod server;

mod access;
mod admission;
mod cases;
mod data;
mod deployed;
mod history;
mod place;
mod quota_of_ordinals;
mod rolled;

/// The kinds that the servers of these tests serve.
mod served {
    use krm::kind::Kind;

    pub fn all() -> Vec<Kind> {
        let groups = [compute::all(), networking::all(), quota::all(), services::all()];
        groups.into_iter().flatten().collect()
    }
}
