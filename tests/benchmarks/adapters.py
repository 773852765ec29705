"""What stands between a remote store and memeval: the adapter, and the waiting.

A service on loopback, of 50 ms a call for the second part, and there in a process of its own, as a
remote one is. Wall time, since most of it is waiting: the adapter against the same requests by a
client of httpx, and 32 threads against one.
"""

from __future__ import annotations

import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

import memeval as me
from memeval.stores.declared import load_store
from tests.loopback import Request, serving

from .timing import Figure

ROOT = Path(__file__).resolve().parents[2]
DECLARED = """
kind: http
base: {base}
capabilities: {{isolation: namespace, thread_safe: true, deterministic: true}}
put: {{path: "/m/{{scope}}", json: {{id: "{{id}}", text: "{{text}}"}}}}
search: {{method: GET, path: "/m/{{scope}}", query: {{q: "{{query}}", n: "{{k}}"}},
          items: found, id: id, text: text, score: score}}
delete: {{method: DELETE, path: "/m/{{scope}}/{{store_id}}"}}
"""


class Service:
    """A memory behind HTTP that takes its time."""

    def __init__(self, wait_s: float) -> None:
        self.wait_s = wait_s
        self.kept: dict[tuple[str, str], str] = {}

    def __call__(self, request: Request) -> tuple[int, Any]:
        """Write, delete or find by shared words."""
        time.sleep(self.wait_s)
        scope = request.path[1]
        if request.method == "POST":
            self.kept[scope, request.json["id"]] = request.json["text"]
            return 201, {}
        if request.method == "DELETE":
            self.kept.pop((scope, request.path[2]), None)
            return 200, {}
        asked = set(re.findall(r"\w+", request.query["q"].lower()))
        found = [
            {"id": name, "text": text, "score": float(len(asked & set(text.lower().split())))}
            for (where, name), text in list(self.kept.items())
            if where == scope
        ]
        return 200, {"found": found[: int(request.query["n"])]}


ELSEWHERE = """
import sys, time
from tests.benchmarks.adapters import Service
from tests.loopback import serving

with serving(Service(float(sys.argv[1]))) as base:
    print(base, flush=True)
    sys.stdin.read()
"""


@contextmanager
def elsewhere(wait_s: float) -> Iterator[str]:
    """Address of a service in a process of its own."""
    command = [sys.executable, "-c", ELSEWHERE, str(wait_s)]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT
    )
    try:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
    finally:
        process.communicate()


def opened(folder: str, base: str) -> Callable[[], Any]:
    """Write the declaration, and give its factory."""
    path = Path(folder, "store.yaml")
    path.write_text(DECLARED.format(base=base), encoding="utf-8")
    return load_store(path)


def figures(quick: bool) -> Iterator[Figure]:
    """One call, and many at once."""
    yield _call(200 if quick else 1000)
    yield _threads(64 if quick else 400)


def _call(n: int) -> Figure:
    with tempfile.TemporaryDirectory() as folder, serving(Service(0.0)) as base:
        store = opened(folder, base)()
        store.put(me.Record("r1", "the tea is lapsang", "ana"))
        client = httpx.Client(base_url=base)
        query = {"q": "which tea", "n": "5"}

        def bare() -> object:
            answer = client.request("GET", "/m/ana", params=query)
            return [(hit["id"], hit["text"], hit["score"]) for hit in answer.json()["found"]]

        calls: Mapping[str, Callable[[], object]] = {
            "adapter": lambda: store.search("which tea", k=5, scope="ana"), "bare": bare
        }  # fmt: skip
        times: dict[str, list[float]] = {name: [] for name in calls}
        for _ in range(n):
            for name, call in calls.items():
                started = time.perf_counter()
                call()
                times[name].append(time.perf_counter() - started)
        client.close()
        store.close()
    ours, other = (statistics.median(times[name]) for name in ("adapter", "bare"))
    return Figure(f"a search over HTTP, {n} calls", ours, other, "the same request by httpx", 1.1,
                  at_least=False)  # fmt: skip


def _threads(n: int) -> Figure:
    probes = [
        me.Probe(f"p{i}", f"tea number {i}", [me.Record("r1", f"tea number {i}")], ["r1"])
        for i in range(n)
    ]
    with tempfile.TemporaryDirectory() as folder, elsewhere(0.05) as base:
        factory, took = opened(folder, base), {}
        for jobs in (32, 1):
            started = time.perf_counter()
            run = me.run(probes, factory, jobs=jobs, repeat_check=False)
            took[jobs] = time.perf_counter() - started
            assert run.recall_at_k == 1.0
    return Figure(f"{n} probes of a store of 50 ms a call, 32 threads", took[32], took[1],
                  "one after another", 15)  # fmt: skip
