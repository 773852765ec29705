"""What makes a suite weak although nothing in it is wrong: warnings for the one who writes it."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from memeval.checks.fitting import empty_scope_faults
from memeval.checks.kinds import shown
from memeval.checks.wording import shared_words
from memeval.cohorts import unplantable
from memeval.errors import Fault
from memeval.probe import Probe
from memeval.record import Record
from memeval.text import contains_tokens

FEWEST_POSITIVE = 20
FEWEST_NEGATIVE = 5
FEWEST_FORBID = 5
FEWEST_PER_TAG = 5
NEGATIVE_SHARE = 0.15
FEWEST_TO_SEE_ORDER = 5
MOST_SHARED = 0.5
MOST_ALONE = 0.5


def warnings(probes: Sequence[Probe], haystack: Sequence[Record] | None) -> list[Fault]:
    """All warnings about a suite: first about the whole, then about single probes in order.

    Parameters
    ----------
    probes : sequence of Probe
        The suite.
    haystack : sequence of Record or None
        Its background; without one, k is held against the probe's own records.

    Returns
    -------
    list of Fault
        Without a level; all of them are warnings.
    """
    found = [*_split(probes), *_gates(probes), *_tags(probes), *_k_range(probes), *_order(probes)]
    found += _plantable(probes)
    for probe in probes:
        found += [_at(probe, fault) for fault in _single(probe, haystack is not None)]
    return found + list(_copies(probes))


def _at(probe: Probe, fault: Fault) -> Fault:
    return Fault(fault.found, fault.todo, fault.field, probe.name, probe.file, probe.line)


def _split(probes: Sequence[Probe]) -> Iterator[Fault]:
    """Enough positive and negative probes."""
    positive = sum(p.is_positive for p in probes)
    negative = len(probes) - positive
    if positive < FEWEST_POSITIVE:
        yield Fault(
            f"{_many(positive, 'positive probe')}, fewer than {FEWEST_POSITIVE}: one probe moves "
            "recall by a lot",
            "add probes from real questions",
            "expect",
        )
    if negative < FEWEST_NEGATIVE or negative < NEGATIVE_SHARE * len(probes):
        share = f"{negative / len(probes):.0%}" if probes else "0%"
        yield Fault(
            f"{_many(negative, 'negative probe')} of {len(probes)} ({share}); wanted are "
            f"{FEWEST_NEGATIVE} and {NEGATIVE_SHARE:.0%}",
            "add questions to which no record is the answer",
            "expect",
        )


def _gates(probes: Sequence[Probe]) -> Iterator[Fault]:
    """Something that can leak."""
    forbidding = sum(bool(p.forbid) for p in probes)
    if forbidding < FEWEST_FORBID:
        count = "no probe has" if not forbidding else f"only {_many(forbidding, 'probe')} with"
        yield Fault(
            f"{count} a forbid list: leaks and superseded facts are hardly seen",
            f"forbid something in at least {FEWEST_FORBID} probes",
            "forbid",
        )
    if not any(p.foreign for p in probes):
        yield Fault(
            "no probe has a record in a second scope: no leak between scopes can be seen",
            "give some probes a record of another scope on the same matter",
            "scope",
        )


def _tags(probes: Sequence[Probe]) -> Iterator[Fault]:
    counts = Counter(tag for p in probes for tag in p.tags)
    thin = [f"{shown(tag)} ({n})" for tag, n in sorted(counts.items()) if n < FEWEST_PER_TAG]
    if thin:
        most = ", ".join(thin[:8]) + (f" and {len(thin) - 8} more" if len(thin) > 8 else "")
        todo = f"read nothing into the share of a tag with fewer than {FEWEST_PER_TAG} probes"
        yield Fault(f"thin tags: {most}", todo, "tags")


def _k_range(probes: Sequence[Probe]) -> Iterator[Fault]:
    """A suite sees rank best where as many are expected as there are places."""
    positives = [p for p in probes if p.is_positive]
    if positives and not any(len(p.expect) == p.k for p in positives):
        yield Fault(
            "no probe expects as many records as its k: every answer has room for wrong ones",
            "give one or two probes a k equal to the number expected",
            "k",
        )
    if positives and not any(_relevant(p) > p.k for p in positives):
        yield Fault(
            "no probe has more right records than k: no answer must choose among them",
            "add a probe with an any-of list longer than its k",
            "expect",
        )


def _relevant(probe: Probe) -> int:
    return sum(len(group) for group in probe.groups)


def _order(probes: Sequence[Probe]) -> Iterator[Fault]:
    """An expected record that is always first or always last is found by its place."""
    first, last, seen = 0, 0, 0
    for probe in probes:
        found = probe.state.live_of(probe.scopes_read)
        if not probe.is_positive or len(found) < 2:
            continue
        expected = {name for group in probe.groups for name in group}
        seen += 1
        first += found[0].id in expected
        last += found[-1].id in expected
    for count, place in ((first, "first"), (last, "last")):
        if seen >= FEWEST_TO_SEE_ORDER and count == seen:
            yield Fault(
                f"an expected record stands {place} in given in all {seen} positive probes",
                "change the order in some, so that the place of a record tells nothing",
                "given",
            )


def _plantable(probes: Sequence[Probe]) -> Iterator[Fault]:
    """A store that grows is asked copies of a probe, which must be told apart."""
    alone = unplantable(probes)
    if len(alone) > MOST_ALONE * len(probes):
        probe, reason = alone[0]
        yield Fault(
            f"{len(alone)} of {_many(len(probes), 'probe')} can be planted only once in a store "
            f"that grows ({shown(probe.name)}: {reason.partition(';')[0]}): age and size cannot "
            "be told apart by them",
            "list in names the words that stand for whom or what a probe is about",
            "names",
        )


def _single(probe: Probe, surrounded: bool) -> Iterator[Fault]:
    """Warnings about one probe."""
    if probe.is_negative:
        yield from empty_scope_faults(probe.state, probe.scopes_read)
    reachable = probe.state.live_of(probe.scopes_read)
    known, deleted = probe.state.by_id, probe.state.deleted
    tempted = any(known[i].scope in probe.scopes_read for i in probe.forbid if i not in deleted)
    if probe.is_positive and not surrounded and not tempted and probe.k >= len(reachable):
        yield Fault(
            f"k is {probe.k} and only {_many(len(reachable), 'record')} can be found: returning "
            "everything passes",
            "lower k, add records, or use a haystack",
            "k",
        )
    for n, token in enumerate(probe.canary):
        if not any(contains_tokens(op.text, token) for op in probe.given if isinstance(op, Record)):
            yield Fault(
                f"canary {shown(token)} stands in no record, so it can never leak",
                "take a token of a record that must not be found",
                f"canary[{n}]",
            )
    by_id = probe.state.by_id
    for name in (name for group in probe.groups for name in group):
        if not _passes(by_id[name].meta, probe.filter):
            yield Fault(
                f"expected {shown(name)} does not carry what filter asks for",
                "add it to the meta of the record, or change the filter",
                "filter",
            )
    if "paraphrase" in probe.tags:
        yield from _repeats(probe)


def _repeats(probe: Probe) -> Iterator[Fault]:
    """A paraphrase says it in other words; one that does not is found by any keyword search."""
    shared, asked = shared_words(probe)
    if len(shared) > MOST_SHARED * len(asked):
        yield Fault(
            f"tagged 'paraphrase', but {len(shared)} of {_many(len(asked), 'content word')} of the "
            f"query stand in the expected record: {', '.join(map(shown, shared))}",
            "ask in other words, or drop the tag",
            "tags",
        )


def _passes(meta: Any, wanted: Any) -> bool:
    """Whether metadata may pass a filter; stores differ, so what is unclear passes."""
    for key, value in wanted.items():
        if isinstance(value, dict) or key in ("id", "text", "scope", "unit", "at"):
            continue
        has = meta.get(key)
        listed = value if isinstance(value, list | tuple) else [value]
        held = has if isinstance(has, list | tuple) else [has]
        if not any(entry in held for entry in listed):
            return False
    return True


def _copies(probes: Sequence[Probe]) -> Iterator[Fault]:
    """Probes that differ in names and numbers only count once, not many times."""
    alike: dict[tuple[Any, ...], list[Probe]] = defaultdict(list)
    for probe in probes:
        texts = [r.text for r in probe.records] if probe.history is None else [probe.history]
        alike[tuple(_masked([probe.query, *texts], probe.names))].append(probe)
    for first, *others in alike.values():
        if others:
            names = ", ".join(shown(p.name) for p in others[:3]) + (", …" if others[3:] else "")
            said = f"differs from {names} in names and numbers only"
            yield _at(first, Fault(said, "keep one, or make them ask different things", "query"))


def _masked(texts: Iterable[str], names: Sequence[str]) -> Iterator[str]:
    for text in texts:
        for name in names:
            text = re.sub(re.escape(name), "N", text, flags=re.IGNORECASE)
        yield re.sub(r"\b[A-Z]\w*", "N", re.sub(r"\d[\d.,:]*", "0", text))


def _many(count: int, noun: str) -> str:
    return f"{count or 'no'} {noun}{'' if count == 1 else 's'}"
