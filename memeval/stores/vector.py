"""A store of vectors: records are found by what they mean, as far as an embedder can tell.

It keeps to the rules of the embedded store (`memeval.stores.sqlite`) in all but what it finds:
scopes, updates, deletes, ``supersedes``, ``expires``, ``filter``, ``now`` and the order of equal
scores are the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from itertools import islice
from typing import TYPE_CHECKING, Any

from memeval.errors import StoreError
from memeval.record import Hit, Receipt, Record
from memeval.stores.base import Capabilities
from memeval.stores.living import Living, tie_order
from memeval.stores.scope_vectors import Vectors
from memeval.stores.sqlite_rows import Key, Row, check_question, hits, key, micros, to_row
from memeval.stores.vector_open import OpenVectors

if TYPE_CHECKING:
    from memeval.embedders.base import Embedder


class VectorStore(OpenVectors):
    """A memory of vectors in this process, searched through one by one.

    Parameters
    ----------
    embedder : {'table', 'hash', 'minilm'} or Embedder
        What turns texts into vectors. That of a text must not depend on the texts beside it.
    floor : float, optional
        Least score that is given, from -1 to 1. Without it every record of the scope is an answer
        to every query, however far, so that the store never abstains. A good floor is another one
        for each embedder.

    Raises
    ------
    StoreError
        If the embedder cannot be had, or the floor is no such number.

    Notes
    -----
    A search costs time in proportion to the records of the scope. One lock makes the store safe for
    threads. A query in which there is nothing to embed (blank, or marks only) finds nothing, and a
    record of that kind is never found. Function words are embedded as other words are, but by
    ``hash``, for which a query of nothing else finds nothing.

    Vectors of records are kept by the embedder for when their text comes again, in any store of
    this process: written a second time a text costs less. A query is embedded anew each time.

    Examples
    --------
    >>> with VectorStore() as store:
    ...     _ = store.put(Record("tea", "My favourite tea is lapsang.", scope="ana"))
    ...     _ = store.put(Record("van", "The van is in the garage.", scope="ana"))
    ...     [hit.id for hit in store.search("a hot drink", k=1, scope="ana")]
    ['tea']
    """

    capabilities = Capabilities(
        scoping="native",
        score_order="high",
        deterministic=True,
        honours=frozenset({"filter", "expires", "now", "supersedes"}),
        isolation="fork",
        thread_safe=True,
    )

    def __init__(self, embedder: str | Embedder = "table", *, floor: float | None = None) -> None:
        from memeval.embedders.keeping import keeping

        self.embedder = keeping(embedder)
        self.floor = _checked(floor)
        self.settings = {
            "embedder": self.embedder.name,
            "dimension": self.embedder.dimension,
            "floor": self.floor,
        }
        self._start(Living(), {})

    def put(self, record: Record) -> Receipt:
        """Write one record; a second put of an id is an update.

        Raises
        ------
        StoreError
            If a field is of the wrong type, or the text cannot be embedded.
        """
        return self.put_many([record])[0]

    def put_many(self, records: Iterable[Record]) -> list[Receipt]:
        """Write several records in order: all of them, or on an error none."""
        kept = list(records)
        rows = [to_row(record) for record in kept]
        if rows:
            vectors = self.embedder.embed([row.text for row in rows])
            with self._open():
                self._write(kept, rows, vectors)
        return [Receipt("stored", (record.id,)) for record in kept]

    def search(
        self,
        query: str,
        *,
        k: int,
        scope: str,
        filter: Mapping[str, Any] | None = None,
        now: datetime | None = None,
    ) -> list[Hit]:
        """Return at most k records of the scope, those nearest to the query first.

        Parameters
        ----------
        query : str
            Any text.
        k : int
            How many, from 1.
        scope : str
            The scope, exactly.
        filter : mapping, optional
            What the metadata must be: for each key the value, or a list of which one will do;
            metadata that is a list need only hold it.
        now : datetime, optional
            The time of asking, for ``expires``.

        Returns
        -------
        list of Hit
            ``score`` is the cosine, to 6 digits; ``meta`` is the record's, and its ``at`` in UTC.

        Raises
        ------
        StoreError
            If query, k, scope or now cannot be used, or the query cannot be embedded.
        """
        check_question(query, k, scope)
        moment = None if now is None else micros(now, "now")
        vector = self._vector(query)
        with self._open():
            found = self._ranked(vector, key(scope), moment, None if filter else k)
            rows = ((row.id, row.text, -score, row.at, row.meta) for row, score in found)
            return list(islice(hits(rows, filter), min(k, len(self._living.rows))))

    def delete(self, store_id: str, *, scope: str | None = None) -> bool:
        """Delete one record, where a scope is given only if it is there; say if there was one."""
        with self._open():
            row = self._living.rows.get(key(store_id))
            if row is None or (scope is not None and row.scope != key(scope)):
                return False
            del self._living.rows[row.id]
            self._scopes[row.scope].remove(row.id)
            return True

    def advance(self, by: timedelta) -> None:
        """Let time pass for what expires, for searches that name no ``now``.

        The clock starts at the latest ``at`` of all records, where none has one at the time of day,
        and never falls behind a later record.

        Raises
        ------
        StoreError
            If ``by`` is no time or goes backwards.
        """
        with self._open():
            self._living.advance(by)

    def count(self, scope: str | None = None) -> int:
        """Count the records kept, superseded and expired ones too, in all scopes or in one."""
        with self._open():
            return len(self._living.rows if scope is None else self._scopes.get(key(scope), ()))

    def clear(self, scope: str | None = None) -> None:
        """Forget everything, or everything of one scope: records, and what supersedes what."""
        with self._open():
            gone = None if scope is None else key(scope)
            self._living.clear(gone)
            for name in list(self._scopes):
                if gone is None or name == gone:
                    del self._scopes[name]

    def info(self) -> dict[str, Any]:
        """Name, embedder and settings, for the manifest."""
        return {"name": type(self).__name__, **self.settings}

    def _write(self, records: list[Record], rows: list[Row], vectors: Vectors) -> None:
        last = {row.id: place for place, row in enumerate(rows)}
        for name, place in last.items():
            before = self._living.rows.get(name)
            if before is not None and before.scope != rows[place].scope:
                self._scopes[before.scope].remove(name)
        for row in rows:
            self._living.write(row)
        self._place([rows[place] for place in last.values()], vectors[list(last.values())])

    def _vector(self, query: str) -> Vectors:
        from memeval.embedders.keeping import embedded

        vector: Vectors = embedded(self.embedder.inner, [query])[0]
        return vector

    def _ranked(
        self, vector: Vectors, scope: Key, moment: int | None, k: int | None
    ) -> Iterator[tuple[Row, float]]:
        """Live records of a scope and their scores, best first; at least k, where there are."""
        held = self._scopes.get(scope)
        if held is None or not vector.any():
            return
        moment = self._living.clock if moment is None else moment
        hidden = self._living.hidden(scope)
        for cosine, names in held.nearest(vector, hidden=hidden, moment=moment, k=k):
            if self.floor is not None and cosine < self.floor:
                return
            for row in self._in_order(names):
                yield row, cosine

    def _in_order(self, names: list[Key]) -> list[Row]:
        rows = [self._living.rows[name] for name in names]
        return sorted(rows, key=tie_order) if len(rows) > 1 else rows


def _checked(floor: float | None) -> float | None:
    if floor is None:
        return None
    if isinstance(floor, bool) or not isinstance(floor, int | float) or not -1 <= floor <= 1:
        raise StoreError(
            f"floor is {floor!r}, wanted a number from -1 to 1, or None; pass the least cosine "
            "that is an answer"
        )
    return float(floor)


def by_hash() -> VectorStore:
    """Open a store by the embedder that needs no data: words, and parts of words.

    Examples
    --------
    >>> by_hash().info()["embedder"]
    'hash-512'
    """
    return VectorStore("hash")


def by_minilm() -> VectorStore:
    """Open a store by the sentence model of the extra ``semantic``.

    Raises
    ------
    StoreError
        If the extra is not installed.
    """
    return VectorStore("minilm")
