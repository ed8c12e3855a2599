"""Services: what is refused, and the addresses and node ports that the API server gives out."""

from __future__ import annotations

import ipaddress

import pytest

from app.apimachinery.errors import Invalid
from tests.cluster.apiserver.making import named, server


def service(name: str = "web", **spec) -> dict:
    return named("v1", "Service", name, spec={"selector": {"app": "web"}, "ports": [{"port": 80}], **spec})


def refusal(*objects: dict) -> str:
    client, store = server()
    *before, last = objects
    for obj in before:
        client.create(obj)
    revision = store.revision
    with pytest.raises(Invalid) as caught:
        client.create(last)
    assert store.revision == revision
    return caught.value.message


@pytest.mark.parametrize(
    ("obj", "text"),
    [
        (service(ports=[]), "spec.ports: Required value"),
        (service(ports=[{"port": 0}]), "spec.ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive"),
        (service(ports=[{"port": 1}, {"port": 2}]), "spec.ports[0].name: Required value, spec.ports[1].name: Required"),
        (
            service(ports=[{"port": 1, "name": "a"}, {"port": 2, "name": "a"}]),
            'spec.ports[1].name: Duplicate value: "a"',
        ),
        (
            service(ports=[{"port": 1, "name": "a"}, {"port": 1, "name": "b"}]),
            (
                'spec.ports[1]: Duplicate value: {"Name":"","Protocol":"TCP","AppProtocol":null,"Port":1,"TargetPort":0,'
                '"NodePort":0}'
            ),
        ),
        (
            service(ports=[{"port": 1, "protocol": "ICMP"}]),
            'spec.ports[0].protocol: Unsupported value: "ICMP": supported values: "SCTP", "TCP", "UDP"',
        ),
        (
            service(ports=[{"port": 1, "targetPort": "a_b"}]),
            (
                'spec.ports[0].targetPort: Invalid value: "a_b": must contain only alpha-numeric characters (a-z, 0-9), and '
                "hyphens (-)"
            ),
        ),
        (
            service(ports=[{"port": 1, "nodePort": 30080}]),
            "spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'",
        ),
        (
            service(type="NodePort", ports=[{"port": 1, "nodePort": 80}]),
            (
                "spec.ports[0].nodePort: Invalid value: 80: provided port is not in the valid range. The range of valid "
                "ports is 30000-32767"
            ),
        ),
        (
            service(type="Nodeport"),
            (
                'spec.type: Unsupported value: "Nodeport": supported values: "ClusterIP", "ExternalName", "LoadBalancer", '
                '"NodePort"'
            ),
        ),
        (service(type="ExternalName"), "spec.externalName: Required value"),
        (
            service(type="NodePort", clusterIP="None"),
            "spec.clusterIPs[0]: Invalid value: \"None\": may not be set to 'None' for NodePort services",
        ),
        (
            service(clusterIP="10.0.0.300"),
            (
                'spec.clusterIPs[0]: Invalid value: "10.0.0.300": must be a valid IP address, (e.g. 10.9.8.7 or '
                "2001:db8::ffff)"
            ),
        ),
        (
            service(clusterIP="10.1.1.1"),
            (
                'spec.clusterIPs: Invalid value: ["10.1.1.1"]: failed to allocate IP 10.1.1.1: the provided network does '
                "not match the current range"
            ),
        ),
        (
            service(sessionAffinity="Client"),
            'spec.sessionAffinity: Unsupported value: "Client": supported values: "ClientIP", "None"',
        ),
        (service(selector={"a b": "c"}), 'spec.selector: Invalid value: "a b": name part must consist of'),
        (
            service(externalTrafficPolicy="Local"),
            'spec.externalTrafficPolicy: Invalid value: "Local": may only be set for externally-accessible services',
        ),
        (
            service(internalTrafficPolicy="Near"),
            'spec.internalTrafficPolicy: Unsupported value: "Near": supported values: "Cluster", "Local"',
        ),
    ],
    ids=range(18),
)
def test_it_refuses_in_the_servers_words(obj, text):
    assert text in refusal(obj)


def test_a_taken_node_port_is_refused():
    first = service("a", type="NodePort", ports=[{"port": 80, "nodePort": 30080}])
    assert refusal(first, {**first, "metadata": {"name": "b"}}) == (
        'Service "b" is invalid: spec.ports[0].nodePort: Invalid value: 30080: provided port is already allocated'
    )


def test_a_taken_address_is_refused():
    assert refusal(service("a", clusterIP="10.96.0.50"), service("b", clusterIP="10.96.0.50")) == (
        'Service "b" is invalid: spec.clusterIPs: Invalid value: ["10.96.0.50"]: failed to allocate IP 10.96.0.50: '
        "provided IP is already allocated"
    )


def test_a_service_gets_an_address_and_the_defaults():
    client, _ = server()
    spec = client.create(service(type="NodePort"))["spec"]
    assert ipaddress.ip_address(spec["clusterIP"]) in ipaddress.ip_network("10.96.0.0/12")
    assert spec["clusterIPs"] == [spec["clusterIP"]]
    assert (spec["ipFamilies"], spec["ipFamilyPolicy"]) == (["IPv4"], "SingleStack")
    assert 30_000 <= spec["ports"][0].pop("nodePort") <= 32_767
    assert spec["ports"] == [{"port": 80, "protocol": "TCP", "targetPort": 80}]
    assert spec["externalTrafficPolicy"] == spec["internalTrafficPolicy"] == "Cluster"
    assert spec["sessionAffinity"] == "None"


def test_two_services_never_share_an_address():
    client, _ = server()
    addresses = {client.create(service(f"s{n}"))["spec"]["clusterIP"] for n in range(20)}
    assert len(addresses) == 20


@pytest.mark.parametrize(
    ("spec", "address"),
    [({"clusterIP": "None"}, "None"), ({"type": "ExternalName", "externalName": "example.com"}, None)],
    ids=["headless", "external"],
)
def test_some_services_have_no_address(spec, address):
    client, _ = server()
    assert client.create(service(**spec))["spec"].get("clusterIP") == address


def test_the_address_of_a_service_stays():
    client, _ = server()
    stored = client.create(service())
    kept = client.update(service(ports=[{"port": 81}]) | {"metadata": stored["metadata"]})
    assert kept["spec"]["clusterIP"] == stored["spec"]["clusterIP"]
    with pytest.raises(Invalid, match=r'spec.clusterIPs\[0\]: Invalid value: \["10.96.0.9"\]: may not change once set'):
        client.patch("svc", "web", "default", {"spec": {"clusterIP": "10.96.0.9"}}, "merge")


def test_a_service_that_becomes_internal_gives_its_node_port_back():
    client, _ = server()
    stored = client.create(service(type="NodePort"))
    again = client.patch("svc", "web", "default", {"metadata": {"labels": {"a": "b"}}}, "merge")
    assert again["spec"]["ports"] == stored["spec"]["ports"]
    internal = client.patch("svc", "web", "default", {"spec": {"type": "ClusterIP"}}, "merge")
    assert "nodePort" not in internal["spec"]["ports"][0]
    assert internal["spec"]["clusterIP"] == stored["spec"]["clusterIP"]
