"""What the embedded store keeps and undoes, on disk and in threads, and what it refuses."""

from __future__ import annotations

import json
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from memeval.errors import StoreError
from memeval.record import Receipt, Record
from memeval.stores import sqlite_file
from memeval.stores.base import resolve
from memeval.stores.sqlite import SqliteStore, plain

MAY = datetime(2026, 5, 1, 12, tzinfo=UTC)


def store_of(*texts: str, scope: str = "s") -> SqliteStore:
    """Give a store that holds these texts as r0, r1, ..."""
    store = SqliteStore()
    store.put_many(Record(f"r{i}", text, scope) for i, text in enumerate(texts))
    return store


def found(store: SqliteStore, query: str, k: int = 5, scope: str = "s", **more: Any) -> list[Any]:
    return [hit.id for hit in store.search(query, k=k, scope=scope, **more)]


def test_put_many_writes_all_or_nothing() -> None:
    store = store_of("kiosk")
    before = store._connection.serialize()
    with pytest.raises(StoreError, match="record 'bad': text is a int"):
        store.put_many([Record("ok", "ferry", "new"), Record("bad", 7, "s")])  # type: ignore[arg-type]
    assert store._connection.serialize() == before
    receipts = store.put_many(iter([Record("a", "x", "s"), Record("b", "y", "s")]))
    assert receipts == [Receipt("stored", ("a",)), Receipt("stored", ("b",))]
    assert store.put_many([]) == []


@pytest.mark.parametrize("within", [False, True])
def test_an_error_of_the_database_half_way_undoes_the_half(within: bool) -> None:
    store = store_of("kiosk")
    store._connection.execute(
        "CREATE TRIGGER stop BEFORE INSERT ON record WHEN new.id = 'bad' "
        "BEGIN SELECT RAISE(ABORT, 'disk of straw'); END"
    )
    batch = [Record(f"n{i}", "ferry", f"new {i}") for i in range(9)] + [Record("bad", "x", "s")]
    before = store._connection.serialize()
    if within:
        with store.scratch():
            with pytest.raises(StoreError, match="disk of straw"):
                store.put_many(batch)
            assert (found(store, "ferry", scope="new 0"), found(store, "kiosk")) == ([], ["r0"])
            store.put(Record("after", "ferry", "new 0"))
            assert found(store, "ferry", scope="new 0") == ["after"]
    else:
        with pytest.raises(StoreError, match="disk of straw"):
            store.put_many(batch)
    assert store._connection.serialize() == before
    assert store.count() == 1


def test_a_scratch_leaves_no_trace_also_after_an_error() -> None:
    store = store_of("kiosk blue", "ferry north")
    before = store._connection.serialize()
    with pytest.raises(KeyError), store.scratch() as same:
        assert same is store
        store.put_many(Record(f"x{i}", "lamp", f"scope {i}") for i in range(9))
        store.delete("r0")
        store.put(Record("r1", "ferry south", "s", supersedes=("r0",)))
        store.advance(timedelta(days=1))
        store.clear("scope 3")
        assert found(store, "south") == ["r1"]
        raise KeyError("stop")
    assert store._connection.serialize() == before
    assert (found(store, "kiosk"), found(store, "ferry")) == (["r0"], ["r1"])


def test_a_scratch_within_a_scratch_is_refused_and_the_outer_one_holds() -> None:
    store = SqliteStore()
    with store.scratch():
        store.put(Record("a", "kiosk", "s"))
        with pytest.raises(StoreError, match="scratch: found one open"), store.scratch():
            pass
        assert found(store, "kiosk") == ["a"]
    assert store.count() == 0
    with store.scratch():
        store.put(Record("a", "kiosk", "s"))


def test_a_search_in_another_thread_sees_the_scratch_and_does_not_wait_for_its_end() -> None:
    store = SqliteStore()
    with ThreadPoolExecutor(1) as pool, store.scratch():
        store.put(Record("a", "kiosk", "s"))
        assert pool.submit(found, store, "kiosk").result(timeout=30) == ["a"]


def test_writers_and_readers_in_threads_lose_nothing() -> None:
    store = SqliteStore()

    def write(writer: int) -> None:
        for i in range(50):
            store.put(Record(f"w{writer}-{i}", f"Shelf {i} holds a seed box.", f"s{i % 7}"))

    def read(_: int) -> None:
        for i in range(50):
            hits = store.search("seed box shelf", k=5, scope=f"s{i % 7}")
            assert all(hit.text.startswith("Shelf") for hit in hits)

    with ThreadPoolExecutor(8) as pool:
        for job in [pool.submit(task, i) for i in range(4) for task in (write, read)]:
            job.result(timeout=60)
    assert store.count() == 200
    assert sum(len(found(store, "shelf", k=200, scope=f"s{i}")) for i in range(7)) == 200


def test_a_file_survives_closing_and_reopening(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with SqliteStore(path) as store:
        store.put(Record("a", "tea is lapsang", "s", at=MAY, expires=MAY + timedelta(days=2)))
        store.put(Record("b", "tea is genmaicha", "s", supersedes=("old",), meta={"x": [1]}))
        store.advance(timedelta(days=1))
    with SqliteStore(str(path)) as store:
        assert [(hit.id, hit.text, hit.meta) for hit in store.search("tea", k=5, scope="s")] == [
            ("a", "tea is lapsang", {"at": MAY}),
            ("b", "tea is genmaicha", {"x": [1]}),
        ]
        store.put(Record("old", "tea is water", "s"))
        store.advance(timedelta(days=1))
        assert found(store, "tea") == ["b"]


def test_two_stores_on_one_file_see_each_others_writes(tmp_path: Path) -> None:
    with SqliteStore(tmp_path / "m.db") as one, SqliteStore(tmp_path / "m.db") as two:
        one.put(Record("a", "kiosk", "s"))
        two.put(Record("b", "kiosk", "s"))
        one.put(Record("c", "kiosk", "t"))
        assert found(one, "kiosk") == found(two, "kiosk") == ["a", "b"]
        assert found(two, "kiosk", scope="t") == ["c"]


def test_a_scratch_on_disk_is_undone_also_by_closing(tmp_path: Path) -> None:
    with SqliteStore(tmp_path / "m.db") as store:
        store.put(Record("a", "kiosk", "s"))
        with store.scratch():
            store.put(Record("b", "kiosk", "s"))
            store.close()
    with SqliteStore(tmp_path / "m.db") as store:
        assert found(store, "kiosk") == ["a"]


def test_a_file_that_is_no_database_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("Dear diary. " * 100)
    with pytest.raises(StoreError, match=r"notes\.txt: found a file that is no SQLite database"):
        SqliteStore(path)
    assert path.read_text() == "Dear diary. " * 100
    assert [file.name for file in tmp_path.iterdir()] == ["notes.txt"]


def make_other(path: Path, *statements: str) -> bytes:
    connection = sqlite3.connect(path)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()
    return path.read_bytes()


def test_the_database_of_another_program_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    for statements in (["CREATE TABLE record(x)"], ["PRAGMA application_id = 7"]):
        path.unlink(missing_ok=True)
        before = make_other(path, *statements)
        with pytest.raises(
            StoreError, match=r"found the database of another program.*give another"
        ):
            SqliteStore(path)
        assert path.read_bytes() == before


def test_a_newer_schema_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    SqliteStore(path).close()
    make_other(path, "PRAGMA user_version = 99")
    with pytest.raises(StoreError, match="found schema version 99, wanted 1; use the version"):
        SqliteStore(path)


def test_other_settings_are_refused(tmp_path: Path) -> None:
    plain(tmp_path / "m.db").close()
    with pytest.raises(StoreError, match='found a store made with .*"stem": false.*open it with'):
        SqliteStore(tmp_path / "m.db")
    plain(tmp_path / "m.db").close()


def test_a_place_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    for path in (tmp_path / "missing" / "m.db", tmp_path):
        with pytest.raises(StoreError, match="wanted a folder that exists and can be written"):
            SqliteStore(path)
    with pytest.raises(StoreError, match="found a blank path"):
        SqliteStore("")


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="needs a folder nobody can write to")
def test_a_read_only_folder_is_refused() -> None:
    with pytest.raises(StoreError, match="wanted a folder that exists and can be written"):
        SqliteStore("/proc/m.db")


def test_a_locked_file_is_reported_and_works_once_it_is_free(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with SqliteStore(path, timeout=0.01) as store:
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(StoreError, match="found it locked by another"):
            store.put(Record("a", "kiosk", "s"))
        with pytest.raises(StoreError, match="found it locked by another"):
            SqliteStore(path, timeout=0.01)
        assert found(store, "kiosk") == []  # reading goes on
        other.execute("ROLLBACK")
        other.close()
        store.put(Record("a", "kiosk", "s"))
        assert found(store, "kiosk") == ["a"]


def test_a_read_only_store_says_so(tmp_path: Path) -> None:
    with SqliteStore(tmp_path / "m.db") as store:
        store._connection.execute("PRAGMA query_only = 1")
        with pytest.raises(StoreError, match="found it read-only, wanted to write"):
            store.put(Record("a", "kiosk", "s"))


def test_sqlite_without_fts5_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    absent = sqlite_file._INDEX.replace("fts5", "fts5_absent")
    monkeypatch.setattr(sqlite_file, "_INDEX", absent)
    sqlite_file._blank.cache_clear()
    with pytest.raises(StoreError, match="found an SQLite built without FTS5, wanted one with it"):
        SqliteStore()


@pytest.mark.parametrize("k", [0, -1, True, 1.0, "5", None])
def test_a_k_that_is_no_number_from_one_is_refused(k: Any) -> None:
    with pytest.raises(StoreError, match="search: k is .*, wanted a whole number from 1"):
        SqliteStore().search("kiosk", k=k, scope="s")


def test_what_is_no_string_is_refused_where_one_is_wanted() -> None:
    store = SqliteStore()
    for query, scope in ((None, "s"), (b"kiosk", "s"), ("kiosk", None), ("kiosk", 7)):
        with pytest.raises(StoreError, match=r"search: (query|scope) is a \w+, wanted a string"):
            store.search(query, k=5, scope=scope)  # type: ignore[arg-type]
    for record in (Record(1, "x"), Record("x", "x", None), Record("x", "x", supersedes=(1,))):  # type: ignore[arg-type]
        with pytest.raises(StoreError, match="wanted a string"):
            store.put(record)
    with pytest.raises(StoreError, match="supersedes is a string, wanted a tuple"):
        store.put(Record("x", "x", supersedes="r1"))  # type: ignore[arg-type]


def test_times_need_a_zone() -> None:
    store, naive = SqliteStore(), datetime(2026, 5, 1)
    for record in (Record("a", "x", at=naive), Record("a", "x", expires=naive)):
        with pytest.raises(StoreError, match="wanted a datetime with a time zone"):
            store.put(record)
    with pytest.raises(StoreError, match="now is .*, wanted a datetime with a time zone"):
        store.search("x", k=1, scope="s", now=naive)
    for by in (timedelta(-1), 3):
        with pytest.raises(StoreError, match="wanted a timedelta from 0"):
            store.advance(by)  # type: ignore[arg-type]


def test_metadata_that_cannot_be_kept_is_refused() -> None:
    store = SqliteStore()
    for meta in ({"a": object()}, {(1, 2): "x"}):
        with pytest.raises(StoreError, match="the metadata cannot be kept"):
            store.put(Record("a", "x", meta=meta))  # type: ignore[arg-type]


def test_a_closed_store_says_so() -> None:
    with SqliteStore() as store:
        pass
    with pytest.raises(StoreError, match="found it closed, wanted it open; make a new store"):
        store.search("kiosk", k=1, scope="s")
    store.close()


def test_the_store_says_what_it_is() -> None:
    info = resolve("sqlite")().info()
    assert info["name"] == "SqliteStore" and sqlite3.sqlite_version in info["version"]
    assert info["settings"] == dict.fromkeys(info["settings"], True)
    assert not any(resolve("sqlite-plain")().info()["settings"].values())
    assert json.loads(json.dumps(info)) == info
    declared = SqliteStore().capabilities
    assert (declared.scoping, declared.score_order, declared.isolation) == (
        "native",
        "high",
        "fork",
    )
    assert declared.deterministic and declared.thread_safe
