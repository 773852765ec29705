"""What adapters of vector databases share: an embedder, and what a filter asks of metadata."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from memeval.record import Hit, Receipt, Record
from memeval.stores.base import BaseStore
from memeval.stores.needing import version_of
from memeval.stores.sqlite_rows import check_question

if TYPE_CHECKING:
    from memeval.embedders.base import Embedder


class NearestStore(BaseStore):
    """An adapter that embeds texts for a database that looks for the nearest vectors.

    Derive from it, and write `put_many` and `nearest`.

    A query in which there is nothing to embed (blank, or marks only) finds nothing: there is no
    vector to ask with. A record of that kind is handed over with a vector of zeros, and what
    becomes of it is the database's business.

    Parameters
    ----------
    embedder : {'table', 'hash', 'minilm'} or Embedder
        What turns texts into vectors, as for `memeval.VectorStore`.
    """

    distribution = ""
    """What is installed for it, whose version goes into the manifest."""

    def __init__(self, embedder: str | Embedder = "table") -> None:
        from memeval.embedders.keeping import keeping

        self.embedder = keeping(embedder)

    def put(self, record: Record) -> Receipt:
        """Write one record; a second put of an id is an update."""
        return self.put_many([record])[0]

    def search(
        self,
        query: str,
        *,
        k: int,
        scope: str,
        filter: Mapping[str, Any] | None = None,
        now: datetime | None = None,
    ) -> list[Hit]:
        """Return at most k records of the scope, nearest first."""
        vector = self.asked(query, k, scope)
        return [] if vector is None else self.nearest(vector, k, scope, filter)

    def nearest(
        self, vector: list[float], k: int, scope: str, filter: Mapping[str, Any] | None
    ) -> list[Hit]:
        """Ask for the records nearest to a vector."""
        raise NotImplementedError(f"{type(self).__name__} has no nearest; write one")

    def info(self) -> dict[str, Any]:
        """Name, version and embedder, for the manifest."""
        return {
            "name": type(self).__name__,
            "version": version_of(self.distribution),
            "embedder": self.embedder.name,
        }

    def vectors(self, records: Sequence[Record]) -> list[list[float]]:
        """Vectors of records, of length 1 or 0."""
        found: list[list[float]] = self.embedder.embed([one.text for one in records]).tolist()
        return found

    def asked(self, query: str, k: int, scope: str) -> list[float] | None:
        """Vector of a query; None where there is nothing to embed.

        Raises
        ------
        StoreError
            If query, k or scope cannot be used.
        """
        from memeval.embedders.keeping import embedded

        check_question(query, k, scope)
        row = embedded(self.embedder.inner, [query])[0]
        return row.tolist() if row.any() else None


def latest(records: Iterable[Record]) -> list[Record]:
    """The last record of each id, for a batch in which a database takes no id twice.

    Examples
    --------
    >>> [one.text for one in latest([Record("a", "old"), Record("b", "x"), Record("a", "new")])]
    ['new', 'x']
    """
    return list({one.id: one for one in records}.values())


def stored(records: Iterable[Record]) -> list[Receipt]:
    """Receipts of records that are kept under their own ids."""
    return [Receipt("stored", (one.id,)) for one in records]


def wanted(filter: Mapping[str, Any] | None) -> Iterator[tuple[str, list[Any]]]:
    """Each key of a filter with the values of which one will do.

    Examples
    --------
    >>> list(wanted({"type": "note", "labels": ["a", "b"]}))
    [('type', ['note']), ('labels', ['a', 'b'])]
    """
    for key, value in (filter or {}).items():
        yield key, list(value) if isinstance(value, list | tuple) else [value]
