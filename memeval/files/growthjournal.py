"""The journal of a simulation: a line for each checkpoint that was asked."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from memeval.files.journal import Journal, Line

NAME = "memeval simulation journal"


@dataclass(frozen=True, slots=True)
class Kept:
    """One checkpoint of a journal.

    Attributes
    ----------
    checkpoint : dict
        Its row of `memeval.frames.CHECKPOINTS`.
    probes : list of dict
        Lines of `memeval.frames.DRIFT_PROBES`.
    neighbours : dict or None
        How probes do alone, at the first checkpoint.
    """

    checkpoint: Line
    probes: list[Line]
    neighbours: Line | None = None


class GrowthJournal:
    """A file to which each checkpoint is added.

    Parameters
    ----------
    path : str or path-like
        Where; the folder is made where it is not there.
    key : mapping
        What is simulated on what, as plain values.
    resume : bool
        Whether to go on from what is there; else it is begun anew.
    validity : mapping, optional
        What was judged of the suite, as plain values.

    Attributes
    ----------
    found : dict of int to Kept
        Checkpoints that were asked before, by number of sessions.
    validity : object
        What was judged of the suite by whoever began it, as read; None where it does not say.

    Raises
    ------
    RunFileError, MemevalError
        As `memeval.files.journal.Journal`.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        key: Mapping[str, Any],
        *,
        resume: bool = False,
        validity: Mapping[str, Any] | None = None,
    ) -> None:
        self.found: dict[int, Kept] = {}
        beside = None if validity is None else {"validity": validity}
        self._journal = Journal(path, NAME, key, self._take, resume=resume, beside=beside)
        held = self._journal.beside
        self.validity: Any = held.get("validity") if isinstance(held, Mapping) else None

    def add(self, session: int, kept: Kept) -> None:
        """Add a checkpoint; it is on disk when this returns."""
        self._journal.add({"session": session, **asdict(kept)})
        self.found[session] = kept

    def _take(self, line: Line) -> None:
        self.found[int(line["session"])] = _kept(line)


def _kept(told: Line) -> Kept:
    """One line, if a simulation can go on with it: it has what tells probes and checkpoints apart.

    Raises
    ------
    LookupError, TypeError, ValueError
        If it has not.
    """
    checkpoint, probes = dict(told["checkpoint"]), [dict(row) for row in told["probes"]]
    beside = None if told["neighbours"] is None else dict(told["neighbours"])
    for row in (checkpoint, *probes):
        int(row["session"]), int(row["n_records"])
    for row in probes:
        str(row["probe"]), int(row["cohort"]), bool(row["passed"])
    if beside is not None:
        beside["share"], beside["n"], beside["probes"]
    return Kept(checkpoint, probes, beside)
