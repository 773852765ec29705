"""Runs that were recorded, to be run again without their store."""

from __future__ import annotations

import os

from memeval.harness.replaying import Replay
from memeval.harness.tapefile import read_tape

__all__ = ["load_recording"]


def load_recording(path: str | os.PathLike[str]) -> Replay:
    """Load what a store said in a run that was recorded, as a store.

    Parameters
    ----------
    path : str or path-like
        A file that ``memeval.run(..., record=path)`` or ``memeval run --record`` has written.

    Returns
    -------
    Replay
        To be handed to `memeval.run` as `make_store`. It answers what was asked then, needs
        no store, no key and no network, and the times are those of then.

    Raises
    ------
    RunFileError
        If it is no recording, is damaged, or stops before its end.

    Notes
    -----
    What decides what a store is asked (the probes, their cutoffs, the seed, how often) must be as
    it was: a question that was not recorded is refused. What decides how answers are judged
    (targets, floors, labels, contract checks, `is_stale`) may be anything else.

    Examples
    --------
    >>> import tempfile
    >>> import memeval as me
    >>> probe = me.Probe("lunch", "noodle bar", [me.Record("r1", "Lunch: noodle bar.")], ["r1"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     first = me.run([probe], "sqlite", record=f"{folder}/lunch.jsonl")
    ...     again = me.run([probe], me.load_recording(f"{folder}/lunch.jsonl"))
    >>> again.calls.equals(first.calls)
    True
    """
    tape, asking, manifest = read_tape(path)
    return Replay(tape, plainly=True, strict=True, asking=asking, manifest=manifest)
