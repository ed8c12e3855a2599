import pytest

from app.apimachinery.clock import SECOND
from app.cluster.nodes import probes
from app.cluster.processes import Run

WEB = Run(ports=(80,))
SCHEDULER = Run(ports=(), https=(10259,))


def judged(run: Run, **container: object) -> probes.Verdict:
    return probes.judge(container, {"spec": {}}, "10.244.1.9", run)


@pytest.mark.parametrize(
    ("run", "target", "problem"),
    [
        (WEB, {"httpGet": {"port": 80}}, ""),
        (WEB, {"httpGet": {"port": 81, "path": "/x"}}, 'Get "http://10.244.1.9:81/x": dial tcp 10.244.1.9:81: connect: connection refused'),
        (WEB, {"tcpSocket": {"port": 80}}, ""),
        (WEB, {"tcpSocket": {"port": 8080}}, "dial tcp 10.244.1.9:8080: connect: connection refused"),
        (WEB, {"httpGet": {"port": 80, "scheme": "HTTPS"}}, 'Get "https://10.244.1.9:80/": http: server gave HTTP response to HTTPS client'),
        (WEB, {"exec": {"command": ["true"]}}, ""),
        (Run(), {"httpGet": {"port": 1234}}, ""),
        (SCHEDULER, {"httpGet": {"port": 10259, "scheme": "HTTPS", "path": "/healthz"}}, ""),
        (SCHEDULER, {"httpGet": {"port": 10251, "path": "/healthz"}}, 'Get "http://10.244.1.9:10251/healthz": dial tcp 10.244.1.9:10251: connect: connection refused'),
        (SCHEDULER, {"httpGet": {"port": 10259}}, "HTTP probe failed with statuscode: 400"),
    ],
)  # fmt: skip
def test_a_probe_finds_what_the_program_serves(run: Run, target: dict[str, object], problem: str) -> None:
    verdict = judged(run, livenessProbe=target)
    assert verdict.message == (f"Liveness probe failed: {problem}" if problem else "")
    assert (verdict.fails_after is not None) == bool(problem)


def test_a_named_port_is_looked_up() -> None:
    ports = [{"name": "web", "containerPort": 80}]
    assert judged(WEB, livenessProbe={"httpGet": {"port": "web"}}, ports=ports).message == ""
    assert judged(WEB, livenessProbe={"httpGet": {"port": "other"}}, ports=ports).message != ""


def test_failures_are_counted_in_periods() -> None:
    probe = {"httpGet": {"port": 1}, "initialDelaySeconds": 5, "periodSeconds": 4, "failureThreshold": 2}
    assert judged(WEB, livenessProbe=probe).fails_after == 13 * SECOND


def test_a_failing_readiness_probe_never_makes_the_container_ready() -> None:
    verdict = judged(WEB, readinessProbe={"httpGet": {"port": 1}})
    assert (verdict.ready_after, verdict.fails_after) == (None, None)


def test_without_probes_a_container_is_ready_at_once() -> None:
    assert judged(WEB) == probes.Verdict(0)
