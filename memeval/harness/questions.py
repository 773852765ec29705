"""Questions to one store about one probe, and the answers, recognised."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from memeval.errors import said
from memeval.harness.desk import Desk
from memeval.probe import Probe
from memeval.record import Hit, Record
from memeval.stores.bound import CallLimitError, SearchTimeoutError, View
from memeval.text import contains_tokens, content_words, normalise, visible

MOST_ASKED = 1000
STEPS = (100, 50, 20, 10, 5)
SHOWN = 60


@dataclass(frozen=True, slots=True)
class Found:
    """One hit of an answer, recognised."""

    record_id: str | None
    text: str
    score: float | None
    canary: str | None = None

    @property
    def name(self) -> str:
        """Id of the record; ``unknown`` where nobody wrote it."""
        return self.record_id or "unknown"


@dataclass(kw_only=True)
class Questions:
    """What can be asked of the store on which a probe's history is written.

    Attributes
    ----------
    desk : Desk
        The store.
    probe : Probe
        Whose scope, filter and time of asking hold.
    records : mapping of str to Record
        Everything on the desk, the haystack included.
    refusal : str
        What the store said when it was asked for more records than it gives.
    """

    desk: Desk
    probe: Probe
    records: Mapping[str, Record]
    refusal: str = ""

    def ask(
        self, query: str, k: int, *, with_filter: bool = True, scope: str | None = None
    ) -> list[Found]:
        """Ask with the probe's own filter, scope and time, unless told otherwise."""
        asked = dict(self.probe.filter) or None if with_filter else None
        alias = self.desk.scope_alias(self.probe.scope if scope is None else scope)
        hits = self.desk.store.search(View(query, k, alias, asked, self.probe.now))
        return [self._recognised(hit) for hit in hits]

    def ask_wide(
        self,
        query: str,
        most: int = MOST_ASKED,
        *,
        with_filter: bool = True,
        scope: str | None = None,
    ) -> tuple[list[Found], int]:
        """Ask for as many records as there are, up to `most`; for fewer where these are refused.

        Returns
        -------
        list of Found, and int
            The answer, and the k that it was given for.
        """
        there = min(len(self.records), most)
        steps = {k for k in (there, *STEPS) if self.probe.k < k <= there}
        for k in sorted(steps, reverse=True):
            try:
                return self.ask(query, k, with_filter=with_filter, scope=scope), k
            except (CallLimitError, SearchTimeoutError):
                raise
            except Exception as error:  # a store may refuse a k that the probe never asked for
                self.refusal = said(error)
        return self.ask(query, self.probe.k, with_filter=with_filter, scope=scope), self.probe.k

    def _recognised(self, hit: Hit) -> Found:
        record_id, _ = self.desk.ids.resolve(hit)
        record = self.records.get(record_id or "")
        text = hit.text or (record.text if record else "")
        canary = next((c for c in self.probe.canary if contains_tokens(text, c)), None)
        return Found(record_id, text, hit.score, canary)


def rank_of(hits: Sequence[Found], record_id: str) -> int | None:
    """Rank of a record in an answer, from 1; None where it is not in it."""
    return next((n for n, hit in enumerate(hits, 1) if hit.record_id == record_id), None)


def names_of(hits: Sequence[Found]) -> tuple[str, ...]:
    """Names of hits, in order."""
    return tuple(hit.name for hit in hits)


def listed(hits: Sequence[Found], most: int = 3) -> str:
    """The first hits by id and text."""
    shown = "; ".join(f"{hit.name} ({visible(hit.text, SHOWN)})" for hit in hits[:most])
    return f"{shown} and {len(hits) - most} more" if len(hits) > most else shown


def same_text(text: str, other: str) -> bool:
    """Whether two texts read the same."""
    return bool(text.strip()) and normalise(text) == normalise(other)


def shared_words(query: str, text: str) -> tuple[int, int]:
    """Different content words of a query that stand in a text, and how many it has."""
    asked = set(content_words(query))
    return len(asked & set(content_words(text))), len(asked)
