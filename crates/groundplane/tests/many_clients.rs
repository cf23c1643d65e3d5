//! Many clients at once over HTTPS, on one server and on two that share an etcd: nothing is lost, nothing is half done,
//! and everybody ends up seeing the same.
#![allow(clippy::unwrap_used, reason = "in a test a failed step is a failed test")]

#[path = "many_clients/dice.rs"]
mod dice;
#[path = "many_clients/follower.rs"]
mod follower;
#[path = "many_clients/ground.rs"]
mod ground;

#[path = "many_clients/killed.rs"]
mod killed;
#[path = "many_clients/namespace.rs"]
mod namespace;
#[path = "many_clients/one_collection.rs"]
mod one_collection;
#[path = "many_clients/one_object.rs"]
mod one_object;
#[path = "many_clients/rules.rs"]
mod rules;

/// How many there are.
const CLIENTS: usize = 64;

/// Each story on each ground.
macro_rules! on_each_ground {
    ($($story:ident in $place:ident),* $(,)?) => {
        mod one_server {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $story() {
                crate::$place::$story(&crate::ground::Ground::embedded()).await;
            })*
        }
        mod two_servers_on_etcd {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $story() {
                if let Some(ground) = crate::ground::Ground::etcd() {
                    crate::$place::$story(&ground).await;
                }
            })*
        }
    };
}

on_each_ground! {
    no_increment_by_update_is_lost in one_object,
    no_increment_by_patch_is_lost in one_object,
    reads_and_writes_have_one_order in one_object,
    one_of_many_creators_wins in one_collection,
    every_watcher_ends_up_with_the_list in one_collection,
    nothing_is_left_in_a_namespace_that_went in namespace,
    no_rule_is_ever_broken in rules,
}
