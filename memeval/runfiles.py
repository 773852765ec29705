"""Runs on disk: the full run file, and the small results file that is committed.

A run file holds everything, floats exactly, the suite included, so that it can be scored, drawn and
reported on a machine that has no store. The results file holds the fields of the specification and
a line per probe, so that it diffs well.
"""

from __future__ import annotations

import json
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
from memeval.given import Given
from memeval.plain import plain
from memeval.probe import Probe
from memeval.record import Advance, Consolidate, Delete, Op, Record
from memeval.runs import Manifest, Run, Validity
from memeval.spec import spec_results, spec_summary
from memeval.suite import Suite
from memeval.text import clean
from memeval.times import parse_span, parse_time
from memeval.typed import typed

FORMAT = "memeval run"
VERSION = 1
TABLES = {"hits": frames.HITS, "calls": frames.CALLS, "qrels": frames.QRELS}
JUDGED = {"controls": frames.CONTROLS, "causes": frames.CAUSES}
DECIMALS = 6


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
        "validity": asdict(kept.validity),
        "targets": dict(kept.targets),
        "floors": dict(kept.floors),
        "allow_errors": kept.allow_errors,
        "suite": _suite_payload(kept.suite),
        "tables": tables,
    }
    return write_whole(path, _strict(payload) + "\n")


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
    payload = _read(path)
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


def results_payload(run: Run) -> dict[str, Any]:
    """What ``eval-results.json`` holds.

    Returns
    -------
    dict
        ``commit``, ``at``, ``probes``, ``k``, ``recall_at_5`` (``recall_at_k`` where not every
        probe has k = 5), ``mrr``, ``distinct_at_5``, ``staleness``, ``leaks``,
        ``negative_correct``, ``p95_ms``, verdict and validity, and ``per_probe``: by name
        ``hit``, ``rank``, ``leaked`` and ``status``. Floats have six decimals, undefined is None.
        Of an invalid suite there are reasons in the place of numbers.
    """
    verdict = run.verdict
    payload: dict[str, Any] = {
        "commit": run.manifest.environment.get("commit"),
        "at": run.manifest.created_at,
        "probes": len(run.results),
        "verdict": verdict.word,
        "reason": verdict.reason,
        "validity": run.validity.status,
        "suite": run.manifest.suite_hash,
        "k": run.manifest.k if run.manifest.k is not None else "mixed",
    }
    if verdict.word == "INVALID":
        return payload
    summary = spec_summary(run.results, run.summary)
    results = spec_results(run.results, run.hits, run.qrels, run.suite)
    at = "5" if run.manifest.k == 5 else "k"
    numbers = {
        f"recall_at_{at}": summary.recall_at_k,
        "mrr": summary.mrr,
        f"distinct_at_{at}": summary.distinct_at_k,
        "staleness": summary.staleness,
        "leaks": summary.leaks,
        "negative_correct": summary.negative_correct,
        "p95_ms": summary.p95_ms,
    }
    status = dict(zip(run.results["probe"], run.results["status"].astype("str"), strict=True))
    per_probe = {
        r.probe.name: {
            "hit": r.hit_all,
            "rank": r.first_rank,
            "leaked": r.leaked,
            "status": status[r.probe.name],
        }
        for r in sorted(results, key=lambda r: r.probe.name)
    }
    return payload | {name: _rounded(v) for name, v in numbers.items()} | {"per_probe": per_probe}


def write_results(run: Run, path: str | os.PathLike[str] = "eval-results.json") -> Path:
    """Write the results file: sorted, a line per probe, replaced as a whole.

    Parameters
    ----------
    run : Run
        What to write.
    path : str or path-like
        Where to.

    Returns
    -------
    Path
        The absolute path.

    Raises
    ------
    MemevalError
        If it cannot be written.
    """
    payload = results_payload(run)
    per_probe = payload.pop("per_probe", None)
    lines = [f"  {_strict(name)}: {_strict(value)}" for name, value in payload.items()]
    if per_probe is not None:
        rows = [f"    {_strict(name)}: {_strict(entry)}" for name, entry in per_probe.items()]
        body = ",\n".join(rows)
        lines.append(f'  "per_probe": {{\n{body}\n  }}' if rows else '  "per_probe": {}')
    return write_whole(path, "{\n" + ",\n".join(lines) + "\n}\n")


def _rounded(value: float) -> float | int | None:
    if isinstance(value, int):
        return value
    return round(value, DECIMALS) if math.isfinite(value) else None


def _strict(value: Any) -> str:
    """JSON that any parser takes: no NaN, no infinity."""
    return json.dumps(value, allow_nan=False, ensure_ascii=False, default=_plain)


def _plain(value: Any) -> Any:
    """What a store may have put into its info, in words that JSON has."""
    if isinstance(value, set | frozenset):
        return sorted(value, key=str)
    return dict(value) if isinstance(value, Mapping) else str(value)


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
        "withheld": {probe.name: probe.withheld for probe in suite if probe.withheld},
    }


def _read(path: str | os.PathLike[str]) -> dict[str, Any]:
    try:
        payload = json.loads(text := Path(path).read_text(encoding="utf-8-sig"))
        if "\\ud" in text.lower():  # half characters, which no file that memeval writes can hold
            payload = json.loads(clean(json.dumps(payload, ensure_ascii=False)))
    except OSError as error:
        raise RunFileError(
            f"{path}: cannot be read ({error.strerror or error}); wanted a run file, such as "
            "memeval run leaves in .memeval/runs; name one"
        ) from error
    except (ValueError, RecursionError) as error:
        raise RunFileError(
            f"{path}: is not JSON ({said(error)}); wanted a run file that memeval wrote; "
            "name another"
        ) from error
    if not isinstance(payload, dict) or payload.get("format") != FORMAT:
        raise RunFileError(
            f"{path}: is not a run file; wanted one that save_run or memeval run wrote (the "
            "results file holds too little); look into .memeval/runs"
        )
    version = payload.get("version")
    if version != VERSION:
        raise RunFileError(
            f"{path}: has version {version}, wanted {VERSION}; install the memeval that wrote it"
        )
    return payload


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
        )
    )


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
