"""What the embedded store writes: records, their indexes, and which record replaced which."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import Any

from memeval.stores.sqlite_file import SPARE, add_index
from memeval.stores.sqlite_rows import Key, Row
from memeval.stores.words import indexed

_INSERT = (
    "INSERT OR IGNORE INTO record(scope, text, at, expires, meta, id) VALUES (?, ?, ?, ?, ?, ?)"
)
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

    def write(self, row: Row, number: int) -> None:
        """Write a record, or update it in its place, and index it unless it is superseded."""
        fields = (number, row.text, row.at, row.expires, row.meta)
        made = self.run(_INSERT, *fields, row.id)
        place = made.lastrowid if made.rowcount else self._update(row.id, fields)
        if self._settings["lifecycle"]:
            self._supersede(row, number)
            hidden = "SELECT 1 FROM superseded WHERE scope = ? AND old = ?"
            if self.one(hidden, number, row.id):
                return
        spelled = indexed(row.text) if self._settings["any_script"] else row.text
        self.run(f"INSERT INTO words_{number}(rowid, words) VALUES (?, ?)", place, spelled)

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

    def _supersede(self, row: Row, number: int) -> None:
        for old in row.supersedes:
            told = (number, old, row.id)
            self.run("DELETE FROM superseded WHERE scope = ? AND new = ? AND old = ?", *told)
            self.run("INSERT OR IGNORE INTO superseded(scope, old, new) VALUES (?, ?, ?)", *told)
            known = self.known(old)
            if known is not None and known[1] == number:
                self._unindex(*known)

    def _unindex(self, place: int, number: int) -> None:
        self.run(f"DELETE FROM words_{number} WHERE rowid = ?", place)
