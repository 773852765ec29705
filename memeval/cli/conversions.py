"""The forms that ``memeval convert`` knows: how each is read, and what is written of what."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memeval.checks.kinds import nearest
from memeval.errors import MemevalError, RunFileError

if TYPE_CHECKING:
    import pandas as pd

Tables = Mapping[str, "pd.DataFrame"]
Options = Mapping[str, Any]
Oddity = tuple[int, str, str]
# Fields of what a reader returns: told by themselves, or below.
TABLES = ("faults", "left_out", "raised")


@dataclass(frozen=True)
class Form:
    """A form that can be read.

    Attributes
    ----------
    name : str
        What it is called on the command line.
    reader : str
        The function of `memeval.datasets` that reads it; empty where it is none of these.
    most : int
        How many paths it takes.
    options : mapping of str to str
        Option of the command line, to the parameter of the reader.
    """

    name: str
    reader: str = ""
    most: int = 1
    options: Mapping[str, str] = field(default_factory=dict)


K = {"k": "k"}
FORMS = {
    form.name: form
    for form in (
        Form("probes", most=99),
        Form("jsonl", "read_jsonl", 99),
        Form("csv", "read_csv", 99),
        Form("beir", "read_beir", 1, {**K, "split": "split", "scope_field": "scope",
                                      "time_field": "at"}),
        Form("trec", "read_trec", 2),
        Form("dicts", "read_dicts_file"),
        Form("longmemeval", "read_longmemeval", 1, {**K, "unit": "unit"}),
        Form("locomo", "read_locomo", 1, K),
        Form("factconsolidation", "read_factconsolidation", 1, {**K, "part": "part"}),
        Form("madial", "read_madial", 1, K),
        Form("mem0", "read_mem0"),
        Form("chat", "read_turns"),
        Form("run"),
        Form("calls"),
    )
}  # fmt: skip
WRITERS = {
    "probes": "write_probes",
    "jsonl": "write_jsonl",
    "csv": "write_csv",
    "beir": "write_beir",
    "trec-qrels": "write_trec_qrels",
    "trec-run": "write_trec_run",
    "dicts": "write_dicts",
}
# What each kind of thing can be written as.
SUITE = ("probes", "jsonl", "csv", "beir", "trec-qrels", "dicts", "calls")
WRITES = {
    "suite": SUITE,
    "run": ("trec-run", *SUITE),
    "records": ("jsonl", "csv"),
    "rankings": ("trec-run", "trec-qrels", "dicts"),
}


@dataclass(frozen=True)
class Read:
    """What was read.

    Attributes
    ----------
    kind : {'suite', 'run', 'records', 'rankings'}
        What it is.
    made : object
        A Suite, a Run, records, or a Trec.
    said : str
        What it is, in words.
    odd : list of (int, str, str)
        How many, of what, and an example of it.
    """

    kind: str
    made: Any
    said: str
    odd: list[Oddity] = field(default_factory=list)


def form_of(name: str, known: Sequence[str]) -> str:
    """Give the name of a form.

    Raises
    ------
    MemevalError
        If there is none of this name.
    """
    if name not in known:
        near = nearest(name, known)
        todo = near if near.startswith("write '") else f"wanted one of {', '.join(known)}"
        raise MemevalError(f"found no form {name!r}; {todo}")
    return name


def read(name: str, paths: Sequence[str], options: Options) -> Read:
    """Read what is named.

    Parameters
    ----------
    name : str
        A form.
    paths : sequence of str
        Where it lies.
    options : mapping of str to object
        Parameters of the reader.

    Raises
    ------
    MemevalError
        If it cannot be read, or the number of paths is not that of the form.
    """
    form = FORMS[name]
    least = 2 if name == "trec" else 1
    if not least <= len(paths) <= form.most:
        wanted = "RUN and QRELS" if name == "trec" else "a path"
        raise MemevalError(f"found {len(paths)} paths after --from {name}, wanted {wanted}")
    if name == "probes":
        from memeval.loading import load

        return of_suite(load(*paths))
    if name == "run":
        from memeval.files.runfiles import load_run

        if not Path(paths[0]).is_file():
            raise RunFileError(f"{paths[0]}: there is no such file; 'memeval runs' lists the kept")
        run = load_run(paths[0])
        store = run.manifest.store
        return Read("run", run, f"a run of {store}, {_of(run.suite)}")
    from memeval import datasets

    found = _of_reader(getattr(datasets, form.reader)(*paths, **options))
    if name == "beir":
        found.odd.extend(_unused(found.made, options))
    return found


def _unused(suite: Any, options: Options) -> Iterator[Oddity]:
    """Fields that our own files of BEIR have, where nobody said what they are."""
    records = suite[0].records if len(suite) else ()
    for option, name in (("scope", "scope"), ("at", "at")):
        having = [record.id for record in records if name in record.meta]
        if having and option not in options:
            flag = "--scope-field scope" if name == "scope" else "--time-field at"
            yield (
                len(having),
                f"records with {name!r} in their metadata ({flag} reads it)",
                having[0],
            )


def write(name: str, found: Read, path: str, options: Options) -> list[Oddity]:
    """Write what was read; what it has no words for.

    Raises
    ------
    MemevalError
        If it cannot be written in this form or at this place; nothing was.
    """
    from memeval import datasets

    made = found.made
    if found.kind == "run" and name not in ("trec-run", "trec-qrels", "dicts"):
        made = found.made.suite
    writer: Callable[..., pd.DataFrame] = getattr(datasets, WRITERS[name])
    lost = writer(made, path, **options)
    return [(int(n), str(what), str(first)) for what, n, first in lost.to_numpy().tolist()]


def check_way(found: Read, name: str) -> None:
    """Refuse a form that has no place for what was read.

    Raises
    ------
    MemevalError
        With the forms that have one.
    """
    if name not in WRITES[found.kind]:
        why = {
            "suite": "no store was asked, so there is no ranking",
            "run": "",
            "records": "there are records and no question",
            "rankings": "there are ids and no texts",
        }[found.kind]
        forms = ", ".join(WRITES[found.kind])
        raise MemevalError(f"cannot write it as {name}: {why}; --to takes {forms} here")


def of_suite(suite: Any, odd: list[Oddity] | None = None) -> Read:
    """Give a suite, in words."""
    return Read("suite", suite, _of(suite), odd or [])


def _of(suite: Any) -> str:
    positive = sum(probe.is_positive for probe in suite)
    words = f"{len(suite)} probe{'s' * (len(suite) != 1)}"
    words += f" ({positive} positive, {len(suite) - positive} negative)"
    n = len(suite.histories)
    return words + (f", {n} shared histor{'y' if n == 1 else 'ies'}" if n else "")


def _of_reader(told: Any) -> Read:
    odd = [entry for name in TABLES for entry in _grouped(name, getattr(told, name, None))]
    if hasattr(told, "rankings"):
        return Read("rankings", told, f"{len(told.rankings)} rankings", odd)
    if getattr(told, "unread", ()):
        what = "facts of no known sentence: written, and told to replace nothing"
        odd.append((len(told.unread), what, told.unread[0]))
    if getattr(told, "adversarial", ()):
        what = "adversarial questions, which nothing answers: not in the suite"
        odd.append((len(told.adversarial), what, told.adversarial[0].name))
    records = getattr(told, "records", ())
    if records and not len(getattr(told, "suite", ())):
        return Read("records", records, f"{len(records)} records", odd)
    return of_suite(told.suite, odd) if hasattr(told, "suite") else Read("records", (), "none", odd)


def _grouped(name: str, frame: Any) -> Iterator[Oddity]:
    """Rows of a table of oddities, counted by what they have in common."""
    if frame is None or not len(frame):
        return
    if name == "raised":
        first = frame.iloc[0]
        yield len(frame), "probes expect more than k: theirs is raised", first["probe"]
        return
    by = "done" if name == "faults" else "reason"
    what = "faults of the files ({})" if name == "faults" else "questions that are no probe ({})"
    for said, rows in frame.groupby(by, sort=False):
        first = rows.iloc[0]
        columns = ("sample", "place", "found") if name == "faults" else rows.columns[:1]
        yield len(rows), what.format(said), " ".join(str(first[c]) for c in columns if first[c])
