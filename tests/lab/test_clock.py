"""The lab's own clock: standing still, passing time at once, and going back."""

import pytest
from sqlalchemy import text

from app.cluster.apiserver import dispatch
from app.lab import history
from app.lab.service import NoStepBack
from app.lab.state import LabState, inflated
from app.lab.views import Mode
from app.progress import labs, states

EXERCISE = "write-a-toleration"
POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: bee-%d}\nspec: {containers: [{name: bee, image: nginx}]}\n"


def names(outcome):
    return {pod.name for pod in outcome.view.pods if not pod.system}


def test_going_back_keeps_commands_and_ends_watches(service, user):
    lab = service.start(user, EXERCISE)
    service.pause(user, lab, paused=True, language="en")
    for number in range(1, 4):
        service.apply(user, lab, POD % number, Mode.CREATE, "en")
    abandoned = LabState.load(service.find(user, lab).state).cluster
    steps = service.view(user, lab, "en").steps
    assert [(step.seq, step.kind) for step in steps] == [
        (4, "create"),
        (3, "create"),
        (2, "create"),
        (1, "pause"),
        (0, ""),
    ]
    assert "name: bee-3" in steps[0].text
    outcome = service.step_back(user, lab, 2, "en")
    assert names(outcome) == {"bee-1"}
    restored = LabState.load(service.find(user, lab).state).cluster
    assert restored.client.revision > abandoned.client.revision
    asked = dispatch.ApiRequest("GET", "/api/v1/pods", (("watch", "1"),), {}, b"")
    lines, ended = dispatch.watch(restored, asked, abandoned.client.revision)
    assert ended == dispatch.ENDED
    assert b'"code":410' in lines[0]
    with service._database.session() as session:
        kept = [command.kind.value for command in labs.commands(session, lab)]
    assert kept == ["pause", "create", "create", "create", "back"]
    assert names(service.step_back(user, lab, 4, "en")) == {"bee-1", "bee-2", "bee-3"}


def test_nobody_steps_back_in_an_exam(service, user):
    lab = service.start(user, EXERCISE)
    with service._database.session() as session:
        session.execute(text("UPDATE labs SET exam = true"))
    assert service.view(user, lab, "en").steps == ()
    with pytest.raises(NoStepBack):
        service.step_back(user, lab, 0, "en")


def test_the_workplace_lists_the_newest_steps_and_a_page_all_of_them(service, user, monkeypatch):
    from app.lab import presenter

    monkeypatch.setattr(presenter, "STEPS", 2)
    lab = service.start(user, EXERCISE)
    for number in range(1, 4):
        service.apply(user, lab, POD % number, Mode.CREATE, "en")
    view = service.view(user, lab, "en")
    assert ([step.seq for step in view.steps], view.steps_more, view.steps_gone) == ([3, 2, 0], True, False)
    assert [step.seq for step in service.steps(user, lab, "en")[1]] == [3, 2, 1, 0]


def test_every_state_is_found_again_across_keyframes_and_resets(service, user, monkeypatch):
    monkeypatch.setattr(states, "KEYFRAME_EVERY", 2)
    lab = service.start(user, EXERCISE)
    wanted = {0: inflated(service.find(user, lab).state)}
    for number in range(1, 9):
        if number == 5:
            service.reset(user, lab, "en")
        else:
            service.apply(user, lab, POD % number, Mode.CREATE, "en")
        wanted[number] = inflated(service.find(user, lab).state)
    with service._database.session() as session:
        for seq, state in wanted.items():
            assert inflated(history.applied(*states.find(session, service.find(user, lab), seq))) == state


def test_500_commands_take_less_than_two_megabytes():
    from tests.cluster.builders import NOW, SECOND, config_map, fresh, pod, workload

    lab = LabState(fresh(3))
    state, kept = lab.dump(), 0
    for number in range(500):
        cluster = lab.cluster
        cluster.advance_to(NOW + number * 20 * SECOND)
        if number % 25 == 0:
            cluster.client.create(workload("Deployment", f"web-{number}", replicas=2))
        elif number % 25 == 20:
            cluster.client.delete("deployments", f"web-{number - 20}", "default")
        elif number % 2:
            cluster.client.create(pod(f"bee-{number}"))
        elif number % 10 == 2:
            cluster.client.delete("pods", f"bee-{number - 1}", "default")
        else:
            cluster.client.create(config_map(f"map-{number}", key=str(number)))
        after = lab.dump()
        kept += len(after if number % states.KEYFRAME_EVERY == 0 else history.difference(state, after))
        state = after
    assert kept < 2 * 1024 * 1024
