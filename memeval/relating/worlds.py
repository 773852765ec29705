"""Small worlds to try relations in: records, whose own texts find them in any sound store.

A text shares at most a quarter of its words with any other, except in families of records that
begin alike: there each has a value, or words, that no other has. So a store that ranks by shared
words, by nearness of vectors, or by both finds a record first when it is asked its own text.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from memeval.haystack import stream, twin
from memeval.record import Record
from memeval.relating.everyday import FAMILIES, LONG, NEGATIONS, POOL, SCOPES
from memeval.suite import Suite
from memeval.text import content_words, count_tokens, normalise

PER_WORLD = 6
TWINS = 4
N_FILLERS, N_ELSEWHERE, N_SPARES = 5, 2, 6
FIRST, SPACING = datetime(2025, 9, 1, 8, tzinfo=UTC), timedelta(days=7, minutes=13)
LEAST_WORDS, LEAST_PLAIN, MOST_TOKENS, STEM = 4, 3, 60, 5


@dataclass(frozen=True)
class Question:
    """What is asked in a world: of the record that is meant, its own text or some words of it."""

    target: Record
    query: str


@dataclass(frozen=True)
class World:
    """Records of a scope that is asked and of two others, and what is asked.

    Attributes
    ----------
    key : str
        Tells the world from others.
    scope : str
        The scope that is asked.
    records : tuple of Record
        In the order of writing.
    targets : tuple of Record
        Those of the asked scope that questions are about: begin alike, long, negated, oldest,
        newest.
    questions : tuple of Question
        One for each target.
    spares : tuple of Record
        Further records of the asked scope, on nothing that the others are about.
    now : datetime
        When it is asked.
    """

    key: str
    scope: str
    records: tuple[Record, ...]
    targets: tuple[Record, ...]
    questions: tuple[Question, ...]
    spares: tuple[Record, ...]
    now: datetime

    @property
    def n_own(self) -> int:
        """Records of the asked scope."""
        return sum(record.scope == self.scope for record in self.records)

    @property
    def scopes(self) -> list[str]:
        """All scopes, in the order of writing."""
        return list(dict.fromkeys(record.scope for record in self.records))

    def foreign(self) -> tuple[str, ...]:
        """Scopes whose names could be taken for that of the asked one, and one that could not."""
        scope = self.scope
        return (scope + "2", scope.swapcase(), scope.replace("_", "x") + "-b", "elsewhere")

    def twin_of(self, record: Record, n: int) -> Record:
        """The same record with one value changed, written after all others."""
        text = twin(record.text, 5 + n)
        at = self.now - timedelta(hours=1)
        return replace(record, id=f"{record.id}t{n}", text=text, at=at)


def worlds(
    suite: Suite | None, n: int, seed: int, *, scopes: bool = True, twins: bool = True
) -> Iterator[World]:
    """Make worlds, each other records.

    Parameters
    ----------
    suite : Suite or None
        Whose records to take; what is lacking is made up with invented ones.
    n : int
        How many.
    seed : int
        Same seed and suite: same worlds.
    scopes : bool
        Whether the store has scopes; without, all records are in the asked one.
    twins : bool
        Whether two records of one scope may differ in a value alone; a store that merges what it
        takes for one may take these for one.
    """
    told = [] if suite is None else list(_usable(suite))
    for number in range(n):
        yield _world(told, number, stream(seed, "relations", str(number)), scopes, twins)


def _usable(suite: Suite) -> Iterator[str]:
    """Texts of a suite's records, each once, that say enough to be told from others."""
    seen: set[str] = set()
    for probe in suite:
        for record in probe.state.live:
            normal = normalise(record.text)
            if normal not in seen and _says_enough(record.text):
                seen.add(normal)
                yield record.text


def _says_enough(text: str) -> bool:
    words = content_words(text)
    plain = sum(word.isascii() and word.isalnum() for word in words)
    short = count_tokens(text) <= MOST_TOKENS
    return len(words) >= LEAST_WORDS and plain >= LEAST_PLAIN and short and text == text.strip()


def _world(
    told: Sequence[str], number: int, rng: random.Random, scopes: bool, twins: bool
) -> World:
    family = FAMILIES[number % len(FAMILIES)]
    long, negation = LONG[number % len(LONG)], NEGATIONS[number % len(NEGATIONS)]
    begin = [family.one, family.longer, long, negation]
    wanted = 2 + N_FILLERS + N_ELSEWHERE + N_SPARES
    pool = _different(_drawn(told, rng), [*begin, family.twin], wanted)
    oldest, newest, *rest = pool
    fillers, rest = rest[:N_FILLERS], rest[N_FILLERS:]
    elsewhere, spare = rest[:N_ELSEWHERE], rest[N_ELSEWHERE:]
    middle = [*begin, *([family.twin] if twins else []), *fillers]
    rng.shuffle(middle)
    own = [oldest, *middle, newest]
    scope = SCOPES[number % len(SCOPES)]
    names = _names(rng)
    times = [FIRST + SPACING * n for n in range(1, len(own) - 1)]
    rng.shuffle(times)
    ends = (FIRST, FIRST + SPACING * len(own))
    records = [
        Record(next(names), text, scope, at)
        for text, at in zip(own, [ends[0], *times, ends[1]], strict=True)
    ]
    by_text = {record.text: record for record in records}
    targets = tuple(by_text[text] for text in (*begin, oldest, newest))
    if scopes:
        others = _elsewhere(targets, elsewhere, scope, names)
        for record in others:
            records.insert(rng.randrange(1, len(records)), record)
    now = ends[1] + SPACING
    spares = tuple(Record(next(names), text, scope, now - SPACING / 2) for text in spare)
    asked = tuple(_question(one, (number + n) % 2 == 0) for n, one in enumerate(targets))
    return World(f"world {number}", scope, tuple(records), targets, asked, spares, now)


def _drawn(told: Sequence[str], rng: random.Random) -> Iterator[str]:
    """The records of the suite in random order, then invented ones."""
    yield from rng.sample(list(told), len(told))
    yield from rng.sample([one.text for one in POOL], len(POOL))


def _different(texts: Iterable[str], beside: Iterable[str], n: int) -> list[str]:
    """The first n texts that share few words with each other and with some others."""
    known = [_stems(text) for text in beside]
    found: list[str] = []
    for text in texts:
        stems = _stems(text)
        if all(4 * len(stems & other) <= min(len(stems), len(other)) for other in known):
            known.append(stems)
            found.append(text)
            if len(found) == n:
                break
    return found


def _stems(text: str) -> frozenset[str]:
    return frozenset(word[:STEM] for word in content_words(text))


def _names(rng: random.Random) -> Iterator[str]:
    """Ids that say nothing, each once, none a beginning of another."""
    seen: set[str] = set()
    while True:
        name = f"n{rng.getrandbits(28):07x}"
        if name not in seen:
            seen.add(name)
            yield name


def _elsewhere(
    targets: Sequence[Record], texts: Sequence[str], scope: str, names: Iterator[str]
) -> list[Record]:
    """Records of two other scopes: twins of what is asked for, and some on something else."""
    twins = [twin(record.text, 3) for record in (targets[0], targets[3], targets[4])]
    said = [*twins, *texts]
    where = [scope + "2", "bo"]
    return [
        Record(next(names), text, where[n % 2], FIRST + SPACING * n + timedelta(hours=5))
        for n, text in enumerate(said)
    ]


def _question(target: Record, own_text: bool) -> Question:
    words = content_words(target.text)
    return Question(target, target.text if own_text else " ".join(words[:2]))
