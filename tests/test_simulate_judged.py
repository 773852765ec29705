"""What a growing store comes to: an invalid suite shows no number, a gate fails at any size."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from report_fixtures import INVALID

import memeval as me
from memeval.cli.drift import exit_code
from memeval.cli.forms import simulation_payload
from memeval.errors import MemevalError, WeakSuiteWarning
from memeval.record import Hit, Record
from memeval.report.drift_text import simulation_markdown, simulation_text
from memeval.runs import Validity
from memeval.sessions import Session
from memeval.simulate import run_simulation
from memeval.simulating.judging import ALONE, _unanswered, judged
from memeval.simulation import Simulation, load_simulation, save_simulation
from memeval.stores.base import Capabilities
from memeval.stores.broken import NullStore
from memeval.suite import Suite
from tests import odd_stores
from tests.growing_stores import small
from tests.grown import drift_probes, grown
from tests.suites import suite

NOTES = [Session(n, None, (Record(f"s{n}", f"remark {n}"),)) for n in range(4)]


def simulated(probes: Any, store: Any = "sqlite", **more: Any) -> Simulation:
    told: dict[str, Any] = {"sessions": 4, "every": 4, "cohorts": 1, "source": NOTES} | more
    return run_simulation(probes, store, **told)


@pytest.fixture(scope="module")
def sound() -> Simulation:
    return simulated(suite())


def as_json(simulation: Simulation) -> str:
    return json.dumps(simulation_payload(simulation), allow_nan=False)


FORMS = [repr, simulation_text, simulation_markdown, Simulation._repr_html_, as_json]


def test_a_suite_is_judged_as_a_run_judges_it(sound: Simulation) -> None:
    assert sound.validity.status == me.run(suite(), "sqlite").validity.status == "valid"
    assert sound.validity.store_faults == ()
    for probes, word in ((suite(3, 1, 1), "weak"), (Suite.of([*suite()]), "invalid")):
        if word == "weak":
            with pytest.warns(WeakSuiteWarning, match="positive probes: 4, at least 20"):
                made = simulated(probes)
            with pytest.warns(WeakSuiteWarning):
                run = me.run(probes, "sqlite")
        else:
            made, run = simulated(probes), me.run(probes, "sqlite")
        assert made.validity.status == run.validity.status == word
        assert made.validity.reasons == run.validity.reasons


def every_suite() -> dict[str, Suite]:
    """One of each outcome, with histories that are shared, end, expire and are filtered."""
    shipped = me.load()
    return {
        "valid": shipped,
        "unchecked": shipped[:9],
        "weak": Suite(tuple(shipped)[:25], shipped.haystack, shipped.haystack_name),
        "no haystack": Suite.of([*shipped]),
        "no positive": Suite(tuple(shipped.negatives), shipped.haystack, shipped.haystack_name),
    }


@pytest.mark.filterwarnings("ignore::memeval.errors.WeakSuiteWarning")
def test_it_is_judged_as_a_run_of_a_store_that_returns_nothing() -> None:
    for name, probes in every_suite().items():
        run = me.run(probes, NullStore, repeat_check=False, check_store=False)
        made, validity = judged(probes), run.validity
        assert (made.status, made.reasons) == (validity.status, validity.reasons), name
        assert made.store_faults == ()
        if made.status in ("invalid", "unchecked"):
            assert made == replace(validity, store_faults=()), name
        else:
            assert made.notes == (ALONE,)
        counted = _unanswered(probes).calls["n_eligible"]
        assert counted.tolist() == run.calls["n_eligible"].tolist(), name


def test_nobody_judges_a_bare_list_nor_chosen_probes() -> None:
    bare, chosen = simulated([*suite()]), simulated(suite()[:5])
    assert (bare.validity.status, chosen.validity.status) == ("unchecked", "unchecked")
    assert "a bare list of probes" in simulation_text(bare)
    assert "5 of 30 probes were chosen" in " ".join(simulation_text(chosen).split())
    for made in (bare, chosen):
        assert "SLOPES" in simulation_text(made)


def test_judging_asks_nothing_of_the_store() -> None:
    calls: list[str] = []

    class Noting(odd_stores.Plain):
        def put(self, record: Record) -> Any:
            calls.append(record.id)
            return super().put(record)

        def search(self, query: str, *, k: int, scope: str) -> Any:
            calls.append(query)
            return super().search(query, k=k, scope=scope)

    def asked(probes: Any) -> list[str]:
        calls.clear()
        simulated(probes, Noting)
        return list(calls)

    assert asked(small()) == asked([*small()])


def test_what_was_judged_before_is_taken_as_it_is() -> None:
    judged = Validity("invalid", ("luck alone recalls half",), next_step="mend it")
    made = simulated(suite(), validity=judged)
    assert made.validity is judged and made.verdict.exit_code == 4
    with pytest.raises(
        MemevalError, match=r"validity is a Controls, wanted a Validity.*\.validity"
    ):
        simulated(suite(), odd_stores, validity=me.run_controls([*small()], "sqlite"))


def test_an_invalid_suite_shows_no_number_and_the_frames_stay() -> None:
    made = simulated(small())
    verdict = made.verdict
    assert (verdict.word, verdict.exit_code) == ("INVALID", 4) and "luck" in verdict.reason
    assert made.withheld and "memeval control" in verdict.next_step
    for form in FORMS:
        words = form(made)
        assert "INVALID" in words and "luck alone recalls" in words
        # What the suite comes to by luck may be told; nothing of what the store answered.
        assert not re.search("recall_all|slope|SLOPES|per 1,000|p95|office0|DECLINE|FLAT|CANNOT",
                             words), form  # fmt: skip
    assert len(made.drift_probes) and len(made.slopes) and made.trend.n == 3


def test_what_was_judged_is_saved_and_an_older_file_is_unchecked(
    sound: Simulation, tmp_path: Path
) -> None:
    weak = replace(sound, validity=Validity("weak", ("thin",), ("faulty",), ("note",), "add"))
    path = save_simulation(weak, tmp_path / "s.json")
    assert load_simulation(path).validity == weak.validity
    told = json.loads(path.read_text())
    del told["validity"], told["tables"]["drift_probes"]["n_contract"]
    del told["tables"]["drift_probes"]["breaches"]
    path.write_text(json.dumps(told))
    older = load_simulation(path)
    assert older.validity.status == "unchecked" and "an older file" in older.validity.notes[0]
    assert older.verdict.word == sound.verdict.word
    assert older.drift_probes["n_contract"].eq(0).all()
    told["validity"] = {"status": "splendid"}
    path.write_text(json.dumps(told))
    with pytest.raises(me.errors.RunFileError, match="damaged.*status is 'splendid'"):
        load_simulation(path)


def test_a_weak_suite_is_called_weak_beside_the_numbers(sound: Simulation) -> None:
    weak = replace(sound, validity=Validity("weak", ("6 positive probes, 20 wanted",)))
    for form in FORMS:
        words = form(weak)
        assert "6 positive probes, 20 wanted" in words and "weak" in words.lower()


def test_a_fault_of_the_store_that_the_controls_found_fails() -> None:
    ranks_badly = Validity("valid", (), ("the store ranks as luck does",), (), "look at order")
    verdict = grown(validity=ranks_badly).verdict
    assert (verdict.word, verdict.exit_code) == ("FAIL", 1)
    assert verdict.reason == "the store ranks as luck does"
    assert simulated(suite(), NullStore, validity=INVALID).verdict.exit_code == 4


class Doubling(odd_stores.Plain):
    """Returns its best hit twice once it holds many records."""

    capabilities = Capabilities(deterministic=True)
    many = 120

    def search(self, query: str, *, k: int, scope: str) -> list[Hit]:
        found = self.found(query, k, scope)
        return [*found[:1], *found][:k] if len(self.kept) > self.many else found


def test_a_contract_that_breaks_as_the_store_grows_fails_the_verdict() -> None:
    source = [
        Session(n, None, tuple(Record(f"s{n}-{i}", f"remark {n} {i}") for i in range(20)))
        for n in range(4)
    ]
    made = simulated([*suite()], Doubling, source=source)
    assert isinstance(made.drift_probes["n_contract"].dtype, type(pd.Series([1]).dtype))
    told = made.drift_probes.groupby("session")["n_contract"].sum()
    # 20 * 4 + 5 + 5 * 2 = 95 records are planted, and 80 written: 175 at the end.
    assert told[0] == 0 and told[4] > 0
    broken = made.drift_probes[made.drift_probes["n_contract"].gt(0)]
    assert set(broken["breaches"]) == {"ids"} and not broken["passed"].any()
    verdict = made.verdict
    assert (verdict.word, verdict.exit_code) == ("FAIL", 1)
    assert "the store broke its contract (ids) in" in verdict.reason
    assert "as the store grew, first at session 4: positive-00, " in verdict.reason
    assert "one id came back twice" in verdict.next_step
    assert simulation_text(made).startswith("DRIFT: CONTRACT BROKEN, ")
    assert "CONTRACT BROKEN" in made._repr_html_() and json.loads(as_json(made))["n_contract"] > 0
    assert exit_code(made) == 1
    unchecked = simulated([*suite()], Doubling, source=source, contract_checks=False)
    assert unchecked.drift_probes["n_contract"].eq(0).all() and exit_code(unchecked) == 0
    assert "contract not checked" in simulation_text(unchecked)


def test_every_objection_is_told_the_gates_first() -> None:
    asked = drift_probes(lambda probe, cohort, session: session < 32 or cohort >= 32)
    asked.loc[0, ["n_leaked", "n_contract"]] = 1
    asked.loc[0, "breaches"] = "ids text"
    verdict = grown(drift_probes=asked).verdict
    parts = verdict.reason.split("; also: ")
    assert [part.split()[0] for part in parts] == ["leaks", "the", "DECLINE:"]
    assert "(ids, text) in 1 probe" in parts[1] and "never traded off" in verdict.next_step
    assert exit_code(grown(drift_probes=asked)) == 1
    assert (exit_code(None), exit_code(grown()), exit_code(grown(validity=INVALID))) == (0, 0, 4)
