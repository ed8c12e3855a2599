"""What a kube-scheduler process is told by its flags and its configuration file (cmd/kube-scheduler/app/options).

`read` answers what the process would do at its start: either the options it goes on with, or the error it dies of.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.apimachinery import manifests, meta
from app.apimachinery.meta import Object
from app.scheduler import profile
from app.scheduler.configuration import ConfigurationError
from app.scheduler.framework import release as releases

_BOOLEAN = frozenset(
    {
        "authentication-tolerate-lookup-failure",
        "contention-profiling",
        "leader-elect",
        "logtostderr",
        "profiling",
    }
)
_VALUED = frozenset(
    {
        "authentication-kubeconfig",
        "authentication-skip-lookup",
        "authorization-always-allow-paths",
        "authorization-kubeconfig",
        "bind-address",
        "cert-dir",
        "client-ca-file",
        "config",
        "emulated-version",
        "feature-gates",
        "http2-max-streams-per-connection",
        "kube-api-burst",
        "kube-api-qps",
        "kubeconfig",
        "leader-elect-lease-duration",
        "leader-elect-renew-deadline",
        "leader-elect-resource-lock",
        "leader-elect-resource-name",
        "leader-elect-resource-namespace",
        "leader-elect-retry-period",
        "log-json-info-buffer-size",
        "logging-format",
        "master",
        "min-compatibility-version",
        "permit-address-sharing",
        "permit-port-sharing",
        "pod-max-in-unschedulable-pods-duration",
        "requestheader-allowed-names",
        "secure-port",
        "show-hidden-metrics-for-version",
        "tls-cert-file",
        "tls-private-key-file",
        "v",
        "vmodule",
        "write-config-to",
    }
)
_REMOVED = frozenset(
    {
        "address",
        "algorithm-provider",
        "lock-object-name",
        "policy-config-file",
        "policy-configmap",
        "port",
        "scheduler-name",
    }
)
_REMOVED_IN = 24


class OptionsError(ValueError):
    """The process ends at its start; the text is what it logs as the error."""


@dataclass(frozen=True)
class Options:
    """What the process goes on with. `configuration` is as it was written, or None for the default profile.

    `version` is the program's own, `v1.35.7`.
    """

    configuration: Object | None
    version: str
    leader_elect: bool
    lease_namespace: str
    lease_name: str
    kubeconfig: str
    secure_port: int
    verbosity: int


def read(argv: Sequence[str], files: Mapping[str, str], image: str) -> Options:
    """The options of a command line. Raises OptionsError in the program's words."""
    version = version_of(image)
    flags = _flags(argv[1:], releases.parse(version).minor)
    configuration = None
    if path := flags.get("config"):
        if path not in files:
            raise OptionsError(f"open {path}: no such file or directory")
        configuration = _configuration(files[path])
    _check_profiles(configuration, version)
    election = (configuration or {}).get("leaderElection") or {}
    elect = election.get("leaderElect", True)
    if "leader-elect" in flags:
        elect = _boolean("leader-elect", flags["leader-elect"])
    connection = (configuration or {}).get("clientConnection") or {}
    return Options(
        configuration=configuration,
        version=version,
        leader_elect=bool(elect),
        lease_namespace=flags.get("leader-elect-resource-namespace")
        or election.get("resourceNamespace")
        or "kube-system",
        lease_name=flags.get("leader-elect-resource-name") or election.get("resourceName") or "kube-scheduler",
        kubeconfig=flags.get("kubeconfig") or str(connection.get("kubeconfig") or ""),
        secure_port=_number("secure-port", flags.get("secure-port", "10259")),
        verbosity=_number("v", flags.get("v", "0")),
    )


def version_of(image: str) -> str:
    """The version of a `kube-scheduler:v1.N.P` image, `v1.N.P`; the newest for any other image or tag."""
    minor, patch = releases.parse(image.rpartition(":")[2])
    return f"v1.{minor}.{patch}"


def _flags(arguments: Sequence[str], minor: int) -> dict[str, str]:
    flags: dict[str, str] = {}
    pending = ""
    for argument in arguments:
        if pending:
            flags[pending], pending = argument, ""
            continue
        if not argument.startswith("-"):
            raise OptionsError(f'unknown command "{argument}" for "kube-scheduler"')
        name, equals, value = argument.lstrip("-").partition("=")
        known = name in _BOOLEAN or name in _VALUED or (name in _REMOVED and minor < _REMOVED_IN)
        if not known:
            raise OptionsError(f"unknown flag: --{name}")
        if equals:
            flags[name] = value
        elif name in _BOOLEAN:
            flags[name] = "true"
        else:
            pending = name
    if pending:
        raise OptionsError(f"flag needs an argument: --{pending}")
    return flags


def _boolean(name: str, value: str) -> bool:
    if value.lower() in {"true", "1", "t"}:
        return True
    if value.lower() in {"false", "0", "f"}:
        return False
    raise OptionsError(
        f'invalid argument "{value}" for "--{name}" flag: strconv.ParseBool: parsing "{value}": invalid syntax'
    )


def _number(name: str, text: str) -> int:
    if not (text.isdecimal() and len(text) < 6):
        raise OptionsError(
            f'invalid argument "{text}" for "--{name}" flag: strconv.ParseInt: parsing "{text}": invalid syntax'
        )
    return int(text)


def _configuration(text: str) -> Object:
    """The configuration's one document (cmd/kube-scheduler/app/options/configfile.go: LoadConfigFromFile)."""
    try:
        documents = manifests.parse(text)
    except manifests.ManifestError as error:
        raise OptionsError(f"couldn't get version/kind; json parse error: yaml: line {error.line}: {error}") from error
    if len(documents) != 1:
        raise OptionsError("couldn't get version/kind; json parse error: expected one document")
    found = documents[0].object
    if not found.get("kind"):
        raise OptionsError(f"Object 'Kind' is missing in '{text[:200]}'")
    configuration: Object = meta.copied(found)
    return configuration


def _check_profiles(configuration: Object | None, version: str) -> None:
    try:
        profile.build_profiles(configuration, version=version)
    except ConfigurationError as error:
        raise OptionsError(str(error)) from error


def names(options: Options) -> list[str]:
    """The schedulerNames that the process serves."""
    return sorted(profile.build_profiles(options.configuration, version=options.version))


def summary(options: Options) -> dict[str, Any]:
    """The options as JSON, for the process's record."""
    return {
        "configuration": options.configuration,
        "version": options.version,
        "elect": options.leader_elect,
        "lease": f"{options.lease_namespace}/{options.lease_name}",
        "kubeconfig": options.kubeconfig,
        "verbosity": options.verbosity,
    }
