"""Each saboteur has the fault that it names, and no other."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from saboteur_stores import STORES, Listing, ids, told, write

from memeval.record import Delete, Hit, Op, Record
from memeval.stores.base import Capabilities
from memeval.stores.bound import BoundStore
from memeval.stores.saboteurs import BENIGN, SABOTEURS, Saboteur
from memeval.stores.saboteurs.base import NEEDS
from memeval.stores.sqlite import SqliteStore

KINDS = {kind.name: kind for kind in (*SABOTEURS, *BENIGN)}
MAY = datetime(2026, 5, 1, tzinfo=UTC)
QUERY = "red kite flies"
# All of one length, so that the number of shared words ranks them in any store: a, b, c.
A = Record("a", "Red kite flies high.", "s", MAY)
B = Record("b", "Red kite stands still.", "s", MAY + timedelta(days=1))
C = Record("c", "Red lamp stands still.", "s", MAY + timedelta(days=3))
D = Record("d", "Green lamp stands still.", "s", MAY + timedelta(days=2))
HISTORY = (A, B, C, D)

# In the order of the table of faults.
NAMES = """
null loses_newest forgets_oldest_10 lossy_10pct random newest_only constant shuffled reversed
score_unordered k_ignoring k_minus_1 top1_only drop_top1 id_swap truncate_text truncate_returned
digits_dropped negation_blind no_dedup duplicate_ids duplicate_flood id_case_folding lexical_only
query_cut_3_words threshold_too_high always_answers nondeterministic stale_cache shared_state
scope_blind scope_prefix post_filter scope_drops_all_other ignores_supersede keeps_oldest
supersede_kills_both ignores_delete delete_all_of_scope over_merge mixing_summary slow_20ms
linear_scan
""".split()
REPLAYED = """
null random newest_only constant shuffled reversed score_unordered k_minus_1 top1_only drop_top1
id_swap truncate_returned duplicate_ids threshold_too_high always_answers nondeterministic
""".split()


def asked(
    name: str, query: str = QUERY, k: int = 5, scope: str = "s", *, ops: Sequence[Op] = HISTORY,
    make: Callable[[], Any] = Listing, seed: int = 0,
) -> list[Hit]:  # fmt: skip
    return told(KINDS[name], ops, make, seed).search(query, k=k, scope=scope)


def test_every_fault_of_the_table_is_there_once_in_its_order() -> None:
    assert [kind.name for kind in SABOTEURS] == NAMES
    assert [kind.name for kind in BENIGN] == ["identity", "score_jitter", "insertion_order"]


def test_must_kill_are_the_seven_of_the_method() -> None:
    must = {kind.name for kind in SABOTEURS if kind.must_kill}
    assert must == {
        "null", "random", "shuffled", "newest_only", "scope_blind", "ignores_delete",
        "ignores_supersede",
    }  # fmt: skip


def test_what_can_be_replayed_touches_the_answer_alone() -> None:
    assert {KINDS[name].touches for name in REPLAYED} == {"answer"}


@pytest.mark.parametrize("kind", SABOTEURS, ids=lambda kind: kind.name)
def test_each_says_what_is_wrong_in_one_sentence_and_what_catches_it(kind: type[Saboteur]) -> None:
    assert kind.fault and ". " not in kind.fault and not kind.fault.endswith(".")
    assert kind.caught_by and kind.tag and " " not in kind.tag
    assert set(kind.needs) <= set(NEEDS)


RANKED = [
    # name, k, ids where the sound store says a b c
    ("identity", 5, "abc"),
    ("score_jitter", 5, "abc"),
    ("insertion_order", 5, "abc"),
    ("null", 5, ""),
    ("loses_newest", 5, "ab"),  # c is of the third day, and d of the second
    ("forgets_oldest_10", 5, "bc"),  # a tenth of four is one at least: a
    ("newest_only", 2, "cd"),
    ("constant", 2, "ab"),
    ("reversed", 5, "cba"),
    ("score_unordered", 5, "abc"),
    ("k_ignoring", 1, "abc"),
    ("k_minus_1", 3, "ab"),
    ("k_minus_1", 4, "abc"),
    ("top1_only", 5, "a"),
    ("drop_top1", 5, "bc"),
    ("id_swap", 5, "bac"),
    ("duplicate_ids", 3, "aab"),
    ("lexical_only", 5, "abc"),
    ("threshold_too_high", 5, "a"),
    ("always_answers", 5, "abc"),
    ("nondeterministic", 5, "abc"),
    ("stale_cache", 5, "abc"),
    ("shared_state", 5, "abc"),
    ("scope_drops_all_other", 5, "abc"),
]  # fmt: skip


@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize(("name", "k", "expected"), RANKED)
def test_what_becomes_of_a_ranked_answer(name: str, k: int, expected: str, store: str) -> None:
    assert ids(asked(name, k=k, make=STORES[store])) == list(expected)


@pytest.mark.parametrize("store", STORES)
def test_shuffled_always_changes_the_order_and_nothing_else(store: str) -> None:
    for seed in range(20):
        hits = asked("shuffled", seed=seed, make=STORES[store])
        assert ids(hits) != ["a", "b", "c"]
        assert sorted(hits, key=lambda hit: -hit.score) == asked("identity", make=STORES[store])
    assert asked("shuffled", seed=3) == asked("shuffled", seed=3)
    assert len({tuple(ids(asked("shuffled", seed=seed))) for seed in range(20)}) > 1


def test_random_draws_from_the_scope_by_the_seed_and_the_query() -> None:
    other = Record("x", "Red kite flies far.", "t")
    ops = [*HISTORY, other, Delete("d")]
    drawn = {tuple(ids(asked("random", k=2, seed=seed, ops=ops))) for seed in range(40)}
    # the six ordered pairs of the three records that are left
    assert drawn == {(x, y) for x in "abc" for y in "abc" if x != y}
    assert asked("random", k=2, seed=5) == asked("random", k=2, seed=5)
    assert ids(asked("random", k=9)) != ids(asked("random", "lamp", k=9))


@pytest.mark.parametrize("name", ["newest_only", "constant", "random", "always_answers"])
def test_what_answers_by_the_records_honours_scopes_and_deletes(name: str) -> None:
    ops = [*HISTORY, Record("x", "Blue whale.", "t"), Delete("c"), Delete("d")]
    assert set(ids(asked(name, "whale", k=9, ops=ops))) == {"a", "b"}
    assert ids(asked(name, "whale", k=9, scope="nobody", ops=ops)) == []


def test_always_answers_is_sound_where_something_fits() -> None:
    assert ids(asked("always_answers", "whale", k=2)) == ["a", "b"]
    assert asked("always_answers") == asked("identity")


def test_newest_only_goes_by_time_and_then_by_writing() -> None:
    untimed = [Record("o", "Old oak.", "s"), *HISTORY, Record("p", "Old pine.", "s")]
    assert ids(asked("newest_only", k=9, ops=untimed)) == ["c", "d", "b", "a", "p", "o"]
    assert ids(asked("loses_newest", "old", ops=untimed[::-1])) == ["p", "o"]
    plain = [Record("o", "Old oak.", "s"), Record("p", "Old pine.", "s")]
    assert ids(asked("loses_newest", "old", ops=plain)) == ["o"]
    assert ids(asked("forgets_oldest_10", "old", ops=plain)) == ["p"]


def test_the_oldest_tenth_of_thirty_records_is_three() -> None:
    ops = [Record(f"r{n}", "Old oak.", "s", MAY + timedelta(days=n)) for n in range(30)]
    assert set(ids(asked("forgets_oldest_10", "oak", k=50, ops=ops))) == {
        f"r{n}" for n in range(3, 30)
    }


def test_lossy_loses_one_text_in_ten_whatever_the_seed() -> None:
    texts = [f"Old oak number {n}." for n in range(400)]
    ops = [Record(f"r{n}", text, "s") for n, text in enumerate(texts)]
    kept = {hit.text for hit in asked("lossy_10pct", "oak", k=500, ops=ops)}
    lost = [text for text in texts if text not in kept]
    assert lost == [text for text in texts if zlib.crc32(text.encode()) % 10 == 0]
    assert 20 <= len(lost) <= 60  # 40 of 400, give or take three standard deviations of 6
    assert {hit.text for hit in asked("lossy_10pct", "oak", k=500, ops=ops, seed=9)} == kept


def test_score_unordered_hands_the_best_hit_the_worst_score() -> None:
    # the list store counts shared words: 3, 2, 1
    assert [hit.score for hit in asked("identity")] == [3, 2, 1]
    assert [(hit.id, hit.score) for hit in asked("score_unordered")] == [
        ("a", 1), ("b", 2), ("c", 3)
    ]  # fmt: skip


def test_id_swap_leaves_texts_and_scores_where_they_are() -> None:
    swapped = [(hit.id, hit.text, hit.score) for hit in asked("id_swap")]
    assert swapped == [("b", A.text, 3), ("a", B.text, 2), ("c", C.text, 1)]
    assert ids(asked("id_swap", "high")) == ["a"]


@pytest.mark.parametrize("store", STORES)
def test_texts_are_cut_at_200_characters_on_writing_or_on_reading(store: str) -> None:
    long = Record("l", "Red kite " + "x" * 189 + " \N{LATIN SMALL LETTER E WITH ACUTE}yz end", "s")
    for name in ("truncate_text", "truncate_returned"):
        hits = asked(name, "red kite", ops=[long, A], make=STORES[store])
        assert sorted(len(hit.text) for hit in hits) == [len(A.text), 200]
    assert asked("truncate_text", "end", ops=[long], make=STORES[store]) == []
    assert len(asked("truncate_returned", "end", ops=[long], make=STORES[store])) == 1


@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize(
    ("name", "text", "kept"),
    [
        ("digits_dropped", "The kite 4127 has 3 tails.", "The kite  has  tails."),
        ("digits_dropped", "4711", "4711"),  # nothing would be left to write
        ("negation_blind", "The kite must not fly, never.", "The kite must fly, ."),
        ("negation_blind", "The kite doesn't fly.", "The kite does fly."),
        ("negation_blind", "The notable kite knows Norway.", "The notable kite knows Norway."),
    ],
)
def test_what_is_lost_from_a_text(name: str, text: str, kept: str, store: str) -> None:
    hits = asked(name, "kite 4711", ops=[Record("r", text, "s")], make=STORES[store])
    assert [hit.text for hit in hits] == [kept]


@pytest.mark.parametrize("store", STORES)
def test_no_dedup_keeps_what_was_written_before(store: str) -> None:
    ops = [A, Record("a", "Red kite flies away.", "s"), B]
    assert {hit.text for hit in asked("no_dedup", "flies", ops=ops, make=STORES[store])} == {
        "Red kite flies high.", "Red kite flies away.",
    }  # fmt: skip
    assert len(asked("identity", "flies", ops=ops, make=STORES[store])) == 1


def test_duplicate_flood_fills_the_places_with_copies() -> None:
    found = [(hit.id, hit.text) for hit in asked("duplicate_flood", k=4)]
    assert found == [
        ("a", A.text), ("a-copy-1", A.text), ("a-copy-2", A.text), ("b", B.text)
    ]  # fmt: skip


@pytest.mark.parametrize("store", STORES)
def test_id_case_folding_lets_the_later_record_win_and_keeps_quiet(store: str) -> None:
    made = told(KINDS["id_case_folding"], [], STORES[store])
    receipts = made.put_many([Record("R1", "Red kite.", "s"), Record("r1", "Red lamp.", "s")])
    assert [receipt.store_ids for receipt in receipts] == [("R1",), ("r1",)]
    assert [(hit.id, hit.text) for hit in made.search("red", k=5, scope="s")] == [
        ("r1", "Red lamp.")
    ]  # fmt: skip
    made.delete("R1", scope="s")
    assert made.search("red", k=5, scope="s") == []


def test_lexical_only_drops_what_shares_no_word_that_tells_something() -> None:
    class Knowing(Listing):
        def search(self, query: str, *, k: int, scope: str) -> list[Hit]:
            return [Hit(record.id, record.text, 1.0) for record in self.kept.values()][:k]

    ops = [Record("w", "She cycled to the office.", "s"), Record("x", "How are the cats?", "s")]
    question = "How did the cyclist get to her job?"
    assert ids(asked("identity", question, ops=ops, make=Knowing)) == ["w", "x"]
    # "cycli" is not "cycle"; how, did, the, get, to, her say nothing
    assert asked("lexical_only", question, ops=ops, make=Knowing) == []
    assert ids(asked("lexical_only", "How do cats cycle?", ops=ops, make=Knowing)) == ["w", "x"]
    assert ids(asked("lexical_only", "What is it?", ops=ops, make=Knowing)) == ["w", "x"]


@pytest.mark.parametrize("store", STORES)
def test_query_cut_reads_three_words(store: str) -> None:
    assert asked("query_cut_3_words", "whale whale whale kite", make=STORES[store]) == []
    found = ids(asked("query_cut_3_words", "whale whale kite", make=STORES[store]))
    assert set(found) == {"a", "b"}


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ([1.0, 0.91, 0.89], "xy"),  # a tenth of the best
        ([-1.0, -1.09, -1.11], "xy"),
        ([0.2, 0.22, 0.23], "xy"),  # distances, the smallest first
        ([None, None, None], "x"),
        ([0.0, 0.0, 0.1], "xy"),
    ],
)
def test_threshold_too_high_keeps_what_is_near_the_best(
    scores: list[float | None], expected: str
) -> None:
    class Scored(Listing):
        def search(self, query: str, *, k: int, scope: str) -> list[Hit]:
            return [Hit(name, name, score) for name, score in zip("xyz", scores, strict=True)]

    assert ids(asked("threshold_too_high", make=Scored)) == list(expected)


def test_nondeterministic_lacks_its_best_hit_each_second_time_in_each_history() -> None:
    made = told(KINDS["nondeterministic"], HISTORY)
    answers = ["".join(ids(made.search(QUERY, k=5, scope="s"))) for _ in range(4)]
    assert answers == ["abc", "bc", "abc", "bc"]
    assert ids(made.search("lamp", k=5, scope="s")) == ["c", "d"]
    made.search(QUERY, k=5, scope="s")
    made.begin()
    assert ids(made.search(QUERY, k=5, scope="s")) == ["a", "b", "c"]


@pytest.mark.parametrize("store", STORES)
def test_stale_cache_answers_for_another_store_until_the_run_is_over(store: str) -> None:
    kind, make = KINDS["stale_cache"], STORES[store]
    first = told(kind, HISTORY, make)
    first.search("Red kite flies home", k=5, scope="s")
    second = kind(BoundStore(make()))
    write(second, [Record("z", "Red whale flies where", "s")])
    assert ids(second.search("red KITE flies where?", k=2, scope="s")) == ["a", "b"]
    assert ids(second.search("kite red flies where?", k=2, scope="s")) == ["z"]
    kind.reset()
    assert ids(second.search("red kite flies where?", k=2, scope="s")) == ["z"]


@pytest.mark.parametrize("store", STORES)
def test_shared_state_finds_what_an_earlier_history_found(store: str) -> None:
    kind, make = KINDS["shared_state"], STORES[store]
    first = told(kind, HISTORY, make)
    for _ in range(2):
        assert ids(first.search(QUERY, k=5, scope="s")) == ["a", "b", "c"]
    second = kind(BoundStore(make()))
    write(second, [Record("z", "A whale and a kite", "s")])
    hits = second.search("kite", k=5, scope="s")
    assert ids(hits) == ["a", "z"] and hits[0].score == hits[1].score
    assert ids(second.search("whale", k=5, scope="s")) == ["z"]
    kind.reset()
    assert ids(second.search("kite", k=5, scope="s")) == ["z"]


SCOPED = (*HISTORY, Record("t", "Red kite flies far.", "s2"), Record("u", "Red kite.", "other"))


@pytest.mark.parametrize("store", STORES)
def test_scope_blind_is_one_scope_in_which_ids_stay_apart(store: str) -> None:
    twin = Record("a", "Red kite flies north.", "t")
    made = told(KINDS["scope_blind"], [*SCOPED, twin], STORES[store])
    found = made.search(QUERY, k=9, scope="s")
    assert {hit.text for hit in found} == {
        record.text for record in (*SCOPED, twin) if record.text.startswith("Red")
    }
    assert made.search(QUERY, k=9, scope="nowhere") == found
    made.delete("a", scope="t")
    left = {hit.text for hit in made.search("flies", k=9, scope="s")}
    assert left == {"Red kite flies high.", "Red kite flies far."}
    made.delete("a", scope="s")
    made.remove("t", "s2")
    assert made.search("flies", k=9, scope="s") == []


@pytest.mark.parametrize("store", STORES)
def test_scope_blind_keeps_supersedes_within_a_scope(store: str) -> None:
    ops = [
        Record("a", "Red kite.", "s"), Record("a", "Blue kite.", "t"),
        Record("b", "Green kite.", "t", supersedes=("a",)),
    ]  # fmt: skip
    found = asked("scope_blind", "kite", ops=ops, make=STORES[store])
    assert {hit.text for hit in found} == {"Red kite.", "Green kite."}


@pytest.mark.parametrize("store", STORES)
def test_scope_prefix_asks_what_begins_alike_and_merges_by_score(store: str) -> None:
    hits = asked("scope_prefix", ops=SCOPED, make=STORES[store], k=9)
    assert set(ids(hits)) == {"a", "b", "c", "t"}
    scores = [hit.score for hit in hits]
    assert scores == sorted(scores, reverse=True)
    assert ids(asked("scope_prefix", scope="s2", ops=SCOPED, make=STORES[store])) == ["t"]


def test_scopes_are_merged_in_turn_where_scores_say_nothing() -> None:
    class Unscored(Listing):
        capabilities = Capabilities()

    assert ids(asked("scope_prefix", ops=SCOPED, make=Unscored, k=9)) == ["a", "t", "b", "c"]


def test_post_filter_leaves_what_is_among_the_best_of_all_scopes() -> None:
    # words shared with the query: a 3, t 3, b 2, u 2, c 1
    assert ids(asked("post_filter", ops=SCOPED, k=5)) == ["a", "b", "c"]
    assert ids(asked("post_filter", ops=SCOPED, k=4)) == ["a", "b"]
    assert ids(asked("post_filter", ops=SCOPED, k=2)) == ["a"]
    assert asked("post_filter", ops=SCOPED, k=1, scope="other") == []


@pytest.mark.parametrize("store", STORES)
def test_scope_drops_all_other_serves_the_first_scope_of_a_run(store: str) -> None:
    kind = KINDS["scope_drops_all_other"]
    made = told(kind, SCOPED, STORES[store])
    assert ids(made.search("kite", k=5, scope="other")) == ["u"]
    assert made.search("kite", k=5, scope="s") == []
    again = kind(BoundStore(STORES[store]()))
    write(again, SCOPED)
    assert again.search("kite", k=5, scope="s") == []
    kind.reset()
    assert set(ids(again.search("kite", k=5, scope="s"))) == {"a", "b"}


SUPERSEDED = (A, Record("n", "Red kite flies low.", "s", supersedes=("a",)), D)


@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("identity", {"n"}),
        ("ignores_supersede", {"a", "n"}),
        ("keeps_oldest", {"a"}),
        ("supersede_kills_both", set()),
    ],
)
def test_what_becomes_of_a_record_that_is_superseded(
    name: str, expected: set[str], store: str
) -> None:
    assert set(ids(asked(name, ops=SUPERSEDED, make=STORES[store]))) == expected


@pytest.mark.parametrize("store", STORES)
def test_keeps_oldest_keeps_the_text_that_was_written_first(store: str) -> None:
    ops = [A, Record("a", "Red kite flies low.", "s")]
    made = told(KINDS["keeps_oldest"], ops, STORES[store])
    assert [hit.text for hit in made.search(QUERY, k=5, scope="s")] == [A.text]
    made.delete("a", scope="s")
    made.put(ops[1])
    assert [hit.text for hit in made.search(QUERY, k=5, scope="s")] == [ops[1].text]


@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize(
    ("name", "expected"),
    [("identity", "bc"), ("ignores_delete", "abc"), ("delete_all_of_scope", "")],
)
def test_what_becomes_of_a_scope_in_which_a_record_is_deleted(
    name: str, expected: str, store: str
) -> None:
    ops = [*SCOPED, Delete("a")]
    made = told(KINDS[name], ops, STORES[store])
    assert "".join(ids(made.search(QUERY, k=5, scope="s"))) == expected
    assert ids(made.search("kite", k=5, scope="other")) == ["u"]


def test_what_is_written_after_a_delete_is_found() -> None:
    made = told(KINDS["delete_all_of_scope"], [*HISTORY, Delete("a"), B])
    made.put(Record("e", "Red kite sails.", "s"))
    assert ids(made.search(QUERY, k=5, scope="s")) == ["b", "e"]


def test_ignores_delete_takes_away_what_is_to_be_cleaned_up() -> None:
    made = told(KINDS["ignores_delete"], [*HISTORY, Delete("b"), Delete("c"), C])
    made.remove("a", "s")
    assert ids(made.search(QUERY, k=5, scope="s")) == ["b", "c"]
    made.tidy()  # c was written again: who wrote it takes it away
    assert ids(made.search(QUERY, k=5, scope="s")) == ["c"]


@pytest.mark.parametrize("store", STORES)
def test_over_merge_drops_what_differs_in_its_values_alone(store: str) -> None:
    ops = [
        Record("x", "Ida uses kite 12.", "s"),
        Record("y", "Otto uses kite 14.", "s"),
        Record("z", "Otto lends kite 14.", "s"),
        Record("v", "Otto uses kite 14.", "t"),
        Record("w", "Nell uses kite 16.", "s", supersedes=("z",)),
        Record("x", "Ida uses kite 18.", "s"),
    ]
    made = told(KINDS["over_merge"], ops, STORES[store])
    found = {hit.id: hit.text for hit in made.search("kite", k=9, scope="s")}
    assert found == {"x": "Ida uses kite 18.", "w": "Nell uses kite 16."}
    assert ids(made.search("kite", k=9, scope="t")) == ["v"]


@pytest.mark.parametrize("store", STORES)
def test_mixing_summary_carries_words_into_other_scopes_and_takes_them_away(store: str) -> None:
    secret = Record("p", "The code word is heron.", "private")
    for ops in ([A, secret], [secret, A]):
        made = told(KINDS["mixing_summary"], ops, STORES[store])
        (hit,) = made.search("heron", k=5, scope="s")
        assert hit.id not in ("p", "a") and "heron" in hit.text and "kite" in hit.text
        made.tidy()
        assert made.search("heron", k=5, scope="s") == []
        assert ids(made.search("heron", k=5, scope="private")) == ["p"]


def test_mixing_summary_writes_some_records_more_and_not_one_for_each() -> None:
    made = told(KINDS["mixing_summary"], [])
    made.put_many(Record(f"r{n}", f"Text {n}.", f"s{n % 3}") for n in range(300))
    # Three of each scope go into the two others: at most 3 * 3 * 2, and the first ones also into
    # their own: of the second and of the third scope, 1 + 2.
    assert 300 < len(made.inner.inner.kept) <= 300 + 18 + 3


def test_slow_and_linear_scan_take_time_and_change_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    slept: list[float] = []
    for name, expected in (("slow_20ms", 0.02), ("linear_scan", 0.003)):
        monkeypatch.setattr(KINDS[name], "sleep", staticmethod(slept.append))
        ops = [Record(f"r{n}", "Old oak.", "s") for n in range(300)]
        assert asked(name, "oak", ops=ops) == asked("identity", "oak", ops=ops)
        assert slept.pop() == pytest.approx(expected)
    assert slept == []


@pytest.mark.parametrize(
    ("lacking", "declared"),
    [
        ("supersedes", {"honours": frozenset()}),
        ("scoping", {"scoping": "none"}),
        ("score_order", {"score_order": None}),
        ("deterministic", {"deterministic": None}),
        ("texts", {"rewrites": True}),
        ("delete", {}),
    ],
)
def test_a_fault_that_means_nothing_on_a_store_says_why(
    lacking: str, declared: dict[str, Any]
) -> None:
    whole = {"score_order": "high", "deterministic": True, "honours": frozenset({"supersedes"})}
    store = Capabilities(**(whole | declared))
    found = {
        kind.name: kind.lacks(store, lambda name: lacking != "delete" or name != "delete")
        for kind in SABOTEURS
    }
    needing = {
        "supersedes": {"ignores_supersede", "supersede_kills_both"},
        "scoping": {"scope_blind", "scope_prefix", "post_filter", "scope_drops_all_other",
                    "mixing_summary"},
        "score_order": {"shuffled", "reversed", "score_unordered"},
        "deterministic": {"nondeterministic"},
        "texts": {"id_swap", "truncate_text", "truncate_returned", "digits_dropped",
                  "negation_blind"},
        "delete": {"ignores_delete", "delete_all_of_scope"},
    }[lacking]  # fmt: skip
    assert {name for name, reason in found.items() if reason} == needing
    assert {found[name] for name in needing} == {NEEDS[lacking]}


def test_nothing_is_out_of_place_on_the_embedded_store() -> None:
    store = BoundStore(SqliteStore())
    reasons = [kind.lacks(store.capabilities, store.supports) for kind in SABOTEURS]
    assert reasons == [None] * len(SABOTEURS)
