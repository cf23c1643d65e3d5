//! Typed and dynamic objects through the everyday verbs.

use k8s_openapi::api::authorization::v1::{
    ResourceAttributes, SelfSubjectAccessReview, SelfSubjectAccessReviewSpec,
};
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::{ConfigMap, Namespace, Secret, ServiceAccount};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;
use k8s_openapi::jiff::Timestamp;
use kube::api::{
    Api, ApiResource, DeleteParams, DynamicObject, GroupVersionKind, ListParams, Patch, PatchParams,
    PostParams,
};
use kube::core::{ObjectMeta, PartialObjectMetaExt};
use kube::discovery::{Discovery, Scope, verbs};
use kube::{Error, ResourceExt};
use serde_json::json;

use crate::kettle::{self, Kettle, KettleSpec};

fn config_map(name: &str, data: serde_json::Value) -> ConfigMap {
    serde_json::from_value(json!({"metadata": {"name": name}, "data": data})).unwrap()
}

#[tokio::test]
async fn objects_are_made_read_changed_and_removed() {
    let Some((_server, client)) = crate::start().await else { return };
    let maps: Api<ConfigMap> = Api::default_namespaced(client.clone());
    let made =
        maps.create(&PostParams::default(), &config_map("menu", json!({"soup": "leek"}))).await.unwrap();
    assert!(made.uid().is_some() && made.creation_timestamp().is_some());
    let clash = maps.create(&PostParams::default(), &config_map("menu", json!({}))).await.unwrap_err();
    assert!(matches!(&clash, Error::Api(status) if status.is_already_exists()), "{clash}");

    let mut mine = made.clone();
    mine.data.get_or_insert_default().insert("main".to_owned(), "pie".to_owned());
    maps.replace("menu", &PostParams::default(), &mine).await.unwrap();
    let late = maps.replace("menu", &PostParams::default(), &mine).await.unwrap_err();
    assert!(matches!(&late, Error::Api(status) if status.is_conflict()), "{late}");
    let merge = Patch::Merge(json!({"data": {"soup": null}, "metadata": {"labels": {"day": "monday"}}}));
    let patched = maps.patch("menu", &PatchParams::default(), &merge).await.unwrap();
    assert_eq!(patched.data.unwrap().into_keys().collect::<Vec<_>>(), ["main"]);
    let listed = maps.list(&ListParams::default().labels("day=monday").limit(5)).await.unwrap();
    assert_eq!(listed.items.len(), 1);
    let heads = maps.list_metadata(&ListParams::default()).await.unwrap();
    assert_eq!(heads.items[0].name_any(), "menu");
    assert!(maps.get_opt("absent").await.unwrap().is_none());
    let mut entry = maps.entry("menu").await.unwrap().or_insert(ConfigMap::default);
    entry.get_mut().data.get_or_insert_default().insert("sweet".to_owned(), "plum".to_owned());
    entry.commit(&PostParams::default()).await.unwrap();
    let gone = maps.delete("menu", &DeleteParams::background()).await.unwrap();
    assert!(gone.is_right(), "{gone:?}");
    maps.delete_collection(&DeleteParams::default(), &ListParams::default()).await.unwrap();

    let secrets: Api<Secret> = Api::default_namespaced(client.clone());
    let secret: Secret =
        serde_json::from_value(json!({"metadata": {"generateName": "till-"}, "stringData": {"pin": "1234"}}))
            .unwrap();
    let secret = secrets.create(&PostParams::default(), &secret).await.unwrap();
    assert_eq!(secret.data.unwrap()["pin"].0, b"1234");
    let namespaces: Api<Namespace> = Api::all(client);
    let dry = PostParams { dry_run: true, ..PostParams::default() };
    let namespace: Namespace = serde_json::from_value(json!({"metadata": {"name": "dry"}})).unwrap();
    namespaces.create(&dry, &namespace).await.unwrap();
    assert!(namespaces.get_opt("dry").await.unwrap().is_none());
}

#[tokio::test]
async fn apply_tells_whose_a_field_is() {
    let Some((_server, client)) = crate::start().await else { return };
    let maps: Api<ConfigMap> = Api::default_namespaced(client);
    let apply = |by: &str| PatchParams::apply(by);
    let map = |soup: &str| json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "menu"}, "data": {"soup": soup}});
    maps.patch("menu", &apply("cook"), &Patch::Apply(map("leek"))).await.unwrap();
    let conflict = maps.patch("menu", &apply("waiter"), &Patch::Apply(map("pea"))).await.unwrap_err();
    let Error::Api(status) = conflict else { panic!("{conflict}") };
    assert_eq!((status.code, status.reason.as_str()), (409, "Conflict"));
    let causes = status.details.unwrap().causes;
    assert_eq!((causes[0].reason.as_str(), causes[0].field.as_str()), ("FieldManagerConflict", ".data.soup"));
    let taken = maps.patch("menu", &apply("waiter").force(), &Patch::Apply(map("pea"))).await.unwrap();
    assert_eq!(taken.data.as_ref().unwrap()["soup"], "pea");
    let labels = Some([("table".to_owned(), "7".to_owned())].into());
    let head = ObjectMeta { labels, ..ObjectMeta::default() }.into_request_partial::<ConfigMap>();
    let labelled = maps.patch_metadata("menu", &apply("waiter").force(), &Patch::Apply(&head)).await.unwrap();
    assert_eq!(labelled.labels()["table"], "7");
}

#[tokio::test]
async fn kinds_of_ones_own_have_status_and_limits() {
    let Some((_server, client)) = crate::start().await else { return };
    kettle::define(&client).await;
    let kettles: Api<Kettle> = Api::default_namespaced(client.clone());
    let kettle = Kettle::new("copper", KettleSpec { litres: 2, degrees: Some(99.5) });
    let made = kettles.create(&PostParams::default(), &kettle).await.unwrap();
    assert_eq!((made.spec.degrees, made.metadata.generation), (Some(99.5), Some(1)));
    let status = Patch::Merge(json!({"status": {"boils": true}}));
    let boiling = kettles.patch_status("copper", &PatchParams::default(), &status).await.unwrap();
    assert!(boiling.status.unwrap().boils);
    let vat = Kettle::new("vat", KettleSpec { litres: 61, degrees: None });
    let refused = kettles.create(&PostParams::default(), &vat).await.unwrap_err();
    let Error::Api(status) = refused else { panic!("{refused}") };
    assert_eq!(status.details.unwrap().causes[0].field, "spec.litres");

    let kind = GroupVersionKind::gvk("kitchen.example.com", "v1", "Kettle");
    let dynamic: Api<DynamicObject> =
        Api::default_namespaced_with(client.clone(), &ApiResource::from_gvk_with_plural(&kind, "kettles"));
    assert_eq!(dynamic.get("copper").await.unwrap().data["spec"]["litres"], 2);
    for discovery in [
        Discovery::new(client.clone()).run().await.unwrap(),
        Discovery::new(client).run_aggregated().await.unwrap(),
    ] {
        let (resource, capabilities) = discovery.resolve_gvk(&kind).unwrap();
        assert_eq!((resource.plural.as_str(), &capabilities.scope), ("kettles", &Scope::Namespaced));
        assert!(capabilities.supports_operation(verbs::DELETE_COLLECTION));
    }
}

#[tokio::test]
async fn leases_tokens_and_rights_are_asked_for() {
    let Some((_server, client)) = crate::start().await else { return };
    let leases: Api<Lease> = Api::default_namespaced(client.clone());
    let now = MicroTime(Timestamp::from_microsecond(Timestamp::now().as_microsecond()).unwrap());
    let mut lease: Lease = serde_json::from_value(
        json!({"metadata": {"name": "oven"}, "spec": {"holderIdentity": "a", "leaseDurationSeconds": 5}}),
    )
    .unwrap();
    lease.spec.as_mut().unwrap().renew_time = Some(now.clone());
    let held = leases.create(&PostParams::default(), &lease).await.unwrap();
    assert_eq!(held.spec.as_ref().unwrap().renew_time, Some(now));
    let mut stolen = held.clone();
    stolen.spec.as_mut().unwrap().holder_identity = Some("b".to_owned());
    let mut renewed = held;
    renewed.spec.as_mut().unwrap().lease_transitions = Some(1);
    leases.replace("oven", &PostParams::default(), &renewed).await.unwrap();
    assert!(leases.replace("oven", &PostParams::default(), &stolen).await.is_err(), "one holder at a time");

    let accounts: Api<ServiceAccount> = Api::default_namespaced(client.clone());
    let account: ServiceAccount = serde_json::from_value(json!({"metadata": {"name": "robot"}})).unwrap();
    accounts.create(&PostParams::default(), &account).await.unwrap();
    let request = serde_json::from_value(json!({"spec": {"audiences": []}})).unwrap();
    let token = accounts.create_token_request("robot", &PostParams::default(), &request).await.unwrap();
    assert_eq!(token.status.unwrap().token.unwrap().split('.').count(), 3);
    let reviews: Api<SelfSubjectAccessReview> = Api::all(client);
    let attributes = ResourceAttributes {
        verb: Some("list".into()),
        resource: Some("secrets".into()),
        ..Default::default()
    };
    let spec = SelfSubjectAccessReviewSpec { resource_attributes: Some(attributes), ..Default::default() };
    let review = SelfSubjectAccessReview { spec, ..Default::default() };
    let review = reviews.create(&PostParams::default(), &review).await.unwrap();
    assert!(review.status.unwrap().allowed);
}
