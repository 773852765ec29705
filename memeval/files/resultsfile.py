"""The results file: small, to be committed, a line per probe.

It holds the fields of the specification, what a later comparison needs, and no text of any record.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from memeval.chances import leaks_of
from memeval.comparing.manifests import public, told
from memeval.files.headline import other_numbers, spec_numbers
from memeval.files.outcome_lines import lines_of
from memeval.files.outcome_rows import STRANGER, repeats_of, rows_of
from memeval.files.saved import write_lines
from memeval.runs import Run
from memeval.spec import spec_results
from memeval.verdicts import Validity

FORMAT = "memeval results"
VERSION = 1
SPREAD = ("manifest", "judged", "metrics", "per_probe")


def results_payload(run: Run) -> dict[str, Any]:
    """What ``eval-results.json`` holds.

    Parameters
    ----------
    run : Run
        Any run.

    Returns
    -------
    dict
        Of the specification: ``commit``, ``at``, ``probes``, ``recall_at_5`` (``recall_at_k``
        where not every probe has k = 5), ``mrr``, ``distinct_at_5``, ``staleness``, ``leaks``,
        ``negative_correct``, ``p95_ms``, and ``per_probe``: by name ``hit``, ``rank``, ``leaked``.
        Further: ``leaks_in_words`` (a 0 is worth no more than its chances), ``k``, verdict,
        validity and what it rests on (``judged``), ``floors``, ``allow_errors``, the rest of the
        summary (``metrics``), the manifest without time, machine and secrets, and of each probe
        ``status``, content ``hash``, ``passes`` (repeats that passed / repeats), ``n_expected``,
        ``recall_fraction``, ``ndcg`` and the ranked ``ids`` of its first repeat. Floats have six
        decimals, undefined is None. Of an invalid suite there are reasons in the place of
        numbers.
    """
    verdict, manifest = run.verdict, told(run)
    payload: dict[str, Any] = {
        "commit": run.manifest.environment.get("commit"),
        "at": run.manifest.created_at,
        "format": FORMAT,
        "version": VERSION,
        "probes": len(run.results),
        "verdict": verdict.word,
        "reason": verdict.reason,
        "validity": run.validity.status,
        "suite": run.manifest.suite_hash,
        "k": run.manifest.k if run.manifest.k is not None else "mixed",
    }
    around = {"judged": judged(run.validity), "manifest": public(manifest)}
    if verdict.word == "INVALID":
        return payload | around
    summary = zip(run.summary["metric"], run.summary["value"], strict=True)
    metrics = {metric: float(value) for metric, value in summary}
    bounds = {"floors": dict(run.floors), "allow_errors": run.allow_errors}
    answers = {name: repeats[0] for name, repeats in repeats_of(run).items()}
    return {
        **payload,
        **spec_numbers(metrics, run.manifest.k),
        "leaks_in_words": leaks_of(run.summary).words,
        "metrics": other_numbers(metrics),
        **bounds,
        **around,
        "per_probe": lines_of(rows_of(run), answers, _leaked(run)),
    }


def judged(validity: Validity) -> dict[str, Any]:
    """Give what a validity rests on, without its status and without what is empty."""
    details: Mapping[str, Any] = asdict(validity)
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in details.items()
        if name != "status" and value
    }


def _leaked(run: Run) -> dict[str, list[str]]:
    """Leaking ids by probe; what came back with no id at all is a stranger, never its text."""
    hits = run.hits.assign(store_id=run.hits["store_id"].fillna(STRANGER))
    results = spec_results(run.results, hits, run.qrels, run.suite)
    return {result.probe.name: result.leaked for result in results}


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
    return write_lines(path, results_payload(run), SPREAD)
