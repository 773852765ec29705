"""Logged queries in their millions: scored part by part, on as many machines as there are.

Of a part nothing is kept but how often each value of a metric was met (`memeval.scoring.tallies`).
That is all that a figure hangs on, its interval too: so the summary is that of the whole in memory,
to the last bit, whoever scored which part, and in whatever order.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import BrokenExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from memeval.checks.kinds import shown
from memeval.errors import FrameError, MemevalError, said
from memeval.metrics import score
from memeval.parquetparts import part_names, pyarrow_of, read_part
from memeval.parquetparts import write_parquet as write_parquet
from memeval.ranks import checked_k
from memeval.scoring.observed import figures, observations
from memeval.scoring.tallies import Merging, Tallies, column_of, tallies_of
from memeval.spreading import joblib_of, spread
from memeval.summary import TARGETS, as_frame, refuse_unknown
from memeval.textcolumns import objects

__all__ = ["summarize_parquet", "write_parquet"]

# Times that a part is begun whose worker process died.
_ATTEMPTS = 3


@dataclass(frozen=True, slots=True)
class Job:
    """What holds for all parts.

    Attributes
    ----------
    folder : str
        Where they are: a worker must find it under the same name.
    k : int or None
        Cutoff in place of that which was asked with.
    score_order : {'high', 'low'} or None
        Which scores are better.
    """

    folder: str
    k: int | None
    score_order: Literal["high", "low"] | None


@dataclass(frozen=True, slots=True)
class Scored:
    """What is left of a part: its name, tallies, and a hash of each probe's name."""

    part: str
    tallies: Tallies
    probes: NDArray[np.uint64]


def summarize_parquet(
    folder: str | os.PathLike[str],
    *,
    k: int | None = None,
    jobs: int = 1,
    targets: Mapping[str, float] = TARGETS,
    floors: Mapping[str, float] | None = None,
    score_order: Literal["high", "low"] | None = "high",
) -> pd.DataFrame:
    """Score a Parquet folder part by part, and sum it up as if it had been scored whole.

    Parameters
    ----------
    folder : str or path-like
        Folders ``calls``, ``hits`` and ``qrels``, as from `write_parquet`; or from another
        program that keeps all rows of a probe in the files of one name.
    k : int, optional
        Cutoff, at most that with which each probe was asked; its own unless given.
    jobs : int
        Worker processes; -1 for one a core. Under ``joblib.parallel_config(backend="dask")``
        and with jobs other than 1 the parts go to all workers of the Dask cluster, which must
        find the folder under the same name.
    targets, floors, score_order
        As for `memeval.summary.summarize`. `score_order` of a run is in
        ``run.manifest.capabilities["score_order"]``.

    Returns
    -------
    pandas.DataFrame
        As from `memeval.summary.summarize` for the same tables, bit for bit.

    Raises
    ------
    FrameError
        If a column is missing or a row misfits, with the part; a probe stands in two parts; `k`
        is no cutoff or larger than that of a call.
    RunFileError
        If the folder has no part, or one is damaged or not whole.
    MemevalError
        If pyarrow (or joblib, with jobs) is not installed, or the worker of a part died each time.

    See Also
    --------
    write_parquet : writes such a folder.

    Notes
    -----
    Memory: a part in each process, and here 8 bytes a probe to see that none stands in two parts,
    and 16 bytes for each distinct value of a metric: next to nothing, except for times and scores.

    A part whose worker dies is scored again by another one.

    Examples
    --------
    >>> summary = summarize_parquet("log", jobs=4)  # doctest: +SKIP
    """
    pyarrow_of("pyarrow.parquet")
    refuse_unknown(targets, "targets")
    refuse_unknown(floors or {}, "floors")
    if type(jobs) is not int or not (jobs == -1 or jobs >= 1):
        raise MemevalError(f"jobs is {shown(jobs)}, wanted a whole number from 1, or -1")
    place = Path(folder).absolute()
    job = Job(str(place), None if k is None else checked_k(k), score_order)
    parts = part_names(place)
    merging, probes = Merging(), {}
    for scored in _scored(job, parts, min(jobs, len(parts))):
        merging.add(scored.tallies)
        probes[scored.part] = scored.probes
    _refuse_twice(place, probes)
    observed = {name: column_of(counted) for name, counted in merging.whole().items()}
    return as_frame(figures(observed), targets, floors or {})


def _scored(job: Job, parts: list[str], jobs: int) -> Iterator[Scored]:
    """All parts, each once, in whatever order they are done."""
    if jobs == 1:
        yield from (score_part(job, part) for part in parts)
        return
    joblib = joblib_of(jobs)
    left = set(parts)
    for attempt in range(1, _ATTEMPTS + 1):
        try:
            for scored in spread(joblib, jobs, score_part, job, sorted(left)):
                left.discard(scored.part)
                yield scored
            return
        except BrokenExecutor as error:
            if attempt == _ATTEMPTS:
                raise MemevalError(
                    f"{job.folder}: worker processes died {attempt} times while they scored its "
                    f"parts, and {len(left)} are left, such as {min(left)} ({said(error)}); wanted "
                    "them to end: where memory ran out, use fewer jobs, or write the folder with "
                    "smaller parts (rows_per_file)"
                ) from error


def score_part(job: Job, part: str) -> Scored:
    """Score one part, in whatever process this is.

    Parameters
    ----------
    job : Job
        What holds for all.
    part : str
        Name of its files.
    """
    place = Path(job.folder)
    tables = read_part(place, part)
    try:
        calls = _cut_at(tables["calls"], job.k)
        results = score(tables["hits"], tables["qrels"], calls)
    except FrameError as error:
        raise FrameError(
            f"{place}, part {part}: {error} (all rows of a probe belong into the files of one name)"
        ) from error
    observed = observations(results, tables["hits"], tables["qrels"], calls, job.score_order)
    return Scored(part, tallies_of(observed), _hashes(results["probe"]))


def _cut_at(calls: pd.DataFrame, k: int | None) -> pd.DataFrame:
    if k is None:
        return calls
    short = calls["k"] < k
    if short.any():
        row = calls.loc[short].iloc[0]
        raise FrameError(
            f"calls: probe {row['probe']!r}: was asked with k {row['k']}, wanted at least the k of "
            f"{k} that is scored: what it would have returned below is not known; use a smaller k"
        )
    return calls.assign(k=k)


def _hashes(names: pd.Series) -> NDArray[np.uint64]:
    return pd.util.hash_array(objects(names), categorize=False)


def _refuse_twice(folder: Path, probes: Mapping[str, NDArray[np.uint64]]) -> None:
    """Refuse a probe of two parts; equal hashes are looked up, since other names may have them."""
    every = np.sort(np.concatenate(list(probes.values())))
    twice = every[1:][every[1:] == every[:-1]]
    if not len(twice):
        return
    seen: dict[str, str] = {}
    for part, name in _named(folder, probes, twice):
        if seen.setdefault(name, part) != part:
            raise FrameError(
                f"{folder}: probe {name!r}: found rows in the parts {seen[name]} and {part}, "
                "wanted all rows of a probe in one part: its repeats and hits belong together; "
                "write the folder with memeval.write_parquet, all of a probe in one table"
            )


def _named(
    folder: Path, probes: Mapping[str, NDArray[np.uint64]], wanted: NDArray[np.uint64]
) -> Iterator[tuple[str, str]]:
    """Part and name of the probes with these hashes."""
    for part in sorted(probes):
        if np.isin(probes[part], wanted).any():
            told: Any = read_part(folder, part, ["calls"])["calls"]["probe"].drop_duplicates()
            names: Iterable[str] = told[np.isin(_hashes(told), wanted)]
            yield from ((part, name) for name in names)
