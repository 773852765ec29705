"""A short name for how a store answers."""

from __future__ import annotations

import dataclasses
import os
import random
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, ClassVar

import pytest

import memeval as me
from memeval.comparing.comparability import compare_manifests
from memeval.harness.fingerprint import RECORDS, K, fingerprint
from memeval.outcomes import outcomes_of
from memeval.stores.bound import BoundStore
from memeval.stores.sqlite import SqliteStore, plain

PROBE = me.Probe("lunch", "noodle bar", [me.Record("r1", "Lunch at the noodle bar.")], ["r1"])


class Words:
    """Ranks by shared words; every kind of the tests below is made of it."""

    declared: ClassVar[dict[str, Any]] = {}
    offset = 0

    def __init__(self) -> None:
        self.kept: list[me.Record] = []

    @property
    def capabilities(self) -> me.Capabilities:
        return me.Capabilities(**self.declared)

    def put(self, record: me.Record) -> str:
        self.kept.append(record)
        return record.id

    def search(self, query: str, *, k: int, scope: str, **options: Any) -> list[me.Hit]:
        asked = set(query.lower().split())
        mine = [record for record in self.kept if record.scope == scope]
        mine.sort(key=lambda record: -len(asked & set(record.text.lower().split())))
        return [me.Hit(record.id) for record in mine[self.offset : self.offset + k]]


def manifest(make: Any, **options: Any) -> Any:
    return me.run([PROBE], make, **options).manifest


def test_there_are_twenty_different_records_that_share_words() -> None:
    texts = [record.text for record in RECORDS]
    assert len({record.id for record in RECORDS}) == len(set(texts)) == 20
    assert len({record.scope for record in RECORDS}) == 1
    words = [set(text.lower().split()) for text in texts]
    assert sum(any(a & b for b in words if b is not a) for a in words) >= 15


def test_the_same_store_has_the_same_fingerprint_and_other_settings_another() -> None:
    first = fingerprint(SqliteStore())
    assert first == fingerprint(SqliteStore()) == fingerprint(BoundStore(SqliteStore()))
    others = {fingerprint(SqliteStore(stem=False)), fingerprint(SqliteStore(stop_words=False)),
              fingerprint(SqliteStore(newest_first=False)), fingerprint(plain())}  # fmt: skip
    assert len({first, *others}) == 5


def test_the_same_store_has_the_same_fingerprint_in_another_process() -> None:
    code = (
        "from memeval.harness.fingerprint import fingerprint\n"
        "from memeval.stores.sqlite import SqliteStore\n"
        "print(fingerprint(SqliteStore()))"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True,
            env=os.environ | {"PYTHONHASHSEED": seed, "TZ": zone}, cwd=Path(me.__file__).parents[1],
        ).stdout.strip()
        for seed, zone in (("1", "UTC"), ("2", "Asia/Tokyo"))
    }  # fmt: skip
    assert found == {fingerprint(SqliteStore())}


def test_the_first_hit_alone_moves_it_and_so_does_the_last() -> None:
    class Off(Words):
        offset = 1

    class LastGone(Words):
        def search(self, query: str, *, k: int, scope: str, **options: Any) -> list[me.Hit]:
            return super().search(query, k=k, scope=scope)[: K - 1]

    assert len({fingerprint(make()) for make in (Words, Off, LastGone)}) == 3


def test_names_of_scopes_and_ids_do_not_move_it() -> None:
    plain_one = manifest(Words)
    opaque = manifest(Words, opaque_ids=True)

    class Apart(Words):
        declared: ClassVar[dict[str, Any]] = {"isolation": "namespace"}
        all: ClassVar[list[me.Record]] = []

        def __init__(self) -> None:
            self.kept = Apart.all

        def delete(self, record_id: str) -> None:
            Apart.all[:] = [record for record in Apart.all if record.id != record_id]

    apart = manifest(Apart)
    assert plain_one.fingerprint == opaque.fingerprint == apart.fingerprint == fingerprint(Words())
    assert Apart.all == []
    assert apart.notes == plain_one.notes  # nothing is left behind


def test_a_store_that_assigns_its_own_ids_has_a_lasting_fingerprint() -> None:
    class Assigned(Words):
        declared: ClassVar[dict[str, Any]] = {"ids": "assigned"}

        def put(self, record: me.Record) -> str:
            own = dataclasses.replace(record, id=f"{random.random()}")
            return super().put(own)

    assert fingerprint(Assigned()) == fingerprint(Words())


def test_a_run_keeps_the_fingerprint() -> None:
    found = manifest("sqlite")
    assert (found.fingerprint, found.no_fingerprint) == (fingerprint(SqliteStore()), "")
    assert found.verified_deterministic is True


def test_it_costs_less_than_twenty_milliseconds_on_the_embedded_store() -> None:
    times = []
    for _ in range(9):
        store = SqliteStore()
        started = time.process_time()  # of this process alone: the machine may be busy
        fingerprint(store)
        times.append(time.process_time() - started)
    assert statistics.median(times) < 0.020


class Slow(Words):
    def put(self, record: me.Record) -> str:
        time.sleep(0.008)
        return super().put(record)


class SlowSearch(Words):
    def search(self, query: str, *, k: int, scope: str, **options: Any) -> list[me.Hit]:
        time.sleep(0.025)
        return super().search(query, k=k, scope=scope)


class Paid(Words):
    def llm_calls(self) -> int:
        return 0


class Varying(Words):
    declared: ClassVar[dict[str, Any]] = {"deterministic": False}


class Later(Words):
    declared: ClassVar[dict[str, Any]] = {"consistency": "eventual"}


class Failing(Words):
    def put(self, record: me.Record) -> str:
        if record.id.endswith("fingerprint-07"):
            raise KeyError("secret-path-7")
        return super().put(record)


@pytest.mark.parametrize(
    ("make", "options", "cause"),
    [
        (Slow, {}, "a write takes more than 5 ms"),
        (SlowSearch, {}, "a search takes more than 20 ms"),
        (Paid, {}, "the store calls a model"),
        (Varying, {}, "the store declares that its answers differ"),
        (Later, {}, "what is written can be found later only"),
        (Failing, {}, "the store failed with KeyError"),
        (Words, {"check_store": False}, "the store was not checked"),
        (Words, {"max_calls": 99}, "the calls to the store are limited"),
        (Words, {"allow_nonempty": True}, "the store may hold other records"),
    ],
)
def test_it_is_not_taken_where_it_costs_something_or_says_nothing(
    make: Any, options: dict[str, Any], cause: str
) -> None:
    found = manifest(make, **options)
    assert (found.fingerprint, found.no_fingerprint) == (None, cause)


def test_no_record_is_written_where_it_is_not_taken() -> None:
    class Noting(Paid):
        seen: ClassVar[list[str]] = []

        def put(self, record: me.Record) -> str:
            Noting.seen.append(record.id)
            return super().put(record)

    manifest(Noting)
    assert not [name for name in Noting.seen if "fingerprint" in name]


def test_a_store_that_cannot_delete_keeps_no_record_of_it() -> None:
    class Kept(Words):
        declared: ClassVar[dict[str, Any]] = {"isolation": "namespace"}
        all: ClassVar[list[me.Record]] = []

        def __init__(self) -> None:
            self.kept = Kept.all

    found = manifest(Kept)
    assert found.no_fingerprint == "the store cannot delete what would be written"
    assert not [record for record in Kept.all if "fingerprint" in record.id]


def test_a_store_that_is_built_otherwise_each_time_is_seen() -> None:
    class Built(Words):
        """Each one turns all of its answers, or none; each answer holds."""

        made = 0

        def __init__(self) -> None:
            super().__init__()
            Built.made += 1
            self.turn = Built.made % 2

        def search(self, query: str, *, k: int, scope: str, **options: Any) -> list[me.Hit]:
            hits = super().search(query, k=k, scope=scope)
            return hits[::-1] if self.turn else hits

    found = manifest(Built)
    assert found.no_fingerprint == "two clean stores answer otherwise"
    assert found.verified_deterministic is False


def test_an_undeclared_store_is_verified_by_two_clean_stores() -> None:
    assert manifest(Words).verified_deterministic is True
    assert manifest(Paid).verified_deterministic is None
    assert manifest(Paid, repeats=2).verified_deterministic is True


def test_a_store_that_changes_in_silence_is_warned_of() -> None:
    class Hosted(Words):
        """A service whose model is exchanged behind the caller's back."""

        most = K

        def search(self, query: str, *, k: int, scope: str, **options: Any) -> list[me.Hit]:
            return super().search(query, k=k, scope=scope)[: self.most]

    before = outcomes_of(me.run([PROBE], Hosted))
    assert not any("silent" in line for line in compare_manifests(before, before).lines())
    Hosted.most = K - 1
    after = outcomes_of(me.run([PROBE], Hosted))
    assert before.answers == after.answers  # the probes do not see it
    assert any("silent change" in line for line in compare_manifests(before, after).lines())
