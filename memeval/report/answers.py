"""What the first screen answers: can it be believed, does it leak, did it pass, what is next."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from memeval.chances import NOT_MEASURED, leaks_of
from memeval.report import control_rows, drift_page, mutation_page
from memeval.report.cause_rows import CauseRow
from memeval.report.comparison_page import Section as Compared
from memeval.report.figures import count, figure
from memeval.report.probes import anchor
from memeval.runs import Run

SIGNS: Mapping[str, str] = MappingProxyType({"good": "✓", "bad": "✗", "warn": "!", "none": "–"})


@dataclass(frozen=True, slots=True)
class Answer:
    """One line of the first screen: a question, the answer in a word, and the words behind it."""

    question: str
    link: str
    tone: str
    sign: str
    word: str
    words: str = ""


@dataclass(frozen=True, slots=True)
class Next:
    """What to do next: the probe to mend, if there is one, and the step."""

    probe: str
    link: str
    step: str


def answers(
    run: Run,
    compared: Compared | None,
    drift: drift_page.Section | None,
    mutation: mutation_page.Section | None,
) -> Iterator[Answer]:
    """Answer each question of the first screen; of an invalid suite only those of the suite."""
    status, verdict = run.validity.status, run.verdict
    tone = {"valid": "good", "invalid": "bad"}.get(status, "warn")
    word, sentence = control_rows.SUITE_WORDS[status]
    yield Answer("Suite", "controls", tone, SIGNS[tone], word, sentence)
    if not control_rows.withheld(run.validity):
        yield _leaks(run)
    tone = "good" if verdict.word == "PASS" else "bad"
    sign = SIGNS["warn"] if verdict.word == "INVALID" else SIGNS[tone]
    yield Answer("Verdict", "verdict", tone, sign, verdict.word, _passed(run))
    if compared is not None:
        told = compared.comparison.verdict.word
        changed = "" if compared.comparison.withheld else compared.counted
        yield Answer("Baseline", "comparison", compared.tone, compared.sign, told, changed)
    if drift is not None:
        yield Answer("Drift", "drift", drift.tone, drift.sign, drift.word, "as the store grows")
    if mutation is not None:
        told = mutation.verdict.word
        yield Answer("Faults", "mutation", mutation.tone, mutation.sign, told, mutation.head)


def _leaks(run: Run) -> Answer:
    seen = leaks_of(run.summary)
    if not seen.measured:
        return Answer("Leaks", "scopes", "none", SIGNS["none"], NOT_MEASURED, "nothing could leak")
    if seen.n_leaked:
        word, n = count(seen.n_leaked, "leaked record"), int((run.results["n_leaked"] > 0).sum())
        return Answer("Leaks", "numbers", "bad", SIGNS["bad"], word, f"in {count(n, 'probe')}")
    bound = "" if seen.high != seen.high else f", at most {figure(seen.high)} of probes"
    words = f"in {count(seen.n_chances, 'chance')}{bound}"
    return Answer("Leaks", "numbers", "good", SIGNS["good"], "none seen", words)


def _passed(run: Run) -> str:
    if control_rows.withheld(run.validity):
        return ""
    passed = run.results["passed"]
    return f"{int(passed.eq(True).sum())} of {count(int(passed.notna().sum()), 'probe')} passed"


def next_step(run: Run, causes: Sequence[CauseRow]) -> Next | None:
    """Say the one thing to do: mend the first cause, else what the verdict says."""
    if causes:
        first: Any = causes[0]
        return Next(first.probe, anchor(first.probe), first.next_step or "")
    step = run.verdict.next_step or run.validity.next_step
    return Next("", "", step) if step else None
