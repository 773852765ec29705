"""What must hold between answers whatever the right answer is: relations, tried on a live store.

No expected answer is needed. Records are written in another order, under other ids, beside near
copies in other scopes; they are written twice, deleted, superseded; and each time the answers are
held against those from before, up to what a sound store may change. Relations complement probes:
they see neither aggregates, nor times, nor what one history does to the next.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import pandas as pd

from memeval.harness.options import Options
from memeval.harness.selfcheck import self_check
from memeval.harness.workspace import SLOW_PUT_MS, Workspace, explained
from memeval.relating.catalogue import RELATIONS, lacks
from memeval.relating.lab import Lab
from memeval.relating.telling import relations_frame, violations_frame
from memeval.relating.trying import Progress, Tried, n_worlds
from memeval.relating.worlds import World, worlds
from memeval.runner import refuse_odd
from memeval.runs import Verdict
from memeval.stores.base import Capabilities, resolve
from memeval.stores.bound import BoundStore, Meter, View
from memeval.suite import Suite
from memeval.text import count

TRIALS = 30
SHOWN = 5


@dataclass(frozen=True)
class Relations:
    """What the relations came to.

    Attributes
    ----------
    frame : pandas.DataFrame
        As `memeval.frames.RELATIONS`: a row per relation, the hard ones first.
    violations : pandas.DataFrame
        As `memeval.frames.VIOLATIONS`: a row per trial that broke one.
    store : str
        Name of the store.
    left_behind : int
        Records that could not be removed.
    """

    frame: pd.DataFrame
    violations: pd.DataFrame
    store: str = ""
    left_behind: int = 0

    @property
    def verdict(self) -> Verdict:
        """FAIL where a hard relation is broken or none could be tried, else PASS."""
        hard = self.frame[self.frame["kind"].eq("hard")]
        broken = hard[hard["n_violated"] > 0]
        tried = hard[hard["n"] > 0]
        if len(broken):
            step = self._next_step(broken["relation"].iloc[0])
            return Verdict("FAIL", _objection(broken), step, 1)
        if tried.empty:
            return Verdict(
                "FAIL",
                "no hard relation could be tried on this store",
                "read the column reason of the frame; declare what the store does keep",
                1,
            )
        reason = (
            f"{count(len(tried), 'hard relation')} held in all of "
            f"{count(int(tried['n'].sum()), 'trial')}"
        )
        idle = len(hard) - len(tried)
        more = f"; {idle} not applicable" if idle else ""
        return Verdict("PASS", reason + more, "run the probes: relations do not replace them", 0)

    def _next_step(self, name: str) -> str:
        rows = self.violations[self.violations["relation"].eq(name)]
        return str(rows["next_step"].iloc[0])

    @property
    def passed(self) -> bool:
        """Whether the verdict is PASS."""
        return self.verdict.exit_code == 0

    def __repr__(self) -> str:
        from memeval.report.layout import fitted

        verdict = self.verdict
        columns = ["relation", "kind", "applicable", "n", "n_violated", "share", "passed"]
        return fitted(
            f"Relations: {verdict.word}: {verdict.reason}\n"
            f"{self.frame[columns].to_string(index=False)}"
        )

    def _repr_html_(self) -> str:
        from memeval.report.relations_notebook import relations_html

        return relations_html(self)


def check_relations(
    make_store: str | Callable[[], Any],
    *,
    suite: Suite | None = None,
    seed: int = 0,
    trials: int = TRIALS,
    progress: Progress | None = None,
    retrieve: Callable[[Any, View], Any] | None = None,
    timeout_s: float | None = None,
    retries: int = 0,
    settle_s: float = 60.0,
    poll_s: float = 1.0,
    opaque_ids: bool = False,
    allow_nonempty: bool = False,
    max_calls: int | None = None,
) -> Relations:
    """Try on a store what must hold whatever the right answers are.

    Parameters
    ----------
    make_store : callable or str
        Gives a fresh store; or a short name, or ``"package.module:factory"``.
    suite : Suite, optional
        Whose records to write, beside some that are always there; by default invented ones.
    seed : int
        Same seed, suite and store: same trials.
    trials : int
        How often each relation is tried, from 1.
    progress : callable, optional
        ``progress(done, total, label)`` after each step.
    retrieve, timeout_s, retries, settle_s, poll_s, opaque_ids, allow_nonempty, max_calls
        As for `memeval.run`.

    Returns
    -------
    Relations
        A row per relation, a row per violation in words, and the verdict.

    Raises
    ------
    StoreError
        If the store cannot be made, is not empty, does not find what was just written, or fails in
        a write, a search or a delete, or more than ``max_calls`` calls are needed.

    Notes
    -----
    Answers are compared by record. Records of equal score may change places, also across the cut
    at k; where a store declares no order of scores, two states of it are compared as sets, with
    room for every record. Where what is done may move scores, as statistics of words do, order is
    compared only if none moved. A store that does not declare itself deterministic is written and
    asked again, unchanged, before a changed answer is held against it.

    Examples
    --------
    >>> import memeval as me
    >>> found = check_relations("sqlite", trials=6)
    >>> found.verdict.word, len(found.frame), len(found.violations)
    ('PASS', 19, 4)
    """
    refuse_odd(Integral, 1, trials=trials)
    refuse_odd(Integral, 0, seed=seed, retries=retries)
    refuse_odd(Real, 0, settle_s=settle_s, poll_s=poll_s, timeout_s=timeout_s)
    refuse_odd(Integral, 1, max_calls=max_calls)
    options = Options(
        retrieve=retrieve,
        seed=seed,
        timeout_s=timeout_s,
        retries=retries,
        opaque_ids=opaque_ids,
        allow_nonempty=allow_nonempty,
        settle_s=settle_s,
        poll_s=poll_s,
    )
    make = options.binding(resolve(make_store), Meter(max_calls))
    checked = self_check(make, options)
    workspace = Workspace(
        make,
        checked.capabilities,
        slow=checked.put_ms > SLOW_PUT_MS,
        opaque_ids=opaque_ids,
        allow_nonempty=allow_nonempty,
    )
    tried = _tried(Lab(workspace, checked.capabilities, options), _supports(make))
    try:
        tried.run(_worlds(suite, checked.capabilities, trials, seed), trials, progress)
    finally:
        workspace.close()
    return Relations(
        relations_frame(tried.trials, tried.reasons),
        violations_frame(tried.trials),
        str(checked.info.get("name", "")),
        workspace.left_behind,
    )


def _tried(lab: Lab, supports: Callable[[str], bool]) -> Tried:
    """No trial yet, and why some relations will have none."""
    why = {one.name: lacks(one, lab.declared, supports) for one in RELATIONS}
    return Tried(lab, {name: reason for name, reason in why.items() if reason is not None})


def _worlds(suite: Suite | None, declared: Capabilities, trials: int, seed: int) -> list[World]:
    """The worlds that a store of these capabilities is tried in."""
    scopes, twins = declared.scoping != "none", not declared.dedupes
    return list(worlds(suite, n_worlds(trials), seed, scopes=scopes, twins=twins))


def _supports(make: Callable[[], BoundStore]) -> Callable[[str], bool]:
    """Which methods a store has."""
    with explained("make_store failed", "a fresh store for each trial"):
        store = make()
    try:
        found = {"delete": store.supports("delete")}
    finally:
        with explained("the store failed in close()", "close() lets go of it"):
            store.close()
    return lambda name: found.get(name, False)


def _objection(broken: pd.DataFrame) -> str:
    """Which hard relations are broken, and in how many trials."""
    told = [
        f"{row.relation} ({row.statement}) in {row.n_violated} of {row.n} trials"
        for row in broken.itertuples()
    ]
    more = f"; and {len(told) - SHOWN} more" if len(told) > SHOWN else ""
    return f"{count(len(told), 'hard relation')} broken: {'; '.join(told[:SHOWN])}{more}"
