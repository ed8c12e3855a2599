"""A kubelet's flags and configuration file: what it goes by, and the errors that its log shows."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.cluster.nodes import base_files, kubelet_options
from app.cluster.nodes.filesystem import FileSystem
from app.cluster.nodes.kubelet_options import OptionsError

CONFIG = base_files.KUBELET_CONFIG
ARGV = ["/usr/bin/kubelet", f"--config={CONFIG}", "--kubeconfig=/etc/kubernetes/kubelet.conf"]


@pytest.fixture
def files():
    return FileSystem(base_files.of("node01", "172.30.1.3", "172.30.1.2", 0, control_plane=False), {}, 1)


def change(files, old, new, path=CONFIG):
    text = files.read(path)
    assert old in text
    files.write(path, text.replace(old, new))


def test_the_path_of_static_pods_comes_from_the_file_or_a_flag(files):
    assert kubelet_options.read(ARGV, files).static_pod_path == "/etc/kubernetes/manifests"
    change(files, "/etc/kubernetes/manifests", "/etc/just-to-mess-with-you")
    assert kubelet_options.read(ARGV, files).static_pod_path == "/etc/just-to-mess-with-you"
    flagged = kubelet_options.read([*ARGV, "--pod-manifest-path=/flagged"], files)
    assert flagged.static_pod_path == "/flagged"
    change(files, "staticPodPath: /etc/just-to-mess-with-you\n", "")
    assert kubelet_options.read(ARGV, files).static_pod_path == ""


def test_without_a_kubeconfig_it_stands_alone(files):
    assert kubelet_options.read(ARGV[:2], files).stands_alone
    options = kubelet_options.read(ARGV, files)
    assert (options.stands_alone, options.server) == (False, "https://172.30.1.2:6443")


def test_flags_are_read_with_and_without_an_equals_sign(files):
    options = kubelet_options.read([*ARGV, "--hostname-override", "Other", "-v=2", "--max-pods=5"], files)
    assert (options.hostname, options.max_pods) == ("other", 5)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("staticPodPath:", "staticPodPaht:", 'error failed to decode: strict decoding error: unknown field "staticPodPaht"'),
        ("kubelet.config.k8s.io/v1beta1", "kubelet.config.k8s.io/v2",
         'no kind "KubeletConfiguration" is registered for version "kubelet.config.k8s.io/v2" in scheme "pkg/'),
        ("kind: KubeletConfiguration\n", "", "Object 'Kind' is missing"),
        ("healthzPort: 10248", "healthzPort: many",
         "json: cannot unmarshal string into Go struct field KubeletConfiguration.healthzPort of type int32"),
        ("rotateCertificates: true", "rotateCertificates: 1",
         "json: cannot unmarshal number into Go struct field KubeletConfiguration.rotateCertificates of type bool"),
        ("syncFrequency: 0s", "syncFrequency: often", 'time: invalid duration "often"'),
        ("pki/ca.crt", "pki/WRONG-CA-FILE.crt",
         "dependencies: unable to load client CA file /etc/kubernetes/pki/WRONG-CA-FILE.crt: open /etc/"),
        ("staticPodPath: ", "staticPodPath: [", "error converting YAML to JSON: yaml: line"),
    ],
)  # fmt: skip
def test_a_wrong_file_ends_the_kubelet_with_its_reason(files, old, new, says):
    change(files, old, new)
    with pytest.raises(OptionsError) as failure:
        kubelet_options.read(ARGV, files)
    assert says in str(failure.value)


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (["--config=/nosuch"], 'failed to read kubelet config file "/nosuch", error: open /nosuch: no such file or directory'),
        (["--netwrk-plugin=cni"], "failed to parse kubelet flag: unknown flag: --netwrk-plugin"),
        (["--network-plugin=cni"], "failed to parse kubelet flag: unknown flag: --network-plugin"),
        (["--config"], "failed to parse kubelet flag: flag needs an argument: --config"),
        (["start"], 'unknown command "start"'),
        (["-x"], "unknown shorthand flag: 'x' in -x"),
        (["--kubeconfig=/nosuch"], "stat /nosuch: no such file or directory"),
        (["--kubeconfig=/a", "--bootstrap-kubeconfig=/b"], "unable to load bootstrap kubeconfig: stat /b"),
    ],
)  # fmt: skip
def test_wrong_flags_end_the_kubelet_with_their_reason(files, argv, says):
    with pytest.raises(OptionsError) as failure:
        kubelet_options.read(["kubelet", *argv], files)
    assert says in str(failure.value)


@given(st.text(max_size=120))
def test_any_text_is_a_configuration_or_an_error(text):
    files = FileSystem(base_files.of("node01", "172.30.1.3", "172.30.1.2", 0, control_plane=False), {}, 1)
    files.write(CONFIG, text)
    with pytest.raises(OptionsError, match="failed to decode"):
        kubelet_options.read(ARGV, files)


@pytest.mark.parametrize("text", ["", "a: b", "clusters: []", "- x", "clusters: 5\ncontexts: x\ncurrent-context: {}"])
def test_a_kubeconfig_without_a_server_names_none(files, text):
    files.write("/k", text)
    assert kubelet_options.server_of("/k", files) == ""
