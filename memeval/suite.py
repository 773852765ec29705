"""Probes that belong together, with the haystack that they are asked in."""

from __future__ import annotations

import fnmatch
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, overload

import pandas as pd

from memeval.checks.fitting import haystack_faults, history_faults, name_faults
from memeval.checks.kinds import nearest, shown
from memeval.checks.linting import warnings
from memeval.errors import Fault, ProbeError
from memeval.given import Given, op_to_dict
from memeval.hashes import digest
from memeval.heldout import HeldOut, hold_out
from memeval.probe import Probe
from memeval.record import Op, Record
from memeval.showing import ShownInNotebooks
from memeval.suite_tables import faults_frame as faults_frame
from memeval.suite_tables import probes_table, qrels_table, tags_table
from memeval.withholding import WITHHELD as WITHHELD
from memeval.withholding import bare_record, without_text


@dataclass(frozen=True, repr=False)
class Suite(ShownInNotebooks, Sequence[Probe]):
    """Probes in a fixed order; a sequence, so it can be looped over, indexed and sliced.

    Attributes
    ----------
    probes : tuple of Probe
        In the order of the files.
    haystack : tuple of Record or None
        Background to draw from; None where the suite does without.
    haystack_name : str
        ``none``, ``shipped``, or the name of the file that it stands in.
    histories : mapping of str to tuple of Op
        Histories that several probes share; these probes hold them in ``given`` as well.
    notes : tuple of Fault
        What was odd in the files but not wrong, for `lint`.
    chosen_of : int
        How many probes the suite has of which these were chosen; 0 for a whole one. Chosen probes
        say nothing of the suite, so no control judges them.
    held_out : HeldOut or None
        Which probes are kept for last; None where nobody set a holdout.

    Raises
    ------
    ProbeError
        If two names are equal or differ in case only, one history has two contents, or a
        haystack id is not its own.

    Examples
    --------
    >>> suite = Suite.of([Probe("lunch", "Where is lunch?")])
    >>> suite
    Suite of 1 probe: 0 positive, 1 negative; haystack: none
    >>> suite[0].name, len(suite[:1])
    ('lunch', 1)
    """

    probes: tuple[Probe, ...]
    haystack: tuple[Record, ...] | None = None
    haystack_name: str = field(default="none", compare=False)
    histories: Mapping[str, Sequence[Op]] = field(default_factory=dict, hash=False)
    notes: tuple[Fault, ...] = field(default=(), compare=False)
    chosen_of: int = field(default=0, compare=False)
    held_out: HeldOut | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        faults = name_faults((p.name, p.file, p.line) for p in self.probes)
        faults += history_faults(self.probes)
        faults += haystack_faults(self.haystack or (), self.probes)
        if faults:
            raise ProbeError(faults)

    @classmethod
    def of(cls, probes: Probe | Iterable[Probe]) -> Suite:
        """Make an ad hoc suite of probes, without a haystack; a suite is given back as it is.

        Parameters
        ----------
        probes : Probe or iterable of Probe
            One or several.

        Raises
        ------
        ProbeError
            If something else is among them.
        """
        if isinstance(probes, Suite):
            return probes
        one = not isinstance(probes, Iterable) or isinstance(probes, str | bytes | Mapping)
        listed: tuple[Any, ...] = (probes,) if one else tuple(probes)  # type: ignore[arg-type]
        for entry in listed:
            if not isinstance(entry, Probe):
                raise ProbeError(
                    f"found {shown(entry)}, wanted a Probe; build it with memeval.Probe, or read "
                    "a probe file with memeval.load"
                )
        shared = {p.history: p.given for p in listed if p.history is not None}
        return cls(listed, histories=shared)

    @overload
    def __getitem__(self, index: int) -> Probe: ...
    @overload
    def __getitem__(self, index: slice) -> Suite: ...
    def __getitem__(self, index: int | slice) -> Probe | Suite:
        """Probe at a place, or a suite of a slice, in the same haystack."""
        return self._with(self.probes[index]) if isinstance(index, slice) else self.probes[index]

    def __len__(self) -> int:
        """Count the probes."""
        return len(self.probes)

    def __iter__(self) -> Iterator[Probe]:
        """Go through the probes in order."""
        return iter(self.probes)

    def __repr__(self) -> str:
        count = f"{len(self)} probe{'' if len(self) == 1 else 's'}"
        positive = sum(p.is_positive for p in self)
        split = f"{positive} positive, {len(self) - positive} negative"
        return f"Suite of {count}: {split}; haystack: {self.haystack_name}"

    def _with(self, probes: Iterable[Probe]) -> Suite:
        """The same suite with fewer probes."""
        kept = tuple(probes)
        named = {p.history for p in kept}
        whole = max(self.chosen_of, len(self))
        return replace(
            self,
            probes=kept,
            histories={n: ops for n, ops in self.histories.items() if n in named},
            chosen_of=whole if len(kept) < whole else 0,
        )

    @property
    def positives(self) -> Suite:
        """Probes that expect something."""
        return self._with(p for p in self if p.is_positive)

    @property
    def negatives(self) -> Suite:
        """Probes to which nothing is the right answer."""
        return self._with(p for p in self if p.is_negative)

    def select(self, tags: Collection[str] = (), names: Collection[str] = ()) -> Suite:
        """Choose probes by tag and by name.

        Parameters
        ----------
        tags : collection of str
            A probe with any of these stays; empty for all.
        names : collection of str
            Names, or patterns with ``*`` and ``?``; a probe that any of them fits stays; empty
            for all. With tags and names, both must hold.

        Returns
        -------
        Suite
            In the same order and the same haystack.

        Raises
        ------
        ProbeError
            If a tag or name fits no probe, or nothing fits both.
        """
        tags = (tags,) if isinstance(tags, str) else tuple(tags)
        names = (names,) if isinstance(names, str) else tuple(names)
        known_tags = {tag for p in self for tag in p.tags}
        known_names = {p.name for p in self}
        wanted: set[str] = set()
        for tag in tags:
            if tag not in known_tags:
                raise ProbeError(f"no probe has the tag {shown(tag)}; {nearest(tag, known_tags)}")
        for name in names:
            fitting = {name} & known_names or set(fnmatch.filter(known_names, name))
            if not fitting:
                raise ProbeError(f"no probe is called {shown(name)}; {nearest(name, known_names)}")
            wanted |= fitting
        kept = [
            p
            for p in self
            if (not tags or set(tags) & set(p.tags)) and (not names or p.name in wanted)
        ]
        if not kept and (tags or names):
            raise ProbeError("no probe has both the tag and the name; ask for one of the two")
        return self._with(kept)

    def holdout(self, share: float = 0.2) -> tuple[Suite, Suite]:
        """Split off probes to look at only when the work seems done.

        Parameters
        ----------
        share : float
            Share of probes to hold out, between 0 and 1; met on average, not to the probe.

        Returns
        -------
        tuple of Suite
            For development, a whole suite by itself, and held out: chosen probes. No hand chooses:
            `memeval.heldout.hold_out` does, by content.

        Raises
        ------
        ProbeError
            If `share` is not between 0 and 1.
        """
        both = self.with_holdout(share)
        held = both.looked_at
        dev = both._with(p for p in both if p.name not in held)
        return replace(dev, chosen_of=self.chosen_of), both._with(p for p in both if p.name in held)

    def with_holdout(self, share: float = 0.2) -> Suite:
        """The same probes, all of them, with those marked that `holdout` of this share parts."""
        if not 0 < share < 1:
            raise ProbeError(f"share is {share}, wanted a number between 0 and 1, such as 0.2")
        if self.held_out is not None and self.held_out.share == share:
            return self
        return replace(self, held_out=hold_out(self, share))

    @property
    def looked_at(self) -> frozenset[str]:
        """Names of the held-out probes that are among these."""
        held = () if self.held_out is None else self.held_out.names
        return frozenset(p.name for p in self) & frozenset(held)

    @cached_property
    def haystack_hash(self) -> str:
        """Hash of the background records in their order; ``none`` without any."""
        if self.haystack is None:
            return "none"
        return digest([op_to_dict(record) for record in self.haystack])

    @cached_property
    def content_hash(self) -> str:
        """Hash of what is measured: the sorted hashes of the probes, and the haystack."""
        return digest([sorted(p.content_hash for p in self), self.haystack_hash])

    def to_frame(self) -> pd.DataFrame:
        """Table of the probes, a row per probe.

        Returns
        -------
        pandas.DataFrame
            Columns of `memeval.frames.PROBES`.

        Examples
        --------
        >>> Suite.of([Probe("lunch", "Where is lunch?")]).to_frame()[["probe", "kind", "k"]]
           probe      kind  k
        0  lunch  negative  5
        """
        return probes_table(self)

    def tags(self) -> pd.DataFrame:
        """Table of the tags, a row per probe and tag.

        Returns
        -------
        pandas.DataFrame
            Columns of `memeval.frames.TAGS`.
        """
        return tags_table(self)

    def qrels(self, hits: pd.DataFrame | None = None) -> pd.DataFrame:
        """Table of what the author says of each record, a row per probe, record and label.

        Parameters
        ----------
        hits : pandas.DataFrame, optional
            Answers to judge, at least ``probe`` and ``record_id``. Records of a shared history
            that are superseded, expired or in another scope are then labelled where they came
            back (of the latter one in any case), so that the table does not grow with probes
            times records. `memeval.score` says the same of these hits with either table.

        Returns
        -------
        pandas.DataFrame
            Columns of `memeval.frames.QRELS`: probes in order, in each the expected records by
            group, then the forbidden, then the stale ones by id. A record may be both forbidden
            and stale; where several reasons hold, the first of listed, deleted, foreign_scope
            and of listed, superseded, expired stands.
        """
        return qrels_table(self, hits)

    def lint(self) -> pd.DataFrame:
        """Table of what makes the suite weak although nothing in it is wrong.

        Returns
        -------
        pandas.DataFrame
            Columns of `memeval.frames.FAULTS`; level is ``warning``, since errors are refused
            when a suite is loaded. What concerns the whole suite comes first.
        """
        return faults_frame([*warnings(self.probes, self.haystack), *self.notes])

    def without_texts(self) -> Suite:
        """Give the same suite without the texts and metadata of any record.

        Returns
        -------
        Suite
            Ids, scopes, times, units, labels, queries and names stay, and so do the content
            hashes of the probes; the hashes of the haystack and of the suite do not. Near misses
            and canaries are parts of texts, so they go as well.
        """
        bare: dict[int, Given] = {}
        for p in self:
            if id(p.state) not in bare:
                bare[id(p.state)] = Given(without_text(op) for op in p.state)
        probes = tuple(
            replace(
                p, given=bare[id(p.state)], canary=(), near=(), filter={}, withheld=p.content_hash
            )
            for p in self
        )
        haystack = None if self.haystack is None else tuple(bare_record(r) for r in self.haystack)
        shared = {p.history: p.given for p in probes if p.history is not None}
        return replace(self, probes=probes, haystack=haystack, histories=shared)

    def to_dict(self) -> dict[str, Any]:
        """Write the suite in the words of a probe file: plain values for JSON or YAML.

        Returns
        -------
        dict
            ``histories`` where there are any, ``haystack`` (a list, or the word ``none``) and
            ``probes``. `memeval.loading.load_text` reads it back equal.
        """
        shared = {name: [op_to_dict(op) for op in ops] for name, ops in self.histories.items()}
        background = [op_to_dict(record, record.scope) for record in self.haystack or ()]
        said = {
            "histories": shared,
            "haystack": "none" if self.haystack is None else background,
            "probes": [p.to_dict() for p in self],
        }
        return said if shared else {name: said[name] for name in ("haystack", "probes")}
