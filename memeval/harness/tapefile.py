"""A tape as a file: what a paid or slow store said, kept as it is said.

A line for each history that was asked, on disk once it is whole. What was written and asked stands
there as hashes alone; the answers stand there in full.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from memeval.errors import RunFileError, StoreError
from memeval.files.journal import Journal, Line, read_journal
from memeval.harness.asking import Written
from memeval.harness.options import Options
from memeval.harness.tape import Answer, Failure, Names, Take, Tape
from memeval.plain import plain
from memeval.record import Hit, Receipt
from memeval.runs import Manifest
from memeval.stores.base import Capabilities

__all__ = ["TapeFile", "read_tape"]

NAME = "memeval recording"
WANTED = "a recording, such as memeval run --record FILE leaves"
ASKING = ("repeat_check", "opaque_ids", "allow_nonempty", "retries", "seed")
"""Options that a replay has to have as they were."""


class Hashed(Tape):
    """A tape on which steps and questions are known by hashes."""

    __slots__ = ()

    def key(self, told: Hashable) -> Hashable:
        """A hash of what is told: equal in every process."""
        written = repr(told).encode("utf-8", "surrogatepass")
        return hashlib.blake2b(written, digest_size=12).hexdigest()


class TapeFile(Hashed):
    """A tape that is written to a file.

    Parameters
    ----------
    path : str or path-like
        Where. A file that is there already is gone on with or refused, never written over.
    resume : bool
        Whether to go on with one that stopped.

    Raises
    ------
    RunFileError
        If it is there and not to be gone on with.
    """

    __slots__ = ("_journal", "_path", "_resume", "_steps")

    def __init__(self, path: str | os.PathLike[str], *, resume: bool = False) -> None:
        super().__init__()
        self._path, self._resume = Path(path), resume
        self._journal: Journal | None = None
        self._steps: list[Hashable] = [None]
        if self._path.exists() and not resume:
            raise RunFileError(
                f"{path} is there already and is not written over: an answer may have been paid "
                "for; name another file, move this one, or go on with it by resume (--resume)"
            )

    def begin(self, key: Mapping[str, Any], options: Options) -> None:
        """Begin the file: what is asked of which store, and how.

        Raises
        ------
        RunFileError, MemevalError
            As `memeval.files.journal.Journal`.
        """
        about = {
            "capabilities": self.capabilities.to_dict(),
            "info": plain(self.info),
            "supports": sorted(self.supports),
            "pipeline": self.pipeline,
            "options": {name: getattr(options, name) for name in ASKING},
        }
        self._journal = Journal(self._path, NAME, key, dict, resume=self._resume, beside=about)

    def step(self, take: Take, number: int, key: Hashable) -> None:
        """Let a take go on by one step."""
        super().step(take, number, key)
        if take.path[-1] == len(self._steps):
            self._steps.append(key)

    def end(self, take: Take, tag: str) -> None:
        """Write a take."""
        if self._journal is not None:
            steps = [self._steps[node] for node in take.path[1:]]
            self._journal.add({"of": tag, "steps": steps, **_written_out(take)})

    def close(self, manifest: Manifest) -> None:
        """Write that the recording is whole, and the manifest of its run."""
        if self._journal is not None:
            told = {"counts_calls": self.counts_calls, "manifest": plain(asdict(manifest))}
            self._journal.add({"end": told})


def _written_out(take: Take) -> dict[str, Any]:
    written = take.written
    return {
        "told": [[_out(one) for one in attempts] for attempts in take.told],
        "ids": list(take.names.ids),
        "scopes": list(take.names.scopes),
        "kept": take.names.kept,
        "answers": [
            [n, key, [_out(one) for one in attempts]] for (n, key), attempts in take.answers.items()
        ],
        "written": None if written is None else asdict(written),
    }


def _out(one: Any) -> Any:
    """What an attempt came to, as JSON can hold it."""
    if isinstance(one, Failure):
        return {"failed": one.words, "timeout": one.timeout}
    if isinstance(one, Answer):
        hits = [[hit.id, hit.text, hit.score, plain(hit.meta)] for hit in one.hits]
        return {"hits": hits, "llm_calls": one.llm_calls, "ms": one.ms}
    if isinstance(one, Sequence):
        return {"receipts": [[r.outcome, r.store_ids, r.texts] for r in one]}
    return one


def _in(one: Any) -> Any:
    if not isinstance(one, Mapping):
        return one
    if "failed" in one:
        return Failure(str(one["failed"]), bool(one["timeout"]))
    if "receipts" in one:
        return [Receipt(how, tuple(ids), tuple(texts)) for how, ids, texts in one["receipts"]]
    hits = tuple(Hit(i, str(text), score, dict(meta)) for i, text, score, meta in one["hits"])
    return Answer(hits, int(one["llm_calls"]), float(one["ms"]))


def read_tape(path: str | os.PathLike[str]) -> tuple[Tape, Mapping[str, Any], Mapping[str, Any]]:
    """Read a recording.

    Parameters
    ----------
    path : str or path-like
        A file that `TapeFile` has written.

    Returns
    -------
    tuple of Tape, mapping, and mapping
        What the store said; how it was asked; and the manifest of the run.

    Raises
    ------
    RunFileError
        If it is none, is damaged, or stops before its end.
    """
    head, lines = read_journal(path, NAME, WANTED)
    ends = [line["end"] for line in lines if "end" in line]
    takes = {str(line.get("of")): line for line in lines if "end" not in line}
    if not ends:
        raise RunFileError(
            f"{path}: the recording stops after {len(takes)} histories, wanted a whole one; go on "
            "with it by 'memeval run --resume --record' with the same options"
        )
    try:
        tape = _tape(head["beside"], ends[-1])
        for line in takes.values():
            _add(tape, line)
        return tape, head["beside"]["options"], ends[-1]["manifest"]
    except (LookupError, TypeError, ValueError, AttributeError, StoreError) as error:
        raise RunFileError(
            f"{path}: is damaged ({type(error).__name__}: {error}); wanted {WANTED}, unchanged"
        ) from error


def _tape(about: Line, end: Line) -> Tape:
    declared = about["capabilities"]
    return Hashed(
        capabilities=Capabilities(**declared | {"honours": frozenset(declared["honours"])}),
        info=dict(about["info"]),
        supports=frozenset(about["supports"]),
        pipeline=bool(about["pipeline"]),
        counts_calls=bool(end["counts_calls"]),
    )


def _add(tape: Tape, line: Line) -> None:
    names = Names()
    names.ids = {name: n for n, name in enumerate(line["ids"])}
    names.scopes = {name: n for n, name in enumerate(line["scopes"])}
    names.kept = {name: (int(n), int(m)) for name, (n, m) in line["kept"].items()}
    take = Take(names)
    number = len(tape.takes)
    tape.add(take)
    for key in line["steps"]:
        tape.step(take, number, key)
    take.told = [[_in(one) for one in attempts] for attempts in line["told"]]
    for n, key, attempts in line["answers"]:
        take.answers[int(n), key] = [_in(one) for one in attempts]
    if line["written"] is not None:
        take.written = Written(**{**line["written"], "told": tuple(line["written"]["told"])})
