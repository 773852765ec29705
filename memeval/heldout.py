"""Which probes of a suite are held out, decided by what they say and by no hand."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

from memeval.given import op_to_dict
from memeval.hashes import digest
from memeval.probe import Probe

SHARE = 0.2


@dataclass(frozen=True, slots=True)
class HeldOut:
    """The probes of a whole suite that are kept for last.

    Attributes
    ----------
    share : float
        Share of the suite that was to be held out, between 0 and 1.
    names : tuple of str
        Names of all probes that are held out, sorted, whether they are asked or not.
    hash : str
        Hash of the contents of these probes: another one means that other probes are held out.

    Examples
    --------
    >>> HeldOut(0.2, ("lunch",), "0123456789abcdef").share
    0.2
    """

    share: float
    names: tuple[str, ...]
    hash: str


def hold_out(probes: Iterable[Probe], share: float = SHARE) -> HeldOut:
    """Tell which probes a holdout of this share holds out.

    Parameters
    ----------
    probes : iterable of Probe
        All probes of the suite.
    share : float
        Share to hold out, between 0 and 1; met on average, not to the probe.

    Returns
    -------
    HeldOut
        Names and hash.

    Notes
    -----
    A probe falls at a point between 0 and 1 that a hash of its content gives, and is held out
    where that is below `share`: a new name moves nothing, adding a probe moves no other, and a
    larger share keeps what a smaller one held out. Probes of one shared history fall at one point,
    that of the history: they ask the same store, so that one of them would give the others away.
    """
    points: dict[str, float] = {}
    held = []
    for probe in probes:
        if probe.history is None:
            point = _point(probe.content_hash)
        else:
            if probe.history not in points:
                points[probe.history] = _point(digest([op_to_dict(op) for op in probe.given]))
            point = points[probe.history]
        if point < share:
            held.append(probe)
    contents = digest(sorted(probe.content_hash for probe in held))
    return HeldOut(share, tuple(sorted(probe.name for probe in held)), contents)


def _point(content_hash: str) -> float:
    """Where a content falls between 0 and 1."""
    drawn = hashlib.sha256(b"holdout " + content_hash.encode()).digest()
    return int.from_bytes(drawn[:8], "big") / 2**64
