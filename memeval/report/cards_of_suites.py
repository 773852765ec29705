"""Cards of what is asked: a suite, and one probe of it."""

from __future__ import annotations

from collections import Counter
from typing import Any

from memeval.report.card import Card
from memeval.text import count

MOST = 10
LONG = 300


def suite(one: Any) -> Card:
    """How many probes of which kind, by tag."""
    positive = sum(p.is_positive for p in one)
    tags = Counter(tag for p in one for tag in p.tags)
    lines = [
        ("haystack", one.haystack_name),
        ("scopes", f"{len({p.scope for p in one})}"),
        ("that forbid something", f"{sum(bool(p.forbid) for p in one)}"),
        ("marked must", f"{sum(p.must for p in one)}"),
    ]
    if one.chosen_of:
        lines.append(("chosen of", count(one.chosen_of, "probe")))
    if tags:
        lines.append(("tags", ", ".join(f"{tag} {n}" for tag, n in tags.most_common(2 * MOST))))
    return Card(
        "Suite",
        f"{count(len(one), 'probe')}, {positive} positive, {len(one) - positive} negative",
        lines=lines,
        heads=["probe", "k", "query"],
        sides="lrl",
        rows=[(p.name, f"{p.k}", _cut(p.query)) for p in one[:MOST]],
        more=f"and {len(one) - MOST} more: suite.table() has all" if len(one) > MOST else "",
    )


def probe(one: Any) -> Card:
    """What is asked, what must come back, and what must not."""
    labels: dict[str, list[str]] = {}
    for label, ids in (("expected", _flat(one.expect)), ("forbidden", one.forbid),
                       ("stale", one.stale)):  # fmt: skip
        for name in ids:
            labels.setdefault(name, []).append(label)
    records = [op for op in one.given if hasattr(op, "text")]
    lines = [("query", _cut(one.query)), ("scope", one.scope), ("k", f"{one.k}")]
    lines += [("tags", ", ".join(one.tags))] if one.tags else []
    lines += [("why", _cut(one.why))] if one.why else []
    return Card(
        "Probe",
        f"{one.name} ({'positive' if one.is_positive else 'negative'})",
        lines=lines,
        heads=["record", "scope", "label", "text"],
        sides="llll",
        rows=[
            (op.id, op.scope or one.scope, ", ".join(labels.get(op.id, ())) or "-", _cut(op.text))
            for op in records[:MOST]
        ],
        more=f"and {len(records) - MOST} more records" if len(records) > MOST else "",
    )


def shrunk(one: Any) -> Card:
    """What is left of a failing probe, ready to be sent to those who wrote the store."""
    from dataclasses import replace

    end = "" if one.smallest else ", and the tries ran out: raise most"
    return replace(
        probe(one.probe),
        title="Shrunk probe",
        word=f"{one.probe.name} ({one.failure})",
        sentence=f"{one.n_after} of {one.n_before} steps are enough to fail, "
        f"found in {one.asked} tries{end}",
        next_step="send .yaml to those who wrote the store, or keep it as a probe",
    )


def _flat(expect: Any) -> list[str]:
    return [name for group in expect for name in ([group] if isinstance(group, str) else group)]


def _cut(text: str) -> str:
    return text if len(text) <= LONG else f"{text[:LONG]}… ({len(text):,} characters)"


def calls(one: Any) -> Card:
    """How many cases in how many requests, and what a call cannot ask."""
    first, *rest = one.lines()
    left = [(_cut(name), _cut(why)) for name, why in one.left_out.items()]
    return Card(
        "Calls",
        first,
        sentence=_cut(". ".join(rest)),
        heads=["left out", "why"],
        sides="ll",
        rows=left[:MOST],
        more=f"and {len(left) - MOST} more: calls.left_out has all" if len(left) > MOST else "",
    )
