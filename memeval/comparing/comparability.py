"""May two runs be compared? What they were measured with decides, before any number is shown.

What defines the numbers blocks where it differs: definitions, probes, haystack. What may move them
is warned of. The store, its settings and its embedder are what is under test: they are shown, and
never block. Times are judged apart, since they hang on the machine too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from memeval.comparing.differences import (
    BLOCKING,
    BLOCKING_TIMES,
    WARNED,
    WARNED_TIMES,
    Difference,
    blocking,
    busy,
    declares,
    differing,
    dirty,
    flat,
    silent,
    under_test,
)
from memeval.hashes import digest
from memeval.outcomes import Outcomes
from memeval.showing import Shown

__all__ = [
    "BLOCKING",
    "Comparability",
    "Difference",
    "comparability_key",
    "compare_manifests",
    "verified_deterministic",
]

Word = Literal["comparable", "blocked", "unknown"]
FEWEST_POSITIVES = 20
LEAST_COMMON = 0.8
CONTENT = "content_hash"


@dataclass(frozen=True, slots=True, repr=False)
class Comparability(Shown):
    """Whether the numbers of two runs may stand side by side.

    Attributes
    ----------
    quality, latency : {'comparable', 'blocked', 'unknown'}
        Unknown where one side says nothing of how it was measured, as the bare dictionary of the
        specification.
    blocks, latency_blocks : tuple of Difference
        What forbids it.
    warnings, latency_warnings : tuple of Difference
        What may have moved the numbers, beside the store.
    under_test : tuple of Difference
        How the stores differ: what is measured, to be shown before every number.
    common : tuple of str
        Names of the probes that are compared, sorted: both sides asked them, with equal content
        where the content is told.
    """

    quality: Word
    latency: Word
    blocks: tuple[Difference, ...] = ()
    latency_blocks: tuple[Difference, ...] = ()
    warnings: tuple[Difference, ...] = ()
    latency_warnings: tuple[Difference, ...] = ()
    under_test: tuple[Difference, ...] = ()
    common: tuple[str, ...] = ()

    @property
    def first_difference(self) -> str:
        """The first field that blocks the quality metrics, with both values; else empty."""
        return str(self.blocks[0]) if self.blocks else ""

    @property
    def next_step(self) -> str:
        """What to do where the quality metrics are blocked; else empty."""
        if not self.blocks:
            return ""
        return "run again with what the baseline was made with, or accept a new baseline"

    def lines(self) -> tuple[str, ...]:
        """Everything on quality in words, a line each, to be shown before the numbers."""
        unknown = "comparability unknown: one side does not say how it was measured"
        return (
            *(f"not comparable: {one}" for one in self.blocks),
            *([unknown] if self.quality == "unknown" else []),
            *(f"under test: {one}" for one in self.under_test),
            *(f"warning: {one}" for one in self.warnings),
        )

    def latency_lines(self) -> tuple[str, ...]:
        """What stands against comparing times, in words, a line each."""
        return (
            *(f"times are not comparable: {one}" for one in self.latency_blocks),
            *(f"warning: {one}" for one in self.latency_warnings),
        )


def compare_manifests(baseline: Outcomes, current: Outcomes) -> Comparability:
    """Decide whether two runs may be compared.

    Parameters
    ----------
    baseline, current : Outcomes
        Of any kind.

    Returns
    -------
    Comparability
        For quality and latency apart: what blocks, what is warned of, what is under test.

    Notes
    -----
    A field that blocks and that one side lacks blocks too. Probes are compared where name and
    content are equal; this blocks below 80 % of either side, and where fewer than 20 positive
    probes are left of suites that have more. A suite that is smaller by itself is warned of:
    its losses are real, and say little of other queries. Probes that one side held out and did
    not ask count as missing on neither.

    Examples
    --------
    >>> import dataclasses
    >>> import memeval as me
    >>> from memeval.outcomes import outcomes_of
    >>> probe = me.Probe("lunch", "lunch?", [me.Record("r1", "Lunch.")], ["r1"])
    >>> then, now = (outcomes_of(me.run([probe], name)) for name in ("sqlite", "sqlite-plain"))
    >>> compare_manifests(then, now).quality
    'comparable'
    >>> other = dataclasses.replace(now, manifest={**now.manifest, "metric_version": 0})
    >>> compare_manifests(then, other).first_difference
    'definitions of the metrics: 1 in the baseline, 0 now'
    """
    old, new = flat(baseline.manifest), flat(current.manifest)
    bare = not (baseline.manifest and current.manifest) or "bare" in (baseline.kind, current.kind)
    common = _common(baseline, current)
    fewer = tuple(_fewer(baseline, current, common))
    cutoffs = differing({"k": "cutoff"}, old, new) if bare else ()
    blocks = (*blocking(BLOCKING, old, new, bare), *cutoffs, *fewer)
    times = (
        *(() if bare else _no_times(baseline, current)),
        *blocking(BLOCKING_TIMES, old, new, bare),
        *fewer,
    )
    changed = () if bare else tuple(under_test(old, new))
    warned = (*_left_out(baseline, current, common), *differing(WARNED, old, new), *dirty(old, new))
    return Comparability(
        quality=_word(blocks, bare),
        latency=_word(times, bare),
        blocks=blocks,
        latency_blocks=times,
        warnings=warned if changed else (*silent(old, new), *warned),
        latency_warnings=(*differing(WARNED_TIMES, old, new), *dirty(old, new), *busy(old, new)),
        under_test=changed,
        common=common,
    )


def comparability_key(manifest: Mapping[str, Any]) -> str:
    """Hash the fields that block a comparison of quality.

    Parameters
    ----------
    manifest : mapping
        As `memeval.comparing.manifests.told`, a results file or a baseline gives it.

    Returns
    -------
    str
        16 hexadecimal digits of SHA-256; equal where none of these fields differs.

    Examples
    --------
    >>> one = {"schema_version": 1, "haystack_hash": "none", "seed": 0}
    >>> comparability_key(one) == comparability_key(one | {"seed": 7, "store": "other"})
    True
    """
    told = flat(manifest)
    return digest({name: told[name] for name in BLOCKING})


def verified_deterministic(manifest: Mapping[str, Any]) -> bool:
    """Whether equal answers were seen wherever the same was asked again.

    Parameters
    ----------
    manifest : mapping
        As `memeval.comparing.manifests.told`, a results file or a baseline gives it.

    Returns
    -------
    bool
        False too where it was not looked at, and where the store declares the contrary.
    """
    seen = manifest.get("verified_deterministic") is True
    return seen and declares(manifest, "deterministic") is not False


def _word(blocks: tuple[Difference, ...], bare: bool) -> Word:
    return "blocked" if blocks else "unknown" if bare else "comparable"


def _common(baseline: Outcomes, current: Outcomes) -> tuple[str, ...]:
    """Probes of both sides, without those whose content is known to differ."""
    old, new = baseline.hashes, current.hashes
    names = set(baseline.probes["probe"]) & set(current.probes["probe"])
    both = old.keys() & new.keys()
    return tuple(sorted(n for n in names if n not in both or old[n] == new[n]))


def _fewer(baseline: Outcomes, current: Outcomes, common: tuple[str, ...]) -> Iterator[Difference]:
    """Too little is left that both sides asked, of what neither held out."""
    sizes = len(baseline), len(current)
    open_sizes = [
        len(frozenset(side.probes["probe"]) - other.left_out)
        for side, other in ((baseline, current), (current, baseline))
    ]
    if not common or len(common) < LEAST_COMMON * max(open_sizes):
        note = f"{len(common)} are the same, wanted at least {LEAST_COMMON:.0%} of either side"
        yield Difference(CONTENT, sizes[0], sizes[1], "probes", note)
        return
    then, now = _positives(baseline) - current.left_out, _positives(current) - baseline.left_out
    left = len(then & now & set(common))
    if left < FEWEST_POSITIVES <= min(len(then), len(now)):
        note = f"{left} are the same, wanted at least {FEWEST_POSITIVES}"
        yield Difference(CONTENT, len(then), len(now), "positive probes", note)


def _left_out(
    baseline: Outcomes, current: Outcomes, common: tuple[str, ...]
) -> Iterator[Difference]:
    """Probes that are not compared, and a suite that is small by itself."""
    sizes = len(baseline), len(current)
    if len(common) < max(sizes):
        note = f"compared over the {len(common)} that both asked with equal content"
        yield Difference(CONTENT, sizes[0], sizes[1], "probes", note)
    then, now = len(_positives(baseline)), len(_positives(current))
    if min(then, now) < FEWEST_POSITIVES:
        note = f"fewer than {FEWEST_POSITIVES} tell of these probes, not of other queries"
        yield Difference("n_positive", then, now, "positive probes", note)


def _positives(outcomes: Outcomes) -> set[str]:
    return set(outcomes.probes.loc[outcomes.probes["kind"].eq("positive"), "probe"])


def _no_times(baseline: Outcomes, current: Outcomes) -> Iterator[Difference]:
    timed = [bool(side.probes["latency_ms"].notna().any()) for side in (baseline, current)]
    if not all(timed):
        then, now = ("times" if one else "no times" for one in timed)
        yield Difference("latency_ms", then, now, "latency", "it takes two full runs")
