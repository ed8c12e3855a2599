"""The terminal over a WebSocket, through a worker: lines, state between them, crashes, other people."""

import pytest
from starlette.websockets import WebSocketDisconnect

from app.progress import labs

EXERCISE = "taint-a-node"


@pytest.fixture
def learner(site):
    person = site.guest()
    answer = person.post(f"/learn/{EXERCISE}/start")
    person.lab = answer.headers["location"]
    return person


def run(socket, line):
    socket.send_json({"line": line})
    return socket.receive_json()


def test_a_line_runs_in_a_worker_and_its_state_survives(learner):
    with learner.client.websocket_connect(f"{learner.lab}/terminal") as socket:
        assert socket.receive_json()["prompt"].startswith("root@controlplane:")
        answer = run(socket, "echo one two | tr a-z A-Z > /tmp/x; N=5; cat /tmp/x")
        assert (answer["stdout"], answer["code"]) == ("ONE TWO\n", 0)
    with learner.client.websocket_connect(f"{learner.lab}/terminal") as socket:
        socket.receive_json()
        assert run(socket, "cat /tmp/x; echo $((N + 1))")["stdout"] == "ONE TWO\n6\n"


def test_a_line_that_kills_its_worker_leaves_the_shell_as_it_was(learner):
    with learner.client.websocket_connect(f"{learner.lab}/terminal") as socket:
        socket.receive_json()
        run(socket, "KEPT=yes")
        answer = run(socket, 'x=\'eval "$x"\'; eval "$x"')
        assert "stopped" in answer["error"]
        assert run(socket, "echo $KEPT")["stdout"] == "yes\n"


def test_other_peoples_terminals_are_not_found(site, learner):
    stranger = site.guest()
    with stranger.client.websocket_connect(f"{learner.lab}/terminal") as socket:
        with pytest.raises(WebSocketDisconnect) as closed:
            socket.receive_json()
        assert closed.value.code == 4404


def test_another_sites_script_gets_no_terminal(learner):
    with (
        pytest.raises(WebSocketDisconnect),
        learner.client.websocket_connect(
            f"{learner.lab}/terminal", headers={"Origin": "https://evil.example"}
        ) as socket,
    ):
        socket.receive_json()


@pytest.mark.parametrize("frame", ["no json", "[]", '{"line": 5}', "{}"])
def test_a_frame_that_is_no_line_ends_the_connection(learner, frame):
    with learner.client.websocket_connect(f"{learner.lab}/terminal") as socket:
        socket.receive_json()
        socket.send_text(frame)
        with pytest.raises(WebSocketDisconnect):
            socket.receive_json()


def test_lines_are_kept_as_commands(site, learner):
    with learner.client.websocket_connect(f"{learner.lab}/terminal") as socket:
        socket.receive_json()
        run(socket, "echo evidence")
    with site.database.session() as session:
        logged = labs.commands(session, learner.lab.rsplit("/", 1)[1])
    assert [(command.kind.value, command.input, command.output) for command in logged] == [
        ("terminal", "echo evidence", "evidence\n")
    ]
