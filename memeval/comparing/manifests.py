"""What of a manifest goes into files that are committed: nothing of a host, a time or a secret."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from memeval.plain import plain
from memeval.runs import Run

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
# Words in the names of settings that speak of a host, a person, a moment or a secret.
_PRIVATE = frozenset(
    "address apikey at auth authorization certificate connection created credential credentials "
    "date dir directory dsn endpoint file filename folder host hostname key login passphrase "
    "passwd password path pid port pwd secret server session socket started time timestamp token "
    "updated uri url user username".split()
)
_PLACE = re.compile(r"\A(?:[/~\\]|[A-Za-z]:[\\/])|://|@[\w.-]+\.")
# What changes from run to run although the same is measured in the same way.
_PASSING = ("puts", "searches", "retried", "retries", "timeout_s", "settle_s", "poll_s")
_DEVICE = ("created_at", "environment", "notes", "tool_version")
ENVIRONMENT = ("python", "packages", "dirty")


def told(run: Run) -> dict[str, Any]:
    """Give the whole manifest as plain values, and what the suite says of a choice of its probes.

    Returns
    -------
    dict
        Every field of `memeval.runs.Manifest`; ``chosen_of`` is 0 for a whole suite; ``holdout``
        is the ``share`` (0 where none is set), how many of these probes were ``asked``, and the
        names of all ``probes`` that are held out.
    """
    made: dict[str, Any] = plain(asdict(run.manifest))
    held = run.suite.held_out
    holdout = {
        "share": 0.0 if held is None else held.share,
        "asked": len(run.suite.looked_at),
        "probes": [] if held is None else list(held.names),
    }
    return made | {"chosen_of": run.suite.chosen_of, "holdout": holdout}


def public(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Give what a results file holds of a manifest.

    Parameters
    ----------
    manifest : mapping
        As `told` gives it.

    Returns
    -------
    dict
        Without the time, the commit and the machine; what the store tells of itself without
        places and secrets.
    """
    made = {name: manifest[name] for name in manifest if name not in ("created_at", "environment")}
    around = manifest.get("environment") or {}
    if around:
        made["environment"] = {name: around[name] for name in ENVIRONMENT if name in around}
    for name in ("store_info", "options"):
        if name in made:
            made[name] = without_private(made[name])
    return {name: _sorted(value) for name, value in made.items()}


def lasting(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Give what a baseline holds of a manifest: what is measured, how, and of which store.

    Parameters
    ----------
    manifest : mapping
        As `told` or a results file gives it.

    Returns
    -------
    dict
        The same wherever and whenever the same is measured.
    """
    made = {n: v for n, v in public(manifest).items() if n not in _DEVICE and n != "chosen_of"}
    options = made.get("options")
    if isinstance(options, Mapping):
        made["options"] = {n: v for n, v in options.items() if n not in _PASSING}
    return made


def without_private(value: Any) -> Any:
    """Give plain values without entries whose name or text speaks of a host, a place or a secret.

    Examples
    --------
    >>> without_private({"model": "small", "api_key": "s3cret", "url": "https://u:p@host/"})
    {'model': 'small'}
    """
    if isinstance(value, Mapping):
        return {
            name: without_private(inner)
            for name, inner in value.items()
            if not _is_private(str(name)) and not _is_place(inner)
        }
    if isinstance(value, list | tuple):
        return [without_private(inner) for inner in value if not _is_place(inner)]
    return value


def _is_private(name: str) -> bool:
    return not _PRIVATE.isdisjoint(word.lower() for word in _WORDS.findall(name))


def _is_place(value: Any) -> bool:
    return isinstance(value, str) and _PLACE.search(value) is not None


def _sorted(value: Any) -> Any:
    """Sort the keys within: a store may tell them in any order."""
    if isinstance(value, Mapping):
        return {name: _sorted(value[name]) for name in sorted(value)}
    return value
