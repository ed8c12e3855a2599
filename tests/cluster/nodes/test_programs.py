import pytest

from app.apimachinery.clock import MINUTE, SECOND
from app.cluster.nodes import images, programs
from app.cluster.processes import Launch, Run
from tests.cluster.builders import NOW, fresh

BUSYBOX = images.IMAGES["docker.io/library/busybox"]
NGINX = images.IMAGES["docker.io/library/nginx"]


def started(*argv: str, image: images.Image = BUSYBOX, **container: object) -> Run:
    launch = Launch(now=NOW, client=fresh().client, pod={}, container=container, argv=argv)
    return programs.start(launch, image, {})


@pytest.mark.parametrize(
    ("argv", "runs", "code", "lines"),
    [
        (("sleep", "30"), 30 * SECOND, 0, ()),
        (("sleep", "1m", "5"), 65 * SECOND, 0, ()),
        (("sleep", "0.5"), SECOND // 2, 0, ()),
        (("/bin/sleep", "1h"), 60 * MINUTE, 0, ()),
        (("sleep", "infinity"), None, 0, ()),
        (("sleep", "soon"), programs.QUICK, 1, ("sleep: invalid number 'soon'",)),
        (("sleep",), programs.QUICK, 1, ("sleep: missing operand",)),
        (("sh",), programs.QUICK, 0, ()),
        (("sh", "-c", "echo hello && sleep 20"), 20 * SECOND, 0, ("hello",)),
        (("sh", "-c", "echo a; echo b; exit 7"), programs.QUICK, 7, ("a", "b")),
        (("sh", "-c", "while true; do echo x; sleep 1; done"), None, 0, ()),
        (("sh", "-c", "sleep 5; false; sleep 100"), 5 * SECOND, 1, ()),
        (("sh", "-c", "frobnicate"), programs.QUICK, 127, ("sh: frobnicate: not found",)),
        (("sh", "-c", "exec tail -f /dev/null"), None, 0, ()),
        (("sh", "-c", "echo 'unclosed"), programs.QUICK, 0, ("'unclosed",)),
        (("tail", "-f", "/dev/null"), None, 0, ()),
        (("true",), programs.QUICK, 0, ()),
        (("false",), programs.QUICK, 1, ()),
        (("echo", "hello", "world"), programs.QUICK, 0, ("hello world",)),
    ],
)
def test_a_command_is_read_for_its_meaning(
    argv: tuple[str, ...], runs: int | None, code: int, lines: tuple[str, ...]
) -> None:
    run = started(*argv)
    assert (run.runs, run.code, run.lines, run.failure) == (runs, code, lines, "")


@pytest.mark.parametrize(
    ("argv", "image", "problem"),
    [
        (("slep", "3"), BUSYBOX, 'exec: "slep": executable file not found in $PATH'),
        (("/opt/tool",), NGINX, 'exec: "/opt/tool": stat /opt/tool: no such file or directory'),
        (("sh",), images.IMAGES["registry.k8s.io/kube-scheduler"], 'exec: "sh": executable file not found in $PATH'),
        ((), BUSYBOX, "no command specified"),
    ],
)
def test_what_is_not_in_the_image_cannot_be_started(argv: tuple[str, ...], image: images.Image, problem: str) -> None:
    assert problem in started(*argv, image=image).failure


def test_a_server_runs_until_it_is_stopped() -> None:
    run = started("nginx", "-g", "daemon off;", image=NGINX)
    assert (run.runs, run.ports, run.stops) == (None, (80,), programs.QUICK)


@pytest.mark.parametrize(("limit", "runs", "reason"), [("200Mi", SECOND, "OOMKilled"), ("300Mi", None, "")])
def test_stress_over_the_memory_limit_is_killed(limit: str, runs: int | None, reason: str) -> None:
    image = images.IMAGES["docker.io/polinux/stress"]
    resources = {"limits": {"memory": limit}}
    run = started("stress", "--vm", "1", "--vm-bytes", "250M", image=image, resources=resources)
    assert (run.runs, run.reason) == (runs, reason)


def test_a_script_of_any_length_is_read_in_bounded_time() -> None:
    run = started("sh", "-c", "echo x;" * 100_000)
    assert len(run.lines) <= 50


@pytest.mark.parametrize(
    ("container", "expected"),
    [
        ({}, ("nginx", "-g", "daemon off;")),
        ({"args": ["-t"]}, ("nginx", "-t")),
        ({"command": ["sleep"], "args": ["3"]}, ("sleep", "3")),
        ({"command": ["sleep", "3"]}, ("sleep", "3")),
    ],
)
def test_command_and_args_override_what_the_image_says(container: dict[str, object], expected: tuple[str, ...]) -> None:
    entry = images.Image(1, ("nginx",), ("-g", "daemon off;"))
    assert programs.argv_of(container, entry) == expected
