"""A clean store for every history, whatever that takes with the store at hand."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import odd_stores as odd
import pytest

from memeval.errors import StoreError
from memeval.harness import collecting
from memeval.harness.workspace import Desk, Workspace
from memeval.probe import Probe
from memeval.record import Delete, Record
from memeval.runner import run
from memeval.stores.base import Capabilities
from memeval.stores.bound import BoundStore, Meter

WAYS: dict[str, type[odd.Client]] = {
    "clear": odd.Clearing,
    "fork": odd.Scratching,
    "namespace": odd.Client,
}


def binder(make: Callable[[], Any], **options: Any) -> Callable[[], BoundStore]:
    meter = Meter(options.pop("limit", None))
    return lambda: BoundStore(make(), meter=meter, **options)


def workspace(place: odd.Place, **options: Any) -> Workspace:
    kind = WAYS[place.declared.isolation]
    return Workspace(binder(lambda: kind(place)), place.declared, **options)


def found(desk: Desk, query: str = "noodles", scope: str = "ana") -> list[str | None]:
    hits = desk.store.search(desk.view(Probe("p", query, scope=scope)))
    return [desk.ids.resolve(hit)[0] for hit in hits]


@pytest.mark.parametrize("way", ["fresh", *WAYS])
def test_a_history_finds_what_it_wrote_and_nothing_of_the_one_before(way: str) -> None:
    if way == "fresh":
        space = Workspace(binder(odd.Counting), Capabilities())
    else:
        space = workspace(odd.Place(way))
    for key in ("one", "two", "one"):
        with space.clean(key) as desk:
            assert found(desk) == []
            desk.write_all([Record("r1", f"noodles {key}", "ana"), Record("r2", "tram", "ana")])
            assert found(desk) == ["r1"]
    space.close()
    assert (space.isolation, space.left_behind) == (way, 0)


@pytest.mark.parametrize("way", WAYS)
def test_nothing_is_left_in_a_place_of_the_user(way: str) -> None:
    place = odd.Place(way)
    space = workspace(place)
    for key in ("one", "two"):
        with space.clean(key) as desk:
            desk.write_all([Record("r1", "noodles", "ana"), Record("r1", "noodles 2", "ana")])
    space.close()
    assert place.kept == {}


@pytest.mark.parametrize("way", WAYS)
def test_nothing_is_left_when_an_error_ends_the_history(way: str) -> None:
    place = odd.Place(way)
    space = workspace(place)
    with pytest.raises(KeyboardInterrupt), space.clean("one") as desk:
        desk.write_all([Record("r1", "noodles", "ana")])
        raise KeyboardInterrupt
    space.close()
    assert place.kept == {}


@pytest.mark.parametrize("way", WAYS)
def test_a_store_that_is_not_empty_is_refused_and_stays_as_it_is(way: str) -> None:
    place = odd.Place(way)
    place.kept["theirs"] = Record("theirs", "noodles", "ana")
    with pytest.raises(StoreError, match=r"holds 1 records already, wanted an empty one.*or say"):
        with workspace(place).clean("one"):
            pass
    assert list(place.kept) == ["theirs"]
    assert place.calls == []


def test_a_fresh_store_that_is_not_empty_is_refused_each_time() -> None:
    stores: list[Any] = [odd.Counting(), odd.Filled()]
    space = Workspace(binder(lambda: stores.pop(0)), Capabilities())
    with space.clean("one"):
        pass
    with pytest.raises(StoreError, match="holds 1 records already"), space.clean("two"):
        pass


def test_clear_is_never_called_on_records_of_somebody_else() -> None:
    place = odd.Place("clear")
    place.kept["theirs"] = Record("theirs", "noodles", "ana")
    with pytest.raises(StoreError, match="would clear records that memeval did not write"):
        with workspace(place, allow_nonempty=True).clean("one"):
            pass
    assert list(place.kept) == ["theirs"] and "clear" not in place.calls


def test_a_clear_that_says_ok_and_leaves_records_is_found_out() -> None:
    place = odd.Place("clear")
    space = Workspace(binder(lambda: odd.ClearingBadly(place)), place.declared)
    with pytest.raises(StoreError, match=r"clear\(\) returned and left 1 records"):
        with space.clean("one") as desk:
            desk.write_all([Record("r1", "noodles", "ana")])


class ClearingSlowly(odd.Clearing):
    """Takes its time to be emptied."""

    def clear(self) -> None:
        time.sleep(0.12)
        super().clear()


def test_the_time_of_emptying_is_told_and_stands_in_no_latency(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(collecting, "TOLD_FROM_S", 0.2)
    probes = [Probe(name, "noodles", [Record("r1", "noodles")], ["r1"]) for name in ("a", "b")]
    place = odd.Place("clear")
    started = time.perf_counter()
    made = run(probes, lambda: ClearingSlowly(place))
    whole = time.perf_counter() - started
    # Emptied after each of two histories, 0.12 s each time.
    (told,) = [note for note in made.manifest.notes if "emptying" in note]
    assert 0.2 <= float(told.split(" took ")[1].split(" s")[0]) <= whole + 0.05  # one decimal
    times = made.calls[["write_ms", "cold_ms", "latency_ms"]].sum(axis=None)
    assert times / 1000 <= whole - 2 * 0.12  # no part of them, however slow the machine
    quick = run(probes, lambda: odd.Clearing(place))
    assert not [note for note in quick.manifest.notes if "emptying" in note]


@pytest.mark.parametrize(("way", "lacks"), [("clear", "clear"), ("fork", "scratch")])
def test_a_store_without_the_means_that_it_declares_is_refused(way: str, lacks: str) -> None:
    place = odd.Place(way)
    space = Workspace(binder(lambda: odd.Client(place)), place.declared)
    with pytest.raises(StoreError, match=rf"declares isolation '{way}' and has no {lacks}\(\)"):
        with space.clean("one"):
            pass


def test_a_namespace_sees_scopes_and_ids_of_its_own() -> None:
    place = odd.Place("namespace")
    with workspace(place).clean("one") as desk:
        desk.write_all(
            [
                Record("r1", "noodles", "ana"),
                Record("r2", "soup", "ana2", supersedes=("r1",), unit="lunch", meta={"a": 1}),
            ]
        )
        (first, second) = place.kept.values()
        assert first.id.endswith("-r1") and first.scope.endswith("-ana")
        assert second.scope == first.scope + "2"  # the names still collide as a prefix
        assert second.supersedes == (first.id,)
        assert (second.unit, second.meta) == (None, {"a": 1})
        assert found(desk, "soup", "ana2") == ["r2"]


def test_records_of_others_stay_when_a_namespace_is_cleaned_up() -> None:
    place = odd.Place("namespace")
    place.kept["theirs"] = Record("theirs", "noodles", "ana")
    space = workspace(place, allow_nonempty=True)
    with space.clean("one") as desk:
        desk.write_all([Record("r1", "noodles", "ana")])
        assert found(desk) == ["r1"]
    space.close()
    assert list(place.kept) == ["theirs"]
    assert space.left_behind == 0


class Undeletable(odd.Client):
    delete = None  # type: ignore[assignment]


class Uncounted(odd.Client):
    count = None  # type: ignore[assignment]


@pytest.mark.parametrize("counts", [True, False])
def test_what_cannot_be_removed_is_counted(counts: bool) -> None:
    place = odd.Place("namespace")
    kind = type("Kind", (Undeletable,) if counts else (Undeletable, Uncounted), {})
    space = Workspace(binder(lambda: kind(place)), place.declared)
    for key in ("one", "two"):
        with space.clean(key) as desk:
            desk.write_all([Record("r1", "noodles", "ana"), Record("r2", "tram", "ana")])
            assert found(desk) == ["r1"]
    space.close()
    assert space.left_behind == 4


def test_a_delete_that_says_ok_and_leaves_records_is_found_out_by_the_count() -> None:
    place = odd.Place("namespace")
    kind = type("Kind", (odd.Client,), {"delete": lambda self, store_id: "ok"})
    space = Workspace(binder(lambda: kind(place)), place.declared)
    with space.clean("one") as desk:
        desk.write_all([Record("r1", "noodles", "ana")])
    space.close()
    assert space.left_behind == 1


def test_a_delete_that_raises_is_counted_and_the_answers_are_kept() -> None:
    def refuse(self: Any, store_id: str) -> None:
        raise PermissionError("read only")

    place = odd.Place("namespace")
    kind = type("Kind", (odd.Client,), {"delete": refuse, "count": None})
    space = Workspace(binder(lambda: kind(place)), place.declared)
    with space.clean("one") as desk:
        desk.write_all([Record("r1", "noodles", "ana")])
    assert space.left_behind == 1


class Copying(odd.Client):
    """Adds a copy when an id is written again, and gives it an id of its own."""

    def put(self, record: Record) -> Any:
        store_id = f"{record.id}#{len(self.kept)}"
        self.kept[store_id] = Record(store_id, record.text, record.scope)
        return store_id


def test_every_copy_that_updates_left_is_removed() -> None:
    place = odd.Place("namespace")
    space = Workspace(binder(lambda: Copying(place)), place.declared)
    with space.clean("one") as desk:
        desk.write_all(
            [
                Record("r1", "noodles", "ana"),
                Record("r1", "soup", "ana"),
                Record("r2", "rice", "ana"),
                Delete("r2"),
            ]
        )
    assert place.kept == {}


class FailingThird(odd.Client):
    def put(self, record: Record) -> Any:
        if record.id.endswith("r3"):
            raise ConnectionError("429")
        return super().put(record)


def test_records_written_before_a_write_failed_are_removed() -> None:
    place = odd.Place("namespace")
    space = Workspace(binder(lambda: FailingThird(place)), place.declared)
    with pytest.raises(ConnectionError), space.clean("one") as desk:
        desk.write_all([Record(f"r{n}", "noodles", "ana") for n in range(1, 5)])
    assert place.kept == {} and space.left_behind == 0


def test_records_of_a_batch_that_failed_are_counted_as_left() -> None:
    def put_many(self: Any, records: list[Record]) -> None:
        raise ConnectionError("gone")

    place = odd.Place("namespace")
    kind = type("Kind", (odd.Client,), {"put_many": put_many, "count": None})
    space = Workspace(binder(lambda: kind(place)), place.declared)
    with pytest.raises(ConnectionError), space.clean("one") as desk:
        desk.write_all([Record(f"r{n}", "noodles", "ana") for n in range(1, 5)])
    assert space.left_behind == 4


def test_cleaning_up_goes_on_past_the_limit_of_calls() -> None:
    place = odd.Place("namespace")
    space = Workspace(binder(lambda: odd.Client(place), limit=2), place.declared)
    with space.clean("one") as desk:
        desk.write_all([Record("r1", "noodles", "ana"), Record("r2", "tram", "ana")])
    assert place.kept == {}


def test_where_an_earlier_run_may_have_left_records_names_are_of_this_run_alone() -> None:
    def first_id(count: Any, filled: bool = False) -> str:
        place = odd.Place("namespace")
        if filled:
            place.kept["theirs"] = Record("theirs", "x", "them")
        kind = type("Kind", (odd.Client,), {} if count else {"count": None})
        space = Workspace(binder(lambda: kind(place)), place.declared, allow_nonempty=filled)
        with space.clean("one") as desk:
            desk.write_all([Record("r1", "noodles", "ana")])
            return list(place.kept)[-1]

    assert first_id(count=True) == first_id(count=True)  # known to be empty: same seed, same table
    assert first_id(count=False) != first_id(count=False)
    assert first_id(count=True, filled=True) != first_id(count=True, filled=True)


def test_a_second_run_does_not_find_what_the_first_could_not_remove() -> None:
    place = odd.Place("namespace")
    kind = type("Kind", (Undeletable,), {"count": None})
    probe = Probe("p", "noodles", [Record("r1", "noodles", "ana")], ["r1"], scope="ana")
    runs = [run([probe], lambda: kind(place)) for _ in range(2)]
    for made in runs:
        assert made.hits["record_id"].tolist() == ["r1"]
        assert made.passed


def test_slow_writes_make_a_fresh_store_a_shared_one_with_namespaces() -> None:
    slow = Workspace(binder(odd.Deleting), Capabilities(), slow=True)
    assert slow.isolation == "namespace"
    with slow.clean("one") as desk:
        desk.write_all([Record("r1", "noodles", "ana")])
    with slow.clean("two") as other:
        assert other.store is desk.store
        assert other.store.inner.kept == {}
    for declared in (Capabilities(scoping="none"), Capabilities(isolation="clear")):
        assert Workspace(binder(odd.Plain), declared, slow=True).isolation == declared.isolation


def test_what_a_store_does_to_its_records_does_not_reach_the_probe() -> None:
    class Scribbling(odd.Plain):
        def put(self, record: Record) -> Any:
            record.meta["seen"] = True  # type: ignore[index]
            record.meta.get("list", []).append(1)
            return super().put(record)

    records = [Record("r1", "noodles", "ana", meta={"list": []}), Record("r2", "tram", "ana")]
    with Workspace(binder(Scribbling), Capabilities()).clean("one") as desk:
        desk.write_all(records)
    assert [dict(record.meta) for record in records] == [{"list": []}, {}]


def test_neighbouring_records_go_to_the_store_in_one_call() -> None:
    calls: list[list[str]] = []

    class Bulk(odd.Deleting):
        def put_many(self, records: list[Record]) -> list[Any]:
            calls.append([record.id for record in records])
            return [self.put(record) for record in records]

    with Workspace(binder(Bulk), Capabilities()).clean("one") as desk:
        a, b, c = (Record(i, "x") for i in "abc")
        desk.write_all([a, b, a, c, Delete("a"), b])
    assert calls == [["a", "b"], ["a", "c"], ["b"]]


def test_delete_gets_every_id_of_the_receipt_and_the_own_id_where_there_is_none() -> None:
    told: list[str] = []

    class Noting(odd.Splitting):
        def delete(self, store_id: str) -> None:
            told.append(store_id)

    with Workspace(binder(Noting), Capabilities()).clean("one") as desk:
        desk.write_all([Record("a", "one two three"), Delete("a")])
    assert told == ["m-0", "m-1"]

    class Silent(odd.TextsOnly):
        def delete(self, store_id: str) -> None:
            del self.kept[store_id]

    with Workspace(binder(Silent), Capabilities()).clean("one") as desk:
        desk.write_all([Record("a", "noodles", "ana"), Delete("a")])
        assert found(desk) == []


@pytest.mark.parametrize("what", ["make", "close", "clear", "count"])
def test_a_store_that_fails_around_a_history_is_an_error_that_says_so(what: str) -> None:
    def fail(*_: object) -> None:
        raise OSError("disk full")

    place = odd.Place("clear" if what == "clear" else "fresh")
    kind = type("Kind", (odd.Clearing,), {} if what == "make" else {what: fail})
    make = fail if what == "make" else lambda: kind(place)
    with pytest.raises(StoreError, match=r"failed.*OSError: disk full.*wanted:"):
        with Workspace(binder(make), place.declared).clean("one"):
            pass
