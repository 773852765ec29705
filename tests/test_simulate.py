"""A store that grows: what is planted, asked, taken back, kept, and what comes of it."""

from __future__ import annotations

import json
import math
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import memeval as me
from memeval.batches import Batch
from memeval.cohorts import renaming
from memeval.errors import MemevalError, ProbeError, RunFileError, StoreError
from memeval.loading import load
from memeval.probe import Probe
from memeval.record import Advance, Consolidate, Delete, Hit, Receipt, Record
from memeval.sessions import Generator, Session, sessions_of_transcript
from memeval.simulate import plan_simulation, run_simulation
from memeval.simulating.ids import GrowingIds
from memeval.simulating.plan import Plan
from memeval.simulating.telling import source_of
from memeval.simulation import Simulation, load_simulation, save_simulation
from memeval.stores.base import Capabilities
from memeval.stores.bound import CallLimitError
from memeval.stores.sqlite import SqliteStore
from memeval.suite import Suite
from memeval.transcript_shapes import Turn
from memeval.transcripts import Transcript
from tests import odd_stores
from tests.growing_stores import Capped, Decaying, office, small

ROOT = Path(__file__).parent.parent
TIMES = ("write_ms", "visible_ms", "latency_p50_ms", "latency_p95_ms", "latency_ms")


def grown(suite: Any = None, store: Any = "sqlite", **more: Any) -> Simulation:
    told: dict[str, Any] = {"sessions": 8, "every": 4, "cohorts": 2} | more
    # A bare list: three probes without a haystack make an invalid suite.
    return run_simulation(list(small()) if suite is None else suite, store, **told)


def timeless(simulation: Simulation, path: Path) -> str:
    """The saved file without what must differ: times, when, and on what machine."""
    told = json.loads(save_simulation(simulation, path).read_text())
    for table in told["tables"].values():
        for name in TIMES:
            table.pop(name, None)
    for name in ("created_at", "environment"):
        del told["manifest"][name]
    return json.dumps(told)


def cells(simulation: Simulation) -> dict[tuple[int, int], int]:
    """Rows for each checkpoint and cohort."""
    rows = simulation.drift_probes
    return rows.groupby(["session", "cohort"]).size().to_dict()


def test_every_planted_copy_has_a_row_at_every_checkpoint_from_its_own_on() -> None:
    made = grown()
    # Planted at 0 and 4; a fresh cohort at 8 alone, since at 0 and 4 one has just been planted.
    assert cells(made) == {(0, 0): 3, (4, 0): 3, (4, 4): 3, (8, 0): 3, (8, 4): 3, (8, 8): 3}
    assert made.drift_probes["passed"].all() and made.verdict.word != "FAIL"
    assert made.manifest["complete"] and made.manifest["sessions_done"] == 8
    assert made.manifest["neighbours"] == {"share": 0.0, "n": 3, "probes": []}


def test_the_same_seed_gives_the_same_tables_and_another_seed_others(tmp_path: Path) -> None:
    one, two, other = grown(), grown(), grown(seed=8)
    assert timeless(one, tmp_path / "a") == timeless(two, tmp_path / "b")
    assert list(one.checkpoints["n_records"]) != list(other.checkpoints["n_records"])


def test_it_is_saved_and_loaded(tmp_path: Path) -> None:
    made = grown()
    again = load_simulation(save_simulation(made, tmp_path / "s.json"))
    assert timeless(again, tmp_path / "b") == timeless(made, tmp_path / "a")


def test_sizes_are_what_was_written_and_what_the_store_counts() -> None:
    source = [Session(n, None, (Record(f"s{n}", f"note {n}", "team"),)) for n in range(8)]
    made = grown(source=source)
    # 3 probes of 2 records, and again before session 4; a record each session.
    assert list(made.checkpoints["n_records"]) == [6, 16, 20]
    assert list(made.checkpoints["n_kept"]) == [6, 16, 20]
    assert list(made.sizes["n_records"]) == [7, 8, 9, 10, 17, 18, 19, 20]
    assert made.checkpoints["n_bytes"].gt(0).all()


def test_the_size_in_bytes_is_that_of_the_file(tmp_path: Path) -> None:
    with SqliteStore(tmp_path / "store.db") as store:
        store.put_many(Generator(seed=1).session(0, Generator(seed=1).state())[0].records)
        told = store.n_bytes()
    assert (tmp_path / "store.db").stat().st_size == told


def test_a_long_simulation_is_counted_two_hundred_times() -> None:
    source = [Session(n, None, (Record(f"s{n}", f"note {n}", "team"),)) for n in range(450)]
    made = grown(sessions=450, every=450, source=source)
    assert list(made.sizes["session"]) == [*range(3, 451, 3)]


def test_checkpoints_grow_by_one_factor() -> None:
    plan = plan_simulation(small(), sessions=100)
    assert len(plan.checkpoints) == 8 and plan.checkpoints[0] == 0 and plan.checkpoints[-1] == 100
    gaps = [b - a for a, b in zip(plan.checkpoints, plan.checkpoints[1:], strict=False)]
    assert gaps[-1] > 3 * gaps[0]
    assert plan_simulation(small(), sessions=5).checkpoints == (0, 1, 2, 3, 4, 5)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"sessions": 0}, "sessions is 0, wanted a whole number from 1"),
        ({"sessions": 2.5}, "sessions is 2.5"),
        ({"sessions": True}, "sessions is True"),
        ({"seed": -1}, "seed is -1"),
        ({"cohorts": 0}, "cohorts is 0, wanted a whole number from 1 to 7"),
        ({"cohorts": 8}, "cohorts is 8"),
        ({"consolidate_every": 0}, "consolidate_every is 0"),
        ({"every": 0}, "every is 0"),
        ({"every": 2, "checkpoints": [3]}, "found every and checkpoints"),
        ({"every": None, "checkpoints": []}, "checkpoints is empty"),
        ({"every": None, "checkpoints": [9]}, "checkpoints is 9, wanted a whole number from 0"),
        ({"source": []}, "found no session to write"),
        ({"source": [Session(0, None, (Delete("x"),))]}, "session 0 deletes 'x'"),
        ({"source": [Session(0, None, ("x",))]}, "session 0 holds a str"),
        ({"source": 3}, "the session source is a int"),
    ],
)
def test_odd_options_are_refused(options: dict[str, Any], said: str) -> None:
    with pytest.raises(MemevalError, match=said):
        grown(**options)


def test_without_a_probe_there_is_nothing_to_plant() -> None:
    with pytest.raises(ProbeError, match="found no probe to plant"):
        grown([])


def test_probes_without_their_texts_are_refused() -> None:
    with pytest.raises(ProbeError, match="texts were taken out"):
        grown(small().without_texts())


def test_one_session_will_do() -> None:
    made = grown(sessions=1, every=None, cohorts=4)
    assert list(made.checkpoints["session"]) == [0, 1]
    assert made.manifest["cohorts"] == [0]


def test_probes_that_cannot_be_planted_twice_are_planted_once() -> None:
    made = grown([replace(office(n), names=()) for n in range(3)])
    assert cells(made) == {(0, 0): 3, (4, 0): 3, (8, 0): 3}
    assert made.manifest["planted_once"] == 3


def test_negatives_alone_have_no_trend_and_are_asked_all_the_same() -> None:
    probes = [
        Probe(f"n{i}", f"Does {who} own a zeppelin?", office(i).given, scope="team", names=[who])
        for i, who in enumerate(("Priya", "Tomas"))
    ]
    made = grown(probes)
    assert made.verdict.word == "CANNOT TELL" and made.drift_probes["recall_all"].isna().all()
    assert set(made.drift_probes["kind"]) == {"negative"}


def test_probes_of_one_history_share_it_in_the_store_that_grows() -> None:
    given = (Record("h1", "The ferry leaves at noon."), Record("h2", "The tram is blue."))
    probes = [
        Probe("ferry", "When does the ferry leave?", given, ["h1"], history="town"),
        Probe("tram", "Which colour is the tram?", given, ["h2"], history="town"),
    ]
    source = [Session(n, None, (Record(f"s{n}", f"note {n}"),)) for n in range(8)]
    made = grown(probes, source=source)
    assert list(made.checkpoints["n_records"]) == [2, 6, 10]  # the history once
    assert made.drift_probes["passed"].all()


def test_what_a_history_can_hold_is_planted_or_counted_as_not_supported() -> None:
    at = datetime(2026, 1, 1, tzinfo=UTC)
    gone = Record("old", "Priya keeps the kayak in the shed.", "team")
    probes = [
        replace(office(0), name="deletes", given=(gone, *office(0).given, Delete("old"))),
        replace(office(1), name="consolidates", given=(*office(1).given, Consolidate())),
        replace(office(2), name="waits", given=(*office(2).given, Advance(timedelta(days=3)))),
        replace(
            office(3),
            name="expires",
            now=at + timedelta(days=2),
            given=(
                replace(office(3).records[0], at=at),
                Record("gone", "Wendell sold the typewriter.", "team", at,
                       expires=at + timedelta(days=1)),
            ),
            forbid=("gone",),
        ),
        replace(
            office(4),
            name="filters",
            filter={"kind": "note"},
            given=tuple(replace(r, meta={"kind": "note"}) for r in office(4).records),
        ),
    ]  # fmt: skip
    made = grown(probes)
    status = made.drift_probes.groupby("probe")["status"].agg(set).to_dict()
    assert status.pop("waits") == {"not_supported"} and set(map(str, status.values())) == {"{'ok'}"}
    assert made.drift_probes.loc[made.drift_probes["probe"] != "waits", "passed"].all()
    assert cells(made)[8, 8] == 5  # it is counted at every checkpoint
    assert any("1 probe the store cannot take" in note for note in made.manifest["notes"])

    bare = grown(probes, odd_stores.Plain)
    status = bare.drift_probes.groupby("probe")["status"].agg(set).to_dict()
    lacking = {name for name, told in status.items() if told == {"not_supported"}}
    assert lacking == {"deletes", "waits", "expires", "filters"}
    assert bare.manifest["neighbours"]["n"] == 1


def test_a_store_that_can_take_nothing_back_is_asked_as_it_is() -> None:
    made = grown(store=odd_stores.Plain)
    assert cells(made) == {(0, 0): 3, (4, 0): 3, (4, 4): 3, (8, 0): 3, (8, 4): 3}
    assert "nothing back" in made.manifest["asked"]
    assert made.checkpoints["visible_ms"].isna().all() and made.checkpoints["n_kept"].isna().all()
    assert made.drift_probes["passed"].all()


@pytest.mark.parametrize(
    "store",
    [
        odd_stores.Assigning, odd_stores.Rewriting, odd_stores.Merging, odd_stores.Async,
        odd_stores.TextsOnly, odd_stores.Mappings, odd_stores.Forking, odd_stores.Distances,
        odd_stores.Deleting, odd_stores.Waiting,
    ],
)  # fmt: skip
@pytest.mark.parametrize("opaque", [False, True])
def test_stores_of_every_kind_find_what_is_planted(store: Any, opaque: bool) -> None:
    made = grown(store=store, opaque_ids=opaque)
    assert set(made.drift_probes["status"]) == {"ok"}
    assert made.drift_probes["passed"].all(), made.drift_probes.to_string()


class Numbering(odd_stores.Assigning):
    """Numbers its records, and takes the numbers back with them."""

    def snapshot(self) -> dict[str, Record]:
        return dict(self.kept)

    def fork(self, token: dict[str, Record]) -> Numbering:
        forked = type(self)()
        forked.kept = dict(token)
        return forked


def test_numbers_that_were_taken_back_mean_the_next_record() -> None:
    made = grown(store=Numbering, every=1)
    assert "taken back" in made.manifest["asked"]
    assert made.drift_probes["passed"].all()
    assert made.drift_probes["displaced_by"].isna().all()


@pytest.mark.parametrize("plainly", [True, False])
def test_ids_of_what_was_taken_back_are_free_again(plainly: bool) -> None:
    ids = GrowingIds()
    a, b, c = (Record(name, f"text of {name}") for name in "abc")
    if plainly:
        ids.wrote_plainly(Batch([a]))
    else:
        ids.wrote(a, Receipt("stored", ("m-1",)))
    with ids.passing():
        ids.wrote(b, Receipt("stored", ("m-2",)))
        ids.deleted("a")
        assert ids.resolve(Hit("m-2")) == ("b", "receipt")
        with pytest.raises(ZeroDivisionError), ids.passing():
            ids.wrote(c, Receipt("stored", ("m-3",)))
            raise ZeroDivisionError
        assert ids.resolve(Hit("m-3")) == (None, "unknown")
    assert ids.plain is plainly and not ids.is_deleted("a") and ids.text("b") is None
    ids.wrote(c, Receipt("stored", ("m-2",)))
    assert ids.resolve(Hit("m-2")) == ("c", "receipt") and ids.merged == {}
    assert ids.resolve(Hit("a" if plainly else "m-1"))[0] == "a"


def test_an_update_that_was_taken_back_leaves_the_text_before() -> None:
    ids = GrowingIds()
    ids.wrote_plainly(Batch([Record("a", "old")]))
    with ids.passing():
        ids.wrote_plainly(Batch([Record("a", "new")]))
        assert ids.text("a") == "new"
    assert ids.text("a") == "old"
    ids.wrote_plainly(Batch([Record("a", "newer")]))
    # A hit under a strange id is known by either text.
    assert [ids.resolve(Hit("x", text))[0] for text in ("old", "newer", "new")] == ["a", "a", None]


class Scopeless(odd_stores.Plain):
    """Has no scopes and says so."""

    capabilities = Capabilities(scoping="none")

    def search(self, query: str, *, k: int, scope: str) -> Any:
        return self.found(query, k, None)


def test_without_scopes_probes_of_two_scopes_are_counted_and_not_asked() -> None:
    made = grown(store=Scopeless)
    assert set(made.drift_probes["status"]) == {"not_supported"}
    assert any("scopes not measured" in note for note in made.manifest["notes"])
    assert made.checkpoints["n_searches"].eq(0).all()


def test_a_place_of_the_users_is_left_clean() -> None:
    for kind, isolation in (
        (odd_stores.Clearing, "clear"),
        (odd_stores.Client, "namespace"),
        (odd_stores.Scratching, "fork"),
    ):
        place = odd_stores.Place(isolation)
        made = grown(store=lambda kind=kind, place=place: kind(place))
        assert made.drift_probes["passed"].all() and made.manifest["complete"]
        assert place.kept == {}, kind
    assert "taken back" in made.manifest["asked"]  # a scratch within a scratch


def test_a_store_on_disk_is_left_as_it_was(tmp_path: Path) -> None:
    made = grown(store=lambda: SqliteStore(tmp_path / "store.db"))
    assert made.drift_probes["passed"].all()
    assert SqliteStore(tmp_path / "store.db").count() == 0
    assert "nothing back" in made.manifest["asked"]


def test_records_of_others_stay_where_they_may() -> None:
    place = odd_stores.Place("namespace")
    theirs = Record("theirs", "Somebody else's tram ticket.", "team")
    place.kept["theirs"] = theirs
    with pytest.raises(StoreError, match="holds 1 records already"):
        grown(store=lambda: odd_stores.Client(place))
    made = grown(store=lambda: odd_stores.Client(place), allow_nonempty=True)
    assert place.kept == {"theirs": theirs} and made.drift_probes["passed"].all()


def test_an_eventual_store_is_waited_for_where_it_was_written_last() -> None:
    made = grown(store=odd_stores.Eventual, poll_s=0.0, settle_s=5.0)
    assert made.drift_probes["passed"].all()
    assert made.checkpoints["visible_ms"].notna().all()
    assert made.manifest["neighbours"] is None


class Losing(odd_stores.Eventual):
    """Eventual, and forgets all but the last twenty records."""

    def put(self, record: Record) -> Any:
        told = super().put(record)
        for name in list(self.kept)[:-20]:
            del self.kept[name]
        return told


def test_nobody_waits_for_what_is_lost_for_good() -> None:
    started = time.monotonic()
    made = grown(store=lambda: Losing(0), poll_s=0.01, settle_s=20.0)
    assert time.monotonic() - started < 10
    last = made.drift_probes[made.drift_probes["session"] == 8]
    assert not last.loc[last["cohort"] == 0, "passed"].any()
    assert set(made.lost["cause"]) == {"not_stored"}


def test_what_never_appears_is_not_visible() -> None:
    made = grown(store=lambda: odd_stores.Waiting(ever=False), settle_s=0.01)
    first = made.drift_probes[made.drift_probes["session"] == made.drift_probes["cohort"]]
    assert set(first["status"]) == {"not_visible"}


class FailingLate(odd_stores.Plain):
    """Fails in one of its methods once it holds forty records."""

    def __init__(self, method: str = "search") -> None:
        super().__init__()
        self.method = method

    def told(self, method: str) -> None:
        if method == self.method and len(self.kept) > 40:
            raise ConnectionError("no route to the index")

    def put(self, record: Record) -> Any:
        self.told("put")
        return super().put(record)

    def search(self, query: str, *, k: int, scope: str) -> Any:
        self.told("search")
        return super().search(query, k=k, scope=scope)

    def consolidate(self) -> None:
        self.told("consolidate")

    def count(self) -> int:
        self.told("count")
        return len(self.kept)

    def advance(self, by: timedelta) -> None:
        self.told("advance")


# Of both searches that a probe takes, as in the column error of a run.
NO_ROUTE = "cold search: {0}; {0}".format("ConnectionError: no route to the index")


def test_failing_searches_are_rows_and_the_growth_goes_on() -> None:
    made = grown(store=FailingLate)
    last = made.drift_probes[made.drift_probes["session"] == 8]
    assert set(last["status"]) == {"failed"} and not last["recall_all"].any()
    assert set(made.lost["cause"]) == {"failed"}
    assert made.manifest["complete"] and made.checkpoints["n_searches"].iloc[-1] == 0
    assert made.errors == made.drift_probes["status"].eq("failed").sum() == 2 * len(last)
    assert made.manifest["search_errors"] == [NO_ROUTE]


def test_failed_searches_fail_a_simulation_before_any_trend_unless_they_are_allowed() -> None:
    made = grown(store=FailingLate)
    n, verdict = made.errors, made.verdict
    assert n and verdict.word == "FAIL" and verdict.exit_code == 1
    said = f"{n} searches failed, 0 allowed; the first error: {NO_ROUTE}; in 3 probes"
    assert verdict.reason.startswith(said) and "--allow-errors" in verdict.next_step
    assert said in " ".join(repr(made).split())
    fewer = replace(made, allow_errors=n - 1).verdict.reason
    assert fewer.startswith(f"{n} searches failed, {n - 1} allowed")
    assert "failed" not in grown(store=FailingLate, allow_errors=n).verdict.reason
    with pytest.raises(MemevalError, match="allow_errors is -1"):
        grown(store=odd_stores, allow_errors=-1)


def test_errors_that_are_allowed_and_their_texts_are_saved_and_resumed(tmp_path: Path) -> None:
    journal = tmp_path / "journal.jsonl"
    made = grown(store=FailingLate, allow_errors=3, journal=journal)
    again = grown(store=FailingLate, allow_errors=3, journal=journal, resume=True)
    assert timeless(again, tmp_path / "a") == timeless(made, tmp_path / "m")
    read = load_simulation(save_simulation(made, tmp_path / "saved.json"))
    assert read.allow_errors == 3 and read.verdict == made.verdict


class Hesitant(SqliteStore):
    """Says nothing until it holds forty records, then whatever is nearest."""

    n = 0

    def put(self, record: Record) -> Any:
        self.n += 1
        return super().put(record)

    def search(self, query: str, **more: Any) -> Any:
        quiet = "car" in query and self.n <= 40
        return [] if quiet else super().search(query, **more)


def test_of_a_negative_that_did_not_abstain_the_ids_that_came_back_are_told() -> None:
    told = (Record("tea", "Priya drinks tea in Porto."),)
    probe = Probe("car", "Which car does Priya drive?", told, [], names=["Priya"])
    lost = grown([probe], store=Hesitant).lost
    assert set(lost["cause"]) == {"did_not_abstain"} and lost["displaced_by"].notna().all()


@pytest.mark.parametrize("method", ["put", "consolidate", "count", "advance"])
def test_a_store_that_fails_to_grow_is_an_error_in_words(method: str) -> None:
    with pytest.raises(StoreError, match="no route to the index.*mend the adapter"):
        grown(store=lambda: FailingLate(method))


def test_a_store_that_cannot_be_made_or_finds_nothing_is_refused() -> None:
    with pytest.raises(StoreError, match="record written, not found"):
        grown(store=odd_stores.WrongPartition)
    with pytest.raises(StoreError, match="holds 1 records already"):
        grown(store=odd_stores.Filled)


def test_calls_are_limited() -> None:
    with pytest.raises(CallLimitError, match="at most 60 were allowed"):
        grown(max_calls=60)


def test_the_calls_of_a_plan_are_those_that_are_made() -> None:
    writes, searches = plan_simulation(small(), sessions=8, every=4, cohorts=2).calls
    beside = 8  # the self check writes and searches a few records of its own
    grown(max_calls=writes + searches + beside)
    with pytest.raises(CallLimitError):
        grown(max_calls=writes + searches - 1)


def test_a_search_that_hangs_is_a_timeout() -> None:
    made_of: list[odd_stores.Hanging] = []

    def make() -> odd_stores.Hanging:
        made_of.append(odd_stores.Hanging("kayak", 3.0))
        return made_of[-1]

    source = [Session(n, None, (Record(f"s{n}", "note"),)) for n in range(2)]
    made = grown(store=make, timeout_s=0.05, sessions=2, every=1, cohorts=1, source=source)
    for store in made_of:
        store.free.set()
    status = made.drift_probes.groupby("probe")["status"].agg(set).to_dict()
    assert status == {"office0": {"timeout"}, "office1": {"ok"}, "office2": {"ok"}}


def test_a_hanging_scratch_ends_the_growth_with_words() -> None:
    class Slow(SqliteStore):
        def search(self, query: str, **options: Any) -> list[Hit]:
            if "kayak" in query and self.count() > 30:
                time.sleep(0.4)
            return super().search(query, **options)

    with pytest.raises(StoreError, match=r"reached its limit of 0\.2 s and may still hold"):
        grown(store=Slow, timeout_s=0.2)


def test_a_pipeline_is_graded_in_place_of_search() -> None:
    def nothing(store: Any, view: Any) -> list[Hit]:
        return [] if "keep" in view.query else store.search(view.query, k=view.k, scope=view.scope)

    made = grown(retrieve=nothing)
    assert not made.drift_probes["passed"].any()
    assert made.manifest["options"]["retrieve"].endswith("nothing")


def test_sessions_come_from_any_source() -> None:
    listed = list(Generator(seed=3, scopes=("team",)).sessions(8))
    from_list, from_call = grown(source=listed), grown(source=lambda n: listed[:n])
    assert from_list.checkpoints["n_records"].equals(from_call.checkpoints["n_records"])
    assert from_list.manifest["source"] == from_call.manifest["source"]
    assert from_list.manifest["source"] != grown(source=listed[:7]).manifest["source"]


def test_sources_that_differ_in_anything_a_store_is_told_have_other_names() -> None:
    at = datetime(2026, 3, 1, 9, tzinfo=UTC)
    one = Record("s1", "note", "team", at, "u", (), None, {"n": 1, "by": at})
    base = Session(0, at, (one, Delete("s1"), Advance(timedelta(days=1))))
    day = timedelta(days=1)
    changed = [{"id": "s2"}, {"text": "nota"}, {"scope": "all"}, {"at": at + day}, {"unit": "v"},
               {"supersedes": ("s0",)}, {"expires": at + day}, {"meta": {"n": 2}}]  # fmt: skip
    others = [replace(base, ops=(replace(one, **change), *base.ops[1:])) for change in changed]
    others += [replace(base, at=at + day), replace(base, ops=base.ops[::-1])]
    others += [replace(base, ops=(one, Delete("s1"), Advance(2 * day)))]
    named = [source_of(planned_once(session), False) for session in (base, *others)]
    assert len(set(named)) == len(named) == 12
    assert source_of(planned_once(replace(base)), False) == named[0]


def planned_once(session: Session) -> Plan:
    return Plan((session,), {}, (0,), (), renaming([], 1), 1)


def test_a_source_that_is_shorter_ends_sooner_and_says_so() -> None:
    listed = list(Generator(seed=3, scopes=("team",)).sessions(5))
    made = grown(source=listed)
    assert list(made.checkpoints["session"]) == [0, 4, 5] and made.manifest["complete"]
    assert "the source ended after 5 sessions, asked for were 8" in made.manifest["notes"]


def test_deletes_of_sessions_are_left_out_where_the_store_has_none() -> None:
    source = [Session(n, None, (Record(f"s{n}", f"note {n}"), Delete(f"s{n}"))) for n in range(8)]
    made = grown(source=source)
    assert made.checkpoints["n_kept"].iloc[-1] == 12
    bare = grown(source=source, store=odd_stores.Plain)
    assert any(note.startswith("8 deletes and advances") for note in bare.manifest["notes"])


def test_time_passes_and_the_store_tidies_up_where_it_can() -> None:
    told: list[Any] = []

    class Living(odd_stores.Plain):
        def advance(self, by: timedelta) -> None:
            told.append(by)

        def consolidate(self) -> None:
            told.append("consolidate")

    at = datetime(2026, 1, 1, tzinfo=UTC)
    source = [Session(n, at + timedelta(days=n), (Record(f"s{n}", f"note {n}"),)) for n in range(4)]
    made = grown(store=Living, source=source, sessions=4, every=2, consolidate_every=2)
    day = timedelta(days=1)
    assert told == [day, "consolidate", day, day, "consolidate"]
    assert list(made.checkpoints["consolidated"]) == [False, True, True]


def test_asking_leaves_no_trace_in_a_store_that_learns() -> None:
    class Learning(SqliteStore):
        def search(self, query: str, *, k: int, scope: str, **more: Any) -> list[Hit]:
            found = super().search(query, k=k, scope=scope, **more)
            self.put_many([Record(f"read {self.count()}", query, scope)])
            return found

    made = grown(store=Learning)
    assert made.checkpoints["n_kept"].equals(grown().checkpoints["n_kept"])


def test_a_leak_of_a_copy_in_the_same_words_is_a_leak() -> None:
    """Cohort 4 is asked, and what comes back is the record that cohort 0 had deleted."""
    gone = Record("code", "The door code is 4711.", "team")
    probe = replace(office(0), given=(gone, *office(0).given, Delete("code")), forbid=("code",))

    class Remembering(SqliteStore):
        """Deletes all but the first copy of a record."""

        def delete(self, store_id: str, *, scope: str | None = None) -> bool:
            first = store_id.startswith("code") and store_id.endswith("-0")
            return True if first else super().delete(store_id, scope=scope)

        def search(self, query: str, *, k: int, scope: str, **more: Any) -> list[Hit]:
            found = super().search(query, k=k, scope=scope, **more)
            return found + (
                super().search("door code", k=3, scope=scope) if "kayak" in query else []
            )

    made = grown([probe], store=Remembering)
    leaks = made.drift_probes.groupby("cohort")["n_leaked"].max().to_dict()
    assert leaks == {0: 1, 4: 1, 8: 1} and made.verdict.word == "FAIL"
    sound = grown([probe])
    assert sound.drift_probes["n_leaked"].eq(0).all() and sound.drift_probes["passed"].all()


def test_a_sibling_that_expires_later_is_no_leak() -> None:
    at = datetime(2026, 1, 1, tzinfo=UTC)
    card = Record("card", "The pool card opens the gate.", "team", at, expires=at + timedelta(1))
    probe = replace(
        office(0), given=(card, replace(office(0).records[0], at=at)), forbid=("card",),
        now=at + timedelta(days=2),
    )  # fmt: skip

    class Gated(SqliteStore):
        def search(self, query: str, *, k: int, scope: str, **more: Any) -> list[Hit]:
            found = super().search(query, k=k, scope=scope, **more)
            return found + super().search("pool card", k=3, scope=scope, now=more.get("now"))

    made = grown([probe], store=Gated)
    assert made.drift_probes["n_leaked"].eq(0).all()


def test_probes_that_disturb_each_other_are_told() -> None:
    """All ask alike, and k is 1: alone each finds its own, together one of them does."""
    probes = [
        Probe(f"p{n}", "Where is the kayak?", [Record("r", f"The kayak is here{n}.")], ["r"], k=1)
        for n in range(4)
    ]
    made = grown(probes, source=[Session(n, None, (Record(f"s{n}", "note"),)) for n in range(8)])
    told = made.manifest["neighbours"]
    assert told["n"] == 4 and told["share"] == 0.75 and len(told["probes"]) == 3
    assert any(
        note.startswith("3 of 4 probes come out otherwise") for note in made.manifest["notes"]
    )


@pytest.fixture(scope="module")
def shipped() -> Suite:
    return load(ROOT / "probes")


def recall(simulation: Simulation, cohort: int | None, session: int) -> float:
    """Recall of the probes that can be planted often, of one cohort or of the fresh one."""
    rows = simulation.drift_probes
    often = rows.loc[rows["cohort"] > 0, "probe"].unique()
    here = rows[(rows["session"] == session) & rows["probe"].isin(often)]
    planted = session if cohort is None else cohort
    return float(here.loc[here["cohort"] == planted, "recall_all"].mean())


def test_a_capped_store_forgets_what_is_old_and_keeps_what_is_fresh(shipped: Suite) -> None:
    made = run_simulation(shipped, Capped, sessions=80, every=40, cohorts=1)
    start = recall(made, 0, 0)
    assert start > 0.7
    assert recall(made, 0, 80) == 0.0
    assert math.isclose(recall(made, None, 80), start, abs_tol=0.05)
    assert made.trend.verdict == "decline" and made.verdict.exit_code == 1
    assert made.growth.verdict in ("plateau", "bent")
    assert set(made.lost.loc[made.lost["cause"].notna(), "cause"]) >= {"not_stored"}


def test_a_store_in_which_memories_fade_forgets_by_age_alone(shipped: Suite) -> None:
    made = run_simulation(shipped, Decaying, sessions=120, every=60, cohorts=2)
    start = recall(made, 0, 0)
    assert start > 0.7 and recall(made, 0, 120) < 0.2
    assert math.isclose(recall(made, None, 120), start, abs_tol=0.1)
    assert made.trend.verdict == "decline"


def test_a_store_that_keeps_all_is_only_crowded(shipped: Suite) -> None:
    made = run_simulation(shipped, "sqlite", sessions=80, every=40, cohorts=2)
    start = recall(made, 0, 0)
    assert start - 0.15 < recall(made, 0, 80) <= start + 0.05
    assert made.trend.drop < 0.05 and made.growth.verdict == "linear"
    assert made.drift_probes["n_leaked"].eq(0).all()


def test_interrupted_before_anything_was_asked_it_stops() -> None:
    class Stopping(odd_stores.Plain):
        def put(self, record: Record) -> Any:
            if len(self.kept) == 3:
                raise KeyboardInterrupt
            return super().put(record)

    with pytest.raises(KeyboardInterrupt):
        grown(store=Stopping)


def stop_at(records: int) -> Any:
    def tell(done: int, total: int, label: str) -> None:
        assert 0 < done <= total and "checkpoint" in label
        if done >= records:
            raise KeyboardInterrupt

    return tell


def test_interrupted_later_it_gives_what_there_is_and_goes_on_the_same(tmp_path: Path) -> None:
    journal = tmp_path / "j.jsonl"
    place = odd_stores.Place("namespace")
    cut = grown(journal=journal, progress=stop_at(100), store=lambda: odd_stores.Client(place))
    assert not cut.manifest["complete"] and 0 < cut.manifest["sessions_done"] < 8
    assert place.kept == {} and len(cut.checkpoints) in (1, 2)
    assert any("ended by the keyboard after" in note for note in cut.manifest["notes"])
    whole = grown(store=lambda: odd_stores.Client(place))
    again = grown(store=lambda: odd_stores.Client(place), journal=journal, resume=True)
    assert timeless(again, tmp_path / "a") == timeless(whole, tmp_path / "b")


class Forgetful(Capped):
    """Keeps thirty records, and has something to tidy up."""

    most = 30

    def consolidate(self) -> None:
        """Nothing that could be seen."""


def test_what_came_before_is_known_when_it_goes_on(tmp_path: Path) -> None:
    """Which probes passed (for the cause of a loss), and whether the store tidied up since."""
    told: dict[str, Any] = {"store": Forgetful, "sessions": 5, "every": None,
                            "checkpoints": [0, 3, 5], "consolidate_every": 3}  # fmt: skip
    whole = grown(**told)
    assert list(whole.checkpoints["consolidated"]) == [False, True, False]
    assert set(whole.lost["cause"]) == {"not_stored"}

    for session in (1, 4):

        def stop(done: int, total: int, label: str, cut: str = f"session {session} of") -> None:
            if cut in label:
                raise KeyboardInterrupt

        grown(**told, journal=tmp_path / "j.jsonl", progress=stop)
        again = grown(**told, journal=tmp_path / "j.jsonl", resume=True)
        assert timeless(again, tmp_path / "a") == timeless(whole, tmp_path / "b")


def test_what_the_journal_has_is_not_asked_again(tmp_path: Path) -> None:
    journal = tmp_path / "j.jsonl"
    asked: list[str] = []

    class Counting(SqliteStore):
        def search(self, query: str, **options: Any) -> list[Hit]:
            asked.append(query)
            return super().search(query, **options)

    grown(store=Counting, journal=journal)
    before = len(asked)
    grown(store=Counting, journal=journal, resume=True)
    assert len(asked) - before <= 4  # the self check


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"seed": 8}, "seed was 7, now it is 8"),
        ({"sessions": 9}, "sessions was 8, now it is 9"),
        ({"suite": small(2)}, "suite was"),
        ({"every": 2}, "checkpoints had"),
        ({"contract_checks": False}, "options.contract_checks was True, now it is False"),
        ({"store": "sqlite-plain"}, "store.*was"),
        ({"source": [*Generator().sessions(8)]}, "source was 'generator, .*now it is 'own"),
    ],
)
def test_the_journal_of_another_simulation_is_refused(
    change: dict[str, Any], said: str, tmp_path: Path
) -> None:
    grown(journal=tmp_path / "j.jsonl")
    with pytest.raises(RunFileError, match=said):
        grown(**{"journal": tmp_path / "j.jsonl", "resume": True, **change})


def test_a_journal_that_cannot_be_written_is_refused_before_the_growth(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(MemevalError, match="cannot write the journal"):
        grown(journal=tmp_path / "file" / "j.jsonl")


DYING = """
import os, signal, sys
from pathlib import Path
from memeval.files import journal as journals
from memeval.simulate import run_simulation
from memeval.simulation import save_simulation
from memeval.stores.sqlite import SqliteStore
from tests.growing_stores import small

folder, points = Path(sys.argv[1]), sys.argv[2:]

class Dying(SqliteStore):
    calls, last = 0, 0

    def put_many(self, records):
        self.step()
        return super().put_many(records)

    def search(self, query, **options):
        self.step()
        return super().search(query, **options)

    def step(self):
        Dying.calls += 1
        if Dying.calls == Dying.last:
            os.kill(os.getpid(), signal.SIGKILL)

def simulate(**more):
    return run_simulation(small(2), Dying, sessions=6, every=2, cohorts=2, **more)

def torn(at):
    def opening(path, mode):
        file = open(path, mode)
        torn.lines += 1
        if torn.lines == at:
            class Half:
                def __enter__(self): return self
                def __exit__(self, *told): pass
                def write(self, line):
                    file.write(line[: len(line) // 2])
                    file.flush()
                    os.kill(os.getpid(), signal.SIGKILL)
            return Half()
        return file
    torn.lines = 0
    journals.open = opening

save_simulation(simulate(), folder / "whole.json")
print(Dying.calls, flush=True)
for point in points:
    journal = folder / f"{point}.jsonl"
    child = os.fork()
    if not child:
        kind, _, number = point.partition("-")
        Dying.calls = 0
        if kind == "call":
            Dying.last = int(number)
        else:
            torn(int(number))
        simulate(journal=journal)
        os._exit(3)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL, (point, status)
    Dying.calls = Dying.last = 0
    save_simulation(simulate(journal=journal, resume=True), folder / f"{point}.json")
    print(point, Dying.calls, flush=True)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a system with fork")
def test_killed_anywhere_it_goes_on_and_comes_to_the_same(tmp_path: Path) -> None:
    def run(*points: str) -> list[str]:
        done = subprocess.run(
            [sys.executable, "-c", DYING, str(tmp_path), *points],
            cwd=ROOT, env={"PYTHONPATH": str(ROOT), "PATH": os.environ["PATH"]},
            capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    n = int(run()[0])
    rng = random.Random(7)
    points = [f"call-{at}" for at in rng.sample(range(1, n + 1), 17)]
    points += [f"line-{at}" for at in (2, 3, 4)]  # half a line of the first three checkpoints
    told = run(*points)
    whole = timeless(load_simulation(tmp_path / "whole.json"), tmp_path / "w")
    for point in points:
        made = timeless(load_simulation(tmp_path / f"{point}.json"), tmp_path / "m")
        assert made == whole, point
    calls = {line.split()[0]: int(line.split()[1]) for line in told[1:]}
    assert calls["line-4"] < calls["line-2"] < n + 5  # what was on disk was not asked again


def test_a_transcript_grows_a_store() -> None:
    turns = tuple(
        Turn(f"Turn {n} is about ships and harbours.", "user", f"message {n}") for n in range(6)
    )
    sessions = list(sessions_of_transcript(Transcript("t", turns)))
    made = grown(source=sessions, every=1)
    assert made.manifest["complete"] and made.manifest["sessions"] == len(sessions)


def test_the_public_name_is_the_same() -> None:
    assert me.run_simulation is run_simulation


def chain() -> Iterator[Session]:
    yield from Generator(seed=5, scopes=("team",)).sessions(10**6)


def test_an_endless_source_is_cut() -> None:
    assert grown(source=chain()).manifest["sessions"] == 8


@pytest.mark.parametrize("at", [datetime(2024, 1, 1), "2024-01-01"])
def test_a_session_without_a_real_time_is_refused_before_anything_is_written(at: Any) -> None:
    good = Session(0, datetime(2024, 1, 1, tzinfo=UTC), (Record("a", "Tea."),))
    with pytest.raises(MemevalError, match="session 1 begins at .*wanted a datetime with a time"):
        grown(store=odd_stores, source=[good, Session(1, at, (Record("b", "Milk."),))])


@pytest.mark.parametrize(
    "odd", [{"margin": -1.0}, {"margin": math.nan}, {"budget_ms": 0.0}, {"budget_ms": math.nan}]
)
def test_a_bound_that_cannot_be_read_with_is_refused_before_the_store_is_made(odd: Any) -> None:
    with pytest.raises(MemevalError, match=f"{next(iter(odd))} is .*wanted"):
        grown(store=odd_stores, **odd)


def test_checkpoints_may_come_from_an_iterator() -> None:
    made = grown(every=None, checkpoints=iter([3, 8]))
    assert made.checkpoints["session"].tolist() == [0, 3, 8]
