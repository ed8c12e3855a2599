"""Ingresses, their classes and network policies: defaults, and what is refused in the server's words."""

import pytest

from app.apimachinery.errors import Invalid
from app.apimachinery.meta import Object
from tests.cluster.apiserver.making import named, refused, refused_change, server

GROUP = "networking.k8s.io/v1"
SERVICE = {"service": {"name": "web", "port": {"number": 80}}}
PATH = {"path": "/", "pathType": "Prefix", "backend": SERVICE}


def ingress(**spec) -> Object:
    return named(GROUP, "Ingress", "i", spec=spec)


def path(**fields) -> Object:
    return ingress(rules=[{"http": {"paths": [{**PATH, **fields}]}}])


def backend(**fields) -> Object:
    return ingress(defaultBackend=fields)


def ingress_class(**spec) -> Object:
    return named(GROUP, "IngressClass", "c", spec={"controller": "example.com/c", **spec})


def parameters(**fields) -> Object:
    return ingress_class(parameters={"kind": "P", "name": "p", **fields})


def policy(**spec) -> Object:
    return named(GROUP, "NetworkPolicy", "n", spec={"podSelector": {}, **spec})


def block(cidr: str, *excepted: str) -> Object:
    return policy(ingress=[{"from": [{"ipBlock": {"cidr": cidr, "except": list(excepted)}}]}])


def port(**fields) -> Object:
    return policy(egress=[{"ports": [fields]}])


REFUSED = [
    (
        ingress(),
        (
            'Ingress.networking.k8s.io "i" is invalid: spec: Invalid value: null: either `defaultBackend` or `rules` must '
            "be specified"
        ),
    ),
    (ingress(rules=[{"http": {"paths": []}}]), "spec.rules[0].http.paths: Required value"),
    (path(pathType=None), "spec.rules[0].http.paths[0].pathType: Required value: pathType must be specified"),
    (
        path(pathType="Regex"),
        (
            'spec.rules[0].http.paths[0].pathType: Unsupported value: "Regex": supported values: "Exact", '
            '"ImplementationSpecific", "Prefix"'
        ),
    ),
    (path(path="a"), 'spec.rules[0].http.paths[0].path: Invalid value: "a": must be an absolute path'),
    (path(path="/a//b"), "spec.rules[0].http.paths[0].path: Invalid value: \"/a//b\": must not contain '//'"),
    (path(path="/a/.."), "spec.rules[0].http.paths[0].path: Invalid value: \"/a/..\": cannot end with '/..'"),
    (
        path(path="a", pathType="ImplementationSpecific"),
        'spec.rules[0].http.paths[0].path: Invalid value: "a": must be an absolute path',
    ),
    (
        path(backend={}),
        'spec.rules[0].http.paths[0].backend: Invalid value: "": resource or service backend is required',
    ),
    (
        backend(service={"name": "web"}),
        "spec.defaultBackend: Required value: port name or number is required",
    ),
    (
        backend(service={"name": "web", "port": {"name": "http", "number": 80}}),
        'spec.defaultBackend: Invalid value: "": cannot set both port name & port number',
    ),
    (
        backend(service={"name": "Web", "port": {"number": 80}}),
        'spec.defaultBackend.service.name: Invalid value: "Web": a DNS-1035 label must consist of',
    ),
    (
        backend(service={"name": "", "port": {"number": 70000}}),
        (
            "[spec.defaultBackend.service.name: Required value, spec.defaultBackend.service.port.number: Invalid value: "
            "70000: must be between 1 and 65535, inclusive]"
        ),
    ),
    (
        backend(**SERVICE, resource={"kind": "B", "name": "b"}),
        'spec.defaultBackend: Invalid value: "": cannot set both resource and service backends',
    ),
    (backend(resource={"kind": "", "name": "b"}), "spec.defaultBackend.resource.kind: Required value"),
    (
        ingress(rules=[{"host": "10.0.0.1", "http": {"paths": [PATH]}}]),
        'spec.rules[0].host: Invalid value: "10.0.0.1": must be a DNS name, not an IP address',
    ),
    (
        ingress(rules=[{"host": "a.*.b", "http": {"paths": [PATH]}}]),
        "spec.rules[0].host: Invalid value: \"a.*.b\": a wildcard DNS-1123 subdomain must start with '*.'",
    ),
    (
        ingress(defaultBackend=SERVICE, tls=[{"hosts": ["A"], "secretName": "_"}]),
        'spec.tls[0].hosts[0]: Invalid value: "A": a lowercase RFC 1123 subdomain must consist of',
    ),
    (
        ingress(defaultBackend=SERVICE, tls=[{"secretName": "_"}]),
        'spec.tls[0].secretName: Invalid value: "_": a lowercase RFC 1123 subdomain must consist of',
    ),
    (
        ingress(defaultBackend=SERVICE, ingressClassName="A"),
        'spec.ingressClassName: Invalid value: "A": a lowercase RFC 1123 subdomain',
    ),
    (
        {
            **ingress(defaultBackend=SERVICE, ingressClassName="a"),
            "metadata": {"name": "i", "annotations": {"kubernetes.io/ingress.class": "b"}},
        },
        (
            'annotations.kubernetes.io/ingress.class: Invalid value: "b": must match `ingressClassName` when both are '
            "specified"
        ),
    ),
    (
        ingress_class(controller=""),
        'IngressClass.networking.k8s.io "c" is invalid: spec.controller: Required value',
    ),
    (
        ingress_class(controller="nginx"),
        'spec.controller: Invalid value: "nginx": must be a domain-prefixed path (such as "acme.io/foo")',
    ),
    (ingress_class(controller="a.b/" + "c" * 250), "spec.controller: Too long: may not be more than 250 bytes"),
    (
        ingress_class(controller="a.b/c d"),
        'spec.controller: Invalid value: "c d": Invalid path (regex used for validation is',
    ),
    (
        parameters(scope="Node"),
        'spec.parameters.scope: Unsupported value: "Node": supported values: "Cluster", "Namespace"',
    ),
    (
        parameters(scope="Namespace"),
        "spec.parameters.namespace: Required value: `parameters.scope` is set to 'Namespace'",
    ),
    (
        parameters(namespace="a"),
        "spec.parameters.namespace: Forbidden: `parameters.scope` is set to 'Cluster'",
    ),
    (
        policy(podSelector={"matchLabels": {"a b": "c"}}),
        'NetworkPolicy.networking.k8s.io "n" is invalid: spec.podSelector.matchLabels: Invalid value: "a b": name part',
    ),
    (policy(ingress=[{"from": [{}]}]), "spec.ingress[0].from[0]: Required value: must specify a peer"),
    (
        policy(ingress=[{"from": [{"podSelector": {}, "ipBlock": {"cidr": "10.0.0.0/8"}}]}]),
        "spec.ingress[0].from[0]: Forbidden: may not specify both ipBlock and another peer",
    ),
    (block(""), "spec.ingress[0].from[0].ipBlock.cidr: Required value"),
    (
        block("10.0.0.0"),
        (
            'spec.ingress[0].from[0].ipBlock.cidr: Invalid value: "10.0.0.0": must be a valid CIDR value, (e.g. 10.9.8.0/24 '
            "or 2001:db8::/64)"
        ),
    ),
    (
        block("10.0.0.0/8", "11.0.0.0/16"),
        'spec.ingress[0].from[0].ipBlock.except[0]: Invalid value: "11.0.0.0/16": must be a strict subset of `cidr`',
    ),
    (
        block("10.0.0.0/8", "10.0.0.0/8"),
        'spec.ingress[0].from[0].ipBlock.except[0]: Invalid value: "10.0.0.0/8": must be a strict subset of `cidr`',
    ),
    (
        port(protocol="tcp"),
        'spec.egress[0].ports[0].protocol: Unsupported value: "tcp": supported values: "TCP", "UDP", "SCTP"',
    ),
    (port(port=0), "spec.egress[0].ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive"),
    (
        port(port=80, endPort=79),
        "spec.egress[0].ports[0].endPort: Invalid value: 79: must be greater than or equal to `port`",
    ),
    (
        port(port="http", endPort=79),
        "spec.egress[0].ports[0].endPort: Invalid value: 79: may not be specified when `port` is non-numeric",
    ),
    (
        port(endPort=79),
        "spec.egress[0].ports[0].endPort: Invalid value: 79: may not be specified when `port` is not specified",
    ),
    (
        policy(policyTypes=["In"]),
        'spec.policyTypes[0]: Unsupported value: "In": supported values: "Ingress", "Egress"',
    ),
    (
        policy(policyTypes=["Ingress", "Egress", "Ingress"]),
        'spec.policyTypes: Invalid value: ["Ingress","Egress","Ingress"]: may not specify more than two policyTypes',
    ),
]


@pytest.mark.parametrize(("obj", "text"), REFUSED, ids=range(len(REFUSED)))
def test_it_refuses_in_the_servers_words(obj, text):
    assert text in refused(obj)


@pytest.mark.parametrize(
    "obj",
    [
        path(),
        path(path="", pathType="ImplementationSpecific"),
        ingress(rules=[{"host": "*.example.com", "http": {"paths": [PATH]}}], tls=[{"hosts": ["*.example.com"]}]),
        backend(service={"name": "web", "port": {"name": "http"}}),
        block("10.0.0.0/8", "10.1.0.0/16"),
        block("2001:db8::/32"),
        port(port=80, endPort=90),
        port(port="http"),
        policy(ingress=[{"from": [{"podSelector": {}, "namespaceSelector": {}}]}]),
        parameters(scope="Namespace", namespace="a"),
    ],
    ids=range(10),
)
def test_it_takes_what_kubernetes_takes(obj):
    client, _ = server()
    assert client.create(obj)["metadata"]["generation"] == 1


def test_a_policy_is_for_ingress_and_where_it_says_so_for_egress():
    client, _ = server()
    assert client.create(policy())["spec"]["policyTypes"] == ["Ingress"]
    made = client.create({**policy(egress=[{"ports": [{"port": 53}]}]), "metadata": {"name": "e"}})
    assert made["spec"]["policyTypes"] == ["Ingress", "Egress"]
    assert made["spec"]["egress"][0]["ports"] == [{"port": 53, "protocol": "TCP"}]


def test_parameters_are_the_clusters_unless_they_say_otherwise():
    client, _ = server()
    assert client.create(parameters())["spec"]["parameters"]["scope"] == "Cluster"


def test_the_controller_of_a_class_is_fixed():
    told = refused_change(ingress_class(), {"spec": {"controller": "example.com/d"}})
    assert 'spec.controller: Invalid value: "example.com/d": field is immutable' in told


def test_a_change_of_the_spec_counts():
    client, _ = server()
    client.create(path())
    changed = client.patch("ing", "i", "default", {"spec": {"ingressClassName": "a"}}, "merge")
    assert changed["metadata"]["generation"] == 2
    assert (
        client.patch("ing", "i", "default", {"metadata": {"labels": {"a": "b"}}}, "merge")["metadata"]["generation"]
        == 2
    )


@pytest.mark.parametrize(
    ("point", "text"),
    [
        ({"ip": "x"}, 'status.loadBalancer.ingress[0].ip: Invalid value: "x": must be a valid IP address'),
        ({"hostname": "1.2.3.4"}, "status.loadBalancer.ingress[0].hostname"),
    ],
)
def test_the_addresses_of_an_ingress_are_judged(point, text):
    client, _ = server()
    made = client.create(path())
    assert made["status"] == {"loadBalancer": {}}
    with pytest.raises(Invalid) as caught:
        client.update_status({**made, "status": {"loadBalancer": {"ingress": [point]}}})
    assert text in caught.value.message
