//! Workloads through the API: admission, deployments, instances, rollouts, quota and access, with the controllers and an agent
//! on a simulated runtime.
//!
//! Mistakes that other implementations have made, and where it is shown that this one does not:
//!
//! | mistake | test |
//! | --- | --- |
//! | a history without changes, actor and scaling | `history::every_change_is_a_revision_and_an_undo_is_another` |
//! | a bad image locks a rollout | `rolled::a_bad_image_stops_at_one_instance_and_a_good_one_or_an_undo_repairs_it` |
//! | a restart of a city is lost or doubled | `rolled::a_restart_of_one_city_restarts_that_city_once` |
//! | blocked rollouts are not noticed, placements of one city are mixed up | `shown::tests`, `deployed::two_placements_in_one_city_and_selected_locations_behave` |
//! | denied quota is denied for ever, without numbers | `quota_of_ordinals::three_of_four_ordinals_run_and_the_fourth_follows_when_more_is_granted` |
//! | the documented instance type is refused | `deployed::a_workload_in_two_cities_has_instances_with_names_and_labels` |
//! | instances are found by a uid that differs between planes | the same |
//! | "starting" hides an image that can't be pulled | `cases::their_states_read_as_they_are_meant`, `deployed::every_failure_is_told_with_its_cause` |
//! | cities without a location are skipped, updates are not checked | `admission::everything_that_is_wrong_is_told_by_its_field` |
//! | controllers replace each other's labels for ever | `deployed::controllers_leave_what_others_write_and_come_to_rest` |
//! | a deploy drops what it does not name, files have server fields | `compute::commands` of the binary |
//! | a request for access fails when it is made twice | `compute::enabled` of the binary |
//! | a workload is destroyed without a terminal and without `--yes` | `compute::commands` of the binary |
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
