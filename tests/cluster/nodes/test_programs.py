import time

import pytest

from app.apimachinery.clock import MINUTE, SECOND
from app.cluster.nodes import images, programs
from app.cluster.processes import Launch, Run
from tests.cluster.builders import NOW, fresh

BUSYBOX = images.IMAGES["docker.io/library/busybox"]
NGINX = images.IMAGES["docker.io/library/nginx"]


def started(*argv: str, image: images.Image = BUSYBOX, **container: object) -> Run:
    pod = {"metadata": {"name": "bee", "namespace": "default", "labels": {"a/b": "7"}}, "spec": {"nodeName": "node01"}}
    launch = Launch(now=NOW, client=fresh().client, pod=pod, container=container, argv=argv)
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
        (("sh", "-c", "while true; do echo x; sleep 1; done"), None, 0, ("x",)),
        (("sh", "-c", "sleep 5; false; sleep 100"), 105 * SECOND, 0, ()),
        (("sh", "-ec", "sleep 5; false; sleep 100"), 5 * SECOND, 1, ()),
        (("sh", "-c", "set -e; sleep 5; false; sleep 100"), 5 * SECOND, 1, ()),
        (("sh", "-c", "sleep 5; false"), 5 * SECOND, 1, ()),
        (("sh", "-c", "false && echo no || echo yes"), programs.QUICK, 0, ("yes",)),
        (("sh", "-c", "true || exit 3; exit 4"), programs.QUICK, 4, ()),
        (("sh", "-c", "for i in 3 2 1 ; do echo $i ; sleep 2; done"), 6 * SECOND, 0, ("3", "2", "1")),
        (("sh", "-c", "i=0; while [ $i -lt 3 ]; do i=$((i+1)); sleep 1; done; echo $i"), 3 * SECOND, 0, ("3",)),
        (("sh", "-c", "for i in $(seq 1 3); do [ $i = 2 ] && break; done; echo at $i"), programs.QUICK, 0, ("at 2",)),
        (("sh", "-c", "if [ -z '' ]; then echo empty; exit 5; else echo full; fi"), programs.QUICK, 5, ("empty",)),
        (("sh", "-c", "if [ a != a ]; then exit 1; elif test 2 -gt 1; then exit 2; fi"), programs.QUICK, 2, ()),
        (("sh", "-c", "echo a > /tmp/x; echo b >> /tmp/x; cat /tmp/x | grep a"), programs.QUICK, 0, ("a", "b")),
        (("sh", "-c", "date; echo Hello"), programs.QUICK, 0, ("Sun Mar  1 09:00:00 UTC 2026", "Hello")),
        (("sh", "-c", "sleep 61; date +%H:%M:%S"), 61 * SECOND, 0, ("09:01:01",)),
        (
            ("sh", "-c", 'X="a b"; for w in $X; do echo "<$w>"; done; echo "<$X>"'),
            programs.QUICK,
            0,
            ("<a>", "<b>", "<a b>"),
        ),
        (("sh", "-c", "echo '$HOME' \"$HOSTNAME\" ${NO:-none}"), programs.QUICK, 0, ("$HOME bee none",)),
        (("sh", "-c", "sleep 3 & sleep 5 & wait; echo done"), 5 * SECOND, 0, ("done",)),
        (("sh", "-c", "(sleep 1; exit 3)"), SECOND, 3, ()),
        (("sh", "-c", "(exit 3); echo $?; sh -c 'exit 4'; echo $?"), programs.QUICK, 0, ("3", "4")),
        (("sh", "-c", "X=1; (X=2; echo $X); echo $X"), programs.QUICK, 0, ("2", "1")),
        (("sh", "-c", "sleep 100 & exit 2"), programs.QUICK, 2, ()),
        (("sh", "-c", "timeout 5 sleep 100"), 5 * SECOND, 124, ()),
        (("sh", "-c", "echo $(hostname) `echo two`"), programs.QUICK, 0, ("bee two",)),
        (("sh", "-c", "until nslookup kubernetes.default; do sleep 2; done"), programs.QUICK, 0, ()),
        (("sh", "-c", "until nslookup nowhere > /dev/null; do echo waiting; sleep 2; done"), None, 0, ("waiting",)),
        (("sh", "-c", "for i in 1; do"), programs.QUICK, 127, ("sh: for: not found",)),
        (("date",), programs.QUICK, 0, ("Sun Mar  1 09:00:00 UTC 2026",)),
        (("printf", "%s\\n", "x"), programs.QUICK, 0, ("x",)),
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


HOSTILE = [
    "echo x;" * 100_000,
    "(" * 5_000,
    "$(" * 5_000,
    "$((" * 5_000,
    "echo $((" + "(" * 190 + "1" + ")" * 190 + "))",
    "echo $((9999999999*9999999999*9999999999))",
    'X=\'sh -c "$X"\'; export X; sh -c "$X"',
    "X=aaaaaaaaaa; while true; do X=$X$X$X$X; done",
    "i=0; while true; do i=$((i+1)); done",
    "for a in $(seq 1 40); do for b in $(seq 1 40); do echo $a; done; done",
    "if " * 3_000,
    "seq 1 999999",
    "date +%s" + "%c" * 2_000,
    "`" * 5_001,
    "${a-" * 4_000,
    "echo \x00 \udcff",
]


@pytest.mark.parametrize("script", HOSTILE)
def test_a_script_of_any_kind_is_read_in_bounded_time(script: str) -> None:
    began = time.process_time()
    run = started("sh", "-c", script)
    assert time.process_time() - began < 1
    assert len(run.lines) <= 50
    assert sum(map(len, run.lines)) <= 200_000


def test_variables_of_the_container_stand_in_its_command() -> None:
    field = {"valueFrom": {"fieldRef": {"fieldPath": "metadata.labels['a/b']"}}}
    env = [{"name": "A", "value": "x"}, {"name": "B", "value": "$(A)y $$(A) $(C)"}, {"name": "I", **field}]
    assert started("echo", "$(B)", "$A", env=env).lines == ("xy $(A) $(C) $A",)
    assert started("sh", "-c", "echo $B $I; exit $I", env=env).lines == ("xy $(A) $(C) 7",)
    assert started("sh", "-c", "exit $I", env=env).code == 7


@pytest.mark.parametrize(
    ("argv", "runs", "code", "lines"),
    [
        (("perl", "-Mbignum=bpi", "-wle", "print bpi(12)"), 4 * SECOND, 0, ("3.14159265359",)),
        (("perl", "-e", "sleep 3; exit 2"), 3 * SECOND, 2, ()),
        (("python3", "-c", "import time; print('hi'); time.sleep(20)"), 20 * SECOND, 0, ("hi",)),
        (("python3", "-c", "import sys; sys.exit(3)"), programs.QUICK, 3, ()),
        (("python3", "-c", "while True: pass"), None, 0, ()),
        (("python3", "-m", "http.server"), None, 0, ()),
        (("python3",), programs.QUICK, 0, ()),
    ],
)
def test_one_liners_of_interpreters_end(
    argv: tuple[str, ...], runs: int | None, code: int, lines: tuple[str, ...]
) -> None:
    image = images.IMAGES["docker.io/library/perl" if argv[0] == "perl" else "docker.io/library/python"]
    run = started(*argv, image=image)
    assert (run.runs, run.code, run.lines) == (runs, code, lines)


def test_two_thousand_digits_of_pi() -> None:
    image = images.IMAGES["docker.io/library/perl"]
    (line,) = started("perl", "-Mbignum=bpi", "-wle", "print bpi(2000)", image=image).lines
    assert (len(line), line[:12]) == (2001, "3.1415926535")
    assert (line[763:769], line[992:1002]) == ("999999", "2164201989")


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
