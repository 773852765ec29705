"""Whether the values of a dataclass are of the kinds that it names: for what comes from a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from types import UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from memeval.checks.kinds import shown

T = TypeVar("T")


def typed(made: T) -> T:
    """Give a dataclass back as it is, where its values are of the kinds that it names.

    Raises
    ------
    TypeError
        With the first field that is not; a truth value is no number, a whole number is one.

    Examples
    --------
    >>> from memeval.errors import Fault
    >>> typed(Fault("found", "todo", line="7"))
    Traceback (most recent call last):
        ...
    TypeError: line is '7', wanted int
    """
    hints = get_type_hints(type(made))
    for field in fields(made):  # type: ignore[arg-type]
        value = getattr(made, field.name)
        if not _fits(value, hints[field.name]):
            raise TypeError(f"{field.name} is {shown(value)}, wanted {field.type}")
    return made


def _fits(value: Any, kind: Any) -> bool:
    origin, inner = get_origin(kind), get_args(kind)
    if kind is Any:
        return True
    if origin is Literal:
        return value in inner
    if origin in (Union, UnionType):
        return any(_fits(value, one) for one in inner)
    if origin is tuple:
        return isinstance(value, tuple) and all(_fits(entry, inner[0]) for entry in value)
    if origin is Mapping:
        return isinstance(value, Mapping) and all(
            _fits(key, inner[0]) and _fits(entry, inner[1]) for key, entry in value.items()
        )
    if kind in (int, float) and isinstance(value, bool):
        return False
    return isinstance(value, (int, float) if kind is float else origin or kind)
