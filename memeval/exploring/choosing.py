"""Choosing probes of a run by text, tag, cause and status."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

import pandas as pd

from memeval.checks.kinds import nearest
from memeval.errors import MemevalError
from memeval.given import Given
from memeval.record import Record
from memeval.report import cause_rows
from memeval.runs import Run
from memeval.suite import WITHHELD

FAILING = "failing"
STATUSES: Mapping[str, str] = MappingProxyType(
    {
        FAILING: "did not pass",
        "passed": "passed",
        "all": "every probe",
        "leaked": "a record came back that must never come back",
        "stale": "an outdated record stands in the top k",
        "missed": "something was expected, and not all of it is in the top k",
        "answered": "nothing was right, and something came back",
        "contract": "the answer broke a rule that every store must keep",
        "error": "the search, or the writing before it, did not work",
        "flaky": "its repeats do not agree",
        "not supported": "the store cannot do what it needs",
        "changed": "passes at the chosen settings and did not as asked, or the other way round",
    }
)


@dataclass(frozen=True, slots=True)
class Filter:
    """Which probes are wanted; empty words choose all.

    Attributes
    ----------
    text : str
        Words that all stand in the name, the query, a tag, or a record that the probe writes or
        got back; upper and lower case are alike.
    tag, cause : str
        One tag, and one cause of `memeval.frames.CAUSES`.
    status : str
        A key of `STATUSES`.
    """

    text: str = ""
    tag: str = ""
    cause: str = ""
    status: str = FAILING

    def __post_init__(self) -> None:
        if self.status not in STATUSES:
            raise MemevalError(
                f"status: found {self.status!r:.40}, wanted one of {', '.join(STATUSES)}; "
                f"{nearest(self.status, STATUSES)}"
            )


class Catalogue:
    """The probes of a run, to be chosen from.

    Parameters
    ----------
    run : Run
        Of a suite that is not invalid.
    """

    def __init__(self, run: Run) -> None:
        self.run = run
        self.causes = {row.probe: row for row in cause_rows.rows(run)}

    @cached_property
    def order(self) -> tuple[str, ...]:
        """Names of all probes: failing ones as they are to be mended, then those of the suite."""
        names = [*self.causes, *self.run.failing["probe"], *self.run.results["probe"]]
        return tuple(dict.fromkeys(map(str, names)))

    @cached_property
    def tags(self) -> dict[str, int]:
        """How many probes carry each tag, the most frequent first."""
        counts = self.run.suite.tags()["tag"].value_counts(sort=True)
        return {str(tag): int(n) for tag, n in counts.items()}

    def matches(self, wanted: Filter, now: pd.DataFrame | None = None) -> tuple[str, ...]:
        """Choose probes.

        Parameters
        ----------
        wanted : Filter
            All of it must hold.
        now : pandas.DataFrame, optional
            Results at other settings, for the status ``changed``.

        Returns
        -------
        tuple of str
            Names, in the order in which they are to be looked at.
        """
        found = self._of_status(wanted.status, now)
        if wanted.tag:
            tags = self.run.suite.tags()
            found &= set(tags.loc[tags["tag"] == wanted.tag, "probe"])
        if wanted.cause:
            found &= {name for name, row in self.causes.items() if row.cause == wanted.cause}
        for word in dict.fromkeys(wanted.text.casefold().split()):
            found &= set(self._saying(word))
        return tuple(name for name in self.order if name in found)

    def _of_status(self, status: str, now: pd.DataFrame | None) -> set[str]:
        rows = self.run.results
        answered = rows["status"].eq("ok")
        chosen: Mapping[str, pd.Series] = {
            FAILING: rows["passed"].eq(False),
            "passed": rows["passed"],
            "all": rows["probe"].notna(),
            "leaked": rows["n_leaked"].gt(0),
            "stale": rows["n_stale"].gt(0),
            "missed": rows["recall_all"].eq(False) & answered,
            "answered": rows["abstained"].eq(False) & answered,
            "contract": rows["n_contract"].gt(0),
            "error": ~answered & rows["status"].ne("not_supported"),
            "flaky": rows["flaky"],
            "not supported": rows["status"].eq("not_supported"),
            "changed": changed(rows, rows if now is None else now),
        }
        return set(rows.loc[chosen[status].fillna(False).astype("bool"), "probe"])

    def _saying(self, word: str) -> Iterator[str]:
        """Names of the probes in which a word stands somewhere."""
        said = self._returned["text"].str.contains(word, regex=False)
        yield from self._returned.loc[said, "probe"]
        told = {key: word in texts for key, texts in self._written.items()}
        for name, key, head in self._heads:
            if word in head or told[key]:
                yield name

    @cached_property
    def _heads(self) -> list[tuple[str, int, str]]:
        return [
            (p.name, id(p.state), "\n".join([p.name, p.query, *p.tags]).casefold())
            for p in self.run.suite
        ]

    @cached_property
    def _written(self) -> dict[int, str]:
        """What each history says; one that many probes share is read once."""
        return {id(p.state): _texts(p.state) for p in self.run.suite}

    @cached_property
    def _returned(self) -> pd.DataFrame:
        rows = self.run.hits.loc[self.run.hits["text"].notna(), ["probe", "text"]]
        return rows.assign(text=rows["text"].str.casefold())


def changed(before: pd.DataFrame, now: pd.DataFrame) -> pd.Series:
    """Whether each probe passes in one of two results and not in the other.

    Parameters
    ----------
    before, now : pandas.DataFrame
        Results of the same probes in the same order.

    Returns
    -------
    pandas.Series
        bool; False where a probe is not supported.
    """
    return before["passed"].fillna(False).ne(now["passed"].fillna(False)).astype("bool")


def _texts(given: Given) -> str:
    said = [op.text for op in given if isinstance(op, Record) and op.text != WITHHELD]
    return "\n".join(said).casefold()
