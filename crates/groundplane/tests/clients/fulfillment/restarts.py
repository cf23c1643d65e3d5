#!/usr/bin/env python3
"""A foreign client that lives through restarts: one writer and one watcher, which resumes from its token.

Arguments: the folder of the .proto files, and the address of a server. It prints `ready` when something may be restarted,
and goes on after a line on its standard input, as often as lines come. After the last one it checks that the watcher was
told of every host exactly once, and in the order in which they were made.
"""
import os
import sys
import threading
import time

import grpc

from connection import Connection, stubs

PROTOS, ADDRESS = sys.argv[1], sys.argv[2]
stubs(PROTOS)

from osac.private.v1 import (event_type_pb2 as event_type, events_service_pb2 as events,  # noqa: E402
    events_service_pb2_grpc as events_grpc, host_type_pb2 as host_type, hosts_service_pb2 as hosts,
    hosts_service_pb2_grpc as hosts_grpc)

LIMIT = 120
connection = Connection(os.environ["KUBECONFIG"], ADDRESS)
made, told, failures = [], [], []
stopping = threading.Event()
# What a client may meet while a server or its store is away, and has to try again after.
PASSING = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED, grpc.StatusCode.UNKNOWN, grpc.StatusCode.INTERNAL,
           grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.ABORTED, grpc.StatusCode.RESOURCE_EXHAUSTED)


def write():
    stub, number = hosts_grpc.HostsStub(connection.channel), 0
    while not stopping.is_set():
        identifier = "restart-%05d" % number
        try:
            stub.Create(hosts.HostsCreateRequest(object=host_type.Host(id=identifier)), timeout=10)
        except grpc.RpcError as error:
            # A request whose answer was lost may have been carried out.
            if error.code() != grpc.StatusCode.ALREADY_EXISTS:
                if error.code() not in PASSING:
                    failures.append("%s: %s" % (error.code(), error.details()))
                    return
                time.sleep(0.1)
                continue
        made.append(identifier)
        number += 1
        time.sleep(0.01)


def watch():
    stub, token = events_grpc.EventsStub(connection.channel), ""
    while not stopping.is_set():
        request = events.EventsWatchRequest(filter="has(event.host) && event.host.id.startsWith('restart-')", resume_token=token)
        try:
            for response in stub.Watch(request, timeout=LIMIT):
                token = response.resume_token or token
                if not response.HasField("event"):
                    watching.set()
                elif response.event.type == event_type.EVENT_TYPE_OBJECT_CREATED:
                    told.append(response.event.host.id)
        except grpc.RpcError as error:
            if error.code() not in PASSING:
                failures.append("%s: %s" % (error.code(), error.details()))
                return
        time.sleep(0.1)


def until(what, is_so):
    end = time.monotonic() + LIMIT
    while not is_so():
        assert not failures, failures
        assert time.monotonic() < end, "not within %d s: %s" % (LIMIT, what)
        time.sleep(0.05)


watching = threading.Event()
threading.Thread(target=watch, daemon=True).start()
until("the watch begins", watching.is_set)
threading.Thread(target=write, daemon=True).start()
wanted = 20
while True:
    until("hosts are made", lambda: len(made) >= wanted)
    until("they are told", lambda: len(told) >= wanted)
    print("ready", flush=True)
    if not sys.stdin.readline():
        break
    wanted = len(made) + 20
stopping.set()
end = list(made)
until("all are told", lambda: set(end) <= set(told))
assert len(told) == len(set(told)), "told twice: %s" % sorted(one for one in set(told) if told.count(one) > 1)
assert told == sorted(told), "not in their order"
print("%d hosts, each told once" % len(told), flush=True)
