"""What a comparison needs of one side, whatever it was read from.

A run in memory, a saved run, a results file, a baseline and the bare dictionary of the
specification hold more or less of the same; as `Outcomes` they stand side by side.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import pandas as pd

from memeval.checks.kinds import shown
from memeval.comparing.manifests import told
from memeval.errors import RunFileError
from memeval.files.headline import metrics_from, spoken_cutoff, spoken_metric
from memeval.files.outcome_lines import NEXT, rows_from
from memeval.files.outcome_rows import repeats_of, rows_of
from memeval.files.runfiles import FORMAT as RUN_FORMAT
from memeval.files.runfiles import run_from
from memeval.files.saved import DECIMALS, read_saved
from memeval.plain import plain
from memeval.runs import Run
from memeval.showing import ShownInNotebooks
from memeval.text import visible
from memeval.typed import typed
from memeval.verdicts import Validity

Kind = Literal["run", "baseline", "results", "bare"]
FORMATS: Mapping[str, Kind] = {"memeval baseline": "baseline", "memeval results": "results"}
VERSION = 1
# What two roundings to six decimals, of each probe and of their mean, come to.
ROUNDING = 2e-6
WANTED = "a run, a results file or a baseline that memeval wrote"
_BARE = Validity(
    "unchecked",
    notes=("numbers without a manifest: nothing tells what they were measured on",),
    next_step="compare files that memeval wrote: run 'memeval run', then 'memeval accept'",
)


@dataclass(frozen=True, eq=False)
class Outcomes(ShownInNotebooks):
    """One side of a comparison.

    Attributes
    ----------
    probes : pandas.DataFrame
        A row per probe, sorted by name: columns of `memeval.frames.OUTCOMES`. Empty for an invalid
        suite that was read from a small file.
    metrics : mapping of str to float
        Values by the metrics of the summary; NaN is undefined, and what is not told is left out.
    kind : {'run', 'baseline', 'results', 'bare'}
        What it was taken from; ``bare`` is the dictionary of the specification.
    source : str
        Where it came from, in words, for messages.
    validity : Validity
        Whether the suite can carry its numbers.
    manifest : mapping
        What was measured with what, as far as it is told; empty where nothing is.
    answers : mapping of str to tuple of str
        Ranked record ids of the first repeat by probe; ``?`` leads the id of a record that nobody
        wrote. Without the probes of which no answer is told.
    repeats : mapping of str to tuple of tuple of str
        The same of all repeats; empty unless it is of a run.
    floors : mapping of str to float
        The user's own bounds; empty for a baseline.
    allow_errors : int
        Failed searches that do not fail the run.
    run : Run or None
        The full run, with texts and times, where there is one.

    Notes
    -----
    All floats but ``latency_ms`` are rounded to six decimals, whatever they were read from, so that
    a run and its own baseline do not differ.
    """

    probes: pd.DataFrame
    metrics: Mapping[str, float]
    kind: Kind
    source: str
    validity: Validity
    manifest: Mapping[str, Any] = field(default_factory=dict)
    answers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    repeats: Mapping[str, tuple[tuple[str, ...], ...]] = field(default_factory=dict)
    floors: Mapping[str, float] = field(default_factory=dict)
    allow_errors: int = 0
    run: Run | None = None

    def __len__(self) -> int:
        """Count the probes."""
        return len(self.probes)

    def __repr__(self) -> str:
        from memeval.report.layout import paragraph

        count = f"{len(self)} probe{'' if len(self) == 1 else 's'}"
        bad = "INVALID, " if self.validity.status == "invalid" else ""
        return paragraph(f"Outcomes of {count} ({bad}{self.kind}): {self.source}")

    @property
    def passing(self) -> frozenset[str]:
        """Names of the probes of which every repeat passed."""
        whole = self.probes["n_passed"].eq(self.probes["n_repeats"])
        return frozenset(self.probes.loc[whole, "probe"])

    @property
    def must(self) -> frozenset[str]:
        """Names of the probes that are never to be lost."""
        return frozenset(self.probes.loc[self.probes["must"], "probe"])

    @property
    def left_out(self) -> frozenset[str]:
        """Names of the held-out probes that were not asked."""
        return self._held_out - frozenset(self.probes["probe"])

    @property
    def looked_at(self) -> frozenset[str]:
        """Names of the held-out probes that were asked."""
        return self._held_out & frozenset(self.probes["probe"])

    @property
    def _held_out(self) -> frozenset[str]:
        told = self.manifest.get("holdout")
        names = told.get("probes") if isinstance(told, Mapping) else None
        listed = names if isinstance(names, list | tuple) else ()
        return frozenset(name for name in listed if isinstance(name, str))

    @property
    def hashes(self) -> dict[str, str]:
        """Content hash by probe, where it is told."""
        known = self.probes.dropna(subset="content_hash")
        return dict(zip(known["probe"], known["content_hash"], strict=True))


def outcomes_of(run: Run, source: str = "") -> Outcomes:
    """Take the outcomes of a run.

    Parameters
    ----------
    run : Run
        Any run; one of an invalid suite gives its rows too, and says that it is invalid.
    source : str
        Where it came from, for messages; the store and the time unless given.

    Returns
    -------
    Outcomes
        Of kind ``run``.

    Examples
    --------
    >>> import memeval as me
    >>> made = me.run([me.Probe("lunch", "lunch?", [me.Record("r1", "Lunch.")], ["r1"])], "sqlite")
    >>> one = outcomes_of(made)
    >>> one.probes[["probe", "n_passed", "n_repeats"]]
       probe  n_passed  n_repeats
    0  lunch         1          1
    >>> one.answers
    {'lunch': ('r1',)}
    """
    repeats = repeats_of(run)
    made_at = f" at {run.manifest.created_at}" if run.manifest.created_at else ""
    return Outcomes(
        probes=rows_of(run),
        metrics={
            metric: round(float(value), DECIMALS)
            for metric, value in zip(run.summary["metric"], run.summary["value"], strict=True)
        },
        kind="run",
        source=source or f"run of {visible(run.manifest.store)}{made_at}",
        validity=run.validity,
        manifest=told(run),
        answers={name: answers[0] for name, answers in repeats.items()},
        repeats=repeats,
        floors=dict(run.floors),
        allow_errors=run.allow_errors,
        run=run,
    )


def read_outcomes(path: str | os.PathLike[str]) -> Outcomes:
    """Read outcomes from any file that holds some.

    Parameters
    ----------
    path : str or path-like
        A run file, a results file, a baseline, or JSON with the fields of the specification.

    Returns
    -------
    Outcomes
        Its kind tells which of these it was.

    Raises
    ------
    RunFileError
        If it is not there, is a folder, empty, damaged, of a newer version, has the marks of a
        merge conflict, or is something else.
    """
    payload = read_saved(path, WANTED)
    if payload.get("format") == RUN_FORMAT:
        return outcomes_of(run_from(payload, path), str(Path(path)))
    return _from(payload, str(Path(path)))


def as_outcomes(thing: Run | Outcomes | Mapping[str, Any] | str | os.PathLike[str]) -> Outcomes:
    """Give outcomes of whatever holds some.

    Parameters
    ----------
    thing : Run, Outcomes, mapping, str or path-like
        A mapping is what a results file holds, or what the specification says; a text is a path.

    Raises
    ------
    RunFileError
        As `read_outcomes`, or if it is none of these.

    Examples
    --------
    >>> as_outcomes({"recall_at_k": 0.9, "per_probe": {"lunch": {"hit": True}}}).metrics
    {'recall_all': 0.9}
    """
    if isinstance(thing, Outcomes):
        return thing
    if isinstance(thing, Run):
        return outcomes_of(thing)
    if isinstance(thing, Mapping):
        return _from(thing, "a dictionary")
    if isinstance(thing, str | os.PathLike):
        return read_outcomes(thing)
    raise RunFileError(
        f"found {shown(thing)}, wanted a run, its outcomes, a dictionary or the path of a file; "
        "give what memeval.run made, or the file that it wrote"
    )


def _from(payload: Mapping[str, Any], source: str) -> Outcomes:
    kind = _kind(payload, source)
    per_probe = _mapping(payload, "per_probe", source)
    probes, answers = rows_from(per_probe, source)
    if kind != "bare" and "per_probe" in payload and payload.get("probes") != len(probes):
        raise RunFileError(
            f"{source}: says {shown(payload.get('probes'))} probes and lists {len(probes)}; wanted "
            f"the file as memeval wrote it, not merged or edited by hand; {NEXT}"
        )
    metrics = metrics_from(payload, source)
    if kind != "bare":
        _refuse_edited(metrics, probes, source)
    return Outcomes(
        probes=probes,
        metrics=metrics,
        kind=kind,
        source=source,
        validity=_validity(payload, source),
        manifest=_manifest(payload, source),
        answers=answers,
        floors=metrics_from(
            {"metrics": _mapping(payload, "floors", source)}, f"{source}: floors", bounds=True
        ),
        allow_errors=_whole(payload, "allow_errors", source),
    )


def _refuse_edited(metrics: Mapping[str, float], probes: pd.DataFrame, source: str) -> None:
    """Refuse a figure that the single probes contradict: one of both was edited."""
    for metric, column in (("recall_all", "recall_all"), ("mrr", "rr")):
        told, values = metrics.get(metric, math.nan), probes[column].dropna()
        if math.isnan(told) or not len(values):
            continue
        mean = float(values.astype("float64").mean())
        if abs(mean - told) > ROUNDING:
            raise RunFileError(
                f"{source}: {metric} is {told:g}, but its probes come to {mean:g}; wanted the file "
                f"as memeval wrote it, not edited by hand; {NEXT}"
            )


def _kind(payload: Mapping[str, Any], source: str) -> Kind:
    """Recognise what it is, by what it says of itself or by its fields."""
    if "format" not in payload:
        if "per_probe" in payload or {"recall_all", "mrr"} & {*map(spoken_metric, payload)}:
            return "bare"
        raise RunFileError(f"{source}: is something else, wanted {WANTED}; name one of these")
    said = payload["format"]
    if said not in FORMATS:
        raise RunFileError(
            f"{source}: says that it is {shown(said)}, wanted {WANTED}; name one of these"
        )
    if payload.get("version") != VERSION:
        raise RunFileError(
            f"{source}: has version {shown(payload.get('version'))}, wanted {VERSION}; install the "
            "memeval that wrote it, or make the file again with this one"
        )
    return FORMATS[said]


def _validity(payload: Mapping[str, Any], source: str) -> Validity:
    if "validity" not in payload:
        return _BARE
    details = plain(_mapping(payload, "judged", source))
    lists: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in details.items()
    }
    if not details and payload.get("reason"):
        lists = {"reasons": (str(payload["reason"]),)}
    try:
        return typed(Validity(payload["validity"], **lists))
    except TypeError as error:
        raise RunFileError(f"{source}: validity cannot be used ({error}); {NEXT}") from error


def _manifest(payload: Mapping[str, Any], source: str) -> dict[str, Any]:
    """The manifest, with the commit and the time that stand outside of it."""
    made: dict[str, Any] = dict(plain(_mapping(payload, "manifest", source)))
    if made and payload.get("commit") is not None:
        around = _mapping(made, "environment", source)
        made["environment"] = {**around, "commit": payload["commit"]}
    if made and payload.get("at") is not None:
        made["created_at"] = payload["at"]
    if "format" not in payload and (k := spoken_cutoff(payload, source)) is not None:
        made.setdefault("k", k)
    return made


def _mapping(payload: Mapping[str, Any], name: str, source: str) -> Mapping[str, Any]:
    value = payload.get(name)
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise RunFileError(f"{source}: {name} is {shown(value)}, wanted a mapping; {NEXT}")
    return value


def _whole(payload: Mapping[str, Any], name: str, source: str) -> int:
    value = payload.get(name, 0)
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise RunFileError(f"{source}: {name} is {shown(value)}, wanted a whole number; {NEXT}")
    return value
