"""`cka-lab simulate`: what engineers see of a decision."""

import io
import json
import subprocess
import sys
import textwrap

import pytest
import yaml

from app.main import main

NODES = """
apiVersion: v1
kind: Node
metadata: {name: node-a, labels: {kubernetes.io/hostname: node-a}}
spec: {taints: [{key: gpu, value: "true", effect: NoSchedule}]}
status: {capacity: {cpu: "4", memory: 8Gi, pods: "110"}}
---
apiVersion: v1
kind: Node
metadata: {name: node-b, labels: {kubernetes.io/hostname: node-b}}
status: {capacity: {cpu: "2", memory: 8Gi, pods: "110"}}
---
apiVersion: v1
kind: Node
metadata: {name: node-c, labels: {kubernetes.io/hostname: node-c}}
status: {capacity: {cpu: "2", memory: 8Gi, pods: "110"}}
"""


def pod(name, cpu, more=""):
    return textwrap.dedent(f"""
        apiVersion: v1
        kind: Pod
        metadata: {{name: {name}}}
        spec:
          containers: [{{name: c, image: nginx, resources: {{requests: {{cpu: "{cpu}"}}}}}}]
        """) + textwrap.indent(textwrap.dedent(more).strip(), "  ")


def together(*manifests):
    return "---\n".join(manifest.strip("\n") + "\n" for manifest in manifests)


@pytest.fixture
def simulate(tmp_path, capsys):
    """Run the command on texts; answers (code, output, errors)."""

    def run(cluster, *options, given=None, config=None, name="cluster.yaml"):
        arguments = [str(tmp_path / name), *options]
        (tmp_path / name).write_text(cluster)
        for option, text in (("--pod", given), ("--config", config)):
            if text is not None:
                (tmp_path / f"{option[2:]}.yaml").write_text(text)
                arguments += [option, str(tmp_path / f"{option[2:]}.yaml")]
        code = main(["simulate", *arguments])
        out, err = capsys.readouterr()
        return code, out, err.replace(f"{tmp_path}/", "")

    return run


TIE = """\
default/web: scheduled on node-b

FILTER           node-a    node-b  node-c
TaintToleration  FAIL *    ok      ok
outcome          rejected  fits    fits
* is what the scheduler reports of a node: the first filter that turns it down.
ok on every node: NodeUnschedulable, NodeName, NodeAffinity, NodePorts, NodeResourcesFit,
  VolumeRestrictions, NodeVolumeLimits, VolumeBinding, VolumeZone, PodTopologySpread,
  InterPodAffinity.

WHY NOT
node-a:
  * TaintToleration: No toleration of the pod covers the taint gpu=true:NoSchedule of node-a.

SCORE                               node-b         node-c
TaintToleration x3                  0 > 100 > 300  0 > 100 > 300
NodeResourcesFit x1                 86 > 86 > 86   86 > 86 > 86
NodeResourcesBalancedAllocation x1  87 > 87 > 87   87 > 87 > 87
ImageLocality x1                    0 > 0 > 0      0 > 0 > 0
total                               473            473
raw > normalised (0 to 100) > times weight
Best: node-b, node-c, with the same total. A real scheduler may take any of them; here the smallest
name is taken.
"""

NO_NODE = """\
default/web: not scheduled
  0/3 nodes are available: 1 node(s) had untolerated taint(s), 2 Insufficient cpu. no new claims to
  deallocate, preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.

FILTER            node-a    node-b    node-c
TaintToleration   FAIL *    ok        ok
NodeResourcesFit  fail      FAIL *    FAIL *
outcome           rejected  rejected  rejected
"""

PREEMPTION = """\
PREEMPTION                    node-b
budgets broken                0
highest priority              0
sum of priorities             0
number of victims             1
start of the longest running  has not started
node-b would lose default/old
Chosen: node-b
"""


def test_a_tie_is_shown_with_its_scores(simulate):
    code, out, err = simulate(together(NODES, pod("web", "500m")))
    assert (code, err) == (0, "")
    assert out.startswith(TIE)
    assert out.endswith("1 of 1 pods scheduled\n  default/web: on node-b\n")
    assert max(map(len, out.splitlines())) <= 100


def test_what_turns_down_each_node_is_shown_with_what_would_help(simulate):
    code, out, _ = simulate(together(NODES, pod("web", "6")))
    assert code == 1
    assert out.startswith(NO_NODE)
    assert "  * NodeResourcesFit: The pod asks for 6 of cpu, more than the 2 that node-b has in all." in out
    assert "for node-b to take the pod:\n      Lower what the pod requests of cpu from 6 to 2.\n" in out
    assert "\033[" not in out


def test_victims_of_a_preemption_leave_and_the_pod_gets_their_node(simulate):
    old = pod("old", "2", "nodeName: node-b")
    filler = pod("filler", "2", "nodeName: node-c\npriority: 1000")
    code, out, _ = simulate(together(NODES, old, filler, pod("vip", "2", "priority: 100")))
    assert code == 0
    assert out.startswith("default/vip: preempts pods on node-b and waits for it\n")
    assert PREEMPTION in out
    assert "node-b is kept for this pod since an earlier attempt, so it is tried first." in out
    assert out.endswith("  default/vip: on node-b\n  default/old: has to go for default/vip\n")


def test_pods_are_tried_by_priority_and_see_each_other(simulate):
    code, out, _ = simulate(
        together(NODES, pod("low", "2"), pod("high", "2", "priority: 5"), pod("last", "2", "priority: -1")),
        "-o",
        "json",
    )
    found = json.loads(out)
    assert code == 1
    assert [item["pod"] for item in found["attempts"]] == ["default/high", "default/low", "default/last"]
    assert [item["node"] for item in found["attempts"]] == ["node-b", "node-c", None]
    assert (found["scheduled"], found["notScheduled"]) == (2, 1)


def test_json_and_yaml_say_what_the_table_says(simulate):
    cluster = together(NODES, pod("web", "500m"), pod("big", "9"))
    _, table, _ = simulate(cluster)
    as_json = json.loads(simulate(cluster, "-o", "json")[1])
    assert yaml.safe_load(simulate(cluster, "-o", "yaml")[1]) == as_json
    web, big = as_json["attempts"]
    assert [item["result"] for item in as_json["pods"]] == ["scheduled", "unschedulable"]
    assert web["best"] == ["node-b", "node-c"]
    assert web["nodes"]["node-a"]["reported"] == "TaintToleration"
    for score in web["scores"]:
        cells = " > ".join(str(score[key]["node-b"]) for key in ("raw", "normalized", "weighted"))
        assert f"{score['plugin']} x{score['weight']}" in table
        assert cells in table
    assert " ".join(big["message"].split()) in " ".join(table.split())
    for node, changes in big["changes"].items():
        assert f"for {node} to take the pod" in table
        assert all(edit["message"].split()[0] in table for change in changes for edit in change["edits"])


def test_the_given_pod_is_placed_instead_of_what_is_pending(simulate):
    code, out, err = simulate(
        together(NODES, pod("waits", "1"), pod("web", "2", "nodeName: node-b")),
        given=pod("web", "2", "nodeName: node-b"),
    )
    assert code == 0
    assert err == "note: Pod web is bound to node-b: it is placed anew here\n"
    assert out.startswith("default/web: scheduled on node-b\n")
    assert "default/waits" not in out


def dump(*manifests):
    """As `kubectl get -A -o yaml` prints it: a List with all that the server keeps."""
    items = list(yaml.safe_load_all(together(*manifests)))
    for item in items:
        item["metadata"] |= {
            "creationTimestamp": "2026-03-01T10:00:00Z",
            "managedFields": [{"manager": "kubectl", "fieldsType": "FieldsV1", "fieldsV1": {"f:metadata": {}}}],
            "resourceVersion": "4711",
            "uid": f"0-{item['metadata']['name']}",
        }
        item.setdefault("status", {})["conditions"] = []
    event = {"apiVersion": "v1", "kind": "Event", "metadata": {"name": "e"}, "nonsense": [1]}
    return {"apiVersion": "v1", "kind": "List", "items": [*items, event], "metadata": {"resourceVersion": ""}}


def test_a_dump_is_read_in_yaml_and_in_json(simulate):
    found = dump(NODES, pod("web", "500m"))
    found["items"][0]["status"]["fromTheFuture"] = 1
    in_yaml = simulate(yaml.safe_dump(found), "-o", "json")
    in_json = simulate(json.dumps(found, indent=2), "-o", "json")
    assert in_yaml == in_json
    assert in_yaml[0] == 0
    assert in_yaml[2] == "note: 1 unknown field is ignored: Node status.fromTheFuture\n"
    assert json.loads(in_yaml[1])["pods"] == [{"pod": "default/web", "result": "scheduled", "node": "node-b"}]


def test_standard_input_is_read_in_a_process_of_its_own(tmp_path):
    (tmp_path / "pod.yaml").write_text(pod("web", "500m"))
    command = [sys.executable, "-m", "app.main", "simulate", "-", "--pod", str(tmp_path / "pod.yaml")]
    done = subprocess.run(command, input=NODES, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(TIE)


def test_a_configuration_decides_the_profile(simulate):
    config = """
        apiVersion: kubescheduler.config.k8s.io/v1
        kind: KubeSchedulerConfiguration
        profiles:
        - schedulerName: mine
          plugins: {multiPoint: {disabled: [{name: TaintToleration}]}}
        """
    mine = pod("web", "4", "schedulerName: mine")
    code, out, _ = simulate(together(NODES, mine, pod("other", "1")), config=textwrap.dedent(config))
    assert code == 1
    assert out.startswith("default/web: scheduled on node-a (by mine)\n")
    assert "default/other: not tried. No scheduler is called default-scheduler" in " ".join(out.split())


def test_an_older_release_speaks_in_its_own_words(simulate, capsys):
    cluster = together(NODES, pod("web", "500m", "nodeName: ''"), pod("big", "4"))
    assert "untolerated taint(s)" in simulate(cluster)[1]
    assert "untolerated taint {gpu: true}" in simulate(cluster, "--release", "1.34.1")[1]
    with pytest.raises(SystemExit) as ended:
        simulate(cluster, "--release", "new")
    assert ended.value.code == 2
    assert "is no release of Kubernetes" in capsys.readouterr().err


def test_a_reader_that_has_seen_enough_is_no_error(tmp_path):
    (tmp_path / "cluster.yaml").write_text(together(many(60), pod("web", "1")))
    command = f"{sys.executable} -m app.main simulate --all-nodes -o json {tmp_path}/cluster.yaml | head -1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("{\n", "")


def test_gates_are_told(simulate):
    code, out, _ = simulate(together(NODES, pod("web", "1", "schedulingGates: [{name: example.com/wait}]")))
    assert code == 1
    assert "held back by its scheduling gates: example.com/wait" in " ".join(out.split())


def test_nothing_pending_is_no_failure(simulate):
    assert simulate(NODES) == (0, "No pod is pending on these 3 nodes. Give one with --pod.\n", "")


def test_no_node_at_all_is_a_failure(simulate):
    code, out, _ = simulate(pod("web", "1"))
    assert code == 1
    assert "no nodes available to schedule pods" in out


def test_claims_are_bound_where_they_need_no_pod(simulate):
    volume = """
        apiVersion: v1
        kind: PersistentVolume
        metadata: {name: disk}
        spec:
          capacity: {storage: 1Gi}
          accessModes: [ReadWriteOnce]
          hostPath: {path: /data}
          nodeAffinity:
            required: {nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [node-c]}]}]}
        """
    claim = """
        apiVersion: v1
        kind: PersistentVolumeClaim
        metadata: {name: data}
        spec: {accessModes: [ReadWriteOnce], storageClassName: "", resources: {requests: {storage: 1Gi}}}
        """
    web = pod("web", "1", "volumes: [{name: d, persistentVolumeClaim: {claimName: data}}]")
    code, out, _ = simulate(together(NODES, textwrap.dedent(volume), textwrap.dedent(claim), web))
    assert code == 0
    assert out.startswith("default/web: scheduled on node-c\n")
    code, out, _ = simulate(together(NODES, web))
    assert code == 1
    assert 'persistentvolumeclaim "data" not found' in out
    assert "PreFilter turns the pod down before any node is looked at." in out


BAD = {
    "a quantity": (NODES.replace('cpu: "4"', "cpu: four"), "cluster.yaml:6: Node node-a: status.capacity.cpu: quantities must"),
    "a type": (NODES.replace("spec: {taints: [", "spec: {taints: [7, "), "cluster.yaml:5: Node node-a: spec.taints[0]: json: cannot"),
    "an effect": (NODES.replace("NoSchedule", "Never"), "cluster.yaml:5: Node node-a: spec.taints[0].effect: Unsupported value"),
    "YAML": ("kind: Node\n  name: [\n", "cluster.yaml:2: "),
    "no kind": (together(NODES, "a: 1\n"), "cluster.yaml:17: “apiVersion” is missing."),
    "no name": ("apiVersion: v1\nkind: Node\nmetadata: {}\n", "cluster.yaml:3: Node (no name): metadata.name is missing"),
    "no containers": ("apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n", "cluster.yaml:1: Pod p: spec.containers: Required value"),
    "an operator": (
        pod("p", "1", "tolerations: [{key: a, operator: Maybe}]"),
        "cluster.yaml:7: Pod p: spec.tolerations[0].operator: ",
    ),
    "a bound pod": (
        pod("p", "1", "nodeName: node-a\naffinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
            "[{topologyKey: a, labelSelector: {matchExpressions: [{key: a, operator: Maybe}]}}]}}"),
        "cluster.yaml:2: Pod p: this cannot be read: ",
    ),
    "nothing": ("", "cluster.yaml:1: There is no manifest in here"),
    "JSON": ('{"apiVersion": "v1",\n "kind": "Node", "metadata": {"name": "n"},\n "status": {"capacity": {"cpu": []}}}',
             "cluster.yaml:3: Node n: status.capacity.cpu: quantities must"),
    "JSON with a field twice": (
        '{"apiVersion": "v1", "kind": "Node",\n "kind": "Node", "metadata": {}}', "cluster.yaml:1: Node (no name): metadata"),
    "half JSON": ('{"apiVersion": "v1",\n "kind": }', "cluster.yaml:"),
}  # fmt: skip


@pytest.mark.parametrize(("cluster", "problem"), BAD.values(), ids=BAD.keys())
def test_what_is_wrong_is_told_with_its_line(simulate, cluster, problem):
    code, out, err = simulate(cluster)
    assert (code, out) == (2, "")
    assert err.startswith(problem)
    assert "Traceback" not in err


def test_a_bad_configuration_is_told(simulate):
    config = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles: [{plugins: {filter: {enabled: [{name: Nope}]}}}]\n"
    code, _, err = simulate(NODES, config=config)
    assert code == 2
    assert err.startswith("config.yaml: ")
    assert "Nope" in err
    assert simulate(NODES, config="- 1\n")[0] == 2


@pytest.mark.parametrize("arguments", [[], ["none.yaml"], ["-", "--pod", "-"]])
def test_files_that_are_not_there_are_told(capsys, arguments):
    assert main(["simulate", *arguments]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_a_file_without_a_pod_is_no_pod(simulate):
    code, _, err = simulate(NODES, given=NODES)
    assert code == 2
    assert err == "pod.yaml: there is no Pod in it\n"


def test_remarks_tell_what_was_left_out_or_assumed(simulate):
    old = "apiVersion: policy/v1beta1\nkind: PodDisruptionBudget\nmetadata: {name: p}\n"
    code, _, err = simulate(together(NODES, NODES, old, pod("web", "1", "priorityClassName: gold")))
    assert code == 0
    assert "note: PodDisruptionBudget of policy/v1beta1 is left out: this version is not known\n" in err
    assert "note: Node node-a is there twice: the last one counts\n" in err
    assert "there is no PriorityClass gold here, so its priority is 0\n" in err


def many(count):
    """Nodes: every third is cordoned."""
    return together(
        *(
            f"apiVersion: v1\nkind: Node\nmetadata: {{name: node-{number:03}}}\nspec: {{unschedulable: {str(number % 3 == 0).lower()}}}\n"
            'status: {capacity: {cpu: "4", memory: 8Gi, pods: "110"}}\n'
            for number in range(count)
        )
    )


def test_many_nodes_are_counted_unless_all_are_asked_for(simulate):
    cluster = together(many(30), pod("web", "1"))
    _, short, _ = simulate(cluster)
    assert (
        "30 NODES\n10 rejected, 20 fits\n    10 NodeUnschedulable: node(s) were unschedulable (10 reported)\n" in short
    )
    assert "The best 10 of 20 nodes; --all-nodes shows all." in short
    assert "WHY NOT" not in short
    assert "node-029" not in short
    _, long, _ = simulate(cluster, "--all-nodes")
    assert "NodeUnschedulable: " in long
    assert "node-029" in long
    assert max(map(len, long.splitlines())) <= 100


def test_many_pods_are_counted_unless_all_are_asked_for(simulate):
    cluster = together(NODES, *(pod(f"web-{number:02}", "3") for number in range(30)))
    code, out, _ = simulate(cluster)
    assert code == 1
    assert out.count("WHY NOT") == 10
    assert out.endswith("  and 10 more; --all-pods shows all\n")
    assert simulate(cluster, "--all-pods")[1].count("WHY NOT") == 30


def test_names_cannot_steer_the_terminal(simulate):
    nodes = NODES.replace("key: gpu", r'key: "g\epu"').replace("NoSchedule", "PreferNoSchedule")
    bound = (
        'apiVersion: v1\nkind: Pod\nmetadata: {name: "x\\e[2J"}\nspec: {nodeName: node-b, containers: [{name: c}]}\n'
    )
    _, out, _ = simulate(together(nodes.replace(r'"g\epu"', "gpu"), bound, pod("web", "2")), "-o", "table")
    assert "\x1b" not in out


def test_the_progress_bar_needs_a_terminal(monkeypatch):
    from app.cli.simulation import progress

    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setattr(progress, "_PATIENCE_SECONDS", 0.0)
    shown = Terminal()
    monkeypatch.setattr(sys, "stderr", shown)
    bar = progress.Bar("reading")
    bar(0.5)
    bar.clear()
    assert shown.getvalue() == "\r\033[Kreading [" + "#" * 15 + "." * 15 + "]  50%\r\033[K"
    silent = io.StringIO()
    monkeypatch.setattr(sys, "stderr", silent)
    progress.Bar("reading")(0.5)
    assert silent.getvalue() == ""
