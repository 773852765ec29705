"""Which outcomes must not become a baseline, and what to do about it."""

from __future__ import annotations

from typing import Any

from memeval.errors import RunFileError
from memeval.outcomes import Outcomes
from memeval.text import visible
from memeval.verdicts import Verdict

MOST_NAMES = 5


def refusal(outcomes: Outcomes) -> Verdict | None:
    """Tell why outcomes must not become a baseline.

    Parameters
    ----------
    outcomes : Outcomes
        What somebody wants to accept.

    Returns
    -------
    Verdict or None
        INVALID (exit code 4) for an invalid suite or one without probes; FAIL (1) for leaks,
        broken contracts, more failed searches than allowed, and probes marked must that did not
        pass; None where nothing stands against it.

    Raises
    ------
    RunFileError
        If it holds too little to compare anything with, or is of chosen probes only.

    Notes
    -----
    A lost must-probe is refused: accepted, it would be lost in silence from then on. Whoever gives
    it up takes the mark off the probe, where it can be seen. Floors and store faults are not
    refused, since they fail every run by themselves, whatever the baseline.
    """
    if outcomes.validity.status == "invalid":
        why = "; ".join(outcomes.validity.reasons) or "the suite is invalid"
        todo = outcomes.validity.next_step or "mend the suite and run it again"
        return Verdict("INVALID", why, todo, 4)
    if outcomes.kind == "bare":
        raise RunFileError(
            f"{outcomes.source}: has no manifest and no answers, wanted a run or a results file "
            "that memeval wrote; run 'memeval run', then accept what it leaves"
        )
    if not len(outcomes):
        return Verdict("INVALID", "it has no probes", "run a suite that has some", 4)
    whole = outcomes.manifest.get("chosen_of")
    if whole:
        raise RunFileError(
            f"{outcomes.source}: is of {len(outcomes)} probes chosen of {whole}, wanted the whole "
            "suite, or the others would be lost from the baseline; run it without choosing"
        )
    objections = _objections(outcomes)
    if not objections:
        return None
    return Verdict("FAIL", "; also: ".join(why for why, _ in objections), objections[0][1], 1)


def refuse_look(outcomes: Outcomes) -> None:
    """Refuse outcomes of held-out probes: every comparison with them would look there again.

    Raises
    ------
    RunFileError
        With what to do.
    """
    seen = outcomes.looked_at
    if seen:
        raise RunFileError(
            f"{outcomes.source}: {len(seen)} of its {len(outcomes)} probes are held out, wanted "
            "outcomes without them, or every later look would be compared with this one; run "
            "without --holdout and accept that, or accept these too with --holdout "
            "(holdout=True in Python)"
        )


def _objections(outcomes: Outcomes) -> list[tuple[str, str]]:
    """What stands against it, the most serious first, with what to do."""
    probes = outcomes.probes
    failed = probes["status"].isin(["failed", "timeout"])
    lost = outcomes.must - outcomes.passing - set(_named(probes, "status", "not_supported"))
    found: list[tuple[Any, str, str]] = [
        (
            probes.loc[probes["n_leaked"] > 0, "probe"],
            "leaked in",
            "mend the store and run again; a leak can never be accepted",
        ),
        (
            probes.loc[probes["n_contract"] > 0, "probe"],
            "the store broke its contract in",
            "mend the store, or what it declares, and run again",
        ),
        (
            sorted(lost),
            "marked must and not passed:",
            "mend these; or take 'must' off the probes to give them up, and run again",
        ),
        (
            probes.loc[failed, "probe"] if failed.sum() > outcomes.allow_errors else (),
            f"more searches failed than the {outcomes.allow_errors} allowed, in",
            "run again when the store answers, or with --allow-errors N",
        ),
        (
            probes["probe"] if not probes["status"].eq("ok").any() else (),
            "no answer at all in",
            "all failed or are not supported: run again with a store that can take them",
        ),
    ]
    return [(f"{said} {_listed(names)}", todo) for names, said, todo in found if len(names)]


def _named(probes: Any, column: str, value: str) -> list[str]:
    return list(probes.loc[probes[column].eq(value), "probe"])


def _listed(names: Any) -> str:
    """Count of the probes, and the first of their names."""
    shown = ", ".join(visible(name, 60) for name in list(names)[:MOST_NAMES])
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return f"{len(names)} probe{'' if len(names) == 1 else 's'}: {shown}{more}"
