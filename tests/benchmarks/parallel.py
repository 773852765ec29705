"""Two jobs against one, in wall time.

The store has work to do, as one with an embedder has: to search costs 200 rounds of hashing for
each record of the scope. The pool of processes is warm: it has asked some of the suite before. The
other tables hold CPU time; this one holds wall time, since the CPU time of two jobs is that of one
or a little more. So it needs two cores on which nothing else runs, and the load beside the line
says whether that was so. A second line says what the wall time would come to there: the CPU time of
this process and of the busier worker. With ``--quick`` the suite is a fifth of the size, one job
takes less than 20 s, and what has to be done once weighs the more.
"""

from __future__ import annotations

import hashlib
import os
import time
import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import memeval as me
from memeval.errors import WeakSuiteWarning
from memeval.record import Hit, Record

from .timing import Figure

ROUNDS = 200


class Computing:
    """Ranks by shared words, and hashes as if it were to embed something."""

    capabilities = me.Capabilities(deterministic=True)

    def __init__(self) -> None:
        self.kept: dict[str, Record] = {}

    def put(self, record: Record) -> str:
        """Keep a record."""
        self.kept[record.id] = record
        return record.id

    def search(self, query: str, *, k: int, scope: str) -> list[Hit]:
        """Rank the records of a scope."""
        asked = set(query.lower().split())
        mine = [record for record in self.kept.values() if record.scope == scope]
        scored = [(self._likeness(asked, record), record) for record in mine]
        best = sorted((pair for pair in scored if pair[0]), key=lambda pair: -pair[0])
        return [Hit(record.id, record.text, float(score)) for score, record in best[:k]]

    def _likeness(self, asked: set[str], record: Record) -> int:
        digest = record.text.encode()
        for _ in range(ROUNDS):
            digest = hashlib.sha256(digest).digest()
        return len(asked & set(record.text.lower().split()))


def _suite(copies: int) -> me.Suite:
    """The shipped suite several times over, each copy with names of its own."""
    shipped = me.load()
    probes = [
        replace(probe, name=f"{probe.name} {n}", history=None)
        for n in range(copies)
        for probe in shipped
    ]
    return replace(shipped, probes=tuple(probes), histories={})


def figures(quick: bool) -> Iterator[Figure]:
    """Wall seconds of a run with two jobs and of one without, and CPU time on the longest way."""
    suite = _suite(2 if quick else 10)
    wall: dict[int, list[float]] = {2: [], 1: []}
    way: dict[int, list[float]] = {2: [], 1: []}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WeakSuiteWarning)
        me.run(suite[:40], Computing, jobs=2)  # begins the processes
        for _ in range(1 if quick else 2):
            for jobs in wall:
                started, spent = time.perf_counter(), _spent()
                me.run(suite, Computing, jobs=jobs)
                wall[jobs].append(time.perf_counter() - started)
                added = {pid: cpu - spent.get(pid, 0.0) for pid, cpu in _spent().items()}
                own = added.pop(os.getpid())
                way[jobs].append(own + max(added.values(), default=0.0))
    what = f"{len(suite)} probes with 2 jobs, pool warm"
    load = f"wall time, load {os.getloadavg()[0]:.1f}"
    yield Figure(f"{what}, {load}", min(wall[2]), min(wall[1]), "1 job", 1.6)
    yield Figure(f"{what}, CPU on the longest way", min(way[2]), min(way[1]), "1 job", 1.6)


def _spent() -> dict[int, float]:
    """CPU seconds of this process and of its children, by process id, as Linux tells them."""
    found = {os.getpid(): time.process_time()}
    for children in Path("/proc/self/task").glob("*/children"):
        for pid in children.read_text().split():
            times = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
            found[int(pid)] = sum(map(int, times)) / os.sysconf("SC_CLK_TCK")
    return found
