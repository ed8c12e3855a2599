"""What kubelets may ask for (the Node authorizer) and write (NodeRestriction)."""

from __future__ import annotations

import pytest

from app.apimachinery.errors import Forbidden
from app.cluster import users
from app.cluster.apiserver import admission_chain
from tests.cluster.apiserver.making import named, node, pod, server
from tests.cluster.apiserver.test_users import ask
from tests.cluster.builders import config_map, fresh

NODE01 = users.kubelet("node01")


@pytest.fixture
def api():
    client, _ = server("kube-node-lease")
    for name in ("node01", "node02"):
        client.create(node(name))
        client.create(pod(f"on-{name}", nodeName=name))
    return client


@pytest.fixture
def kubelet(api):
    return api.acting_as(NODE01)


def told(call, *arguments, **more):
    with pytest.raises(Forbidden) as caught:
        call(*arguments, **more)
    return caught.value.message.partition(" is forbidden: ")[2]


def label(client, name, **labels):
    patch = {"metadata": {"labels": {key.replace("__", "/").replace("_", "-"): value for key, value in labels.items()}}}
    return client.patch("nodes", name, "", patch)


def mirror(uid, name="still", **spec):
    owner = {"apiVersion": "v1", "kind": "Node", "name": "node01", "uid": uid, "controller": True}
    made = pod(name, **{"nodeName": "node01", **spec})
    made["metadata"] |= {"annotations": {"kubernetes.io/config.mirror": "x"}, "ownerReferences": [owner]}
    return made


class TestNodes:
    def test_a_kubelet_writes_its_own_node_alone(self, kubelet):
        label(kubelet, "node01", disk="ssd")
        assert told(label, kubelet, "node02", disk="ssd") == 'node "node01" is not allowed to modify node "node02"'
        assert told(kubelet.delete, "nodes", "node02") == 'node "node01" is not allowed to modify node "node02"'

    @pytest.mark.parametrize(
        "key",
        [
            "node-restriction.kubernetes.io/tier",
            "deep.node-restriction.kubernetes.io/tier",
            "node-role.kubernetes.io/worker",
            "example.k8s.io/a",
        ],
    )
    def test_it_gives_itself_no_label_of_the_clusters_own(self, kubelet, key):
        patch = {"metadata": {"labels": {key: "x"}}}
        assert told(kubelet.patch, "nodes", "node01", "", patch) == f"is not allowed to modify labels: {key}"

    def test_nor_takes_it_away_or_changes_it(self, api, kubelet):
        key = "node-restriction.kubernetes.io/tier"
        api.patch("nodes", "node01", "", {"metadata": {"labels": {key: "x"}}})
        for value in (None, "y"):
            patch = {"metadata": {"labels": {key: value}}}
            assert told(kubelet.patch, "nodes", "node01", "", patch) == f"is not allowed to modify labels: {key}"

    @pytest.mark.parametrize(
        "key",
        [
            "disk",
            "example.com/disk",
            "kubernetes.io/os",
            "topology.kubernetes.io/zone",
            "node.kubernetes.io/pool",
            "kubelet.kubernetes.io/a",
        ],
    )
    def test_labels_of_its_own_are_allowed(self, kubelet, key):
        assert (
            kubelet.patch("nodes", "node01", "", {"metadata": {"labels": {key: "x"}}})["metadata"]["labels"][key] == "x"
        )

    def test_it_leaves_its_taints_alone(self, kubelet):
        taints = {"spec": {"taints": [{"key": "a", "effect": "NoSchedule"}]}}
        assert told(kubelet.patch, "nodes", "node01", "", taints) == 'node "node01" is not allowed to modify taints'

    def test_it_registers_without_labels_of_the_clusters_own(self, api):
        new = api.acting_as(users.kubelet("node03"))
        made = node("node03")
        made["metadata"]["labels"] = {"node-role.kubernetes.io/master": "", "node-restriction.kubernetes.io/a": "b"}
        assert told(new.create, made) == (
            'node "node03" is not allowed to set the following labels: '
            "node-restriction.kubernetes.io/a, node-role.kubernetes.io/master"
        )
        made["metadata"]["labels"] = {"disk": "ssd"}
        assert new.create(made)

    def test_the_administrator_may_do_all_that(self, api):
        api.patch("nodes", "node02", "", {"metadata": {"labels": {"node-restriction.kubernetes.io/a": "b"}}})


class TestPods:
    def test_only_mirror_pods_are_made(self, api, kubelet):
        uid = api.get("nodes", "node01")["metadata"]["uid"]
        assert told(kubelet.create, pod("x", nodeName="node01")) == (
            'pod does not have "kubernetes.io/config.mirror" annotation, node "node01" can only create mirror pods'
        )
        assert told(kubelet.create, mirror(uid, nodeName="node02")) == (
            'node "node01" can only create pods with spec.nodeName set to itself'
        )
        assert told(kubelet.create, mirror("other")) == f"node node01 UID mismatch: expected other got {uid}"
        orphan = mirror(uid)
        del orphan["metadata"]["ownerReferences"]
        assert (
            told(kubelet.create, orphan) == 'node "node01" can only create pods with an owner reference set to itself'
        )
        secret = {"name": "v", "secret": {"secretName": "s"}}
        assert "can not create pods that reference secrets" in told(kubelet.create, mirror(uid, volumes=[secret]))
        config = {"name": "v", "configMap": {"name": "c"}}
        assert "can not create pods that reference configmaps" in told(kubelet.create, mirror(uid, volumes=[config]))
        assert kubelet.create(mirror(uid))

    def test_status_and_deletion_are_for_its_own_pods(self, kubelet):
        mine, other = (kubelet.get("pods", f"on-{name}") for name in ("node01", "node02"))
        kubelet.update_status({**mine, "status": {**mine["status"], "phase": "Running"}})
        running = {**other, "status": {**other["status"], "phase": "Running"}}
        assert told(kubelet.update_status, running) == (
            'node "node01" can only update pod status for pods with spec.nodeName set to itself'
        )
        kubelet.delete("pods", "on-node01", "default", 0)
        assert told(kubelet.delete, "pods", "on-node02") == (
            'node "node01" can only delete pods with spec.nodeName set to itself'
        )

    def test_evictions_bindings_and_changes(self, api, kubelet):
        assert told(kubelet.evict, "default", "on-node02") == (
            "node node01 can only evict pods with spec.nodeName set to itself"
        )
        kubelet.evict("default", "on-node01")
        api.create(pod("free"))
        assert told(kubelet.bind, "default", "free", "node01") == (
            "unexpected pod subresource \"binding\", only 'status' and 'eviction' are allowed"
        )
        assert told(kubelet.patch, "pods", "free", "default", {"metadata": {"labels": {"a": "b"}}}) == (
            'unexpected operation "UPDATE", node "node01" can only create and delete mirror pods'
        )


class TestOthers:
    def test_leases_tokens_and_claims(self, api, kubelet):
        def lease(name, namespace):
            return named("coordination.k8s.io/v1", "Lease", name, namespace=namespace)

        assert kubelet.create(lease("node01", "kube-node-lease"))
        assert told(kubelet.create, lease("node02", "kube-node-lease")) == (
            "can only access node lease with the same name as the requesting node"
        )
        assert told(kubelet.create, lease("node01", "default")) == (
            'can only access leases in the "kube-node-lease" system namespace'
        )
        assert told(kubelet.create_token, "default", "default") == "node requested token not bound to a pod"

        def token(name):
            found = api.get("pods", name)
            reference = {"kind": "Pod", "apiVersion": "v1", "name": name, "uid": found["metadata"]["uid"]}
            return {"spec": {"boundObjectRef": reference}}

        assert kubelet.create_token("default", "default", token("on-node01"))["status"]["token"]
        assert told(kubelet.create_token, "default", "default", token("on-node02")) == (
            "node requested token bound to a pod scheduled on a different node"
        )
        spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
        claim = named("v1", "PersistentVolumeClaim", "c", namespace="default", spec=spec)
        api.create(claim)
        assert told(kubelet.patch, "persistentvolumeclaims", "c", "default", {"metadata": {"labels": {"a": "b"}}}) == (
            "may only update PVC status"
        )

    def test_a_user_without_the_group_is_no_kubelet(self, api):
        label(api.acting_as(users.User("system:node:node01")), "node02", disk="ssd")
        nameless = api.acting_as(users.User("system:node:", (users.NODES,)))
        assert told(label, nameless, "node02", disk="ssd") == 'could not determine node from user "system:node:"'


@pytest.fixture(scope="module")
def base():
    cluster = fresh()
    cluster.client.create(config_map("mine", a="b"))
    cluster.client.create(config_map("yours", a="b"))
    for number, name in ((1, "mine"), (2, "yours")):
        volume = {"name": "v", "configMap": {"name": name}}
        cluster.client.create(pod(f"bee{number}", nodeName=f"node0{number}", volumes=[volume]))
    cluster.settle()
    return cluster


def kubelets(cluster, method, path, body=None, query=(), **headers):
    group = {"impersonate-user": "system:node:node01", "impersonate-group": "system:nodes"}
    return ask(cluster, method, path, body, query, **group, **headers)


class TestAuthorizer:
    @pytest.mark.parametrize(
        "path",
        [
            "/api/v1/nodes/node01",
            "/api/v1/services",
            "/api/v1/namespaces/default/pods/bee1",
            "/api/v1/namespaces/default/configmaps/mine",
            "/api/v1/namespaces/default/configmaps/kube-root-ca.crt",
            "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/node01",
            "/apis/storage.k8s.io/v1/csidrivers",
        ],
    )
    def test_what_a_kubelet_reads(self, base, path):
        assert kubelets(base, "GET", path)[0] == 200

    @pytest.mark.parametrize(
        ("path", "reason"),
        [
            ("/api/v1/nodes/node02", "node 'node01' cannot read 'node02', only its own Node object"),
            ("/api/v1/nodes", "node 'node01' cannot read all nodes, only its own Node object"),
            ("/api/v1/pods", "can only list/watch pods with spec.nodeName field selector"),
            (
                "/api/v1/namespaces/default/pods/bee2",
                "no relationship found between node 'node01' and this object",
            ),
            (
                "/api/v1/namespaces/default/configmaps/yours",
                "no relationship found between node 'node01' and this object",
            ),
            ("/api/v1/namespaces/default/configmaps", "No Object name found"),
            ("/api/v1/secrets", "can only read namespaced object of this type"),
            (
                "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/node02",
                "can only access node lease with the same name as the requesting node",
            ),
            ("/apis/apps/v1/deployments", ""),
        ],
    )
    def test_what_it_is_refused_and_why(self, base, path, reason):
        code, answer = kubelets(base, "GET", path)
        assert code == 403
        assert answer["message"].endswith(f": {reason}" if reason else "at the cluster scope")

    def test_its_pods_are_listed_by_their_node(self, base):
        query = (("fieldSelector", "spec.nodeName=node01"),)
        code, answer = kubelets(base, "GET", "/api/v1/pods", query=query)
        assert code == 200
        assert "bee1" in {item["metadata"]["name"] for item in answer["items"]}

    def test_a_label_reaches_admission(self, base):
        patch = {"metadata": {"labels": {"node-restriction.kubernetes.io/a": "b"}}}
        content = {"content-type": "application/strategic-merge-patch+json"}
        code, answer = kubelets(base.fork(), "PATCH", "/api/v1/nodes/node01", patch, **content)
        assert (code, answer["message"]) == (
            403,
            'nodes "node01" is forbidden: is not allowed to modify labels: node-restriction.kubernetes.io/a',
        )

    def test_the_role_of_nodes_is_not_what_they_go_by(self, base):
        cluster = base.fork()
        cluster.client.delete("clusterroles", "system:node")
        assert kubelets(cluster, "GET", "/api/v1/services")[0] == 200


class TestLoops:
    def test_controllers_schedulers_and_kubelets_write_as_themselves(self, monkeypatch):
        seen = {}

        def note(attributes, store):
            del store
            seen.setdefault((attributes.resource, attributes.operation, attributes.subresource), set()).add(
                attributes.user.name
            )

        monkeypatch.setattr(admission_chain, "VALIDATING", (*admission_chain.VALIDATING, note))
        cluster = fresh()
        template = {"metadata": {"labels": {"a": "b"}}, "spec": pod()["spec"]}
        spec = {"selector": {"matchLabels": {"a": "b"}}, "template": template}
        cluster.client.create(named("apps/v1", "Deployment", "web", spec=spec))
        cluster.settle()
        account = "system:serviceaccount:kube-system:"
        assert seen["deployments", "CREATE", ""] == {"kubernetes-admin"}
        assert seen["replicasets", "CREATE", ""] == {f"{account}deployment-controller"}
        assert seen["pods", "CREATE", ""] == {f"{account}replicaset-controller"}
        (made,) = cluster.client.list("pods", "default")
        assert f"system:node:{made['spec']['nodeName']}" in seen["pods", "UPDATE", "status"]

    def test_a_scheduler_that_may_no_longer_bind_says_so(self):
        cluster = fresh()
        role = cluster.client.get("clusterroles", "system:kube-scheduler")
        rules = [rule for rule in role["rules"] if "pods/binding" not in (rule.get("resources") or [])]
        cluster.client.update({**role, "rules": rules})
        cluster.client.create(pod())
        cluster.settle()
        found = cluster.client.get("pods", "bee")
        assert "nodeName" not in found["spec"]
        (condition,) = found["status"]["conditions"]
        assert condition["message"] == (
            'running Bind plugin "DefaultBinder": pods "bee" is forbidden: User "system:kube-scheduler" cannot create '
            'resource "pods/binding" in API group "" in the namespace "default"'
        )
        cluster.client.update({**cluster.client.get("clusterroles", "system:kube-scheduler"), "rules": role["rules"]})
        cluster.advance_to(cluster.now + 60 * 1_000_000)
        assert cluster.client.get("pods", "bee")["spec"]["nodeName"]

    def test_an_aggregated_role_waits_for_the_right_to_escalate(self):
        cluster = fresh()
        name = "system:controller:clusterrole-aggregation-controller"
        cluster.client.delete("clusterrolebindings", name)
        selected = {"rbac.authorization.k8s.io/aggregate-to-view": "true"}
        rule = {"apiGroups": ["example.com"], "resources": ["things"], "verbs": ["get"]}
        made = named("rbac.authorization.k8s.io/v1", "ClusterRole", "more", rules=[rule])
        made["metadata"]["labels"] = selected
        cluster.client.create(made)
        cluster.settle()
        assert rule not in [dict(item) for item in cluster.client.get("clusterroles", "view")["rules"]]
