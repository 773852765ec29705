"""A run that was recorded, asked again of its recording."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from memeval.errors import StoreError
from memeval.harness.collecting import Collector, Progress
from memeval.harness.options import Options
from memeval.harness.replaying import Replay, ReplayStore
from memeval.harness.selfcheck import self_check
from memeval.harness.snapshots import Shelf
from memeval.record import Hit
from memeval.runs import Manifest
from memeval.stores.bound import BoundStore, Meter, View
from memeval.suite import Suite

__all__ = ["asked_of_recording"]

KEPT = (
    "store_info",
    "capabilities",
    "environment",
    "config_hash",
    "fingerprint",
    "no_fingerprint",
)
"""Of the manifest, what a replay takes over from the run that was recorded."""
MOST_TOLD = 3


class Replayed(BoundStore):
    """A store that says again what is on a tape, as the runner sees it: with the times of then."""

    inner: ReplayStore
    pause = staticmethod(bool)  # nothing gets better by waiting

    def search(self, view: View) -> list[Hit]:
        """Ask; how long that took is what it took then."""
        hits = super().search(view)
        self.attempt_ms = self.inner.ms
        return hits

    def wrote(self, written: Any) -> Any:
        """How the writing of the history went then."""
        return self.inner.written or written


def asked_of_recording(
    suite: Suite,
    replay: Replay,
    options: Options,
    repeats: int | None,
    progress: Progress | None,
) -> tuple[tuple[Any, Any, Any], Manifest]:
    """Ask every probe of a recording.

    Parameters
    ----------
    suite, options, repeats, progress
        As of `memeval.run`.
    replay : Replay
        What was recorded, as `memeval.load_recording` gives it.

    Returns
    -------
    tuple of tuple and Manifest
        Hits, calls and qrels; and what was measured with what, then.

    Raises
    ------
    StoreError
        If something is asked that was not recorded, or was asked otherwise.
    """
    then = int(replay.manifest["repeats"])
    _refuse_other(replay, options, repeats, then)
    replay = replace(replay, missed=[], played=Counter(), kept=[])
    asking = {name: value for name, value in replay.asking.items() if hasattr(options, name)}
    options = replace(options, retrieve=replay.retrieve, timeout_s=None, **asking)
    meter = Meter()
    make = options.binding(replay, meter, Replayed)
    checked = self_check(make, options, search=False)
    asked = Collector(
        suite, make, checked, options, repeats or then, progress, Shelf(0), meter=meter
    )
    tables = asked.tables()
    if replay.missed:
        raise StoreError(_missed(replay, suite))
    return tables, _as_then(asked.manifest({}), replay.manifest)


def _refuse_other(replay: Replay, options: Options, repeats: int | None, then: int) -> None:
    """Refuse what would be asked otherwise than it was."""
    seed = replay.asking.get("seed", options.seed)
    for wrong, found, todo in (
        (repeats is not None and repeats > then, f"repeats is {repeats}", f"at most {then}"),
        (options.seed not in (0, seed), f"seed is {options.seed}", f"{seed}"),
        (
            options.retrieve is not None and not replay.tape.pipeline,
            "retrieve is given",
            "none: the store itself was recorded, not a pipeline",
        ),
    ):
        if wrong:
            raise StoreError(
                f"{found}, and the recording has {todo}; leave it out, or ask the store itself"
            )


def _missed(replay: Replay, suite: Suite) -> str:
    told = "; ".join(replay.missed[:MOST_TOLD])
    more = len(replay.missed) - MOST_TOLD
    others = f"; and {more} more" if more > 0 else ""
    then = replay.manifest.get("suite_hash")
    hint = ""
    if then != suite.content_hash:
        hint = (
            f" The probes are not those that were recorded ({then} then, {suite.content_hash} now)."
        )
    return (
        f"the recording has no answer to this: {told}{others}.{hint} Wanted: what was asked then; "
        "record the run again, or ask the store itself"
    )


def _as_then(made: Manifest, then: Mapping[str, Any]) -> Manifest:
    """A manifest of what was measured when it was recorded, scored as it is now."""
    told = {name: then[name] for name in KEPT}
    options = dict(then["options"]) | {
        "contract_checks": made.options["contract_checks"],
        "is_stale": made.options["is_stale"],
        "recorded_at": then["created_at"],
    }
    notes = [note for note in made.notes if note not in then["notes"]]
    replayed = f"answers and times are of a recording made {then['created_at']}"
    return replace(made, **told, options=options, notes=(*then["notes"], *notes, replayed))
