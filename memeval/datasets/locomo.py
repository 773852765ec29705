"""LoCoMo, very long conversations of two people and questions about them, as a suite.

The data set names for each question the turns that it can be answered from, so that retrieval can
be graded; its answers are not looked at. It is for non-commercial use only (CC BY-NC 4.0).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from memeval.datasets.locomoturns import Conversation, read_conversation, read_evidence
from memeval.datasets.reading import RAISED, FaultLog, Source, raised_k, table
from memeval.probe import Probe
from memeval.suite import Suite

HINT = "a file of the data set LoCoMo, such as locomo10.json from its repository"
CATEGORIES: Mapping[int, str] = {
    1: "multi-hop",
    2: "temporal",
    3: "open-domain",
    4: "single-hop",
    5: "adversarial",
}
LEFT_OUT = dict.fromkeys(("probe", "sample", "category", "query", "reason"), "str")
MISLEADING = {"probe": "str", "record_id": "str"}


@dataclass(frozen=True)
class LoCoMo:
    """A file of the data set, read.

    Attributes
    ----------
    suite : Suite
        A positive probe per answerable question, a history per conversation, no haystack.
    adversarial : Suite
        A negative probe per question of category 5, of the same histories: nothing in the
        conversation answers it. Kept apart, so that no figure of `suite` includes it.
    misleading : pandas.DataFrame
        The turns that an adversarial question is about, a row each: ``probe``, ``record_id``
        (str). They belong to the other speaker or another event, and answer nothing.
    faults : pandas.DataFrame
        A row per fault of the file: ``sample``, ``place``, ``found``, ``done`` (str).
    left_out : pandas.DataFrame
        Questions that are no probe: ``probe`` (the name it would have), ``sample``, ``category``,
        ``query``, ``reason`` (str).
    raised : pandas.DataFrame
        Probes that expect more than the `k` asked for: ``probe`` (str), ``n_expected`` and ``k``
        (int64), the cutoff that they have got.
    """

    suite: Suite
    adversarial: Suite
    misleading: pd.DataFrame
    faults: pd.DataFrame
    left_out: pd.DataFrame
    raised: pd.DataFrame


class _Question(NamedTuple):
    name: str
    place: str
    query: str
    tag: str


@dataclass
class _Read:
    """What has been read so far."""

    source: Source
    k: int
    log: FaultLog = field(default_factory=FaultLog)
    probes: list[Probe] = field(default_factory=list)
    adversarial: list[Probe] = field(default_factory=list)
    misleading: list[tuple[str, str]] = field(default_factory=list)
    left_out: list[tuple[str, ...]] = field(default_factory=list)
    raised: list[tuple[str, int, int]] = field(default_factory=list)


def read_locomo(path: str | Path, *, k: int = 5) -> LoCoMo:
    """Read a file of LoCoMo.

    Parameters
    ----------
    path : str or pathlib.Path
        A file of the data set's own form, a list of samples; or a folder with one ``locomo*.json``.
    k : int
        Cutoff of the probes, save of those that expect more.

    Returns
    -------
    LoCoMo
        The suite, the adversarial questions, and what was wrong with the file.

    Raises
    ------
    ProbeError
        If the file is missing, is not of this form, or has two samples of one name.

    Notes
    -----
    Each turn is a record of the scope ``default``: every conversation has a store of its own, so
    a scope would tell nothing apart, and stores without scopes can be asked too. Its id is the
    sample's and the turn's (``conv-26-D1:3``, since all samples count their turns alike), its time
    that of the session, taken as UTC, its text ``Caroline: Hi!``, with the caption of a shared
    image behind it: ``Caroline: Look! [image: a photo of a dog]``. ``speaker``, ``session`` and
    ``turn`` stand in the metadata.

    Question ``n`` of a sample, from 0, is the probe ``conv-26-q017``, tagged with its category. It
    expects *every* turn of its evidence, so `recall_all` asks for all of them. Evidence that is
    written badly is read where there is one reading (two ids in one text, zeros in front of a
    number, one id twice); an id that no turn has is dropped, and the probe expects the rest; each
    is a row of `faults`. A question without any evidence is left out: it would be a negative probe
    whose answer stands in the conversation.

    A question of category 5 has no answer, and its evidence names the turn that misleads: taken
    for expected, it would count being misled as a success. Asked alone, the adversarial suite is
    invalid, since it has no positive probe; asked with the other one, it adds its abstention:
    ``Suite.of([*read.suite, *read.adversarial])``. The names of the two are distinct.

    Examples
    --------
    >>> import json
    >>> from tempfile import TemporaryDirectory
    >>> turn = {"speaker": "Ana", "dia_id": "D1:1", "text": "I moved to Oslo."}
    >>> talk = {"session_1": [turn], "session_1_date_time": "1:56 pm on 8 May, 2023"}
    >>> asked = {"question": "Where does Ana live?", "evidence": ["D1:1"], "category": 4}
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "locomo.json")
    ...     sample = {"sample_id": "s", "conversation": talk, "qa": [asked]}
    ...     _ = file.write_text(json.dumps([sample]))
    ...     (probe,) = read_locomo(file).suite
    >>> probe.name, probe.expect, probe.tags
    ('s-q000', ('s-D1:1',), ('single-hop',))
    >>> probe.records[0].text, probe.records[0].at.isoformat()
    ('Ana: I moved to Oslo.', '2023-05-08T13:56:00+00:00')
    """
    read = _Read(Source.find(path, "locomo*.json", HINT), k)
    samples = read.source.checked(read.source.json(), list, "the file", "")
    if not samples:
        raise read.source.damaged("no sample", "a list of samples")
    used: dict[str, str] = {}
    for n, sample in enumerate(samples):
        _read_sample(read, read.source.checked(sample, dict, "the sample", f"[{n}]"), n, used)
    return LoCoMo(
        Suite.of(read.probes),
        Suite.of(read.adversarial),
        table(read.misleading, MISLEADING),
        read.log.frame(),
        table(read.left_out, LEFT_OUT),
        table(read.raised, RAISED),
    )


def _read_sample(read: _Read, sample: Mapping[str, Any], n: int, used: dict[str, str]) -> None:
    """Read one conversation and its questions; `used` has the samples of the turn ids so far."""
    source = read.source
    name = source.member(sample, "sample_id", str, f"[{n}]")
    if name in used.values():
        raise source.damaged(f"the sample_id {name!r} again", "one of its own", f"[{n}]")
    talk: dict[str, Any] = source.member(sample, "conversation", dict, name)
    conversation = read_conversation(source, name, talk, read.log)
    if not conversation.ids:
        raise source.damaged("no turn", "a session with turns", name)
    again = [turn for turn in conversation.ids if turn in used]
    if again:
        others = ", ".join(dict.fromkeys(used[turn] for turn in again))
        found = f"{len(again)} turn ids that {others} uses too, such as {again[0]!r}"
        read.log.add(name, "conversation", found, "record ids begin with the sample's")
    used |= dict.fromkeys(conversation.ids, name)
    asked: dict[str, _Question] = {}
    for at, entry in enumerate(source.member(sample, "qa", list, name)):
        place = f"qa[{at}]"
        qa = source.checked(entry, dict, place, name)
        _read_question(read, conversation, qa, f"{name}-q{at:03d}", place, asked)
    tags = {question.tag for question in asked.values()}
    for number, tag in CATEGORIES.items():
        if tag not in tags:
            read.log.add(name, "qa", f"no question of category {number} ({tag})", "nothing to do")


def _read_question(
    read: _Read,
    conversation: Conversation,
    qa: Mapping[str, Any],
    name: str,
    place: str,
    asked: dict[str, _Question],
) -> None:
    source, sample = read.source, conversation.sample
    query = source.member(qa, "question", str, f"{sample}: {place}")
    number = source.member(qa, "category", int, f"{sample}: {place}")
    question = _Question(name, place, query, CATEGORIES.get(number, f"category {number}"))
    _note_twice(read, sample, question, asked)
    asked[name] = question
    evidence = source.texts(qa, "evidence", f"{sample}: {place}")
    turns = read_evidence(evidence, conversation, place, read.log)
    reason = _reason(question, number, evidence, turns)
    if reason:
        read.left_out.append((name, sample, question.tag, query, reason))
    elif number == 5:
        _note_answer(read, sample, question, qa)
        read.adversarial.append(_probe(conversation, question, (), read.k))
        read.misleading += [(name, turn) for turn in turns]
    else:
        k = raised_k(name, len(turns), read.k, read.raised)
        read.probes.append(_probe(conversation, question, turns, k))


def _probe(
    conversation: Conversation, question: _Question, expect: tuple[str, ...], k: int
) -> Probe:
    return Probe(
        question.name,
        question.query,
        conversation.given,
        expect,
        k=k,
        tags=(question.tag,),
        why=f"LoCoMo, {conversation.sample}, {question.place}",
        history=f"locomo {conversation.sample}",
    )


def _reason(question: _Question, number: int, evidence: list[str], turns: tuple[str, ...]) -> str:
    """Why a question is no probe; empty where it is one."""
    if not question.query.strip():
        return "the question is blank"
    if number not in CATEGORIES:
        return f"category {number} is not known"
    if number == 5 or turns:
        return ""
    return "no evidence that a turn has" if evidence else "no evidence"


def _note_twice(
    read: _Read, sample: str, question: _Question, asked: Mapping[str, _Question]
) -> None:
    key = question.query.strip().casefold()
    for other in asked.values():
        if other.query.strip().casefold() == key:
            found = f"asks what {other.place} ({other.tag}) asks, here {question.tag}"
            read.log.add(sample, question.place, found, "both kept, each by its own category")
            return


def _note_answer(read: _Read, sample: str, question: _Question, qa: Mapping[str, Any]) -> None:
    if qa.get("answer") is not None:
        found = f"an adversarial question with the answer {qa['answer']!r:.60}"
        read.log.add(sample, question.place, found, "adversarial all the same: expects nothing")
