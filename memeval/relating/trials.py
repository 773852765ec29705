"""What one trial of a relation came to, and what trials share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from memeval.record import Record
from memeval.relating.answers import Answer, Found, Rule, difference
from memeval.relating.lab import Bench, Pair
from memeval.relating.worlds import Question
from memeval.text import visible

BEFORE, EXCERPT = 25, 60


@dataclass(frozen=True, slots=True)
class Trial:
    """One trial of one relation.

    Attributes
    ----------
    query : str
        What was asked.
    finding : str or None
        What is wrong, a sentence without its end; None where the relation held.
    records : tuple of Record
        Those that matter.
    before, after : Answer, str or None
        The answers that are compared, or in words what was wanted.
    """

    query: str
    finding: str | None = None
    records: tuple[Record, ...] = ()
    before: Answer | str | None = None
    after: Answer | str | None = None


Judge = Callable[[Pair, Pair, Question], Trial]


def compare(rule: Rule, done: str) -> Judge:
    """Judge that holds both answers of a pair against those from before.

    Parameters
    ----------
    rule : Rule
        What may differ.
    done : str
        What was done between, for the finding.
    """

    def judge(before: Pair, after: Pair, question: Question) -> Trial:
        for one, other, whole in (
            (before.whole, after.whole, True),
            (before.top, after.top, False),
        ):
            differs = difference(one, other, replace(rule, whole=whole))
            if differs is not None:
                finding = f"{done}, and {differs}"
                return Trial(question.query, finding, (question.target,), one, other)
        return Trial(question.query)

    return judge


def settled(
    bench: Bench,
    name: str,
    before: Sequence[Pair],
    after: Sequence[Pair],
    judge: Judge,
    again: Callable[[Question], Pair] | None = None,
) -> Iterator[Trial]:
    """Judge all questions; where writes take their time, ask again as long as something is wrong.

    Parameters
    ----------
    bench : Bench
        Where the later answers come from.
    name : str
        The relation.
    before, after : sequence of Pair
        A pair of answers to each question of the world.
    judge : callable
        ``judge(before, after, question)``.
    again : callable, optional
        Asks a question once more; by default as it was asked.
    """
    ask = again or bench.ask_one
    for one, other, question in zip(before, after, bench.world.questions, strict=True):
        trial = [judge(one, other, question)]
        if trial[0].finding is not None and bench.lab.declared.consistency == "eventual":

            def check(
                one: Pair = one, question: Question = question, trial: list[Trial] = trial
            ) -> str | None:
                trial[0] = judge(one, ask(question), question)
                return trial[0].finding

            bench.lab.until(name, check)
        yield trial[0]


def renamed(answer: Answer, names: dict[str, str]) -> Answer:
    """The same answer with records under other names."""
    found = (
        Found(one.record and names.get(one.record, one.record), one.text, one.score)
        for one in answer.found
    )
    return replace(answer, found=tuple(found))


def excerpts(one: str, other: str) -> tuple[str, str]:
    """Quote two texts from shortly before the place where they begin to differ.

    Examples
    --------
    >>> excerpts("Lunch is at noon.", "Lunch is at one.")
    ('"Lunch is at noon."', '"Lunch is at one."')
    """
    same = next(
        (n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b),
        min(len(one), len(other)),
    )
    start = max(0, same - BEFORE)
    lead = "…" if start else ""
    first, second = (f'"{lead}{visible(text[start:], EXCERPT)}"' for text in (one, other))
    return first, second
