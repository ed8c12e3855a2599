"""The files of a machine: what POSIX says, over a base that is never written."""

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from app.cluster.nodes import filesystem
from app.cluster.nodes.filesystem import FileError, FileSystem, directory, file

BASE = {
    "/": directory(),
    "/etc": directory(),
    "/etc/hosts": file("127.0.0.1 localhost\n"),
    "/etc/kubernetes": directory(),
    "/etc/kubernetes/manifests": directory(0o755),
    "/etc/kubernetes/manifests/etcd.yaml": file("kind: Pod\n", 0o600),
    "/root": directory(0o700),
    "/tmp": directory(0o1777),
}


@pytest.fixture
def files():
    return FileSystem(BASE, {}, 7)


def changes_of(files):
    return files._changes


def test_the_base_is_read_and_costs_nothing(files):
    assert files.read("/etc/hosts") == "127.0.0.1 localhost\n"
    assert files.names("/") == ["etc", "root", "tmp"]
    assert files.names("/etc/kubernetes/../kubernetes//manifests/.") == ["etcd.yaml"]
    assert files.stat("/etc/kubernetes/manifests/etcd.yaml").mode == 0o600
    assert changes_of(files) == {}


def test_what_is_written_is_kept_as_json_and_read_again(files):
    files.write("/root/bee.yaml", "kind: Pod\n")
    files.write("/root/bee.yaml", "# end\n", append=True)
    kept = orjson.loads(orjson.dumps(changes_of(files)))
    again = FileSystem(BASE, kept, 9)
    assert again.read("/root/bee.yaml") == "kind: Pod\n# end\n"
    assert again.stat("/root/bee.yaml").changed == 7
    assert list(kept) == ["/root/bee.yaml"]


def test_a_removed_file_of_the_base_is_gone_and_can_come_back(files):
    path = "/etc/kubernetes/manifests/etcd.yaml"
    entry = files.stat(path)
    files.rename(path, "/tmp/etcd.yaml")
    assert files.names("/etc/kubernetes/manifests") == []
    assert not files.exists(path)
    files.rename("/tmp/etcd.yaml", path)
    assert files.stat(path) == entry
    assert changes_of(files) == {}


def test_a_directory_moves_with_what_it_holds(files):
    files.rename("/etc/kubernetes", "/root/k8s")
    assert files.read("/root/k8s/manifests/etcd.yaml") == "kind: Pod\n"
    assert files.names("/etc") == ["hosts"]


def test_links_are_followed_to_their_end(files):
    files.link("../etc/kubernetes", "/root/k8s")
    assert files.read("/root/k8s/manifests/etcd.yaml") == "kind: Pod\n"
    files.write("/root/k8s/manifests/new.yaml", "x")
    assert files.read("/etc/kubernetes/manifests/new.yaml") == "x"
    assert files.stat("/root/k8s", follow=False).content == "../etc/kubernetes"
    files.remove("/root/k8s")
    assert files.exists("/etc/kubernetes")


def test_directories_are_made_one_by_one_or_with_their_parents(files):
    files.make_directory("/opt", mode=0o700)
    files.make_directory("/opt/a/b", parents=True)
    files.make_directory("/opt/a/b", parents=True)
    assert [path for path, _ in files.walk("/opt")] == ["/opt", "/opt/a", "/opt/a/b"]
    files.remove("/opt", recursive=True)
    assert not files.exists("/opt")
    assert changes_of(files) == {}


def test_modes_owners_and_times(files):
    files.change_mode("/etc/hosts", 0o600)
    files.change_owner("/etc/hosts", "bob", "staff")
    files.touch("/etc/hosts")
    entry = files.stat("/etc/hosts")
    assert (entry.mode, entry.owner, entry.group, entry.changed) == (0o600, "bob", "staff", 7)
    files.write("/etc/hosts", "new\n")
    assert files.stat("/etc/hosts").mode == 0o600


@pytest.mark.parametrize(
    ("act", "says"),
    [
        (lambda files: files.read("/nosuch"), "/nosuch: No such file or directory"),
        (lambda files: files.read("/etc"), "/etc: Is a directory"),
        (lambda files: files.names("/etc/hosts"), "/etc/hosts: Not a directory"),
        (lambda files: files.read("/etc/hosts/x"), "/etc/hosts/x: Not a directory"),
        (lambda files: files.write("/etc", "x"), "/etc: Is a directory"),
        (lambda files: files.write("/tmp/new/", "x"), "/tmp/new/: Is a directory"),
        (lambda files: files.write("/no/where", "x"), "/no/where: No such file or directory"),
        (lambda files: files.make_directory("/etc"), "/etc: File exists"),
        (lambda files: files.make_directory("/a/b"), "/a/b: No such file or directory"),
        (lambda files: files.make_directory("/etc/hosts/b", parents=True), "/etc/hosts/b: Not a directory"),
        (lambda files: files.remove("/etc"), "/etc: Is a directory"),
        (lambda files: files.remove("/", recursive=True), "/: Invalid argument"),
        (lambda files: files.remove_directory("/etc"), "/etc: Directory not empty"),
        (lambda files: files.remove_directory("/etc/hosts"), "/etc/hosts: Not a directory"),
        (lambda files: files.rename("/etc", "/etc/kubernetes/etc"), "/etc/kubernetes/etc: Invalid argument"),
        (lambda files: files.rename("/etc/hosts", "/tmp"), "/tmp: Is a directory"),
        (lambda files: files.rename("/root", "/etc"), "/etc: Directory not empty"),
        (lambda files: files.rename("/root", "/etc/hosts"), "/etc/hosts: Not a directory"),
        (lambda files: files.link("x", "/etc/hosts"), "/etc/hosts: File exists"),
        (lambda files: files.write("/tmp/" + "x" * 256, ""), "File name too long"),
        (lambda files: files.read("/x" * 3000), "File name too long"),
        (lambda files: files.write("/tmp/big", "x" * (filesystem.MAX_BYTES + 1)), "/tmp/big: No space left on device"),
    ],
)
def test_what_cannot_be_done_is_said_as_strerror_does_and_changes_nothing(files, act, says):
    with pytest.raises(FileError) as failure:
        act(files)
    assert says in str(failure.value)
    assert changes_of(files) == {}


def test_links_that_lead_nowhere_or_in_a_circle(files):
    files.link("/tmp/b", "/tmp/a")
    assert not files.exists("/tmp/a")
    files.link("/tmp/a", "/tmp/b")
    with pytest.raises(filesystem.TooManyLinks):
        files.read("/tmp/a")


def test_the_number_of_changes_is_bounded(files):
    for number in range(filesystem.MAX_ENTRIES):
        files.write(f"/tmp/{number}", "")
    with pytest.raises(filesystem.NoSpace):
        files.write("/tmp/more", "")
    files.remove("/tmp/0")
    files.write("/tmp/more", "")


names = st.sampled_from(["a", "b", "c"])
paths = st.lists(names, min_size=1, max_size=3).map(lambda parts: "/" + "/".join(parts))


SMALL = {"/": directory(), "/a": directory(), "/a/b": file("old"), "/c": file("c")}


class AgainstAModel(RuleBasedStateMachine):
    """The tree against a plain dictionary of paths, over a base with one directory and two files."""

    def __init__(self):
        super().__init__()
        self.files = FileSystem(SMALL, {}, 1)
        self.model = {"/a": None, "/a/b": "old", "/c": "c"}

    def parent_ok(self, path):
        parent = path.rpartition("/")[0]
        return not parent or (parent in self.model and self.model[parent] is None)

    @rule(path=paths, text=st.text(max_size=3))
    def write(self, path, text):
        fine = self.parent_ok(path) and self.model.get(path, "") is not None
        try:
            self.files.write(path, text)
        except FileError:
            assert not fine
        else:
            assert fine
            self.model[path] = text

    @rule(path=paths)
    def make(self, path):
        fine = self.parent_ok(path) and path not in self.model
        try:
            self.files.make_directory(path)
        except FileError:
            assert not fine
        else:
            assert fine
            self.model[path] = None

    @rule(path=paths)
    def remove(self, path):
        try:
            self.files.remove(path, recursive=True)
        except FileError:
            assert path not in self.model
        else:
            self.model = {p: c for p, c in self.model.items() if p != path and not p.startswith(path + "/")}

    @precondition(lambda self: self.model)
    @rule(data=st.data(), new=paths)
    def rename(self, data, new):
        old = data.draw(st.sampled_from(sorted(self.model)))
        try:
            self.files.rename(old, new)
        except FileError:
            return
        moved = {p: c for p, c in self.model.items() if p == old or p.startswith(old + "/")}
        if new != old:
            self.model = {p: c for p, c in self.model.items() if p not in moved and p != new}
            self.model |= {new + p.removeprefix(old): c for p, c in moved.items()}

    @invariant()
    def the_same_tree(self):
        seen = {p: e.content if e.kind == "f" else None for p, e in self.files.walk("/") if p != "/"}
        assert seen == self.model


def test_any_operations_leave_the_tree_that_a_dictionary_would_have():
    run_state_machine_as_test(AgainstAModel, settings=settings(max_examples=60, stateful_step_count=30, deadline=None))


@given(st.text(max_size=60))
def test_any_path_is_found_or_refused_with_a_reason(path):
    files = FileSystem(BASE, {}, 1)
    try:
        files.stat(path)
    except FileError:
        assert not files.exists(path)
    else:
        assert files.exists(path)


def test_bytes_that_are_no_text_survive(files):
    data = bytes(range(256)).decode("utf-8", "surrogateescape")
    files.write("/tmp/data", data)
    kept = orjson.loads(orjson.dumps(changes_of(files)))
    again = FileSystem(BASE, kept, 9)
    assert again.read("/tmp/data") == data
    assert again.stat("/tmp/data").size == 256
