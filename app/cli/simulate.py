"""`cka-lab simulate`: what the scheduler would do with a cluster, and why; for engineers without a lab, too."""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from app.apimachinery.errors import StatusError
from app.cli.simulation import account, tables, vector_files
from app.cli.simulation.account import Account
from app.cli.simulation.admitting import Inventory, inventory
from app.cli.simulation.lines import Line, printed
from app.cli.simulation.progress import Bar
from app.cli.simulation.reading import STDIN, BadInput, Text
from app.cli.simulation.running import Simulation
from app.scheduler import profile
from app.scheduler.configuration import ConfigurationError
from app.scheduler.framework.runtime import Framework

SHOWN_PODS = 10
"""With more pods than these to schedule, only failures are told in full, and only so many of them."""

_SUMMARY_ROWS = 20
_EPILOG = """\
exit codes: 0 every pod got a node, 1 some did not, 2 the input cannot be used

  kubectl get nodes,pods,pv,pvc,storageclasses,priorityclasses,namespaces,services,pdb -A -o yaml |
    cka-lab simulate - --pod web.yaml
"""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command's options."""
    parser = subparsers.add_parser(
        "simulate",
        help="schedule what is pending in a cluster's manifests or dump, and say why",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("cluster", nargs="*", metavar="CLUSTER.yaml", help="manifests or dumps; - is standard input")
    parser.add_argument("--pod", metavar="POD.yaml", help="schedule the pods of this file instead of what is pending")
    parser.add_argument("--config", metavar="CONFIG.yaml", help="a KubeSchedulerConfiguration")
    parser.add_argument("--release", type=_release, help="of the kube-scheduler, such as 1.34.1 (1.35.7)")
    parser.add_argument("-o", "--output", choices=["table", "json", "yaml"], default="table", help="form (table)")
    parser.add_argument("--all-nodes", action="store_true", help=f"show all nodes, not {tables.SHOWN_NODES}")
    parser.add_argument("--all-pods", action="store_true", help=f"explain all pods, not {SHOWN_PODS}")
    parser.add_argument("--vectors", nargs="+", metavar="FILE", help="replay vectors, write a JSON line for each")


def _release(text: str) -> str:
    """A release as the engine reads it."""
    if not re.fullmatch(r"v?1\.\d{1,3}(\.\d{1,3})?", text, re.ASCII):
        raise argparse.ArgumentTypeError(f"{text} is no release of Kubernetes: write 1.34, or 1.34.1")
    return text


def run(args: argparse.Namespace) -> int:
    """Simulate and print. See the exit codes above."""
    try:
        code = vector_files.run(args.vectors) if args.vectors else _simulate(args)
        sys.stdout.flush()
    except BadInput as error:
        print(error, file=sys.stderr)
        return 2
    except BrokenPipeError:
        # Whoever read the output has seen enough; Python would complain once more while it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return code


def _simulate(args: argparse.Namespace) -> int:
    names = [*args.cluster, *filter(None, (args.pod, args.config))]
    if not args.cluster:
        raise BadInput("Give a file with the cluster, or - for standard input.")
    if names.count(STDIN) > 1:
        raise BadInput("Standard input (-) can be given once only.")
    profiles = _profiles(args.config, args.release or "")
    cluster = [item for name in args.cluster for item in Text(name).items()]
    found = inventory(cluster, Text(args.pod).items() if args.pod else None)
    for note in dict.fromkeys(found.notes):
        print(f"note: {note}", file=sys.stderr)
    try:
        simulation, told, fates = _play(found, profiles, all_pods=args.all_pods)
    except (LookupError, TypeError, ValueError, AttributeError, StatusError) as error:
        raise BadInput(f"The scheduler cannot work with these objects: {type(error).__name__}: {error}") from error
    _print(args, _document(simulation, told, fates))
    return 0 if all(fate["result"] == "scheduled" for fate in fates) else 1


def _profiles(name: str | None, release: str) -> Mapping[str, Framework]:
    if name is None:
        return profile.build_profiles(None, version=release)
    text = Text(name)
    values = [value for value in text.values() if value is not None]
    if len(values) != 1 or not isinstance(values[0], dict):
        raise BadInput(f"{text.name}: this must be one KubeSchedulerConfiguration")
    try:
        return profile.build_profiles(values[0], version=release)
    except ConfigurationError as error:
        raise BadInput(f"{text.name}: {error}") from error


def _play(
    found: Inventory, profiles: Mapping[str, Framework], *, all_pods: bool
) -> tuple[Simulation, list[Account], list[Account]]:
    """Let the scheduler work; answers the accounts that are to be shown, and what became of each pod."""
    simulation = Simulation(found.objects, profiles, found.wanted)
    few = all_pods or len(found.wanted) <= SHOWN_PODS
    told: list[Account] = []
    last: dict[str, Account] = {}
    tried: set[str] = set()
    bar = Bar("scheduling")
    for result in simulation.attempts():
        tried.add(result.pod.key)
        bar(len(tried) / len(found.wanted))
        short = account.brief(result)
        if short != last.get(result.pod.key) and (few or (not result.node and len(told) < SHOWN_PODS)):
            told.append(account.full(result))
        last[result.pod.key] = short
    bar.clear()
    return simulation, told, account.fates(simulation, [key for _, key in found.wanted], last)


def _document(simulation: Simulation, told: Sequence[Account], fates: Sequence[Account]) -> dict[str, Any]:
    kinds = [kind for kind, _ in simulation.objects]
    return {
        "nodes": kinds.count("Node"),
        "attempts": list(told),
        "pods": list(fates),
        "evicted": dict(simulation.victims),
        "scheduled": sum(fate["result"] == "scheduled" for fate in fates),
        "notScheduled": sum(fate["result"] != "scheduled" for fate in fates),
    }


class _Dumper(yaml.CSafeDumper):
    """YAML without anchors: equal lists are written out."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 (PyYAML asks)
        return True


def _print(args: argparse.Namespace, document: dict[str, Any]) -> None:
    if args.output == "json":
        print(json.dumps(document, indent=2, ensure_ascii=False))
    elif args.output == "yaml":
        print(yaml.dump(document, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=1000), end="")
    else:
        colours = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
        for line in _lines(args, document):
            print(printed(line, colours=colours))


def _lines(args: argparse.Namespace, document: dict[str, Any]) -> list[Line]:
    if not document["pods"]:
        return [Line(f"No pod is pending on these {document['nodes']} nodes. Give one with --pod.")]
    lines: list[Line] = []
    for told in document["attempts"]:
        lines += [*tables.attempt(told, all_nodes=args.all_nodes), Line(""), Line("")]
    most = None if args.all_pods else _SUMMARY_ROWS
    return [*lines, *tables.fates(document["pods"], document["evicted"], most)]
