"""Reading answers of services: where the hits stand, and what each of them says."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from memeval.errors import StoreError
from memeval.record import Hit

STEP = re.compile(r"\[(\*|\d{1,6})\]|\.?([^.\[\]]+)")


def steps_of(path: str) -> list[str | int]:
    """Steps of a path: keys, numbers, and ``*`` for every entry.

    Raises
    ------
    ValueError
        If it is no path.

    Examples
    --------
    >>> steps_of("results[*].memories[0].id"), steps_of("$")
    (['results', '*', 'memories', 0, 'id'], [])
    """
    rest, steps = path.removeprefix("$"), list[str | int]()
    while rest:
        found = STEP.match(rest)
        if found is None:
            raise ValueError(f"{path!r} is no path; write one such as results[*].id, or $")
        inside = found[1]
        steps.append(int(inside) if inside and inside != "*" else inside or found[2])
        rest = rest[found.end() :]
    return steps


def picked(data: Any, path: str) -> list[Any]:
    """Everything that a path leads to, in order; nothing where it leads nowhere.

    Examples
    --------
    >>> picked({"results": [{"id": 1}, {"id": 2}, {}]}, "results[*].id")
    [1, 2]
    """
    found = [data]
    for step in steps_of(path):
        found = [inner for one in found for inner in _inside(one, step)]
    return found


def _inside(data: Any, step: str | int) -> Iterator[Any]:
    if step == "*":
        yield from data if isinstance(data, list) else ()
    elif isinstance(step, int):
        yield from data[step : step + 1] if isinstance(data, list) else ()
    elif isinstance(data, Mapping) and step in data:
        yield data[step]


def first(data: Any, paths: str | list[str]) -> Any:
    """The first thing that is there, of one path or of several to fall back on; else None.

    Examples
    --------
    >>> first({"chunk": "plums"}, ["memory", "chunk"])
    'plums'
    """
    for path in [paths] if isinstance(paths, str) else paths:
        for found in picked(data, path):
            if found is not None:
                return found
    return None


def hits_of(answer: Any, spec: Mapping[str, Any]) -> list[Hit]:
    """Hits of an answer, in its order.

    Parameters
    ----------
    answer : object
        What came back, as plain values.
    spec : mapping
        ``items`` is the path of the hits; ``id``, ``text``, ``score`` and ``meta`` are paths within
        one. An ``id`` may also be a mapping with a ``path`` and a ``prefix`` (the entry of a list
        of tags that begins so) or a ``regex`` (its first group).

    Raises
    ------
    StoreError
        If there is no list where the hits must stand.
    """
    found = picked(answer, spec["items"])
    if len(found) == 1 and isinstance(found[0], list) and not spec["items"].endswith("]"):
        found = found[0]
    elif not spec["items"].endswith("]"):
        raise StoreError(
            f"the answer has no list at {spec['items']!r}, it is {_shape(answer)}; mend "
            "search.items"
        )
    return [_hit(item, spec) for item in found]


def _hit(item: Any, spec: Mapping[str, Any]) -> Hit:
    text = first(item, spec["text"]) if "text" in spec else None
    meta = first(item, spec["meta"]) if "meta" in spec else None
    return Hit.of({
        "id": _id(item, spec["id"]) if "id" in spec else None,
        "text": "" if text is None else str(text),
        "score": first(item, spec["score"]) if "score" in spec else None,
        "meta": meta if isinstance(meta, Mapping) else {},
    })  # fmt: skip


def _id(item: Any, spec: Any) -> Any:
    if not isinstance(spec, Mapping):
        return first(item, spec)
    told = first(item, spec["path"])
    if "prefix" in spec:
        tags = told if isinstance(told, list) else [told]
        mine = [tag for tag in tags if isinstance(tag, str) and tag.startswith(spec["prefix"])]
        return mine[0][len(spec["prefix"]) :] if mine else None
    found = re.search(spec["regex"], str(told))
    return None if found is None else found[1]


def _shape(answer: Any) -> str:
    if isinstance(answer, Mapping):
        return f"an object with {', '.join(map(repr, list(answer)[:8])) or 'no key'}"
    return f"a list of {len(answer)}" if isinstance(answer, list) else type(answer).__name__
