"""Can the suite carry the numbers of a store that grows? Judged before anything is grown."""

from __future__ import annotations

import warnings
from dataclasses import replace

from memeval.errors import MemevalError, WeakSuiteWarning
from memeval.runner import run
from memeval.stores.broken import NullStore
from memeval.suite import Suite
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

    Examples
    --------
    >>> from memeval.probe import Probe
    >>> from memeval.record import Record
    >>> told = [Record("r1", "Priya works in Porto.")]
    >>> judged(Suite.of([Probe("office", "Where does Priya work?", told, ["r1"])])).status
    'invalid'
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WeakSuiteWarning)
        found = run(suite, NullStore, repeat_check=False, check_store=False).validity
    if found.status == "weak":
        reasons = "; ".join(found.reasons)
        warnings.warn(f"the suite is weak: {reasons}", WeakSuiteWarning, stacklevel=4)
    if found.status in ("invalid", "unchecked"):
        return replace(found, store_faults=())
    step = "look at the probes that were lost first"
    return replace(found, store_faults=(), notes=(ALONE,), next_step=step)
