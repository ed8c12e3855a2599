import subprocess
import sys

import pytest

from app.terminal import shell
from app.terminal.shell import CommandOutput, Limits, SnapshotError, run_line

QUICK = Limits(seconds=1.0, commands=500, loops=2000)


def session(*lines, limits=QUICK, **options):
    """The outcomes of lines typed one after the other, each in a shell made anew from the bytes of the last."""
    outcomes = []
    state = None
    for line in lines:
        outcome = run_line(state, line, limits=limits, **options)
        state = outcome.snapshot
        outcomes.append(outcome)
    return outcomes


@pytest.mark.parametrize(
    ("lines", "stdout"),
    [
        (["echo a b | tr a-z A-Z"], "A B\n"),
        (["A=5", "echo $((A*2)) ${B:-x}"], "10 x\n"),
        (["export N=web", "env | grep ^N="], "N=web\n"),
        (["cat <<'EOF' > /tmp/p.yaml\na: $HOME\nEOF", "cat /tmp/p.yaml"], "a: $HOME\n"),
        (["printf 'replicas: 2' > f", "sed -i 's/2/4/' f", "cat f"], "replicas: 4"),
        (["cd /tmp", "pwd"], "/tmp\n"),
        (["greet() { echo hello $1; }", "greet you"], "hello you\n"),
        (["alias say=echo", "say hi"], "hi\n"),
        (["false", "echo $?"], "1\n"),
        (["nosuchcommand", "echo $?", "echo $?"], "0\n"),
        (["for n in node01 node02; do echo $n; done | tail -n 1"], "node02\n"),
        (["pwd; whoami; hostname"], "/root\nroot\ncontrolplane\n"),
        (["echo 한글 | wc -m"], "3\n"),
    ],
)
def test_pipes_variables_and_files_survive_from_line_to_line(lines, stdout):
    last = session(*lines)[-1]
    assert (last.stdout, last.stderr, last.code) == (stdout, "", 0)


def test_a_state_is_a_few_kilobytes():
    outcome = session("A=1; echo hello > f; cd /tmp")[0]
    assert len(outcome.snapshot) < 8 * 1024


@pytest.mark.parametrize(
    ("line", "prompt"),
    [
        ("true", "root@controlplane:~# "),
        ("mkdir -p a/b && cd a/b", "root@controlplane:~/a/b# "),
        ("cd /etc", "root@controlplane:/etc# "),
    ],
)
def test_the_prompt_names_the_directory(line, prompt):
    assert session(line)[0].prompt == prompt


@pytest.mark.parametrize(
    "line",
    [
        "while true; do :; done",
        "for ((;;)); do x=1; done",
        "f() { f; }; f",
        ":(){ :|:& };:",
        "x=a; while true; do x=$x$x; done",
        "echo {1..100000000}",
        "sleep 1000",
        "printf '%1000000000d' 1",
        "awk 'BEGIN{while(1){}}'",
        "dd if=/dev/zero of=/tmp/z bs=1M count=100",
        "echo " + "$(" * 5000 + ")" * 5000,
        "if true; then",
        "curl http://127.0.0.1/",
        "cat /etc/shadow",
    ],
)
def test_a_hostile_line_ends_and_the_shell_goes_on(line):
    hostile, after = session(line, "echo still here")
    assert hostile.code != 0
    assert hostile.stderr
    assert hostile.stderr.endswith("\n")
    assert after.stdout == "still here\n"


def test_a_line_that_only_prints_is_cut_with_a_sentence():
    outcome = session("yes", limits=Limits(output=1000))[0]
    assert len(outcome.stdout) < 1100
    assert outcome.stdout.endswith("\n[The output is longer; the first 1000 bytes are shown.]\n")


def test_a_cut_never_splits_a_character():
    outcome = session("echo 한글한글", limits=Limits(output=4))[0]
    assert outcome.stdout == "한\n[The output is longer; the first 3 bytes are shown.]\n"


def test_files_of_this_machine_are_out_of_reach():
    outcome = session(f"cat {__file__}; ls {sys.prefix}")[0]
    assert outcome.stdout == ""
    assert outcome.code != 0


def test_a_state_that_grew_too_large_is_not_kept():
    limits = Limits(snapshot=20_000)
    grown, after = session("seq 1 30000 > /tmp/big; echo done", "ls /tmp | wc -l", limits=limits)
    assert grown.stdout == "done\n"
    assert "not kept" in grown.stderr
    assert after.stdout.strip() == "0"


@pytest.mark.parametrize(
    ("line", "says"),
    [("x" * 501, "501 characters; at most 500"), ("echo a\0b", "NUL character")],
)
def test_a_line_that_cannot_be_read_is_refused(line, says):
    state = session("A=1")[0].snapshot
    refused = run_line(state, line, limits=Limits(line=500))
    assert says in refused.stderr
    assert (refused.stdout, refused.code) == ("", 2)
    assert run_line(refused.snapshot, "echo $A").stdout == "1\n"


@pytest.mark.parametrize("state", [b"", b"{}", b"cka-shell/1\n", b"cka-shell/1\n\0garbage", b"cka-shell/9\n\0x"])
def test_bytes_that_no_shell_wrote_are_refused(state):
    with pytest.raises(SnapshotError):
        run_line(state, "true")


def test_commands_of_the_lab_get_arguments_pipes_and_files():
    def kubectl(call):
        if call.arguments[0] == "apply":
            return CommandOutput(stdout=f"{call.read_file(f'{call.directory}/p.yaml').decode()} applied\n")
        if call.arguments[0] == "stdin":
            return CommandOutput(stdout=(call.stdin or "").upper())
        return CommandOutput(stderr=f"error: unknown command {call.arguments[0]!r}\n", code=1)

    outcomes = session(
        "printf bee > p.yaml; kubectl apply -f p.yaml",
        "echo pipe | kubectl stdin | tee out; cat out",
        "kubectl nonsense || echo failed",
        commands={"kubectl": kubectl},
    )
    assert [outcome.stdout for outcome in outcomes] == ["bee applied\n", "PIPE\nPIPE\n", "failed\n"]
    assert outcomes[2].stderr == "error: unknown command 'nonsense'\n"


def test_a_shell_with_commands_can_go_on_without_them():
    state = run_line(None, "hello > f", commands={"hello": lambda _: CommandOutput("hello\n")}).snapshot
    assert run_line(state, "cat f").stdout == "hello\n"


def test_the_line_that_crashes_the_interpreter_takes_only_its_own_process_down():
    program = (
        f"from {shell.__name__} import run_line; run_line(None, '''x='eval \"$x\"'; eval \"$x\"'''); print('survived')"
    )
    child = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=30, check=False)
    assert child.returncode < 0 or "survived" in child.stdout  # a later interpreter may end it by a limit
    assert run_line(None, "echo here").stdout == "here\n"
