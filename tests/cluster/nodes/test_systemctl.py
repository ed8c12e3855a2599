"""Services of a machine through systemctl: a host of its own whose clock the test moves."""

import orjson
import pytest

from app.apimachinery.clock import SECOND
from app.cluster.nodes import systemctl
from app.cluster.nodes.filesystem import FileSystem, directory, file
from app.cluster.nodes.systemd import Systemd
from app.cluster.processes import Run

NOON = 1_772_366_400 * SECOND  # Sun 2026-03-01 12:00:00 UTC
UNIT = "/usr/lib/systemd/system/kubelet.service"
WANTS = "/etc/systemd/system/multi-user.target.wants"
BASE = {
    path: directory()
    for path in (
        "/", "/etc", "/etc/systemd", "/etc/systemd/system", WANTS, "/usr", "/usr/bin", "/usr/lib", "/usr/lib/systemd",
        "/usr/lib/systemd/system", "/usr/lib/systemd/system/kubelet.service.d",
    )
}  # fmt: skip
BASE[UNIT] = file(
    "[Unit]\nDescription=kubelet: The Kubernetes Node Agent\nDocumentation=https://kubernetes.io/docs/\n"
    "[Service]\nExecStart=/usr/bin/kubelet --config=/c\nRestart=always\nStartLimitInterval=0\nRestartSec=10\n"
    "[Install]\nWantedBy=multi-user.target\n"
)
BASE["/usr/lib/systemd/system/kubelet.service.d/10-kubeadm.conf"] = file("[Service]\nEnvironment=A=b\n")
BASE["/usr/bin/kubelet"] = file("\x7fELF", 0o755)
BASE["/usr/bin/sleep"] = file("\x7fELF", 0o755)
BASE[f"{WANTS}/kubelet.service"] = file("")


class Host:
    """A machine without a cluster: `programs` says what becomes of a start."""

    def __init__(self):
        self.name, self.now, self.state, self.changes = "node01", NOON, {}, {}
        self.programs, self.timers, self.gone = {}, {}, []

    @property
    def files(self):
        return FileSystem(BASE, self.changes, self.now)

    @property
    def base(self):
        return FileSystem(BASE, {}, self.now)

    def launch(self, unit, argv, variables):
        run = self.programs.get(argv[0].rpartition("/")[2], Run())
        return run(argv, variables) if callable(run) else run

    def ended(self, unit):
        self.gone.append(unit)

    def at(self, unit, step, delay):
        self.timers[unit, step] = self.now + delay

    def cancel(self, unit, step):
        self.timers.pop((unit, step), None)

    def advance(self, seconds):
        end = self.now + int(seconds * SECOND)
        while due := sorted((at, key) for key, at in self.timers.items() if at <= end):
            self.now, key = due[0]
            del self.timers[key]
            Systemd(self).fired(*key)
        self.now = end
        self.state = orjson.loads(orjson.dumps(self.state))


@pytest.fixture
def host():
    return Host()


@pytest.fixture
def systemctl_(host):
    def run(line):
        return systemctl.run(Systemd(host), line.split())

    return run


def told(host):
    return [entry[4] for entry in host.state.get("journal", [])]


def unit(host, name, text):
    host.files.write(f"/etc/systemd/system/{name}", text)


def test_a_unit_of_the_machine_runs_without_an_entry(host, systemctl_):
    assert systemctl_("is-active kubelet").stdout == "active\n"
    assert systemctl_("is-enabled kubelet").stdout == "enabled\n"
    assert Systemd(host).running() == ["kubelet.service"]
    assert host.state.get("units", {}) == {}


def test_a_unit_is_stopped_and_started(host, systemctl_):
    assert systemctl_("stop kubelet") == systemctl.Output()
    assert systemctl_("is-active kubelet") == systemctl.Output("inactive\n", code=3)
    assert host.gone == ["kubelet.service"]
    assert systemctl_("start kubelet.service").code == 0
    assert systemctl_("is-active kubelet").code == 0
    title = "kubelet.service - kubelet: The Kubernetes Node Agent"
    assert told(host) == [
        f"Stopping {title}...", "kubelet.service: Deactivated successfully.", f"Stopped {title}.", f"Started {title}.",
    ]  # fmt: skip


def test_the_status_shows_what_runs_and_its_last_lines(host, systemctl_):
    host.programs["kubelet"] = Run(lines=("hello",))
    systemctl_("restart kubelet")
    host.advance(125)
    answer = systemctl_("status kubelet")
    pid = host.state["units"]["kubelet.service"]["pid"]
    assert answer == systemctl.Output(
        "● kubelet.service - kubelet: The Kubernetes Node Agent\n"
        "     Loaded: loaded (/usr/lib/systemd/system/kubelet.service; enabled; preset: enabled)\n"
        "    Drop-In: /usr/lib/systemd/system/kubelet.service.d\n"
        "             └─10-kubeadm.conf\n"
        "     Active: active (running) since Sun 2026-03-01 12:00:00 UTC; 2min 5s ago\n"
        "       Docs: https://kubernetes.io/docs/\n"
        f"   Main PID: {pid} (kubelet)\n"
        "      Tasks: 11 (limit: 4556)\n"
        "     CGroup: /system.slice/kubelet.service\n"
        f"             └─{pid} /usr/bin/kubelet --config=/c\n"
        "\n"
        "Mar 01 12:00:00 node01 systemd[1]: Stopping kubelet.service - kubelet: The Kubernetes Node Agent...\n"
        "Mar 01 12:00:00 node01 systemd[1]: kubelet.service: Deactivated successfully.\n"
        "Mar 01 12:00:00 node01 systemd[1]: Stopped kubelet.service - kubelet: The Kubernetes Node Agent.\n"
        "Mar 01 12:00:00 node01 systemd[1]: Started kubelet.service - kubelet: The Kubernetes Node Agent.\n"
        f"Mar 01 12:00:00 node01 kubelet[{pid}]: hello\n"
    )


def test_a_program_that_dies_is_tried_again_as_often_as_its_unit_says(host, systemctl_):
    host.programs["kubelet"] = Run(runs=SECOND, code=1, lines=("bad flag",))
    systemctl_("restart kubelet")
    host.advance(5)
    answer = systemctl_("status kubelet")
    assert answer.code == 3
    assert (
        "Active: activating (auto-restart) (Result: exit-code) since Sun 2026-03-01 12:00:01 UTC; 4s ago"
        in answer.stdout
    )
    assert "(code=exited, status=1/FAILURE)" in answer.stdout
    host.advance(3600)
    assert "kubelet.service: Scheduled restart job, restart counter is at 327." in told(host)
    assert len(told(host)) == 300
    host.programs["kubelet"] = Run()
    host.advance(11)
    assert systemctl_("is-active kubelet").stdout == "active\n"


def test_a_unit_that_fails_too_quickly_is_given_up(host, systemctl_):
    unit(host, "x.service", "[Service]\nExecStart=/usr/bin/sleep\nRestart=on-failure\n")
    host.programs["sleep"] = Run(runs=0, code=2)
    assert systemctl_("start x").code == 0
    host.advance(10)
    assert systemctl_("is-active x").stdout == "failed\n"
    assert told(host)[-3:] == [
        "x.service: Start request repeated too quickly.", "x.service: Failed with result 'exit-code'.",
        "Failed to start x.service.",
    ]  # fmt: skip
    assert told(host).count("Started x.service.") == 5
    assert systemctl_("is-failed x").code == 0
    host.advance(20)
    systemctl_("reset-failed x")
    assert systemctl_("is-active x").stdout == "inactive\n"


def test_a_program_that_ends_well_leaves_its_unit_inactive(host, systemctl_):
    unit(host, "once.service", "[Unit]\nDescription=Once\n[Service]\nType=oneshot\nExecStart=/usr/bin/sleep 1\n")
    host.programs["sleep"] = Run(runs=SECOND)
    systemctl_("start once")
    assert systemctl_("is-active once").stdout == "activating\n"
    host.advance(2)
    assert systemctl_("is-active once").stdout == "inactive\n"
    assert told(host) == [
        "Starting once.service - Once...", "once.service: Deactivated successfully.", "Finished once.service - Once.",
    ]  # fmt: skip


def test_a_changed_file_counts_after_a_reload(host, systemctl_):
    host.files.write(UNIT, host.files.read(UNIT).replace("/c", "/other"))
    answer = systemctl_("restart kubelet")
    assert "changed on disk. Run 'systemctl daemon-reload' to reload units." in answer.stderr
    assert host.state["units"]["kubelet.service"]["argv"] == ["/usr/bin/kubelet", "--config=/c"]
    assert systemctl_("daemon-reload") == systemctl.Output()
    assert systemctl_("restart kubelet").stderr == ""
    assert host.state["units"]["kubelet.service"]["argv"] == ["/usr/bin/kubelet", "--config=/other"]
    host.files.write(UNIT, BASE[UNIT].content)
    systemctl_("daemon-reload")
    assert "loaded" not in host.state["units"]["kubelet.service"]


def test_a_unit_of_the_learners_own_is_started_enabled_and_removed(host, systemctl_):
    assert systemctl_("start my").stderr == "Failed to start my.service: Unit my.service not found.\n"
    unit(host, "my.service", "[Service]\nExecStart=/usr/bin/sleep 9\n[Install]\nWantedBy=multi-user.target\n")
    assert systemctl_("is-enabled my") == systemctl.Output("disabled\n", code=1)
    link = f"{WANTS}/my.service"
    assert systemctl_("enable --now my").stderr == f"Created symlink {link} → /etc/systemd/system/my.service.\n"
    assert systemctl_("is-active my").stdout == "active\n"
    assert "my.service" in systemctl_("list-units").stdout
    assert systemctl_("disable --now my").stderr == f'Removed "{link}".\n'
    assert systemctl_("is-active my").stdout == "inactive\n"
    host.files.remove("/etc/systemd/system/my.service")
    systemctl_("daemon-reload")
    assert systemctl_("status my") == systemctl.Output(stderr="Unit my.service could not be found.\n", code=4)


@pytest.mark.parametrize(
    ("text", "code", "says"),
    [
        ("[Service]\nExecStart=/nosuch\n", 203, "Failed at step EXEC spawning /nosuch: No such file or directory"),
        ("[Service]\nExecStart=/etc\n", 203, "Failed at step EXEC spawning /etc: Permission denied"),
        ("[Service]\nExecStart=sleep 5\n", 0, "Started x.service."),
    ],
)
def test_what_cannot_be_executed_fails_with_203(host, systemctl_, text, code, says):
    unit(host, "x.service", text)
    systemctl_("start x")
    host.advance(1)
    assert says in " ".join(told(host))
    assert host.state["units"]["x.service"].get("code", 0) == code


def test_a_unit_without_a_command_is_a_bad_setting(host, systemctl_):
    unit(host, "x.service", "[Service]\nExeStart=/bin/true\n")
    answer = systemctl_("start x")
    assert answer.code == 1
    assert answer.stderr == (
        "Failed to start x.service: Unit x.service has a bad unit file setting.\n"
        "See system logs and 'systemctl status x.service' for details.\n"
    )
    assert "Unknown key 'ExeStart' in section [Service], ignoring." in told(host)[0]


def test_a_missing_environment_file_is_a_failure(host, systemctl_):
    unit(host, "x.service", "[Service]\nEnvironmentFile=/nosuch\nExecStart=/usr/bin/sleep\n")
    answer = systemctl_("start x")
    assert (answer.code, "Job for x.service failed" in answer.stderr) == (1, True)
    assert told(host)[-1] == "x.service: Failed with result 'resources'."


@pytest.mark.parametrize(
    ("line", "stderr", "code"),
    [
        ("frobnicate kubelet", "Unknown command verb 'frobnicate'.\n", 1),
        ("start", "Too few arguments.\n", 1),
        ("stop nosuch", "Failed to stop nosuch.service: Unit nosuch.service not loaded.\n", 5),
        ("restart nosuch", "Failed to restart nosuch.service: Unit nosuch.service not found.\n", 5),
        ("enable nosuch", "Failed to enable unit: Unit file nosuch.service does not exist.\n", 1),
        ("cat nosuch", "No files found for nosuch.service.\n", 1),
        ("--frob status kubelet", "systemctl: unrecognized option '--frob'\n", 1),
    ],
)
def test_a_wrong_line_is_answered_in_systemctls_words(systemctl_, line, stderr, code):
    assert systemctl_(line) == systemctl.Output(stderr=stderr, code=code)


def test_cat_shows_the_files_with_their_names(systemctl_):
    shown = systemctl_("cat kubelet").stdout
    assert shown.startswith(f"# {UNIT}\n[Unit]\n")
    assert "\n\n# /usr/lib/systemd/system/kubelet.service.d/10-kubeadm.conf\n[Service]\n" in shown


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.05, "50ms"), (5, "5s"), (60, "1min"), (3900, "1h 5min"), (2 * 86400 + 3600, "2 days 1h")]
)
def test_times_are_told_as_systemd_does(seconds, text):
    assert systemctl.ago(int(seconds * SECOND)) == text
