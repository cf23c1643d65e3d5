//! Claims on hosts: two claimants never both hold one.

use serde_json::{Value, json};
use testbed::server::Client;
use tokio::task::JoinSet;

use super::objects::make;
use super::server::{Pair, Server, until};
use super::{host, object, of};

const CLAIMANTS: usize = 64;
const HOSTS: usize = 4;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sixty_four_claimants_never_hold_a_host_together_on_one_server() {
    let server = Server::embedded().await;
    one_holds_it(&[&server]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sixty_four_claimants_never_hold_a_host_together_on_two_servers_of_one_etcd() {
    let Some(pair) = Pair::on_etcd().await else { return };
    let [first, second] = &pair.servers;
    one_holds_it(&[first, second]).await;
}

/// All claim the same few hosts at once: the first time by creating the claim, the second time by taking a free one.
async fn one_holds_it(servers: &[&Server]) {
    let client = servers[0].client();
    for number in 0..HOSTS {
        make(&client, &of("hosts"), &host(&format!("h{number}"), &json!({}))).await;
    }
    for round in 1..=2_i64 {
        let mut claiming = JoinSet::new();
        for number in 0..CLAIMANTS {
            let client = servers[number % servers.len()].client();
            claiming.spawn(async move { claim(&client, &format!("h{}", number % HOSTS), number).await });
        }
        let won: Vec<(String, usize)> = claiming.join_all().await.into_iter().flatten().collect();
        assert_eq!(won.len(), HOSTS, "one claimant for each host: {won:?}");
        for (name, number) in won {
            let claim = read(&client, &name).await;
            assert_eq!(claim["spec"]["holder"]["name"], json!(format!("u{number}")));
            assert_eq!(claim["status"]["epoch"], json!(2 * round - 1), "{claim}");
            let freed = json!({"spec": {"holder": null}});
            let freed = client.merge(&format!("{}/{name}", of("hostclaims")), &freed).await.unwrap();
            assert_eq!((freed.code, &freed.json()["status"]["epoch"]), (200, &json!(2 * round)));
        }
    }
}

/// Claims a host by apply, which creates the claim if it is the first.
async fn claim(client: &Client, name: &str, number: usize) -> Option<(String, usize)> {
    let wanted = claim_of(name, Some(&format!("u{number}")));
    let path = format!("{}/{name}?fieldManager=m{number}&force=true", of("hostclaims"));
    let answer = client.apply(&path, &wanted).await.unwrap();
    match answer.code {
        200 | 201 => Some((name.to_owned(), number)),
        409 => {
            assert!(answer.text().contains("holds the host"), "{}", answer.text());
            None
        }
        code => panic!("{code}: {}", answer.text()),
    }
}

fn claim_of(name: &str, holder: Option<&str>) -> Value {
    let holder = holder.map(|name| json!({"kind": "User", "name": name}));
    object("HostClaim", name, &json!({"spec": {"hostRef": {"name": name}, "holder": holder}}))
}

async fn read(client: &Client, name: &str) -> Value {
    client.get(&format!("{}/{name}", of("hostclaims"))).await.unwrap().json()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_host_that_is_held_stays_and_one_that_is_driven_outside_is_not_powered_here() {
    let server = Server::embedded().await;
    let client = server.client();
    let (hosts, claims) = (of("hosts"), of("hostclaims"));
    make(&client, &hosts, &host("h1", &json!({}))).await;
    make(&client, &claims, &claim_of("h1", Some("alice"))).await;

    let power = |state: &str| json!({"spec": {"powerState": state}});
    let on = client.merge(&format!("{hosts}/h1"), &power("HOST_POWER_STATE_ON")).await.unwrap();
    assert_eq!(on.code, 200, "a claim alone keeps nobody from saying what is wanted: {}", on.text());
    let outside = json!({"spec": {"outsideDriver": "Metal3"}});
    let taken = client.merge(&format!("{claims}/h1"), &outside).await.unwrap();
    assert_eq!((taken.code, &taken.json()["status"]["epoch"]), (200, &json!(2)));
    let off = client.merge(&format!("{hosts}/h1"), &power("HOST_POWER_STATE_OFF")).await.unwrap();
    assert_eq!(off.code, 409);
    assert!(off.text().contains("Metal3 drives the BMC of the host"), "{}", off.text());
    let titled = client.merge(&format!("{hosts}/h1"), &json!({"spec": {"title": "one"}})).await.unwrap();
    assert_eq!(titled.code, 200, "anything else can be changed: {}", titled.text());

    let gone = client.delete(&format!("{hosts}/h1")).await.unwrap();
    assert_eq!(gone.code, 409);
    assert!(gone.text().contains("User/alice holds the host; release it first"), "{}", gone.text());
    let free = json!({"spec": {"holder": null, "outsideDriver": null}});
    assert_eq!(client.merge(&format!("{claims}/h1"), &free).await.unwrap().code, 200);
    assert_eq!(client.delete(&format!("{claims}/h1")).await.unwrap().code, 405, "epochs go on counting");
    assert_eq!(client.delete(&format!("{hosts}/h1")).await.unwrap().code, 200);
    assert_eq!(client.get(&format!("{claims}/h1")).await.unwrap().code, 404, "the claim goes with its host");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_host_is_released_when_its_holder_is_gone() {
    let server = Server::embedded().await;
    let client = server.client();
    let controller = std::sync::Arc::new(fulfillment::controllers::ClaimController);
    tokio::spawn(apiserver::controllers::host::run(controller, server.api.clone(), None));
    make(&client, &of("hosts"), &host("h1", &json!({}))).await;
    let maps = "/api/v1/namespaces/default/configmaps";
    let holder = make(&client, maps, &json!({"metadata": {"name": "task"}})).await;
    let mut claim = claim_of("h1", None);
    // Kinds of the core group have no group to look in: the kinds of holders have one.
    claim["spec"]["holder"] =
        json!({"kind": "Hub", "apiGroup": "fulfillment.groundplane.dev", "name": "hub", "uid": "u"});
    claim["spec"]["delegate"] =
        json!({"kind": "ConfigMap", "name": "task", "uid": holder["metadata"]["uid"]});
    make(&client, &of("hostclaims"), &claim).await;
    until("the claim is free", || async {
        let claim = read(&client, "h1").await;
        claim["spec"].get("holder").is_none() && claim["spec"].get("delegate").is_none()
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn logins_at_a_bmc_are_counted_for_all_who_try() {
    let server = Server::embedded().await;
    let client = server.client();
    let name = fulfillment::identity::name_of("192.0.2.21:443");
    let attempt = |second: u32, by: &str| {
        let time = format!("2026-01-01T00:00:{second:02}Z");
        json!({"id": format!("{second:016x}"), "time": time, "by": by})
    };
    let login = |attempts: Value| {
        let spec = json!({"spec": {"address": "192.0.2.21:443", "attempts": attempts}});
        object("BMCLogin", &name, &spec)
    };
    let path = of("bmclogins");
    make(&client, &path, &login(json!([attempt(1, "a"), attempt(2, "b")]))).await;
    let third = json!({"spec": {"attempts": [attempt(1, "a"), attempt(2, "b"), attempt(3, "c")]}});
    let refused = client.merge(&format!("{path}/{name}"), &third).await.unwrap();
    assert_eq!(refused.code, 409);
    assert!(refused.text().contains("try again at 2026-01-01T00:11:01Z"), "{}", refused.text());
}
