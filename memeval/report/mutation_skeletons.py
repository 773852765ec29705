"""The probes that would kill the survivors, as one probe file that can be loaded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from memeval.loading import load_text
from memeval.probe import Probe
from memeval.probefiles.emitting import block
from memeval.report import mutation_rows as rows
from memeval.report.mutation_rows import Mutated
from memeval.text import visible

HEAD = """\
# Probes that would kill the faults that no probe of the suite sees. Put in their
# place what your users store and ask, then move this file among your probes.
"""


def skeleton_file(mutation: Mutated) -> str:
    """Write the probes that would kill the survivors.

    Parameters
    ----------
    mutation : Mutation
        Whose survivors are meant.

    Returns
    -------
    str
        Text of a YAML probe file: each fault as a comment, with its probes below it. Probes that
        kill several faults stand there once, and no name stands there twice. Empty where there is
        no such probe, and for an invalid suite.

    Raises
    ------
    ProbeError
        If what a saboteur has for a probe file is none.
    """
    if rows.withheld(mutation):
        return ""
    faults: dict[str, list[str]] = {}
    for one in rows.survivors(mutation):
        if one.skeleton:
            faults.setdefault(one.skeleton, []).append(visible(f"{one.name}: {one.fault}"))
    taken: set[str] = set()
    parts = [_part(source, told, taken) for source, told in faults.items()]
    return "\n".join([HEAD, *parts]) if parts else ""


def _part(source: str, told: Sequence[str], taken: set[str]) -> str:
    """Some faults as comments, and the probes that see them: as they were written, if they may."""
    probes = load_text(source, f"skeleton of {told[0]}")
    names = {probe.name for probe in probes}
    if names & taken or not _is_list(source):
        written = "".join(_anew(probes, taken))
    else:
        written = f"{source}\n"
    taken |= names
    return "".join([*(f"# {fault}\n" for fault in told), written])


def _is_list(source: str) -> bool:
    """Whether a probe file is a list that begins at the left, so that another can follow."""
    lines = (line for line in source.split("\n") if line.strip() and not line.startswith("#"))
    return next(lines, "").startswith("- ")


def _anew(probes: Sequence[Probe], taken: set[str]) -> Iterator[str]:
    """Entries with names of their own, each with its history in it."""
    for probe in probes:
        name, n = probe.name, 1
        while name in taken:
            n += 1
            name = f"{probe.name}-{n}"
        taken.add(name)
        yield block(replace(probe, name=name, history=None).to_dict())
