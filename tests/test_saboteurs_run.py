"""Saboteurs in a run: witnesses, benign wrappers, odd stores, forks, and nothing that leaks."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from itertools import permutations
from pathlib import Path
from typing import Any

import odd_stores as odd
import pandas as pd
import pytest
from saboteur_stores import Listing, ids, told, write

import memeval as me
from memeval.harness.snapshots import Shelf
from memeval.record import Hit, Record
from memeval.resources import probes_folder
from memeval.runs import Run
from memeval.stores.bound import BoundStore, View
from memeval.stores.saboteurs import BENIGN, SABOTEURS, Saboteur
from memeval.stores.sqlite import SqliteStore
from memeval.suite import Suite

KINDS = {kind.name: kind for kind in (*SABOTEURS, *BENIGN)}
TIMED = ("slow_20ms", "linear_scan")
EQUIVALENT = "lexical_only"  # the embedded store finds nothing but shared words
WITNESSES = Path(me.__file__).parent / "stores" / "saboteurs" / "witnesses"


def run(
    kind: type[Saboteur], probes: Any, make: Callable[[], Any] = SqliteStore, *,
    saboteur_seed: int = 0, **options: Any,
) -> Run:  # fmt: skip
    kind.reset()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", me.WeakSuiteWarning)
        return me.run(probes, lambda: kind(BoundStore(make()), saboteur_seed), **options)


def answers(made: Run) -> list[list[Any]]:
    """What came back, and which checks it broke."""
    hits = made.hits[["probe", "repeat", "rank", "store_id", "text", "score"]]
    calls = made.calls[["probe", "repeat", "status", "breaches"]]
    return [*_rows(hits), *_rows(calls)]


@cache
def witness(name: str) -> Suite:
    return me.load(WITNESSES / f"{name}.yaml")


def _rows(frame: pd.DataFrame) -> list[list[Any]]:
    return frame.astype(object).where(frame.notna(), None).to_numpy().tolist()


def killing(sound: Run, broken: Run) -> list[str]:
    """Probes that kill: a gate or a check that fires only there, or a pass that is lost."""
    before, after = (made.results.set_index("probe").sort_index() for made in (sound, broken))
    fired = (after["n_leaked"] > before["n_leaked"]) | (after["n_contract"] > before["n_contract"])
    lost = before["passed"] & ~after["passed"]
    return list(after.index[fired | lost])


@pytest.fixture
def slept(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Seconds that the slow ones wanted to sleep, one entry a search."""
    naps: list[float] = []
    for name in TIMED:
        monkeypatch.setattr(KINDS[name], "sleep", staticmethod(naps.append))
    return naps


@pytest.fixture(scope="module")
def shipped() -> Suite:
    return me.load(probes_folder())


@pytest.mark.parametrize("kind", SABOTEURS, ids=lambda kind: kind.name)
def test_the_witness_alone_shows_the_fault_on_the_embedded_store(
    kind: type[Saboteur], slept: list[float]
) -> None:
    probes = list(witness(kind.name))
    sound, broken = run(Saboteur, probes), run(kind, probes)
    assert (answers(sound) == answers(broken)) == (kind.name in (*TIMED, EQUIVALENT))
    assert bool(slept) == (kind.name in TIMED)
    assert sound.results["passed"].all() == (kind.name != EQUIVALENT)


@pytest.mark.parametrize("kind", SABOTEURS, ids=lambda kind: kind.name)
def test_the_skeleton_pasted_into_a_suite_kills_in_the_haystack(
    kind: type[Saboteur], slept: list[float], tmp_path: Path
) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(kind.skeleton(), encoding="utf-8")
    suite = me.load(path)
    sound, broken = run(Saboteur, suite), run(kind, suite, saboteur_seed=3)
    assert bool(killing(sound, broken)) == (kind.name not in (*TIMED, EQUIVALENT))
    if kind.name in TIMED:  # more than a millisecond: 300 records of the haystack and its own
        assert min(slept) > 0.001


@pytest.mark.parametrize("kind", SABOTEURS, ids=lambda kind: kind.name)
def test_the_skeleton_says_first_what_to_replace_and_carries_its_tag(kind: type[Saboteur]) -> None:
    assert kind.skeleton().startswith("# Replace ") and kind.skeleton().isascii()
    probes = witness(kind.name)
    assert all(kind.tag in probe.tags for probe in probes)
    assert all(1 <= len(probe.given) <= 5 for probe in probes)


def test_each_witness_belongs_to_a_saboteur_and_all_fit_into_one_suite() -> None:
    assert {path.stem for path in WITNESSES.glob("*")} == {kind.name for kind in SABOTEURS}
    assert len(me.load(WITNESSES)) == len(SABOTEURS) + 3  # three faults take two probes


def test_the_witness_of_lexical_only_shows_on_a_store_that_knows_more_than_words() -> None:
    class Knowing(Listing):
        def search(self, query: str, *, k: int, scope: str) -> list[Hit]:
            return [Hit(r.id, r.text, 1.0) for r in self.kept.values() if r.scope == scope][:k]

    probes = list(witness("lexical_only"))
    sound, broken = (run(KINDS[name], probes, Knowing) for name in ("identity", "lexical_only"))
    assert killing(sound, broken) == [probes[0].name]


def test_the_summary_is_seen_by_a_canary_where_ids_and_texts_say_nothing() -> None:
    class Rewriting(Listing):
        capabilities = replace(Listing.capabilities, rewrites=True)

    probes = list(witness("mixing_summary"))
    broken = run(KINDS["mixing_summary"], probes, Rewriting)
    assert set(broken.hits["canary"].dropna()) == {"bronchoscopy"}
    assert killing(run(Saboteur, probes, Rewriting), broken) == [probes[0].name]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", BENIGN, ids=lambda kind: kind.name)
def test_benign_wrappers_change_no_set_of_ids_and_no_verdict(
    kind: type[Saboteur], seed: int, shipped: Suite
) -> None:
    shelf = SHELF if kind.touches == "answer" else None
    sound = unharmed()
    wrapped = run(kind, shipped, saboteur_seed=seed, shelf=shelf)
    sets = [
        made.hits.groupby("probe", observed=True)["store_id"].agg(frozenset).to_dict()
        for made in (sound, wrapped)
    ]
    assert sets[0] == sets[1]
    columns = ["probe", "status", "passed", "n_leaked", "n_contract"]
    pd.testing.assert_frame_equal(sound.results[columns], wrapped.results[columns])


SHELF = Shelf()  # of the embedded store as it is


@cache
def unharmed() -> Run:
    return run(Saboteur, me.load(probes_folder()), shelf=SHELF)


def test_jitter_moves_every_score_and_keeps_the_declared_order() -> None:
    class Distances(Listing):
        capabilities = replace(Listing.capabilities, score_order="low")

        def search(self, query: str, *, k: int, scope: str) -> list[Hit]:
            return [Hit(str(n), "x", score) for n, score in enumerate((0.5, 0.5, 0.7, 0.7))]

    orders = set()
    for seed in range(20):
        hits = told(KINDS["score_jitter"], [], Distances, seed).search("x", k=4, scope="s")
        scores = [hit.score or 0.0 for hit in hits]
        assert scores == sorted(scores) and not set(scores) & {0.5, 0.7}
        assert scores == pytest.approx([0.5, 0.5, 0.7, 0.7], rel=2e-9)
        orders.add("".join(hit.id or "" for hit in hits))
    assert orders == {"0123", "1023", "0132", "1032"}


def test_jitter_leaves_answers_without_scores_as_they_are() -> None:
    class Unscored(Listing):
        def search(self, query: str, *, k: int, scope: str) -> list[Hit]:
            return [Hit("b"), Hit("a")]

    assert told(KINDS["score_jitter"], [], Unscored).search("x", k=4, scope="s") == [
        Hit("b"), Hit("a")
    ]  # fmt: skip


def test_insertion_order_moves_no_record_across_one_that_it_is_about() -> None:
    ops = [
        Record("a", "one"), Record("b", "two"), Record("c", "three"),
        Record("d", "four", supersedes=("a",)), Record("e", "five"),
        Record("b", "six"), Record("f", "seven", supersedes=("x",)), Record("x", "eight"),
    ]  # fmt: skip
    orders = set()
    for seed in range(200):
        made = told(KINDS["insertion_order"], [], _Log, seed)
        receipts = made.put_many(ops)
        log = made.inner.inner.log
        assert [receipt.store_ids for receipt in receipts] == [(op.id,) for op in ops]
        assert sorted(log) == sorted(op.text for op in ops)
        assert log.index("one") < log.index("four") and log.index("two") < log.index("six")
        assert log.index("seven") < log.index("eight")
        orders.add(tuple(log))
    # a b c, then d e b f, since d is about a, then x, which f is about: 3! * 4! orders at most
    assert 72 < len(orders) <= 144
    assert {order[-1] for order in orders} == {"eight"}
    assert {order[:3] for order in orders} == set(permutations(("one", "two", "three")))


class _Log(Listing):
    def __init__(self) -> None:
        super().__init__()
        self.log: list[str] = []

    def put(self, record: Record) -> str:
        self.log.append(record.text)
        return super().put(record)


@pytest.mark.parametrize("kind", [*SABOTEURS, *BENIGN], ids=lambda kind: kind.name)
@pytest.mark.parametrize(
    "make", [odd.Async, odd.Assigning, odd.Forking], ids=lambda make: make.__name__
)
def test_saboteurs_stand_around_stores_of_any_kind(
    kind: type[Saboteur], make: Callable[[], Any], slept: list[float]
) -> None:
    probes = list(witness(kind.name)) if kind in SABOTEURS else _plain()
    made = run(kind, probes, make)
    assert set(made.calls["status"]) <= {"ok", "not_supported"}


def _plain() -> Sequence[me.Probe]:
    return list(witness("null"))


@pytest.mark.parametrize(
    "name",
    ["loses_newest", "forgets_oldest_10", "random", "newest_only", "constant"],
)
def test_what_was_noted_is_known_by_the_ids_that_the_store_gave(name: str) -> None:
    probes = list(witness(name))
    sound, broken = run(Saboteur, probes, odd.Assigning), run(KINDS[name], probes, odd.Assigning)
    assert answers(sound) != answers(broken)
    assert set(broken.hits["resolved_by"].dropna()) <= {"receipt", "text"}
    assert not broken.results["n_unknown"].sum()


def test_what_was_noted_is_known_by_its_text_where_hits_have_no_id() -> None:
    class Nameless(Listing):
        def search(self, query: str, *, k: int, scope: str) -> list[Hit]:
            return [replace(hit, id=None) for hit in super().search(query, k=k, scope=scope)]

    ops = [Record("a", "Old oak.", "s"), Record("b", "Old pine.", "s")]
    made = told(KINDS["loses_newest"], ops, Nameless)
    assert [hit.text for hit in made.search("old", k=5, scope="s")] == ["Old oak."]


class Chatty(Saboteur):
    """Written by a user: says how much was written, instead of an answer."""

    name = "chatty"

    def begin(self) -> None:
        super().begin()
        self.seen: list[str] = []

    def written(self, record: Record) -> list[Record]:
        self.seen.append(record.id)
        return [record]

    def answer(self, view: View) -> list[Hit]:
        return [Hit("r1", f"{len(self.seen)} written")]


@pytest.mark.parametrize("isolation", ["fresh", "fork", "scratch", "clear"])
def test_nothing_leaks_from_one_history_into_the_next(isolation: str) -> None:
    makers: dict[str, Callable[[], Any]] = {
        "fresh": Listing,
        "fork": odd.Forking,
        "scratch": SqliteStore,
        "clear": lambda: odd.Clearing(odd.Place("clear")),
    }
    given = [Record("r1", "Red kite."), Record("r2", "Red lamp.")]
    probes = [me.Probe(f"p{n}", "kite", given[: 1 + n % 2], ["r1"]) for n in range(4)]
    made = run(Chatty, probes, makers[isolation], repeats=2)
    said = made.hits.sort_values(["repeat", "probe"])["text"]
    assert list(said) == ["1 written", "2 written"] * 4


def test_a_stateless_saboteur_gives_the_snapshot_of_the_store_within() -> None:
    made = told(
        KINDS["reversed"], [Record("a", "Red kite."), Record("b", "Red lamp.")], SqliteStore
    )
    snapshot = made.snapshot()
    assert isinstance(snapshot, bytes)
    fork = made.fork(snapshot)
    assert type(fork) is KINDS["reversed"]
    assert ids(fork.search("red", k=5, scope="default")) == ids(
        made.search("red", k=5, scope="default")
    )


def test_a_fork_remembers_what_was_written_and_shares_none_of_it() -> None:
    made = told(KINDS["newest_only"], [Record("a", "Red kite.")], SqliteStore)
    snapshot = made.snapshot()
    made.put(Record("b", "Red lamp."))
    forks = [made.fork(snapshot) for _ in range(2)]
    forks[0].put(Record("c", "Red boat."))
    found = [ids(store.search("x", k=5, scope="default")) for store in (made, *forks)]
    assert found == [["b", "a"], ["c", "a"], ["a"]]


def test_scratch_forgets_what_was_written_within() -> None:
    made = told(KINDS["newest_only"], [], SqliteStore)
    with made.scratch():
        made.put(Record("a", "Red kite."))
        assert ids(made.search("x", k=5, scope="default")) == ["a"]
    assert made.search("x", k=5, scope="default") == []
    assert made.count() == 0


@pytest.mark.parametrize("kind", SABOTEURS, ids=lambda kind: kind.name)
def test_what_changes_only_the_asking_is_the_same_on_histories_from_a_shelf(
    kind: type[Saboteur], slept: list[float]
) -> None:
    if kind.touches != "search":
        return
    probes = Suite.of(list(witness(kind.name)))
    shelf = Shelf()
    run(Saboteur, probes, shelf=shelf)
    assert answers(run(kind, probes, shelf=shelf)) == answers(run(kind, probes))


@pytest.mark.parametrize("name", ["stale_cache", "shared_state", "scope_drops_all_other"])
def test_two_runs_of_what_reaches_across_histories_are_the_same(name: str) -> None:
    probes = list(witness(name))
    first, again = run(KINDS[name], probes), run(KINDS[name], probes)
    assert answers(first) == answers(again)
    backwards = run(KINDS[name], probes[::-1])
    assert killing(run(Saboteur, probes), first) == [probes[1].name]
    assert killing(run(Saboteur, probes), backwards) == [probes[0].name]


def test_one_seed_gives_one_answer_and_another_seed_another() -> None:
    probes = list(me.load(WITNESSES))
    for name in ("random", "shuffled", "score_jitter"):
        first, again, other = (run(KINDS[name], probes, saboteur_seed=seed) for seed in (7, 7, 8))
        assert answers(first) == answers(again) != answers(other)


def test_a_store_that_lacks_a_method_lacks_it_through_a_saboteur() -> None:
    made = Saboteur(BoundStore(odd.Plain()))
    for name in ("delete", "fork", "clear", "scratch", "snapshot", "count", "advance"):
        assert not hasattr(made, name)
    with pytest.raises(AttributeError, match="has no 'scratch'"):
        made.scratch  # noqa: B018


def test_writing_keeps_what_the_store_said_and_writes_only_once() -> None:
    made = told(KINDS["no_dedup"], [], odd.Assigning)
    write(made, [Record("a", "Red kite."), Record("a", "Red lamp.")])
    assert sorted(made.inner.inner.kept) == ["m-0", "m-1"]


@pytest.mark.parametrize("kind", SABOTEURS, ids=lambda kind: kind.name)
def test_nothing_is_left_behind_in_a_store_that_keeps_what_is_written(
    kind: type[Saboteur], slept: list[float]
) -> None:
    place = odd.Place("namespace")
    theirs = place.kept["theirs"] = Record("theirs", "Somebody else's tram ticket.", "them")
    made = run(kind, list(witness(kind.name)), lambda: odd.Client(place), allow_nonempty=True)
    assert place.kept == {"theirs": theirs}
    assert set(made.calls["status"]) <= {"ok", "not_supported"}
