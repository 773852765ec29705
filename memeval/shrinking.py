"""The smallest probe that still fails: what to send to those who wrote the store."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from memeval.errors import MemevalError, ProbeError
from memeval.harness.asking import Options, Rows, Table
from memeval.harness.collecting import Progress, haystack_of, histories
from memeval.harness.histories import Work
from memeval.harness.labels import labelled
from memeval.harness.selfcheck import self_check
from memeval.haystack import NOTHING
from memeval.metrics import score
from memeval.probe import Probe
from memeval.record import Delete, Op, Record
from memeval.runs import Run
from memeval.showing import Shown
from memeval.stores.base import resolve
from memeval.stores.bound import Meter, View
from memeval.suite import Suite

Sign = tuple[str, ...]


@dataclass(frozen=True, repr=False)
class Shrunk(Shown):
    """A failing probe with as little around it as still makes it fail.

    Attributes
    ----------
    probe : Probe
        It needs no haystack: what it takes of that stands in its ``given``.
    failure : str
        What is wrong, with the small probe as with the one that it comes from.
    n_before, n_after : int
        Writes and other steps, haystack and all, before and after.
    asked : int
        Smaller probes that were tried.
    smallest : bool
        Whether it fails no more with any one step left out; False where the tries ran out.
    """

    probe: Probe
    failure: str
    n_before: int
    n_after: int
    asked: int
    smallest: bool

    @property
    def yaml(self) -> str:
        """The probe as the text of a probe file."""
        from memeval.probefiles.emitting import block

        return "probes:\n" + block(self.probe.to_dict())


def shrink(
    run: Run,
    store: str | Callable[[], Any],
    name: str,
    *,
    most: int = 500,
    retrieve: Callable[[Any, View], Any] | None = None,
    timeout_s: float | None = None,
    progress: Progress | None = None,
) -> Shrunk:
    """Leave out of a failing probe whatever it fails without, its haystack first.

    Parameters
    ----------
    run : Run
        A run with its texts in which the probe failed.
    store : callable or str
        Gives a fresh store of the same kind, as for `memeval.run`.
    name : str
        The probe.
    most : int
        How many smaller probes to try, at most; each is written to a clean store of its own.
    retrieve : callable, optional
        The pipeline that the run graded, where it did.
    timeout_s : float, optional
        Time limit of one search, in seconds.
    progress : callable, optional
        ``progress(tried, most, label)`` after each smaller probe.

    Returns
    -------
    Shrunk
        The smaller probe, as YAML too, and whether it is the smallest.

    Raises
    ------
    MemevalError
        If the run has no such probe or no texts, the probe did not fail, or it does not fail when
        it is asked again.
    StoreError
        If the store cannot be made.

    Notes
    -----
    Delta debugging: the minimizing algorithm ``ddmin`` of A. Zeller and R. Hildebrandt,
    "Simplifying and Isolating Failure-Inducing Input", IEEE TSE 28 (2), 2002. The order of what
    stays is kept. What is left fails in the same way, and with any one step less it does not:
    there may be a smaller one yet, that leaves out other steps. A label goes with its record.

    Examples
    --------
    >>> import memeval as me
    >>> given = [me.Record("r1", "The kiosk is blue."), me.Record("r2", "The van is red.")]
    >>> probe = me.Probe("stall", "Which colour has the stall?", given, ["r1"], k=1)
    >>> small = me.shrink(me.run([probe], "sqlite"), "sqlite", "stall")
    >>> small.n_before, small.n_after, small.failure, small.smallest
    (2, 1, 'missed', True)
    """
    probe = _failing(run, name)
    options = Options(
        retrieve=retrieve,
        seed=run.manifest.seed,
        timeout_s=timeout_s,
        repeat_check=False,
        opaque_ids=bool(run.manifest.options.get("opaque_ids")),
        allow_nonempty=bool(run.manifest.options.get("allow_nonempty")),
    )
    asking = _Asking(resolve(store), options)
    try:
        return _shrunk(run, probe, asking, most, progress)
    finally:
        asking.space.close()


def _failing(run: Run, name: str) -> Probe:
    """The probe of this name, if it failed."""
    found = next((probe for probe in run.suite if probe.name == name), None)
    if found is None:
        failing = ", ".join(run.failing["probe"].head(5)) or "none failed"
        raise MemevalError(f"the run has no probe {name!r}; name one that failed: {failing}")
    if found.withheld:
        raise MemevalError(
            "this run was saved without texts, and the store is asked again with them; take the "
            "run that was made, or save it with its texts"
        )
    if name not in set(run.failing["probe"]):
        raise MemevalError(f"probe {name!r} did not fail in this run; there is nothing to shrink")
    return found


class _Asking:
    """Asks one probe of a clean store, and tells how it fails."""

    def __init__(self, factory: Callable[[], Any], options: Options) -> None:
        self.options = options
        make = options.binding(factory, Meter())
        self.checked = self_check(make, options, search=False)
        self.work = Work(Suite(()), self.checked, options)
        self.space = self.work.workspace(make)
        self.n = 0

    def failure(self, probe: Probe) -> Sign:
        """How this probe fails without a haystack; empty where it passes."""
        self.n += 1
        suite, rows = Suite.of([probe]), Rows()
        with self.space.clean(f"{self.options.seed} shrink {self.n}") as desk:
            Table(desk, [probe], NOTHING, 0, self.options, rows).run()
        hits, calls = rows.tables({probe.name: 0})
        scored = score(hits, labelled(suite, hits, rows), calls).iloc[0]
        return _sign(scored, calls.iloc[0])


def _sign(scored: Any, call: Any) -> Sign:
    """What is wrong with an answer, the worst first."""
    if scored["status"] != "ok":
        return (str(scored["status"]),)
    if scored["n_leaked"] > 0:
        return ("leaked",)
    if scored["n_contract"] > 0:
        return ("contract", str(call["breaches"]))
    if scored["passed"] is pd.NA or scored["passed"]:
        return ()
    return ("missed" if scored["kind"] == "positive" else "did_not_abstain",)


def _shrunk(
    run: Run, probe: Probe, asking: _Asking, most: int, progress: Progress | None
) -> Shrunk:
    group = next(g for g in histories(run.suite) if probe.name in {p.name for p in g})
    around = haystack_of(run.suite, group, asking.options.seed, asking.work.foreign)
    whole = (*around.before, *probe.given, *around.after)
    start = _with(probe, whole)
    if start is None:
        raise MemevalError(
            f"probe {probe.name!r} cannot hold its haystack; shrink a run without one"
        )
    wrong = asking.failure(start)
    if not wrong:
        raise MemevalError(
            f"probe {probe.name!r} failed in the run and passes when it is asked again; run the "
            "suite with repeats=5 to see how often it fails"
        )

    made = start

    def fails(steps: Sequence[Op]) -> bool | None:
        """Whether these steps fail alike; None where no more may be tried."""
        nonlocal made
        smaller = _with(probe, steps)
        if smaller is None:
            return False
        if asking.n > most:
            return None
        alike = asking.failure(smaller) == wrong
        made = smaller if alike else made
        if progress is not None:
            progress(asking.n - 1, most, f"{len(steps)} steps")
        return alike

    alone = fails(probe.given) if len(whole) > len(probe.given) else False
    steps, smallest = minimized(probe.given if alone else whole, fails)
    return Shrunk(made, " ".join(wrong), len(whole), len(steps), asking.n - 1, smallest)


def minimized(
    steps: Sequence[Op], fails: Callable[[Sequence[Op]], bool | None]
) -> tuple[tuple[Op, ...], bool]:
    """Leave out what it fails without, larger pieces first.

    Parameters
    ----------
    steps : sequence of Op
        They fail.
    fails : callable
        Whether some of them do; None ends the search.

    Returns
    -------
    tuple
        The steps that are left, and whether none of them can be left out.

    Examples
    --------
    >>> kept, smallest = minimized(range(100), lambda some: {3, 40} <= set(some))
    >>> kept, smallest
    ((3, 40), True)
    """
    left, pieces = tuple(steps), 2
    while left:
        size = -(-len(left) // pieces)
        for start in range(0, len(left), size):
            rest = left[:start] + left[start + size :]
            told = fails(rest)
            if told is None:
                return left, False
            if told:
                left, pieces = rest, max(pieces - 1, 2)
                break
        else:
            if size == 1:
                break
            pieces = min(2 * pieces, len(left))
    return left, True


def _with(probe: Probe, steps: Sequence[Op]) -> Probe | None:
    """The probe with these steps, and labels of their records alone; None where it is none."""
    there = {op.id for op in steps if isinstance(op, Record)}
    kept = [
        replace(op, supersedes=tuple(i for i in op.supersedes if i in there))
        if isinstance(op, Record)
        else op
        for op in steps
        if not isinstance(op, Delete) or op.id in there
    ]
    groups = [tuple(i for i in group if i in there) for group in probe.groups]
    expect = [group for group in groups if group]
    if probe.is_positive and not expect:
        return None
    try:
        return replace(
            probe,
            given=kept,
            expect=expect,
            forbid=[i for i in probe.forbid if i in there],
            stale=[i for i in probe.stale if i in there],
            history=None,
            near=(),
            names=(),
            file="",
            line=0,
        )
    except ProbeError:  # the labels that are left contradict each other: not a probe
        return None
