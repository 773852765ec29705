"""Questions to the person at the terminal, one at a time."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from typing import Any

from memeval.cli.console import say
from memeval.errors import MemevalError
from memeval.text import visible

Fields = dict[str, Any]
_NO_NAME = re.compile(r"[^\w]+|_+")


def at_terminal() -> bool:
    """Whether there is someone to ask."""
    return sys.stdin is not None and sys.stdin.isatty()


def ask(label: str, default: str = "", wrong: Callable[[str], str] = lambda answer: "") -> str:
    """Ask for one line, again where it cannot be used.

    Parameters
    ----------
    label : str
        What is asked for.
    default : str
        What an empty answer means.
    wrong : callable
        Says what is wrong with an answer; empty for nothing.

    Raises
    ------
    MemevalError
        If the input ends.
    """
    while True:
        answer = _line(f"{label} [{visible(default, 60)}]: " if default else f"{label}: ")
        answer = answer.strip() or default
        said = wrong(answer)
        if not said:
            return answer
        say(said)


def _line(prompt: str) -> str:
    # Only where both ends are a terminal does the editor of input() know of the prompt.
    shown = sys.stdout.isatty()
    if not shown:
        print(prompt, end="", file=sys.stderr, flush=True)
    try:
        return input(prompt) if shown else input()
    except EOFError as error:
        print(file=sys.stderr)
        raise MemevalError(
            "the input ended before the answer; what was not confirmed was not written"
        ) from error


def confirmed(label: str) -> bool:
    """Whether the person says yes; anything else is no."""
    return ask(f"{label} [y/N]").lower() in ("y", "yes")


def complete(fields: Fields, keys: Sequence[str]) -> Fields:
    """Ask for each of the fields that is not there yet.

    Parameters
    ----------
    fields : dict
        What is known of the probe; not changed.
    keys : sequence of str
        What to ask for, in this order.

    Returns
    -------
    dict
        With an answer for each key; optional ones that were left empty are not in it.
    """
    found = dict(fields)
    for key in keys:
        if key not in found:
            answer = _QUESTIONS[key](found)
            if answer not in ("", []) or key == "expect":
                found[key] = answer
    return found


def slug(query: str) -> str:
    """Name that a query suggests.

    Examples
    --------
    >>> slug("Where do I have lunch, on workdays and on Sundays?")
    'where-do-i-have-lunch-on'
    """
    words = [word for word in _NO_NAME.split(query.lower()) if word]
    return "-".join(words[:6])[:60]


def _needed(answer: str) -> str:
    return "" if answer else "found nothing, wanted a few words; Ctrl-C stops"


def _query(found: Fields) -> str:
    return ask("what is asked", wrong=_needed)


def _name(found: Fields) -> str:
    return ask("name of the probe", slug(found["query"]), _needed)


def _scope(found: Fields) -> str:
    return ask("whose memory is asked (scope)", "default")


def _k(found: Fields) -> int:
    return int(ask("k", "5", lambda a: "" if a.isdecimal() else f"found {a!r}, wanted a number"))


def _given(found: Fields) -> list[Any]:
    records: list[Any] = []
    while True:
        label = f"text of record r{len(records) + 1}"
        if records:
            text = ask(f"{label} (empty: no more)")
        else:
            text = ask(label, wrong=_needed)
        if not text:
            return records
        records.append({"id": f"r{len(records) + 1}", "text": text})


def _ids(label: str, empty: str) -> Callable[[Fields], list[str]]:
    def asked(found: Fields) -> list[str]:
        entries = (entry for entry in found.get("given", ()) if isinstance(entry, dict))
        known = list(dict.fromkeys(str(e["id"]) for e in entries if "id" in e))

        def wrong(answer: str) -> str:
            other = [name for name in _split(answer) if name not in known]
            if not other:
                return ""
            return f"no record is called {other[0]!r}; there are {', '.join(known)}"

        return _split(ask(f"{label}, of {visible(' '.join(known))} (empty: {empty})", wrong=wrong))

    return asked


def _split(answer: str) -> list[str]:
    return answer.replace(",", " ").split()


def _tags(found: Fields) -> list[str]:
    return _split(ask("tags (empty: none)"))


def _why(found: Fields) -> str:
    return ask("where it comes from, in a sentence (empty: not said)")


_QUESTIONS: dict[str, Callable[[Fields], Any]] = {
    "query": _query,
    "name": _name,
    "scope": _scope,
    "k": _k,
    "given": _given,
    "expect": _ids("which must come back", "nothing is right"),
    "forbid": _ids("which must not come back", "none"),
    "tags": _tags,
    "why": _why,
}
