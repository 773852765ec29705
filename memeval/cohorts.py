"""Copies of probes for a store that grows: planted once a cohort, each about someone else.

A probe that is written at several sessions must be told apart from its other copies, in the same
scope, so its ids get a suffix and the words that it lists in ``names`` are renamed everywhere.
Cohort 0 is the probe as its author wrote it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime, timedelta
from functools import cached_property
from itertools import islice
from typing import Any

from memeval.given import Given
from memeval.probe import Probe
from memeval.record import Delete, Op, Record
from memeval.sessioning.answers import expected_texts, words_of
from memeval.sessioning.freshnames import fresh_words
from memeval.text import tokens
from memeval.words import FUNCTION_WORDS

COHORTS = 4
MOST_COHORTS = 8
_FIELDS = tuple(field.name for field in fields(Probe))
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")


@dataclass(frozen=True)
class Renaming:
    """Other words for the names of probes.

    Attributes
    ----------
    words : tuple of (str, str)
        Name and what it becomes; nothing for cohort 0.

    Examples
    --------
    >>> renaming = Renaming((("Ana", "Astrid"), ("samples", "anvils")))
    >>> renaming.apply("ANA's Samples, Ana? Banana samples.")
    "ASTRID's Anvils, Astrid? Banana anvils."
    """

    words: tuple[tuple[str, str], ...] = ()

    @cached_property
    def _found(self) -> re.Pattern[str] | None:
        longest_first = sorted(self.words, key=lambda pair: -len(pair[0]))
        whole = "|".join(_pattern(name) for name, _ in longest_first)
        return re.compile(whole, re.IGNORECASE) if whole else None

    @cached_property
    def _exact(self) -> dict[str, str]:
        return dict(self.words)

    @cached_property
    def _folded(self) -> dict[str, str]:
        return {name.casefold(): new for name, new in self.words}

    def of(self, names: Iterable[str]) -> Renaming:
        """The same for some of the names."""
        wanted = set(names)
        return Renaming(tuple(pair for pair in self.words if pair[0] in wanted))

    def apply(self, text: str) -> str:
        """Rename in a text: whole words, in whatever case they stand."""
        return text if self._found is None else self._found.sub(self._word, text)

    def _word(self, match: re.Match[str]) -> str:
        stands = match[0]
        if stands in self._exact:
            return self._exact[stands]
        fresh = self._folded.get(stands.casefold())
        if fresh is None or stands.casefold() in FUNCTION_WORDS:  # "will" is not Will
            return stands
        if stands.islower():
            return fresh.lower()
        if stands.isupper() and len(stands) > 1:
            return fresh.upper()
        return fresh[0].upper() + fresh[1:]


def _pattern(name: str) -> str:
    """What finds a name; scripts without spaces have no word ends to look for."""
    spelled = re.escape(name)
    if not name.isascii() and len(tokens(name)) >= len(name.replace(" ", "")):
        return spelled
    return rf"(?<!\w){spelled}(?!\w)"


def renaming(probes: Iterable[Probe], cohort: int) -> Renaming:
    """Fresh names of a cohort for all names of some probes.

    Parameters
    ----------
    probes : iterable of Probe
        The whole suite, so that two of its names do not become one.
    cohort : int
        0 to 7; 0 renames nothing.

    Returns
    -------
    Renaming
        Names that begin with a capital become persons, others things, word for word; none is a
        word of these probes, and no two names or cohorts share one. A probe that is added at the
        end changes nothing for those before it, unless it uses one of the words itself.

    Raises
    ------
    ValueError
        If `cohort` is out of range.

    Examples
    --------
    >>> probe = Probe("office", "Which office does Priya use?", names=["Priya"])
    >>> renaming([probe], 0).words, renaming([probe], 1).words
    ((), (('Priya', 'Abigail'),))
    """
    if not 0 <= cohort < MOST_COHORTS:
        raise ValueError(f"cohort is {cohort}, wanted 0 to {MOST_COHORTS - 1}; plant fewer cohorts")
    if cohort == 0:
        return Renaming()
    asked = tuple(probes)
    names: dict[str, str] = {}
    for name in (name for probe in asked for name in probe.names):
        names.setdefault(name.casefold(), name)
    taken = words_of(asked) if names else frozenset()
    parts = {name: name.split() or [name] for name in names.values()}
    pools = {
        person: _pool(person, taken, cohort, sum(map(len, parts.values())))
        for person in (True, False)
    }
    new = {name: _fresh(name, len(words), pools) for name, words in parts.items()}
    spellings = {name: new[names[name.casefold()]] for probe in asked for name in probe.names}
    return Renaming(tuple(spellings.items()))


def _pool(person: bool, taken: frozenset[str], cohort: int, n: int) -> Iterator[str]:
    """Words of one cohort: every seventh, so that no number of names makes cohorts share one."""
    step = MOST_COHORTS - 1
    return iter(list(islice(fresh_words(person, taken), cohort - 1, n * step, step)))


def _fresh(name: str, words: int, pools: dict[bool, Iterator[str]]) -> str:
    person = not name[:1].islower()
    drawn = " ".join(islice(pools[person], words))
    return drawn + "s" if not person and re.search(r"[^s]s$", name) else drawn


def planted(
    probe: Probe, cohort: int, *, at: datetime | None = None, names: Renaming | None = None
) -> Probe:
    """Copy a probe for one cohort.

    Parameters
    ----------
    probe : Probe
        From a suite.
    cohort : int
        Which copy, from 0.
    at : datetime, optional
        When it is planted, time zone aware: ``now`` of the probe, else its latest time, becomes
        this, and all its times move along. Without it, and where the query names a year, times
        stay as they are.
    names : Renaming, optional
        From `renaming` of the whole suite; else of this probe alone.

    Returns
    -------
    Probe
        Called ``name@cohort``, with new ids, in the same scopes. Probes of one history keep
        sharing it.

    Raises
    ------
    ValueError
        If `cohort` is out of range, or above 0 for a probe that `why_not` has a reason against.

    Examples
    --------
    >>> told = [Record("r1", "Priya works in Porto.", unit="Priya's office")]
    >>> probe = Probe("office", "Where does Priya work?", told, ["r1"], names=["Priya"])
    >>> copy = planted(probe, 2)
    >>> copy.name, copy.query, copy.records[0].text, copy.records[0].unit
    ('office@2', 'Where does Adriano work?', 'Adriano works in Porto.', "Adriano's office")
    """
    reason = why_not(probe) if cohort else None
    if reason:
        raise ValueError(f"probe {probe.name!r} cannot be planted twice: {reason}")
    rename = (names or renaming([probe], cohort)).of(probe.names) if cohort else Renaming()
    return _copied(probe, cohort, rename, shift_of(probe, at), {})


def _copied(
    probe: Probe, cohort: int, rename: Renaming, shift: timedelta, histories: dict[str, Given]
) -> Probe:
    """The copy; a history that several probes ask is copied once."""
    suffix = _suffix(probe, cohort)
    given = histories.get(probe.history or "")
    if given is None:
        given = Given(_op(op, rename, suffix, shift) for op in probe.given)
    if probe.history is not None:
        histories[probe.history] = given
    changes: dict[str, Any] = {
        "name": f"{probe.name}@{cohort}",
        "query": rename.apply(probe.query),
        "given": given,
        "expect": tuple(
            entry + suffix if isinstance(entry, str) else tuple(name + suffix for name in entry)
            for entry in probe.expect
        ),
        "forbid": tuple(name + suffix for name in probe.forbid),
        "stale": tuple(name + suffix for name in probe.stale),
        "canary": tuple(map(rename.apply, probe.canary)),
        "near": tuple(map(rename.apply, probe.near)),
        "names": tuple(map(rename.apply, probe.names)),
        "now": _moved(probe.now, shift),
    }
    if probe.canary and rename.words:  # a fresh name may be a canary: the one fault a copy can get
        return replace(probe, **changes)
    return _unchecked(probe, changes)


def _unchecked(probe: Probe, changes: Mapping[str, Any]) -> Probe:
    """A probe like another one; both are known to be sound, and a check is dear."""
    copy: Probe = object.__new__(Probe)
    said = vars(probe)
    vars(copy).update({name: said[name] for name in _FIELDS}, filter=dict(probe.filter), **changes)
    return copy


def moved(probe: Probe, by: timedelta) -> Probe:
    """Move all times of a copy that has a history of its own.

    Examples
    --------
    >>> from datetime import UTC
    >>> told = [Record("r1", "Noodle bar.", at=datetime(2026, 3, 1, tzinfo=UTC))]
    >>> moved(Probe("lunch", "Where is lunch?", told), timedelta(days=2)).records[0].at.day
    3
    """
    given = Given(_op(op, Renaming(), "", by) for op in probe.given)
    return _unchecked(probe, {"given": given, "now": _moved(probe.now, by)})


def plant(probes: Sequence[Probe], cohort: int, *, at: datetime | None = None) -> list[Probe]:
    """Copy all probes that a cohort can have, with names that are fresh in all of them.

    Parameters
    ----------
    probes : sequence of Probe
        The whole suite.
    cohort : int
        0 has all of them, the others those that `unplantable` does not list.
    at : datetime, optional
        As in `planted`.

    Returns
    -------
    list of Probe
        In the order of the suite.
    """
    names = renaming(probes, cohort)
    kept = probes if cohort == 0 else [probe for probe in probes if why_not(probe) is None]
    histories: dict[str, Given] = {}
    return [
        _copied(probe, cohort, names.of(probe.names), shift_of(probe, at), histories)
        for probe in kept
    ]


def unplantable(probes: Iterable[Probe]) -> list[tuple[Probe, str]]:
    """Probes that cohort 0 alone can have, each with the reason."""
    reasons = ((probe, why_not(probe)) for probe in probes)
    return [(probe, reason) for probe, reason in reasons if reason is not None]


def why_not(probe: Probe) -> str | None:
    """Say why copies of a probe could not be told apart; None where they can.

    Examples
    --------
    >>> why_not(Probe("lunch", "Where is lunch?"))
    'it has no names; list in names the words of the query that a copy should change'
    """
    if probe.withheld:
        return "its texts were taken out; plant from the suite that still has them"
    if probe.history is not None:
        return f"it shares the history {probe.history!r}; give it a given of its own"
    if not probe.names:
        return "it has no names; list in names the words of the query that a copy should change"
    marked = Renaming(tuple((name, name + "\x00") for name in probe.names))
    if "\x00" not in marked.apply(probe.query).casefold():
        return "none of its names stands in the query; add one that does"
    same = [text for text in expected_texts(probe) if "\x00" not in marked.apply(text)]
    if same:
        return (
            f"an expected record has none of its names and would be the same in each copy: "
            f"{same[0][:60]!r}; add one that it has"
        )
    return None


def _suffix(probe: Probe, cohort: int) -> str:
    """What makes ids of this probe, or of its history, and this cohort its own."""
    of = probe.content_hash if probe.history is None else probe.state.content_hash
    return f"-{hashlib.sha256(of.encode()).hexdigest()[:8]}-{cohort}"


def shift_of(probe: Probe, at: datetime | None) -> timedelta:
    """How far the times of a probe move where it is planted at a time, as in `planted`."""
    said = [record.at for record in probe.records if record.at is not None]
    latest = max(said, default=None)
    own = latest if probe.history is not None or probe.now is None else probe.now
    dated = probe.history is None and _YEAR.search(probe.query)
    if at is None or own is None or dated:
        return timedelta()
    return at - own


def _moved(moment: datetime | None, shift: timedelta) -> datetime | None:
    try:
        return None if moment is None else moment + shift
    except OverflowError:  # "for ever" stays for ever
        return moment


def _op(op: Op, rename: Renaming, suffix: str, shift: timedelta) -> Op:
    if isinstance(op, Delete):
        return Delete(op.id + suffix)
    if not isinstance(op, Record):
        return op
    return Record(
        op.id + suffix,
        rename.apply(op.text),
        op.scope,
        _moved(op.at, shift),
        None if op.unit is None else rename.apply(op.unit),
        tuple(name + suffix for name in op.supersedes),
        _moved(op.expires, shift),
        op.meta,
    )
