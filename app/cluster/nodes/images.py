"""Which images the simulated registries hold, how large they are, and what they start.

Data, so that a new image is a row. Sizes are compressed-on-disk bytes, of the order of the real ones.
"""

from __future__ import annotations

from dataclasses import dataclass

from app.apimachinery.clock import SECOND, Micros

MEGABYTE = 1_000_000
BYTES_PER_SECOND = 60 * MEGABYTE
_MAX_PULL: Micros = 4 * SECOND
_MIN_PULL: Micros = SECOND // 2


@dataclass(frozen=True)
class Image:
    """A repository: its size in bytes, entrypoint, default arguments, tags, and the ports its server listens on.

    `versions` are the leading parts of version tags that exist (`1.27` allows `1.27`, `1.27.3`, `1.27-alpine`);
    `tags` are further names.
    """

    size: int
    entrypoint: tuple[str, ...]
    command: tuple[str, ...] = ()
    versions: tuple[str, ...] = ()
    tags: tuple[str, ...] = ("latest",)
    ports: tuple[int, ...] = ()
    programs: tuple[str, ...] = ()
    shell: bool = True


def _versions(prefix: str, first: int, last: int) -> tuple[str, ...]:
    return tuple(f"{prefix}{number}" for number in range(first, last + 1))


_RELEASES = _versions("v1.", 16, 36)
_DEBIAN = ("latest", "bookworm", "trixie", "bullseye", "slim", "alpine")


def _component(size: int, name: str) -> Image:
    return Image(size * MEGABYTE, (name,), versions=_RELEASES, tags=(), programs=(name,), shell=False)


IMAGES: dict[str, Image] = {
    "docker.io/library/nginx": Image(
        72 * MEGABYTE,
        ("nginx", "-g", "daemon off;"),
        versions=_versions("1.", 7, 31),
        tags=(*_DEBIAN, "stable", "mainline", "perl", "stable-alpine", "mainline-alpine", "1"),
        ports=(80,),
        programs=("nginx",),
    ),
    "docker.io/library/httpd": Image(
        66 * MEGABYTE,
        ("httpd-foreground",),
        versions=("2", "2.4"),
        tags=_DEBIAN,
        ports=(80,),
        programs=("httpd", "httpd-foreground"),
    ),
    "docker.io/library/busybox": Image(
        2_200_000,
        (),
        ("sh",),
        versions=("1", *_versions("1.", 24, 37)),
        tags=("latest", "stable", "glibc", "musl", "uclibc"),
    ),
    "docker.io/library/alpine": Image(
        3_800_000, (), ("/bin/sh",), versions=("3", *_versions("3.", 8, 23)), tags=("latest", "edge")
    ),
    "docker.io/library/ubuntu": Image(
        30 * MEGABYTE,
        (),
        ("/bin/bash",),
        versions=("18.04", "20.04", "22.04", "24.04", "26.04"),
        tags=("latest", "noble", "jammy", "focal"),
    ),
    "docker.io/library/debian": Image(
        49 * MEGABYTE, (), ("bash",), versions=("10", "11", "12", "13"), tags=(*_DEBIAN, "stable", "stable-slim")
    ),
    "docker.io/library/redis": Image(
        53 * MEGABYTE,
        ("redis-server",),
        versions=_versions("", 3, 8),
        tags=_DEBIAN,
        ports=(6379,),
        programs=("redis-server", "redis-cli"),
    ),
    "docker.io/library/memcached": Image(
        36 * MEGABYTE, ("memcached",), versions=("1",), tags=_DEBIAN, ports=(11211,), programs=("memcached",)
    ),
    "docker.io/library/mysql": Image(
        240 * MEGABYTE,
        ("mysqld",),
        versions=("5", "8", "9"),
        tags=("latest", "lts"),
        ports=(3306,),
        programs=("mysqld",),
    ),
    "docker.io/library/postgres": Image(
        160 * MEGABYTE,
        ("postgres",),
        versions=_versions("", 9, 18),
        tags=_DEBIAN,
        ports=(5432,),
        programs=("postgres",),
    ),
    "docker.io/library/mongo": Image(
        290 * MEGABYTE,
        ("mongod",),
        versions=_versions("", 3, 8),
        tags=("latest",),
        ports=(27017,),
        programs=("mongod",),
    ),
    "docker.io/library/python": Image(
        360 * MEGABYTE, (), ("python3",), versions=("3",), tags=_DEBIAN, programs=("python", "python3")
    ),
    "docker.io/library/perl": Image(
        330 * MEGABYTE, (), ("perl", "-de0"), versions=("5",), tags=(*_DEBIAN, "stable"), programs=("perl",)
    ),
    "docker.io/library/bash": Image(5_700_000, (), ("bash",), versions=("3", "4", "5"), tags=("latest", "devel")),
    "docker.io/library/node": Image(
        390 * MEGABYTE, ("node",), versions=_versions("", 10, 25), tags=(*_DEBIAN, "lts"), programs=("node",)
    ),
    "docker.io/library/hello-world": Image(
        5_000, ("/hello",), tags=("latest", "linux"), programs=("hello",), shell=False
    ),
    "docker.io/curlimages/curl": Image(
        10 * MEGABYTE, ("curl",), versions=("7", "8"), tags=("latest",), programs=("curl",)
    ),
    "docker.io/polinux/stress": Image(4_100_000, (), ("stress", "--help"), tags=("latest",), programs=("stress",)),
    "docker.io/vish/stress": Image(1_600_000, ("stress",), tags=("latest",), programs=("stress",), shell=False),
    "docker.io/kodekloud/webapp-color": Image(
        32 * MEGABYTE, ("python", "app.py"), tags=("latest", "v1", "v2", "v3"), ports=(8080,), programs=("python",)
    ),
    "docker.io/kodekloud/event-simulator": Image(
        33 * MEGABYTE, ("python", "event_simulator.py"), tags=("latest",), programs=("python",)
    ),
    "docker.io/fluent/fluentd": Image(
        52 * MEGABYTE, ("fluentd",), versions=("v1",), tags=("latest", "edge"), programs=("fluentd",)
    ),
    "docker.io/prom/node-exporter": Image(
        12 * MEGABYTE,
        ("node_exporter",),
        versions=("v1", "v0"),
        tags=("latest", "master"),
        ports=(9100,),
        programs=("node_exporter",),
    ),
    "quay.io/prometheus/node-exporter": Image(
        12 * MEGABYTE,
        ("node_exporter",),
        versions=("v1",),
        tags=("latest",),
        ports=(9100,),
        programs=("node_exporter",),
    ),
    "quay.io/fluentd_elasticsearch/fluentd": Image(
        210 * MEGABYTE, ("fluentd",), versions=("v2", "v3", "v4"), tags=("latest",), programs=("fluentd",)
    ),
    "registry.k8s.io/fluentd-elasticsearch": Image(
        140 * MEGABYTE, ("fluentd",), versions=("1",), tags=("latest",), programs=("fluentd",)
    ),
    "registry.k8s.io/hpa-example": Image(
        168 * MEGABYTE, ("apache2-foreground",), tags=("latest",), ports=(80,), programs=("apache2-foreground",)
    ),
    "registry.k8s.io/pause": Image(
        320_000,
        ("/pause",),
        versions=("3", "3.1", "3.2", "3.5", "3.6", "3.7", "3.8", "3.9", "3.10"),
        tags=("latest",),
        programs=("pause",),
        shell=False,
    ),
    "registry.k8s.io/kube-apiserver": _component(30, "kube-apiserver"),
    "registry.k8s.io/kube-controller-manager": _component(27, "kube-controller-manager"),
    "registry.k8s.io/kube-scheduler": _component(21, "kube-scheduler"),
    "registry.k8s.io/kube-proxy": _component(37, "kube-proxy"),
    "registry.k8s.io/etcd": Image(
        60 * MEGABYTE, ("etcd",), versions=("3.4", "3.5", "3.6"), tags=(), programs=("etcd",), shell=False
    ),
    "registry.k8s.io/coredns/coredns": Image(
        22 * MEGABYTE, ("/coredns",), versions=_versions("v1.", 8, 13), tags=(), programs=("coredns",), shell=False
    ),
    "registry.k8s.io/e2e-test-images/agnhost": Image(
        53 * MEGABYTE, ("/agnhost",), versions=("2",), tags=("latest",), programs=("agnhost",)
    ),
    "gcr.io/google-samples/hello-app": Image(
        11 * MEGABYTE, ("hello-app",), versions=("1.0", "2.0"), tags=("latest",), ports=(8080,), programs=("hello-app",)
    ),
}
_MOVED = {"k8s.gcr.io/": "registry.k8s.io/", "index.docker.io/": "docker.io/"}


@dataclass(frozen=True)
class Reference:
    """A parsed image name: the full repository, and the tag or digest."""

    repository: str
    tag: str

    def __str__(self) -> str:
        return f"{self.repository}{'@' if self.tag.startswith('sha256:') else ':'}{self.tag}"


def parse(name: str) -> Reference | None:
    """A reference in its full form (distribution/reference: ParseNormalizedNamed); None for what cannot be one."""
    if not name or name != name.strip() or len(name) > 512 or any(letter.isspace() for letter in name):
        return None
    repository, _, digest = name.partition("@")
    tag = "latest"
    if ":" in repository.rpartition("/")[2]:
        repository, _, tag = repository.rpartition(":")
    if not repository or not tag or repository != repository.lower():
        return None
    first, slash, _ = repository.partition("/")
    if not slash or not ("." in first or ":" in first or first == "localhost"):
        repository = f"docker.io/{repository}" if slash else f"docker.io/library/{repository}"
    for old, new in _MOVED.items():
        if repository.startswith(old):
            repository = new + repository.removeprefix(old)
    return Reference(repository, digest or tag)


def find(reference: Reference) -> Image | None:
    """The image, where the registry has the repository and the tag."""
    image = IMAGES.get(reference.repository)
    if image is None or reference.tag.startswith("sha256:"):
        return image
    return image if _has_tag(image, reference.tag) else None


def _has_tag(image: Image, tag: str) -> bool:
    if tag in image.tags:
        return True
    version, dash, flavour = tag.partition("-")
    if dash and not flavour:
        return False
    parts = version.split(".")
    if len(parts) > 4 or not all(part.removeprefix("v").isdecimal() for part in parts):
        return False
    return any(version == known or version.startswith(f"{known}.") for known in image.versions)


def pull_time(image: Image) -> Micros:
    """How long a pull takes."""
    return max(_MIN_PULL, min(_MAX_PULL, image.size * SECOND // BYTES_PER_SECOND + SECOND // 4))


def pull_error(name: str, reference: Reference) -> tuple[str, str]:
    """The runtime's words for an image that is not there: the gRPC code and the description (containerd)."""
    full = str(reference)
    prefix = f'failed to pull and unpack image "{full}": failed to resolve reference "{full}": '
    if reference.repository in IMAGES:
        return "NotFound", f"{prefix}{full}: not found"
    if reference.repository.startswith("docker.io/"):
        denied = "pull access denied, repository does not exist or may require authorization: "
        return "Unknown", f"{prefix}{denied}server message: insufficient_scope: authorization failed"
    if reference.repository.startswith("registry.k8s.io/"):
        return "NotFound", f"{prefix}{full}: not found"
    host = reference.repository.partition("/")[0]
    del name
    return "Unknown", f'{prefix}failed to do request: Head "https://{host}/v2/": dial tcp: lookup {host}: no such host'
