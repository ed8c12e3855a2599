"""What kubectl's typed commands post in protobuf makes the same objects as their manifests in JSON."""

import copy
import json

import pytest

from app.apimachinery import clock
from app.cluster.cluster import Cluster
from tests.kubeapi.asking import NOW
from tests.kubeapi.binary import OneCluster

GENERATORS = [
    "deployment web --image=nginx --replicas=3 --port=80",
    "deployment none --image=nginx --replicas=0",
    "configmap settings --from-literal=a=b --from-literal=empty=",
    "secret generic login --from-literal=p=q",
    "secret docker-registry pull --docker-username=a --docker-password=b",
    "quota most --hard=cpu=1,memory=1G,pods=2",
    "quota best --hard=pods=1 --scopes=BestEffort",
    "priorityclass high --value=1000 --description=urgent",
    "priorityclass zero --value=0 --preemption-policy=Never",
    "namespace blue",
    "serviceaccount bob",
    "role reader --verb=get,list --resource=pods,deployments.apps",
    "rolebinding readers --role=reader --serviceaccount=default:bob --user=jane",
    "clusterrole logs --verb=get --non-resource-url=/logs/*",
    "clusterrole one --verb=get --resource=pods --resource-name=a",
    "clusterrole sum --aggregation-rule=a=b",
    "clusterrolebinding all --clusterrole=view --group=staff",
    "job once --image=busybox -- date",
    "cronjob often --image=busybox --schedule=@hourly --restart=Never -- date",
    "poddisruptionbudget half --selector=app=web --min-available=50%",
    "poddisruptionbudget one --selector=app=web --max-unavailable=1",
    "service clusterip inner --tcp=80:8080",
    "service clusterip headless --clusterip=None",
    "service nodeport outer --tcp=80:8080 --node-port=30080",
    "service loadbalancer wide --tcp=80:http",
    "service externalname far --external-name=a.example",
    "ingress front --rule=foo.example/bar*=svc:8080,tls=cert --class=nginx --annotation=a=b",
]
DRAWN = ("uid", "resourceVersion", "creationTimestamp", "managedFields")


@pytest.fixture(scope="module")
def backend():
    cluster = Cluster.new(seed=7, now=NOW)
    cluster.advance_to(NOW + 60 * clock.SECOND)
    return OneCluster(cluster)


def plain(obj):
    """The object without what each creation draws anew."""
    bare = copy.deepcopy(obj)
    uid = bare["metadata"]["uid"]
    for field in DRAWN:
        bare["metadata"].pop(field, None)
    bare.get("spec", {}).pop("clusterIP", None)
    bare.get("spec", {}).pop("clusterIPs", None)
    for port in bare.get("spec", {}).get("ports", []):
        port.pop("nodePort", None)
    bare.pop("status", None)
    return json.loads(json.dumps(bare).replace(uid, "uid"))


@pytest.mark.parametrize("line", GENERATORS)
def test_a_generator_makes_what_its_manifest_makes(kubectl, backend, line):
    kind, name = [word for word in line.split() if not word.startswith("-")][:2]
    if kind in {"secret", "service"}:
        name = line.split()[2]
    options, dashes, command = line.partition(" -- ")
    manifest = kubectl.run(f"create {options} --dry-run=client -o json{dashes}{command}")
    resource = kubectl.run("create -f - -o name", stdin=manifest).partition("/")[0].partition(".")[0]
    from_json = json.loads(kubectl.run(f"get {resource} {name} -o json"))
    kubectl.run(f"delete {resource} {name}")
    backend.advance(30)

    assert kubectl.run(f"create {line}").endswith("created\n")
    from_protobuf = json.loads(kubectl.run(f"get {resource} {name} -o json"))
    kubectl.run(f"delete {resource} {name}")
    assert plain(from_protobuf) == plain(from_json)
    assert from_protobuf["metadata"]["uid"] != from_json["metadata"]["uid"]


def test_questions_about_ones_rights_are_answered(kubectl):
    assert kubectl.run("auth can-i create pods") == "yes\n"
    assert kubectl.run("auth can-i list pods --as system:serviceaccount:default:default", code=1) == ""
    assert "kubernetes-admin" in kubectl.run("auth whoami")
    assert kubectl.run("auth can-i --list").startswith("Resources")


def test_an_object_that_exists_is_not_created_twice(kubectl):
    kubectl.run("create configmap twice --from-literal=a=b")
    told = kubectl.run("create configmap twice --from-literal=a=b", code=1)
    assert told == 'error: failed to create configmap: configmaps "twice" already exists\n'
