"""A worker's handler that crashes, hangs or grows on request: what tests of the pool are made of."""

import os
import time
from pathlib import Path


def handle(request: bytes) -> bytes:
    """Obey the request's first word."""
    verb, _, rest = request.partition(b" ")
    if verb == b"echo":
        return rest
    if verb == b"pid":
        return str(os.getpid()).encode()
    if verb == b"sleep":
        time.sleep(float(rest))
        return b"awake"
    if verb == b"crash":
        os.abort()
    if verb == b"hang":
        while True:
            time.sleep(60)
    if verb == b"spin":
        while True:
            pass
    if verb == b"burn":
        until = time.process_time() + float(rest)
        while time.process_time() < until:
            pass
        return b"burnt"
    if verb == b"grow":
        hoard = []
        while True:
            hoard.append(bytearray(50_000_000))
    if verb == b"write":
        Path(os.fsdecode(rest)).write_bytes(b"x" * 10)
    raise ValueError(verb)
