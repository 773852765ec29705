"""Templates of requests: plain data with placeholders, and nothing that could be run.

``{name}`` stands for a value, ``{{`` and ``}}`` for braces. A text that is one placeholder and
nothing else becomes the value itself, whatever its type; in a mapping it is left out where there is
no value. ``{env:NAME}`` is an environment variable. What is filled in is never read again.
"""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from memeval.errors import StoreError

PLACE = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")
ENV = "env:"
EACH = "each"
_ABSENT = object()


def faults_of(template: Any, names: Collection[str], place: str = "") -> Iterator[tuple[str, str]]:
    """What is wrong with the placeholders of a template: where, and what was found.

    Parameters
    ----------
    template : object
        Texts, numbers, lists and mappings.
    names : collection of str
        Names that have a value; one that ends in ``.`` stands for all that begin with it.
    place : str
        Where it stands, for messages.

    Examples
    --------
    >>> list(faults_of({"q": "{qery}"}, ["query", "meta."]))
    [('q', "found no value called 'qery'; did you mean {query}?")]
    """
    if isinstance(template, Mapping):
        for key, value in template.items():
            yield from faults_of(value, names, f"{place}.{key}" if place else str(key))
    elif isinstance(template, list):
        for n, value in enumerate(template):
            yield from faults_of(value, names, f"{place}[{n}]")
    elif isinstance(template, str):
        for found in PLACE.finditer(template):
            said = _fault(found, names)
            if said:
                yield place, said


def _fault(found: re.Match[str], names: Collection[str]) -> str:
    name = found[1]
    if name is None:
        return "" if found[0] in ("{{", "}}") else f"a lone {found[0]}; write it twice, or close it"
    if name.startswith(ENV):
        return "" if re.fullmatch(r"\w+", name[4:]) else f"{name!r} names no environment variable"
    if any(name == one or (one.endswith(".") and name.startswith(one)) for one in names):
        return ""
    near = difflib.get_close_matches(name, names, 1)
    meant = near[0] if near else ", ".join(sorted(names))
    hint = f"did you mean {{{near[0]}}}?" if near else f"write one of {meant}"
    return f"found no value called {name!r}; {hint}"


def secrets_of(template: Any) -> set[str]:
    """Names of the environment variables that a template asks for.

    Examples
    --------
    >>> secrets_of({"a": ["Bearer {env:MY_KEY}"]})
    {'MY_KEY'}
    """
    if isinstance(template, Mapping):
        return set().union(*map(secrets_of, template.values()))
    if isinstance(template, list):
        return set().union(*map(secrets_of, template))
    found = PLACE.finditer(template) if isinstance(template, str) else ()
    return {one[1][len(ENV) :] for one in found if one[1] and one[1].startswith(ENV)}


def filled(
    template: Any, values: Mapping[str, Any], quote: Callable[[str], str] | None = None
) -> Any:
    """Fill values into a template.

    Parameters
    ----------
    template : object
        One without faults.
    values : mapping of str to object
        By name; ``meta.type`` is looked up in ``values["meta"]``. A mapping whose one key is
        ``each`` becomes a list, its template filled with each of ``values["records"]``.
    quote : callable, optional
        Applied to each value that stands in a text, such as percent-encoding.

    Raises
    ------
    StoreError
        If an environment variable is not set.

    Examples
    --------
    >>> filled({"q": "{query}", "n": "{k}", "path": "/{scope}"}, {"query": "{k}", "k": 5,
    ...        "scope": "ana"})
    {'q': '{k}', 'n': 5, 'path': '/ana'}
    """
    if isinstance(template, Mapping):
        if set(template) == {EACH}:
            return [filled(template[EACH], one, quote) for one in values["records"]]
        made = {key: _one(value, values, quote) for key, value in template.items()}
        return {key: value for key, value in made.items() if value is not _ABSENT}
    if isinstance(template, list):
        made_list = [_one(value, values, quote) for value in template]
        return [value for value in made_list if value is not _ABSENT]
    found = _one(template, values, quote)
    return None if found is _ABSENT else found


def environment_of(told: Any, folder: str) -> dict[str, str]:
    """Environment variables for a program: by name from here, or as a mapping says.

    Parameters
    ----------
    told : list of str or mapping
        Names, of which those that are not set are left out; or values by name, in which ``{tmp}``
        is the folder.
    folder : str
        A folder of the program's own.

    Raises
    ------
    StoreError
        If a value asks for an environment variable that is not set.
    """
    if isinstance(told, Mapping):
        return {name: str(filled(value, {"tmp": folder})) for name, value in told.items()}
    return {name: os.environ[name] for name in told if name in os.environ}


def _one(template: Any, values: Mapping[str, Any], quote: Callable[[str], str] | None) -> Any:
    if isinstance(template, Mapping | list):
        return filled(template, values, quote)
    if not isinstance(template, str):
        return template
    whole = PLACE.fullmatch(template)
    if whole is not None and whole[1] is not None and quote is None:
        return _value(whole[1], values)

    def said(found: re.Match[str]) -> str:
        if found[1] is None:
            return found[0][0]
        value = _value(found[1], values)
        text = "" if value is _ABSENT else str(value)
        return quote(text) if quote is not None and not found[1].startswith(ENV) else text

    return PLACE.sub(said, template)


def _value(name: str, values: Mapping[str, Any]) -> Any:
    if name.startswith(ENV):
        found = os.environ.get(name[len(ENV) :])
        if found is None:
            raise StoreError(
                f"the environment variable {name[len(ENV) :]} is not set; set it before the run"
            )
        return found
    first, dot, rest = name.partition(".")
    value = values.get(first)
    if dot:
        value = value.get(rest) if isinstance(value, Mapping) else None
    return _ABSENT if value is None else value
