"""Unit files: where they are found, what they say, and what systemd remarks on them."""

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.cluster.nodes import unit_files
from app.cluster.nodes.filesystem import FileSystem, directory, file

KUBELET = "/usr/lib/systemd/system/kubelet.service"
DROP_IN = "/usr/lib/systemd/system/kubelet.service.d/10-kubeadm.conf"
FOLDERS = ["/", "/etc", "/etc/systemd", "/etc/systemd/system", "/usr", "/usr/lib", "/usr/lib/systemd", "/etc/default"]
FOLDERS += ["/usr/lib/systemd/system", "/usr/lib/systemd/system/kubelet.service.d", "/var", "/var/lib"]


@pytest.fixture
def files():
    base = {path: directory() for path in FOLDERS}
    base[KUBELET] = file(
        "# the agent\n[Unit]\nDescription=kubelet: The Kubernetes Node Agent\n\n"
        "[Service]\nExecStart=/usr/bin/kubelet\nRestart=always\nStartLimitInterval=0\nRestartSec=10\n"
        "[Install]\nWantedBy=multi-user.target\n"
    )
    base[DROP_IN] = file(
        '[Service]\nEnvironment="CONFIG=--config=/a b.yaml" PLAIN=1\nEnvironmentFile=-/etc/default/kubelet\n'
        "ExecStart=\nExecStart=/usr/bin/kubelet $CONFIG \\\n  ${CONFIG} --x=$$ $NONE\n"
    )
    return FileSystem(base, {}, 1)


def test_a_service_is_its_file_and_its_drop_ins(files):
    unit = unit_files.load(files, "kubelet.service")
    assert (unit.path, unit.drop_ins) == (KUBELET, (DROP_IN,))
    assert unit.title == "kubelet.service - kubelet: The Kubernetes Node Agent"
    assert unit.values("ExecStart") == ("/usr/bin/kubelet $CONFIG  ${CONFIG} --x=$$ $NONE",)
    assert (unit.value("Restart"), unit.span("RestartSec", 0)) == ("always", 10_000_000)
    assert unit.remarks == ()
    assert unit_files.Unit.restore(orjson.loads(orjson.dumps(unit.state()))) == unit


def test_a_bare_variable_is_split_and_one_in_braces_is_not(files):
    unit = unit_files.load(files, "kubelet.service")
    variables, problem = unit_files.environment(unit, files)
    assert problem == ""
    assert unit_files.command(unit.value("ExecStart"), variables) == [
        "/usr/bin/kubelet", "--config=/a", "b.yaml", "--config=/a b.yaml", "--x=$",
    ]  # fmt: skip


def test_etc_is_stronger_than_usr_lib(files):
    files.write("/etc/systemd/system/kubelet.service", "[Service]\nExecStart=/bin/true\n")
    unit = unit_files.load(files, "kubelet.service")
    assert unit.path == "/etc/systemd/system/kubelet.service"
    assert unit.drop_ins == (DROP_IN,)
    files.make_directory("/etc/systemd/system/kubelet.service.d")
    files.write("/etc/systemd/system/kubelet.service.d/10-kubeadm.conf", "[Service]\nRestart=no\n")
    assert unit_files.load(files, "kubelet.service").drop_ins == (
        "/etc/systemd/system/kubelet.service.d/10-kubeadm.conf",
    )


def test_an_environment_file_may_be_missing_only_with_a_dash(files):
    files.write("/etc/default/kubelet", "# words\nKUBELET_EXTRA_ARGS=\"--v=2 --x\"\nA='b'\n")
    unit = unit_files.load(files, "kubelet.service")
    variables, _ = unit_files.environment(unit, files)
    assert (variables["KUBELET_EXTRA_ARGS"], variables["A"]) == ("--v=2 --x", "b")
    files.write("/etc/systemd/system/x.service", "[Service]\nExecStart=/bin/true\nEnvironmentFile=/nosuch\n")
    problem = unit_files.environment(unit_files.load(files, "x.service"), files)[1]
    assert problem == "Failed to load environment files: No such file or directory"


def test_what_is_wrong_in_a_file_is_remarked_with_its_line(files):
    files.write(
        "/etc/systemd/system/x.service",
        "Early=1\n[Unit\n[Servic]\n[Service]\nExeStart=/bin/true\nnonsense\nX-Mine=1\nExecStart=/bin/true\n",
    )
    unit = unit_files.load(files, "x.service")
    where = "/etc/systemd/system/x.service"
    assert unit.remarks == (
        f"{where}:1: Assignment outside of section. Ignoring.",
        f"{where}:2: Invalid section header '[Unit'",
        f"{where}:3: Unknown section 'Servic'. Ignoring.",
        f"{where}:5: Unknown key 'ExeStart' in section [Service], ignoring.",
        f"{where}:6: Missing '=', ignoring line.",
    )
    assert unit.value("ExecStart") == "/bin/true"


def test_services_are_listed_and_unknown_ones_are_none(files):
    assert unit_files.names(files) == ["kubelet.service"]
    assert unit_files.load(files, "nosuch.service") is None
    assert unit_files.full_name("kubelet") == "kubelet.service"
    assert unit_files.full_name("x.timer") == "x.timer"


@pytest.mark.parametrize(
    ("text", "micros"),
    [("10", 10_000_000), ("1.5s", 1_500_000), ("2min 30s", 150_000_000), ("100ms", 100_000), ("1h", 3_600_000_000),
     ("", None), ("soon", None), ("5 parsecs", None), ("-1", None)],
)  # fmt: skip
def test_spans_are_read_as_systemd_does(text, micros):
    assert unit_files.span(text) == micros


@pytest.mark.parametrize(
    ("text", "words"),
    [("a  b", ["a", "b"]), ("'a b' c", ["a b", "c"]), ('"a\\"b"', ['a"b']), ("a\\ b", ["a b"]), ("''", [""]), ("", [])],
)
def test_words_are_split_as_systemd_does(text, words):
    assert unit_files.split(text) == words


@given(st.text(max_size=200))
def test_any_text_is_a_unit(text):
    files = FileSystem({path: directory() for path in FOLDERS}, {}, 1)
    files.write("/etc/systemd/system/x.service", text)
    unit = unit_files.load(files, "x.service")
    assert unit.name == "x.service"
    for value in unit.values("ExecStart"):
        assert isinstance(unit_files.command(value, {}), list)
