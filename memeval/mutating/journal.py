"""The journal of a mutation: a line for each saboteur that was tried."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from memeval.files.journal import Journal, Line
from memeval.mutating.trying import Found
from memeval.proof_frames import KILLED_BY

__all__ = ["MutationJournal"]

NAME = "memeval mutation journal"


class MutationJournal:
    """A file to which each finished saboteur is added.

    Parameters
    ----------
    path : str or path-like
        Where; the folder is made where it is not there.
    key : mapping
        What is tried on what, as plain values.
    resume : bool
        Whether to go on from what is there; else it is begun anew.
    probes : iterable of str, optional
        Names of the probes that may have killed; any unless given.

    Attributes
    ----------
    found : dict of str to Found
        What was finished before, by name of the saboteur.

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
        probes: Iterable[str] | None = None,
    ) -> None:
        self.found: dict[str, Found] = {}
        self._probes = None if probes is None else frozenset(probes)
        self._saboteurs = key.get("saboteurs")
        self._journal = Journal(path, NAME, key, self._take, resume=resume)

    def add(self, found: Found) -> None:
        """Add a finished saboteur; it is on disk when this returns."""
        self._journal.add(found.to_dict())
        self.found[found.saboteur] = found

    def _take(self, line: Line) -> None:
        """Take over a line: a saboteur of the key, killed in a known way by known probes."""
        found = Found.from_dict(line)
        known = self._saboteurs is None or found.saboteur in self._saboteurs
        if not known or not all(
            kill.by in KILLED_BY and (self._probes is None or kill.probe in self._probes)
            for kill in found.kills
        ):
            raise ValueError(f"{found.saboteur} is not of this journal")
        self.found[found.saboteur] = found
