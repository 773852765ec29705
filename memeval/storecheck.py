"""What a store really does with what it is given: a contract test for an adapter, in words."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pandas as pd

from memeval import frames
from memeval.errors import MemevalError, said
from memeval.harness.asking import Options
from memeval.harness.collecting import Progress
from memeval.harness.histories import Work
from memeval.harness.selfcheck import self_check
from memeval.showing import Shown
from memeval.storechecking.questions import QUESTIONS, Finding, Unsupported
from memeval.storechecking.trying import Trying
from memeval.stores.base import resolve
from memeval.stores.bound import Meter
from memeval.suite import Suite
from memeval.verdicts import Verdict


@dataclass(frozen=True, repr=False)
class StoreCheck(Shown):
    """What a store does, found by trying.

    Attributes
    ----------
    table : pandas.DataFrame
        As `memeval.frames.STORE_CHECKS`: a row per question.
    store : str
        Name of the store, as it tells it.
    """

    table: pd.DataFrame
    store: str

    @property
    def broken(self) -> pd.DataFrame:
        """Rows in which the store does other than it declares, or than any store must."""
        return self.table[self.table["status"].eq("broken")]

    @property
    def verdict(self) -> Verdict:
        """FAIL where something is broken, else PASS; findings alone fail nothing."""
        broken = self.broken
        if len(broken):
            first = broken.iloc[0]
            reason = "; ".join(f"{row.question}: {row.found}" for row in broken.itertuples())
            return Verdict("FAIL", reason, str(first["next_step"]), 1)
        n = int(self.table["status"].eq("finding").sum())
        reason = f"nothing is other than declared; {n} worth knowing" if n else "all as declared"
        return Verdict("PASS", reason, "run the suite: memeval run", 0)


def check_store(
    make_store: str | Callable[[], Any],
    *,
    seed: int = 0,
    timeout_s: float | None = 30.0,
    settle_s: float = 60.0,
    allow_nonempty: bool = False,
    progress: Progress | None = None,
) -> StoreCheck:
    """Try out what a store does with ids, texts, scopes, deletes, order and odd queries.

    Parameters
    ----------
    make_store : callable or str
        Gives a fresh store, as for `memeval.run`.
    seed : int
        Tells the places of these records from those of other runs.
    timeout_s, settle_s : float
        Time limit of one search, and how long to wait until a write can be found, in seconds.
    allow_nonempty : bool
        Accept a store that holds records; what is written is taken away again.
    progress : callable, optional
        ``progress(done, total, label)`` after each question.

    Returns
    -------
    StoreCheck
        A row per question: what was found, what the store declares, and what to do next. It is
        ``broken`` where that is other than declared, or than any store owes its caller; a
        ``finding`` is worth knowing; ``not_asked`` tells why.

    Raises
    ------
    StoreError
        If the store cannot be made, is not empty, or does not find what was just written.

    Examples
    --------
    >>> import memeval as me
    >>> found = me.check_store("sqlite")
    >>> found.verdict.word, found.table.set_index("question")["found"]["scopes"]
    ('PASS', 'exact')
    """
    options = Options(
        seed=seed, timeout_s=timeout_s, settle_s=settle_s, allow_nonempty=allow_nonempty
    )
    make = options.binding(resolve(make_store), Meter())
    checked = self_check(make, options)
    space = Work(Suite(()), checked, options).workspace(make)
    trying = Trying(space, checked.capabilities, options)
    rows = []
    try:
        for n, (name, question) in enumerate(QUESTIONS.items(), 1):
            rows.append({"question": name} | _asked(question, trying))
            if progress is not None:
                progress(n, len(QUESTIONS), name)
    finally:
        space.close()
    table = frames.conform(pd.DataFrame(rows), frames.STORE_CHECKS)
    return StoreCheck(table, str(checked.info.get("name", "store")))


def _asked(question: Callable[[Trying], Finding], trying: Trying) -> dict[str, Any]:
    try:
        found = question(trying)
    except Unsupported as reason:
        return {"status": "not_asked", "found": str(reason)}
    except MemevalError as error:
        return _failed(error)
    except Exception as error:  # the store fails while it is tried: that is the finding
        return _failed(error)
    return dict(_cells(found))


def _failed(error: Exception) -> dict[str, Any]:
    step = "mend what fails, or raise a StoreError that says what the store cannot take"
    return {"status": "broken", "found": f"the store failed: {said(error)}", "next_step": step}


def _cells(found: Finding) -> Iterator[tuple[str, Any]]:
    yield "status", found.status
    yield "found", found.words
    yield "declared", found.declared or None
    yield "evidence", found.evidence or None
    yield "next_step", found.next_step or None
