"""Runs on disk: the full run file.

It holds everything, floats exactly, the suite included, so that it can be scored, drawn and
reported on a machine that has no store. The small file to commit is `memeval.files.resultsfile`.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pandas as pd

from memeval import frames
from memeval.atomic import write_whole
from memeval.checks.kinds import shown
from memeval.errors import MemevalError, RunFileError, said
from memeval.files.passing import passing_of
from memeval.files.saved import read_saved, strict
from memeval.given import Given
from memeval.heldout import HeldOut
from memeval.plain import plain
from memeval.probe import Probe
from memeval.record import Advance, Consolidate, Delete, Op, Record
from memeval.runs import Manifest, Run, Validity
from memeval.suite import Suite
from memeval.times import parse_span, parse_time
from memeval.typed import typed

FORMAT = "memeval run"
VERSION = 1
TABLES = {"hits": frames.HITS, "calls": frames.CALLS, "qrels": frames.QRELS}
JUDGED = {"controls": frames.CONTROLS, "causes": frames.CAUSES, "looks": frames.LOOKS}
WANTED = "a run file, such as memeval run leaves in .memeval/runs"


def save_run(run: Run, path: str | os.PathLike[str], *, texts: bool = True) -> Path:
    """Save a run with everything that is needed to score, draw and report it.

    Parameters
    ----------
    run : Run
        What to save.
    path : str or path-like
        A JSON file; replaced as a whole.
    texts : bool
        False leaves the texts of records and hits out.

    Returns
    -------
    Path
        The absolute path.

    Raises
    ------
    MemevalError
        If it cannot be written.
    """
    kept = run if texts else run.without_texts()
    tables = {name: _columns(getattr(kept, name)) for name in TABLES}
    judged = {name: getattr(kept, name) for name in JUDGED}
    tables |= {name: _columns(frame) for name, frame in judged.items() if frame is not None}
    payload = {
        "format": FORMAT,
        "version": VERSION,
        "manifest": asdict(_with_note(kept)),
        "outcome": _outcome(run),
        "validity": asdict(kept.validity),
        "targets": dict(kept.targets),
        "floors": dict(kept.floors),
        "allow_errors": kept.allow_errors,
        "suite": _suite_payload(kept.suite),
        "tables": tables,
    }
    return write_whole(path, strict(payload) + "\n")


def _outcome(run: Run) -> dict[str, Any]:
    """What it came to, for whoever reads many runs and scores none: nothing of an invalid suite."""
    word = run.verdict.word
    known = word != "INVALID"
    return {
        "verdict": word,
        "recall_all": _finite(run.recall_at_k) if known else None,
        "mrr": _finite(run.mrr) if known else None,
        "leaks": run.leaks if known else None,
        "probes": passing_of(run) if known else None,
    }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def load_run(path: str | os.PathLike[str]) -> Run:
    """Read a run that `save_run` wrote.

    Parameters
    ----------
    path : str or path-like
        The file.

    Returns
    -------
    Run
        Equal tables with equal dtypes, the suite, the validity, and the controls if there were.

    Raises
    ------
    RunFileError
        If it is no run file, is damaged, or was written by a newer version.
    """
    return run_from(read_saved(path, WANTED), path)


def run_from(payload: Mapping[str, Any], path: str | os.PathLike[str]) -> Run:
    """Make a run of what stands in a run file.

    Parameters
    ----------
    payload : mapping
        What the file holds.
    path : str or path-like
        The file, for messages.

    Raises
    ------
    RunFileError
        As `load_run`.
    """
    _checked(payload, path)
    try:
        return _run(payload)
    except (
        LookupError,
        TypeError,
        ValueError,
        AttributeError,
        ArithmeticError,
        RecursionError,
        MemevalError,
    ) as error:
        raise RunFileError(
            f"{path}: the run file is damaged ({said(error)}); wanted a file as memeval wrote it; "
            "run again, or take it from the history of your repository"
        ) from error


def _columns(frame: pd.DataFrame) -> dict[str, list[Any]]:
    return {str(name): [_cell(v) for v in frame[name].astype("object")] for name in frame.columns}


def _cell(value: Any) -> Any:
    if pd.isna(value) or (isinstance(value, float) and math.isinf(value)):
        return None
    return value.item() if hasattr(value, "item") else value


def _with_note(run: Run) -> Manifest:
    """The manifest, which says so where a score is no number that a file can hold."""
    infinite = int(run.hits["score"].isin([math.inf, -math.inf]).sum())
    if not infinite:
        return run.manifest
    note = f"{infinite} scores are infinite and saved as null"
    return replace(run.manifest, notes=(*run.manifest.notes, note))


def _suite_payload(suite: Suite) -> dict[str, Any]:
    """The suite in the words of a probe file, and what these cannot say."""
    return suite.to_dict() | {
        "haystack_name": suite.haystack_name,
        "chosen_of": suite.chosen_of,
        "held_out": None if suite.held_out is None else asdict(suite.held_out),
        "withheld": {probe.name: probe.withheld for probe in suite if probe.withheld},
    }


def _checked(payload: Mapping[str, Any], path: str | os.PathLike[str]) -> None:
    if payload.get("format") != FORMAT:
        raise RunFileError(
            f"{path}: is not a run file; wanted one that save_run or memeval run wrote (the "
            "results file holds too little); look into .memeval/runs"
        )
    version = payload.get("version")
    if version != VERSION:
        raise RunFileError(
            f"{path}: has version {version}, wanted {VERSION}; install the memeval that wrote it"
        )


def _run(payload: Mapping[str, Any]) -> Run:
    tables = {name: _table(payload["tables"][name], schema) for name, schema in TABLES.items()}
    judged = {n: payload["tables"][n] for n in JUDGED if n in payload["tables"]}
    made = Run(
        **tables,
        manifest=typed(Manifest(**_tuples(plain(payload["manifest"])))),
        suite=_suite(payload["suite"]),
        validity=typed(Validity(**_tuples(plain(payload["validity"])))),
        targets=payload["targets"],
        floors=payload["floors"],
        allow_errors=payload["allow_errors"],
        **{name: _table(columns, JUDGED[name]) for name, columns in judged.items()},
    )
    strangers = sorted(set(made.calls["probe"].dropna()) - {probe.name for probe in made.suite})
    if strangers:
        raise ValueError(f"it asks {shown(strangers[0])}, which is no probe of its suite")
    _ = typed(made).verdict  # a table that cannot be scored is found out here
    return made


def _table(columns: Mapping[str, list[Any]], schema: frames.Schema) -> pd.DataFrame:
    made = {name: pd.Series(values, dtype="object") for name, values in columns.items()}
    return frames.conform(pd.DataFrame(made), schema)


def _tuples(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: tuple(v) if isinstance(v, list) else v for name, v in values.items()}


def _suite(payload: Mapping[str, Any]) -> Suite:
    histories = {n: _ops(ops, "default") for n, ops in payload.get("histories", {}).items()}
    background = payload["haystack"]
    return typed(
        Suite(
            tuple(_probe(one, histories, payload["withheld"]) for one in payload["probes"]),
            None if background == "none" else tuple(_record(r, "default") for r in background),
            payload["haystack_name"],
            histories,
            chosen_of=payload["chosen_of"],
            held_out=_held_out(payload.get("held_out")),
        )
    )


def _held_out(fields: Mapping[str, Any] | None) -> HeldOut | None:
    return None if fields is None else typed(HeldOut(**_tuples(fields)))


def _probe(
    fields: Mapping[str, Any], histories: Mapping[str, Given], withheld: Mapping[str, str]
) -> Probe:
    values = dict(fields)
    shared = values.get("history")
    given = (
        histories[shared]
        if shared
        else _ops(values.pop("given", ()), values.get("scope", "default"))
    )
    if "now" in values:
        values["now"] = parse_time(values["now"])
    return Probe(**values, given=given, withheld=withheld.get(values["name"], ""))


def _ops(entries: Iterable[Mapping[str, Any]], scope: str) -> Given:
    return Given(_op(entry, scope) for entry in entries)


def _op(entry: Mapping[str, Any], scope: str) -> Op:
    if "delete" in entry:
        return Delete(entry["delete"])
    if "consolidate" in entry:
        return Consolidate()
    if "advance" in entry:
        return Advance(parse_span(entry["advance"]))
    return _record(entry, scope)


def _record(entry: Mapping[str, Any], scope: str) -> Record:
    values = {"scope": scope} | dict(entry)
    for name in ("at", "expires"):
        if name in values:
            values[name] = parse_time(values[name])
    values["supersedes"] = tuple(values.get("supersedes", ()))
    return Record(**values)
