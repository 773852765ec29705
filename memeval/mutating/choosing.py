"""What is tried and how: the saboteurs, the options, and the key of it all for a journal."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from numbers import Integral, Real
from typing import Any, get_args

from memeval.environment import tool_version
from memeval.errors import StoreError
from memeval.harness.options import Options
from memeval.mutating.bench import Bench
from memeval.plain import plain
from memeval.runner import refuse_odd
from memeval.stores.saboteurs.base import NEEDS, Saboteur, Touches
from memeval.summary import refuse_unknown
from memeval.text import visible

__all__ = ["chosen_of", "key_of", "options_of"]

_ASKING = frozenset(Options.__dataclass_fields__) - {"retrieve", "seed"}
_BESIDE = frozenset({"max_calls", "check_store"})
_TOLD = frozenset({"targets", "floors", "allow_errors"})


def chosen_of(saboteurs: Sequence[type[Saboteur]] | None) -> list[type[Saboteur]]:
    """The saboteurs, each of a name of its own; all that ship with memeval for None.

    Raises
    ------
    StoreError
        If something else is among them, one says of itself what it cannot, or two have one name.
    """
    if saboteurs is None:
        from memeval.stores.saboteurs import SABOTEURS

        saboteurs = SABOTEURS
    if isinstance(saboteurs, type | str) or not isinstance(saboteurs, Iterable):
        raise StoreError(
            f"saboteurs is {saboteurs!r:.60}, wanted a list of classes that derive from "
            "memeval.stores.saboteurs.base.Saboteur; put it into a list"
        )
    chosen = list(saboteurs)
    for kind in chosen:
        _refuse_odd_kind(kind)
    names = [kind.name for kind in chosen]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise StoreError(
            f"two saboteurs are called {twice!r}, wanted names of their own; set the class "
            "attribute name of one of them"
        )
    return chosen


def _refuse_odd_kind(kind: object) -> None:
    """Refuse what is no saboteur, or says of itself what no table can hold, before all is run."""
    if not (isinstance(kind, type) and issubclass(kind, Saboteur)):
        raise StoreError(
            f"saboteurs holds {kind!r:.60}, wanted classes that derive from "
            "memeval.stores.saboteurs.base.Saboteur; give the class itself"
        )
    for name in ("name", "fault", "caught_by", "tag", "witness"):
        told: object = getattr(kind, name)
        if not isinstance(told, str):
            raise _odd(kind, name, told, "a string")
    if not kind.name or visible(kind.name) != kind.name:
        raise _odd(kind, "name", kind.name, "a word of its own, on one line")
    if kind.touches not in get_args(Touches):
        wanted = f"one of {', '.join(map(repr, get_args(Touches)))}"
        raise _odd(kind, "touches", kind.touches, wanted)
    if not isinstance(kind.must_kill, bool):
        raise _odd(kind, "must_kill", kind.must_kill, "True or False")
    needs: object = kind.needs
    if isinstance(needs, str) or not isinstance(needs, Collection) or not NEEDS.keys() >= {*needs}:
        raise _odd(kind, "needs", needs, f"a tuple of some of {', '.join(map(repr, NEEDS))}")


def _odd(kind: type[Saboteur], name: str, told: object, wanted: str) -> StoreError:
    return StoreError(
        f"saboteur {kind.__qualname__}: {name} is {told!r:.60}, wanted {wanted}; set the class "
        "attribute"
    )


def options_of(
    options: Mapping[str, Any], retrieve: Any, seed: int, repeats: int | None
) -> tuple[Options, dict[str, Any], dict[str, Any]]:
    """How to ask, what else holds for the run of the store as it is, and what that run is given.

    Raises
    ------
    TypeError
        If an option is none of `memeval.run`.
    StoreError
        If a number is none of its kind.
    """
    known = _ASKING | _BESIDE | _TOLD
    odd = next((name for name in options if name not in known), None)
    if odd is not None:
        raise TypeError(f"mutate() has no option {odd!r}, wanted one of {', '.join(sorted(known))}")

    def among(*names: str) -> dict[str, Any]:
        return {name: options[name] for name in names if name in options}

    refuse_odd(Integral, 1, repeats=repeats, **among("max_calls"))
    refuse_odd(Integral, 0, seed=seed, **among("retries", "allow_errors"))
    refuse_odd(Real, 0, **among("settle_s", "poll_s", "timeout_s"))
    refuse_unknown(options.get("targets") or {}, "targets")
    refuse_unknown(options.get("floors") or {}, "floors")
    told = {name: value for name, value in among(*_TOLD).items() if value is not None}
    return Options(retrieve=retrieve, seed=seed, **among(*_ASKING)), among(*_BESIDE), told


def key_of(bench: Bench, saboteurs: Sequence[type[Saboteur]]) -> dict[str, Any]:
    """What is tried on what: a journal goes on only where all of it is the same."""
    manifest, options = bench.identity.manifest, bench.options
    return {
        "suite_hash": manifest.suite_hash,
        "haystack_hash": manifest.haystack_hash,
        "store": plain(manifest.store_info),
        "capabilities": plain(manifest.capabilities),
        "seed": options.seed,
        "repeats": bench.repeats,
        "memeval": tool_version(),
        "saboteurs": [kind.name for kind in saboteurs],
        "retrieve": getattr(options.retrieve, "__qualname__", options.retrieve is not None),
        "opaque_ids": options.opaque_ids,
        "contract_checks": options.contract_checks,
        "repeat_check": options.repeat_check,
    }
