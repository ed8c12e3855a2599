import pytest

from app.cluster.nodes import images


@pytest.mark.parametrize(
    ("name", "full"),
    [
        ("nginx", "docker.io/library/nginx:latest"),
        ("nginx:1.27", "docker.io/library/nginx:1.27"),
        ("kodekloud/webapp-color", "docker.io/kodekloud/webapp-color:latest"),
        ("registry.k8s.io/pause:3.10", "registry.k8s.io/pause:3.10"),
        ("k8s.gcr.io/kube-scheduler:v1.35.7", "registry.k8s.io/kube-scheduler:v1.35.7"),
        ("localhost:5000/app:v1", "localhost:5000/app:v1"),
        ("nginx@sha256:abc", "docker.io/library/nginx@sha256:abc"),
    ],
)
def test_a_name_is_completed(name: str, full: str) -> None:
    assert str(images.parse(name)) == full


@pytest.mark.parametrize("name", ["", "Nginx", "nginx latest", ":tag", "nginx:", "a" * 600])
def test_what_cannot_be_a_name_is_none(name: str) -> None:
    assert images.parse(name) is None


@pytest.mark.parametrize(
    ("name", "is_there"),
    [
        ("nginx", True),
        ("nginx:1.27.3-alpine", True),
        ("nginx:alpine", True),
        ("nginx:1.99", False),
        ("nginx:letest", False),
        ("nginx:1.27-", False),
        ("ngnix", False),
        ("busybox:1.36", True),
        ("busybox:1.36.1", True),
        ("registry.k8s.io/kube-scheduler:v1.35.7", True),
        ("registry.k8s.io/kube-scheduler:latest", False),
        ("registry.k8s.io/pause:3.10", True),
        ("example.com/mine:v1", False),
    ],
)
def test_the_registry_has_real_images_only(name: str, is_there: bool) -> None:
    reference = images.parse(name)
    assert reference is not None
    assert (images.find(reference) is not None) == is_there


def test_the_runtime_says_what_is_missing() -> None:
    tag, repository, host = (images.parse(name) for name in ("nginx:x", "ngnix", "example.com/a"))
    assert tag is not None
    assert repository is not None
    assert host is not None
    full = "docker.io/library/nginx:x"
    problem = f'failed to pull and unpack image "{full}": failed to resolve reference "{full}": {full}: not found'
    assert images.pull_error("nginx:x", tag) == ("NotFound", problem)
    assert "pull access denied, repository does not exist" in images.pull_error("ngnix", repository)[1]
    assert "no such host" in images.pull_error("example.com/a", host)[1]


def test_larger_images_take_longer() -> None:
    times = [images.pull_time(images.IMAGES[f"docker.io/library/{name}"]) for name in ("busybox", "nginx", "mongo")]
    assert times == sorted(times)
    assert times[0] < times[-1]
