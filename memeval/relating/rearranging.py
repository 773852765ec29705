"""Relations of the same records written in another way: R1, R4, R5, R14."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import timedelta

from memeval.relating.answers import Rule
from memeval.relating.lab import Lab, Pair
from memeval.relating.trials import Trial, compare, renamed, settled
from memeval.relating.worlds import Question, World

SHIFT = timedelta(days=-411, hours=-5)


def insertion_order(lab: Lab, world: World, before: Sequence[Pair]) -> Iterator[Trial]:
    """R1: the last record is written first."""
    judge = compare(
        replace(_rule(lab), own_cut=True), "the same records were written in reverse order"
    )
    with lab.bench(world, "R1", world.records[::-1]) as bench:
        yield from settled(bench, "R1", before, bench.ask_all(), judge)


def scopes_renamed(lab: Lab, world: World, before: Sequence[Pair]) -> Iterator[Trial]:
    """R4: every scope takes the name of the next."""
    scopes = world.scopes
    names = dict(zip(scopes, [*scopes[1:], scopes[0]], strict=True))
    records = [replace(record, scope=names[record.scope]) for record in world.records]
    asked = names[world.scope]
    judge = compare(_rule(lab), "the scopes swapped their names")
    with lab.bench(world, "R4", records) as bench:
        yield from settled(
            bench,
            "R4",
            before,
            bench.ask_all(asked),
            judge,
            lambda question: bench.ask_one(question, asked),
        )


def ids_renamed(lab: Lab, world: World, before: Sequence[Pair]) -> Iterator[Trial]:
    """R5: other ids, of which two each differ in case alone."""
    own = [record.id for record in world.records]
    given = [f"note-{n // 2}x" if n % 2 else f"NOTE-{n // 2}X" for n in range(len(own))]
    back = dict(zip(given, own, strict=True))
    names = dict(zip(own, given, strict=True))
    records = [replace(record, id=names[record.id]) for record in world.records]
    judge = compare(
        replace(_rule(lab), own_cut=True), "the same records were written under other ids"
    )

    def told(pair: Pair) -> Pair:
        return Pair(renamed(pair.top, back), renamed(pair.whole, back))

    with lab.bench(world, "R5", records) as bench:
        after = [told(pair) for pair in bench.ask_all()]

        def again(question: Question) -> Pair:
            return told(bench.ask_one(question))

        yield from settled(bench, "R5", before, after, judge, again)


def times_shifted(lab: Lab, world: World, before: Sequence[Pair]) -> Iterator[Trial]:
    """R14: all times, and the time of asking, lie as much earlier."""
    records = [
        record if record.at is None else replace(record, at=record.at + SHIFT)
        for record in world.records
    ]
    rule = replace(_rule(lab), scores_move="now" not in lab.declared.honours)
    judge = compare(rule, "all time stamps were shifted alike")
    asked = world.now + SHIFT
    with lab.bench(world, "R14", records) as bench:
        yield from settled(
            bench,
            "R14",
            before,
            bench.ask_all(None, asked),
            judge,
            lambda question: bench.ask_one(question, None, asked),
        )


def _rule(lab: Lab) -> Rule:
    return Rule(texts=not lab.declared.rewrites)
