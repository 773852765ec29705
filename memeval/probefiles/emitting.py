"""A probe as YAML, in the form in which the shipped probe files are written by hand.

Every text that is not a plain word stands in double quotes on one line, with all that does not
print as an escape: so no text can end early, become another kind of value, or act on a terminal.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memeval.probefiles.probefile import PROBE_FIELDS, RECORD_FIELDS

# Written without quotes; the words that YAML 1.1 takes for true, false or null are not among them.
PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_./-]*")
TAKEN = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?(\+00:00|Z)")
SHORT = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}


@dataclass(frozen=True, slots=True)
class Style:
    """How the probes of a file are set.

    Attributes
    ----------
    dash : int
        Columns before the dash of a probe.
    offset : int
        Columns from the dash to the keys.
    nested : int
        Columns from a key to the dashes of its list.
    """

    dash: int = 0
    offset: int = 2
    nested: int = 2


def block(said: Mapping[str, Any], style: Style | None = None) -> str:
    r"""Write the fields of a probe as an entry of a list of probes.

    Parameters
    ----------
    said : mapping
        Plain values, as `Probe.to_dict` gives them.
    style : Style, optional
        How to set it.

    Returns
    -------
    str
        Lines with LF ends.

    Examples
    --------
    >>> given = [{"id": "r1", "text": "At the \x1b bar."}, {"delete": "r1"}]
    >>> print(block({"query": "Where?", "name": "lunch", "given": given, "expect": []}), end="")
    - name: lunch
      query: "Where?"
      given:
        - {id: r1, text: "At the \x1B bar."}
        - {delete: r1}
      expect: []
    """
    style = style or Style()
    keys = " " * (style.dash + style.offset)
    entries = keys + " " * style.nested
    lines: list[str] = []
    for name in ordered(said, PROBE_FIELDS):
        if name == "given" and said[name]:
            lines += [f"{keys}given:"]
            lines += [f"{entries}- {_operation(entry)}" for entry in said[name]]
        else:
            lines += [f"{keys}{scalar(name)}: {_field(name, said[name], PROBE_FIELDS)}"]
    lines[0] = " " * style.dash + "-".ljust(style.offset) + lines[0][len(keys) :]
    return "\n".join(lines) + "\n"


def ordered(said: Mapping[str, Any], known: Mapping[str, str]) -> list[str]:
    """Keys in the order of the format, then those that it does not know."""
    return [*(name for name in known if name in said), *(n for n in said if n not in known)]


def _operation(entry: Any) -> str:
    if not isinstance(entry, Mapping):
        return flow(entry)
    named = ordered(entry, RECORD_FIELDS)
    pairs = (f"{scalar(name)}: {_field(name, entry[name], RECORD_FIELDS)}" for name in named)
    return "{" + ", ".join(pairs) + "}"


def _field(name: str, value: Any, known: Mapping[str, str]) -> str:
    """A value; what a person would write as a time stands without quotes, free text with them."""
    if isinstance(value, str) and known.get(name) == "time" and TIME.fullmatch(value):
        return value.replace("+00:00", "Z")
    if isinstance(value, str) and name in ("query", "text", "why"):
        return quoted(value)
    return flow(value)


def flow(value: Any) -> str:
    """Write a plain value on one line.

    Examples
    --------
    >>> print(flow({"a b": [1, True, None, "no", "yes-no"], "i": 1e22}))
    {"a b": [1, true, null, "no", yes-no], i: 1.0e+22}
    """
    if isinstance(value, str):
        return scalar(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{scalar(k)}: {flow(v)}" for k, v in value.items()) + "}"
    if isinstance(value, Sequence):
        return "[" + ", ".join(map(flow, value)) + "]"
    if isinstance(value, float):
        return _decimal(value)
    return json.dumps(value)


def _decimal(value: float) -> str:
    """YAML 1.1 knows a number with an exponent by its point."""
    written = repr(value)
    return written if "." in written else written.replace("e", ".0e")


def scalar(text: str) -> str:
    """Write a text, in quotes unless it is a plain word.

    Examples
    --------
    >>> scalar("user/ana"), scalar("no"), scalar("12")
    ('user/ana', '"no"', '"12"')
    """
    plain = PLAIN.fullmatch(text) is not None and text.lower() not in TAKEN
    return text if plain else quoted(text)


def quoted(text: str) -> str:
    r"""Write a text in double quotes, all that does not print as an escape.

    Examples
    --------
    >>> print(quoted('say "hi"\u202e'))
    "say \"hi\"\u202E"
    """
    if text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    return '"' + "".join(map(_escaped, text)) + '"'


def _escaped(char: str) -> str:
    if char in SHORT:
        return SHORT[char]
    if char.isprintable():
        return char
    code = ord(char)
    return f"\\x{code:02X}" if code < 0x100 else _wide(code)


def _wide(code: int) -> str:
    return f"\\u{code:04X}" if code < 0x10000 else f"\\U{code:08X}"
