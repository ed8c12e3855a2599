"""Endpoints and EndpointSlices: defaults, and what is refused in the server's words."""

import pytest

from app.apimachinery.meta import Object
from tests.cluster.apiserver.making import named, refused, refused_change, server


def endpoints(**subset) -> Object:
    return named("v1", "Endpoints", "e", subsets=[subset])


def address(**fields) -> Object:
    return endpoints(addresses=[{"ip": "10.0.0.1", **fields}])


def ports(*listed: Object) -> Object:
    return endpoints(addresses=[{"ip": "10.0.0.1"}], ports=list(listed))


def endpoint_slice(kind: str = "IPv4", listed: Object | None = None, **fields) -> Object:
    given = [{"addresses": ["10.0.0.1"], **(listed or {})}]
    return named("discovery.k8s.io/v1", "EndpointSlice", "s", addressType=kind, endpoints=given, **fields)


def slice_address(text: str, kind: str = "IPv4") -> Object:
    return endpoint_slice(kind, {"addresses": [text]})


REFUSED = [
    (
        endpoints(),
        'Endpoints "e" is invalid: subsets[0]: Required value: must specify `addresses` or `notReadyAddresses`',
    ),
    (
        address(ip="x"),
        'subsets[0].addresses[0].ip: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
    ),
    (
        address(ip="127.0.0.1"),
        'subsets[0].addresses[0].ip: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128)',
    ),
    (
        address(ip="169.254.0.1"),
        "may not be in the link-local range (169.254.0.0/16, fe80::/10)",
    ),
    (address(ip="0.0.0.0"), "may not be unspecified (0.0.0.0 or ::)"),
    (address(ip="224.0.0.1"), "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)"),
    (address(hostname="a.b"), 'subsets[0].addresses[0].hostname: Invalid value: "a.b": must not contain dots'),
    (address(nodeName="A"), 'subsets[0].addresses[0].nodeName: Invalid value: "A": a lowercase RFC 1123 subdomain'),
    (ports({"port": 0}), "subsets[0].ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive"),
    (ports({"port": 1, "name": "a"}, {"port": 2}), "subsets[0].ports[1].name: Required value"),
    (
        ports({"port": 1, "protocol": "ICMP"}),
        'subsets[0].ports[0].protocol: Unsupported value: "ICMP": supported values: "SCTP", "TCP", "UDP"',
    ),
    (
        endpoint_slice(""),
        'EndpointSlice.discovery.k8s.io "s" is invalid: addressType: Required value',
    ),
    (
        endpoint_slice("IP"),
        'addressType: Unsupported value: "IP": supported values: "FQDN", "IPv4", "IPv6"',
    ),
    (
        endpoint_slice("IPv4", {"addresses": []}),
        "endpoints[0].addresses: Required value: must contain at least 1 address",
    ),
    (
        endpoint_slice("IPv4", {"addresses": [f"10.0.0.{index}" for index in range(101)]}),
        "endpoints[0].addresses: Too many: 101: must have at most 100 items",
    ),
    (
        slice_address("2001:db8::1"),
        'endpoints[0].addresses[0]: Invalid value: "2001:db8::1": must be a valid IPv4 address',
    ),
    (
        slice_address("10.0.0.1", "IPv6"),
        'endpoints[0].addresses[0]: Invalid value: "10.0.0.1": must be a valid IPv6 address',
    ),
    (slice_address("127.0.0.1"), "may not be in the loopback range"),
    (
        slice_address("a.b", "FQDN"),
        'endpoints[0].addresses[0]: Invalid value: "a.b": should be a domain with at least three segments separated by dots',
    ),
    (endpoint_slice(listed={"hostname": "A"}), 'endpoints[0].hostname: Invalid value: "A": a lowercase RFC 1123 label'),
    (
        endpoint_slice(listed={"hints": {"forZones": [{"name": "a"}, {"name": "a"}]}}),
        'endpoints[0].hints.forZones[1].name: Duplicate value: "a"',
    ),
    (endpoint_slice(ports=[{"name": "a"}, {"name": "a"}]), 'ports[1].name: Duplicate value: "a"'),
    (
        endpoint_slice(ports=[{"name": "A"}]),
        'ports[0].name: Invalid value: "A": a lowercase RFC 1123 label must consist of',
    ),
]


@pytest.mark.parametrize(("obj", "text"), REFUSED, ids=range(len(REFUSED)))
def test_it_refuses_in_the_servers_words(obj, text):
    assert text in refused(obj)


def test_ports_are_for_tcp_unless_they_say_otherwise():
    client, _ = server()
    made = client.create(ports({"port": 80}))
    assert made["subsets"][0]["ports"] == [{"port": 80, "protocol": "TCP"}]
    made = client.create(endpoint_slice(ports=[{"port": 80}]))
    assert made["ports"] == [{"name": "", "port": 80, "protocol": "TCP"}]


def test_the_kind_of_addresses_is_fixed():
    told = refused_change(slice_address("a.b.c", "FQDN"), {"addressType": "IPv4"})
    assert 'addressType: Invalid value: "IPv4": field is immutable' in told


def test_a_slices_generation_counts_its_changes():
    client, _ = server()
    assert client.create(endpoint_slice())["metadata"]["generation"] == 1
    changed = client.patch("endpointslices", "s", "default", {"ports": [{"port": 1}]}, "merge")
    assert changed["metadata"]["generation"] == 2
    same = client.patch("endpointslices", "s", "default", {"metadata": {"annotations": {"a": "b"}}}, "merge")
    assert same["metadata"]["generation"] == 2
