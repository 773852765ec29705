"""Relations of one store that is only read: R8, R9, R9b, R10, R11, R11b, R15, R16."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memeval.record import Record
from memeval.relating.answers import Answer, Rule, difference
from memeval.relating.everyday import NONSENSE, POOL
from memeval.relating.lab import TOP, Bench, Lab, Pair
from memeval.relating.trials import Trial, excerpts
from memeval.relating.worlds import FIRST, PER_WORLD, Question, World

FIVE = 5


def same_twice(bench: Bench, before: Sequence[Pair]) -> Iterator[Trial]:
    """R8: the same query twice."""
    rule = Rule(same_state=True)
    for one, question in zip(before, bench.world.questions, strict=True):
        first, second = (bench.ask(question.query, TOP) for _ in range(2))
        for earlier in (first, one.top):
            differs = difference(earlier, second, rule)
            if differs is not None:
                finding = f"asked the same twice, and {differs}"
                yield Trial(question.query, finding, (question.target,), earlier, second)
                break
        else:
            yield Trial(question.query)


def prefix(bench: Bench, less: int, more: int) -> Iterator[Trial]:
    """R9 and R9b: what comes back for a smaller k begins what comes back for a larger one."""
    for question in bench.world.questions:
        few, many = bench.ask(question.query, less), bench.ask(question.query, more)
        differs = _no_prefix(few, many)
        if differs is None:
            yield Trial(question.query)
        else:
            finding = f"asked for {less} and for {more}: {differs}"
            yield Trial(question.query, finding, (question.target,), few, many)


def _no_prefix(few: Answer, many: Answer) -> str | None:
    for one in (few, many):
        if len(one.found) > one.k:
            return f"{len(one.found)} came back where {one.k} were asked for"
    if len(few.found) < min(few.k, len(many.found)):
        return f"{len(few.found)} came back, though the longer answer has {len(many.found)}"
    return difference(few, many.top(few.k), Rule(same_state=True, whole=False))


def self_retrieval(bench: Bench) -> Iterator[Trial]:
    """R11: a record's own text finds it first."""
    for target in bench.world.targets:
        found = _found_first(bench, target)
        if found is None:
            yield Trial(target.text)
        else:
            finding = "asked for its own text, a record is " + (
                "not the first that comes back" if found.has(target.id) else "not found"
            )
            yield Trial(target.text, finding, (target,), found, "wanted: this record first")


def _found_first(bench: Bench, target: Record) -> Answer | None:
    """None where the record is found first in one of several tries, else the last answer."""
    answer: list[Answer] = []

    def check() -> str | None:
        for _ in range(bench.lab.tries):
            answer[:] = [bench.ask(target.text, TOP)]
            if answer[0].is_first(target.id):
                return None
        return "not first"

    return None if bench.lab.until("R11", check) is None else answer[0]


def fidelity(bench: Bench) -> Iterator[Trial]:
    """R11b: texts come back as they were written."""
    texts = {record.id: record for record in bench.world.records}
    for question in bench.world.questions:
        answer = bench.ask(question.target.text, bench.world.n_own)
        changed = next(
            (one for one in answer.found if one.record and one.text != texts[one.record].text),
            None,
        )
        if changed is None or changed.record is None:
            yield Trial(question.target.text)
        else:
            record = texts[changed.record]
            came, wanted = excerpts(changed.text, record.text)
            finding = "a text came back that is not what was written"
            told = f"wanted: {wanted}"
            yield Trial(question.target.text, finding, (record,), f"came back: {came}", told)


def typing(bench: Bench, before: Sequence[Pair]) -> Iterator[Trial]:
    """R10: case and punctuation of the query."""
    for one, question in zip(before, bench.world.questions, strict=True):
        query = f"{question.query.upper().replace(' ', ', ')}?!"
        answer = bench.ask(query, bench.world.n_own)
        differs = difference(one.whole, answer, Rule(texts=False, scores_move=True))
        if differs is None:
            yield Trial(query)
        else:
            finding = f"asked in capitals with more punctuation, and {differs}"
            yield Trial(query, finding, (question.target,), one.whole, answer)


def nonsense(bench: Bench) -> Iterator[Trial]:
    """R15: words that nobody wrote."""
    for query in NONSENSE[:PER_WORLD]:
        answer = bench.ask(query, TOP)
        if answer.found:
            finding = "records came back for words that stand in none of them"
            yield Trial(query, finding, (), answer, "wanted: no record")
        else:
            yield Trial(query)


def wordings(lab: Lab, number: int) -> Iterator[Trial]:
    """R16: two wordings of one question, over invented records."""
    start = number * PER_WORLD
    told = [POOL[(start + n) % len(POOL)] for n in range(2 * PER_WORLD)]
    records = tuple(Record(f"w{n}", one.text, "ana", FIRST) for n, one in enumerate(told))
    questions = tuple(
        Question(record, one.asked) for record, one in zip(records[:PER_WORLD], told, strict=False)
    )
    world = World(f"wordings {number}", "ana", records, records, questions, (), FIRST)
    with lab.bench(world, "R16") as bench:
        for record, one in zip(records[:PER_WORLD], told, strict=False):
            first, second = bench.ask(one.asked, 1), bench.ask(one.otherwise, 1)
            if not first.found and not second.found:
                continue  # nothing that could differ
            if first.keys == second.keys:
                yield Trial(one.asked)
            else:
                finding = f'asked as "{one.otherwise}", another record is first'
                yield Trial(one.asked, finding, (record,), first, second)
