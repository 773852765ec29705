"""A store for each cause, built to produce exactly it: the confusion matrix is diagonal."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pandas as pd
import pytest

from memeval import frames
from memeval.diagnosis import ORDER, diagnose
from memeval.errors import MemevalError
from memeval.neardup import near_duplicate_key
from memeval.probe import Probe
from memeval.record import Hit, Receipt, Record
from memeval.runner import run
from memeval.runs import Run
from memeval.stores.base import Capabilities
from memeval.stores.broken import meets
from memeval.stores.sqlite import SqliteStore
from memeval.text import tokens

HONOURS = frozenset({"filter", "supersedes"})


class Sound:
    """Ranks by shared words, newest first on ties, one record per thing said, scopes exact."""

    capabilities = Capabilities(score_order="high", honours=HONOURS)
    dedupe = True
    newest = True

    def __init__(self) -> None:
        self.kept: dict[str, Record] = {}

    def put(self, record: Record) -> Any:
        for old in record.supersedes:
            self.kept.pop(old, None)
        self.kept[record.id] = record
        return record.id

    def delete(self, store_id: str) -> None:
        self.kept.pop(store_id, None)

    def ranked(self, query: str, scope: str, filter: Any = None) -> list[tuple[float, Record]]:
        asked = set(tokens(query))
        mine = [r for r in self.kept.values() if r.scope == scope and meets(r.meta, filter)]
        found = [(float(len(asked & set(tokens(r.text)))), r) for r in mine]
        age = {r.id: n for n, r in enumerate(self.kept.values())}
        sign = -1 if self.newest else 1
        found = sorted((f for f in found if f[0]), key=lambda f: (-f[0], sign * age[f[1].id]))
        if not self.dedupe:
            return found
        first: dict[Any, tuple[float, Record]] = {}
        for one in found:
            first.setdefault(near_duplicate_key(one[1].text), one)
        return list(first.values())

    def search(self, query: str, *, k: int, scope: str, filter: Any = None) -> list[Hit]:
        return [Hit(r.id, r.text, score) for score, r in self.ranked(query, scope, filter)[:k]]


class Failing(Sound):
    def search(self, query: str, **options: Any) -> list[Hit]:
        if "kettle" in query:
            raise ConnectionError("503 from the index")
        return super().search(query, **options)


class Lossy(Sound):
    def put(self, record: Record) -> Any:
        return record.id if "kettle" in record.text else super().put(record)


class Refusing(Sound):
    def put(self, record: Record) -> Any:
        return Receipt("rejected") if "kettle" in record.text else super().put(record)


class Late(Sound):
    """A record can be found a while after it was written."""

    capabilities = Capabilities(score_order="high", honours=HONOURS, consistency="eventual")

    def __init__(self) -> None:
        super().__init__()
        self.since: dict[str, float] = {}

    def put(self, record: Record) -> Any:
        self.since[record.id] = time.monotonic()
        return super().put(record)

    def ranked(self, *asked: Any) -> list[tuple[float, Record]]:
        ripe = time.monotonic() - 0.4
        return [f for f in super().ranked(*asked) if self.since[f[1].id] < ripe]


class WrongScope(Sound):
    def put(self, record: Record) -> Any:
        scope = "bo" if "kettle" in record.text else record.scope
        self.kept[record.id] = Record(record.id, record.text, scope, meta=record.meta)
        return record.id


class BrokenFilter(Sound):
    def ranked(self, query: str, scope: str, filter: Any = None) -> list[tuple[float, Record]]:
        return [] if filter else super().ranked(query, scope)


class Merging(Sound):
    """Takes two records that begin alike for one, and keeps the text of the later."""

    capabilities = Capabilities(honours=HONOURS, rewrites=True, dedupes=True)

    def put(self, record: Record) -> Any:
        head = record.text.split()[:3]
        for old in self.kept.values():
            if old.text.split()[:3] == head and old.scope == record.scope:
                self.kept[old.id] = Record(old.id, record.text, old.scope, meta=old.meta)
                return None
        return super().put(record)


class Older(Sound):
    newest = False


class Repeating(Sound):
    dedupe = False


class PostFilter(Sound):
    """Takes the best k of all scopes and then leaves out those of other scopes."""

    def search(self, query: str, *, k: int, scope: str, filter: Any = None) -> list[Hit]:
        scopes = {r.scope for r in self.kept.values()}
        everywhere = [f for s in scopes for f in self.ranked(query, s, filter)]
        everywhere.sort(key=lambda f: (-f[0], f[1].scope == scope))
        return [Hit(r.id, r.text, s) for s, r in everywhere[:k] if r.scope == scope]


class Floored(Sound):
    """Returns nothing that shares fewer than three words."""

    def ranked(self, *asked: Any) -> list[tuple[float, Record]]:
        return [found for found in super().ranked(*asked) if found[0] >= 3]


class Backwards(Sound):
    def ranked(self, *asked: Any) -> list[tuple[float, Record]]:
        return super().ranked(*asked)[::-1]

    capabilities = Capabilities(honours=HONOURS)


class ScopeBlind(Sound):
    def search(self, query: str, *, k: int, scope: str, filter: Any = None) -> list[Hit]:
        both = [f for s in ("default", "ana", "bo") for f in self.ranked(query, s, filter)]
        both.sort(key=lambda found: -found[0])
        return [Hit(r.id, r.text, score) for score, r in both[:k]]


class Talkative(Sound):
    def search(self, query: str, *, k: int, scope: str, filter: Any = None) -> list[Hit]:
        found = super().search(query, k=k, scope=scope, filter=filter)
        some = [Hit(r.id, r.text, 0.0) for r in self.kept.values() if r.scope == scope]
        return found or some[:1]


class TooMany(Sound):
    def search(self, query: str, *, k: int, **options: Any) -> list[Hit]:
        return super().search(query, k=k + 1, **options)


class Moody(Sound):
    """Returns nothing the first time that a question about a kettle is asked."""

    asked: set[str] = set()

    def search(self, query: str, **options: Any) -> list[Hit]:
        first = "kettle" in query and query not in self.asked
        self.asked.add(query)
        return [] if first else super().search(query, **options)


def note(n: int) -> datetime:
    return datetime(2026, 3, n, tzinfo=UTC)


KETTLE = Probe(
    "kettle",
    "where is the kettle kept now",
    [
        Record("r4", "The ladder is kept in the shed.", "ana"),
        Record("r2", "The kettle is kept on the shelf.", "ana"),
        Record("r7", "The kettle is kept in the boat.", "bo"),
    ],
    ["r2"],
    scope="ana",
    k=3,
)
FILTERED = Probe(
    "filtered",
    "skylight roofer",
    [
        Record("r1", "Call the roofer about the skylight.", meta={"type": "todo"}),
        Record("r2", "The roofer likes the skylight.", meta={"type": "note"}),
    ],
    ["r1"],
    filter={"type": "todo"},
)
OFFICERS = Probe(
    "officers",
    "who is the treasurer of the society",
    [
        Record("r1", "The society has a chair called Oona."),
        Record("r2", "The society has a treasurer called Milo."),
    ],
    ["r2"],
    k=1,
)
TEA = Probe(
    "tea",
    "which tea do I like best",
    [
        Record("r5", "The tea I like best is lapsang.", at=note(1)),
        Record("r3", "The tea I like best is genmaicha.", at=note(9)),
    ],
    ["r3"],
    stale=["r5"],
    k=1,
)
FERRY = Probe(
    "ferry",
    "ferry to the island",
    [
        Record("r6", "The ferry does not take cars to island beaches."),
        Record("r1", "The ferry to the island runs daily.", unit="daily"),
        Record("r2", "The ferry to the island runs daily!", unit="daily"),
        Record("r3", "- the ferry to the island runs daily", unit="daily"),
        Record("r4", "THE FERRY TO THE ISLAND RUNS DAILY.", unit="daily"),
    ],
    ["r6"],
    k=3,
)
ROOMS = Probe(
    "rooms",
    "in which room does the blue lamp of Petra stand",
    [
        Record("r3", "The blue lamp of Petra stands in the attic room."),
        *(Record(f"s{n}", f"A chair number {n} is in the hall.") for n in range(6)),
    ],
    ["r3"],
    k=2,
)
CROWD = Probe(
    "crowd",
    "boat trip to the seal bank",
    [
        Record("r9", "The boat trip to the seal bank costs little.", "ana"),
        *(Record(f"c{n}", f"Boat trip to the seal bank number {n}.", "bo") for n in range(5)),
    ],
    ["r9"],
    scope="ana",
    k=3,
)
SHORT = Probe(
    "short",
    "boiler contact",
    [Record("r1", "The engineer for the boiler is Wanda."), Record("r2", "The oven is warm.")],
    ["r1"],
    k=1,
)
SILENT = Probe(
    "silent",
    "visa Mongolia",
    [Record("r1", "Our book club reads on Monday."), Record("r2", "Petrol goes into the mower.")],
)
MANY = Probe(
    "many",
    "choir rehearsal chapel",
    [Record(f"r{n}", f"The choir rehearsal number {n} is in the chapel.") for n in range(4)],
    ["r3"],
    k=2,
)

CASES: list[tuple[str, Callable[[], Any], Probe, dict[str, Any]]] = [
    ("failed", Failing, KETTLE, {}),
    ("not_stored", Lossy, KETTLE, {}),
    ("not_stored", Refusing, KETTLE, {}),
    ("not_visible", Late, KETTLE, {"settle_s": 0.01, "poll_s": 0.01}),
    ("filtered", WrongScope, KETTLE, {}),
    ("filtered", BrokenFilter, FILTERED, {}),
    ("merged", Merging, OFFICERS, {}),
    ("stale_won", Older, TEA, {}),
    ("crowded_out", Repeating, FERRY, {}),
    ("cut", PostFilter, CROWD, {}),
    ("cut", Floored, SHORT, {}),
    ("outranked", Backwards, ROOMS, {}),
    ("leaked", ScopeBlind, KETTLE, {}),
    ("did_not_abstain", Talkative, SILENT, {}),
    ("contract", TooMany, MANY, {}),
    ("not_reproduced", Moody, KETTLE, {"repeat_check": False}),
]
ALL = (KETTLE, FILTERED, OFFICERS, TEA, FERRY, ROOMS, CROWD, SHORT, SILENT, MANY)


def made(make: Callable[[], Any], probes: list[Probe], **options: Any) -> Run:
    Moody.asked = set()
    return run(probes, make, check_store=False, **options)


def test_a_sound_store_passes_every_probe_of_the_matrix() -> None:
    assert list(made(Sound, list(ALL)).failing["probe"]) == []


def test_every_cause_has_a_store_that_is_built_to_produce_it() -> None:
    assert {cause for cause, *_ in CASES} == set(frames.CAUSE_WORDS)


@pytest.mark.parametrize(
    ("cause", "make", "probe", "options"), CASES, ids=[f"{c}-{m.__name__}" for c, m, *_ in CASES]
)
def test_a_store_built_for_a_cause_is_found_to_have_it(
    cause: str, make: Callable[[], Any], probe: Probe, options: dict[str, Any]
) -> None:
    failed = made(make, [probe], **options)
    assert list(failed.failing["probe"]) == [probe.name]
    found = diagnose(failed, make)
    assert list(found.causes["cause"]) == [cause], found.causes.to_string()
    row = found.causes.iloc[0]
    assert len(row["evidence"]) > 10
    assert len(row["next_step"]) > 10
    assert found.next_step == f"{probe.name}: {row['next_step']}"


def evidence(make: Callable[[], Any], probe: Probe, **options: Any) -> pd.Series:
    causes = diagnose(made(make, [probe], **options), make).causes
    return causes.iloc[0]


def test_the_evidence_names_what_stands_before_and_where_it_was_found() -> None:
    stale = evidence(Older, TEA)
    assert (stale["rank_found"], stale["displaced_by"]) == (2, "r5")
    assert stale["evidence"].startswith("r5 (The tea I like best is lapsang.), outdated, before r3")
    crowd = evidence(Repeating, FERRY)
    assert crowd["evidence"] == "4 records before r6 say one thing; it comes at rank 5"
    assert crowd["displaced_by"].split() == ["r4", "r3", "r2", "r1"]


def test_a_leak_is_told_by_its_kind() -> None:
    leaked = evidence(ScopeBlind, KETTLE)
    assert leaked["evidence"].startswith("a record of another scope came back: r7 at rank")
    assert "inside the store" in leaked["next_step"]


def test_a_negative_probe_is_told_the_floor_that_would_have_separated_it() -> None:
    both = diagnose(made(Talkative, [SILENT, KETTLE, TEA]), Talkative).causes.iloc[0]
    assert both["evidence"].endswith("with score 0; a floor above it loses 0 of 2 found")
    assert both["next_step"] == "set a score floor above 0: it loses 0 of 2 found"


def test_a_query_without_a_shared_word_is_told_to_match_by_meaning() -> None:
    probe = Probe(
        "author", "best hour to write", [Record("a", "Mornings are mine."), Record("b", "A hall.")],
        ["a"],
    )  # fmt: skip
    row = evidence(Sound, probe)
    assert row["cause"] == "cut"
    assert "share 0 of 3 content words" in row["evidence"]  # best, hour, write
    assert row["next_step"].startswith("match by meaning")


def test_leaks_come_first_then_must_and_the_order_is_explained() -> None:
    class Bad(ScopeBlind):
        newest = False

    must = Probe(**{**vars_of(TEA), "name": "tea-must", "must": True})
    found = diagnose(made(Bad, [SHORT, TEA, must, KETTLE]), Bad)
    assert list(found.causes["probe"]) == ["kettle", "tea-must", "tea"]
    assert found.order == ORDER
    assert found.reason == "3 probes failed: 1 leaked, 2 stale_won"


def vars_of(probe: Probe) -> dict[str, Any]:
    names = ("name", "query", "given", "expect", "stale", "k")
    return {name: getattr(probe, name) for name in names}


def test_a_run_without_failures_has_no_causes_but_all_columns() -> None:
    found = diagnose(made(Sound, [KETTLE]), Sound)
    pd.testing.assert_frame_equal(found.causes, frames.empty(frames.CAUSES))
    assert found.reason == "no probe failed"


def test_a_run_without_texts_cannot_be_diagnosed_and_says_so() -> None:
    failed = made(Lossy, [KETTLE]).without_texts()
    with pytest.raises(MemevalError, match="saved without texts"):
        diagnose(failed, Lossy)


def test_a_store_that_fails_while_it_is_asked_why_is_a_failed_one() -> None:
    class Odd(Lossy):
        """Breaks when the lost record's own text is searched."""

        def search(self, query: str, **options: Any) -> list[Hit]:
            if query.startswith("The kettle"):
                raise ValueError("query too long")
            return super().search(query, **options)

    row = evidence(Odd, KETTLE)
    assert row["cause"] == "failed"
    assert row["evidence"] == "asked why, the store fails: ValueError: query too long"


def test_a_store_that_refuses_a_large_k_is_asked_for_less() -> None:
    class Small(Backwards):
        def search(self, query: str, *, k: int, **options: Any) -> list[Hit]:
            if k > 5:
                raise ValueError("k is at most 5")
            return super().search(query, k=k, **options)

    # the wanted record is the last of seven; of these five can be had, and it is not among them
    row = evidence(Small, ROOMS)
    assert (row["cause"], pd.isna(row["rank_found"])) == ("outranked", True)
    assert (
        "not among the first 5, and more are refused (ValueError: k is at most 5)"
        in (row["evidence"])
    )


def test_histories_are_written_once_for_all_their_failed_probes() -> None:
    given = [Record("r1", "red van"), Record("r2", "blue kiosk")]
    asked = [Probe(name, f"{name} stall", given, ["r2"], k=1, history="town") for name in "ab"]
    puts: list[str] = []

    class Counting(SqliteStore):
        def put_many(self, records: Any) -> Any:
            puts.extend(r.id for r in records)
            return super().put_many(records)

    failed = run(asked, Counting)
    puts.clear()
    assert set(diagnose(failed, Counting).causes["cause"]) == {"cut"}
    assert puts == ["r1", "r2"]


def test_progress_is_told_per_history() -> None:
    seen: list[tuple[int, int, str]] = []
    diagnose(made(Lossy, [KETTLE]), Lossy, progress=lambda *told: seen.append(told))
    assert seen == [(1, 1, "kettle")]


class FirstWritten(Sound):
    """Returns what was written first, whatever it is asked."""

    capabilities = Capabilities(honours=HONOURS)

    def search(self, query: str, *, k: int, scope: str, filter: Any = None) -> list[Hit]:
        mine = [r for r in self.kept.values() if r.scope == scope]
        return [Hit(r.id, r.text) for r in mine[:k]]


def numbered(expect: list[Any], k: int) -> Probe:
    given = [Record(f"r{n}", f"Locker number {n} holds the rope.") for n in range(1, 16)]
    return Probe("lockers", "rope", given, expect, k=k)


def test_a_record_that_its_own_text_finds_late_is_stored_all_the_same() -> None:
    row = evidence(FirstWritten, numbered(["r14"], k=3))
    assert (row["cause"], row["rank_found"]) == ("outranked", 14)


def test_of_an_any_of_group_the_nearest_record_counts() -> None:
    row = evidence(FirstWritten, numbered([["r5", "r3"]], k=2))
    assert row["rank_found"] == 3
    assert row["next_step"].endswith("ask for k = 3")


def test_the_advised_k_is_enough_for_all_that_is_missing() -> None:
    row = evidence(FirstWritten, numbered(["r3", "r5"], k=2))
    assert row["next_step"].endswith("ask for k = 5")
    assert not len(made(FirstWritten, [numbered(["r3", "r5"], k=5)]).failing)
