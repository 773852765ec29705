"""Outcomes as small files hold them: a line per probe, written and read back."""

from __future__ import annotations

import re
from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np
import pandas as pd

from memeval.checks.kinds import shown
from memeval.columns import names
from memeval.errors import RunFileError
from memeval.files.outcome_rows import by_name
from memeval.files.saved import DECIMALS, rounded
from memeval.frames import OUTCOMES, STATUSES
from memeval.text import clean

Answers = dict[str, tuple[str, ...]]
NEXT = "take the file from the history of your repository, or make it again"
MOST = 2**31 - 1
_PASSES = re.compile(r"([0-9]{1,9})/([0-9]{1,9})", re.ASCII)


def lines_of(
    rows: pd.DataFrame,
    answers: Mapping[str, tuple[str, ...]],
    leaked: Mapping[str, list[str]] | None = None,
) -> dict[str, dict[str, Any]]:
    """Give outcomes as a file holds them: an entry per probe, sorted by name.

    Parameters
    ----------
    rows : pandas.DataFrame
        As `rows_of` gives it.
    answers : mapping
        Ranked ids of the first repeat, by probe.
    leaked : mapping, optional
        Leaking ids of the first repeat, by probe; none where it is not there.

    Returns
    -------
    dict
        What goes without saying is left out: ``n_leaked`` where it is the number of leaking ids,
        ``n_contract`` 0, ``must`` false.
    """
    leaked = leaked or {}
    named: Any = zip(rows["probe"], rows.itertuples(index=False), strict=True)
    return {name: _line(row, answers.get(name, ()), leaked.get(name, [])) for name, row in named}


def _line(row: Any, ids: tuple[str, ...], leaked: list[str]) -> dict[str, Any]:
    silent = row.status == "ok" and not ids
    line: dict[str, Any] = {
        "hit": bool(silent if row.kind == "negative" else _or_none(row.recall_all)),
        "rank": _or_none(row.first_rank),
        "leaked": list(leaked),
        "status": row.status,
        "hash": _or_none(row.content_hash),
        "passes": f"{row.n_passed}/{row.n_repeats}",
        "n_expected": _or_none(row.n_expected),
        "recall_fraction": rounded(row.recall_fraction),
        "ndcg": rounded(row.ndcg),
    }
    if row.n_leaked != len(leaked):
        line["n_leaked"] = int(row.n_leaked)
    if row.n_contract:
        line["n_contract"] = int(row.n_contract)
    if row.must:
        line["must"] = True
    return line | {"ids": list(ids)}


def _or_none(value: Any) -> Any:
    """A cell as Python has it; None where it is NA."""
    return None if pd.isna(value) else value.item() if hasattr(value, "item") else value


def rows_from(per_probe: Mapping[str, Any], source: str) -> tuple[pd.DataFrame, Answers]:
    """Read outcomes that `lines_of` gave, or the bare ones of the specification.

    Parameters
    ----------
    per_probe : mapping
        An entry per probe; only ``hit`` must be in it.
    source : str
        Where it comes from, for messages.

    Returns
    -------
    tuple of pandas.DataFrame and dict
        Rows as `rows_of` gives them, and the ranked ids by probe, where the entry has any.

    Raises
    ------
    RunFileError
        If an entry has a value of another kind, or two names are one.
    """
    rows, answers = [], {}
    for name, entry in per_probe.items():
        if not isinstance(name, str) or not isinstance(entry, Mapping):
            raise _misfit(source, f"per_probe {shown(name)}", entry, "a name with a mapping")
        read = Entry(entry, f"{source}: per_probe {shown(name)}")
        rows.append({"probe": clean(name), **read.row()})
        if entry.get("ids") is not None:
            answers[clean(name)] = tuple(read.texts("ids"))
    made = by_name(pd.DataFrame(rows, columns=names(OUTCOMES)))
    twice = made.loc[made["probe"].duplicated(), "probe"]
    if len(twice):
        raise RunFileError(f"{source}: two probes are called {shown(twice.iloc[0])}; {NEXT}")
    return made, dict(sorted(answers.items()))


class Entry:
    """One entry of ``per_probe``, each value checked as it is read.

    Parameters
    ----------
    values : mapping
        As it stands in the file.
    where : str
        File and probe, for messages.
    """

    def __init__(self, values: Mapping[str, Any], where: str) -> None:
        self.values, self.where = values, where

    def row(self) -> dict[str, Any]:
        """Give the columns of outcomes, without the name."""
        hit, rank = self.truth("hit", None), self.count("rank", 1)
        expected, status = self.count("n_expected", 0), self._status()
        leaked = self.count("n_leaked", 0)
        n_leaked = len(self.texts("leaked")) if leaked is None else leaked
        negative, skipped = expected == 0, status == "not_supported"
        contract = self.count("n_contract", 0) or 0
        passed, repeats = self._passes(hit and not n_leaked)
        if "passes" in self.values and status == "ok":
            self._agree(passed, repeats, hit and not n_leaked and not contract, n_leaked, contract)
        return {
            "content_hash": self._text("hash"),
            "kind": None if expected is None else "negative" if negative else "positive",
            "must": self.truth("must", False),
            "status": status,
            "n_repeats": repeats,
            "n_passed": passed,
            "recall_all": None if negative or skipped else hit,
            "recall_fraction": self._share("recall_fraction"),
            "first_rank": rank,
            "rr": None if negative or skipped else _rr(rank, hit),
            "ndcg": self._share("ndcg"),
            "n_leaked": n_leaked,
            "n_contract": contract,
            "latency_ms": None,
            "n_expected": expected,
        }

    def truth(self, name: str, default: bool | None) -> bool:
        """Give a truth value; one without a default must be there."""
        value = self.values.get(name, default)
        if not isinstance(value, bool | np.bool_):
            raise self._wrong(name, value, "true or false")
        return bool(value)

    def count(self, name: str, least: int) -> int | None:
        """Give a whole number, None where there is none."""
        value = self.values.get(name)
        if value is None:
            return None
        whole = isinstance(value, Integral) and not isinstance(value, bool)
        if not whole or not least <= int(value) <= MOST:
            raise self._wrong(name, value, f"a whole number from {least}, or null")
        return int(value)

    def texts(self, name: str) -> list[str]:
        """Give a list of texts, empty where there is none."""
        value = self.values.get(name)
        if value is None:
            return []
        if not isinstance(value, list | tuple) or not all(isinstance(v, str) for v in value):
            raise self._wrong(name, value, "a list of texts")
        return [clean(entry) for entry in value]

    def _text(self, name: str) -> str | None:
        value = self.values.get(name)
        if value is not None and not isinstance(value, str):
            raise self._wrong(name, value, "a text, or null")
        return value

    def _share(self, name: str) -> float | None:
        value = self.values.get(name)
        if value is None or (isinstance(value, float) and value != value):
            return None
        real = isinstance(value, Real) and not isinstance(value, bool)
        if not real or not 0 <= value <= 1:
            raise self._wrong(name, value, "a number from 0 to 1, or null")
        return round(float(value), DECIMALS)

    def _status(self) -> str:
        value = self.values.get("status", "ok")
        if value not in STATUSES:
            raise self._wrong("status", value, f"one of {', '.join(STATUSES)}")
        return str(value)

    def _passes(self, passed: bool) -> tuple[int, int]:
        """How many repeats passed, of how many."""
        value = self.values.get("passes")
        if value is None:
            return int(passed), 1
        match = _PASSES.fullmatch(value) if isinstance(value, str) else None
        some, all_ = (int(match[1]), int(match[2])) if match else (1, 0)
        if not 0 <= some <= all_ or not all_:
            raise self._wrong("passes", value, "such as '3/5'")
        return some, all_

    def _agree(self, passed: int, repeats: int, first: bool, leaked: int, contract: int) -> None:
        """Refuse repeats that all passed, or none, where the first tells the contrary."""
        if (passed == repeats and not first) or (passed == 0 and first):
            told = f"hit {self.values['hit']}, {leaked} leaked and {contract} broken checks"
            wanted = f"what agrees with {told}"
            raise self._wrong("passes", self.values["passes"], wanted)

    def _wrong(self, name: str, value: Any, wanted: str) -> RunFileError:
        return _misfit(self.where, name, value, wanted)


def _rr(rank: int | None, hit: bool) -> float | None:
    if rank is not None:
        return round(1 / rank, DECIMALS)
    return None if hit else 0.0


def _misfit(where: str, name: str, value: Any, wanted: str) -> RunFileError:
    return RunFileError(f"{where}: {name} is {shown(value)}, wanted {wanted}; {NEXT}")
