"""A thousand evaluation calls at once over loopback, against the same calls made in this process.

The server runs in a process of its own, as it would; the calls of both sides are of one case each.
Wall time, since two processes share the work, and the client of a thousand connections is part of
it: a server that answers as fast as its store is asked has a ratio near 1.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import memeval as me
from memeval.server import PATH
from memeval.serving.keys import VARIABLE

from .timing import Figure

SECRET = "a-secret-of-the-benchmark"
KEYS = json.dumps([{"id": "load", "secret": SECRET, "agents": ["ana"]}])
BODY = {"agentId": "ana", "cases": [{"query": "where is the kiosk", "expectedIds": ["m-1"]}]}
SERVER = """
from memeval.server import make_app, serve
from tests.benchmarks.serving import open_store
app = make_app(open_store, per_minute=10**9, most_waiting=10**6, call_s=3600)
serve(app, port=0, started=lambda address: print(address, flush=True))
"""


def open_store() -> me.SqliteStore:
    """Give a store of a hundred records."""
    store = me.SqliteStore()
    store.put_many(
        me.Record(f"m-{n}", f"The kiosk number {n} sells soup of the day.", "ana")
        for n in range(100)
    )
    return store


@contextmanager
def serving() -> Iterator[str]:
    """Address of a server of its own process."""
    root = Path(__file__).resolve().parent.parent.parent
    with tempfile.TemporaryDirectory() as folder:
        server = subprocess.Popen(
            [sys.executable, "-c", SERVER],
            cwd=folder,
            env={**os.environ, VARIABLE: KEYS, "PYTHONPATH": str(root)},
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            assert server.stdout is not None
            yield server.stdout.readline().strip()
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait(60)


async def load(address: str, n_calls: int) -> list[int]:
    """Make the calls at once, over as many connections; give the status of each."""
    import httpx

    limits = httpx.Limits(max_connections=n_calls)
    async with httpx.AsyncClient(limits=limits, timeout=600) as client:
        headers = {"Authorization": f"Bearer {SECRET}"}
        calls = [client.post(address + PATH, json=BODY, headers=headers) for _ in range(n_calls)]
        return [answer.status_code for answer in await asyncio.gather(*calls)]


def figures(quick: bool) -> Iterator[Figure]:
    """Time calls over loopback, and in this process."""
    n_calls = 100 if quick else 1000
    with serving() as address:
        asyncio.run(load(address, 10))
        started = time.perf_counter()
        statuses = asyncio.run(load(address, n_calls))
        over_http = time.perf_counter() - started
    odd = [status for status in statuses if status != 200]
    if odd:
        raise RuntimeError(f"{len(odd)} of {n_calls} calls came to {sorted(set(odd))}, wanted 200")
    store = open_store()
    me.evaluate_request(BODY, store)
    started = time.perf_counter()
    for _ in range(n_calls):
        me.evaluate_request(BODY, store)
    direct = time.perf_counter() - started
    yield Figure(
        f"{n_calls} evaluation calls at once over loopback, all answered with 200",
        over_http,
        direct,
        "the same calls in this process, one by one",
        1.5,
        at_least=False,
    )
