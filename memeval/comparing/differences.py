"""How two manifests differ, field by field, in words with both values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from memeval.checks.kinds import shown
from memeval.comparing.manifests import public
from memeval.hashes import digest
from memeval.text import visible

Told = Mapping[str, Any]
BUSY = 1.0  # load per core above which times are those of other programs too
MOST_SHOWN = 60

# Fields of the manifest that block the quality metrics, in the order in which they are told.
BLOCKING: Mapping[str, str] = {
    "schema_version": "version of the tables",
    "metric_version": "definitions of the metrics",
    "matcher": "how hits are recognised",
    "normaliser_version": "version of the normaliser",
    "haystack_hash": "haystack",
    "generator_version": "version of the haystack's generator",
    "seed": "seed",
}
HAYSTACK = ("haystack_hash", "generator_version", "seed")
SOFTWARE = {
    "environment.python": "Python",
    "environment.platform": "platform",
    "environment.packages": "packages",
}
# Fields of which a difference is warned.
WARNED: Mapping[str, str] = {
    "repeats": "repeats",
    "chosen_of": "probes that these were chosen of (0: all asked)",
    "holdout.share": "share of the probes that is held out",
    "holdout.asked": "held-out probes that were asked",
    "verified_deterministic": "equal answers when asked again",
    "options.isolation": "how a probe gets a clean store",
    "options.repeat_check": "repeat check",
    "options.contract_checks": "contract checks",
    "options.opaque_ids": "opaque ids",
    "options.read_only": "read-only mode",
    "options.is_stale": "a rule of the caller's own on what is stale",
    **SOFTWARE,
}
# Fields that block times, and those that are warned of.
BLOCKING_TIMES: Mapping[str, str] = {
    **{name: BLOCKING[name] for name in HAYSTACK},
    "repeats": "repeats",
    "options.jobs": "workers that asked at a time",
    **SOFTWARE,
    "environment.cpu": "processor",
    "environment.cpus": "processor cores",
}
WARNED_TIMES: Mapping[str, str] = {
    "tool_version": "version of memeval",
    "options.isolation": "how a probe gets a clean store",
}


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing in which two runs differ.

    Attributes
    ----------
    field : str
        Name of the field in the manifest, with dots for what is within another.
    baseline, current : object
        What each side says; None where it does not say.
    words : str
        The field in words.
    note : str
        What it means, or what to do; may be empty.

    Examples
    --------
    >>> print(Difference("haystack_hash", "a1", "b2", "haystack"))
    haystack: a1 in the baseline, b2 now
    """

    field: str
    baseline: Any
    current: Any
    words: str = ""
    note: str = ""

    def __str__(self) -> str:
        head = visible(self.words or self.field)
        sides = f"{_said(self.baseline)} in the baseline, {_said(self.current)} now"
        return f"{head}: {sides}" + (f"; {self.note}" if self.note else "")


def flat(manifest: Told) -> dict[str, Any]:
    """Fields of a manifest, those within some of them with a dot; blocking ones complete.

    Without a haystack nothing is drawn: its generator and seed are ``none`` then.
    """
    made: dict[str, Any] = dict.fromkeys(BLOCKING) | dict(manifest)
    for part in ("options", "environment", "holdout"):
        made |= {f"{part}.{name}": value for name, value in _part(manifest, part).items()}
    if made["haystack_hash"] == "none":
        made |= dict.fromkeys(HAYSTACK, "none")
    return made


def blocking(fields: Mapping[str, str], old: Told, new: Told, bare: bool) -> Iterator[Difference]:
    """Fields that differ or, unless a side is bare, are not told.

    Parameters
    ----------
    fields : mapping of str to str
        Their words.
    old, new : mapping
        As `flat` gives them.
    bare : bool
        Whether one side was never to tell anything.
    """
    for field, words in fields.items():
        then, now = old.get(field), new.get(field)
        if then is None or now is None:
            if not bare:
                yield Difference(field, then, now, words, "what is not told cannot be compared")
        elif then != now:
            yield _between(field, then, now, words)


def differing(fields: Mapping[str, str], old: Told, new: Told) -> Iterator[Difference]:
    """Fields that both tell, and differently."""
    return blocking(fields, old, new, True)


def dirty(old: Told, new: Told) -> Iterator[Difference]:
    """Files were changed since the commit, on either side."""
    found = [side.get("environment.dirty") for side in (old, new)]
    if any(found):
        sides = [None if one is None else "some" if one else "none" for one in found]
        note = "the commit alone does not tell what was measured"
        words = "files changed since the commit"
        yield Difference("environment.dirty", sides[0], sides[1], words, note)


def busy(old: Told, new: Told) -> Iterator[Difference]:
    """The machine had other work, on either side."""
    loads = [_per_core(side) for side in (old, new)]
    if any(load is not None and load > BUSY for load in loads):
        note = "other programs had a share in the times: run again when they are done"
        words = "load per core at the start"
        yield Difference("environment.load", loads[0], loads[1], words, note)


def under_test(old: Told, new: Told) -> Iterator[Difference]:
    """How the stores differ in what they tell and declare, without places and secrets."""
    if old.get("store") != new.get("store"):
        yield Difference("store", old.get("store"), new.get("store"), "store")
    for part in ("store_info", "capabilities"):
        then, now = (_leaves(public({part: _part(side, part)})[part]) for side in (old, new))
        for name in sorted({*then, *now}):
            if then.get(name) != now.get(name) and (part, name) != ("store_info", "name"):
                yield Difference(f"{part}.{name}", then.get(name), now.get(name), name)
    own = [bool(_part(side, "options").get("retrieve")) for side in (old, new)]
    if own[0] != own[1]:
        yield Difference("options.retrieve", own[0], own[1], "a pipeline of the caller's own")


def silent(old: Told, new: Told) -> Iterator[Difference]:
    """The fixed queries are answered otherwise, although the store says that it is the same.

    Fingerprints of two versions of the fixed queries, and stores that answer otherwise each time,
    say nothing.
    """
    prints = [str(side.get("fingerprint") or "") for side in (old, new)]
    versions = {one.partition("-")[0] for one in prints}
    steady = all(side.get("verified_deterministic") is not False for side in (old, new))
    if all(prints) and len(versions) == 1 and prints[0] != prints[1] and steady:
        note = "silent change: the store answers otherwise, and tells the same of itself"
        yield Difference("fingerprint", prints[0], prints[1], "answers to 20 fixed queries", note)


def config_hash(store_info: Told, capabilities: Told) -> str:
    """Hash what a store tells and declares of itself, but its name and version.

    Places, times and secrets among it do not count.
    """
    told = {n: v for n, v in store_info.items() if n not in ("name", "version")}
    return digest(public({"store_info": told, "capabilities": capabilities}))


def declares(manifest: Told, name: str) -> Any:
    """What the store of a run declares of itself; None where it is not told."""
    return _part(manifest, "capabilities").get(name)


def _part(manifest: Told, name: str) -> Told:
    inner = manifest.get(name)
    return inner if isinstance(inner, Mapping) else {}


def _between(field: str, then: Any, now: Any, words: str) -> Difference:
    """Difference of two values; of mappings only what is not alike."""
    if isinstance(then, Mapping) and isinstance(now, Mapping):
        names = [n for n in sorted({*then, *now}) if then.get(n) != now.get(n)]
        then, now = ({n: side.get(n) for n in names} for side in (then, now))
    return Difference(field, then, now, words)


def _per_core(told: Told) -> float | None:
    load, cores = told.get("environment.load"), told.get("environment.cpus")
    if not isinstance(load, int | float) or not isinstance(cores, int) or cores < 1:
        return None
    return round(load / cores, 2)


def _leaves(value: Any, name: str = "") -> dict[str, Any]:
    """Values within mappings, by the names that lead to them."""
    if not isinstance(value, Mapping) or not value:
        return {name: value} if name else {}
    made: dict[str, Any] = {}
    for key, inner in value.items():
        made |= _leaves(inner, f"{name}.{key}" if name else str(key))
    return made


def _said(value: Any) -> str:
    if value is None:
        return "not told"
    if isinstance(value, Mapping):
        return visible(", ".join(f"{n} {_said(v)}" for n, v in value.items()), 2 * MOST_SHOWN)
    return visible(value if isinstance(value, str) else shown(value), MOST_SHOWN)
