"""Laws that the embedded store keeps whatever is written and asked."""

from __future__ import annotations

from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from memeval.record import Record
from memeval.stores.sqlite import SqliteStore, plain
from memeval.stores.words import FUNCTION_WORDS, asked, fold, indexed

MAY = datetime(2026, 5, 1, 12, tzinfo=UTC)
WORDS = "kiosk ferry lamp orchard rye timer blue north slate drum".split()


def store_of(*texts: str, scope: str = "s") -> SqliteStore:
    """Give a store that holds these texts as r0, r1, ..."""
    store = SqliteStore()
    store.put_many(Record(f"r{i}", text, scope) for i, text in enumerate(texts))
    return store


def found(store: SqliteStore, query: str, k: int = 5, scope: str = "s", **more: Any) -> list[Any]:
    return [hit.id for hit in store.search(query, k=k, scope=scope, **more)]


texts = st.lists(st.sampled_from(WORDS), min_size=0, max_size=6).map(" ".join)
times = st.none() | st.integers(0, 3).map(lambda days: MAY + timedelta(days=days))
any_text = st.text(st.characters(codec=None) | st.sampled_from('"*()-^:+ \x00\ud800\u200f'))
quick = settings(deadline=None, max_examples=60)


@quick
@given(any_text, any_text, any_text)
def test_any_text_is_written_and_asked_for_without_an_error(
    text: str, query: str, scope: str
) -> None:
    for store in (SqliteStore(), plain()):
        store.put(Record("r", text, scope))
        assert found(store, query, scope=scope) in ([], ["r"])
        store.close()


@quick
@given(any_text)
def test_a_text_finds_itself_where_it_has_a_word_that_is_no_function_word(text: str) -> None:
    store = store_of(text)
    assert found(store, text) == (["r0"] if asked(text) else [])


@quick
@given(any_text)
def test_folding_is_done_once(text: str) -> None:
    assert fold(fold(text)).split() == fold(text).split()


def test_function_words_are_folded_and_no_word_is_lost_in_the_index() -> None:
    assert all(fold(word) == word for word in FUNCTION_WORDS)
    assert indexed("plain words") == "plain words"


@quick
@given(st.lists(st.tuples(texts, st.sampled_from("abc"), times), max_size=12), texts)
def test_a_scope_is_not_touched_by_what_other_scopes_hold(rows: list[Any], query: str) -> None:
    for make in (SqliteStore, plain):
        both, alone = make(), make()
        records = [Record(f"r{i}", *row) for i, row in enumerate(rows)]
        both.put_many(records)
        alone.put_many(record for record in records if record.scope == "a")
        assert both.search(query, k=9, scope="a") == alone.search(query, k=9, scope="a")


@quick
@given(st.lists(st.tuples(texts, st.just("s"), times), max_size=12), texts, st.integers(1, 12))
def test_the_answer_at_k_begins_the_answer_at_k_and_one(
    rows: list[Any], query: str, k: int
) -> None:
    store = SqliteStore()
    store.put_many(Record(f"r{i}", *row) for i, row in enumerate(rows))
    longer = store.search(query, k=k + 1, scope="s")
    assert store.search(query, k=k, scope="s") == longer[:k]


@quick
@given(st.permutations(range(6)), st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5))), texts)
def test_the_order_of_writing_does_not_change_what_is_superseded(
    order: list[int], links: list[tuple[int, int]], query: str
) -> None:
    told = {i: tuple(f"r{b}" for a, b in links if a == i and b < a) for i in range(6)}
    records = [
        Record(f"r{i}", " ".join(WORDS[i : i + 4]), "s", supersedes=told[i]) for i in range(6)
    ]
    straight, turned = SqliteStore(), SqliteStore()
    straight.put_many(records)
    turned.put_many(records[i] for i in order)
    answer = straight.search(query, k=9, scope="s")
    assert turned.search(query, k=9, scope="s") == answer
    assert not {hit.id for hit in answer} & {old for olds in told.values() for old in olds}


links = st.lists(st.sampled_from("abcdefg"), max_size=2, unique=True).map(tuple)
records = st.builds(
    Record,
    st.sampled_from("abcdefg"),
    texts,
    st.sampled_from("st"),
    times,
    supersedes=links,
    expires=times,
)


@settings(deadline=None, max_examples=300)
@given(st.lists(st.lists(records, max_size=8), max_size=4), texts, st.booleans())
def test_writing_at_once_is_writing_one_after_another(
    batches: list[list[Record]], query: str, within: bool
) -> None:
    for make in (SqliteStore, plain):
        one, many = make(), make()
        with ExitStack() as scratches:
            if within:
                scratches.enter_context(one.scratch())
                scratches.enter_context(many.scratch())
            for batch in batches:
                receipts = [one.put(record) for record in batch]
                assert many.put_many(batch) == receipts
            for scope in "st":
                answer = one.search(query, k=9, scope=scope)
                assert many.search(query, k=9, scope=scope) == answer
                assert many.search(query, k=9, scope=scope, now=MAY) == one.search(
                    query, k=9, scope=scope, now=MAY
                )
            for table in ("record", "scope", "superseded", "store"):
                whole = f"SELECT * FROM {table}"
                rows = [s._connection.execute(whole).fetchall() for s in (one, many)]
                assert rows[0] == rows[1]
            for number in range(1, 3):
                indexed_rows = f"SELECT rowid, words FROM words_{number} ORDER BY rowid"
                rows = [s._connection.execute(indexed_rows).fetchall() for s in (one, many)]
                assert rows[0] == rows[1]
                many._connection.execute(
                    f"INSERT INTO words_{number}(words_{number}) VALUES ('integrity-check')"
                )


class History(RuleBasedStateMachine):
    """After any history the store answers as a fresh one that was given what survived it."""

    make: Any = SqliteStore

    @initialize()
    def start(self) -> None:
        self.store = type(self).make()
        self.kept: dict[str, Record] = {}

    @rule(name=st.sampled_from("abcdef"), text=texts, scope=st.sampled_from("st"), at=times)
    def put(self, name: str, text: str, scope: str, at: datetime | None) -> None:
        self.store.put(Record(name, text, scope, at))
        self.kept[name] = Record(name, text, scope, at)

    @rule(name=st.sampled_from("abcdef"))
    def delete(self, name: str) -> None:
        assert self.store.delete(name) is (self.kept.pop(name, None) is not None)

    @rule(scope=st.sampled_from("st"))
    def clear(self, scope: str) -> None:
        self.store.clear(scope)
        self.kept = {name: r for name, r in self.kept.items() if r.scope != scope}

    @rule(text=texts, names=st.lists(st.sampled_from("abcxyz")))
    def try_in_scratch(self, text: str, names: list[str]) -> None:
        before = self.store._connection.serialize()
        with self.store.scratch():
            self.store.put_many(Record(name, text, name) for name in names)
            self.store.delete("a")
        assert self.store._connection.serialize() == before

    @rule()
    def go_on_in_a_fork(self) -> None:
        kept = self.store.snapshot()
        forked = self.store.fork(kept)
        assert forked.snapshot() == kept
        self.store.close()
        self.store = forked

    @rule(query=texts, scope=st.sampled_from("st"))
    def ask(self, query: str, scope: str) -> None:
        with type(self).make() as fresh:
            fresh.put_many(self.kept.values())
            answer = self.store.search(query, k=9, scope=scope)
            assert answer == fresh.search(query, k=9, scope=scope)

    @invariant()
    def count(self) -> None:
        if hasattr(self, "store"):
            assert self.store.count() == len(self.kept)
            number = [r.scope for r in self.kept.values()].count("s")
            assert self.store.count("s") == number

    def teardown(self) -> None:
        if hasattr(self, "store"):
            for table in range(1, 5):
                self.store._connection.execute(
                    f"INSERT INTO words_{table}(words_{table}) VALUES ('integrity-check')"
                )
            self.store.close()


class PlainHistory(History):
    """The same, in the order of writing."""

    make = staticmethod(plain)


TestHistory = History.TestCase
TestPlainHistory = PlainHistory.TestCase
TestHistory.settings = TestPlainHistory.settings = settings(
    deadline=None, max_examples=30, stateful_step_count=25
)
