"""A FAIL of a store whose answers vary counts where a fresh run of all its probes fails too."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import pytest

import memeval as me
from memeval.baseline import accept
from memeval.cli import main
from memeval.comparison import Comparison, compare
from memeval.confirming import confirm, needs_confirming
from memeval.errors import IncomparableRunsError, MemevalError
from memeval.files.runfiles import load_run, save_run
from memeval.outcomes import outcomes_of
from memeval.runs import Run
from memeval.stores.sqlite import SqliteStore
from tests.odd_stores import Plain

PLACES = "harbour kitchen library station garden attic cellar office market museum".split()
THINGS = "kettle bicycle ladder violin".split()
VARYING = me.Capabilities(deterministic=False)


TEXTS = [f"The {THINGS[i // 10]} stands in the {PLACES[i % 10]}." for i in range(30)]


def probes(n: int = 30, **more: Any) -> list[me.Probe]:
    made = []
    for i in range(n):
        place, thing = PLACES[i % 10], THINGS[i // 10]
        record = me.Record("r1", TEXTS[i])
        made.append(me.Probe(f"{thing}-{place}", f"the {thing} {place}", [record], ["r1"], **more))
    return made


class Losing(SqliteStore):
    """Gives no answer to queries that hold a word, in the runs that it is told to."""

    capabilities = VARYING
    words: ClassVar[tuple[str, ...]] = ()
    asked: ClassVar[list[str]] = []

    def search(self, query: str, **options: Any) -> Any:
        Losing.asked.append(query)
        if any(word in query for word in self.words):
            return []
        return super().search(query, **options)


@pytest.fixture(autouse=True)
def anew() -> None:
    Losing.words, Losing.asked = (), []


def run(store: Any = Losing, words: tuple[str, ...] = (), **options: Any) -> Run:
    Losing.words = words
    made = me.run(options.pop("probes", None) or probes(), store, **{"repeats": 1} | options)
    Losing.words = ()
    return made


def failed(words: tuple[str, ...] = ("kettle",), **options: Any) -> Comparison:
    """Ten of thirty probes lost: mid-p (10, 0) is 0.5 ** 11."""
    made = compare(outcomes_of(run()), outcomes_of(run(words=words, **options)))
    assert made.verdict.word == "FAIL"
    assert made.of("recall_all")["losses"] == 10
    return made


def test_a_loss_that_stays_is_confirmed() -> None:
    first = failed()
    Losing.words = ("kettle",)
    again = confirm(first, Losing)
    assert again.verdict.word == "FAIL"
    assert again.of("recall_all")["losses"] == 10
    assert again.notes[0].startswith("confirmed: the first run failed; all 30 probes were asked")
    assert "5 times each, and this fresh run alone decides" in again.notes[0]
    assert set(again.current.probes["n_repeats"]) == {5}


def test_a_loss_that_was_chance_does_not_fail() -> None:
    again = confirm(failed(), Losing)
    assert again.verdict.word == "SAME"
    assert again.notes[0].startswith("not confirmed: ")
    assert again.of("recall_all")["losses"] == 0


def test_all_probes_are_asked_again_as_often_as_told() -> None:
    first = failed()
    Losing.asked.clear()
    confirm(first, Losing, repeats=3)
    ours = [query for query in Losing.asked if query.startswith("the ")]
    assert {query.split()[1] for query in ours} == {"kettle", "bicycle", "ladder"}
    # 30 probes, 3 repeats, and the repeat check asks each once more.
    assert len(ours) == 30 * 3 * 2


def test_the_fresh_run_alone_decides_whatever_the_first_one_lost() -> None:
    first = failed()
    Losing.words = ("ladder",)  # other ten than the kettles of the first run
    again = confirm(first, Losing)
    assert again.verdict.word == "FAIL"
    assert {name.split("-")[0] for name in again.named("lost")} == {"ladder"}


class Dropping(Plain):
    """Loses answers at a rate, by dice of its own; the same store throughout."""

    capabilities = VARYING
    rate: ClassVar[float] = 0.0
    dice: ClassVar[random.Random] = random.Random(0)

    def search(self, query: str, **options: Any) -> Any:
        hits = super().search(query, **options)
        return [] if query.startswith("the ") and self.dice.random() < self.rate else hits


def many(n: int = 80) -> list[me.Probe]:
    made = []
    for i in range(n):
        word = f"thing{i:03}"
        record = me.Record("r1", f"The {word} stands in the hall.")
        made.append(me.Probe(word, f"the {word}", [record], ["r1"]))
    return made


def measured(rate: float, suite: list[me.Probe]) -> Run:
    Dropping.rate = rate
    return me.run(suite, Dropping, repeats=1, repeat_check=False, contract_checks=False)


def confirmed(before: float, after: float, seed: int) -> tuple[str, str]:
    """Verdicts of the first run and once confirmed."""
    Dropping.dice, suite = random.Random(seed), many()
    then = measured(before, suite)
    first = compare(then, measured(after, suite))
    again = confirm(first, Dropping, repeats=3)
    return first.verdict.word, again.verdict.word


def test_a_store_that_loses_one_answer_in_eight_goes_on_failing() -> None:
    # Of 80 probes 9.6 are lost; at five, and no gain, the tests fail: P(Bin(80, .12) >= 5) = .97.
    found = [confirmed(0.0, 0.12, seed) for seed in range(8)]
    failing = [again for first, again in found if first == "FAIL"]
    assert len(failing) >= 6
    assert failing.count("FAIL") >= len(failing) - 1


def test_noise_that_both_sides_have_seldom_fails_once_confirmed() -> None:
    found = [confirmed(0.05, 0.05, seed) for seed in range(8)]
    assert [again for _, again in found].count("FAIL") <= 1


def test_a_store_that_is_verified_deterministic_is_not_asked_again() -> None:
    class Steady(Losing):
        capabilities = me.Capabilities(deterministic=True)

    first = compare(run(Steady), run(Steady, words=("kettle",)))
    assert first.verdict.word == "FAIL"
    assert not needs_confirming(first)
    Losing.asked.clear()
    again = confirm(first, Steady)
    assert again.verdict is first.verdict and "verified deterministic" in again.notes[0]
    assert Losing.asked == []


def test_worse_ranks_of_a_deterministic_store_are_no_chance() -> None:
    class Steady(SqliteStore):
        capabilities = me.Capabilities(deterministic=True)
        turn = 1

        def search(self, query: str, **options: Any) -> Any:
            return super().search(query, **options)[:: self.turn]

    suite = [
        me.Probe(p.name, p.query, [*p.given, me.Record("r2", p.query.split()[1])], ["r1"])
        for p in probes()
    ]
    before = run(Steady, probes=suite)
    Steady.turn = -1
    first = compare(before, run(Steady, probes=suite))
    assert first.verdict.word == "FAIL"
    assert first.of("recall_all")["losses"] == 0  # it is the test on ndcg that fails
    assert not needs_confirming(first)


def test_what_did_not_fail_is_not_asked_again() -> None:
    first = compare(run(), run(words=("kettle harbour",)))
    assert first.verdict.word != "FAIL"
    Losing.asked.clear()
    again = confirm(first, Losing)
    assert again.verdict is first.verdict and again.notes[1:] == first.notes
    assert again.notes[0].startswith("not asked again: only a FAIL is confirmed")
    assert Losing.asked == []


def test_a_gate_on_time_is_not_asked_again_and_stays_judged() -> None:
    slow = outcomes_of(run(words=("kettle",)))
    assert slow.run is not None
    calls = slow.run.calls.assign(latency_ms=slow.run.calls["latency_ms"] * 0 + 9.0)
    made = replace(slow, run=replace(slow.run, calls=calls))
    one = run()
    one = replace(one, calls=one.calls.assign(latency_ms=one.calls["latency_ms"] * 0 + 3.0))
    first = compare(one, made, latency_gate=True)
    assert "3.00 times as long" in first.verdict.reason
    assert not needs_confirming(first)
    assert confirm(first, Losing, latency_gate=True).verdict is first.verdict
    # Where the first run could judge the time, the fresh one need not.
    quick = replace(slow, run=replace(slow.run, calls=calls.assign(latency_ms=3.0)))
    first = compare(one, quick, latency_gate=True)
    assert needs_confirming(first)
    assert confirm(first, Losing, latency_gate=True).verdict.word == "SAME"


def test_lost_must_probes_of_the_first_run_stay_named() -> None:
    marked = probes(must=True)
    first = compare(run(probes=marked), run(probes=marked, words=("kettle",)))
    assert first.verdict.word == "FAIL" and needs_confirming(first)
    again = confirm(first, Losing)
    assert "marked must and lost in the first run: kettle-attic" in again.notes[1]


def test_a_leak_is_never_explained_away() -> None:
    leaky = [*probes(29), me.Probe("leaky", "secret", [
        me.Record("s1", "The secret of ana.", "ana"), me.Record("s2", "A secret of bo.", "bo"),
    ], ["s1"], scope="ana", forbid=["s2"])]  # fmt: skip
    made = run(probes=leaky, words=("kettle",))
    before = outcomes_of(run(probes=leaky))
    one = outcomes_of(made)
    rows = one.probes.copy()
    rows.loc[rows["probe"].eq("leaky"), "n_leaked"] = 1
    first = compare(before, replace(one, probes=rows))
    assert first.verdict.word == "FAIL"
    assert not needs_confirming(first)
    again = confirm(first, Losing)
    assert again.verdict is first.verdict and "a gate" in again.notes[0]


def test_a_broken_contract_or_leak_of_the_repeats_fails() -> None:
    class Leaking(Losing):
        def info(self) -> dict[str, Any]:
            return super().info() | {"name": "Losing"}

        def search(self, query: str, **options: Any) -> Any:
            hits = super().search(query, **options)
            return [*hits, *hits] if query.startswith("the ") else hits

    again = confirm(failed(), Leaking)
    assert again.verdict.word == "FAIL"
    assert "contract" in again.verdict.reason


def test_probes_that_share_a_history_are_asked_of_it_again() -> None:
    given = [me.Record(f"r{n}", TEXTS[n]) for n in range(30)]
    shared = [
        me.Probe(probe.name, probe.query, given, [f"r{n}"], history="town")
        for n, probe in enumerate(probes())
    ]
    first = compare(run(probes=shared), run(probes=shared, words=("kettle",)))
    assert first.verdict.word == "FAIL"
    assert confirm(first, Losing).verdict.word == "SAME"


def test_it_takes_the_full_run(tmp_path: Path) -> None:
    first = failed()
    accept(first.current, tmp_path / "now.json", reason="to be read")
    bare = compare(first.baseline, tmp_path / "now.json")
    assert bare.verdict.word == "FAIL"
    with pytest.raises(MemevalError, match="wanted a full run"):
        confirm(bare, Losing)
    path = save_run(first.current.run, tmp_path / "run.json")  # type: ignore[arg-type]
    assert confirm(compare(first.baseline, load_run(path)), Losing).verdict.word == "SAME"
    path = save_run(first.current.run, tmp_path / "bare.json", texts=False)  # type: ignore[arg-type]
    with pytest.raises(MemevalError, match="without texts"):
        confirm(compare(first.baseline, load_run(path)), Losing)


def test_another_store_is_refused() -> None:
    class Other(Losing):
        pass

    with pytest.raises(IncomparableRunsError, match="store: Losing in the run, Other now"):
        confirm(failed(), Other)


def test_a_pipeline_must_be_given_again() -> None:
    def retrieve(store: Any, view: Any) -> Any:
        return store.search(view.query, k=view.k, scope=view.scope)

    first = compare(run(retrieve=retrieve), run(retrieve=retrieve, words=("kettle",)))
    with pytest.raises(MemevalError, match="give retrieve="):
        confirm(first, Losing)
    assert confirm(first, Losing, retrieve=retrieve).verdict.word == "SAME"


def test_margin_and_level_and_rule_stay_as_they_were() -> None:
    first = compare(outcomes_of(run()), outcomes_of(run(words=("kettle",))), margin=0.3, looks=1,
                    rule="tolerance")  # fmt: skip
    again = confirm(first, Losing)
    assert (again.margin, again.alpha, again.rule) == (0.3, first.alpha, "tolerance")
    assert first.alpha == pytest.approx(0.05 / (2 * 3))
    assert again.verdict.word in ("SAME", "PASS")


def test_false_alarms_of_an_unchanged_store_are_rarer_once_confirmed() -> None:
    class Noisy(SqliteStore):
        """Loses one answer in eight."""

        capabilities = VARYING
        dice = random.Random(5)

        def search(self, query: str, **options: Any) -> Any:
            hits = super().search(query, **options)
            return [] if query.startswith("the ") and self.dice.random() < 0.125 else hits

    suite = probes(12)
    first, second = [], []
    for _ in range(8):
        before, after = (me.run(suite, Noisy, repeats=1) for _ in range(2))
        # Only newly failing probes fail it here.
        made = compare(before, after, rule="tolerance", tolerance=0.9)
        first.append(made.verdict.word == "FAIL")
        second.append(confirm(made, Noisy, repeats=3, tolerance=0.9).verdict.word == "FAIL")
    assert sum(first) >= 5
    assert sum(second) <= sum(first) / 2


def losing() -> Losing:
    return Losing()


def test_the_command_line_confirms_a_run_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    first = failed()
    for side in (first.baseline, first.current):
        assert side.run is not None
        save_run(side.run, tmp_path / f"{'then' if side is first.baseline else 'now'}.json")
    files = ["compare", "then.json", "now.json", "--quiet"]
    assert main(files) == 1
    assert main([*files, "--confirm", "--store", "tests.test_confirming:losing"]) == 0
    assert "not confirmed" in " ".join(capsys.readouterr().out.split())
    again = ["compare", "then.json", "then.json", "--confirm", "--store", "sqlite"]
    assert main(again) == 0
    assert "not asked again: only a FAIL is confirmed" in capsys.readouterr().err
    monkeypatch.setattr("tests.test_confirming.Losing.words", ("kettle",))
    assert main([*files, "--confirm", "--store", "tests.test_confirming:losing"]) == 1
    assert main([*files, "--store", "sqlite"]) == 2
    assert "--confirm" in capsys.readouterr().err
