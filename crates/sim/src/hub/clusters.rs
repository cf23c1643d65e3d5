//! HyperShift: control planes come up, follow their release, and go; pools count their nodes.

use krm::Object;
use serde_json::{Value, json};

use super::Fault;
use super::world::{World, condition, now, text};

const HOSTED: (&str, &str) = ("hypershift.openshift.io/v1beta1", "hostedclusters");
const POOLS: (&str, &str) = ("hypershift.openshift.io/v1beta1", "nodepools");
const SECRETS: (&str, &str) = ("v1", "secrets");
const FINALIZER: &str = "hypershift.openshift.io/finalizer";

/// Moves every cluster and pool on whose time has come.
pub async fn step(world: &mut World) {
    for pool in world.all(POOLS.1) {
        self::pool(world, &pool).await;
    }
    for hosted in world.all(HOSTED.1) {
        self::hosted(world, &hosted).await;
    }
}

fn bound(world: &World, pool: &str) -> Vec<Object> {
    let agents = world.all("agents").into_iter();
    agents.filter(|agent| agent.annotation("sim/pool") == Some(pool)).collect()
}

async fn pool(world: &mut World, pool: &Object) {
    let bound = bound(world, pool.name());
    if pool.is_deleting() {
        if bound.is_empty() && !world.has(&Fault::StuckFinalizers) && pool.finalizers().contains(&FINALIZER) {
            world.let_go(POOLS, pool, FINALIZER).await;
        }
        return;
    }
    if !pool.finalizers().contains(&FINALIZER) {
        return world.hold(POOLS, pool, FINALIZER).await;
    }
    let installed = bound.iter().filter(|agent| text(agent, "status.debugInfo.state") == "installed").count();
    let image = text(pool, "spec.release.image").to_owned();
    let running = text(pool, "status.version").to_owned();
    let is_updating = !running.is_empty() && running != version_of(&image);
    if is_updating && !world.is_due(POOLS.1, pool.name(), &format!("to {image}")) {
        let said = krm::condition::find(pool, "UpdatingVersion").is_some_and(|it| it["status"] == "True");
        if !said {
            let conditions = json!([condition("UpdatingVersion", true, "AsExpected")]);
            world.patch_status(POOLS, pool.name(), json!({ "conditions": conditions })).await;
        }
        return;
    }
    let number = pool.at("status.replicas").and_then(Value::as_u64);
    let has = u64::try_from(installed).ok();
    if number != has || is_updating || running.is_empty() {
        let conditions = json!([condition("UpdatingVersion", false, "AsExpected")]);
        let status = json!({"replicas": installed, "version": version_of(&image), "conditions": conditions});
        world.patch_status(POOLS, pool.name(), status).await;
    }
}

async fn hosted(world: &mut World, hosted: &Object) {
    let name = hosted.name().to_owned();
    let secrets = [format!("{name}-admin-kubeconfig"), format!("{name}-kubeadmin-password")];
    if hosted.is_deleting() {
        let has_pools = world.all(POOLS.1).iter().any(|pool| text(pool, "spec.clusterName") == name);
        let is_held = hosted.finalizers().contains(&FINALIZER);
        if is_held
            && !has_pools
            && !world.has(&Fault::StuckFinalizers)
            && world.is_due(HOSTED.1, &name, "deleting")
        {
            for secret in &secrets {
                world.delete(SECRETS, secret).await;
            }
            world.let_go(HOSTED, hosted, FINALIZER).await;
        }
        return;
    }
    if !hosted.finalizers().contains(&FINALIZER) {
        return world.hold(HOSTED, hosted, FINALIZER).await;
    }
    let image = text(hosted, "spec.release.image").to_owned();
    let newest = hosted.at("status.version.history").and_then(|history| history.get(0)).cloned();
    let is_running =
        newest.as_ref().is_some_and(|it| it["image"] == image.as_str() && it["state"] == "Completed");
    let is_available = krm::condition::find(hosted, "Available").is_some_and(|it| it["status"] == "True");
    if is_running && is_available || world.has(&Fault::NoControlPlanes) {
        return;
    }
    if !world.is_due(HOSTED.1, &name, &format!("to {image}")) {
        let is_begun = newest.as_ref().is_some_and(|it| it["image"] == image.as_str());
        if !is_begun {
            let version = version(&image, "Partial", hosted);
            world.patch_status(HOSTED, &name, json!({ "version": version })).await;
        }
        return;
    }
    if !is_available {
        hand_out(world, hosted, &secrets).await;
    }
    let service =
        hosted.at("spec.services").and_then(|services| services.get(0)).cloned().unwrap_or_default();
    let port = &service["servicePublishingStrategy"]["nodePort"];
    let conditions = json!([
        condition("Available", true, "AsExpected"),
        condition("Degraded", false, "AsExpected"),
        condition("ValidConfiguration", true, "AsExpected"),
    ]);
    let status = json!({
        "conditions": conditions,
        "controlPlaneEndpoint": {"host": port["address"], "port": port["port"]},
        "version": version(&image, "Completed", hosted),
        "kubeconfig": {"name": secrets[0]},
        "kubeadminPassword": {"name": secrets[1]},
    });
    world.patch_status(HOSTED, &name, status).await;
}

async fn hand_out(world: &mut World, hosted: &Object, [kubeconfig, password]: &[String; 2]) {
    let encoded = |text: &str| krm::base64::encode(text.as_bytes());
    let namespace = world.namespace.clone();
    let secret = |name: &str, key: &str, value: &str| {
        json!({
            "apiVersion": "v1", "kind": "Secret",
            "metadata": {"name": name, "namespace": namespace}, "data": {key: encoded(value)},
        })
    };
    let config = format!("apiVersion: v1\nkind: Config\ncurrent-context: {}\n", hosted.name());
    let first = secret(kubeconfig, "kubeconfig", &config);
    let second = secret(password, "password", &format!("password-of-{}", hosted.name()));
    world.create(SECRETS, first).await;
    world.create(SECRETS, second).await;
}

fn version(image: &str, state: &str, hosted: &Object) -> Value {
    let mut history = vec![json!({
        "image": image, "state": state, "startedTime": now(), "completionTime": now(), "verified": false,
        "version": version_of(image),
    })];
    let before = hosted.at("status.version.history").and_then(Value::as_array).cloned().unwrap_or_default();
    history.extend(before.into_iter().filter(|it| it["image"] != image));
    let generation = hosted.generation();
    json!({
        "desired": {"image": image, "version": version_of(image)},
        "history": history, "observedGeneration": generation, "availableUpdates": [],
    })
}

/// The version in the tag of an image.
fn version_of(image: &str) -> &str {
    image.rsplit_once(':').map_or(image, |(_, tag)| tag.split('-').next().unwrap_or(tag))
}
