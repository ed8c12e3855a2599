"""`cka-lab new`: a new exercise file that is valid and proven as it stands, to be changed into one's own.

`cka-lab new --schema` prints the format's JSON Schema, as docs/exercise.schema.json holds it.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

from app import settings
from app.exercises import schema
from app.exercises.chapters import BY_ID

_NAME = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?", re.ASCII)

TEMPLATE = """\
# yaml-language-server: $schema=../docs/exercise.schema.json
# The format is explained in docs/exercise-format.md. Prove the exercise with: cka-lab prove @NAME@
apiVersion: lab/v1
kind: Exercise
metadata:
  name: @NAME@
  version: 1
spec:
  chapter: @CHAPTER@
  level: 1
  minutes: 5
  about: [TaintToleration]
  parameters:
    pod: {choices: [web, agent]}
  text:
    en:
      title: @TITLE@
      task: |
        Create a pod `${pod}` with the image `nginx` in the namespace `default`. It must run on `controlplane`, which
        has the taint `node-role.kubernetes.io/control-plane:NoSchedule`.
  checks:
  - name: on-the-node
    points: 6
    text:
      en: ${pod} is on controlplane
    placement:
      pod: {name: "${pod}"}
      onNodes: [controlplane]
  - name: image
    points: 4
    text:
      en: ${pod} runs the image nginx
    object:
      kind: Pod
      name: ${pod}
      expect: self.spec.containers.all(c, c.image == "nginx")
  hints:
  - en: A toleration lets the pod onto the node; a node selector brings it there.
  solution:
    manifests: |
      apiVersion: v1
      kind: Pod
      metadata:
        name: ${pod}
      spec:
        nodeSelector:
          kubernetes.io/hostname: controlplane
        tolerations:
        - key: node-role.kubernetes.io/control-plane
          operator: Exists
          effect: NoSchedule
        containers:
        - name: main
          image: nginx
    why:
      en: The scheduler passes over nodes with taints that the pod does not tolerate, and nodes that it does not select.
    read: [concepts/scheduling-eviction/taint-and-toleration]
  wrong:
  - name: no-toleration
    manifests: |
      apiVersion: v1
      kind: Pod
      metadata:
        name: ${pod}
      spec:
        nodeSelector:
          kubernetes.io/hostname: controlplane
        containers:
        - name: main
          image: nginx
    fails: [on-the-node]
  - name: another-image
    manifests: |
      apiVersion: v1
      kind: Pod
      metadata:
        name: ${pod}
      spec:
        nodeSelector:
          kubernetes.io/hostname: controlplane
        tolerations:
        - operator: Exists
        containers:
        - name: main
          image: httpd
    fails: [image]
"""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command's options."""
    parser = subparsers.add_parser("new", help="write a new exercise file to start from")
    parser.add_argument("name", nargs="?", help="the exercise's name: lower-case letters, digits and dashes")
    parser.add_argument("--chapter", choices=list(BY_ID), default="node-affinity", help="the chapter it belongs to")
    parser.add_argument("--folder", type=Path, default=settings.ROOT / "exercises", help="where the file goes")
    parser.add_argument("--schema", action="store_true", help="print the format's JSON Schema instead")


def run(args: argparse.Namespace) -> int:
    """Write the file and say what to do next; 1 where the name will not do or the file is there."""
    if args.schema:
        print(schema.text(), end="")
        return 0
    name = args.name or ""
    if not _NAME.fullmatch(name):
        print("Give a name of lower-case letters, digits and dashes, such as taint-a-node.", file=sys.stderr)
        return 1
    path = args.folder / f"{name}.yaml"
    try:
        args.folder.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as opened:
            opened.write(source(name, args.chapter))
    except FileExistsError:
        print(f"{path} is there already: choose another name, or edit that file.", file=sys.stderr)
        return 1
    print(f"{path} written. Change it, then run: cka-lab prove {path}")
    return 0


def source(name: str, chapter: str) -> str:
    """The text of a new exercise."""
    title = name.replace("-", " ").capitalize()
    return TEMPLATE.replace("@NAME@", name).replace("@CHAPTER@", chapter).replace("@TITLE@", title)
