"""The real kubectl, and a backend for it whose time moves when a test says so."""

import asyncio
import os
import subprocess
import sys
import threading
from pathlib import Path

from app.apimachinery import clock
from app.cluster.apiserver import dispatch
from app.kubeapi.kubeconfig import kubeconfig
from tests.kubeapi.serving import SECRET

KUBECTL = Path(sys.executable).parent / "kubectl"


class OneCluster:
    """A backend over one cluster in this process, whose time moves when the test says so."""

    def __init__(self, cluster):
        self.cluster = cluster
        self.lock = threading.Lock()

    async def call(self, secret, request):
        assert secret == SECRET
        with self.lock:
            answer = dispatch.handle(self.cluster, request)
            self.cluster.advance_to(self.cluster.now)
            return answer

    async def watch(self, secret, request, since):
        assert secret == SECRET
        with self.lock:
            return dispatch.watch(self.cluster, request, since)

    async def changed(self, secret, revision, within):
        for _ in range(int(within * 50)):
            with self.lock:
                if self.cluster.client.revision > revision:
                    return
            await asyncio.sleep(0.02)

    def advance(self, seconds):
        with self.lock:
            self.cluster.advance_to(self.cluster.now + int(seconds * clock.SECOND))


class Kubectl:
    """The binary with a home and a kubeconfig of its own."""

    def __init__(self, home, server):
        self.home = home
        (home / "config").write_text(kubeconfig(server))
        self.environment = {"HOME": str(home), "KUBECONFIG": str(home / "config"), "PATH": os.environ["PATH"]}

    def command(self, line):
        return [str(KUBECTL), *line.split()]

    def run(self, line, stdin="", code=0):
        done = subprocess.run(
            self.command(line),
            input=stdin,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
            cwd=self.home,
        )
        assert done.returncode == code, f"kubectl {line}: {done.stdout}{done.stderr}"
        return done.stdout if code == 0 else done.stderr

    def start(self, line):
        return subprocess.Popen(
            self.command(line),
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            bufsize=1,
            cwd=self.home,
        )
