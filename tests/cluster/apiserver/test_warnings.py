"""What the API server warns of in the header of its answer, and takes all the same."""

import pytest

from app.apimachinery.meta import Object
from app.cluster.apiserver import warnings
from tests.cluster.apiserver.making import named, pod, workload
from tests.kubeapi.asking import Server

ZONE = "failure-domain.beta.kubernetes.io/zone"
OLD_OS = 'deprecated since v1.14; use "kubernetes.io/os" instead'
TERM = {"matchExpressions": [{"key": "beta.kubernetes.io/os", "operator": "Exists"}]}
NO_SELECTOR = "a null labelSelector results in matching no pod"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def with_container(**container) -> Object:
    return pod(container=container)


def annotated(obj: Object, **annotations: str) -> Object:
    return {**obj, "metadata": {**obj["metadata"], "annotations": annotations}}


def service(**spec) -> Object:
    return named("v1", "Service", "s", spec={"type": "ClusterIP", "sessionAffinity": "None", **spec})


def ports(*given: Object) -> Object:
    return with_container(ports=list(given))


def items(*paths: str) -> list[Object]:
    return [{"key": str(index), "path": path} for index, path in enumerate(paths)]


PODS = [
    (pod(), []),
    (
        pod(nodeSelector={"beta.kubernetes.io/os": "linux"}),
        [f"spec.nodeSelector[beta.kubernetes.io/os]: {OLD_OS}"],
    ),
    (
        pod(affinity={"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [TERM]}}}),
        [
            (
                f"spec.affinity.nodeAffinity.{REQUIRED}.nodeSelectorTerms[0].matchExpressions[0].key: "
                f"beta.kubernetes.io/os is {OLD_OS}"
            )
        ],
    ),
    (
        pod(affinity={"nodeAffinity": {PREFERRED: [{"weight": 1, "preference": TERM}]}}),
        [
            (
                f"spec.affinity.nodeAffinity.{PREFERRED}[0].preference.matchExpressions[0].key: beta.kubernetes.io/os is "
                f"{OLD_OS}"
            )
        ],
    ),
    (
        pod(affinity={"podAntiAffinity": {REQUIRED: [{"topologyKey": "a"}]}}),
        [f"spec.affinity.podAntiAffinity.{REQUIRED}[0].labelSelector: {NO_SELECTOR}"],
    ),
    (
        pod(affinity={"podAffinity": {PREFERRED: [{"weight": 1, "podAffinityTerm": {"topologyKey": "a"}}]}}),
        [f"spec.affinity.podAffinity.{PREFERRED}[0].podAffinityTerm.labelSelector: {NO_SELECTOR}"],
    ),
    (
        pod(topologySpreadConstraints=[{"maxSkew": 1, "topologyKey": ZONE}]),
        [
            (
                f"spec.topologySpreadConstraints[0].topologyKey: {ZONE} is deprecated since v1.17; use "
                '"topology.kubernetes.io/zone" instead'
            ),
            f"spec.topologySpreadConstraints[0].labelSelector: {NO_SELECTOR}",
        ],
    ),
    (
        with_container(env=[{"name": "A", "value": "1"}, {"name": "A", "value": "2"}]),
        ['spec.containers[0].env[1]: hides previous definition of "A", which may be dropped when using apply'],
    ),
    (with_container(env=[{"name": "A", "value": "1"}, {"name": "A", "value": "$(A)2"}]), []),
    (
        ports({"containerPort": 80}, {"containerPort": 80}),
        ["spec.containers[0].ports[1]: duplicate port definition with spec.containers[0].ports[0]"],
    ),
    (
        ports({"containerPort": 80}, {"containerPort": 80, "hostPort": 8080}),
        ["spec.containers[0].ports[1]: overlapping port definition with spec.containers[0].ports[0]"],
    ),
    (
        ports({"containerPort": 80, "hostPort": 1}, {"containerPort": 80, "hostPort": 1, "hostIP": "10.0.0.1"}),
        ["spec.containers[0].ports[1]: dangerously ambiguous port definition with spec.containers[0].ports[0]"],
    ),
    (
        ports({"containerPort": 80, "hostIP": "1.2.3.4", "protocol": "TCP"}),
        [
            (
                "spec.containers[0].ports[0]: hostIP set without hostPort: {Name: HostPort:0 ContainerPort:80 Protocol:TCP "
                "HostIP:1.2.3.4}"
            )
        ],
    ),
    (ports({"containerPort": 80}, {"containerPort": 80, "protocol": "UDP"}), []),
    (
        with_container(resources={"requests": {"memory": "100m"}}),
        ['spec.containers[0].resources.requests[memory]: fractional byte value "100m" is invalid, must be an integer'],
    ),
    (
        pod(hostAliases=[{"ip": "1.2.3.4"}, {"ip": "1.2.3.4"}]),
        ['spec.hostAliases[1].ip: duplicate ip "1.2.3.4"'],
    ),
    (
        pod(hostAliases=[{"ip": "01.2.3.4"}]),
        [
            (
                'spec.hostAliases[0].ip: non-standard IP address "01.2.3.4" will be considered invalid in a future '
                'Kubernetes release: use "1.2.3.4"'
            )
        ],
    ),
    (
        pod(dnsConfig={"nameservers": ["2001:db8:0:0::2"]}),
        [
            (
                'spec.dnsConfig.nameservers[0]: IPv6 address "2001:db8:0:0::2" should be in RFC 5952 canonical format '
                '("2001:db8::2")'
            )
        ],
    ),
    (
        pod(imagePullSecrets=[{"name": "a"}, {"name": "a"}, {}]),
        [
            'spec.imagePullSecrets[1].name: duplicate name "a"',
            'spec.imagePullSecrets[2].name: invalid empty name ""',
        ],
    ),
    (
        pod(volumes=[{"name": "v", "gitRepo": {"repository": "x"}}]),
        ["spec.volumes[0].gitRepo: deprecated in v1.11, and disabled by default in v1.33+"],
    ),
    (
        pod(volumes=[{"name": "v", "configMap": {"name": "m", "items": items("a", "a/b")}}]),
        ['volume "v" (ConfigMap "m"): overlapping paths: "a/b" with "a"'],
    ),
    (
        pod(
            volumes=[
                {
                    "name": "v",
                    "projected": {
                        "sources": [
                            {"serviceAccountToken": {"path": "t"}},
                            {"secret": {"name": "s", "items": items("t")}},
                        ]
                    },
                }
            ]
        ),
        ['volume "v" (Projected Secret "s"): overlapping paths: "t" with "t"'],
    ),
    (
        annotated(pod(), **{"scheduler.alpha.kubernetes.io/critical-pod": ""}),
        [
            (
                "metadata.annotations[scheduler.alpha.kubernetes.io/critical-pod]: non-functional in v1.16+; use the "
                '"priorityClassName" field instead'
            )
        ],
    ),
    (
        annotated(pod(), **{"seccomp.security.alpha.kubernetes.io/pod": "x"}),
        [
            (
                "metadata.annotations[seccomp.security.alpha.kubernetes.io/pod]: non-functional in v1.27+; use the "
                '"seccompProfile" field instead'
            )
        ],
    ),
    (
        pod(terminationGracePeriodSeconds=-1),
        [
            "spec.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1",
        ],
    ),
    (
        pod("a.b"),
        [
            (
                "metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a DNS label "
                "is recommended: [must not contain dots]"
            )
        ],
    ),
]


@pytest.mark.parametrize(("obj", "told"), PODS, ids=range(len(PODS)))
def test_it_warns_of_pods_in_the_servers_words(obj, told):
    assert warnings.on_create(obj) == told


OTHERS = [
    (
        workload("Deployment", template={"spec": pod(nodeSelector={"beta.kubernetes.io/os": "linux"})["spec"]}),
        [f"spec.template.spec.nodeSelector[beta.kubernetes.io/os]: {OLD_OS}"],
    ),
    (
        named(
            "batch/v1",
            "CronJob",
            "c",
            spec={"jobTemplate": {"spec": {"template": pod(terminationGracePeriodSeconds=-1)}}},
        ),
        [
            (
                "spec.jobTemplate.spec.template.spec.terminationGracePeriodSeconds: must be >= 0; negative values are "
                "invalid and will be treated as 1"
            )
        ],
    ),
    (
        workload("Deployment", "web.v1"),
        [
            (
                "metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; a DNS "
                "label is recommended: [must not contain dots]"
            )
        ],
    ),
    (
        service(clusterIP="None", sessionAffinity="ClientIP", externalIPs=["1.2.3.4"], loadBalancerIP="1.2.3.4"),
        [
            "spec.loadBalancerIP is ignored for headless services",
            "spec.externalIPs is ignored for headless services",
            "spec.SessionAffinity is ignored for headless services",
        ],
    ),
    (service(externalName="a.b"), ['spec.externalName is ignored when spec.type is not "ExternalName"']),
    (
        service(type="ExternalName", externalName="a.b", externalIPs=["1.2.3.4"]),
        ['spec.externalIPs is ignored when spec.type is "ExternalName"'],
    ),
    (
        service(trafficDistribution="PreferClose"),
        ['spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"'],
    ),
    (
        service(loadBalancerSourceRanges=["192.012.2.8/24"]),
        [
            (
                'spec.loadBalancerSourceRanges[0]: CIDR value "192.012.2.8/24" is ambiguous in this context (should be '
                '"192.12.2.0/24" or "192.12.2.8/32"?)'
            ),
            (
                'spec.loadBalancerSourceRanges[0]: non-standard CIDR value "192.012.2.8/24" will be considered invalid in '
                'a future Kubernetes release: use "192.12.2.0/24"'
            ),
        ],
    ),
    (
        service(loadBalancerSourceRanges=["::ffff:192.12.2.0/120"]),
        [
            (
                'spec.loadBalancerSourceRanges[0]: non-standard CIDR value "::ffff:192.12.2.0/120" will be considered '
                'invalid in a future Kubernetes release: use "192.12.2.0/24"'
            ),
        ],
    ),
    (
        annotated(service(), **{"service.kubernetes.io/topology-aware-hints": "auto"}),
        [
            (
                "annotation service.kubernetes.io/topology-aware-hints is deprecated, please use "
                "service.kubernetes.io/topology-mode instead"
            )
        ],
    ),
    (
        named("v1", "PersistentVolume", "v", spec={"persistentVolumeReclaimPolicy": "Recycle"}),
        [
            (
                "spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended "
                "approach is to use dynamic provisioning."
            )
        ],
    ),
    (
        annotated(
            named("v1", "PersistentVolume", "v", spec={"nodeAffinity": {"required": {"nodeSelectorTerms": [TERM]}}}),
            **{"volume.beta.kubernetes.io/storage-class": "a", "volume.beta.kubernetes.io/mount-options": "b"},
        ),
        [
            (
                "metadata.annotations[volume.beta.kubernetes.io/storage-class]: deprecated since v1.8; use "
                '"storageClassName" attribute instead'
            ),
            (
                "metadata.annotations[volume.beta.kubernetes.io/mount-options]: deprecated since v1.31; use "
                '"mountOptions" attribute instead'
            ),
            "spec.nodeAffinity.required.nodeSelectorTerms[0].matchExpressions[0].key: beta.kubernetes.io/os is "
            + OLD_OS,
        ],
    ),
    (
        named("v1", "PersistentVolumeClaim", "c", spec={"resources": {"requests": {"storage": "1500m"}}}),
        ['spec.resources.requests[storage]: fractional byte value "1500m" is invalid, must be an integer'],
    ),
    (
        named(
            "storage.k8s.io/v1",
            "StorageClass",
            "s",
            allowedTopologies=[{"matchLabelExpressions": [{"key": ZONE, "values": ["a"]}]}],
        ),
        [
            (
                "allowedTopologies[0].matchLabelExpressions[0]: deprecated since v1.17; use "
                '"topology.kubernetes.io/zone" instead'
            )
        ],
    ),
    (
        annotated(named("networking.k8s.io/v1", "Ingress", "i", spec={}), **{"kubernetes.io/ingress.class": "nginx"}),
        ["annotation \"kubernetes.io/ingress.class\" is deprecated, please use 'spec.ingressClassName' instead"],
    ),
    (
        named("node.k8s.io/v1", "RuntimeClass", "r", scheduling={"nodeSelector": {"beta.kubernetes.io/os": "linux"}}),
        [f"scheduling.nodeSelector: {OLD_OS}"],
    ),
    (
        workload("StatefulSet", revisionHistoryLimit=-1),
        [("spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended")],
    ),
    (
        named(
            "networking.k8s.io/v1",
            "NetworkPolicy",
            "n",
            spec={"ingress": [{"from": [{"ipBlock": {"cidr": "10.0.0.1/8", "except": ["10.1.0.0/16"]}}]}]},
        ),
        [
            (
                'spec.ingress[0].from[0].ipBlock.cidr: CIDR value "10.0.0.1/8" is ambiguous in this context (should be '
                '"10.0.0.0/8" or "10.0.0.1/32"?)'
            )
        ],
    ),
    (
        annotated(named("v1", "ServiceAccount", "a"), **{"kubernetes.io/enforce-mountable-secrets": "true"}),
        [
            (
                "metadata.annotations[kubernetes.io/enforce-mountable-secrets]: deprecated in v1.32+; prefer separate "
                "namespaces to isolate access to mounted secrets"
            )
        ],
    ),
    (
        named("discovery.k8s.io/v1", "EndpointSlice", "e", addressType="FQDN"),
        ["addressType: FQDN endpoints are deprecated"],
    ),
]


@pytest.mark.parametrize(("obj", "told"), OTHERS, ids=range(len(OTHERS)))
def test_it_warns_of_other_kinds_in_the_servers_words(obj, told):
    assert warnings.on_create(obj) == told


def header(response) -> str:
    assert response.code in {200, 201}, response.body
    return str(response.headers.get("warning") or "")


def path(plural: str, name: str = "", group: str = "api/v1", query: str = "") -> str:
    return f"/{group}/namespaces/default/{plural}{'/' if name else ''}{name}{query}"


OLD_SELECTOR = {"beta.kubernetes.io/os": "linux"}
TOLD = f'299 - "spec.template.spec.nodeSelector[beta.kubernetes.io/os]: {OLD_OS}"'.replace('use "', 'use \\"').replace(
    '" instead', '\\" instead'
)


def test_a_created_object_comes_back_with_the_warning():
    server = Server()
    made = workload("Deployment", template={"metadata": {"labels": {"app": "web"}}, "spec": pod()["spec"]})
    made["spec"]["template"]["spec"] = pod(nodeSelector=OLD_SELECTOR)["spec"]
    assert header(server.ask("POST", path("deployments", group="apis/apps/v1"), made)) == TOLD


@pytest.mark.parametrize(
    ("content_type", "body"),
    [
        ("application/merge-patch+json", {"spec": {"template": {"spec": {"nodeSelector": OLD_SELECTOR}}}}),
        ("application/strategic-merge-patch+json", {"spec": {"template": {"spec": {"nodeSelector": OLD_SELECTOR}}}}),
        (
            "application/json-patch+json",
            [{"op": "add", "path": "/spec/template/spec/nodeSelector", "value": OLD_SELECTOR}],
        ),
    ],
)
def test_a_patch_warns_too_and_only_where_it_changes_the_spec(content_type, body):
    server = Server()
    where = path("deployments", "web", "apis/apps/v1")
    server.ask("POST", path("deployments", group="apis/apps/v1"), workload("Deployment"))
    assert header(server.ask("PATCH", where, body, content_type=content_type)) == TOLD
    again = {"metadata": {"labels": {"a": "b"}}}
    assert header(server.ask("PATCH", where, again, content_type="application/merge-patch+json")) == ""


def test_a_replaced_object_warns_too():
    server = Server()
    server.ask("POST", path("deployments", group="apis/apps/v1"), workload("Deployment"))
    changed = workload("Deployment")
    changed["spec"]["template"]["spec"] = pod(nodeSelector=OLD_SELECTOR)["spec"]
    assert header(server.ask("PUT", path("deployments", "web", "apis/apps/v1"), changed)) == TOLD


def test_a_change_of_a_pod_warns_of_nothing():
    server = Server()
    server.ask("POST", path("pods"), pod(nodeSelector=OLD_SELECTOR))
    patch = {"metadata": {"labels": {"a": "b"}}}
    assert header(server.ask("PATCH", path("pods", "bee"), patch, content_type="application/merge-patch+json")) == ""


def test_unknown_fields_of_a_patch_are_warned_of():
    server = Server()
    server.ask("POST", path("pods"), pod())
    patch = {"metadata": {"labels": {"a": "b"}}, "spec": {"colour": "red", "shape": None}}
    answer = server.ask("PATCH", path("pods", "bee"), patch, content_type="application/merge-patch+json")
    assert header(answer) == '299 - "unknown field \\"spec.colour\\""'
    directive = {"spec": {"$setElementOrder/containers": [{"name": "c"}], "containers": [{"name": "c"}]}}
    answer = server.ask("PATCH", path("pods", "bee"), directive, content_type="application/strategic-merge-patch+json")
    assert header(answer) == ""


def test_every_request_for_endpoints_says_that_they_are_deprecated():
    server = Server()
    told = '299 - "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"'
    assert header(server.ask("POST", path("endpoints"), named("v1", "Endpoints", "e"))) == told
    assert header(server.ask("GET", path("endpoints"))) == told
    assert header(server.ask("GET", path("endpoints", "e"))) == told


def test_a_dry_run_warns_and_one_warning_stands_once():
    server = Server()
    variables = [{"name": "A", "value": "1"}, {"name": "A", "value": "2"}, {"name": "A", "value": "3"}]
    answer = server.ask("POST", path("pods", query="?dryRun=All"), with_container(env=variables))
    assert header(answer).count("299 - ") == 2
    assert server.ask("GET", path("pods", "bee")).code == 404
