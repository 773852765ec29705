"""What cannot be simulated is refused before a store is made, in words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from memeval.errors import MemevalError, StoreError
from memeval.files.journal import JournalWarning
from memeval.record import Record
from memeval.sessions import Session
from memeval.simulate import run_simulation
from memeval.simulation import Simulation, save_simulation
from memeval.stores.sqlite import SqliteStore
from tests import odd_stores
from tests.growing_stores import small


def grown(store: Any = "sqlite", **more: Any) -> Simulation:
    told: dict[str, Any] = {"sessions": 4, "every": 2, "cohorts": 2} | more
    return run_simulation([*small()], store, **told)


def failing(n: int) -> Any:
    raise LookupError("no transcript")


def of(*ops: Any) -> list[Session]:
    return [Session(0, None, ops)]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"every": None, "checkpoints": 5}, r"checkpoints is 5, wanted numbers .* say every"),
        ({"every": None, "checkpoints": "12"}, "checkpoints is '12'"),
        ({"sessions": 2**70}, "sessions is .*wanted a whole number from 1 to 1000000"),
        ({"source": [Session(0, None, None)]}, "session 0 has NoneType for its operations"),  # type: ignore[arg-type]
        ({"source": [Session(0, None, iter(()))]}, "session 0 has tuple_iterator for its"),  # type: ignore[arg-type]
        ({"source": [Session(0, None, "ab")]}, "session 0 has str for its operations"),  # type: ignore[arg-type]
        ({"source": of(Record("a", None))}, "record whose text is a NoneType"),  # type: ignore[arg-type]
        ({"source": of(Record(5, "x"))}, "record whose id is a int"),  # type: ignore[arg-type]
        ({"source": of(Record("a", "x", 5))}, "record whose scope is a int"),  # type: ignore[arg-type]
        ({"source": failing}, r"source failed \(LookupError: no transcript\), wanted up to 4"),
        ({"source": lambda: []}, "source failed .*is called with their number"),
        ({"retrieve": 5}, "retrieve is 5, wanted something to call"),
        ({"progress": "x"}, "progress is 'x', wanted something to call"),
        ({"journal": 5}, "journal is 5, wanted the path of a file"),
        ({"journal": " "}, "journal is ' ', wanted the path of a file"),
        ({"resume": True}, "resume is True and no journal is named"),
        ({"timeout_s": "x"}, "timeout_s is 'x', wanted a number from 0"),
        ({"settle_s": None}, "settle_s is None"),
        ({"poll_s": -1.0}, "poll_s is -1.0"),
        ({"retries": -1}, "retries is -1, wanted a whole number from 0"),
        ({"max_calls": 0}, "max_calls is 0, wanted a whole number from 1"),
    ],
)
def test_odd_options_are_refused_before_the_store_is_made(
    options: dict[str, Any], said: str
) -> None:
    with pytest.raises(MemevalError, match=said):
        grown(odd_stores, **options)


def test_a_folder_is_no_journal(tmp_path: Path) -> None:
    with pytest.raises(MemevalError, match="a folder, wanted a file"):
        grown(odd_stores, journal=tmp_path)


@pytest.mark.parametrize("told", [2**70, -5, "many", float("inf")])
@pytest.mark.parametrize("method", ["n_bytes", "count"])
def test_a_size_that_no_table_holds_is_an_error_of_the_store(method: str, told: Any) -> None:
    class Odd(SqliteStore):
        pass

    def tell(self: Odd) -> Any:
        real = SqliteStore.count(self)
        return told if real > 3 else real  # the self check is let pass

    setattr(Odd, method, tell)
    with pytest.raises(StoreError, match=rf"the store failed in {method}\(\).*mend the adapter"):
        grown(Odd)


def test_a_journal_whose_last_line_was_cut_says_so_and_comes_to_the_same(tmp_path: Path) -> None:
    journal = tmp_path / "j.jsonl"
    whole = grown(journal=journal)
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[:2]) + lines[2][:40])
    with pytest.warns(JournalWarning, match="line 3 was cut off in the writing.*done again"):
        again = grown(journal=journal, resume=True)
    bare = [one.drift_probes.drop(columns="latency_ms") for one in (again, whole)]
    assert bare[0].equals(bare[1]) and again.manifest["notes"] == whole.manifest["notes"]
    assert again.validity == whole.validity
    assert b"cut off" not in save_simulation(again, tmp_path / "s.json").read_bytes()


class Lagging(odd_stores.Client):
    """One of several clients of a place, which finds what was written after three searches."""

    waits = 0

    def put(self, record: Record) -> Any:
        self.waits = 3
        return super().put(record)

    def search(self, query: str, *, k: int, scope: str) -> Any:
        self.waits -= 1
        return super().search(query, k=k, scope=scope) if self.waits < 0 else []


@pytest.mark.parametrize("isolation", ["namespace", "clear"])
def test_an_eventual_store_in_a_place_of_the_users_is_waited_for_and_left_clean(
    isolation: str,
) -> None:
    class Emptied(Lagging, odd_stores.Clearing):
        pass

    place = odd_stores.Place(isolation, consistency="eventual")
    kind = Emptied if isolation == "clear" else Lagging
    made = grown(lambda: kind(place), poll_s=0.0, settle_s=5.0)
    assert set(made.drift_probes["status"]) == {"ok"} and made.drift_probes["passed"].all()
    assert made.checkpoints["visible_ms"].notna().all()
    assert made.manifest["neighbours"] is None and place.kept == {}
