"""How long memeval takes to start: CPU seconds of whole processes, children of this one."""

from __future__ import annotations

import gc
import resource
import statistics
import subprocess
import sys
from collections.abc import Iterator

from .timing import Figure

BARE = ("-c", "pass")
PANDAS = ("-c", "import pandas")
IMPORT = ("-c", "import memeval")
HELP = ("-m", "memeval", "--help")
FRAME = ("-c", "import memeval as me; me.score_rankings([['r1', 'r2']], [['r2']])")
SUITE = ("-c", "import memeval as me; me.load('probes').to_frame()")


def figures(quick: bool) -> Iterator[Figure]:
    """Import, help and the first frame, against bare Python and against pandas."""
    spent = _medians((BARE, PANDAS, IMPORT, HELP, FRAME, SUITE), 5 if quick else 15)
    ms = 1000.0
    for subject, command in (("import memeval", IMPORT), ("memeval --help", HELP)):
        beside = (spent[command] - spent[BARE]) * ms
        yield Figure(f"{subject}, CPU beside bare Python", beside, 100.0, "100 ms", 1, False, "ms")
    scored, loaded = "first frame: lists scored", "first frame: 124 YAML probes loaded"
    yield Figure(scored, spent[FRAME], spent[PANDAS], "import pandas", 1.15, at_least=False)
    yield Figure(loaded, spent[SUITE], spent[PANDAS], "import pandas", 1.15, at_least=False)


def _medians(commands: tuple[tuple[str, ...], ...], rounds: int) -> dict[tuple[str, ...], float]:
    taken: dict[tuple[str, ...], list[float]] = {command: [] for command in commands}
    for turn in range(rounds + 1):
        for command in commands:
            gc.collect()
            spent = _spent(command)
            if turn:
                taken[command].append(spent)
    return {command: statistics.median(times) for command, times in taken.items()}


def _spent(command: tuple[str, ...]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *command], check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
