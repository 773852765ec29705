"""What a value must be: a text that can be seen, a list, a time, a plain mapping.

Faults name a field and no file; who knows the file adds the place.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from memeval.errors import Fault
from memeval.record import Advance, Consolidate, Delete, Record

if TYPE_CHECKING:
    from memeval.probe import Probe

LISTS = ("expect", "forbid", "tags", "stale", "canary", "reads", "names", "near")
MOST_K = 2**31 - 1
INFINITE = (float("inf"), float("-inf"))


def kind_faults(probe: Probe) -> list[Fault]:
    """Values of a probe that are of the wrong kind, or blank."""
    found: list[Fault] = []
    for name in ("name", "query", "scope"):
        found += text_faults(getattr(probe, name), name)
    if isinstance(probe.name, str) and any(unicodedata.category(c) == "Cc" for c in probe.name):
        found.append(
            Fault(
                f"name {shown(probe.name)} holds a line break or control character",
                "write a name of one line",
                "name",
            )
        )
    if type(probe.k) is not int or probe.k > MOST_K:
        found.append(Fault(f"k is {shown(probe.k)}", "write a whole number from 1", "k"))
    for name in LISTS:
        value = getattr(probe, name)
        if not isinstance(value, tuple) or value:
            found += list_faults(value, name)
    if not isinstance(probe.must, bool):
        found.append(Fault(f"must is {shown(probe.must)}", "write true or false", "must"))
    if not isinstance(probe.why, str):
        found.append(Fault(f"why is {shown(probe.why)}, not a text", "write a text", "why"))
    for name, kind in (("file", str), ("line", int), ("withheld", str)):
        value = getattr(probe, name)
        if type(value) is not kind:
            wanted = "leave it out; memeval sets it when a file is read"
            found.append(Fault(f"{name} is {shown(value)}, not {kind.__name__}", wanted, name))
    if probe.history is not None:
        found += text_faults(probe.history, "history")
    found += _time_faults(probe.now, "now")
    return [*found, *meta_faults(probe.filter, "filter")]


def well_typed(probe: Probe) -> bool:
    """Whether all values are of the kind that further checks need, blank or not."""
    texts = [probe.name, probe.query, probe.scope]
    for name in LISTS:
        value = getattr(probe, name)
        if not isinstance(value, tuple):
            return False
        for entry in value:
            texts += entry if isinstance(entry, tuple) and name == "expect" else [entry]
    known = isinstance(probe.given, tuple) and ops_well_typed(probe.given)
    known = known and not any(_time_faults(probe.now, "now"))
    return known and type(probe.k) is int and all(isinstance(text, str) for text in texts)


def ops_well_typed(ops: Iterable[object]) -> bool:
    """Whether ids, texts, scopes and times of a history are of the right kinds."""
    texts: list[object] = []
    for op in ops:
        if isinstance(op, Record):
            if not isinstance(op.supersedes, tuple) or any(_time_faults(op.expires, "")):
                return False
            texts += [op.id, op.text, op.scope, *op.supersedes]
        elif isinstance(op, Delete):
            texts.append(op.id)
        elif not isinstance(op, Consolidate | Advance):
            return False
    return all(isinstance(text, str) for text in texts)


def text_faults(value: object, field: str) -> Iterator[Fault]:
    """Say that a value is not a text, or a blank one."""
    if not isinstance(value, str):
        yield Fault(f"{shown(value)} is not a text", "write a text", field)
    elif is_blank(value):
        yield Fault(f"the text {shown(value)} is blank", "write something that can be seen", field)


def is_blank(text: str) -> bool:
    r"""Whether nothing in a text can be seen: blanks, marks of direction, control characters.

    Examples
    --------
    >>> is_blank(" \u200f"), is_blank("a")
    (True, False)
    """
    return all(unicodedata.category(character)[0] in "ZC" for character in text)


def list_faults(value: object, field: str) -> Iterator[Fault]:
    """Say what is wrong with a list of texts, or, in ``expect``, of lists of texts."""
    if not isinstance(value, tuple):
        wanted = f"write it as a list: [{value}]" if isinstance(value, str) else "write a list"
        yield Fault(f"{field} is {shown(value)}, not a list", wanted, field)
        return
    flat: list[str] = []
    for n, entry in enumerate(value):
        place = f"{field}[{n}]"
        if isinstance(entry, tuple) and field == "expect":
            if not entry:
                yield Fault("an empty any-of list", "name the records, or leave it out", place)
            for m, member in enumerate(entry):
                yield from text_faults(member, f"{place}[{m}]")
                flat.append(member)
        else:
            yield from text_faults(entry, place)
            flat.append(entry)
    yield from _twice(flat, field)


def _twice(entries: Sequence[object], field: str) -> Iterator[Fault]:
    if len(entries) < 2:
        return
    counts = Counter(entry for entry in entries if isinstance(entry, str))
    for entry, count in counts.items():
        if count > 1:
            group = " in one group or several" if field == "expect" else ""
            yield Fault(f"{shown(entry)} stands there {count} times{group}", "keep one", field)


def _time_faults(value: object, field: str) -> Iterator[Fault]:
    if value is not None and not (isinstance(value, datetime) and value.tzinfo is UTC):
        yield Fault(f"{shown(value)} is not a time", "write 2026-03-01T09:00:00Z", field)


def meta_faults(value: object, field: str) -> Iterator[Fault]:
    """Say what in a mapping is not plain: text, number, true, false, null, list or mapping."""
    if not isinstance(value, Mapping):
        yield Fault(f"{field} is {shown(value)}, not a mapping", "write {key: value}", field)
        return
    for key, entry in value.items():
        if not isinstance(key, str):
            yield Fault(f"the key {shown(key)} is not a text", "write a text as key", field)
        else:
            yield from _plain_faults(entry, f"{field}.{key}")


def _plain_faults(value: object, field: str) -> Iterator[Fault]:
    if isinstance(value, Mapping):
        yield from meta_faults(value, field)
    elif isinstance(value, list | tuple):
        for n, entry in enumerate(value):
            yield from _plain_faults(entry, f"{field}[{n}]")
    elif (
        type(value) not in (str, int, bool, float, type(None))
        or value in INFINITE
        or value != value
    ):
        wanted = "write a text, a finite number, true, false, null, a list or a mapping of them"
        yield Fault(f"{shown(value)} cannot be written as JSON", wanted, field)


def record_faults(record: Record, field: str) -> Iterator[Fault]:
    """Say what is wrong with one record, taken alone."""
    for name in ("id", "text", "scope"):
        value = getattr(record, name)
        if type(value) is not str or not value[:1].isalnum():
            yield from text_faults(value, f"{field}.{name}")
    if record.unit is not None:
        yield from text_faults(record.unit, f"{field}.unit")
    if not isinstance(record.supersedes, tuple) or record.supersedes:
        yield from list_faults(record.supersedes, f"{field}.supersedes")
    if record.at is not None or record.expires is not None:
        yield from _time_faults(record.at, f"{field}.at")
        yield from _time_faults(record.expires, f"{field}.expires")
    if record.meta:
        yield from meta_faults(record.meta, f"{field}.meta")


def shown(value: Any, width: int = 40) -> str:
    r"""Write a value on one line, safe for any screen, cut where it is long.

    Examples
    --------
    >>> shown("a\x1b[31m")
    "'a\\x1b[31m'"
    """
    try:
        written = repr(value[: width + 1] if isinstance(value, str) else value)
    except Exception:  # an object of other people's may not even be shown, nor a very long number
        written = f"a {type(value).__name__}"
    return written if len(written) <= width + 2 else written[: width - 1] + "…" + written[-1]


def nearest_id(name: str, known: Iterable[str]) -> str:
    """What to do about an id that no record has."""
    ids = list(known)
    for other in ids:
        if other != name and alike(other) == alike(name):
            return "a record has the same id in another Unicode form; copy it from there"
    near = _close(name, ids[:2000])
    if near:
        return f"write {shown(near[0])}, or add the record to given"
    return "add the record to given, or name one of it"


def nearest(name: str, known: Iterable[str]) -> str:
    """What to write in place of a name that fits nothing.

    Examples
    --------
    >>> nearest("tempral", ["temporal", "scope"])
    "write 'temporal'"
    >>> nearest("x", ["temporal", "scope"])
    "write one of 'scope', 'temporal'"
    """
    ordered = sorted(known)
    near = _close(name, ordered[:5000])
    if near:
        return f"write {shown(near[0])}"
    most = ", ".join(map(shown, ordered[:8])) + (", …" if len(ordered) > 8 else "")
    return f"write one of {most}" if most else "there is none to choose"


def _close(name: str, known: list[str]) -> list[str]:
    import difflib  # only for an error: the command line starts without it

    return difflib.get_close_matches(name, known, 1)


def alike(name: str) -> str:
    """Names that cannot be told apart by eye are equal in this form."""
    return name if name.isascii() else unicodedata.normalize("NFC", name)
