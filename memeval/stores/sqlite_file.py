"""The database of the embedded store: its tables, making and opening it, and what can go wrong."""

from __future__ import annotations

import functools
import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager

from memeval.errors import StoreError

IN_MEMORY = ":memory:"
APPLICATION = 0x6D656D76  # "memv", in the header of the file
SCHEMA = 1
SPARE = 4  # Indexes made ahead: making one costs more than filling it.
_TABLES = """
CREATE TABLE scope(number INTEGER PRIMARY KEY, name UNIQUE);
CREATE TABLE record(key INTEGER PRIMARY KEY, id UNIQUE NOT NULL, scope INTEGER NOT NULL,
    text TEXT NOT NULL, at INTEGER, expires INTEGER, meta TEXT NOT NULL);
CREATE TABLE superseded(scope INTEGER, old, new, PRIMARY KEY (scope, old, new)) WITHOUT ROWID;
CREATE TABLE store(settings TEXT NOT NULL, clock INTEGER);
"""
_INDEX = "CREATE VIRTUAL TABLE words_{} USING fts5(words, tokenize = '{}')"
_CAUSES = {
    "no such module": "found an SQLite built without FTS5, wanted one with it; use a Python whose "
    "sqlite3 has it",
    "not a database": "found a file that is no SQLite database, wanted a store or a new file; "
    "give another path",
    "unable to open": "found no way to open it, wanted a folder that exists and can be written; "
    "make the folder, or give another path",
    "readonly": "found it read-only, wanted to write; change its permissions, or copy it",
    "locked": "found it locked by another user of the file, wanted it free; end that one, or give "
    "each its own file",
    "closed database": "found it closed, wanted it open; make a new store",
}


@contextmanager
def reported(path: str) -> Iterator[None]:
    """Turn an error of SQLite into a `StoreError` that says what to do."""
    try:
        yield
    except sqlite3.Error as error:
        said = str(error)
        known = (advice for cause, advice in _CAUSES.items() if cause in said)
        advice = next(known, "wanted it to work; check the disk, or use a new file")
        raise StoreError(f"store {path}: {advice} (SQLite: {said})") from error


def opened(path: str, settings: Mapping[str, bool], timeout: float) -> sqlite3.Connection:
    """Open a store, and make it where there is none.

    Parameters
    ----------
    path : str
        A file, or ``":memory:"``.
    settings : mapping of str to bool
        What a store found there must have been made with.
    timeout : float
        Seconds to wait for a lock.

    Returns
    -------
    sqlite3.Connection
        In autocommit mode, for use by any thread.

    Raises
    ------
    StoreError
        If what stands there is not such a store, or cannot be opened.
    """
    if not path:
        raise StoreError("store: found a blank path, wanted a file or ':memory:'; give one")
    with reported(path):
        connection = connected(path, timeout)
        try:
            _prepare(connection, path, settings)
        except BaseException:
            connection.close()
            raise
    return connection


def connected(path: str, timeout: float) -> sqlite3.Connection:
    """Connect in autocommit mode, for use by any thread."""
    return sqlite3.connect(path, timeout=timeout, isolation_level=None, check_same_thread=False)


def add_index(connection: sqlite3.Connection, number: int, settings: Mapping[str, bool]) -> None:
    """Make the index of one scope."""
    base = "ascii" if settings["any_script"] else "unicode61"
    tokenizer = f"porter {base}" if settings["stem"] else base
    connection.execute(_INDEX.format(number, tokenizer))


def _prepare(connection: sqlite3.Connection, path: str, settings: Mapping[str, bool]) -> None:
    told = json.dumps(settings)
    if path == IN_MEMORY:
        with closing(sqlite3.connect(IN_MEMORY)) as blank:
            blank.deserialize(_blank(told))
            blank.backup(connection)
        return
    connection.execute("BEGIN IMMEDIATE")
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if tables or any(_marks(connection)):
        check(connection, path, told)
    else:
        _make(connection, told)
    connection.execute("COMMIT")
    # Only now, since this writes: another program's file is left as it is.
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")


_MARKS = {"application_id": APPLICATION, "user_version": SCHEMA}


def _marks(connection: sqlite3.Connection) -> list[int]:
    return [connection.execute(f"PRAGMA {name}").fetchone()[0] for name in _MARKS]


def check(connection: sqlite3.Connection, path: str, told: str) -> None:
    """Refuse a database that is no store of these settings.

    Raises
    ------
    StoreError
        It says what is there instead.
    """
    application, version = _marks(connection)
    if application != APPLICATION:
        raise StoreError(
            f"store {path}: found the database of another program, wanted a store of memeval or "
            "a new file; give another path"
        )
    if version != SCHEMA:
        raise StoreError(
            f"store {path}: found schema version {version}, wanted {SCHEMA}; use the version of "
            "memeval that wrote it, or a new file"
        )
    (found,) = connection.execute("SELECT settings FROM store").fetchone()
    if found != told:
        raise StoreError(
            f"store {path}: found a store made with {found}, wanted {told}; open it with the "
            "settings it was made with, or use a new file"
        )


def _make(connection: sqlite3.Connection, told: str) -> None:
    for statement in filter(str.strip, _TABLES.split(";")):
        connection.execute(statement)
    for name, value in _MARKS.items():
        connection.execute(f"PRAGMA {name} = {value}")
    for number in range(1, SPARE + 1):
        add_index(connection, number, json.loads(told))
        connection.execute("INSERT INTO scope(number) VALUES (?)", (number,))
    connection.execute("INSERT INTO store(settings) VALUES (?)", (told,))


@functools.cache
def _blank(told: str) -> bytes:
    with closing(sqlite3.connect(IN_MEMORY, isolation_level=None)) as connection:
        connection.execute("BEGIN")
        _make(connection, told)
        connection.execute("COMMIT")
        return connection.serialize()
