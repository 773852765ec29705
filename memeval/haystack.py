"""What stands around a probe's history: background, near misses and twins.

With three records in a store and k = 5, every store recalls everything. So each probe is asked
among other records: background in its own scope, the same kind in two scopes that it does not name
(one of them with a name that collides as a prefix), its near misses in its own scope, and twins of
its expected records, with one value changed, in the foreign scopes. Half of it is written before
the history and half after, with times spread over those of the history, so that neither the oldest
nor the newest record is special.
"""

from __future__ import annotations

import hashlib
import random
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property, lru_cache
from itertools import islice

from memeval.given import Given
from memeval.probe import Probe
from memeval.record import Meta, Record
from memeval.text import contains_tokens, normalise, tokens

VERSION = 1
PER_SCOPE = 100
ELIGIBLE_BESIDE_FILTER = 20
TWINS_TRIED = 50
_Draft = tuple[str, str, str | None, Meta]  # text, scope, unit and metadata of a record to be
NAMES = ("Ottilie", "Bram", "Yusra", "Keanu", "Saoirse", "Dov", "Meera", "Anselm")


@dataclass(frozen=True)
class Haystack:
    """Records around one history.

    Attributes
    ----------
    before, after : Given
        What is written before the history, and what after it: records alone.
    """

    before: Given = Given()
    after: Given = Given()

    @property
    def records(self) -> tuple[Record, ...]:
        """All of it, in the order of writing."""
        return self.before.records + self.after.records

    @cached_property
    def first_in(self) -> dict[str, Record]:
        """The first record of each scope, in the order of writing."""
        found: dict[str, Record] = {}
        for part in (self.before, self.after):
            for scope, records in part.live_in.items():
                found.setdefault(scope, records[0])
        return found


NOTHING = Haystack()


def around(
    probes: Sequence[Probe], corpus: Sequence[Record], *, seed: int = 0, foreign: bool = True
) -> Haystack:
    """Build the haystack of probes that share one history.

    Parameters
    ----------
    probes : sequence of Probe
        The probes of one store: one, or all of one named history.
    corpus : sequence of Record
        Background to draw from; scopes of these records are ignored.
    seed : int
        Same seed, probes and corpus: same haystack.
    foreign : bool
        False for a store without scopes: own-scope background and near misses alone.

    Returns
    -------
    Haystack
        Up to 100 background records in each of three scopes for each scope that is asked, all
        different, ids distinct from those of the probes. A small corpus goes to the scopes that
        are asked first. Nothing in it says a given text or carries a canary.
    """
    return _made(_Asked(tuple(probes), tuple(corpus)), seed, foreign)


class _Asked:
    """Probes and corpus, equal where their haystacks are: a run and its controls share them."""

    def __init__(self, probes: tuple[Probe, ...], corpus: tuple[Record, ...]) -> None:
        self.probes = probes
        self.corpus = corpus  # kept, so that its id stays its own
        self.key = (tuple(probe.content_hash for probe in probes), id(corpus))

    def __hash__(self) -> int:
        return hash(self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Asked) and self.key == other.key


@lru_cache(maxsize=128)
def _made(asked_of: _Asked, seed: int, foreign: bool) -> Haystack:
    probes = asked_of.probes
    hashes = [probe.content_hash for probe in probes]
    rng = stream(seed, *hashes)
    telling = _Telling(probes)
    background = iter(_usable(asked_of, telling, rng))
    drawn: list[_Draft] = []
    asked: dict[str, list[Probe]] = {}
    for probe in probes:
        asked.setdefault(probe.scope, []).append(probe)
    for scope, same in asked.items():
        drawn += _near(same, scope, telling) + _own(background, same, scope)
    for scope, same in asked.items() if foreign else ():
        twin_scope, other_scope = foreign_scopes(probes, scope)
        drawn += _take(background, twin_scope) + _take(background, other_scope)
        drawn += _twins(same, (twin_scope, other_scope), telling)
    rng = stream(seed, "order", *hashes)
    names = _names(len(drawn), probes, rng)
    times = _times(len(drawn), probes, rng)
    records = [
        Record(name, text, scope, at, unit, (), None, meta)
        for name, at, (text, scope, unit, meta) in zip(names, times, drawn, strict=True)
    ]
    rng.shuffle(records)
    half = len(records) // 2
    return Haystack(Given(records[:half]), Given(records[half:]))


def _histories(probes: Sequence[Probe]) -> list[Given]:
    """The histories of some probes, each once: those that share one would be read again."""
    return list({id(probe.state): probe.state for probe in probes}.values())


class _Telling:
    """What no record of a haystack may say: a given text, or one that carries a canary."""

    def __init__(self, probes: Sequence[Probe]) -> None:
        written = {op.text for ops in _histories(probes) for op in ops if isinstance(op, Record)}
        self.given = {normalise(text) for text in written}
        canaries = dict.fromkeys(token for probe in probes for token in probe.canary)
        self.canaries = [(token, "".join(tokens(token)[:1])) for token in canaries]

    def __contains__(self, text: str) -> bool:
        return self.says(text, normalise(text))

    def says(self, text: str, normal: str) -> bool:
        """Whether a text, given with its normalised form, says it."""
        if normal in self.given:
            return True
        # Few texts have the first word of a canary, and that is seen at once.
        for token, word in self.canaries:
            if word in normal and contains_tokens(text, token):
                return True
        return False


def stream(seed: int, *keys: str) -> random.Random:
    """Random numbers that depend on the seed and the keys alone."""
    digest = hashlib.sha256("\x00".join((str(seed), *keys)).encode()).digest()
    return random.Random(int.from_bytes(digest[:8], "big"))


def foreign_scopes(probes: Sequence[Probe], scope: str) -> tuple[str, str]:
    """Two scopes that no probe names, the first with a name that `scope` is a prefix of."""
    named = {s for p in probes for s in p.scopes_read}
    named.update(s for given in _histories(probes) for s in given.ids_in)
    twin, other = scope + "2", "elsewhere"
    while twin in named:
        twin += "2"
    while other in named or other == twin:
        other += "-too"
    return twin, other


def _usable(asked_of: _Asked, telling: _Telling, rng: random.Random) -> list[Record]:
    """The corpus in random order, each text once, without what would answer a probe."""
    different = _different_texts(_Corpus(asked_of.corpus))
    usable = [record for normal, record in different if not telling.says(record.text, normal)]
    rng.shuffle(usable)
    return usable


class _Corpus:
    """A corpus that is known by which one it is: reading it through is what is to be spared."""

    def __init__(self, records: tuple[Record, ...]) -> None:
        self.records = records

    def __hash__(self) -> int:
        return id(self.records)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Corpus) and self.records is other.records


@lru_cache(maxsize=8)
def _different_texts(corpus: _Corpus) -> list[tuple[str, Record]]:
    """Normalised text and record, each text once."""
    different = {normalise(record.text): record for record in reversed(corpus.records)}
    return list(reversed(different.items()))


def _take(background: Iterator[Record], scope: str) -> list[_Draft]:
    return [(r.text, scope, r.unit, r.meta) for r in islice(background, PER_SCOPE)]


def _own(background: Iterator[Record], asked: Sequence[Probe], scope: str) -> list[_Draft]:
    """Own-scope background; all but 20 of it pass the filter that is asked for."""
    wanted = next((probe.filter for probe in asked if probe.filter), None)
    own = _take(background, scope)
    if not wanted:
        return own
    passing = max(len(own) // 2, len(own) - ELIGIBLE_BESIDE_FILTER)
    return [(text, scope, unit, {**meta, **wanted}) for text, _, unit, meta in own[:passing]] + [
        (text, scope, unit, {key: said for key, said in meta.items() if key not in wanted})
        for text, _, unit, meta in own[passing:]
    ]


def _near(asked: Sequence[Probe], scope: str, telling: _Telling) -> list[_Draft]:
    return [
        (text, scope, None, dict(probe.filter))
        for probe in asked
        for text in probe.near
        if text not in telling
    ]


def _twins(asked: Sequence[Probe], scopes: Sequence[str], telling: _Telling) -> list[_Draft]:
    """Each expected record with one value changed, in each of the foreign scopes."""
    expected = {record.id: record for probe in asked for record in _expected(probe)}
    return [
        (text, scope, None, {})
        for record in expected.values()
        for scope, text in zip(scopes, _different(record.text, telling), strict=False)
    ]


def _expected(probe: Probe) -> Iterable[Record]:
    """The expected records, in the order of the history."""
    ids = {name for group in probe.groups for name in group}
    if len(ids) > 1:
        return (record for record in probe.records if record.id in ids)
    return (probe.state.by_id[name] for name in ids)


def _different(text: str, telling: _Telling) -> Iterator[str]:
    """Twins of a text, each another one."""
    seen: set[str] = set()
    for n in range(TWINS_TRIED):
        changed = twin(text, n)
        if changed not in seen and changed not in telling:
            seen.add(changed)
            yield changed


def twin(text: str, n: int = 0) -> str:
    """Change one value of a text: a number, else a name, else whom it is about.

    Examples
    --------
    >>> twin("The gate code is 4471.")
    'The gate code is 4472.'
    >>> twin("Lunch with Ana is at noon.")
    'Lunch with Ottilie is at noon.'
    >>> twin("lunch is at noon.", 1)
    'Bram: lunch is at noon.'
    """
    number = re.search(r"[0-9]{1,15}", text)
    if number:
        changed = str(int(number[0]) + n + 1).zfill(len(number[0]))
        return text[: number.start()] + changed + text[number.end() :]
    name = re.search(r"(?<=[\w,] )[A-Z][a-z]+", text)
    others = [candidate for candidate in NAMES if name is None or candidate != name[0]]
    other = others[n % len(others)]
    if name:
        return text[: name.start()] + other + text[name.end() :]
    return f"{other}: {text}"


def _names(n: int, probes: Sequence[Probe], rng: random.Random) -> list[str]:
    """Opaque ids, distinct from each other and from those of the probes."""
    taken = {name for given in _histories(probes) for name in given.by_id}
    found: dict[str, None] = {}
    while len(found) < n:
        name = f"h{rng.getrandbits(44):011x}"
        if name not in taken:
            found[name] = None
    return list(found)


def _times(n: int, probes: Sequence[Probe], rng: random.Random) -> list[datetime | None]:
    """Times spread over those of the history, never after the time of asking."""
    told = [r.at for given in _histories(probes) for r in given.records if r.at is not None]
    if not told:
        return [None] * n
    asked = [probe.now for probe in probes if probe.now is not None]
    first: datetime = min(told) - timedelta(days=30)
    last = min([max(told) + timedelta(days=30), *asked])
    if first >= last:  # asked before anything was said
        first = last - timedelta(days=60)
    span = (last - first).total_seconds()
    return [first + timedelta(seconds=int(rng.random() * span)) for _ in range(n)]
