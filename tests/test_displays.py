"""What a cell shows that ends in a result: safe, withheld where it must be, and 80 columns wide."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from html.parser import HTMLParser
from typing import Any

import pandas as pd
import pytest
from report_fixtures import (
    INVALID,
    LONG,
    PAYLOADS,
    SCRIPT,
    diagnosed_run,
    hostile_pair,
    hostile_run,
)

import memeval as me
from memeval import drift
from memeval.comparing.comparability import compare_manifests
from memeval.controls import Controls
from memeval.diagnosis import Diagnosis
from memeval.drift import compare_drift
from memeval.frames import STORE_CHECKS, SURVEY, conform
from memeval.gap import Gap
from memeval.ledger import Wear
from memeval.mutation import Mutation
from memeval.outcomes import outcomes_of
from memeval.rankings import rank_expected
from memeval.relations import Relations
from memeval.report.cards import card_of
from memeval.report.layout import WIDTH
from memeval.runs import Run
from memeval.text import display_width
from memeval.verdicts import Verdict
from tests.grown import drift_probes, grown
from tests.mutants import kills, saboteurs

EVIL = " ".join(PAYLOADS)


@lru_cache(maxsize=1)
def run() -> Run:
    return hostile_run()


def controls(judged: Run) -> Controls:
    return Controls(judged.controls, judged, {})


def relations() -> Relations:
    frame = pd.DataFrame({"relation": [SCRIPT], "kind": "hard", "statement": EVIL,
                          "applicable": True, "n": 3, "n_violated": 1, "share": 0.3})  # fmt: skip
    told = pd.DataFrame({"relation": [SCRIPT], "trial": 1, "query": EVIL, "records": EVIL,
                         "before": EVIL, "after": EVIL, "finding": EVIL,
                         "next_step": EVIL})  # fmt: skip
    conformed = [me.frames.conform(one, me.frames.SCHEMAS[name])
                 for one, name in ((frame, "relations"), (told, "violations"))]  # fmt: skip
    return Relations(*conformed)


def mutation(judged: Run) -> Mutation:
    wanted = {field: None for field in inspect.signature(Mutation).parameters}
    given = {"kills": kills().assign(probe=EVIL[:60]), "saboteurs": saboteurs(fault=EVIL),
             "identity": judged, "notes": (EVIL,), "skeletons": {}, "repeats": 1}  # fmt: skip
    return Mutation(**{name: given.get(name) for name in wanted})


def trend(**more: Any) -> Any:
    return replace(drift.headline(drift_probes(), "recall_all"), metric=EVIL, reason=EVIL, **more)


def evil_ranks() -> Any:
    return rank_expected([["a"], []], [["a"], ["b"]])


def evil_survey() -> me.Survey:
    told = {"suite": EVIL, "store": EVIL, "version": EVIL, "n_probes": 9}
    rows = [
        told | {"verdict": "FAILED", "reason": EVIL},
        told | {"verdict": "PASS", "controls": "valid", "recall_all": 0.5, "leaks": 2},
    ]
    return me.Survey(conform(pd.DataFrame(rows), SURVEY))


def evil_check() -> me.StoreCheck:
    told = {"found": EVIL, "declared": EVIL, "evidence": EVIL, "next_step": EVIL}
    rows = [told | {"question": EVIL, "status": "broken"}, {"question": "k", "status": "ok"}]
    return me.StoreCheck(conform(pd.DataFrame(rows), STORE_CHECKS), EVIL)


# Of every class what it shows of hostile texts.
RESULTS: dict[str, Callable[[], Any]] = {
    "Calls": lambda: me.Calls(({"cases": [EVIL]},), ((EVIL,),), {EVIL: EVIL}, (EVIL,)),
    "Comparability": lambda: compare_manifests(*map(outcomes_of, hostile_pair())),
    "Comparison": lambda: me.compare(*hostile_pair()),
    "Controls": lambda: controls(run()),
    "Diagnosis": lambda: Diagnosis(run().causes, EVIL, EVIL),
    "DriftComparison": lambda: replace(compare_drift(drift_probes(), drift_probes()), reason=EVIL),
    "Gap": lambda: Gap(0.5, 0.4, 10, 10, 0.1, -0.2, 0.4, "no difference seen"),
    "Growth": lambda: replace(grown().growth, reason=EVIL),
    "Manifest": lambda: replace(run().manifest, notes=(EVIL,)),
    "Mutation": lambda: mutation(run()),
    "Outcomes": lambda: outcomes_of(run(), source=EVIL),
    "Probe": lambda: run().suite[0],
    "ProbeResult": lambda: list(run())[1][0],
    "Ranks": evil_ranks,
    "Relations": relations,
    "Run": run,
    "Shape": lambda: replace(grown().latency, reason=EVIL),
    "Shrunk": lambda: me.Shrunk(run().suite[0], "leaked", 300, 2, 9, False),
    "Simulation": lambda: replace(grown(), manifest={"store": EVIL}),
    "StoreCheck": evil_check,
    "Suite": lambda: run().suite,
    "Summary": lambda: list(run())[0],
    "Survey": evil_survey,
    "Trend": trend,
    "Validity": lambda: run().validity,
    "Verdict": lambda: Verdict("FAIL", EVIL, EVIL, 1),
    "Wear": lambda: Wear(30, 26, 0, 2.0, True),
}


@lru_cache(maxsize=len(RESULTS))
def made(name: str) -> Any:
    return RESULTS[name]()


# Not the outcome of anything: what is put in, and what goes wrong.
INPUTS = {
    "Advance", "BaseStore", "Capabilities", "Consolidate", "ConstantStore", "Delete", "Fault",
    "Hit", "HybridStore", "NewestStore", "NullStore", "OracleStore", "RandomStore", "Receipt",
    "Record", "Saboteur", "ShuffledStore", "SqliteStore", "Store", "VectorStore",
}  # fmt: skip
# Value objects: their repr is how they are made, their card is for notebooks.
AS_MADE = {"Probe"}


def test_every_public_class_is_a_result_or_an_input() -> None:
    for room in (me, drift):
        for name in room.__all__:
            found = getattr(room, name)
            if not inspect.isclass(found) or issubclass(found, BaseException):
                continue
            assert (name in RESULTS) != (name in INPUTS), name


class Page(HTMLParser):
    """Tags and attributes of a piece of HTML, and whether each that opens is closed."""

    VOID = frozenset({"br", "hr", "img"})

    def __init__(self, html: str) -> None:
        super().__init__()
        self.seen: set[str] = set()
        self.open: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        self.attributes += attrs
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


OURS = {"div", "p", "b", "bdi", "span", "table", "thead", "tbody", "tr", "th", "td", "ul", "li",
        "details", "summary", "pre", "code", "svg", "polyline"}  # fmt: skip


@pytest.mark.parametrize("name", RESULTS)
def test_html_of_hostile_texts_is_safe_and_fits_light_and_dark(name: str) -> None:
    html = made(name)._repr_html_()
    page = Page(html)
    assert page.open == [] and page.seen <= OURS
    assert not [key for key, _ in page.attributes if key.startswith("on") or key == "src"]
    assert re.match(r'<div class="memeval tex2jax_ignore mathjax_ignore"', html)
    styles = " ".join(value or "" for key, value in page.attributes if key == "style")
    # A colour is one of the theme, or none: what is fixed cannot be read on one of the two.
    fixed = re.sub(r"var\([^()]*(\([^()]*\))?\)", "", styles)
    colour = r"(?<![-\w])(color|background(-color)?):\s*(?!inherit|transparent)[^\s;]"
    assert not re.search(colour, fixed)
    assert not {"\ud800", "\x1b", "\u202e", "\x00"} & set(html)
    assert LONG not in html and len(html) < 400_000


@pytest.mark.parametrize("name", sorted(set(RESULTS) - AS_MADE))
def test_a_terminal_shows_it_in_80_columns(name: str) -> None:
    words = repr(made(name))
    for line in words.split("\n"):
        assert display_width(line) <= WIDTH, line
        assert line.isprintable(), line
    assert not words.startswith(f"{name}(") and len(words) < 200_000


@pytest.mark.parametrize("name", RESULTS)
def test_the_card_and_the_words_say_the_same_verdict(name: str) -> None:
    result = made(name)
    word = getattr(getattr(result, "verdict", None), "word", None)
    if name == "Controls":  # the page tells the suite in a word, and the store in sentences
        word = result.validity.status
        assert f"{word.upper()}</b>" in result._repr_html_() and word in repr(result)
        return
    if word is not None:
        assert word in repr(result) and word in result._repr_html_()


def test_cards_hold_what_was_measured() -> None:
    words = repr(drift.headline(drift_probes(), "recall_all"))
    found = drift.headline(drift_probes(), "recall_all")
    assert found.verdict.upper() in words and f"{found.slope_per_1k:+.3f}" in words
    assert "WORN OUT" in repr(Wear(30, 26, 0, 2.0, True))
    assert "0.500 of 10" in repr(Gap(0.5, 0.4, 10, 10, 0.1, -0.2, 0.4, "no difference seen"))
    assert repr(Verdict("PASS", "no leak", "go on", 0)).splitlines() == [
        "Verdict: PASS", "no leak", "  next: go on"
    ]  # fmt: skip
    told = Diagnosis(diagnosed_run().causes, "two fail", "mend the first")
    for probe in told.causes["probe"]:
        assert probe in repr(told) and probe in told._repr_html_()
    with pytest.raises(TypeError, match="found int, wanted one of Calls, Compar"):
        card_of(3)


NUMBERS = {"Run", "Controls", "Mutation", "Outcomes", "Validity"}


@pytest.mark.parametrize("name", sorted(NUMBERS))
def test_nothing_is_told_of_an_invalid_suite(name: str) -> None:
    bad = replace(diagnosed_run(), validity=INVALID)
    good = diagnosed_run()
    of: dict[str, Callable[[Run], Any]] = {
        "Run": lambda one: one, "Controls": controls, "Mutation": mutation,
        "Outcomes": outcomes_of, "Validity": lambda one: one.validity,
    }  # fmt: skip
    shown = of[name](bad)
    for words in (repr(shown), shown._repr_html_()):
        assert "invalid" in words.lower()
        assert "the store recalls 3 of 5" not in words
    if name != "Validity":
        value = f"{good.recall_at_k:.3f}"
        assert value not in shown._repr_html_().replace("0.402", "")
