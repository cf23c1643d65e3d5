#!/usr/bin/env python3
"""A foreign client of the fulfillment API. Each function is a story.

Arguments: the folder of the .proto files, and the addresses of one or two servers on the same store.
"""
import json
import os
import queue
import sys
import threading
import time
import traceback
import urllib.parse
import uuid

import grpc
from google.protobuf import any_pb2, field_mask_pb2, wrappers_pb2

from connection import Connection, Reflected, stubs

PROTOS, ADDRESSES = sys.argv[1], sys.argv[2:]
stubs(PROTOS)

from osac.private.v1 import (capabilities_service_pb2 as capabilities, capabilities_service_pb2_grpc as capabilities_grpc,  # noqa: E402
    cluster_template_type_pb2 as template_type, cluster_templates_service_pb2 as templates,
    cluster_templates_service_pb2_grpc as templates_grpc, cluster_type_pb2 as cluster_type, clusters_service_pb2 as clusters,
    clusters_service_pb2_grpc as clusters_grpc, event_type_pb2 as event_type, events_service_pb2 as events,
    events_service_pb2_grpc as events_grpc, host_class_type_pb2 as class_type, host_classes_service_pb2 as classes,
    host_classes_service_pb2_grpc as classes_grpc, host_type_pb2 as host_type, hosts_service_pb2 as hosts,
    hosts_service_pb2_grpc as hosts_grpc, hub_type_pb2 as hub_type, hubs_service_pb2 as hubs,
    hubs_service_pb2_grpc as hubs_grpc, metadata_type_pb2 as metadata_type)
from osac.public.v1 import (cluster_type_pb2 as public_cluster_type, clusters_service_pb2 as public_clusters,  # noqa: E402
    clusters_service_pb2_grpc as public_clusters_grpc, events_service_pb2 as public_events,
    events_service_pb2_grpc as public_events_grpc, host_type_pb2 as public_host_type,
    hosts_service_pb2 as public_hosts, hosts_service_pb2_grpc as public_hosts_grpc,
    cluster_templates_service_pb2 as public_templates, cluster_templates_service_pb2_grpc as public_templates_grpc,
    host_classes_service_pb2 as public_classes, host_classes_service_pb2_grpc as public_classes_grpc)
from metadata.v1 import metadata_service_pb2 as old_metadata, metadata_service_pb2_grpc as old_metadata_grpc  # noqa: E402

TENANCY = "/apis/resourcemanager.miloapis.com/v1alpha1/projects"
GROUP = "/apis/fulfillment.groundplane.dev/v1alpha1"
RBAC = "/apis/rbac.authorization.k8s.io/v1"
PRIVATE, PUBLIC = "/api/private/v1", "/api/fulfillment/v1"
MARKER = "marker-7f3a-correct-horse"

first = Connection(os.environ["KUBECONFIG"], ADDRESSES[0])
second = Connection(os.environ["KUBECONFIG"], ADDRESSES[-1])
host_stub = hosts_grpc.HostsStub(first.channel)
class_stub = classes_grpc.HostClassesStub(first.channel)
cluster_stub = clusters_grpc.ClustersStub(first.channel)
template_stub = templates_grpc.ClusterTemplatesStub(first.channel)
hub_stub = hubs_grpc.HubsStub(first.channel)
public_cluster_stub = public_clusters_grpc.ClustersStub(first.channel)
public_host_stub = public_hosts_grpc.HostsStub(first.channel)


def refused(code, call, *arguments, **options):
    """The call fails with a code; its message is given."""
    try:
        result = call(*arguments, **options)
        if hasattr(result, "initial_metadata") or hasattr(result, "__next__"):
            next(iter(result))
    except grpc.RpcError as error:
        assert error.code() == code, (error.code(), error.details())
        return error.details()
    raise AssertionError("not refused: %s" % (arguments,))


def as_user(name, *groups):
    return {"metadata": [("impersonate-user", name)] + [("impersonate-group", group) for group in groups]}


def masked(message, *paths):
    return field_mask_pb2.FieldMask(paths=paths)


def new_host(**fields):
    host = host_type.Host(**fields)
    return host_stub.Create(hosts.HostsCreateRequest(object=host)).object


def update(host, *paths, **options):
    request = hosts.HostsUpdateRequest(object=host, lock=options.pop("lock", False))
    if paths:
        request.update_mask.paths.extend(paths)
    return host_stub.Update(request, **options).object


def settled(identifier, connection=first):
    """A host once the server's controllers have looked at it, and nobody writes to it."""
    stub, last, end = hosts_grpc.HostsStub(connection.channel), None, time.monotonic() + 20
    while time.monotonic() < end:
        host = stub.Get(hosts.HostsGetRequest(id=identifier)).object
        if host.status.conditions and last == host.metadata.version:
            return host
        last = host.metadata.version
        time.sleep(0.3)
    raise AssertionError("%s does not settle" % identifier)


class Watching:
    """Events as they come, gathered in the background."""

    def __init__(self, stub, request, **options):
        self.call = stub.Watch(request, **options)
        self.events = queue.Queue()
        self.failure = None
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        try:
            for response in self.call:
                self.events.put(response)
        except grpc.RpcError as error:
            self.failure = error
            self.events.put(None)

    def next(self, seconds=20):
        return self.events.get(timeout=seconds)

    def event(self, seconds=20):
        """The next event, past marks of progress."""
        while True:
            response = self.next(seconds)
            assert response is not None, self.failure
            if response.HasField("event"):
                return response

    def end(self):
        self.call.cancel()


def watch(filter="", connection=first, resume="", **options):
    request = events.EventsWatchRequest(filter=filter, resume_token=resume)
    watching = Watching(events_grpc.EventsStub(connection.channel), request, **options)
    assert not watching.next().HasField("event"), "a mark of progress comes first"
    return watching


# 1. Create, read, update, delete.

def what_needs_no_login_answers_strangers():
    stub = capabilities_grpc.CapabilitiesStub(first.stranger)
    assert stub.Get(capabilities.CapabilitiesGetRequest()).version == "1.0"
    old = old_metadata_grpc.MetadataStub(first.stranger).Get(old_metadata.MetadataGetRequest())
    assert list(old.authn.trusted_token_issuers) == []
    why = refused(grpc.StatusCode.FAILED_PRECONDITION, stub.Get, capabilities.CapabilitiesGetRequest(client_version="2.1"))
    assert "use a client of version 1" in why, why
    reflected = Reflected(first.stranger)
    assert "osac.private.v1.Hosts" in reflected.services() and "grpc.health.v1.Health" in reflected.services()
    assert reflected.call("grpc.health.v1.Health", "Check").status == 1
    assert reflected.call("grpc.health.v1.Health", "Check", {"service": "osac.private.v1.Hosts"}).status == 1
    assert next(iter(reflected.call("grpc.health.v1.Health", "Watch"))).status == 1
    refused(grpc.StatusCode.NOT_FOUND, reflected.call, "grpc.health.v1.Health", "Check", {"service": "no.Such"})
    code, found = first.rest("GET", PUBLIC + "/capabilities", context=first.nobody)
    assert code == 200 and found["version"] == "1.0", found
    code, document = first.rest("GET", PRIVATE + "/openapi.json", context=first.nobody)
    assert code == 200 and PRIVATE + "/hosts" in document["paths"], document


def hosts_and_classes_are_created_read_changed_and_deleted():
    gpu = class_stub.Create(classes.HostClassesCreateRequest(object=class_type.HostClass(
        id="gpu-h100", metadata=metadata_type.Metadata(name="gpu"), title="GPU"))).object
    assert gpu.id == "gpu-h100" and gpu.metadata.name == "gpu" and list(gpu.metadata.tenants) == ["shared"]
    host = new_host(id="host-1", metadata=metadata_type.Metadata(name="node001", labels={"tier": "gold"}),
        spec=host_type.HostSpec(rack="1", boot_mac="52:54:00:aa:bb:01", power_state=host_type.HOST_POWER_STATE_ON,
            bmc=host_type.BMC(url="redfish://192.0.2.21/redfish/v1/Systems/1", user="admin", password=MARKER, insecure=True),
            **{"class": "gpu"}))
    assert getattr(host.spec, "class") == "gpu-h100", "a class is named by its name, and kept by its identifier"
    assert gpu.metadata.version == 0 and host.metadata.creation_timestamp.seconds > 0 and host.HasField("status")
    assert list(host.metadata.creators) == ["system:admin"], host.metadata
    why = refused(grpc.StatusCode.ALREADY_EXISTS, new_host, id="host-1")
    assert why == "object with identifier 'host-1' already exists", why
    assert len(new_host().id) == 36, "an identifier is made where none is chosen"
    odd = new_host(id="Odd_Id/1")
    assert host_stub.Get(hosts.HostsGetRequest(id="Odd_Id/1")).object.id == odd.id == "Odd_Id/1"
    refused(grpc.StatusCode.NOT_FOUND, new_host, id="h", spec=host_type.HostSpec(**{"class": "none"}))
    why = refused(grpc.StatusCode.INVALID_ARGUMENT, new_host, metadata=metadata_type.Metadata(name="Not_A_Name"))
    assert "metadata.name" in why and "'N' at position 0" in why, why
    refused(grpc.StatusCode.INVALID_ARGUMENT, host_stub.Get, hosts.HostsGetRequest())
    why = refused(grpc.StatusCode.NOT_FOUND, host_stub.Get, hosts.HostsGetRequest(id="nobody"))
    assert why == "object with identifier 'nobody' not found", why
    before = settled("host-1").metadata.version
    changed = update(host_type.Host(id="host-1", spec=host_type.HostSpec(rack="2")), "spec.rack")
    assert changed.spec.rack == "2" and changed.spec.boot_mac and changed.metadata.version > before, changed
    # The same as a resource, with what others see of it.
    code, resource = first.rest("GET", GROUP + "/hosts/host-1")
    assert code == 200 and resource["spec"]["rack"] == "2" and resource["displayName"] == "node001", resource
    host_stub.Delete(hosts.HostsDeleteRequest(id=odd.id))
    refused(grpc.StatusCode.NOT_FOUND, host_stub.Delete, hosts.HostsDeleteRequest(id=odd.id))
    dry = host_stub.Create(hosts.HostsCreateRequest(object=host_type.Host(id="dry")), metadata=[("x-dry-run", "true")])
    assert dry.object.id == "dry"
    refused(grpc.StatusCode.NOT_FOUND, host_stub.Get, hosts.HostsGetRequest(id="dry"))


def rest_does_the_same():
    code, made = first.rest("POST", PRIVATE + "/hosts", {"id": "rest-1", "spec": {"rack": "1", "class": "gpu",
        "bmc": {"url": "ipmi://192.0.2.9", "user": "u"}}, "metadata": {"labels": {"a": "1"}}})
    assert code == 200 and made["spec"]["class"] == "gpu-h100", made
    code, changed = first.rest("PATCH", PRIVATE + "/hosts/rest-1", {"spec": {"rack": "7", "bmc": {"user": None}}})
    assert code == 200 and changed["spec"]["rack"] == "7" and changed["spec"]["bmc"] == {"url": "ipmi://192.0.2.9"}, changed
    assert changed["metadata"]["labels"] == {"a": "1"}, changed
    before = settled("rest-1").metadata.version
    code, same = first.rest("PATCH", PRIVATE + "/hosts/rest-1", {"spec": {"rack": "7"}})
    assert same["metadata"]["version"] == before, "nothing changed, nothing counts"
    code, found = first.rest("GET", PRIVATE + "/hosts?" + urllib.parse.urlencode({"filter": "this.spec.rack == '7'"}))
    assert code == 200 and (found["size"], found["total"]) == (1, 1) and found["items"][0]["id"] == "rest-1", found
    for method, path, body, status, grpc_code, words in [
        ("GET", "/hosts/none", None, 404, 5, "not found"),
        ("POST", "/hosts", {"id": "rest-1"}, 409, 6, "already exists"),
        ("POST", "/hosts", {"colour": 1}, 400, 3, "colour"),
        ("GET", "/hosts?filter=%3D", None, 400, 3, "filter"),
        ("PUT", "/hosts/rest-1", {}, 501, 12, "not supported"),
        ("GET", "/nowhere", None, 404, 5, "nothing"),
    ]:
        code, failure = first.rest(method, PRIVATE + path, body)
        assert (code, failure["code"]) == (status, grpc_code) and words in failure["message"], (path, code, failure)
        assert failure["details"][0]["@type"] == "type.googleapis.com/google.rpc.ErrorInfo", failure
    code, failure = first.rest("GET", PRIVATE + "/hosts", context=first.nobody)
    assert (code, failure["code"]) == (401, 16), failure
    assert first.rest("DELETE", PRIVATE + "/hosts/rest-1") == (200, {})


def hubs_keep_their_secrets_and_tenants_learn_nothing_of_them():
    kubeconfig = ("kubeconfig with " + MARKER).encode()
    hub = hub_stub.Create(hubs.HubsCreateRequest(object=hub_type.Hub(id="hub-1", spec=hub_type.HubSpec(
        kubeconfig=kubeconfig, namespace="clusters", pull_secret='{"auths":{}}', ip="192.0.2.40")))).object
    assert hub.spec.namespace == "clusters"
    listed = hub_stub.List(hubs.HubsListRequest())
    assert listed.total == 1 and not listed.items[0].spec.kubeconfig and not listed.items[0].spec.pull_secret, listed
    refused(grpc.StatusCode.INVALID_ARGUMENT, hub_stub.List, hubs.HubsListRequest(filter="this.spec.pull_secret == ''"))
    assert first.rest("GET", PUBLIC + "/hubs")[0] == 404
    stranger = Reflected(first.channel)
    assert not [name for name in stranger.services() if name.startswith("osac.public") and "Hub" in name]


def passwords_are_given_to_who_may_read_them_and_nobody_else():
    own = host_stub.Get(hosts.HostsGetRequest(id="host-1")).object
    assert own.spec.bmc.password in ("", MARKER), own.spec.bmc
    first.made(RBAC + "/clusterroles", {"metadata": {"name": "host-reader"}, "rules": [{
        "apiGroups": ["fulfillment.groundplane.dev"], "resources": ["hosts"], "verbs": ["get", "list", "watch", "update"]}]})
    first.made(RBAC + "/clusterrolebindings", {"metadata": {"name": "rob"}, "roleRef": {"apiGroup":
        "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "host-reader"}, "subjects": [{"kind": "User",
        "apiGroup": "rbac.authorization.k8s.io", "name": "rob"}]})
    seen = host_stub.Get(hosts.HostsGetRequest(id="host-1"), **as_user("rob")).object
    assert seen.spec.bmc.user == "admin" and seen.spec.bmc.password == "", seen.spec.bmc
    assert MARKER not in str(host_stub.List(hosts.HostsListRequest()))
    # Whoever may not see it, and writes back what they saw, does not lose it.
    seen.spec.rack = "3"
    update(seen, "spec", **as_user("rob"))
    code, resource = first.rest("GET", GROUP + "/hosts/host-1")
    assert MARKER not in json.dumps(resource), resource
    after = host_stub.Get(hosts.HostsGetRequest(id="host-1")).object
    assert after.spec.bmc.password == own.spec.bmc.password and after.spec.rack == "3", after.spec


# 2. Filters and pages.

def filters_are_answered():
    for number in range(101):
        new_host(id="page-%03d" % number, metadata=metadata_type.Metadata(name="p%03d" % number, labels={"page": "yes"}),
            spec=host_type.HostSpec(rack="r'%_\\ü" if number == 5 else "r", **{"class": "gpu-h100" if number % 2 else ""}))
    base = "this.metadata.labels['page'] == 'yes'"

    def ids(filter):
        return [item.id for item in host_stub.List(hosts.HostsListRequest(filter=filter, limit=1000)).items]

    everything = ["page-%03d" % number for number in range(101)]
    assert ids(base) == everything
    assert ids(base + " && this.spec.class == 'gpu-h100'") == everything[1::2]
    assert ids("this.id == 'page-007' || this.metadata.name == 'p009'") == ["page-007", "page-009"]
    assert ids("this.id in ['page-001', 'page-003', 'none']") == ["page-001", "page-003"]
    assert ids("this.id in []") == []
    assert ids(base + " && this.spec.rack == 'r\\'%_\\\\ü'") == ["page-005"]
    assert ids(base + " && this.spec.rack.contains('%_')") == ["page-005"]
    assert ids(base + " && this.metadata.name.startsWith('p00') && !(this.id in ['page-000'])") == everything[1:10]
    assert ids(base + " && !has(this.status.cluster)") == everything
    assert ids(base + " && has(this.spec.bmc.url)") == []
    assert ids(base + " && 'shared' in this.metadata.tenants && this.metadata.creation_timestamp <= now") == everything
    assert ids(base + " && this.spec.power_state == HOST_POWER_STATE_ON") == []
    for wrong in ["this.", "this.id", "this.colour == 1", "size(this.id) > 1", "this.spec.bmc.password == 'x'"]:
        assert "filter" in refused(grpc.StatusCode.INVALID_ARGUMENT, host_stub.List, hosts.HostsListRequest(filter=wrong))
    # How many are returned.
    for limit, size in [(None, 100), (0, 100), (-1, 0), (5000, 101), (7, 7)]:
        request = hosts.HostsListRequest(filter=base)
        if limit is not None:
            request.limit = limit
        listed = host_stub.List(request)
        assert (listed.size, listed.total, len(listed.items)) == (size, 101, size), (limit, listed.size, listed.total)
    last = host_stub.List(hosts.HostsListRequest(filter=base, offset=100, limit=10))
    assert [item.id for item in last.items] == ["page-100"] and last.total == 101
    assert host_stub.List(hosts.HostsListRequest(filter=base, offset=-3, limit=1)).items[0].id == "page-000"


def pages_give_what_is_there_all_the_time_exactly_once():
    base = "this.metadata.labels['page'] == 'yes'"
    wanted = ["page-%03d" % number for number in range(101)]
    seen, token, turn = [], "", 0
    while True:
        page = host_stub.List(hosts.HostsListRequest(filter=base, limit=9, page_token=token))
        seen += [item.id for item in page.items]
        # Others come and go before and after the place that the list has reached.
        new_host(id="page-%03d-x" % (turn * 3), metadata=metadata_type.Metadata(labels={"page": "yes"}))
        new_host(id="page-%03d-y" % (100 - turn * 3), metadata=metadata_type.Metadata(labels={"page": "yes"}))
        if turn > 2:
            host_stub.Delete(hosts.HostsDeleteRequest(id="page-%03d-x" % ((turn - 2) * 3)))
        turn, token = turn + 1, page.next_page_token
        if not token:
            break
    steady = [name for name in seen if len(name) == 8]
    assert steady == wanted, (len(steady), steady)
    assert len(set(seen)) == len(seen), "nothing is returned twice"
    walked, token = [], ""
    while True:
        page = host_stub.List(hosts.HostsListRequest(limit=17, page_token=token))
        walked, token = walked + [item.id for item in page.items], page.next_page_token
        if not token:
            break
    assert len(walked) == page.total and len(set(walked)) == len(walked), (len(walked), page.total)
    refused(grpc.StatusCode.INVALID_ARGUMENT, host_stub.List, hosts.HostsListRequest(page_token="x"))
    first_page = host_stub.List(hosts.HostsListRequest(filter=base, limit=2))
    refused(grpc.StatusCode.INVALID_ARGUMENT, host_stub.List, hosts.HostsListRequest(filter="true", page_token=first_page.next_page_token))


# 3. Masks.

def masks_change_what_they_name():
    host = new_host(id="masked", metadata=metadata_type.Metadata(name="one", labels={"a": "1", "b": "2"}),
        spec=host_type.HostSpec(rack="1", title="One", bmc=host_type.BMC(url="ipmi://192.0.2.1", user="u")))
    Spec, BMC = host_type.HostSpec, host_type.BMC
    after = update(host_type.Host(id="masked", spec=Spec(rack="2")), "spec.rack", "spec.title")
    assert (after.spec.rack, after.spec.title, after.spec.bmc.user) == ("2", "", "u"), after
    after = update(host_type.Host(id="masked", spec=Spec(bmc=BMC(user="v"))), "spec.bmc.user")
    assert after.spec.bmc.url == "ipmi://192.0.2.1" and after.spec.bmc.user == "v"
    after = update(host_type.Host(id="masked", metadata=metadata_type.Metadata(labels={"a": "9"})), "metadata.labels.a", "metadata.labels.b")
    assert dict(after.metadata.labels) == {"a": "9"}, after.metadata
    after = update(host_type.Host(id="masked", metadata=metadata_type.Metadata(labels={"x.example/y": "z"})), "metadata.labels.`x.example/y`")
    assert dict(after.metadata.labels) == {"a": "9", "x.example/y": "z"}
    version = settled("masked").metadata.version
    watching = watch("has(event.host) && event.host.id == 'masked'")
    again = update(host_type.Host(id="masked", spec=Spec(rack="2")), "spec.rack")
    assert again.metadata.version == version, "nothing changed, nothing counts"
    why = refused(grpc.StatusCode.INVALID_ARGUMENT, update, host_type.Host(id="masked"), "spec.colour")
    assert "'colour', which is no field of osac.private.v1.HostSpec" in why, why
    refused(grpc.StatusCode.INVALID_ARGUMENT, update, host_type.Host(), "spec.rack")
    refused(grpc.StatusCode.NOT_FOUND, update, host_type.Host(id="none"), "spec.rack")
    stale = host_type.Host(id="masked", metadata=metadata_type.Metadata(version=version - 1), spec=Spec(rack="3"))
    why = refused(grpc.StatusCode.ABORTED, update, stale, "spec.rack", lock=True)
    assert "its version is %d" % version in why, why
    stale.metadata.version = version
    assert update(stale, "spec.rack", lock=True).spec.rack == "3"
    # Nothing but that change was told.
    told = watching.event()
    assert told.event.host.spec.rack == "3" and told.event.type == event_type.EVENT_TYPE_OBJECT_UPDATED, told
    watching.end()
    # Without a mask everything is replaced, but for what the server sets.
    after = update(host_type.Host(id="masked", spec=Spec(title="Two")))
    assert after.spec.title == "Two" and not after.spec.rack and not after.spec.HasField("bmc"), after
    assert after.metadata.name == "masked", "what has no name is called by its identifier"
    assert after.metadata.creation_timestamp == host.metadata.creation_timestamp
    status = host_type.HostStatus(state=host_type.HOST_STATE_READY, conditions=[host_type.HostCondition(
        type=host_type.HOST_CONDITION_TYPE_DEGRADED, status=1, reason="Fine")])
    after = update(host_type.Host(id="masked", spec=Spec(rack="4"), status=status), "spec.rack", "status")
    assert after.spec.rack == "4" and after.status.state == host_type.HOST_STATE_READY, after
    # Beside the conditions that the server's own controllers set.
    [degraded] = [found for found in after.status.conditions if found.type == host_type.HOST_CONDITION_TYPE_DEGRADED]
    assert degraded.reason == "Fine" and degraded.last_transition_time.seconds > 0, after
    template = template_type.ClusterTemplate(id="listed", parameters=[dict(name="a", title="A"), dict(name="b", title="B")])
    template_stub.Create(templates.ClusterTemplatesCreateRequest(object=template))
    one = template_type.ClusterTemplate(id="listed", parameters=[dict(name="a"), dict(name="b", title="New")])
    after = template_stub.Update(templates.ClusterTemplatesUpdateRequest(object=one, update_mask=masked(one, "parameters.1.title"))).object
    assert [parameter.title for parameter in after.parameters] == ["A", "New"], after


def an_older_client_loses_nothing_that_it_does_not_know():
    new_host(id="skew", spec=host_type.HostSpec(rack="1", title="One", uplink_interface="eth1"))
    # A client whose messages have one field only: everything else is unknown to it, and sent back as it came.
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
    file = descriptor_pb2.FileDescriptorProto(name="old.proto", package="old", syntax="proto3")
    spec = file.message_type.add(name="Spec")
    spec.field.add(name="rack", number=3, type=9, label=1)
    old = file.message_type.add(name="Host")
    old.field.add(name="id", number=1, type=9, label=1)
    old.field.add(name="spec", number=3, type=11, label=1, type_name=".old.Spec")
    request = file.message_type.add(name="Request")
    request.field.add(name="object", number=1, type=11, label=1, type_name=".old.Host")
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    Request = message_factory.GetMessageClass(pool.FindMessageTypeByName("old.Request"))
    call = lambda method, make: first.channel.unary_unary("/osac.private.v1.Hosts/" + method, make, Request.FromString)
    found = call("Get", hosts.HostsGetRequest.SerializeToString)(hosts.HostsGetRequest(id="skew"))
    found.object.spec.rack = "2"
    call("Update", Request.SerializeToString)(found)
    now = host_stub.Get(hosts.HostsGetRequest(id="skew")).object
    assert (now.spec.rack, now.spec.title, now.spec.uplink_interface) == ("2", "One", "eth1"), now


# 4. Deletion and finalizers.

def what_has_finalizers_stays_until_the_last_is_gone():
    watching = watch("has(event.host) && event.host.id in ['kept', 'unkept']")
    new_host(id="unkept")
    host_stub.Delete(hosts.HostsDeleteRequest(id="unkept"))
    new_host(id="kept", metadata=metadata_type.Metadata(finalizers=["fulfillment-controller"]))
    host_stub.Delete(hosts.HostsDeleteRequest(id="kept"))
    kept = host_stub.Get(hosts.HostsGetRequest(id="kept")).object
    assert kept.metadata.HasField("deletion_timestamp") and list(kept.metadata.finalizers) == ["fulfillment-controller"]
    going = "this.id == 'kept' && has(this.metadata.deletion_timestamp)"
    assert host_stub.List(hosts.HostsListRequest(filter=going)).total == 1
    update(host_type.Host(id="kept"), "metadata.finalizers")
    refused(grpc.StatusCode.NOT_FOUND, host_stub.Get, hosts.HostsGetRequest(id="kept"))
    told = {"unkept": [], "kept": []}
    while not told["kept"] or told["kept"][-1][0] != event_type.EVENT_TYPE_OBJECT_DELETED:
        event = watching.event().event
        told[event.host.id].append((event.type, event.host.metadata.HasField("deletion_timestamp")))
    created, updated, deleted = 1, 2, 3
    assert told["unkept"][0] == (created, False) and told["unkept"][-1][0] == deleted, told
    assert (updated, True) not in told["unkept"], "without finalizers it goes at once: %s" % told
    assert told["kept"][0] == (created, False) and (updated, True) in told["kept"] and told["kept"][-1][0] == deleted, told
    watching.end()
    code, history = first.rest("GET", GROUP + "/hosts/kept/history")
    assert code == 200 and len(history["items"]) >= 2, history


# 5. Events.

def events_are_filtered_resumed_and_signalled():
    watching = watch("has(event.host_class) || (has(event.host) && event.type == EVENT_TYPE_OBJECT_SIGNALED)")
    new_host(id="signalled")
    before = settled("signalled").metadata.version
    host_stub.Signal(hosts.HostsSignalRequest(id="signalled"))
    told = watching.event()
    assert told.event.type == event_type.EVENT_TYPE_OBJECT_SIGNALED and told.event.host.id == "signalled", told
    assert uuid.UUID(told.event.id)
    assert host_stub.Get(hosts.HostsGetRequest(id="signalled")).object.metadata.version == before, "a signal is no write"
    host_stub.Signal(hosts.HostsSignalRequest(id="signalled"))
    assert watching.event().event.host.id == "signalled", "and another one is told too"
    refused(grpc.StatusCode.NOT_FOUND, host_stub.Signal, hosts.HostsSignalRequest(id="none"))
    watching.end()
    # A large object, and a stream that is cut in the middle.
    new = "has(event.host) && event.host.id.startsWith('resume-') && event.type == EVENT_TYPE_OBJECT_CREATED"
    watching = watch(new)
    for number in range(20):
        new_host(id="resume-%02d" % number, spec=host_type.HostSpec(description="x" * 9000))
    seen, token = [], ""
    for _ in range(7):
        told = watching.event()
        seen.append(told.event.host.id)
        token = told.resume_token
    watching.end()
    again = watch(new, connection=second, resume=token)
    while len(seen) < 20:
        seen.append(again.event().event.host.id)
    assert seen == ["resume-%02d" % number for number in range(20)], seen
    again.end()
    refused(grpc.StatusCode.INVALID_ARGUMENT, events_grpc.EventsStub(first.channel).Watch, events.EventsWatchRequest(resume_token="x"))
    refused(grpc.StatusCode.INVALID_ARGUMENT, events_grpc.EventsStub(first.channel).Watch, events.EventsWatchRequest(filter="event ="))
    # Who does not read holds up nobody.
    slow = events_grpc.EventsStub(first.channel).Watch(events.EventsWatchRequest())
    quick = watch("has(event.host) && event.host.id == 'quick'", connection=second)
    for number in range(60):
        update(host_type.Host(id="resume-00", spec=host_type.HostSpec(description="%d" % number * 3000)), "spec.description")
    new_host(id="quick")
    assert quick.event().event.host.id == "quick"
    slow.cancel()
    quick.end()


def deadlines_and_compression_are_honoured():
    quiet = events.EventsWatchRequest(filter="has(event.hub) && event.hub.id == 'none'")
    stream = events_grpc.EventsStub(first.channel).Watch(quiet, timeout=0.3)
    assert refused(grpc.StatusCode.DEADLINE_EXCEEDED, next, stream)
    listed = host_stub.List(hosts.HostsListRequest(limit=50), compression=grpc.Compression.Gzip)
    assert listed.size == 50


# Many at once.

def a_synchronizer_sends_what_it_sees():
    def observations():
        for number in range(250):
            yield hosts.HostsSyncRequest(object=host_type.Host(id="sync-%03d" % number, spec=host_type.HostSpec(rack="1")))

    def outcomes(stream):
        return [(result.id, result.outcome, result.message) for response in stream for result in response.results]

    made = outcomes(host_stub.Sync(observations()))
    assert len(made) == 250 and {outcome for _, outcome, _ in made} == {hosts.HOSTS_SYNC_OUTCOME_CREATED}, made[:3]
    before = settled("sync-249").metadata.version
    again = outcomes(host_stub.Sync(observations()))
    assert {outcome for _, outcome, _ in again} == {hosts.HOSTS_SYNC_OUTCOME_UNCHANGED}, again[:3]
    assert host_stub.Get(hosts.HostsGetRequest(id="sync-249")).object.metadata.version == before
    # A password that is sent again is recognized, though it can't be read.
    secret = lambda: iter([hosts.HostsSyncRequest(object=host_type.Host(id=name, spec=host_type.HostSpec(
        bmc=host_type.BMC(url="ipmi://192.0.2.3", password=MARKER)))) for name in ("sync-010", "sync-011")])
    assert [outcome for _, outcome, _ in outcomes(host_stub.Sync(secret()))] == [2, 2]
    assert [outcome for _, outcome, _ in outcomes(host_stub.Sync(secret()))] == [3, 3]
    mixed = [host_type.Host(id="sync-000", spec=host_type.HostSpec(rack="2")), host_type.Host(id="sync-001", spec=host_type.HostSpec(boot_ip="no")),
        host_type.Host(id="sync-002", spec=host_type.HostSpec(rack="2"))]
    told = outcomes(host_stub.Sync(hosts.HostsSyncRequest(object=host) for host in mixed))
    assert [outcome for _, outcome, _ in told] == [2, 4, 2] and "bootIp" in told[1][2], told


def sources_keep_to_the_fields_that_they_own():
    first.made(RBAC + "/clusterrolebindings", {"metadata": {"name": "sources"}, "roleRef": {"apiGroup":
        "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"}, "subjects": [{"kind": "Group",
        "apiGroup": "rbac.authorization.k8s.io", "name": "fulfillment.groundplane.dev:sources"}]})
    source = as_user("bcm", "fulfillment.groundplane.dev:sources")
    new_host(id="owned", spec=host_type.HostSpec(title="by hand"))
    update(host_type.Host(id="owned", spec=host_type.HostSpec(rack="1")), "spec.rack", **source)
    update(host_type.Host(id="owned", spec=host_type.HostSpec(boot_ip="192.0.2.7")), "spec.boot_ip", **source)
    now = host_stub.Get(hosts.HostsGetRequest(id="owned")).object
    assert (now.spec.rack, now.spec.boot_ip, now.spec.title) == ("1", "192.0.2.7", "by hand"), now
    # A user's update takes the field over, and the source hears of it.
    update(host_type.Host(id="owned", spec=host_type.HostSpec(rack="mine")), "spec.rack")
    why = refused(grpc.StatusCode.ABORTED, update, host_type.Host(id="owned", spec=host_type.HostSpec(rack="2")), "spec.rack", **source)
    assert "conflict with" in why and ".spec.rack" in why, why
    forced = {"metadata": source["metadata"] + [("x-force", "true")]}
    assert update(host_type.Host(id="owned", spec=host_type.HostSpec(rack="2")), "spec.rack", **forced).spec.rack == "2"


# Tenants.

def project(name, **bindings):
    first.made(TENANCY, {"apiVersion": "resourcemanager.miloapis.com/v1alpha1", "kind": "Project", "metadata": {"name": name}})
    plane = "%s/%s/control-plane" % (TENANCY, name)
    for user, role in bindings.items():
        first.made(plane + RBAC + "/clusterrolebindings", {"metadata": {"name": user}, "roleRef": {"apiGroup":
            "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role}, "subjects": [{"kind": "User",
            "apiGroup": "rbac.authorization.k8s.io", "name": user}]})
    return plane


def tenants_see_their_clusters_and_the_hosts_of_those():
    Cluster, Spec = public_cluster_type.Cluster, public_cluster_type.ClusterSpec
    plane = project("team-a", ann="cluster-admin", vic="cluster-reader")
    first.made(plane + RBAC + "/clusterroles", {"metadata": {"name": "cluster-reader"}, "rules": [{
        "apiGroups": ["fulfillment.groundplane.dev"], "resources": ["clusters"], "verbs": ["get", "list", "watch"]}]})
    project("team-b", ben="cluster-admin", ann="cluster-admin")
    integer = lambda number: any_pb2.Any(type_url="type.googleapis.com/google.protobuf.Int32Value",
        value=wrappers_pb2.Int32Value(value=number).SerializeToString())
    template_stub.Create(templates.ClusterTemplatesCreateRequest(object=template_type.ClusterTemplate(
        id="ocp_4_17_small", title="Small", node_sets={"workers": template_type.ClusterTemplateNodeSet(host_class="gpu", size=3)},
        parameters=[template_type.ClusterTemplateParameterDefinition(name="my_int",
            type="type.googleapis.com/google.protobuf.Int32Value", default=integer(42))])))
    as_ann, as_ben, as_vic = as_user("ann"), as_user("ben"), as_user("vic")

    def create(options, tenant=None, **fields):
        cluster = Cluster(spec=Spec(template="ocp_4_17_small", **fields.pop("spec", {})), **fields)
        if tenant:
            cluster.metadata.tenants.append(tenant)
        return public_cluster_stub.Create(public_clusters.ClustersCreateRequest(object=cluster), **options).object

    why = refused(grpc.StatusCode.INVALID_ARGUMENT, create, as_ann)
    assert "team-a, team-b" in why, why
    mine = create(as_ann, "team-a", metadata=dict(name="my-cluster"), spec=dict(template_parameters={"my_int": integer(43)}))
    assert mine.metadata.name == "my-cluster" and list(mine.metadata.tenants) == ["team-a"], mine
    assert (mine.spec.node_sets["workers"].size, mine.spec.node_sets["workers"].host_class) == (3, "gpu-h100"), mine
    why = refused(grpc.StatusCode.INVALID_ARGUMENT, public_cluster_stub.Create, public_clusters.ClustersCreateRequest(object=Cluster()), **as_ben)
    assert "template is mandatory" in why, why
    why = refused(grpc.StatusCode.INVALID_ARGUMENT, create, as_ben, spec=dict(node_sets={"others": dict(size=1)}))
    assert "workers" in why, why
    assert mine.spec.template == "ocp_4_17_small" and mine.spec.template_parameters["my_int"] == integer(43), mine
    other = create(as_ann, "team-a", metadata=dict(name="my-cluster"))
    assert other.id != mine.id, "names need not be unique"
    chosen = str(uuid.uuid4())
    assert create(as_ben, id=chosen).id == chosen, "who has one project need not name it"
    refused(grpc.StatusCode.ALREADY_EXISTS, create, as_ben, id=chosen)
    refused(grpc.StatusCode.INVALID_ARGUMENT, create, as_ben, id="not-a-uuid")
    why = refused(grpc.StatusCode.INVALID_ARGUMENT, create, as_ben, "team-a")
    assert why.endswith("tenant 'team-a' doesn't exist"), why
    get = lambda identifier, options: public_cluster_stub.Get(public_clusters.ClustersGetRequest(id=identifier), **options).object
    listed = lambda options, **fields: public_cluster_stub.List(public_clusters.ClustersListRequest(**fields), **options)
    assert get(mine.id, as_ann).id == mine.id
    refused(grpc.StatusCode.NOT_FOUND, get, mine.id, as_ben)
    assert listed(as_ben).total == 1 and listed(as_ben, filter="true || this.id == '%s'" % mine.id).total == 1, "|| escapes nothing"
    assert listed(as_ann).total == 3 and listed(as_user("eve")).total == 0
    assert listed(as_ann, filter="this.id == '%s'" % mine.id).items[0].metadata.name == "my-cluster"
    # A viewer reads, and no more.
    assert get(mine.id, as_vic).id == mine.id
    change = public_clusters.ClustersUpdateRequest(object=Cluster(id=mine.id), update_mask=masked(None, "metadata.name"))
    refused(grpc.StatusCode.PERMISSION_DENIED, public_cluster_stub.Update, change, **as_vic)
    refused(grpc.StatusCode.PERMISSION_DENIED, public_cluster_stub.Delete, public_clusters.ClustersDeleteRequest(id=mine.id), **as_vic)
    refused(grpc.StatusCode.PERMISSION_DENIED, create, as_vic)
    refused(grpc.StatusCode.PERMISSION_DENIED, create, as_user("eve"))
    # A host of the cluster, and the cluster's status, which tenants don't write.
    watching = Watching(public_events_grpc.EventsStub(second.channel), public_events.EventsWatchRequest(
        filter="has(event.host)", resume_token=""), **as_ann)
    watching.next()
    hidden = Watching(public_events_grpc.EventsStub(second.channel), public_events.EventsWatchRequest(resume_token=""), **as_ben)
    hidden.next()
    refused(grpc.StatusCode.NOT_FOUND, public_host_stub.Get, public_hosts.HostsGetRequest(id="host-1"), **as_ann)
    code, resource = first.rest("GET", GROUP + "/hosts/host-1/status")
    resource["status"] = dict(resource.get("status") or {}, cluster=mine.id, project="team-a", powerState="HOST_POWER_STATE_ON")
    code, written = first.rest("PUT", GROUP + "/hosts/host-1/status", resource)
    assert code == 200, written
    seen = public_host_stub.Get(public_hosts.HostsGetRequest(id="host-1"), **as_ann).object
    assert seen.status.power_state == 1 and "bmc" not in str(seen), seen
    assert [host.id for host in public_host_stub.List(public_hosts.HostsListRequest(), **as_ann).items] == ["host-1"]
    assert public_host_stub.List(public_hosts.HostsListRequest(), **as_ben).total == 0
    refused(grpc.StatusCode.NOT_FOUND, public_host_stub.Get, public_hosts.HostsGetRequest(id="host-1"), **as_ben)
    told = watching.event().event
    assert told.host.id == "host-1" and told.type == 1, "to its tenant, a host begins when it is assigned: %s" % told
    power = public_hosts.HostsUpdateRequest(object=public_host_type.Host(id="host-1"), update_mask=masked(None, "spec.bmc"))
    why = refused(grpc.StatusCode.INVALID_ARGUMENT, public_host_stub.Update, power, **as_ann)
    assert "'bmc'" in why, why
    # Who may change a cluster may power its hosts, and nothing else of them.
    power = public_hosts.HostsUpdateRequest(object=public_host_type.Host(id="host-1", spec=dict(power_state=2)),
        update_mask=masked(None, "spec.power_state"))
    assert public_host_stub.Update(power, **as_ann).object.spec.power_state == 2
    refused(grpc.StatusCode.PERMISSION_DENIED, public_host_stub.Update, power, **as_vic)
    power.update_mask.paths[:] = ["metadata.name"]
    refused(grpc.StatusCode.PERMISSION_DENIED, public_host_stub.Update, power, **as_ann)
    change = public_clusters.ClustersUpdateRequest(object=Cluster(id=mine.id, status=public_cluster_type.ClusterStatus(api_url="x")),
        update_mask=masked(None, "status.api_url"))
    refused(grpc.StatusCode.INVALID_ARGUMENT, public_cluster_stub.Update, change, **as_ann)
    change.ClearField("update_mask")
    change.object.spec.CopyFrom(get(mine.id, as_ann).spec)
    change.object.spec.node_sets["workers"].size = 5
    after = public_cluster_stub.Update(change, **as_ann).object
    assert after.spec.node_sets["workers"].size == 5 and after.status.api_url == "", after
    sized = Cluster(id=mine.id)
    sized.spec.node_sets["workers"].size = 2
    after = public_cluster_stub.Update(public_clusters.ClustersUpdateRequest(object=sized,
        update_mask=masked(None, "spec.node_sets.workers.size")), **as_ann).object
    assert after.spec.node_sets["workers"].size == 2 and after.spec.node_sets["workers"].host_class == "gpu-h100", after
    # What everybody may choose from.
    assert public_classes_grpc.HostClassesStub(first.channel).List(public_classes.HostClassesListRequest(), **as_user("eve")).total == 1
    stub = public_templates_grpc.ClusterTemplatesStub(first.channel)
    assert stub.Get(public_templates.ClusterTemplatesGetRequest(id="ocp_4_17_small"), **as_user("eve")).object.title == "Small"
    # The private side of a cluster: where it is hosted.
    status = cluster_type.ClusterStatus(state=cluster_type.CLUSTER_STATE_READY, hub="hub-1", alias="my-cluster", port=30000,
        node_sets={"workers": cluster_type.ClusterNodeSet(host_class="gpu-h100", size=1, hosts=["host-1"])})
    after = cluster_stub.Update(clusters.ClustersUpdateRequest(object=cluster_type.Cluster(id=mine.id, status=status),
        update_mask=masked(None, "status"))).object
    assert (after.status.hub, after.status.alias, after.status.port) == ("hub-1", "my-cluster", 30000), after.status
    shown = get(mine.id, as_ann)
    assert list(shown.status.node_sets["workers"].hosts) == ["host-1"] and "hub-1" not in str(shown), shown
    refused(grpc.StatusCode.NOT_FOUND, public_cluster_stub.GetKubeconfig, public_clusters.ClustersGetKubeconfigRequest(id=mine.id), **as_ann)
    refused(grpc.StatusCode.PERMISSION_DENIED, public_cluster_stub.GetPassword, public_clusters.ClustersGetPasswordRequest(id=mine.id), **as_vic)
    refused(grpc.StatusCode.NOT_FOUND, public_cluster_stub.GetPassword, public_clusters.ClustersGetPasswordRequest(id=mine.id), **as_ben)
    code, resource = first.rest("GET", plane + GROUP + "/clusters/my-cluster/status")
    resource["status"] = dict(resource["status"], password=MARKER, kubeconfig="config with " + MARKER)
    code, written = first.rest("PUT", plane + GROUP + "/clusters/my-cluster/status", resource)
    if code == 200 and "passwordRef" in written.get("status", {}):
        password = public_cluster_stub.GetPassword(public_clusters.ClustersGetPasswordRequest(id=mine.id), **as_ann).password
        assert password == MARKER
        code, text = first.rest("GET", "%s/clusters/%s/kubeconfig" % (PUBLIC, mine.id), who="ann")
        assert code == 200 and text == "config with " + MARKER, (code, text)
        body = public_cluster_stub.GetPasswordViaHttp(public_clusters.ClustersGetPasswordViaHttpRequest(id=mine.id), **as_ann)
        assert (body.content_type, body.data) == ("text/plain", MARKER.encode())
    assert MARKER not in str(listed(as_ann))
    hidden_events = []
    while not hidden.events.empty():
        response = hidden.events.get()
        if response is not None and response.HasField("event"):
            hidden_events.append(response)
    assert not [told for told in hidden_events if told.event.HasField("host") or told.event.cluster.id == mine.id], hidden_events
    watching.end()
    hidden.end()


def every_method_refuses_nobody_and_those_without_rights():
    reflected = Reflected(first.channel)
    stranger = Reflected(first.stranger)
    tried = 0
    for name in reflected.services():
        if not name.startswith("osac.") or name.endswith("Capabilities"):
            continue
        service = reflected.pool.FindServiceByName(name)
        for method in service.methods:
            if method.client_streaming:
                continue
            refused(grpc.StatusCode.UNAUTHENTICATED, stranger.call, name, method.name)
            tried += 1
            if not name.startswith("osac.private"):
                continue
            request = {}
            if method.name in ("Get", "Delete", "Signal"):
                request = {"id": "host-1" if "Hosts" in name else "none"}
            elif method.name in ("Create", "Update"):
                object_type = method.input_type.fields_by_name["object"].message_type
                from google.protobuf import message_factory
                request = {"object": message_factory.GetMessageClass(object_type)(id="host-1" if "Hosts" in name else "none")}
            try:
                answer = reflected.call(name, method.name, request, **as_user("eve"))
                if method.server_streaming:
                    next(iter(answer))
                assert name.endswith("Clusters") and method.name == "List" and answer.total == 0, (name, method.name, answer)
            except grpc.RpcError as error:
                allowed = (grpc.StatusCode.PERMISSION_DENIED, grpc.StatusCode.NOT_FOUND)
                assert error.code() in allowed, (name, method.name, error.code(), error.details())
                assert "52:54" not in error.details()
    assert tried > 40, tried
    stream = hosts_grpc.HostsStub(first.stranger).Sync(iter([hosts.HostsSyncRequest(object=host_type.Host(id="x"))]))
    refused(grpc.StatusCode.UNAUTHENTICATED, next, stream)
    told = list(host_stub.Sync(iter([hosts.HostsSyncRequest(object=host_type.Host(id="x"))]), **as_user("eve")))
    assert told[0].results[0].code == grpc.StatusCode.PERMISSION_DENIED.value[0], told


def two_servers_are_one():
    if first.address == second.address:
        return
    watching = watch("has(event.host) && event.host.id == 'across'", connection=second)
    made = new_host(id="across")
    assert hosts_grpc.HostsStub(second.channel).Get(hosts.HostsGetRequest(id="across")).object.id == made.id
    assert watching.event().event.type == event_type.EVENT_TYPE_OBJECT_CREATED
    host_stub.Signal(hosts.HostsSignalRequest(id="across"))
    while watching.event().event.type != event_type.EVENT_TYPE_OBJECT_SIGNALED:
        pass
    changed = hosts_grpc.HostsStub(second.channel).Update(hosts.HostsUpdateRequest(
        object=host_type.Host(id="across", spec=host_type.HostSpec(rack="9")), update_mask=masked(None, "spec.rack"))).object
    assert update(host_type.Host(id="across", spec=host_type.HostSpec(title="t")), "spec.title").spec.rack == "9"
    assert changed.spec.rack == "9"
    watching.end()


STORIES = [
    what_needs_no_login_answers_strangers,
    hosts_and_classes_are_created_read_changed_and_deleted,
    rest_does_the_same,
    hubs_keep_their_secrets_and_tenants_learn_nothing_of_them,
    passwords_are_given_to_who_may_read_them_and_nobody_else,
    filters_are_answered,
    pages_give_what_is_there_all_the_time_exactly_once,
    masks_change_what_they_name,
    an_older_client_loses_nothing_that_it_does_not_know,
    what_has_finalizers_stays_until_the_last_is_gone,
    events_are_filtered_resumed_and_signalled,
    deadlines_and_compression_are_honoured,
    a_synchronizer_sends_what_it_sees,
    sources_keep_to_the_fields_that_they_own,
    tenants_see_their_clusters_and_the_hosts_of_those,
    every_method_refuses_nobody_and_those_without_rights,
    two_servers_are_one,
]

failed = 0
for story in STORIES:
    begun = time.monotonic()
    try:
        story()
        print("%s: %.1f s" % (story.__name__.replace("_", " "), time.monotonic() - begun), flush=True)
    except Exception:  # Whatever is wrong, the other stories are told too.
        failed += 1
        print("FAILED: %s" % story.__name__.replace("_", " "), flush=True)
        traceback.print_exc()
sys.exit(1 if failed else 0)
