"""Several stores, several suites, one table: what each store comes to, side by side."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from memeval import frames
from memeval.controls import Controls, run_controls
from memeval.errors import MemevalError, ProbeError, WeakSuiteWarning
from memeval.harness.collecting import Progress
from memeval.mutation import mutate
from memeval.runs import Run
from memeval.showing import Shown
from memeval.suite import Suite

SHOWN = ("recall_all", "staleness", "distinct", "abstention", "latency_p95_ms")


@dataclass(frozen=True, repr=False)
class Survey(Shown):
    """What several stores come to.

    Attributes
    ----------
    table : pandas.DataFrame
        As `memeval.frames.SURVEY`: a row per suite and store, in the order given.
    controls : mapping of (str, str) to Controls
        By suite and store; ``.real`` is the run. Not of a store that could not be asked.
    """

    table: pd.DataFrame
    controls: Mapping[tuple[str, str], Controls] = field(default_factory=dict)

    @property
    def runs(self) -> dict[tuple[str, str], Run]:
        """The runs of the stores, by suite and store."""
        return {key: one.real for key, one in self.controls.items()}

    def markdown(self) -> str:
        """The table as GitHub-flavoured Markdown, safe with any text."""
        from memeval.report.survey_rows import markdown

        return markdown(self.table)


def survey(
    suites: Suite | Mapping[str, Suite],
    stores: Sequence[str] | Mapping[str, Callable[[], Any]],
    *,
    mutation: bool = False,
    seed: int = 0,
    progress: Progress | None = None,
    **options: Any,
) -> Survey:
    """Run controls and suites against several stores.

    Parameters
    ----------
    suites : Suite, or mapping of str to Suite
        What to ask, by a name for the table; one alone is called ``suite``.
    stores : sequence of str, or mapping of str to callable
        Names of stores as for `memeval.run`, or factories by a name for the table.
    mutation : bool
        Whether each store is asked with every known fault as well, which takes many runs of it.
    seed : int
        The one seed of all draws.
    progress : callable, optional
        ``progress(done, total, label)`` after each store of each suite.
    **options
        Further options of `memeval.run`.

    Returns
    -------
    Survey
        A row per suite and store. A store that cannot be had or asked, such as one that is not
        installed, has a row too: verdict FAILED, and the reason.

    Raises
    ------
    ProbeError
        If there is no suite, or no store.

    Examples
    --------
    >>> import memeval as me
    >>> found = me.survey(me.load()[::12], ["sqlite", "random"])
    >>> found.table[["store", "verdict", "leaks"]]
        store verdict  leaks
    0  sqlite    PASS      0
    1  random    FAIL      0
    """
    asked = {"suite": suites} if isinstance(suites, Suite) else dict(suites)
    named = dict(stores) if isinstance(stores, Mapping) else {name: name for name in stores}
    if not asked or not named:
        lacking = "suite" if not asked else "store"
        raise ProbeError(f"no {lacking} to survey; give one at least")
    rows: list[dict[str, Any]] = []
    controls: dict[tuple[str, str], Controls] = {}
    for title, suite in asked.items():
        for name, store in named.items():
            row: dict[str, Any] = {"suite": title, "store": name, "n_probes": len(suite)}
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", WeakSuiteWarning)  # it stands in the table
                    found = run_controls(suite, store, seed=seed, **options)
                    score = mutate(suite, store, seed=seed).score if mutation else None
            except MemevalError as error:  # told in the row: the others are asked all the same
                row |= {"verdict": "FAILED", "reason": str(error)}
            else:
                controls[title, name] = found
                row |= _told(found, score)
            rows.append(row)
            if progress is not None:
                progress(len(rows), len(asked) * len(named), f"{title}, {name}")
    return Survey(frames.conform(pd.DataFrame(rows), frames.SURVEY), controls)


def _told(found: Controls, score: float | None) -> dict[str, Any]:
    """What a store came to; no number where the suite is invalid."""
    run, version = found.real, found.real.manifest.store_info.get("version")
    row = {
        "version": None if version is None else str(version),
        "controls": found.validity.status,
        "verdict": run.verdict.word,
        "reason": run.verdict.reason,
    }
    if found.validity.status == "invalid":
        return row
    recall = run.summary.set_index("metric").loc["recall_all"]
    measured = {name: run.value(name) for name in SHOWN}
    ends = {"low": recall["low"], "high": recall["high"]}
    return row | measured | ends | {"leaks": run.leaks, "mutation_score": score}
