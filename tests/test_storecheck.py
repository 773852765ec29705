from __future__ import annotations

import copy
import json
import sqlite3
import time
from contextlib import contextmanager
from dataclasses import replace

import pytest

import memeval as me
from memeval.cli import main
from memeval.errors import StoreError
from memeval.harness.checked import filled
from memeval.record import Hit, Receipt
from memeval.storechecking.questions import QUESTIONS
from memeval.stores.base import Capabilities
from memeval.stores.vector import VectorStore
from tests import sound_stores as sound
from tests.odd_stores import Plain, words


class Sound(VectorStore):
    """Sound; each fault below changes one thing of it."""

    def put(self, record):
        return VectorStore.put_many(self, [record])[0]

    put_many = None


class Copies(Sound):
    def put(self, record):
        self.n = getattr(self, "n", 0) + 1
        made = f"{record.id}-{self.n}"
        super().put(me.Record(made, record.text, record.scope, meta=record.meta))
        return Receipt("stored", (made,))


class Rewrites(Sound):
    def search(self, query, **options):
        return [
            Hit(h.id, h.text.upper(), h.score, h.meta) for h in super().search(query, **options)
        ]


class Prefixes(Sound):
    def search(self, query, *, scope, **options):
        names = [name for name in self._scopes if str(name).startswith(scope)]
        found = [h for n in names for h in super(Prefixes, self).search(query, scope=n, **options)]
        return sorted(found, key=lambda hit: -hit.score)[: options["k"]]


class KeepsDeleted(Sound):
    def delete(self, store_id, *, scope=None):
        return True


class DeletesTwins(Sound):
    def delete(self, store_id, *, scope=None):
        text = next(r.text for r in self._living.rows.values() if r.id == store_id)
        for row in list(self._living.rows.values()):
            if row.text == text:
                super().delete(row.id)
        return True


class Backwards(Sound):
    def search(self, query, **options):
        return super().search(query, **options)[::-1]


class MoreThanAsked(Sound):
    def search(self, query, *, k, **options):
        return super().search(query, k=k + 1, **options)


class Late(Sound):
    capabilities = Capabilities(score_order="high", deterministic=True, isolation="fork")

    def put(self, record):
        self.since = time.monotonic()
        return super().put(record)

    def search(self, query, **options):
        if options["scope"] == "memeval-check" or time.monotonic() - self.since > 0.06:
            return super().search(query, **options)
        return []


class Wavers(Sound):
    def search(self, query, **options):
        self.asked = getattr(self, "asked", 0) + 1
        found = super().search(query, **options)
        return found[1:] if len(found) > 2 and self.asked % 3 == 0 else found


class Breaks(Sound):
    def search(self, query, **options):
        if "'" in query:
            self.broken = True
            raise ValueError("unbalanced quote")
        return [] if getattr(self, "broken", False) else super().search(query, **options)


class Refuses(Sound):
    def search(self, query, **options):
        if not query.strip():
            raise ValueError("a query must not be blank")
        return super().search(query, **options)


class Unfiltered(Sound):
    def search(self, query, *, filter=None, **options):
        return super().search(query, **options)


class Merges(Sound):
    def put(self, record):
        there = self._living.rows.values()
        same = [r.id for r in there if (r.text, r.scope) == (record.text, record.scope)]
        same = [name for name in same if name != record.id]
        return Receipt("merged", (same[0],)) if same else super().put(record)


class Learns(Sound):
    def put(self, record):
        self.seen = 0
        return super().put(record)

    def search(self, query, **options):
        found = super().search(query, **options)
        self.seen += 1
        return found[1:] if self.seen > 45 and len(found) > 1 else found


class Climbs(Sound):
    def search(self, query, **options):
        return [Hit(h.id, h.text, -h.score, h.meta) for h in super().search(query, **options)]


class Jumbles(Sound):
    def search(self, query, **options):
        found = super().search(query, **options)
        turned = [hit.score for hit in found[:1] + found[1:][::-1]]
        return [Hit(h.id, h.text, s, h.meta) for h, s in zip(found, turned, strict=True)]


class Never(Sound):
    def search(self, query, **options):
        return super().search(query, **options) if options["scope"] == "memeval-check" else []


class Shared(Sound):
    capabilities = replace(VectorStore.capabilities, isolation="fresh", thread_safe=False)
    place = VectorStore()

    def put(self, record):
        return self.place.put(record)

    def search(self, query, **options):
        return self.place.search(query, **options)

    def delete(self, store_id, *, scope=None):
        return self.place.delete(store_id, scope=scope)

    def count(self):
        return self.place.count()


class CutsFirst(Sound):
    def search(self, query, *, k, scope, **options):
        ask = super().search
        found = [
            (hit, name) for name in self._scopes for hit in ask(query, k=99, scope=name, **options)
        ]
        best = sorted(found, key=lambda pair: -pair[0].score)[:k]
        return [hit for hit, name in best if name == scope]


class Blends(Sound):
    def search(self, query, *, k, scope, **options):
        ask, names = super().search, list(self._scopes)
        found = [hit for name in names for hit in ask(query, k=99, scope=name, **options)]
        return sorted(found, key=lambda hit: -hit.score)[:k]


class Hangs(Sound):
    def search(self, query, **options):
        if "'" in query and "DROP" in query:
            time.sleep(0.5)
        return super().search(query, **options)


class Exits(Sound):
    def search(self, query, **options):
        if "\x00" in query:
            raise SystemExit(0)
        return super().search(query, **options)


class Twice(Sound):
    def search(self, query, *, k, **options):
        found = super().search(query, k=k, **options)
        return (found[:1] * 2 + found[1:])[:k] if k > 20 else found


class Strangers(Sound):
    def search(self, query, **options):
        return [Hit(f"x{n}", "", h.score) if "tea" in h.text else h
                for n, h in enumerate(super().search(query, **options))]  # fmt: skip


class NeverExpires(Sound):
    def search(self, query, *, now=None, **options):
        return super().search(query, **options)


class KeepsReplaced(Sound):
    def put(self, record):
        return super().put(replace(record, supersedes=()))


class BadBatch(VectorStore):
    def put_many(self, records):
        kept = list(records)
        super().put_many([replace(one, text=one.text.upper()) for one in kept[:-1]] + kept[-1:])
        return [Receipt("stored", (one.id,)) for one in kept]

    def put(self, record):
        return VectorStore.put_many(self, [record])[0]


class ClearsBadly(Sound):
    def clear(self, scope=None):
        return None


class LeakyScratch(Sound):
    @contextmanager
    def scratch(self):
        yield self


class SharedFork(Sound):
    def fork(self, snapshot):
        other = copy.copy(self)
        other.close = lambda: None
        return other


class ClosesOnce(Sound):
    def close(self):
        if getattr(self, "done", False):
            raise RuntimeError("closed already")
        self.done = True


class OneAtATime(Sound):
    def search(self, query, **options):
        if getattr(self, "busy", False):
            raise RuntimeError("Already borrowed")
        self.busy = True
        time.sleep(0.001)
        try:
            return super().search(query, **options)
        finally:
            self.busy = False


class Approximate(Sound):
    def search(self, query, *, k, **options):
        found = super().search(query, k=k, **options)
        return found[:1] + found[2:3] + found[1:2] + found[3:] if len(found) == 5 else found


def by_question(store, **options):
    found = me.check_store(store, **({"settle_s": 0.5} | options))
    return found, found.table.set_index("question")


# What else a fault cannot but show; None: whatever it is.
BESIDE = {
    Rewrites: {"batches"},
    Backwards: {"scores", "exact vectors", "odd queries"},
    Prefixes: {"odd queries"},
    Blends: {"odd queries", "equal texts"},
    CutsFirst: {"odd queries", "threads"},
    Copies: {"ids", "supersedes", "expires"},
    MoreThanAsked: {"odd queries", "exact vectors"},
    Wavers: {"exact vectors", "threads"},
    Late: {"supersedes"},
    Shared: {"scratch and fork"},
    BadBatch: {"texts"},
    Never: None,
    Strangers: None,
    Learns: None,
}


@pytest.mark.parametrize("name", ["sqlite", "vector", "hybrid", Sound])
def test_a_sound_store_is_as_it_declares(name):
    found, table = by_question(name)
    assert list(table.index) == list(QUESTIONS)
    assert not table["status"].isin(["broken", "finding"]).any(), table
    idle = set(table.index[table["status"].eq("not_asked")])
    assert idle <= {"fresh", "batches", "exact vectors"}
    assert (found.verdict.word, found.verdict.exit_code) == ("PASS", 0)


# Of each fault which question sees it, how it is told, and whether it is other than declared.
FAULTS = [
    (Copies, "second write of an id", "finding", "adds a copy; the old text stays"),
    (Rewrites, "texts", "broken", "rewritten"),
    (Prefixes, "scopes", "broken", "not exact"),
    (KeepsDeleted, "delete", "broken", "a deleted record is still found"),
    (DeletesTwins, "delete", "broken", "takes more than the record"),
    (Backwards, "order", "broken", "a record is not first"),
    (Climbs, "scores", "broken", "scores run low"),
    (Jumbles, "scores", "broken", "hits do not stand in the order"),
    (MoreThanAsked, "k", "broken", "more than k come back"),
    (Late, "visible", "broken", "after 0."),
    (Never, "visible", "broken", "not found, however long"),
    (Wavers, "deterministic", "broken", "answers differ"),
    (Breaks, "odd queries", "broken", "after odd queries it no longer answers"),
    (Refuses, "odd queries", "finding", "refuses 2 of 15"),
    (Unfiltered, "filter", "broken", "does not filter as asked"),
    (Merges, "equal texts", "broken", "merged"),
    (Learns, "traces of reading", "broken", "reads leave a trace"),
    (Shared, "fresh", "broken", "stores share their records"),
    (CutsFirst, "scopes", "broken", "the answer is cut at k before"),
    (Blends, "scopes", "broken", "ignored"),
    (Hangs, "odd queries", "broken", "a query hangs"),
    (Exits, "odd queries", "broken", "odd queries get what they must not"),
    (Twice, "k", "broken", "one hit comes back twice"),
    (Strangers, "ids", "broken", "hits are of no record"),
    (NeverExpires, "expires", "broken", "an expired record is given"),
    (KeepsReplaced, "supersedes", "broken", "what is replaced is still given"),
    (BadBatch, "batches", "broken", "a batch leaves other answers"),
    (ClearsBadly, "clear", "broken", "clear() leaves records"),
    (LeakyScratch, "scratch and fork", "broken", "what is written in a scratch stays"),
    (SharedFork, "scratch and fork", "broken", "what a fork is given gets into the store"),
    (ClosesOnce, "close", "finding", "a second close() fails"),
    (OneAtATime, "threads", "broken", "4 threads at once fail"),
    (Approximate, "exact vectors", "finding", "ranks otherwise"),
]


@pytest.mark.parametrize(("store", "question", "status", "words"), FAULTS)
def test_a_fault_is_seen_by_the_question_that_is_about_it(store, question, status, words):
    found, table = by_question(store, timeout_s=0.2 if store is Hangs else None)
    row = table.loc[question]
    assert row["status"] == status and row["found"].startswith(words), table["found"].to_dict()
    assert isinstance(row["next_step"], str)
    assert found.verdict.exit_code == (1 if len(found.broken) else 0)
    if status == "broken":
        assert question in found.verdict.reason
    blamed = set(table.index[table["status"].isin(["broken", "finding"])]) - {question}
    allowed = BESIDE.get(store, set())
    assert allowed is None or blamed <= allowed, blamed


def test_what_a_store_has_not_is_not_asked():
    found, table = by_question(Plain)
    assert table.loc["delete", "status"] == table.loc["filter", "status"] == "not_asked"
    assert table.loc["scores", "next_step"] == "declare score_order='high'"
    assert found.verdict.word == "PASS"


def test_a_store_that_fails_when_tried_is_told_and_the_rest_is_asked():
    class Fails(Sound):
        def search(self, query, **options):
            if options["k"] == 3 and query == "The tea is lapsang.":
                raise RuntimeError("k is too large")
            return super().search(query, **options)

    _, table = by_question(Fails)
    assert table.loc["k", "status"] == "broken" and "k is too large" in table.loc["k", "found"]
    assert table.loc["ids", "status"] == "ok"


def test_a_store_that_finds_nothing_is_refused_before_any_question():
    class Lost(Sound):
        def search(self, query, **options):
            return []

    with pytest.raises(StoreError, match="not found"):
        me.check_store(Lost, settle_s=0.1)


def test_progress_is_told_question_by_question():
    told = []
    me.check_store("vector", progress=lambda *step: told.append(step))
    assert told == [(n, len(QUESTIONS), name) for n, name in enumerate(QUESTIONS, 1)]


@pytest.mark.parametrize("store", sound.SOUND)
def test_sound_stores_of_many_kinds_are_blamed_for_nothing(store):
    found, _ = by_question(store, settle_s=2.0)
    assert found.broken.empty, found.broken[["question", "found", "evidence"]]


class Bare:
    """Declares nothing at all, and keeps no scopes apart."""

    def __init__(self):
        self.kept = {}

    def put(self, record):
        self.kept[record.id] = record

    def ranked(self, query):
        asked = set(words(query))
        shared = {r.id: len(asked & set(words(r.text))) for r in self.kept.values()}
        best = sorted(self.kept.values(), key=lambda r: -shared[r.id])
        return [Hit(r.id, r.text, float(shared[r.id])) for r in best if shared[r.id]]

    def search(self, query, *, k, scope):
        return self.ranked(query)[:k]


class Chancy(Plain):
    """Declares nothing, and drops every third answer's first hit."""

    asked = 0

    def search(self, query, *, k, scope):
        self.asked += 1
        found = super().search(query, k=k, scope=scope)
        return found[1:] if self.asked % 3 == 0 and len(found) > 1 else found


class Bound:
    """A table of SQLite, bound to the thread that opened it, as it is by default."""

    def __init__(self):
        self.base = sqlite3.connect(":memory:")
        self.base.execute("CREATE TABLE note (id TEXT PRIMARY KEY, text TEXT, scope TEXT)")

    def put(self, record):
        told = (record.id, record.text, record.scope)
        self.base.execute("INSERT OR REPLACE INTO note VALUES (?, ?, ?)", told)

    def search(self, query, *, k, scope):
        there = self.base.execute("SELECT id, text FROM note WHERE scope = ?", (scope,))
        asked = set(words(query))
        scored = [(len(asked & set(words(text))), name, text) for name, text in there]
        best = sorted((one for one in scored if one[0]), key=lambda one: -one[0])
        return [Hit(name, text, float(score)) for score, name, text in best[:k]]


def test_what_nobody_declared_is_a_finding_and_told_to_a_run():
    found, table = by_question(Bare)
    assert (found.declared, found.verdict.word) == (None, "PASS")
    assert table.loc["scopes", ["status", "found"]].tolist() == ["finding", "ignored"]
    assert (found.capabilities.scoping, found.capabilities.score_order) == ("none", "high")
    assert found.capabilities.deterministic is None  # equal answers are no promise
    theirs = me.Record("r2", "The bill of the harbour tavern.", "bo")
    probe = me.Probe("p", "tavern", [me.Record("r1", "Supper at the tavern."), theirs], ["r1"])
    alone, told = (me.run([probe], Bare, check=check) for check in (None, found))
    assert alone.leaks == 1  # r2 of another scope comes back as well
    assert told.results["status"].tolist() == ["not_supported"] and told.leaks == 0
    assert told.manifest.capabilities["scoping"] == "none"
    assert "scopes not measured: the store has none" in told.manifest.notes
    assert told.manifest.options["store_check"]["scopes"] == "ignored"
    assert any(note.startswith("store check: PASS") for note in told.manifest.notes)


def test_answers_that_change_are_repeated_five_times():
    found, table = by_question(Chancy)
    assert table.loc["deterministic", "found"] == "answers differ"
    assert found.capabilities.deterministic is False and found.broken.empty
    probe = me.Probe("p", "noodles", [me.Record("r1", "Noodles at the red bar.")], ["r1"])
    assert me.run([probe], Chancy, check=found, repeat_check=False).manifest.repeats == 5


def test_only_what_is_left_open_is_filled_in():
    found = Capabilities(scoping="none", score_order="low", deterministic=False)
    # Nothing declared, and the defaults that the base class hands down: all of it is used.
    assert filled(None, found) == filled(Capabilities(), found) == found
    # A declaration stands; that answers change goes in where it says neither.
    assert filled(Capabilities(score_order="high"), found) == Capabilities(
        score_order="high", deterministic=False
    )
    told = Capabilities(score_order="high", deterministic=True)
    assert filled(told, found) == told
    steady = replace(found, deterministic=None)
    assert filled(Capabilities(score_order="high"), steady) == Capabilities(score_order="high")


def test_a_declaration_is_never_overridden():
    class Boasts(Bare):
        capabilities = Capabilities(score_order="high", deterministic=True)

    found, table = by_question(Boasts)
    assert table.loc["scopes", "status"] == "broken" and found.verdict.exit_code == 1
    probe = me.Probe("p", "noodles", [me.Record("r1", "Noodles at the red bar.")], ["r1"])
    made = me.run([probe], Boasts, check=found)
    assert made.manifest.capabilities["scoping"] == "native"
    assert any("store check: scopes: ignored, as against" in n for n in made.manifest.notes)


def test_a_store_without_room_for_it_is_told_all_the_same():
    class Slotted(Bare):
        __slots__ = ("kept",)
        capabilities = None

        def __setattr__(self, name, value):
            if name == "capabilities":
                raise AttributeError("can't set")
            object.__setattr__(self, name, value)

    found, _ = by_question(Slotted)
    made = found.applied(Slotted)()
    assert made.capabilities.scoping == "none"
    made.put(me.Record("r1", "noodles"))
    assert made.search("noodles", k=1, scope="")[0].id == "r1"


def test_a_store_of_one_thread_is_tried_in_that_one():
    found, table = by_question(Bound)
    assert found.broken.empty and table.loc["odd queries", "status"] == "ok"
    assert table.loc["threads", "found"] == "bound to the thread that made it"


def test_an_embedder_that_is_named_is_held_to_its_exact_cosine():
    for name, status in (("table", "ok"), ("hash", "broken")):
        _, table = by_question(Sound, embedder=name)
        assert table.loc["exact vectors", "status"] == status


def test_a_check_is_saved_and_read_and_stays_small(tmp_path):
    found, _ = by_question(Rewrites)
    path = found.save(tmp_path / "check.json")
    again = me.StoreCheck.load(path)
    assert again.to_dict() == found.to_dict() and path.stat().st_size < 12_000
    assert (again.capabilities, again.declared) == (found.capabilities, found.declared)
    assert (again.reason, again.next_step) == (found.verdict.reason, found.verdict.next_step)
    for text in ("{}", '{"format": "other", "version": 1}', "[]", "{"):
        (tmp_path / "bad.json").write_text(text)
        with pytest.raises(me.RunFileError, match="wanted a check of a store"):
            me.StoreCheck.load(tmp_path / "bad.json")


def test_a_store_that_is_broken_on_purpose_is_not_checked():
    with pytest.raises(StoreError, match="broken on purpose"):
        me.check_store("null")


@pytest.mark.parametrize("form", ["table", "json", "markdown"])
def test_the_command_says_the_same_in_every_form(form, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["check-store", "--store", "vector", "--format", form]) == 0
    out = capsys.readouterr().out
    assert "PASS" in out and "vector" in out
    if form == "json":
        assert {
            one["question"]: one["status"] for one in json.loads(out)["checks"]
        } == dict.fromkeys(QUESTIONS, "ok") | {"fresh": "not_asked"}
    assert max(map(len, out.splitlines())) <= 80 or form != "table"
    assert main(["check-store", "--store", "tests.test_storecheck:Rewrites", "--format", form]) == 1
    assert "rewritten" in capsys.readouterr().out
