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
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import lru_cache

from memeval.probe import Probe
from memeval.record import Record
from memeval.text import contains_tokens, normalise

VERSION = 1
PER_SCOPE = 100
ELIGIBLE_BESIDE_FILTER = 20
TWINS_TRIED = 50
NAMES = ("Ottilie", "Bram", "Yusra", "Keanu", "Saoirse", "Dov", "Meera", "Anselm")


@dataclass(frozen=True, slots=True)
class Haystack:
    """Records around one history.

    Attributes
    ----------
    before, after : tuple of Record
        What is written before the history, and what after it.
    """

    before: tuple[Record, ...] = ()
    after: tuple[Record, ...] = ()

    @property
    def records(self) -> tuple[Record, ...]:
        """All of it, in the order of writing."""
        return self.before + self.after


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
    probes, corpus = asked_of.probes, asked_of.corpus
    rng = stream(seed, *(probe.content_hash for probe in probes))
    telling = _Telling(probes)
    background = iter(_usable(corpus, telling, rng))
    drawn: list[Record] = []
    asked: dict[str, list[Probe]] = {}
    for probe in probes:
        asked.setdefault(probe.scope, []).append(probe)
    for scope, same in asked.items():
        drawn += _near(same, scope, telling) + _own(background, same, scope)
    for scope, same in asked.items() if foreign else ():
        twin_scope, other_scope = foreign_scopes(probes, scope)
        drawn += _take(background, twin_scope) + _take(background, other_scope)
        drawn += _twins(same, (twin_scope, other_scope), telling)
    rng = stream(seed, "order", *(probe.content_hash for probe in probes))
    dated = _dated(_renamed(drawn, probes, rng), probes, rng)
    rng.shuffle(dated)
    half = len(dated) // 2
    return Haystack(tuple(dated[:half]), tuple(dated[half:]))


class _Telling:
    """What no record of a haystack may say: a given text, or one that carries a canary."""

    def __init__(self, probes: Sequence[Probe]) -> None:
        written = {op.text for p in probes for op in p.given if isinstance(op, Record)}
        self.given = {normalise(text) for text in written}
        self.canaries = list(dict.fromkeys(token for probe in probes for token in probe.canary))

    def __contains__(self, text: str) -> bool:
        return normalise(text) in self.given or any(
            contains_tokens(text, token) for token in self.canaries
        )


def stream(seed: int, *keys: str) -> random.Random:
    """Random numbers that depend on the seed and the keys alone."""
    digest = hashlib.sha256("\x00".join((str(seed), *keys)).encode()).digest()
    return random.Random(int.from_bytes(digest[:8], "big"))


def foreign_scopes(probes: Sequence[Probe], scope: str) -> tuple[str, str]:
    """Two scopes that no probe names, the first with a name that `scope` is a prefix of."""
    named = {s for p in probes for s in p.scopes_read} | {
        r.scope for p in probes for r in p.records
    }
    twin, other = scope + "2", "elsewhere"
    while twin in named:
        twin += "2"
    while other in named or other == twin:
        other += "-too"
    return twin, other


def _usable(corpus: Sequence[Record], telling: _Telling, rng: random.Random) -> list[Record]:
    """The corpus in random order, each text once, without what would answer a probe."""
    different = {normalise(record.text): record for record in reversed(corpus)}
    usable = [record for record in reversed(different.values()) if record.text not in telling]
    rng.shuffle(usable)
    return usable


def _take(background: Iterator[Record], scope: str) -> list[Record]:
    return [
        Record(r.id, r.text, scope, unit=r.unit, meta=r.meta)
        for _, r in zip(range(PER_SCOPE), background, strict=False)
    ]


def _own(background: Iterator[Record], asked: Sequence[Probe], scope: str) -> list[Record]:
    """Own-scope background; all but 20 of it pass the filter that is asked for."""
    wanted = next((probe.filter for probe in asked if probe.filter), None)
    own = _take(background, scope)
    if not wanted:
        return own
    passing = max(len(own) // 2, len(own) - ELIGIBLE_BESIDE_FILTER)
    return [replace(r, meta={**r.meta, **wanted}) for r in own[:passing]] + [
        replace(r, meta={key: said for key, said in r.meta.items() if key not in wanted})
        for r in own[passing:]
    ]


def _near(asked: Sequence[Probe], scope: str, telling: _Telling) -> list[Record]:
    return [
        Record(f"near {n} {probe.content_hash}", text, scope, meta=dict(probe.filter))
        for probe in asked
        for n, text in enumerate(probe.near)
        if text not in telling
    ]


def _twins(asked: Sequence[Probe], scopes: Sequence[str], telling: _Telling) -> list[Record]:
    """Each expected record with one value changed, in each of the foreign scopes."""
    expected = {
        record.id: record
        for probe in asked
        for record in probe.records
        if any(record.id in group for group in probe.groups)
    }
    return [
        Record(f"twin {record.id} {scope}", text, scope)
        for record in expected.values()
        for scope, text in zip(scopes, _different(record.text, telling), strict=False)
    ]


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


def _renamed(drawn: Sequence[Record], probes: Sequence[Probe], rng: random.Random) -> list[Record]:
    """Opaque ids, distinct from each other and from those of the probes."""
    taken = {record.id for probe in probes for record in probe.records}
    renamed: list[Record] = []
    for record in drawn:
        name = f"h{rng.getrandbits(44):011x}"
        while name in taken:
            name = f"h{rng.getrandbits(44):011x}"
        taken.add(name)
        renamed.append(Record(name, record.text, record.scope, unit=record.unit, meta=record.meta))
    return renamed


def _dated(drawn: Sequence[Record], probes: Sequence[Probe], rng: random.Random) -> list[Record]:
    """Times spread over those of the history, never after the time of asking."""
    times = [r.at for probe in probes for r in probe.records if r.at is not None]
    if not times:
        return list(drawn)
    asked = [probe.now for probe in probes if probe.now is not None]
    first: datetime = min(times) - timedelta(days=30)
    last = min([max(times) + timedelta(days=30), *asked])
    if first >= last:  # asked before anything was said
        first = last - timedelta(days=60)
    span = (last - first).total_seconds()
    return [replace(r, at=first + timedelta(seconds=int(rng.random() * span))) for r in drawn]
