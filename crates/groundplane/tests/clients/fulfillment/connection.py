"""Connections to a server: gRPC with stubs or with reflection alone, and REST."""
import base64
import http.client
import json
import os
import ssl
import sys
import tempfile

import grpc
from google.protobuf import descriptor_pool, message_factory
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase
from grpc_tools import protoc


def stubs(protos):
    """Modules of messages and services, generated from the .proto files."""
    folder = tempfile.mkdtemp()
    files = []
    for root, _, names in os.walk(protos):
        path = os.path.relpath(root, protos)
        if path.startswith("grpc"):
            continue  # The health and reflection protocols: their folder has the name of a library.
        files += [os.path.join(path, name) for name in names if name.endswith(".proto")]
    well_known = os.path.join(os.path.dirname(protoc.__file__), "_proto")
    arguments = ["protoc", "-I" + protos, "-I" + well_known, "--python_out=" + folder, "--grpc_python_out=" + folder]
    assert protoc.main(arguments + sorted(files)) == 0, "the stubs can't be generated"
    sys.path.insert(0, folder)


class Connection:
    """What one kubeconfig gives access to."""

    def __init__(self, kubeconfig, address):
        self.address = address
        text = open(kubeconfig).read()

        def data(name):
            line = next(line for line in text.splitlines() if line.strip().startswith(name + ":"))
            return base64.b64decode(line.split(":", 1)[1])

        self.ca, self.cert, self.key = map(data, ("certificate-authority-data", "client-certificate-data", "client-key-data"))
        self.channel = grpc.secure_channel(address, grpc.ssl_channel_credentials(self.ca, self.key, self.cert))
        self.stranger = grpc.secure_channel(address, grpc.ssl_channel_credentials(self.ca))
        with tempfile.NamedTemporaryFile(suffix=".pem", delete=False) as file:
            file.write(self.cert + b"\n" + self.key)
        self.context = ssl.create_default_context(cadata=self.ca.decode())
        self.context.load_cert_chain(file.name)
        self.nobody = ssl.create_default_context(cadata=self.ca.decode())
        os.unlink(file.name)

    def rest(self, method, path, body=None, who=None, context=None):
        """The status and the JSON of an answer."""
        connection = http.client.HTTPSConnection(self.address, context=context or self.context, timeout=30)
        headers = {"content-type": "application/json"}
        if who:
            headers["impersonate-user"] = who
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return answer.status, json.loads(text) if text.startswith(("{", "[")) else text

    def made(self, path, body):
        """Makes a resource of Kubernetes' API."""
        code, answer = self.rest("POST", path, body)
        assert code in (200, 201, 409), (code, answer)
        return answer


class Reflected:
    """Services that are known by reflection alone."""

    def __init__(self, channel):
        self.channel = channel
        self.database = ProtoReflectionDescriptorDatabase(channel)
        self.pool = descriptor_pool.DescriptorPool(self.database)

    def services(self):
        return sorted(self.database.get_services())

    def call(self, service, method, request=None, **options):
        """Calls a method that takes one message, which is given as a function that fills it in."""
        found = self.pool.FindServiceByName(service).FindMethodByName(method)
        make = message_factory.GetMessageClass(found.input_type)
        read = message_factory.GetMessageClass(found.output_type)
        message = make(**(request or {}))
        call = self.channel.unary_stream if found.server_streaming else self.channel.unary_unary
        call = call("/%s/%s" % (service, method), make.SerializeToString, read.FromString)
        return call(message, **options)
