"""Settings of a project: the table ``[tool.memeval]`` of the pyproject.toml in the working folder.

An option of the command line wins over a setting, a setting wins over the default.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from memeval.checks.kinds import nearest, shown
from memeval.errors import MemevalError

FILE = "pyproject.toml"
MOST_HELD_OUT = 0.5


@dataclass(frozen=True, slots=True)
class Config:
    """What a project says of itself; None or empty where it says nothing.

    Attributes
    ----------
    store : str or None
        Short name, or ``package.module:factory``.
    probes : tuple of str
        Probe files and folders.
    seed : int or None
        Seed of all draws.
    floors, targets : mapping of str to float
        By metric of the summary: bounds that gate, and what to aim for.
    out, html : str or None
        Where the results file and the report go.
    holdout : float or None
        Share of the probes that is held out.
    ledger : str or None
        Where looks at the held-out probes are counted.
    """

    store: str | None = None
    probes: tuple[str, ...] = ()
    seed: int | None = None
    floors: Mapping[str, float] = field(default_factory=dict)
    targets: Mapping[str, float] = field(default_factory=dict)
    out: str | None = None
    html: str | None = None
    holdout: float | None = None
    ledger: str | None = None


def load_config(path: str | Path = FILE) -> Config:
    """Read the settings of a project.

    Parameters
    ----------
    path : str or Path
        A pyproject.toml; where there is none, or none of it concerns memeval, all is default.

    Returns
    -------
    Config
        What stands there.

    Raises
    ------
    MemevalError
        If the file cannot be read, or a key or a value cannot be used; all of them are listed.

    Examples
    --------
    >>> load_config("no-such-folder/pyproject.toml").store is None
    True
    """
    table = _table(Path(path))
    faults = [f"{path}: [tool.memeval] {said}" for said in _faults(table)]
    if faults:
        raise MemevalError("\n".join(faults))
    values = {key: _KINDS[key].take(value) for key, value in table.items()}
    return Config(**values)


def _table(path: Path) -> Mapping[str, Any]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except UnicodeDecodeError as error:
        raise MemevalError(f"{path}: found bytes that are not UTF-8; save it as UTF-8") from error
    import tomllib  # only where there is a file to read: it costs as much as all else here

    try:
        whole = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise MemevalError(f"{path}: found no valid TOML ({error}); mend that line") from error
    tool = whole.get("tool", {})
    table = tool.get("memeval", {}) if isinstance(tool, Mapping) else {}
    if not isinstance(table, Mapping):
        raise MemevalError(
            f"{path}: tool.memeval is {shown(table)}, wanted a table; write [tool.memeval]"
        )
    return table


def _faults(table: Mapping[str, Any]) -> Iterator[str]:
    for key, value in table.items():
        if key not in _KINDS:
            yield f"has no key {shown(key)}; {nearest(key, _KINDS)}"
        elif not _KINDS[key].fits(value):
            yield f"{key} is {shown(value)}, wanted {_KINDS[key].wanted}"


@dataclass(frozen=True, slots=True)
class _Kind:
    """What a value must be, the same in words, and how it is kept."""

    wanted: str
    fits: Callable[[Any], bool]
    take: Callable[[Any], Any] = lambda value: value


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip()) and "\0" not in value


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and abs(value) <= sys.float_info.max


def _is_texts(value: Any) -> bool:
    listed = isinstance(value, list) and value != []
    return _is_text(value) or (listed and all(map(_is_text, value)))


def _texts(value: Any) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)


def _is_numbers(value: Any) -> bool:
    return isinstance(value, Mapping) and all(map(_is_number, value.values()))


def _is_share(value: Any) -> bool:
    return _is_number(value) and 0 < value <= MOST_HELD_OUT


_PATH = _Kind("the path of a file, as a text", _is_text)
_NUMBERS = _Kind("a table of finite numbers, such as {recall_all = 0.8}", _is_numbers, dict)
_KINDS = {
    "store": _Kind("a text, such as 'my_app.memory:make_store'", _is_text),
    "probes": _Kind("a path, or a list of paths", _is_texts, _texts),
    "seed": _Kind("a whole number from 0", lambda value: type(value) is int and value >= 0),
    "floors": _NUMBERS,
    "targets": _NUMBERS,
    "out": _PATH,
    "html": _PATH,
    "holdout": _Kind(f"a share above 0, at most {MOST_HELD_OUT}, such as 0.2", _is_share, float),
    "ledger": _PATH,
}
