"""What the HTTP surface does itself, with a backend that only says what it was asked."""

import asyncio
import gzip
import json
import threading
import time

import httpx
import pytest
import yaml
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware

from app.cluster.apiserver.exchange import WATCH_REVISION, ApiResponse
from app.cluster.apiserver.watch import ENDED
from app.kubeapi.app import Limits, Unavailable, UnknownSecret
from app.kubeapi.kubeconfig import kubeconfig
from tests.kubeapi.serving import SECRET, served

LIMITS = Limits(body=1000, watches=2, watch_seconds=30.0, compress_from=2000)


class Echo:
    """Answers with the request; a watch begins with line 1 and goes on as `push` and `end` say."""

    def __init__(self):
        self.lines = []
        self.open = 0
        self.lock = threading.Lock()

    async def call(self, secret, request):
        if secret != SECRET:
            raise UnknownSecret(secret)
        if request.path == "/broken":
            raise Unavailable("the lab's worker was too slow, please try again")
        if request.is_watch:
            if request.param("refuse"):
                return ApiResponse.of({"kind": "Status", "code": 410}, 410)
            return ApiResponse(200, {"content-type": "application/json", WATCH_REVISION: "1"}, b'{"n":1}\n')
        said = {
            "method": request.method,
            "path": request.path,
            "query": [list(pair) for pair in request.query],
            "headers": dict(request.headers),
            "body": request.body.decode(),
            "filler": "x" * int(request.param("size", "0")),
        }
        headers = {"etag": '"E1"', "vary": "Accept"} if request.path == "/apis" else {}
        return ApiResponse.of(said, headers=headers)

    async def changed(self, secret, revision, within):
        self.open += 1
        try:
            for _ in range(int(within * 100)):
                if len(self.lines) >= revision:
                    return
                await asyncio.sleep(0.01)
        finally:
            self.open -= 1

    async def watch(self, secret, request, since):
        with self.lock:
            news = self.lines[since - 1 :]
        ended = b"end\n" in news
        return news, ENDED if ended else since + len(news)

    def push(self, *lines):
        with self.lock:
            self.lines.extend(lines)


@pytest.fixture(scope="module")
def server():
    backend = Echo()
    with served(backend, LIMITS) as address, httpx.Client(base_url=address, timeout=10) as client:
        yield backend, client


@pytest.fixture
def backend(server):
    server[0].lines.clear()
    return server[0]


@pytest.fixture
def client(server, backend):
    return server[1]


def test_the_request_arrives_without_the_secret(client):
    said = client.post(
        "/api/v1/pods?limit=500&a=1&a=%26%202&empty=",
        content=b'{"x":"\xec\x95\x88"}',
        headers={
            "accept": "application/json;as=Table",
            "content-type": "application/json",
            "user-agent": "kubectl/v1.35.0",
            "authorization": "Bearer t",
        },
    ).json()
    assert said["method"] == "POST"
    assert said["path"] == "/api/v1/pods"
    assert said["query"] == [["limit", "500"], ["a", "1"], ["a", "& 2"], ["empty", ""]]
    assert said["headers"] == {
        "accept": "application/json;as=Table",
        "authorization": "Bearer t",
        "content-type": "application/json",
        "user-agent": "kubectl/v1.35.0",
    }
    assert said["body"] == '{"x":"안"}'


def test_head_is_get_without_a_body(client):
    answer = client.head("/api")
    assert (answer.status_code, answer.content) == (200, b"")
    assert int(answer.headers["content-length"]) > 0


@pytest.mark.parametrize("method", ["OPTIONS", "TRACE", "PROPFIND"])
def test_other_methods_are_not_allowed(client, method):
    answer = client.request(method, "/api")
    assert (answer.status_code, answer.json()["reason"]) == (405, "MethodNotAllowed")


def test_an_unknown_secret_is_unauthorized(client):
    answer = client.get(str(client.base_url).replace(SECRET, "other") + "api")
    assert answer.status_code == 401
    assert answer.json() == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": "Unauthorized",
        "reason": "Unauthorized",
        "code": 401,
    }


def test_a_lab_that_cannot_answer_is_unavailable(client):
    answer = client.get("/broken")
    assert (answer.status_code, answer.json()["reason"]) == (503, "ServiceUnavailable")
    assert client.get("/api").status_code == 200


def test_a_body_over_the_limit_is_refused(client):
    assert client.post("/api", content=b"x" * 1000).status_code == 200
    answer = client.post("/api", content=b"x" * 1001)
    assert (answer.status_code, answer.json()["reason"]) == (413, "RequestEntityTooLarge")


def test_too_many_parameters_are_refused(client):
    answer = client.get("/api?" + "&".join(f"p{n}=1" for n in range(65)))
    assert (answer.status_code, answer.json()["reason"]) == (400, "BadRequest")


def test_what_the_client_has_already_is_not_sent_again(client):
    first = client.get("/apis")
    assert (first.headers["etag"], first.headers["vary"]) == ('"E1"', "Accept")
    second = client.get("/apis", headers={"if-none-match": '"E1"'})
    assert (second.status_code, second.content, second.headers["etag"]) == (304, b"", '"E1"')
    assert client.get("/apis", headers={"if-none-match": '"E2"'}).status_code == 200


@pytest.mark.parametrize(
    ("size", "encoding", "compressed"), [(3000, "gzip", True), (3000, "identity", False), (10, "gzip", False)]
)
def test_large_answers_are_compressed_where_the_client_can_read_it(client, size, encoding, compressed):
    with client.stream("GET", f"/api?size={size}", headers={"accept-encoding": encoding}) as answer:
        raw = b"".join(answer.iter_raw())
    assert (answer.headers.get("content-encoding") == "gzip") is compressed
    body = gzip.decompress(raw) if compressed else raw
    assert json.loads(body)["filler"] == "x" * size


def test_a_watch_streams_lines_as_they_come_and_ends_with_the_stream(client, backend):
    with client.stream("GET", "/api/v1/pods?watch=true&timeoutSeconds=4") as answer:
        lines = answer.iter_lines()
        assert (answer.status_code, answer.headers["transfer-encoding"]) == (200, "chunked")
        assert WATCH_REVISION not in answer.headers
        assert next(lines) == '{"n":1}'
        backend.push(b'{"n":2}\n', b'{"n":3}\n')
        assert [next(lines), next(lines)] == ['{"n":2}', '{"n":3}']
        backend.push(b"end\n")
        assert list(lines) == ["end"]


def test_no_compressor_around_the_surface_holds_lines_back():
    with (
        served(Echo(), LIMITS, middleware=[Middleware(GZipMiddleware, minimum_size=1)]) as address,
        httpx.Client(base_url=address, timeout=10) as client,
        client.stream("GET", "/api/v1/pods?watch=true&timeoutSeconds=20") as answer,
    ):
        started = time.monotonic()
        assert next(answer.iter_lines()) == '{"n":1}'
        assert time.monotonic() - started < 10


def test_a_watch_ends_when_its_time_is_over(client):
    started = time.monotonic()
    with client.stream("GET", "/api/v1/pods?watch=1&timeoutSeconds=1") as answer:
        assert list(answer.iter_lines()) == ['{"n":1}']
    assert 0.9 < time.monotonic() - started < 4


def test_a_refused_watch_is_an_ordinary_answer(client):
    answer = client.get("/api/v1/pods?watch=true&refuse=yes")
    assert (answer.status_code, answer.json()["kind"]) == (410, "Status")


def test_a_watch_with_a_nonsense_time_is_refused(client):
    assert client.get("/api/v1/pods?watch=true&timeoutSeconds=soon").status_code == 400


def test_a_client_that_goes_ends_its_watch_at_once(client, backend):
    with client.stream("GET", "/api/v1/pods?watch=true") as answer:
        lines = answer.iter_lines()  # kept: httpx closes the response as its iterator goes
        assert next(lines) == '{"n":1}'
        wait_until(lambda: backend.open == 1)
    wait_until(lambda: backend.open == 0)


def test_one_lab_has_only_so_many_watches(client, backend):
    path = "/api/v1/pods?watch=true"
    with client.stream("GET", path) as one, client.stream("GET", path) as two:
        assert (one.status_code, two.status_code) == (200, 200)
        third = client.get(path)
        assert (third.status_code, third.json()["reason"]) == (429, "TooManyRequests")
        assert client.get("/api").status_code == 200
    wait_until(lambda: backend.open == 0)
    assert client.get(f"{path}&refuse=yes").status_code == 410


def test_the_kubeconfig_points_at_the_lab():
    written = yaml.safe_load(kubeconfig("http://lab.example/k/abc", "web"))
    context = written["contexts"][0]["context"]
    assert written["current-context"] == written["contexts"][0]["name"]
    assert written["clusters"] == [{"name": context["cluster"], "cluster": {"server": "http://lab.example/k/abc"}}]
    assert context["namespace"] == "web"


def wait_until(condition, within=10.0):
    deadline = time.monotonic() + within
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.01)
