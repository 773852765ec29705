"""One saboteur tried on the bench: killed, alive, equivalent, or meaningless on this store."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from memeval.errors import MemevalError, StoreError
from memeval.files.outcome_rows import rows_of
from memeval.harness.snapshots import Shelf
from memeval.loading import load_text
from memeval.mutating.bench import Bench
from memeval.mutating.killing import Kill, Seen, kills, seen, slower
from memeval.mutating.significance import outcomes_of, significant
from memeval.runs import Run
from memeval.stores.saboteurs.base import Saboteur, Touches
from memeval.suite import Suite
from memeval.text import visible

__all__ = ["Found", "tried"]

EQUIVALENT = "its witness shows no difference on this store"
SHOWN = ("probe", "repeat", "rank", "record_id", "text", "score")
MANY = 20
CONFIRMED = 3
CALLED = ("probe", "repeat", "status", "breaches")
# How Python says that code is wrong, as against a store that fails.
_CRASH = (
    r"\b(?:AssertionError|AttributeError|ImportError|IndexError|KeyError|ModuleNotFoundError"
    r"|NameError|NotImplementedError|RecursionError|TypeError|UnboundLocalError)\b"
)


@dataclass(frozen=True)
class Found:
    """What came of one saboteur: plain values, a line of the journal.

    Attributes
    ----------
    saboteur : str
        Its name.
    kills : tuple of Kill
        The probes that kill it.
    lacks : str or None
        Why it means nothing on this store.
    equivalent : bool or None
        Whether its witness shows no difference; None where that was not asked.
    significant : bool or None
        Whether the comparison of means fails too.
    error : str or None
        What was raised, where each write or search of it failed: the fault, or a slip in it.
    """

    saboteur: str
    kills: tuple[Kill, ...] = ()
    lacks: str | None = None
    equivalent: bool | None = None
    significant: bool | None = None
    error: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, told: dict[str, Any]) -> Found:
        """Read what `to_dict` gave.

        Raises
        ------
        TypeError, KeyError
            If it is something else.
        """
        if not isinstance(told["kills"], list):
            raise TypeError("kills are no list")
        found = cls(**{**told, "kills": tuple(Kill(**kill) for kill in told["kills"])})
        words = [found.saboteur, *(word for kill in found.kills for word in asdict(kill).values())]
        flags = (found.equivalent, found.significant)
        if not all(isinstance(word, str) for word in words) or not (
            isinstance(found.lacks, str | None)
            and isinstance(found.error, str | None)
            and all(isinstance(f, bool | None) for f in flags)
        ):
            raise TypeError("a value of another kind")
        return found

    @property
    def killed(self) -> bool | None:
        """Whether a probe kills it; None where it is not applicable or equivalent."""
        return None if self.lacks is not None or self.equivalent else bool(self.kills)


def tried(bench: Bench, saboteur: type[Saboteur], shelf: Shelf) -> Found:
    """Try one saboteur.

    Parameters
    ----------
    bench : Bench
        With what the store shows as it is.
    saboteur : type
        The fault.
    shelf : Shelf
        Histories of this bench that were written before.

    Raises
    ------
    StoreError
        If it cannot be run; the message names it.
    """
    lacks = saboteur.lacks(bench.checked.capabilities, bench.supports)
    if lacks is not None:
        return Found(saboteur.name, lacks=lacks)
    try:
        run = bench.run(saboteur, shelf=shelf)
        if not saboteur.__module__.startswith("memeval."):  # what ships asks a store hard things
            _refuse_crashing(bench, run)
        rows = rows_of(run)
        found = _killed(bench, saboteur, seen(run, rows), shelf)
        same = None if found else _is_equivalent(bench, saboteur)
    except MemevalError as error:
        raise StoreError(f"saboteur {saboteur.name}: {error}") from error
    tested = significant(bench.outcomes, outcomes_of(run, rows))
    return Found(saboteur.name, tuple(found), None, same, tested, _error(run))


def _error(run: Run) -> str | None:
    """What the first call raised, where every probe that was asked failed in every repeat."""
    calls = run.calls[run.calls["status"].ne("not_supported")]
    told = calls["error"].dropna()
    return str(told.iloc[0]) if len(told) and len(told) == len(calls) else None


def _refuse_crashing(bench: Bench, run: Run) -> None:
    """Refuse a saboteur whose own code fails: every probe would seem to kill it."""
    sound = bench.identity.calls.loc[bench.identity.calls["status"].eq("ok"), "probe"]
    failed = run.calls[run.calls["status"].eq("failed") & run.calls["probe"].isin(sound)]
    crashed = failed["error"][failed["error"].str.contains(_CRASH, na=False)]
    if len(crashed):
        raise StoreError(
            f"its own code fails in {len(crashed)} of {len(run.calls)} calls "
            f"({visible(crashed.iloc[0], 120)}), which would count as killed; mend it, or raise a "
            "StoreError where a failing call is the fault"
        )


def _killed(bench: Bench, saboteur: type[Saboteur], after: Seen, shelf: Shelf) -> list[Kill]:
    before = bench.recorded
    if saboteur.touches == "answer" and bench.replayed is not None:
        before = bench.replayed
    slow = slower(before, after)
    if slow:
        slow &= _slower_again(bench, saboteur, saboteur.touches, after, shelf)
    return kills(before, after, slow)


def _slower_again(
    bench: Bench, saboteur: type[Saboteur], touches: Touches, after: Seen, shelf: Shelf
) -> frozenset[str]:
    """Which probes are slower each time than the store as it is, that is asked again, right now.

    A machine stalls now and then; of few searches one stall is the median, so then both are asked
    again, several times.
    """
    slow, few = frozenset(after.latencies), len(after.latencies) < MANY
    for _ in range(CONFIRMED if few else 1):
        if few:
            after = seen(bench.run(saboteur, touches, shelf))
        slow &= slower(seen(bench.run(Saboteur, touches, shelf)), after)
        if not slow:
            break
    return slow


def _is_equivalent(bench: Bench, saboteur: type[Saboteur]) -> bool | None:
    """Whether the smallest probes that see the fault see none; None where nobody wrote any."""
    text = saboteur.skeleton()
    if not text.strip():
        return None
    small = bench.on(Suite.of(list(load_text(text, f"{saboteur.name}.yaml"))))
    touches: Touches = "write"
    plain, mutant = small.run(Saboteur, touches), small.run(saboteur, touches)
    if mutant.calls["status"].eq("not_supported").all():
        return None
    for name, columns in (("hits", SHOWN), ("calls", CALLED)):
        one, other = (getattr(run, name)[list(columns)] for run in (plain, mutant))
        if not one.equals(other):
            return False
    shown = seen(mutant)
    if not slower(seen(plain), shown):
        return True
    return not _slower_again(small, saboteur, touches, shown, Shelf(0))
