"""A store that ranks its records by words and by vectors, and fuses the two rankings."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from itertools import groupby, islice
from typing import TYPE_CHECKING, Any, Self

from memeval.errors import StoreError
from memeval.record import Hit, Record
from memeval.stores.scope_vectors import Vectors
from memeval.stores.sqlite import SqliteStore
from memeval.stores.sqlite_rows import Key, Row, check_question, hits, key, micros
from memeval.stores.vector import VectorStore

if TYPE_CHECKING:
    from memeval.embedders.base import Embedder

CONSTANT = 60
MAGIC = b"memeval hybrid 1\n"
_LENGTH = 8
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LAST = datetime.max.replace(tzinfo=UTC)


class HybridStore(VectorStore):
    """BM25 and vectors, fused by the ranks that a record has in both.

    Parameters
    ----------
    embedder : {'table', 'hash', 'minilm'} or Embedder
        As for `VectorStore`.
    floor : float, optional
        Least cosine at which the vectors name a record. Without it they name every record of the
        scope, so that the store never abstains.

    Raises
    ------
    StoreError
        If the embedder cannot be had, or the floor is no number from -1 to 1.

    Notes
    -----
    The score is the sum of 1 / (60 + rank) over the rankings that hold the record, by `SqliteStore`
    and by `VectorStore`, each taken whole: reciprocal rank fusion (Cormack, Clarke and Buettcher,
    SIGIR 2009, https://doi.org/10.1145/1571941.1572114). Of equal scores the later ``at`` comes
    first, then text and id decide. Ranks are those among all live records of the scope: a filter
    leaves records out and changes no score.

    A query of function words alone finds by its vector, and by words only what holds it word for
    word; one without any word finds nothing. A search costs time in proportion to the records of
    the scope. Every record is kept twice.

    Examples
    --------
    >>> with HybridStore() as store:
    ...     _ = store.put(Record("tea", "My favourite tea is lapsang.", scope="ana"))
    ...     _ = store.put(Record("door", "The code of the door is 4471.", scope="ana"))
    ...     [[hit.id for hit in store.search(q, k=1, scope="ana")] for q in ("4471", "hot drink")]
    [['door'], ['tea']]
    """

    def __init__(self, embedder: str | Embedder = "table", *, floor: float | None = None) -> None:
        super().__init__(embedder, floor=floor)
        self.words = SqliteStore()

    def search(
        self,
        query: str,
        *,
        k: int,
        scope: str,
        filter: Mapping[str, Any] | None = None,
        now: datetime | None = None,
    ) -> list[Hit]:
        """Return at most k records of the scope that words or vectors find, best first.

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
            ``score`` is the fused score, higher is better; ``meta`` is the record's, and its ``at``
            in UTC.

        Raises
        ------
        StoreError
            If query, k, scope or now cannot be used, or the query cannot be embedded.
        """
        check_question(query, k, scope)
        moment = None if now is None else micros(now, "now")
        vector = self._vector(query)
        with self._open():
            moment = self._living.clock if moment is None else moment
            told = self.words.search(query, k=sys.maxsize, scope=scope, now=_time(moment))
            near = self._ranked(vector, key(scope), moment, None)
            by_words = [key(hit.id) for hit in told if hit.id is not None]
            scores = fused(by_words, [row.id for row, _ in near])
            return list(islice(hits(self._told(scores), filter), min(k, len(scores))))

    def delete(self, store_id: str, *, scope: str | None = None) -> bool:
        """Delete one record, where a scope is given only if it is there; say if there was one."""
        with self._open():
            self.words.delete(store_id, scope=scope)
            return super().delete(store_id, scope=scope)

    def clear(self, scope: str | None = None) -> None:
        """Forget everything, or everything of one scope: records, and what supersedes what."""
        with self._open():
            self.words.clear(scope)
            super().clear(scope)

    @contextmanager
    def scratch(self) -> Iterator[Self]:
        """Undo on leaving all that is written within, by whichever thread, to the last byte.

        Raises
        ------
        StoreError
            If the store is in a scratch already.
        """
        with super().scratch(), self.words.scratch():
            yield self

    def snapshot(self) -> bytes:
        """Take a copy of everything that is kept, also of what a scratch holds just now.

        Returns
        -------
        bytes
            For `fork` of any store with these settings.

        Raises
        ------
        StoreError
            If the store is a fork in a scratch.
        """
        with self._open():
            words = self.words.snapshot()
            return MAGIC + len(words).to_bytes(_LENGTH, "little") + words + super().snapshot()

    def fork(self, snapshot: bytes) -> Self:
        """Make another store that holds what a snapshot holds.

        Parameters
        ----------
        snapshot : bytes
            From `snapshot`.

        Returns
        -------
        HybridStore
            Of the class and settings of this one, to be closed by the caller.

        Raises
        ------
        StoreError
            If that is no snapshot of a store with these settings.
        """
        if not isinstance(snapshot, bytes) or not snapshot.startswith(MAGIC):
            kind = type(snapshot).__name__
            raise StoreError(f"fork: found {kind} {snapshot!r:.20}, wanted bytes from snapshot()")
        start = len(MAGIC) + _LENGTH
        end = start + int.from_bytes(snapshot[len(MAGIC) : start], "little")
        forked = super().fork(snapshot[end:])
        forked.words = self.words.fork(snapshot[start:end])
        return forked

    def close(self) -> None:
        """Let go of everything that is kept."""
        super().close()
        self.words.close()

    def info(self) -> dict[str, Any]:
        """Name, embedder, settings, and the store of words, for the manifest."""
        return super().info() | {"constant": CONSTANT, "words": self.words.info()}

    def _told(self, scores: Mapping[Key, float]) -> Iterator[tuple[Any, ...]]:
        """Rows for `hits`, best first; ties are put in order only as far as they are asked for."""
        order = sorted(scores, key=scores.__getitem__, reverse=True)
        for score, names in groupby(order, key=scores.__getitem__):
            for row in self._in_order(list(names)):
                yield row.id, row.text, -score, row.at, row.meta

    def _write(self, records: list[Record], rows: list[Row], vectors: Vectors) -> None:
        # Words first: a database may refuse, and then nothing is written; a matrix does not.
        self.words.put_many(records)
        super()._write(records, rows, vectors)


def fused(*rankings: Iterable[Key]) -> dict[Key, float]:
    """Score what stands in rankings by reciprocal rank fusion.

    Examples
    --------
    >>> {name: round(score, 4) for name, score in fused(["a", "b"], ["b"]).items()}
    {'a': 0.0164, 'b': 0.0325}
    """
    scores: dict[Key, float] = {}
    for ranking in rankings:
        for rank, name in enumerate(ranking, 1):
            scores[name] = scores.get(name, 0.0) + 1 / (CONSTANT + rank)
    return scores


def _time(moment: int | None) -> datetime | None:
    """A moment as a time; the last that there is where it lies behind all."""
    if moment is None or moment >= micros(_LAST, "the last time"):
        return None if moment is None else _LAST
    return _EPOCH + timedelta(microseconds=moment)
