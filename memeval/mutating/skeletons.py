"""What a suite lacks that lets a saboteur live, in words and as probes to start from."""

from __future__ import annotations

from memeval.stores.saboteurs.base import Saboteur
from memeval.suite import Suite
from memeval.text import count

__all__ = ["alive", "missing_probe", "skeleton"]


def missing_probe(saboteur: type[Saboteur]) -> str:
    """The kind of probe that would kill a saboteur.

    Examples
    --------
    >>> class Shouts(Saboteur):
    ...     name, caught_by, tag = "shouts", "text fidelity", "direct"
    >>> missing_probe(Shouts)
    'one tagged direct; caught by: text fidelity'
    """
    tagged = f"one tagged {saboteur.tag}; " if saboteur.tag else ""
    return f"{tagged}caught by: {saboteur.caught_by}"


def alive(saboteur: type[Saboteur], suite: Suite) -> str:
    """Why a saboteur lives: no probe of its kind, or none of them sees it."""
    if not saboteur.tag:
        return "no probe sees it"
    n = sum(saboteur.tag in probe.tags for probe in suite)
    if not n:
        return f"no probe is tagged {saboteur.tag}"
    return f"{count(n, 'probe')} tagged {saboteur.tag}, and none sees it"


def skeleton(saboteur: type[Saboteur]) -> str:
    """Probes that would kill a saboteur, as a probe file; where nobody wrote any, what to write."""
    written = saboteur.skeleton()
    if written.strip():
        return written
    words = " ".join(missing_probe(saboteur).split())
    return f"# No witness of {saboteur.name} is written yet. Wanted: {words}\n"
