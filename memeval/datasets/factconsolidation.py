"""FactConsolidation, the knowledge-update part of MemoryAgentBench, as a suite.

A file of the data set is a list of numbered facts, false on purpose, in which a later one overrules
an earlier one of the same subject and relation, and questions with their accepted answers. It does
not say which fact answers a question; here that is derived, and checked against the answers.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from memeval.datasets.factforms import Said, read_fact, read_question
from memeval.errors import ProbeError
from memeval.given import given_of
from memeval.probe import Probe
from memeval.record import Record
from memeval.suite import Suite
from memeval.text import visible

WHERE_FROM = (
    "FactConsolidation is a part of the data set MemoryAgentBench; take a file sh_*.json from there"
)
FIELDS: Mapping[str, type] = {"context": str, "questions": list, "answers": list}
FACT = re.compile(r"(\d+)\. (.*\S)\s*")


@dataclass(frozen=True)
class FactConsolidation:
    """One file of the data set, read.

    Attributes
    ----------
    suite : Suite
        A probe per question that could be derived; all share one history, without a haystack.
    left_out : pandas.DataFrame
        The questions that could not: ``probe`` (the name it would have), ``query``, ``answers``
        (joined by `` | ``) and ``reason`` (all str).
    unread : tuple of str
        Ids of facts of no known sentence: they are written, and neither supersede nor are
        superseded.
    """

    suite: Suite
    left_out: pd.DataFrame
    unread: tuple[str, ...]


class _Fact(NamedTuple):
    id: str
    text: str
    said: Said | None


_Versions = Mapping[tuple[str, str], Sequence[_Fact]]


def load_factconsolidation(path: str | Path, *, part: str = "sh_6k", k: int = 5) -> Suite:
    """Load the probes of FactConsolidation, and only these.

    Parameters
    ----------
    path, part, k
        As for `read_factconsolidation`.

    Returns
    -------
    Suite
        The suite of `read_factconsolidation`, which also tells what was left out.

    Raises
    ------
    ProbeError
        As `read_factconsolidation`.
    """
    return read_factconsolidation(path, part=part, k=k).suite


def read_factconsolidation(
    path: str | Path, *, part: str = "sh_6k", k: int = 5
) -> FactConsolidation:
    r"""Read a file of FactConsolidation and derive records and probes.

    Parameters
    ----------
    path : str or pathlib.Path
        A file ``sh_*.json`` (single hop) in the data set's own form, ``context``, ``questions``
        and ``answers``; or the folder that it lies in.
    part : str
        Which file of a folder, without ``.json``.
    k : int
        Cutoff of all probes.

    Returns
    -------
    FactConsolidation
        Suite, questions left out, facts not read.

    Raises
    ------
    ProbeError
        If the file is missing or damaged.

    Notes
    -----
    Fact ``n`` becomes record ``fn``, question ``n`` probe ``qn``, both from 0. Facts and questions
    are fixed sentences with names filled in (`memeval.datasets.factforms`), so each is read as
    relation, subject and object; a sentence that can be read in two ways is not read. A probe
    expects the newest fact of the subject and relation that are asked for, and forbids the older
    ones that say otherwise. The store is told as much: every newer fact supersedes the older ones
    of its subject and relation that say otherwise, also where nobody asks. Probes that forbid are
    tagged ``update``, the others ``single``.

    A question is left out, never guessed at, where its sentence is not known, no fact has its
    subject and relation, or the newest fact does not give an accepted answer. "What kind of work
    does … do?" is not known on purpose: being a chairperson or a head of state is work as well, so
    that which fact is the newest is not determined. By these rules 99 of 100 questions of sh_6k
    are derived (one is of this kind) and 97 of sh_32k (one is, and for two the accepted answer is
    the older fact).

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> context = "Facts:\n0. The capital of Peru is Lima.\n1. The capital of Peru is Oslo."
    >>> query = "What is the capital of Peru?"
    >>> data = {"context": context, "questions": [query], "answers": [["Oslo"]]}
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "sh_6k.json").write_text(json.dumps(data))
    ...     (probe,) = read_factconsolidation(folder).suite
    >>> probe.expect, probe.forbid
    (('f1',), ('f0',))
    """
    file = _file(Path(path), part)
    data = _data(file)
    facts = _facts(data["context"], file)
    versions: dict[tuple[str, str], list[_Fact]] = defaultdict(list)
    for fact in facts:
        if fact.said is not None:
            versions[fact.said.relation, fact.said.subject].append(fact)
    history = f"factconsolidation {file.stem}"
    records = given_of((_record(fact, versions) for fact in facts), "default")
    probes, left_out = [], []
    for n, (query, answers) in enumerate(zip(data["questions"], data["answers"], strict=True)):
        derived = _derive(query, answers, versions)
        if isinstance(derived, str):
            row = {"probe": f"q{n}", "query": query, "answers": " | ".join(answers)}
            left_out.append(row | {"reason": derived})
            continue
        newest, older = derived
        forbid = tuple(fact.id for fact in older)
        tags = ("update",) if forbid else ("single",)
        probes.append(
            Probe(f"q{n}", query, records, (newest.id,), forbid, k, tags=tags, history=history)
        )
    columns = ["probe", "query", "answers", "reason"]
    return FactConsolidation(
        Suite.of(probes),
        pd.DataFrame(left_out, columns=columns, dtype="str"),
        tuple(fact.id for fact in facts if fact.said is None),
    )


def _derive(
    query: str, answers: Sequence[str], versions: _Versions
) -> tuple[_Fact, list[_Fact]] | str:
    """The fact that answers and the older ones that say otherwise; else why there is none."""
    asked = read_question(query)
    if asked is None:
        return "the sentence of the question does not name one relation"
    known = versions.get((asked.relation, asked.subject))
    if not known:
        return "no fact has this subject and relation"
    newest = known[-1]
    if _object(newest) not in {answer.casefold() for answer in answers}:
        return f"the newest fact, {newest.id}, does not give an accepted answer: {newest.text}"
    return newest, _otherwise(newest, known)


def _record(fact: _Fact, versions: _Versions) -> Record:
    """The fact as a record that supersedes what it overrules."""
    if fact.said is None:
        return Record(fact.id, fact.text)
    known = versions[fact.said.relation, fact.said.subject]
    older = _otherwise(fact, known[: known.index(fact)])
    return Record(fact.id, fact.text, supersedes=tuple(other.id for other in older))


def _otherwise(fact: _Fact, known: Sequence[_Fact]) -> list[_Fact]:
    return [other for other in known if _object(other) != _object(fact)]


def _object(fact: _Fact) -> str:
    return "" if fact.said is None else fact.said.object.casefold()


def _file(path: Path, part: str) -> Path:
    """The file itself, or the one of the folder."""
    file = path / f"{part}.json" if path.is_dir() else path
    if file.is_file():
        return file
    there = sorted(p.stem for p in path.glob("sh_*.json")) if path.is_dir() else []
    other = f"the folder has {', '.join(there)}: name one of these as part; or " if there else ""
    wanted = f"found no file {file}, wanted a file of FactConsolidation"
    raise ProbeError(f"{wanted}; {other}{WHERE_FROM}")


def _data(file: Path) -> Mapping[str, Any]:
    """What the file holds, if it has the form of the data set."""
    try:
        data = json.loads(file.read_bytes().decode("utf-8-sig"))
    except ValueError as error:
        raise _damaged(file, f"what is not JSON in UTF-8 ({error})", "one JSON object") from error
    if not isinstance(data, dict):
        raise _damaged(file, f"{type(data).__name__}", "one JSON object")
    for name, kind in FIELDS.items():
        if not isinstance(data.get(name), kind):
            found = type(data[name]).__name__ if name in data else "nothing"
            raise _damaged(file, f"{found} as {name!r}", kind.__name__)
    questions, answers = data["questions"], data["answers"]
    if len(questions) != len(answers):
        found = f"questions: {len(questions)}, answers: {len(answers)}"
        raise _damaged(file, found, "a list of answers for each question")
    for n, (question, accepted) in enumerate(zip(questions, answers, strict=True)):
        if not isinstance(question, str):
            raise _damaged(file, f"{type(question).__name__} as questions[{n}]", "str")
        if not isinstance(accepted, list) or not all(isinstance(a, str) for a in accepted):
            raise _damaged(file, f"{accepted!r:.60} as answers[{n}]", "a list of str")
    return data


def _facts(context: str, file: Path) -> list[_Fact]:
    """The facts of the context, in order; the line before the first number is a heading."""
    lines = [line for line in context.split("\n") if line.strip()]
    found = [FACT.fullmatch(line) for line in lines]
    start = 1 if found and found[0] is None else 0
    for line, match in zip(lines[start:], found[start:], strict=True):
        if match is None:
            raise _damaged(file, f"the line {visible(line, 60)!r} in context", "'number. fact'")
    numbers = [int(match[1]) for match in found if match is not None]
    if not numbers:
        raise _damaged(file, "no fact in context", "lines of the form 'number. fact'")
    for before, after in pairwise([-1, *numbers]):
        if after != before + 1:
            raise _damaged(file, f"fact {after} in context", f"fact {before + 1} in its place")
    texts = [match[2] for match in found if match is not None]
    return [_Fact(f"f{n}", text, read_fact(text)) for n, text in enumerate(texts)]


def _damaged(file: Path, found: str, wanted: str) -> ProbeError:
    return ProbeError(f"{file}: found {found}, wanted {wanted}; {WHERE_FROM}")
