"""A snapshot of the embedded store holds what the store holds, and a fork of it shares nothing."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from memeval.errors import StoreError
from memeval.record import Record
from memeval.stores import sqlite_snapshot
from memeval.stores.sqlite import SqliteStore, plain

MAY = datetime(2026, 5, 1, 12, tzinfo=UTC)


def found(store: SqliteStore, query: str, scope: str = "s") -> list[Any]:
    return [hit.id for hit in store.search(query, k=9, scope=scope)]


def lived(store: SqliteStore) -> SqliteStore:
    """Give a store on which everything was done that can be done to it."""
    store.put_many(Record(f"r{i}", f"kiosk {i}", f"s{i % 6}", at=MAY) for i in range(40))
    store.put(Record("late", "kiosk tea", "s", at=MAY, expires=MAY + timedelta(days=2)))
    store.put(Record("new", "tea is genmaicha", "s", supersedes=("old",), meta={"x": [1]}))
    store.delete("r7")
    store.advance(timedelta(days=1))
    return store


@pytest.mark.parametrize("size", [0, 2**28])
def test_a_fork_answers_as_its_origin_and_goes_its_own_way(
    size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_snapshot, "COPIED_FROM_BYTES", size)  # both ways to fill a fork
    store = lived(SqliteStore())
    before = store.snapshot()
    with store.fork(before) as fork:
        assert fork.count() == store.count() == 41
        for scope in ("s", "s1", "s5"):
            asked = [s.search("kiosk tea", k=9, scope=scope) for s in (store, fork)]
            assert asked[0] == asked[1] != []
        fork.put_many([Record("old", "tea", "s"), Record("more", "tea", "s")])
        assert set(found(fork, "tea")) == {"late", "more", "new"}  # old stays superseded
        fork.advance(timedelta(days=1))
        assert "late" not in found(fork, "tea")
        fork.clear()
    assert store.snapshot() == before
    assert set(found(store, "tea")) == {"late", "new"}


def test_a_snapshot_taken_in_a_scratch_holds_what_the_scratch_holds() -> None:
    store = SqliteStore()
    before = store.snapshot()
    with store.scratch():
        lived(store)
        kept, answer = store.snapshot(), store.search("kiosk tea", k=9, scope="s")
    assert store.snapshot() == before
    with store.fork(kept) as fork:
        assert fork.search("kiosk tea", k=9, scope="s") == answer != []
        fork._connection.execute("INSERT INTO words_1(words_1) VALUES ('integrity-check')")
        with fork.scratch():
            fork.put(Record("a", "kiosk", "s"))
            with pytest.raises(StoreError, match="found a fork in a scratch.*outside"):
                fork.snapshot()
        assert fork.snapshot() == kept


def test_a_fork_is_of_the_class_and_with_the_attributes_of_its_origin() -> None:
    class Louder(SqliteStore):
        tag = ""

        def search(self, query: str, **options: Any) -> Any:
            return [*super().search(query, **options), self.tag]

    store = Louder()
    store.tag = "mine"
    with store.fork(store.snapshot()) as fork:
        assert type(fork) is Louder and fork.search("x", k=1, scope="s") == ["mine"]
    store.put(Record("a", "still open", "s"))


def test_a_store_on_disk_gives_no_snapshot_and_says_what_to_do(tmp_path: Path) -> None:
    with SqliteStore(tmp_path / "m.db") as store:
        with pytest.raises(StoreError, match=r"m\.db: found a store on disk.*use scratch\(\)"):
            store.snapshot()


def test_what_is_no_snapshot_of_such_a_store_is_refused() -> None:
    store = SqliteStore()
    with closing(sqlite3.connect(":memory:")) as other:
        other.execute("CREATE TABLE record(x)")
        foreign = other.serialize()
    for wrong, said in (
        (b"", "found bytes b'', wanted bytes from snapshot"),
        ("text", "found str 'text', wanted bytes"),
        (b"Dear diary. " * 100, "snapshot: found a file that is no SQLite database"),
        (foreign, "snapshot: found the database of another program"),
        (plain().snapshot(), 'found a store made with .*"stem": false'),
        (bytes(plain().snapshot()), 'found a store made with .*"stem": false'),
    ):
        with pytest.raises(StoreError, match=said):
            store.fork(wrong)  # type: ignore[arg-type]
    assert store.fork(bytes(store.snapshot())).count() == 0


def test_a_scratch_on_disk_leaves_the_file_as_it_was_to_the_last_byte(tmp_path: Path) -> None:
    path = tmp_path / "m.db"

    def on_disk(store: SqliteStore) -> bytes:
        store._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return path.read_bytes()

    with SqliteStore(path) as store:
        store.put_many(Record(f"r{i}", f"kiosk {i}", f"s{i % 6}") for i in range(40))
        before = on_disk(store)
        for _ in range(3):
            with store.scratch():
                lived(store)
                assert set(found(store, "tea")) == {"late", "new"}
            assert on_disk(store) == before
