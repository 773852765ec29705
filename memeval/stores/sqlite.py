"""The embedded store: a small memory on SQLite and its full-text index, nothing to install.

Every scope has an index of its own, named by a number: scopes compare whole, whatever stands in
their names, and the statistics behind a score never cross a scope. Records are ranked by BM25 as
FTS5 has it (k1 = 1.2, b = 0.75, https://sqlite.org/fts5.html#the_bm25_function).

What the store does with what it is told:

- ``supersedes`` takes a record out of the answers of its scope, also where it is written later, and
  for good: deleting the newer record does not bring the older one back. Only superseding the newer
  one in turn does ("I went back to lapsang").
- ``expires`` is judged against ``now``, else against the clock that `SqliteStore.advance` moves;
  with neither, nothing expires. An expired record still counts in the statistics.
- An update keeps the record's place in the order of writing.
"""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any

from memeval.errors import StoreError
from memeval.record import Hit, Receipt, Record
from memeval.stores.base import Capabilities
from memeval.stores.sqlite_file import SCHEMA, opened, reported
from memeval.stores.sqlite_open import OpenDatabase
from memeval.stores.sqlite_rows import check_question, hits, key, micros, to_row
from memeval.stores.words import FUNCTION_WORDS, asked, asked_plainly

_LATEST = 2**63 - 1
_FOUND = """
SELECT r.id, r.text, bm25(words_{0}) AS score, r.at, r.meta
FROM words_{0} JOIN record AS r ON r.key = words_{0}.rowid
WHERE words_{0} MATCH ?1 AND (?2 IS NULL OR r.expires IS NULL OR r.expires > ?2)
ORDER BY score, {1} LIMIT ?3
"""


class SqliteStore(OpenDatabase):
    """A memory in one SQLite database, in this process or on disk.

    Parameters
    ----------
    path : str or Path
        A file, made where there is none, or ``":memory:"``.
    stem : bool
        Porter's stemming of English: "rehearses" finds "rehearsal".
    any_script : bool
        Split words as `memeval.stores.words` does; False: as ``unicode61`` does.
    stop_words : bool
        Leave English function words out of a query (with ``any_script``). A query of nothing else
        finds only records that hold it word for word, so small talk finds nothing.
    newest_first : bool
        Of equal scores the later ``at`` comes first, then text and id decide; False: the order of
        writing.
    lifecycle : bool
        Act on ``supersedes`` and ``expires``; False: take them and do nothing.
    timeout : float
        Seconds to wait for a file that another process has locked.

    Raises
    ------
    StoreError
        If the file is no store of these settings, or cannot be opened and written.

    Notes
    -----
    A search costs time in proportion to the records that hold a word of the query. One lock makes
    the store safe for threads; several processes may share a file, one writing at a time.

    Examples
    --------
    >>> with SqliteStore() as store:
    ...     _ = store.put(Record("tea", "My favourite tea is lapsang.", scope="ana"))
    ...     _ = store.put(Record("new", "Now it is genmaicha tea.", "ana", supersedes=("tea",)))
    ...     [hit.id for hit in store.search("favourite tea?", k=5, scope="ana")]
    ['new']
    """

    capabilities = Capabilities(
        scoping="native",
        score_order="high",
        deterministic=True,
        honours=frozenset({"filter", "expires", "now", "supersedes"}),
        isolation="fork",
        thread_safe=True,
    )

    def __init__(
        self,
        path: str | Path = ":memory:",
        *,
        stem: bool = True,
        any_script: bool = True,
        stop_words: bool = True,
        newest_first: bool = True,
        lifecycle: bool = True,
        timeout: float = 5.0,
    ) -> None:
        self.settings = {
            "stem": stem,
            "any_script": any_script,
            "stop_words": stop_words,
            "newest_first": newest_first,
            "lifecycle": lifecycle,
        }
        if not lifecycle:
            self.capabilities = replace(self.capabilities, honours=frozenset({"filter"}))
        self._ties = "r.at DESC, r.text, r.id" if newest_first else "r.key"
        self._open(str(path), opened(str(path), self.settings, timeout))

    def put(self, record: Record) -> Receipt:
        """Write one record; a second put of an id is an update.

        Raises
        ------
        StoreError
            If a field is of the wrong type, or the database cannot be written.
        """
        return self.put_many([record])[0]

    def put_many(self, records: Iterable[Record]) -> list[Receipt]:
        """Write several records in order: all of them, or on an error none."""
        kept = list(records)
        rows = [to_row(record) for record in kept]
        if not rows:
            return []
        latest = max((row.at for row in rows if row.at is not None), default=None)
        with self._writing() as tables:
            scopes = dict.fromkeys(row.scope for row in rows)
            numbers = {scope: tables.number(scope) or tables.new_number(scope) for scope in scopes}
            tables.write_many(rows, numbers)
            if latest is not None:
                tables.run("UPDATE store SET clock = max(clock, ?)", latest)
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
        """Return at most k records of the scope that hold a word of the query, best first.

        Parameters
        ----------
        query : str
            Any text; nothing in it is syntax, and without a word in it nothing is found.
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
            ``score`` is -bm25, higher is better; ``meta`` is the record's, and its ``at`` in UTC.

        Raises
        ------
        StoreError
            If query, k, scope or now cannot be used, or the database cannot be read.
        """
        check_question(query, k, scope)
        match, moment = self._match(query), None if now is None else micros(now, "now")
        if not match:
            return []
        with self._lock, reported(self._path):
            number = self._tables.number(key(scope))
            if number is None:
                return []
            k = min(k, sys.maxsize)
            limit = -1 if filter else k
            found = self._tables.run(
                _FOUND.format(number, self._ties), match, self._moment(moment), limit
            )
            with closing(found):
                return list(islice(hits(found, filter), k))

    def delete(self, store_id: str, *, scope: str | None = None) -> bool:
        """Delete one record, where a scope is given only if it is there; say if there was one."""
        with self._writing() as tables:
            known = tables.known(key(store_id))
            if known is None or (scope is not None and tables.number(key(scope)) != known[1]):
                return False
            tables.delete(*known)
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
        if not isinstance(by, timedelta) or by < timedelta(0):
            raise StoreError(f"advance: found {by!r}, wanted a timedelta from 0; give one")
        with self._writing() as tables:
            (start,) = tables.one("SELECT ifnull(clock, (SELECT max(at) FROM record)) FROM store")
            if start is None:
                start = micros(datetime.now(UTC), "time of day")
            moved = min(start + by // timedelta(microseconds=1), _LATEST)
            tables.run("UPDATE store SET clock = ?", moved)

    def count(self, scope: str | None = None) -> int:
        """Count the records kept, superseded and expired ones too, in all scopes or in one."""
        with self._lock, reported(self._path):
            if scope is None:
                return int(self._tables.one("SELECT count(*) FROM record")[0])
            number = self._tables.number(key(scope))
            return int(self._tables.one("SELECT count(*) FROM record WHERE scope = ?", number)[0])

    def clear(self, scope: str | None = None) -> None:
        """Forget everything, or everything of one scope: records, and what supersedes what."""
        with self._writing() as tables:
            named = tables.run("SELECT number, name FROM scope WHERE name NOTNULL").fetchall()
            for number, name in named:
                if scope is None or name == key(scope):
                    tables.clear(number)
            if scope is None:
                tables.run("UPDATE store SET clock = NULL")

    def info(self) -> dict[str, Any]:
        """Name, versions and settings, for the manifest."""
        return {
            "name": type(self).__name__ + ("" if any(self.settings.values()) else " (plain)"),
            "version": f"SQLite {sqlite3.sqlite_version}",
            "schema": SCHEMA,
            "settings": dict(self.settings),
        }

    def _match(self, query: str) -> str:
        drop = FUNCTION_WORDS if self.settings["stop_words"] else frozenset()
        plain = not self.settings["any_script"]
        phrases = asked_plainly(query) if plain else asked(query, drop=drop)
        return " OR ".join(f'"{phrase}"' for phrase in phrases)

    def _moment(self, now: int | None) -> int | None:
        if not self.settings["lifecycle"]:
            return None
        return now if now is not None else self._tables.one("SELECT clock FROM store")[0]


def plain(path: str | Path = ":memory:") -> SqliteStore:
    """Open a store with FTS5 as it comes, which is what published figures are made with.

    The tokenizer is ``unicode61``, any word of the query will do, no word is left out, equal scores
    stand in the order of writing, and ``supersedes`` and ``expires`` are taken and ignored.

    Parameters
    ----------
    path : str or Path
        A file, made where there is none, or ``":memory:"``.

    Examples
    --------
    >>> plain().capabilities.honours
    frozenset({'filter'})
    """
    return SqliteStore(
        path, stem=False, any_script=False, stop_words=False, newest_first=False, lifecycle=False
    )
