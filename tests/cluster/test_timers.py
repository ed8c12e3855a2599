from app.cluster.timers import Timers


def test_timers_fire_once_in_the_order_of_their_instants_and_then_of_their_names() -> None:
    timers = Timers()
    for key, instant in (("late", 9), ("b", 5), ("a", 5), ("not-yet", 10)):
        timers.set("loop", key, instant)
    timers.set("other", "x", 1)

    assert timers.take("loop", 9) == ("a", "b", "late")
    assert timers.take("loop", 9) == ()
    assert timers.next() == 1
    assert timers.get("loop", "not-yet") == 10


def test_a_key_is_set_only_once() -> None:
    timers = Timers()
    timers.set("loop", "key", 5, idle=True)
    timers.set("loop", "key", 7)
    assert (timers.next(), timers.next_busy()) == (7, 7)
    timers.set("loop", "key", 8, idle=True)
    assert (timers.next(), timers.next_busy()) == (8, None)
    timers.cancel("loop", "key")
    timers.cancel("loop", "key")
    assert timers.next() is None


def test_idle_timers_fire_as_others_do() -> None:
    timers = Timers()
    timers.set("loop", "retry", 3, idle=True)
    assert timers.is_due(3)
    assert not timers.is_due(2)
    assert timers.take("loop", 3) == ("retry",)


def test_timers_survive_as_json() -> None:
    timers = Timers()
    timers.set("b", "x", 3)
    timers.set("a", "y", 4, idle=True)
    timers.set("a", "gone", 4)
    timers.cancel("a", "gone")

    again = Timers.restore(timers.state())

    assert again.state() == timers.state() == {"busy": {"b": {"x": 3}}, "idle": {"a": {"y": 4}}}
