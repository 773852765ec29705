"""The result of the controls, ready to be shown: what is said of the suite, what is withheld."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import pandas as pd

from memeval.report.figures import UNDEFINED, figure, is_missing
from memeval.runs import Run, Validity

WITHHELD = "The suite is invalid, so every number and every outcome of a probe is withheld."
SUITE_WORDS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "valid": ("VALID", "The suite can carry its numbers."),
        "weak": ("WEAK", "The suite is thin: read its numbers with care."),
        "invalid": ("INVALID", "No number of this suite can be believed."),
        "unchecked": ("UNCHECKED", "Nobody has judged whether these probes measure anything."),
    }
)
STORE_WORDS: Mapping[str, str] = MappingProxyType(
    {
        "null": "returns nothing",
        "random": "returns random records",
        "shuffled": "the store's own answers, shuffled",
        "oracle": "returns what is expected",
        "newest": "returns the newest records, whatever is asked",
        "constant": "returns the same records, whatever is asked",
        "real": "the store under test",
    }
)

SIDES: Mapping[str, str] = MappingProxyType({"at_most": "at most ", "at_least": "at least "})


def withheld(validity: Validity) -> bool:
    """Whether every number must be kept back."""
    return validity.status == "invalid"


@dataclass(frozen=True, slots=True)
class Check:
    """One row of the controls, ready to be shown.

    Attributes
    ----------
    store, what, rule, metric : str
        The broken store and what it does, the rule, and what is judged.
    value, real, chance, must : str
        As measured, of the store under test, by luck, and what must hold.
    state : {'kept', 'broken', 'cannot tell'}
        Whether the rule is kept.
    blames : {'suite', 'store', 'none'}
        Who is at fault.
    reason : str
        In words.
    """

    store: str
    what: str
    rule: str
    metric: str
    value: str
    real: str
    chance: str
    must: str
    state: str
    blames: str
    reason: str


def checks(frame: pd.DataFrame | None, validity: Validity) -> list[Check]:
    """Rows of the controls; of an invalid suite only what says nothing of the store under test."""
    rows = [] if frame is None else list(frame.itertuples())
    hidden = withheld(validity)
    return [_check(row, hidden) for row in rows if not (hidden and _speaks_of_store(row))]


def hidden_checks(frame: pd.DataFrame | None, validity: Validity) -> int:
    """How many rows of the controls are withheld, as their numbers are the store's."""
    return 0 if frame is None else len(frame) - len(checks(frame, validity))


def _speaks_of_store(row: Any) -> bool:
    if row.rule == "C5":  # what it says where the suite is at fault holds no number of the store
        return str(row.blames) != "suite"
    return str(row.rule) == "C3" or (row.rule == "C4" and str(row.metric) != "ordering_potential")


def _check(row: Any, hidden: bool) -> Check:
    state = "cannot tell" if is_missing(row.passed) else "kept" if row.passed else "broken"
    ours = hidden and row.rule == "C5"  # the bound is the score of the store under test
    bound = figure(row.bound)
    return Check(
        store=str(row.store),
        what=STORE_WORDS.get(str(row.store), ""),
        rule=str(row.rule),
        metric=str(row.metric),
        value=figure(row.value),
        real="withheld" if hidden else figure(row.real),
        chance=figure(row.chance),
        must="withheld" if ours else _must(row, bound),
        state=state,
        blames="none" if is_missing(row.blames) else str(row.blames),
        reason="" if is_missing(row.reason) else str(row.reason),
    )


def _must(row: Any, bound: str) -> str:
    if bound == UNDEFINED:
        return UNDEFINED
    # Lower alone will not do: by how much is told in words.
    return f"below {bound}" if row.rule == "C5" else SIDES.get(row.must, "") + bound


def controls_of(run: Run) -> pd.DataFrame | None:
    """Controls of a run: those that were made, else what the run alone decides.

    None for an unchecked run, which nobody judges.
    """
    if run.controls is not None:
        return run.controls
    if run.validity.status == "unchecked":
        return None
    from memeval.validity import rows, to_frame

    return to_frame(rows(run))


def spotlight(rows: list[Check]) -> list[Check]:
    """The one check of each broken store that says most; empty where none was run."""
    wanted = (
        ("null", "recall_all"),
        ("random", "recall_all"),
        ("shuffled", "mrr"),
        ("oracle", "recall_all"),
        ("newest", "ndcg"),
        ("constant", "ndcg"),
    )
    known = {(row.store, row.metric): row for row in rows}
    return [known[key] for key in wanted if key in known]
