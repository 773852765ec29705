"""What the reader must know of the probes that a comparison rests on, or no longer does."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from memeval.comparing.sides import Sides, listed

# What rounding may take off a difference of two means.
_ROUNDING = 1e-9


def caveats(sides: Sides) -> Iterator[str]:
    """Tell how repeats were counted, and what became of probes that must not be lost.

    Parameters
    ----------
    sides : Sides
        What is compared.

    Yields
    ------
    str
        A note each.
    """
    if sides.mixed:
        yield (
            "with repeats, a probe counts as found where most of its repeats passed; all but "
            "recall_all is of the first repeat"
        )
    absent = sides.baseline.must - set(sides.current.probes["probe"])
    held_out = sorted(absent & sides.current.left_out)
    if held_out:
        yield (
            "warning: marked must in the baseline and held out now, so that nothing holds them but "
            f"a look: {listed(held_out)}"
        )
    gone = sorted(absent - sides.current.left_out)
    if gone:
        yield (
            f"warning: marked must in the baseline and removed since, so that nothing holds them: "
            f"{listed(gone)}"
        )
    unmarked = sorted(sides.baseline.must - sides.current.must - absent)
    if unmarked:
        yield f"warning: marked must in the baseline and no longer: {listed(unmarked)}"


def rarer(sides: Sides, margin: float) -> str:
    """Say how much more seldom a positive probe passes, where that is by the margin or more.

    Parameters
    ----------
    sides : Sides
        What is compared.
    margin : float
        Fall of the mean share of repeats that pass which is no loss any more.

    Returns
    -------
    str
        Empty where it did not fall so far, or where no probe has repeats that do not agree. Most
        of the repeats may pass as before, though each single asking fails more often.
    """
    if not sides.mixed:
        return ""
    chosen = sides.asked & ~np.isnan(sides.found[0]) & ~np.isnan(sides.found[1])
    rows = (sides.before[chosen], sides.after[chosen])
    before, after = (float((side["n_passed"] / side["n_repeats"]).mean()) for side in rows)
    if not before - after >= margin - _ROUNDING:
        return ""
    return f"a repeat of a positive probe passes more seldom: {before:.3f} -> {after:.3f}"


def untaken(sides: Sides) -> str:
    """Name the lost probes that the store cannot take now, which no test counts; else empty."""
    names = sides.named(sides.untaken)
    return f"lost, since the store cannot take it now: {listed(names)}" if names else ""
