from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import memeval as me
from memeval.errors import MemevalError
from memeval.shrinking import minimized
from tests.odd_stores import Plain
from tests.suites import leakable, negative, positive, suite


class Capped(Plain):
    """Forgets all but the last five records."""

    def put(self, record):
        self.kept.pop(record.id, None)
        self.kept[record.id] = record
        while len(self.kept) > 5:
            del self.kept[next(iter(self.kept))]


class Poisoned(Plain):
    """Answers nothing once two certain records have been written, in this order."""

    def search(self, query, *, k, scope):
        ids = list(self.kept)
        if {"r0", "r3"} <= set(ids) and ids.index("r0") < ids.index("r3"):
            return []
        return super().search(query, k=k, scope=scope)


class Scopeless(Plain):
    """Knows no scopes, and says that it does."""

    def search(self, query, *, k, scope):
        return self.found(query, k, None)


def shrunk(probe, store, **options):
    with pytest.warns(me.WeakSuiteWarning):
        run = me.run(me.Suite((probe,), suite().haystack, "test"), store)
    return me.shrink(run, store, probe.name, **options)


def test_a_store_that_forgets_needs_as_many_records_as_it_keeps():
    small = shrunk(positive(0), Capped)
    # The record that is asked for, and five more that push it out: no five steps do.
    assert (small.failure, small.n_after, small.smallest) == ("missed", 6, True)
    assert small.n_before > 300 and small.probe.given[0].id == "r0"
    assert small.probe.expect == (("r0",),)


def test_only_what_does_the_harm_is_left_and_in_its_order():
    small = shrunk(positive(0), Poisoned)
    assert [op.id for op in small.probe.given] == ["r0", "r3"]
    assert small.smallest and small.asked < 30


def test_a_leak_stays_a_leak():
    small = shrunk(leakable(0), Scopeless)
    assert small.failure == "leaked"
    # It must still expect something, and one record of another scope comes back.
    assert [op.scope for op in small.probe.given] == ["ana", "bo"]
    # The twin of the haystack will do as well as the record that is forbidden by name.
    run = me.run([small.probe], Scopeless)
    assert run.leaks == 1 and not run.passed


class TwoFaced(Plain):
    """Gives everything where there is a second scope, and else nothing."""

    def search(self, query, *, k, scope):
        scopes = {record.scope for record in self.kept.values()}
        return self.found(query, k, None) if len(scopes) > 1 else []


def test_a_smaller_probe_that_fails_in_another_way_is_not_taken():
    run = me.run([leakable(0)], TwoFaced, check_store=False)
    small = me.shrink(run, TwoFaced, "leakable-00")
    # One record alone is missed, which is another failure than the leak.
    assert small.failure == "leaked" and [op.id for op in small.probe.given] == ["a", "b"]


def test_what_is_left_is_a_probe_file_that_fails_alike(tmp_path):
    small = shrunk(positive(0), Capped)
    (tmp_path / "probes.yaml").write_text(small.yaml, encoding="utf-8")
    read = me.load(tmp_path)
    assert [probe.given for probe in read] == [small.probe.given]
    assert list(me.run(list(read), Capped).failing["probe"]) == ["positive-00"]


def test_labels_deletes_and_supersedes_go_with_their_record():
    old, new = me.Record("old", "lunch spot is the kiosk"), me.Record("r1", "lunch is at noon")
    gone = me.Record("gone", "lunch spot of last year")
    probe = me.Probe(
        "lunch", "lunch spot",
        [old, gone, me.Delete("gone"), replace(new, supersedes=("old",)), me.Record("r2", "a van")],
        ["r1"], forbid=["gone"], stale=["old"],
    )  # fmt: skip

    class Mute(Plain):
        def search(self, query, *, k, scope):
            return []

        def delete(self, store_id):
            self.kept.pop(store_id)

    small = me.shrink(me.run([probe], Mute, check_store=False), Mute, "lunch")
    assert small.probe.given == (new,) and small.n_after == 1
    assert small.probe.forbid == small.probe.stale == ()


def test_it_ends_when_the_tries_are_used_up_and_says_so():
    small = shrunk(positive(0), Capped, most=3)
    assert not small.smallest and small.asked == 3 and small.n_after > 6
    assert "raise most" in repr(small)
    assert list(me.run([small.probe], Capped).failing["probe"]) == ["positive-00"]


def test_progress_is_told():
    told = []
    small = shrunk(positive(0), Poisoned, progress=lambda *step: told.append(step))
    assert [n for n, _, _ in told] == list(range(1, small.asked + 1))


def test_what_cannot_be_shrunk_is_refused():
    run = me.run([positive(0), negative(0)], Capped)
    with pytest.raises(MemevalError, match="no probe 'lunch'; name one that failed: none failed"):
        me.shrink(run, Capped, "lunch")
    with pytest.raises(MemevalError, match="did not fail"):
        me.shrink(run, Capped, "positive-00")
    lost = me.run([positive(0)], Poisoned)
    with pytest.raises(MemevalError, match="passes when it is asked again"):
        me.shrink(lost, Plain, "positive-00")
    with pytest.raises(MemevalError, match="without texts"):
        me.shrink(lost.without_texts(), Poisoned, "positive-00")


@given(st.integers(1, 60), st.data())
def test_no_step_of_what_is_left_can_be_left_out(n, data):
    needed = data.draw(st.sets(st.integers(0, n - 1)), "needed")
    either = data.draw(st.sets(st.integers(0, n - 1), min_size=1), "any one of")

    def fails(steps):
        return needed <= set(steps) and bool(either & set(steps))

    kept, smallest = minimized(range(n), fails)
    assert smallest and fails(kept) and list(kept) == sorted(kept)
    assert not any(fails(kept[:place] + kept[place + 1 :]) for place in range(len(kept)))
