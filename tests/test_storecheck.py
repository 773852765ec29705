from __future__ import annotations

import json
import time

import pytest

import memeval as me
from memeval.cli import main
from memeval.errors import StoreError
from memeval.record import Hit, Receipt
from memeval.storechecking.questions import QUESTIONS
from memeval.stores.base import Capabilities
from memeval.stores.vector import VectorStore
from tests.odd_stores import Plain


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
        found = super().search(query, **options)
        return [Hit(hit.id, hit.text.upper(), hit.score, hit.meta) for hit in found]


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
        if options["scope"] == "memeval-check" or time.monotonic() - self.since > 0.15:
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
        said = (record.text, record.scope)
        rows = self._living.rows.values()
        same = [r.id for r in rows if (r.text, r.scope) == said and r.id != record.id]
        return Receipt("merged", (same[0],)) if same else super().put(record)


class Learns(Sound):
    def put(self, record):
        self.seen = 0
        return super().put(record)

    def search(self, query, **options):
        found = super().search(query, **options)
        self.seen += 1
        return found[:1] if self.seen > 20 else found


def by_question(store):
    found = me.check_store(store, settle_s=2.0)
    return found, found.table.set_index("question")


@pytest.mark.parametrize("name", ["sqlite", "vector", "hybrid", Sound])
def test_a_sound_store_is_as_it_declares(name):
    found, table = by_question(name)
    assert list(table.index) == list(QUESTIONS)
    assert table["status"].eq("ok").all(), table[table["status"].ne("ok")]
    assert (found.verdict.word, found.verdict.exit_code) == ("PASS", 0)


# Of each fault which question sees it, how it is told, and whether it is other than declared.
FAULTS = [
    (Copies, "second write of an id", "finding", "adds a copy; the old text stays"),
    (Rewrites, "texts", "broken", "rewritten"),
    (Prefixes, "scopes", "broken", "not exact"),
    (KeepsDeleted, "delete", "broken", "a deleted record is still found"),
    (DeletesTwins, "delete", "broken", "takes more than the record"),
    (Backwards, "order and scores", "broken", "scores run low"),
    (MoreThanAsked, "k", "broken", "more than k come back"),
    (Late, "visible", "broken", "after 0."),
    (Wavers, "deterministic", "broken", "answers differ"),
    (Breaks, "odd queries", "broken", "after odd queries it no longer answers"),
    (Refuses, "odd queries", "finding", "refuses 2 of 12"),
    (Unfiltered, "filter", "broken", "does not filter as asked"),
    (Merges, "equal texts", "finding", "merged"),
    (Learns, "traces of reading", "finding", "reads leave a trace"),
]


@pytest.mark.parametrize(("store", "question", "status", "words"), FAULTS)
def test_a_fault_is_seen_by_the_question_that_is_about_it(store, question, status, words):
    found, table = by_question(store)
    row = table.loc[question]
    assert row["status"] == status and row["found"].startswith(words), table["found"].to_dict()
    assert isinstance(row["next_step"], str)
    assert found.verdict.exit_code == (1 if len(found.broken) else 0)
    if status == "broken":
        assert question in found.verdict.reason


def test_what_a_store_has_not_is_not_asked():
    found, table = by_question(Plain)
    assert table.loc["delete", "status"] == table.loc["filter", "status"] == "not_asked"
    assert table.loc["order and scores", "next_step"] == "declare score_order='high'"
    assert found.verdict.word == "PASS"


def test_a_store_that_fails_when_tried_is_told_and_the_rest_is_asked():
    class Fails(Sound):
        def search(self, query, **options):
            if options["k"] == 50:
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


@pytest.mark.parametrize("form", ["table", "json", "markdown"])
def test_the_command_says_the_same_in_every_form(form, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["check-store", "--store", "vector", "--format", form]) == 0
    out = capsys.readouterr().out
    assert "PASS" in out and "VectorStore" in out
    if form == "json":
        checks = json.loads(out)["checks"]
        assert [(one["question"], one["status"]) for one in checks] == [
            (q, "ok") for q in QUESTIONS
        ]
    assert max(map(len, out.splitlines())) <= 80 or form != "table"
    assert main(["check-store", "--store", "tests.test_storecheck:Rewrites", "--format", form]) == 1
    assert "rewritten" in capsys.readouterr().out
