#!/usr/bin/env python3
"""The Python client through the everyday verbs. Each function is a story; the first that fails ends the run."""
import base64
import datetime
import json
import os
import sys
import threading
import time

from kubernetes import client, config, dynamic, utils, watch
from kubernetes.client.rest import ApiException
from kubernetes.leaderelection import electionconfig, leaderelection
from kubernetes.leaderelection.resourcelock.configmaplock import ConfigMapLock

GROUP, VERSION, PLURAL = "golden.example.com", "v1", "widgets"


def refused(code, reason, call, *args, **kwargs):
    """The call is refused with this code and reason; the status is given."""
    try:
        call(*args, **kwargs)
    except ApiException as error:
        status = json.loads(error.body)
        assert (error.status, status["reason"]) == (code, reason), error
        return status
    raise AssertionError("not refused: %s %s" % (call, args))


def until(what, condition, seconds=15):
    end = time.time() + seconds
    while not condition():
        assert time.time() < end, "still waiting until " + what
        time.sleep(0.05)


def core_kinds():
    core = client.CoreV1Api()
    core.create_namespace(client.V1Namespace(metadata=client.V1ObjectMeta(name="shop")))
    assert core.read_namespace("shop").status.phase == "Active"
    menu = client.V1ConfigMap(metadata=client.V1ObjectMeta(name="menu", labels={"day": "monday"}), data={"soup": "leek"})
    made = core.create_namespaced_config_map("shop", menu)
    assert made.metadata.uid and isinstance(made.metadata.creation_timestamp, datetime.datetime)
    refused(409, "AlreadyExists", core.create_namespaced_config_map, "shop", menu)
    made.data["main"] = "pie"
    replaced = core.replace_namespaced_config_map("menu", "shop", made)
    assert replaced.data == {"soup": "leek", "main": "pie"}
    refused(409, "Conflict", core.replace_namespaced_config_map, "menu", "shop", made)
    patched = core.patch_namespaced_config_map("menu", "shop", {"data": {"soup": None}})
    assert patched.data == {"main": "pie"}
    patched = core.patch_namespaced_config_map(
        "menu", "shop", [{"op": "add", "path": "/data/sweet", "value": "plum"}])
    assert patched.data["sweet"] == "plum"
    found = core.list_namespaced_config_map("shop", label_selector="day=monday", field_selector="metadata.name=menu")
    assert [item.metadata.name for item in found.items] == ["menu"]
    assert core.list_config_map_for_all_namespaces(limit=1).metadata.resource_version

    secret = client.V1Secret(metadata=client.V1ObjectMeta(generate_name="till-"), string_data={"pin": "1234"})
    secret = core.create_namespaced_secret("shop", secret)
    assert secret.metadata.name.startswith("till-") and len(secret.metadata.name) == 10
    assert base64.b64decode(secret.data["pin"]) == b"1234" and secret.type == "Opaque"
    dry = core.create_namespaced_config_map("shop", client.V1ConfigMap(
        metadata=client.V1ObjectMeta(name="dry")), dry_run="All")
    assert dry.metadata.uid
    refused(404, "NotFound", core.read_namespaced_config_map, "dry", "shop")
    status = refused(422, "Invalid", core.create_namespaced_config_map, "shop", client.V1ConfigMap(
        metadata=client.V1ObjectMeta(name="Not_A_Name")))
    assert status["details"]["causes"][0]["field"] == "metadata.name", status

    core.delete_namespaced_config_map("menu", "shop")
    refused(404, "NotFound", core.read_namespaced_config_map, "menu", "shop")
    for number in range(3):
        core.create_namespaced_config_map("shop", client.V1ConfigMap(
            metadata=client.V1ObjectMeta(name="many-%d" % number, labels={"many": "yes"})))
    core.delete_collection_namespaced_config_map("shop", label_selector="many=yes")
    own = "metadata.name!=kube-root-ca.crt"
    assert core.list_namespaced_config_map("shop", field_selector=own).items == []
    core.delete_namespace("shop")
    until("the namespace is gone", lambda: "shop" not in [n.metadata.name for n in core.list_namespace().items])


def events_and_leases():
    now = datetime.datetime.now(datetime.timezone.utc)
    lease = client.V1Lease(metadata=client.V1ObjectMeta(name="oven"), spec=client.V1LeaseSpec(
        holder_identity="cook", lease_duration_seconds=15, renew_time=now))
    made = client.CoordinationV1Api().create_namespaced_lease("default", lease)
    assert made.spec.renew_time == now, (made.spec.renew_time, now)
    event = client.EventsV1Event(
        metadata=client.V1ObjectMeta(name="burnt"), action="Bake", reason="Burnt", note="the pie is burnt",
        type="Warning", event_time=now, reporting_controller="example.com/oven", reporting_instance="oven-1",
        regarding=client.V1ObjectReference(kind="Lease", name="oven", namespace="default"))
    client.EventsV1Api().create_namespaced_event("default", event)
    core = client.CoreV1Api().list_namespaced_event("default", field_selector="reason=Burnt").items
    assert [item.message for item in core] == ["the pie is burnt"]


def rights():
    rbac, core, reviews = client.RbacAuthorizationV1Api(), client.CoreV1Api(), client.AuthorizationV1Api()
    core.create_namespaced_service_account("default", client.V1ServiceAccount(metadata=client.V1ObjectMeta(name="robot")))
    rbac.create_namespaced_role("default", client.V1Role(
        metadata=client.V1ObjectMeta(name="reader"),
        rules=[client.V1PolicyRule(api_groups=[""], resources=["configmaps"], verbs=["list"])]))
    rbac.create_namespaced_role_binding("default", client.V1RoleBinding(
        metadata=client.V1ObjectMeta(name="readers"),
        subjects=[client.RbacV1Subject(kind="ServiceAccount", name="robot", namespace="default")],
        role_ref=client.V1RoleRef(api_group="rbac.authorization.k8s.io", kind="Role", name="reader")))
    token = core.create_namespaced_service_account_token("robot", "default", client.AuthenticationV1TokenRequest(
        spec=client.V1TokenRequestSpec(audiences=[], expiration_seconds=3600))).status.token
    settings = client.Configuration.get_default_copy()
    settings.cert_file = settings.key_file = None
    settings.api_key, settings.api_key_prefix = {"authorization": token}, {"authorization": "Bearer"}
    robot = client.CoreV1Api(client.ApiClient(settings))
    robot.list_namespaced_config_map("default")
    refused(403, "Forbidden", robot.list_namespaced_secret, "default")
    review = reviews.create_subject_access_review(client.V1SubjectAccessReview(spec=client.V1SubjectAccessReviewSpec(
        user="system:serviceaccount:default:robot",
        resource_attributes=client.V1ResourceAttributes(verb="list", resource="configmaps", namespace="default"))))
    assert review.status.allowed
    me = client.AuthenticationV1Api().create_self_subject_review(client.V1SelfSubjectReview())
    assert "system:masters" in me.status.user_info.groups


def custom_objects():
    definition = json.load(open(sys.argv[1]))
    crds, custom = client.ApiextensionsV1Api(), client.CustomObjectsApi()
    crds.create_custom_resource_definition(definition)

    def established():
        conditions = crds.read_custom_resource_definition("widgets.golden.example.com").status.conditions or []
        return any(c.type == "Established" and c.status == "True" for c in conditions)
    until("the kind is served", established)
    widget = {"apiVersion": GROUP + "/v1", "kind": "Widget", "metadata": {"name": "one"}, "spec": {"size": 3, "replicas": 1}}
    made = custom.create_namespaced_custom_object(GROUP, VERSION, "default", PLURAL, widget)
    assert made["spec"]["color"] == "red", "defaults are filled in"
    made["spec"]["size"] = 4
    made = custom.replace_namespaced_custom_object(GROUP, VERSION, "default", PLURAL, "one", made)
    assert made["metadata"]["generation"] == 2
    custom.patch_namespaced_custom_object(GROUP, VERSION, "default", PLURAL, "one", {"spec": {"note": "hello"}})
    status = custom.patch_namespaced_custom_object_status(
        GROUP, VERSION, "default", PLURAL, "one", {"status": {"phase": "Ready"}})
    assert status["status"]["phase"] == "Ready" and status["metadata"]["generation"] == 3
    scale = custom.get_namespaced_custom_object_scale(GROUP, VERSION, "default", PLURAL, "one")
    scale["spec"]["replicas"] = 5
    custom.replace_namespaced_custom_object_scale(GROUP, VERSION, "default", PLURAL, "one", scale)
    listed = custom.list_namespaced_custom_object(GROUP, VERSION, "default", PLURAL)
    assert [item["spec"]["replicas"] for item in listed["items"]] == [5]
    bad = dict(widget, metadata={"name": "bad"}, spec={"size": 1000, "color": "pink"})
    causes = refused(422, "Invalid", custom.create_namespaced_custom_object,
                     GROUP, VERSION, "default", PLURAL, bad)["details"]["causes"]
    assert sorted(cause["field"] for cause in causes) == ["spec.color", "spec.size"], causes
    custom.delete_namespaced_custom_object(GROUP, VERSION, "default", PLURAL, "one")


def watching():
    core = client.CoreV1Api()
    start = core.list_namespaced_config_map("default").metadata.resource_version
    seen, ready = [], threading.Event()

    def follow():
        stream = watch.Watch().stream(core.list_namespaced_config_map, "default", resource_version=start,
                                      timeout_seconds=20, allow_watch_bookmarks=True)
        ready.set()
        for event in stream:
            if event["type"] != "BOOKMARK":
                seen.append((event["type"], event["object"].metadata.name))
            if seen and seen[-1] == ("DELETED", "watched"):
                return
    thread = threading.Thread(target=follow)
    thread.start()
    ready.wait()
    core.create_namespaced_config_map("default", client.V1ConfigMap(metadata=client.V1ObjectMeta(name="watched")))
    core.patch_namespaced_config_map("watched", "default", {"data": {"a": "b"}})
    core.delete_namespaced_config_map("watched", "default")
    thread.join(25)
    assert seen == [("ADDED", "watched"), ("MODIFIED", "watched"), ("DELETED", "watched")], seen
    short = watch.Watch().stream(core.list_namespaced_config_map, "default", timeout_seconds=1)
    assert all(event["type"] == "ADDED" for event in short)


def resuming():
    """What happened while nobody watched is told when a watch is resumed, once."""
    core = client.CoreV1Api()
    make = lambda name: core.create_namespaced_config_map(
        "default", client.V1ConfigMap(metadata=client.V1ObjectMeta(name=name)))
    watcher = watch.Watch()
    start = core.list_namespaced_config_map("default").metadata.resource_version
    make("first")
    told = lambda stream: [(event["type"], event["object"].metadata.name) for event in stream]
    seen = told(watcher.stream(core.list_namespaced_config_map, "default", resource_version=start, timeout_seconds=1))
    assert seen == [("ADDED", "first")], seen
    core.delete_namespaced_config_map("first", "default")
    make("second")
    seen = told(watch.Watch().stream(core.list_namespaced_config_map, "default",
                                     resource_version=watcher.resource_version, timeout_seconds=1))
    assert seen == [("DELETED", "first"), ("ADDED", "second")], seen
    core.delete_namespaced_config_map("second", "default")


def rules():
    """A kind with rules, through the dynamic client."""
    dyn = dynamic.DynamicClient(client.ApiClient())
    definitions = dyn.resources.get(api_version="apiextensions.k8s.io/v1", kind="CustomResourceDefinition")
    definitions.create(body=json.load(open(sys.argv[2])))
    until("the kind is served", lambda: any(
        condition.type == "Established" and condition.status == "True"
        for condition in definitions.get(name="gauges.rules.example.com").status.conditions or []))
    dyn.resources.invalidate_cache()
    gauges = dyn.resources.get(api_version="rules.example.com/v1", kind="Gauge")

    def gauge(low, count):
        return {"apiVersion": "rules.example.com/v1", "kind": "Gauge", "metadata": {"name": "one"},
                "spec": {"low": low, "high": 10, "count": count}}
    status = refused(422, "Invalid", gauges.create, namespace="default", body=gauge(11, 0))
    assert "low is 11, above high" in status["message"], status
    made = gauges.create(namespace="default", body=gauge(1, 5))
    causes = refused(422, "Invalid", gauges.patch, namespace="default", name="one", body={"spec": {"low": 12, "count": 1}},
                     content_type="application/merge-patch+json")["details"]["causes"]
    assert sorted(cause["field"] for cause in causes) == ["spec", "spec.count"], causes
    gauges.patch(namespace="default", name="one", body={"spec": {"count": 6}}, content_type="application/merge-patch+json")
    gauges.delete(name="one", namespace="default")
    seen = []
    for event in gauges.watch(namespace="default", resource_version=made.metadata.resourceVersion, timeout=10):
        seen.append((event["type"], event["object"].spec.count))
        if event["type"] == "DELETED":
            break
    assert seen == [("MODIFIED", 6), ("DELETED", 6)], seen


def dynamically():
    dyn = dynamic.DynamicClient(client.ApiClient())
    maps = dyn.resources.get(api_version="v1", kind="ConfigMap")
    made = maps.create(namespace="default", body={"metadata": {"name": "dyn"}, "data": {"a": "b"}})
    assert made.data.a == "b"
    maps.patch(namespace="default", name="dyn", body={"data": {"a": "c"}}, content_type="application/merge-patch+json")
    applied = maps.server_side_apply(
        namespace="default", name="dyn", field_manager="python", force_conflicts=True,
        body={"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "dyn"}, "data": {"a": "d"}})
    assert applied.data.a == "d" and applied.metadata.managedFields
    widgets = dyn.resources.get(api_version="golden.example.com/v1", kind="Widget")
    widgets.create(namespace="default", body={
        "apiVersion": "golden.example.com/v1", "kind": "Widget", "metadata": {"name": "dyn"}, "spec": {}})
    for event in widgets.watch(namespace="default", timeout=5):
        assert event["object"].metadata.name == "dyn"
        break
    assert "dyn" in [item.metadata.name for item in maps.get(namespace="default").items]
    widgets.delete(name="dyn", namespace="default")
    maps.delete(name="dyn", namespace="default")


def from_dictionaries():
    utils.create_from_dict(client.ApiClient(), {"apiVersion": "v1", "kind": "List", "items": [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "files"}},
        {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", "namespace": "files"}, "stringData": {"a": "b"}},
    ]})
    assert client.CoreV1Api().read_namespaced_secret("s", "files").data == {"a": "Yg=="}


def electing():
    led = threading.Event()

    lock = ConfigMapLock("leader", "default", "python")
    settings = electionconfig.Config(lock, lease_duration=6, renew_deadline=4, retry_period=2,
                                     onstarted_leading=led.set, onstopped_leading=None)
    threading.Thread(target=leaderelection.LeaderElection(settings).run, daemon=True).start()
    assert led.wait(10), "never elected"


def main():
    config.load_kube_config()
    version = client.VersionApi().get_code()
    assert version.major == "1", version
    for story in [core_kinds, events_and_leases, rights, custom_objects, watching, resuming, rules, dynamically,
                  from_dictionaries, electing]:
        begun = time.time()
        story()
        print("%-20s %.2f s" % (story.__name__, time.time() - begun), flush=True)


if __name__ == "__main__":
    main()
    # The elected one renews for ever.
    os._exit(0)
