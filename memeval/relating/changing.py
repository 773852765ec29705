"""Relations of a store before and after something is done to it: R2, R3, R6, R7, R12, R13, R13b."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from memeval.record import Record
from memeval.relating.answers import Answer, Rule
from memeval.relating.lab import Bench, Lab, Pair
from memeval.relating.trials import Judge, Trial, compare, settled
from memeval.relating.worlds import TWINS, Question, World


def twins_elsewhere(lab: Lab, world: World) -> Iterator[Trial]:
    """R3: near copies of what is asked for are written to other scopes."""
    twins = [
        replace(world.twin_of(target, n), scope=world.foreign()[n])
        for target in world.targets
        for n in range(TWINS)
    ]
    foreign = {one.id: one for one in (*world.records, *twins) if one.scope != world.scope}
    same = compare(_rule(lab), "near copies were written to other scopes")

    def judge(before: Pair, after: Pair, question: Question) -> Trial:
        for one, other in ((before.top, after.top), (before.whole, after.whole)):
            leak = next((foreign[f.record] for f in other.found if f.record in foreign), None)
            if leak is not None:
                finding = "a record of another scope came back"
                return Trial(question.query, finding, (leak,), one, other)
        target, own_text = question.target, question.query == question.target.text
        if own_text and before.top.is_first(target.id) and not after.top.is_first(target.id):
            finding = "near copies were written to other scopes, and the record is first no more"
            return Trial(question.query, finding, (target,), before.top, after.top)
        return same(before, after, question)

    with lab.bench(world, "R3") as bench:
        before = bench.ask_all()
        bench.write(twins)
        yield from settled(bench, "R3", before, bench.ask_all(), judge)


def written_twice(lab: Lab, world: World) -> Iterator[Trial]:
    """R6: what is asked for is written a second time, exactly as it was."""
    with lab.bench(world, "R6") as bench:
        before = bench.ask_all()
        bench.write(world.targets)
        judge = _once_each(bench, compare(_rule(lab), "records were written a second time"))
        yield from settled(bench, "R6", before, bench.ask_all(), judge)


def _once_each(bench: Bench, same: Judge) -> Judge:
    """Judge that refuses a record which comes back more often than the store has made of it."""
    known = {record.id: record for record in bench.world.records}

    def judge(before: Pair, after: Pair, question: Question) -> Trial:
        counts = Counter(one.record for one in after.whole.found if one.record in known)
        for name, n in counts.items():
            if name is not None and n > bench.copies(name):
                finding = f"a record that was written twice came back {n} times in one answer"
                return Trial(question.query, finding, (known[name],), before.whole, after.whole)
        return same(before, after, question)

    return judge


def written_and_deleted(lab: Lab, world: World) -> Iterator[Trial]:
    """R7: further records are written and deleted again; near copies, where these are kept."""
    further = [world.twin_of(target, TWINS) for target in world.targets]
    if lab.declared.dedupes:
        further = list(world.spares)
    judge = compare(_rule(lab), "further records were written and deleted again")
    with lab.bench(world, "R7") as bench:
        before = bench.ask_all()
        bench.write(further)
        bench.delete(further)
        yield from settled(bench, "R7", before, bench.ask_all(), judge)


def unrelated_added(lab: Lab, world: World) -> Iterator[Trial]:
    """R2: records on something else are written; the first answers are compared."""
    rule = Rule(texts=False)
    with lab.bench(world, "R2") as bench:
        before = bench.ask_all()
        bench.write(world.spares)
        tops = [Pair(pair.top, pair.top) for pair in before]
        after = [Pair(pair.top, pair.top) for pair in bench.ask_all()]
        judge = compare(rule, "unrelated records were added")
        yield from settled(bench, "R2", tops, after, judge, lambda q: _tops(bench.ask_one(q)))


def _tops(pair: Pair) -> Pair:
    return Pair(pair.top, pair.top)


def superseded(lab: Lab, world: World) -> Iterator[Trial]:
    """R12: a record with another value supersedes what is asked for."""
    with lab.bench(world, "R12") as bench:
        for old in world.targets:
            before = bench.ask(old.text, world.n_own)
            new = replace(world.twin_of(old, TWINS + 1), supersedes=(old.id,))
            bench.write([new])
            yield _replaced(bench, before, old, new)


def _replaced(bench: Bench, before: Answer, old: Record, new: Record) -> Trial:
    trial: list[Trial] = []

    def check() -> str | None:
        trial[:] = [_judge_replaced(bench, before, old, new)]
        return trial[0].finding

    bench.lab.until("R12", check)
    return trial[0]


def _judge_replaced(bench: Bench, before: Answer, old: Record, new: Record) -> Trial:
    n = bench.world.n_own
    by_old = bench.ask(old.text, n)
    by_new = [bench.ask(new.text, n) for _ in range(bench.lab.tries)]
    for answer in (by_old, *by_new):
        if answer.has(old.id):
            finding = "a superseded record came back"
            return Trial(answer.query, finding, (old, new), before, answer)
    if not any(answer.has(new.id) for answer in by_new):
        finding = "the record that supersedes another is not found"
        return Trial(new.text, finding, (old, new), before, by_new[-1])
    return Trial(new.text)


def deleted(lab: Lab, world: World) -> tuple[list[Trial], list[Trial]]:
    """R13 and R13b: what is asked for is deleted, one after the other; then the rest is asked."""
    gone: list[Trial] = []
    with lab.bench(world, "R13") as bench:
        rest = [r for r in world.records if r.scope == world.scope and r not in world.targets]
        there = {record.id for record in rest if bench.ask(record.text, 2).has(record.id)}
        for target in world.targets:
            before = bench.ask(target.text, world.n_own)
            bench.delete([target])
            gone.append(_gone(bench, before, target))
        left = [_left(bench, record) for record in rest if record.id in there]
    return gone, left


def _gone(bench: Bench, before: Answer, target: Record) -> Trial:
    after: list[Answer] = []

    def check() -> str | None:
        after[:] = [bench.ask(target.text, bench.world.n_own)]
        return "a deleted record came back" if after[0].has(target.id) else None

    finding = bench.lab.until("R13", check)
    if finding is None:
        return Trial(target.text)
    return Trial(target.text, finding, (target,), before, after[0])


def _left(bench: Bench, record: Record) -> Trial:
    answer = bench.ask(record.text, bench.world.n_own)
    if answer.has(record.id):
        return Trial(record.text)
    finding = "others were deleted, and a record is found no more"
    return Trial(record.text, finding, (record,), answer, "wanted: this record")


def _rule(lab: Lab) -> Rule:
    """What is done may move statistics and clocks, and with them the scores."""
    return Rule(scores_move=True, texts=not lab.declared.rewrites)
