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
mod scaled;

/// The kinds that the servers of these tests serve.
mod served {
    use apiserver::plane::PlaneKind;
    use krm::kind::Kind;

    /// What services refer to; the control planes of these servers are those of tenants.
    const PROJECTS: PlaneKind = PlaneKind {
        group: "resourcemanager.miloapis.com",
        version: "v1alpha1",
        kind: "Project",
        plural: "projects",
        context: ["a/group", "a/kind", "a/name"],
    };

    pub fn all() -> Vec<Kind> {
        let groups =
            [compute::all(), networking::all(), quota::all(), services::all(), vec![PROJECTS.plain_kind()]];
        groups.into_iter().flatten().collect()
    }
}
