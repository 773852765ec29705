"""What a run comes to: whether its suite can be believed, and the verdict, in words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import pandas as pd

from memeval.chances import leaks_of
from memeval.showing import Shown
from memeval.text import count, visible

if TYPE_CHECKING:
    from memeval.runs import Run

Word = Literal["PASS", "FAIL", "INVALID", "SAME", "CANNOT TELL", "NOT COMPARABLE"]


@dataclass(frozen=True, slots=True, repr=False)
class Validity(Shown):
    """Whether a suite can carry its numbers.

    Attributes
    ----------
    status : {'valid', 'weak', 'invalid', 'unchecked'}
        ``weak``: too thin, said beside every number. ``invalid``: no number is shown.
        ``unchecked``: a bare list of probes, which nobody judged.
    reasons : tuple of str
        Why it is weak or invalid.
    store_faults : tuple of str
        What is wrong with the store rather than with the suite (rules C3 and C4).
    notes : tuple of str
        What could not be judged, and why.
    next_step : str
        What to do about it.
    """

    status: Literal["valid", "weak", "invalid", "unchecked"]
    reasons: tuple[str, ...] = ()
    store_faults: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    next_step: str = ""


UNCHECKED = Validity(
    "unchecked",
    notes=("a bare list of probes: no haystack, and no control has judged it",),
    next_step="put the probes into files and load them with memeval.load",
)


@dataclass(frozen=True, slots=True, repr=False)
class Verdict(Shown):
    """What it all comes to.

    Attributes
    ----------
    word : {'PASS', 'FAIL', 'INVALID', 'SAME', 'CANNOT TELL', 'NOT COMPARABLE'}
        The last three only of a comparison.
    reason, next_step : str
        In words.
    exit_code : int
        0 good (and what cannot be told), 1 a verdict said no, 4 the suite is invalid, 5 not
        comparable.
    """

    word: Word
    reason: str
    next_step: str
    exit_code: int


def decide(run: Run) -> Verdict:
    """Decide on a run: the first rule that matches is the verdict.

    Parameters
    ----------
    run : Run
        With its validity.

    Returns
    -------
    Verdict
        INVALID where the suite is; else FAIL with every objection, the most serious first and
        what to do about that; else PASS.
    """
    if run.validity.status == "invalid":
        why = "; ".join(run.validity.reasons)
        return Verdict("INVALID", why, run.validity.next_step, 4)
    objections = list(_objections(run))
    if not objections:
        return Verdict("PASS", _praise(run), run.validity.next_step, 0)
    reasons = "; also: ".join(reason for reason, _ in objections)
    return Verdict("FAIL", reasons, objections[0][1], 1)


def _objections(run: Run) -> Iterator[tuple[str, str]]:
    """Everything that fails a run, most serious first, with what to do."""
    leaking = run.results.loc[run.results["n_leaked"] > 0, "probe"]
    if len(leaking):
        yield (
            f"{count(run.leaks, 'leaked record')} in {count(len(leaking), 'probe')}: "
            f"{_names(leaking)}",
            "find out why the store returned what it must not; a leak is never traded off",
        )
    breached = run.results.loc[run.results["n_contract"] > 0, "probe"]
    if len(breached):
        yield (
            f"the store broke its contract in {count(len(breached), 'probe')}: {_names(breached)}",
            "read the column breaches of run.calls, and mend the store or what it declares",
        )
    must = {probe.name for probe in run.suite if probe.must}
    lost = run.failing.loc[run.failing["probe"].isin(must), "probe"]
    if len(lost):
        yield (
            f"{count(len(lost), 'probe')} marked must did not pass: {_names(lost)}",
            "mend these first: their authors marked them as never to be lost",
        )
    if run.errors > run.allow_errors:
        yield (
            f"{count(run.errors, 'search', 'searches')} failed, {run.allow_errors} allowed",
            "read the column error of run.calls; --allow-errors N lets N pass",
        )
    if not run.results["status"].eq("ok").any():
        yield (
            "no probe was answered: all failed, were skipped, or are not supported",
            "read the columns status and error of run.calls",
        )
    if run.validity.store_faults:
        yield "; ".join(run.validity.store_faults), run.validity.next_step
    for row in run.summary[run.summary["passed"].eq(False).fillna(False)].itertuples():
        if not row.gate:
            yield (
                f"{row.metric} is {row.value:.3f}, its floor is {row.floor:g}",
                "look at the failing probes, or set another floor",
            )


def _praise(run: Run) -> str:
    failing, asked = len(run.failing), len(run.results)
    checked = run.manifest.options.get("contract_checks", True)
    contract = "contract kept" if checked else "contract not checked"
    chosen = ", chosen of a suite that is not judged by them" if run.suite.chosen_of else ""
    leaks = leaks_of(run.summary).words
    return f"{leaks}, {contract}; {asked - failing} of {asked} probes passed{chosen}"


def _names(probes: pd.Series, most: int = 5) -> str:
    names = [visible(name, 60) for name in probes]
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
