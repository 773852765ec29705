"""Can the suite carry the numbers of a store that grows? Judged before anything is grown."""

from __future__ import annotations

import warnings
from dataclasses import replace

import pandas as pd

from memeval.errors import MemevalError, WeakSuiteWarning
from memeval.frames import CALLS, names
from memeval.harness.collecting import Collector, haystack_of
from memeval.harness.eligible import Eligible
from memeval.harness.options import Options
from memeval.harness.selfcheck import self_check
from memeval.probe import Probe
from memeval.runs import Run
from memeval.stores.bound import Meter
from memeval.stores.broken import NullStore
from memeval.suite import Suite
from memeval.validity import judge
from memeval.verdicts import UNCHECKED, Validity

ALONE = (
    "judged by closed forms, as a run is; no broken store was run: 'memeval control', or "
    "memeval.run_controls, does that"
)


def validity_of(probes: object, suite: Suite, given: Validity | None) -> Validity:
    """Take what was judged of a suite, or judge it as `memeval.run` does.

    Parameters
    ----------
    probes : Suite, Probe, or sequence of Probe
        What was asked for; a bare list is judged by nobody.
    suite : Suite
        The same as a suite.
    given : Validity or None
        What was judged before.

    Raises
    ------
    MemevalError
        If something else than a Validity was given.
    """
    if given is not None:
        if not isinstance(given, Validity):
            raise MemevalError(
                f"validity is a {type(given).__name__}, wanted a Validity, such as "
                "memeval.run_controls(...).validity; leave it out to have the suite judged"
            )
        return given
    return judged(suite) if isinstance(probes, Suite) else UNCHECKED


def judged(suite: Suite) -> Validity:
    """Judge a suite by closed forms alone: the store under test is not asked.

    Parameters
    ----------
    suite : Suite
        Whole, with its haystack; chosen probes stay unchecked.

    Returns
    -------
    Validity
        As `memeval.validity.judge` says of the suite; nothing of a store.

    Notes
    -----
    The rules that blame the suite look at what could be found by luck, and at what order could
    cost: they need no answer, so the store that they are taken of is one that returns nothing.
    It would keep nothing either, so nothing is written to it.

    Examples
    --------
    >>> from memeval.probe import Probe
    >>> from memeval.record import Record
    >>> told = [Record("r1", "Priya works in Porto.")]
    >>> judged(Suite.of([Probe("office", "Where does Priya work?", told, ["r1"])])).status
    'invalid'
    """
    found = judge(_unanswered(suite))
    if found.status == "weak":
        reasons = "; ".join(found.reasons)
        warnings.warn(f"the suite is weak: {reasons}", WeakSuiteWarning, stacklevel=4)
    if found.status in ("invalid", "unchecked"):
        return replace(found, store_faults=())
    step = "look at the probes that were lost first"
    return replace(found, store_faults=(), notes=(ALONE,), next_step=step)


def _unanswered(suite: Suite) -> Run:
    """What `memeval.run` gives of a store that returns nothing, but for its times."""
    options = Options(repeat_check=False)
    make = options.binding(NullStore, Meter())
    checked = self_check(make, options, search=False)
    asked = _Unasked(suite, make, checked, options, None, None)
    return Run(*asked.tables(), manifest=asked.manifest({}), suite=suite)


class _Unasked(Collector):
    """The passes of a run of which the outcome is known before a record is written."""

    def tables(self) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
        """Note of each probe that its answer is empty, and what its query could have seen."""
        for probes in self.work.histories:
            around = haystack_of(self.suite, probes, self.options.seed, self.work.foreign)
            eligible = Eligible([around.after, around.before, probes[0].state])
            for probe in probes:
                self.rows.add(_empty_answer(probe, eligible.count(probe)))
        return self._frames()


def _empty_answer(probe: Probe, n_eligible: int) -> tuple[object, ...]:
    """A row of `memeval.frames.CALLS`."""
    told = {"probe": probe.name, "repeat": 0, "k": probe.k, "status": "ok"}
    told |= {"n_records": n_eligible, "n_eligible": n_eligible}
    return tuple(told.get(name) for name in names(CALLS))
