"""What the embedded store writes: records, their indexes, and which record replaced which."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any

from memeval.stores.sqlite_file import SPARE, add_index
from memeval.stores.sqlite_rows import Key, Row
from memeval.stores.words import indexed

_INSERT = (
    "INSERT OR IGNORE INTO record(scope, text, at, expires, meta, id) VALUES (?, ?, ?, ?, ?, ?)"
)
_APPEND = (
    "INSERT OR IGNORE INTO record(key, scope, text, at, expires, meta, id) "
    "VALUES (?, ?, ?, ?, ?, ?, ?)"
)
_INDEX = "INSERT INTO words_{}(rowid, words) VALUES (?, ?)"
_HIDDEN = "SELECT 1 FROM superseded WHERE scope = ? AND old = ?"
_UPDATE = "UPDATE record SET scope = ?, text = ?, at = ?, expires = ?, meta = ? WHERE key = ?"


class Tables:
    """Reads and writes within a transaction that the caller holds.

    A record is in the index of its scope unless it is superseded there.

    Parameters
    ----------
    connection : sqlite3.Connection
        From `memeval.stores.sqlite_file.opened`.
    settings : mapping of str to bool
        Those that it was opened with.
    """

    def __init__(self, connection: sqlite3.Connection, settings: Mapping[str, bool]) -> None:
        self._connection = connection
        self._settings = settings

    def run(self, statement: str, *values: Any) -> sqlite3.Cursor:
        """Run one statement."""
        return self._connection.execute(statement, values)

    def one(self, statement: str, *values: Any) -> Any:
        """Run one statement and give its first row, None where there is none."""
        return self.run(statement, *values).fetchone()

    def number(self, scope: Key) -> int | None:
        """Give the number of a scope's index, None where nothing was written to it."""
        found = self.one("SELECT number FROM scope WHERE name = ?", scope)
        return None if found is None else int(found[0])

    def new_number(self, scope: Key) -> int:
        """Give a scope an index: a spare one, or a new one."""
        (number,) = self.one("SELECT min(number) FROM scope WHERE name ISNULL")
        if number is None:
            (number,) = self.one("SELECT max(number) + 1 FROM scope")
            self.run("INSERT INTO scope(number) VALUES (?)", number)
            add_index(self._connection, number, self._settings)
        self.run("UPDATE scope SET name = ? WHERE number = ?", scope, number)
        return int(number)

    def known(self, name: Key) -> tuple[int, int] | None:
        """Give the place of a record and the number of its scope, None where there is none."""
        found: tuple[int, int] | None = self.one("SELECT key, scope FROM record WHERE id=?", name)
        return found

    def write_many(self, rows: Sequence[Row], numbers: Mapping[Key, int]) -> None:
        """Write records as `write` does one after another, in batches where all ids are new.

        Parameters
        ----------
        rows : sequence of Row
            In the order of writing.
        numbers : mapping
            The number of each scope that they name.
        """
        (first,) = self.one("SELECT ifnull(max(key), 0) + 1 FROM record")
        if len(rows) == 1 or not self._append(rows, numbers, first):
            for row in rows:
                self.write(row, numbers[row.scope])
            return
        if self._settings["lifecycle"]:
            for row in rows:
                if row.supersedes:
                    self._supersede(row, numbers[row.scope], first)
        self._index_many(rows, numbers, first)

    def _append(self, rows: Sequence[Row], numbers: Mapping[Key, int], first: int) -> bool:
        """Add the records at the end; False, and nothing is changed, where an id is known."""
        made = self._connection.executemany(
            _APPEND,
            [
                (place, numbers[row.scope], row.text, row.at, row.expires, row.meta, row.id)
                for place, row in enumerate(rows, first)
            ],
        )
        if made.rowcount == len(rows):
            return True
        self.run("DELETE FROM record WHERE key >= ?", first)
        return False

    def _index_many(self, rows: Sequence[Row], numbers: Mapping[Key, int], first: int) -> None:
        """Index new records but for those that are superseded, whenever that was told.

        Each is written once in the batch, and only a write of a record takes back that it is
        superseded: so what holds after the batch is what held after its own write.
        """
        spell = indexed if self._settings["any_script"] else str
        hides = self.one("SELECT 1 FROM superseded LIMIT 1") is not None
        batches: dict[int, list[tuple[int, str]]] = {number: [] for number in numbers.values()}
        for place, row in enumerate(rows, first):
            number = numbers[row.scope]
            if not hides or not self.one(_HIDDEN, number, row.id):
                batches[number].append((place, spell(row.text)))
        for number, batch in batches.items():
            self._connection.executemany(_INDEX.format(number), batch)

    def write(self, row: Row, number: int) -> None:
        """Write a record, or update it in its place, and index it unless it is superseded."""
        fields = (number, row.text, row.at, row.expires, row.meta)
        made = self.run(_INSERT, *fields, row.id)
        place = made.lastrowid if made.rowcount else self._update(row.id, fields)
        if self._settings["lifecycle"]:
            self._supersede(row, number)
            if self.one(_HIDDEN, number, row.id):
                return
        spelled = indexed(row.text) if self._settings["any_script"] else row.text
        self.run(_INDEX.format(number), place, spelled)

    def delete(self, place: int, number: int) -> None:
        """Delete a record; what it superseded stays so."""
        self._unindex(place, number)
        self.run("DELETE FROM record WHERE key = ?", place)

    def clear(self, number: int) -> None:
        """Forget a scope and give its index back, empty, where it is one of the spare ones."""
        self.run("DELETE FROM record WHERE scope = ?", number)
        self.run("DELETE FROM superseded WHERE scope = ?", number)
        self.run(f"DROP TABLE words_{number}")
        if number <= SPARE:
            self.run("UPDATE scope SET name = NULL WHERE number = ?", number)
            add_index(self._connection, number, self._settings)
        else:
            self.run("DELETE FROM scope WHERE number = ?", number)

    def _update(self, name: Key, fields: tuple[Any, ...]) -> int:
        place, number = self.one("SELECT key, scope FROM record WHERE id = ?", name)
        self._unindex(place, number)
        self.run(_UPDATE, *fields, place)
        return int(place)

    def _supersede(self, row: Row, number: int, end: float = math.inf) -> None:
        """Note what a record replaces, and take that out of the index, before place `end`."""
        for old in row.supersedes:
            told = (number, old, row.id)
            self.run("DELETE FROM superseded WHERE scope = ? AND new = ? AND old = ?", *told)
            self.run("INSERT OR IGNORE INTO superseded(scope, old, new) VALUES (?, ?, ?)", *told)
            known = self.known(old)
            if known is not None and known[1] == number and known[0] < end:
                self._unindex(*known)

    def _unindex(self, place: int, number: int) -> None:
        self.run(f"DELETE FROM words_{number} WHERE rowid = ?", place)
