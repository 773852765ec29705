"""LongMemEval, questions over the long chat history of one user, as a suite.

Every question has a history of its own, most of it unrelated sessions, and names the sessions that
answer it. `memeval.datasets.lmerankings` reads what others returned for these questions.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, NamedTuple

import pandas as pd

from memeval.datasets.reading import RAISED, FaultLog, Source, raised_k, table
from memeval.errors import ProbeError
from memeval.given import given_of
from memeval.probe import Probe
from memeval.record import Record
from memeval.suite import Suite

HINT = "a file of the data set LongMemEval, such as longmemeval_s.json"
LEFT_OUT = dict.fromkeys(("probe", "query", "reason"), "str")
SESSIONS = {
    "probe": "str",
    "prefix": "str",
    "session_id": "str",
    "n_records": "int64",
    "labelled": "bool",
}
DATE = re.compile(r"(\d{4})/(\d\d?)/(\d\d?)(?: \([A-Za-z]+\))?(?: (\d\d?):(\d\d))?", re.ASCII)
Unit = Literal["turn", "session"]


@dataclass(frozen=True)
class LongMemEval:
    """A file of the data set, read.

    Attributes
    ----------
    suite : Suite
        A probe per question, each with a history of its own, without a haystack.
    sessions : pandas.DataFrame
        A row per probe and session: ``probe``, ``prefix`` (of the ids of its records),
        ``session_id`` (str, the data set's), ``n_records`` (int64), ``labelled`` (bool, whether
        the data set names it as an answer).
    faults : pandas.DataFrame
        A row per fault of the file: ``sample`` (the question), ``place``, ``found``, ``done``.
    left_out : pandas.DataFrame
        Questions that are no probe: ``probe``, ``query``, ``reason`` (str).
    raised : pandas.DataFrame
        Probes that expect more than the `k` asked for: ``probe`` (str), ``n_expected`` and ``k``
        (int64), the cutoff that they have got.
    """

    suite: Suite
    sessions: pd.DataFrame
    faults: pd.DataFrame
    left_out: pd.DataFrame
    raised: pd.DataFrame


class _Session(NamedTuple):
    prefix: str
    name: str
    at: datetime | None
    records: list[Record]


@dataclass
class _Read:
    """What has been read so far."""

    source: Source
    k: int
    unit: Unit
    log: FaultLog = field(default_factory=FaultLog)
    probes: list[Probe] = field(default_factory=list)
    sessions: list[tuple[str, str, str, int, bool]] = field(default_factory=list)
    left_out: list[tuple[str, str, str]] = field(default_factory=list)
    raised: list[tuple[str, int, int]] = field(default_factory=list)


def read_longmemeval(path: str | Path, *, k: int = 5, unit: Unit = "turn") -> LongMemEval:
    """Read a file of questions of LongMemEval.

    Parameters
    ----------
    path : str or pathlib.Path
        A file of the data set's own form, a list of questions; or a folder with one
        ``longmemeval*.json``.
    k : int
        Cutoff of the probes, save of those that expect more.
    unit : {'turn', 'session'}
        What is a record: a turn, or a whole session with a line per turn (``user: …``).

    Returns
    -------
    LongMemEval
        The suite, which sessions its records come from, and what was wrong with the file.

    Raises
    ------
    ProbeError
        If the file is missing or not of this form, or two questions have one id.

    Notes
    -----
    Evidence is graded at the level of sessions, whatever the unit: a probe expects each session
    that the data set names, and of its turns any one will do. So `recall_any` is the share of
    questions with any labelled session in the best k, and `recall_all` asks for all of them. The
    marks of single turns (``has_answer``) are not used.

    The data set's session ids give the answer away (``answer_280352e9``); a record is called by
    question, session and turn (``e47becba-s007-t001``, all from 0), and no label reaches the store:
    its metadata is the ``role`` of a turn and nothing else. Sessions are written in the order of
    their dates, taken as UTC; ``question_date`` is `now`.

    A question whose id ends in ``_abs`` has no answer in its history: it is a negative probe,
    tagged ``abstention`` beside its type. All probes are tagged with the question's type.

    Examples
    --------
    >>> import json
    >>> from tempfile import TemporaryDirectory
    >>> said = [{"role": "user", "content": "I graduated in law."}]
    >>> asked = {
    ...     "question_id": "q1", "question_type": "single-session-user", "question": "What degree?",
    ...     "question_date": "2023/05/30 (Tue) 10:00", "haystack_dates": ["2023/05/20 (Sat) 02:21"],
    ...     "haystack_session_ids": ["a1"], "haystack_sessions": [said], "answer_session_ids": ["a1"],
    ... }
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "longmemeval.json")
    ...     _ = file.write_text(json.dumps([asked]))
    ...     (probe,) = read_longmemeval(file).suite
    >>> probe.name, probe.expect, probe.tags
    ('q1', (('q1-s000-t000',),), ('single-session-user',))
    """  # noqa: E501 - a doctest cannot break a line of data
    if unit not in ("turn", "session"):
        raise ProbeError(f"unit is {unit!r}, wanted 'turn' or 'session'; choose one")
    read = _Read(Source.find(path, "longmemeval*.json", HINT), k, unit)
    entries = read.source.checked(read.source.json(), list, "the file", "")
    if not entries:
        raise read.source.damaged("no question", "a list of questions")
    for n, entry in enumerate(entries):
        _read_question(read, read.source.checked(entry, dict, "the question", f"[{n}]"), f"[{n}]")
    return LongMemEval(
        Suite.of(read.probes),
        table(read.sessions, SESSIONS),
        read.log.frame(),
        table(read.left_out, LEFT_OUT),
        table(read.raised, RAISED),
    )


def _read_question(read: _Read, entry: Mapping[str, Any], place: str) -> None:
    source = read.source
    name, kind, query = (
        source.member(entry, key, str, place)
        for key in ("question_id", "question_type", "question")
    )
    sessions = _sessions(read, entry, name)
    negative = name.endswith("_abs")
    answers = source.texts(entry, "answer_session_ids", name)
    known = {session.name for session in sessions}
    for answer in answers:
        if answer not in known:
            read.log.add(name, "answer_session_ids", f"{answer!r}, no session there", "dropped")
    labelled = [s for s in sessions if s.name in answers and s.records]
    if not query.strip() or not (labelled or negative):
        reason = "no session that answers it" if query.strip() else "the question is blank"
        read.left_out.append((name, query, reason))
        return
    for s in sessions:
        read.sessions.append((name, s.prefix, s.name, len(s.records), s.name in answers))
    groups: dict[str, list[str]] = {}
    for s in [] if negative else labelled:
        groups.setdefault(s.name, []).extend(record.id for record in s.records)
    read.probes.append(
        Probe(
            name,
            query,
            given_of((record for s in sessions for record in s.records), "default"),
            tuple(groups.values()),
            k=raised_k(name, len(groups), read.k, read.raised),
            tags=(kind, "abstention") if negative else (kind,),
            now=_time(read, name, "question_date", entry.get("question_date")),
            why=f"LongMemEval, {name}",
            history=f"longmemeval {name}",
        )
    )


def _sessions(read: _Read, entry: Mapping[str, Any], name: str) -> list[_Session]:
    """The sessions of a question in the order of their dates."""
    source = read.source
    ids = source.texts(entry, "haystack_session_ids", name)
    dates: list[Any] = source.member(entry, "haystack_dates", list, name)
    talks: list[Any] = source.member(entry, "haystack_sessions", list, name)
    if not len(ids) == len(dates) == len(talks):
        found = f"{len(ids)} haystack_session_ids, {len(dates)} haystack_dates, {len(talks)}"
        raise source.damaged(f"{found} haystack_sessions", "as many of each", name)
    sessions = []
    for n, (session, date, talk) in enumerate(zip(ids, dates, talks, strict=True)):
        at = _time(read, name, f"haystack_dates[{n}]", date)
        turns = source.checked(talk, list, f"haystack_sessions[{n}]", name)
        prefix = f"{name}-s{n:03d}"
        sessions.append(_Session(prefix, session, at, _records(read, name, turns, prefix, n, at)))
    twice = sorted({session for session in ids if ids.count(session) > 1})
    for session in twice:
        read.log.add(name, "haystack_session_ids", f"{session!r} again", "both written")
    moments = [session.at for session in sessions if session.at]
    if moments != sorted(moments) and len(moments) == len(sessions):
        read.log.add(name, "haystack_dates", "not in order", "written in the order of the dates")
        sessions.sort(key=lambda session: session.at or datetime.min.replace(tzinfo=UTC))
    return sessions


def _records(
    read: _Read, name: str, turns: list[Any], prefix: str, n: int, at: datetime | None
) -> list[Record]:
    """The records of a session; turns without text are noted and not written."""
    records, said = [], []
    for m, turn in enumerate(turns):
        place = f"haystack_sessions[{n}][{m}]"
        turn = read.source.checked(turn, dict, place, name)
        role, text = (
            read.source.member(turn, key, str, f"{name}: {place}") for key in ("role", "content")
        )
        if not text.strip():
            read.log.add(name, place, "a turn without text", "not written")
            continue
        said.append(f"{role}: {text}")
        records.append(Record(f"{prefix}-t{m:03d}", text, at=at, meta={"role": role}))
    if not records:
        read.log.add(name, f"haystack_sessions[{n}]", "a session without text", "not written")
    if read.unit == "session" and records:
        return [Record(prefix, "\n".join(said), at=at)]
    return records


def _time(read: _Read, name: str, place: str, written: Any) -> datetime | None:
    """A date as the data set writes it; one that is missing or odd is noted."""
    try:
        return parse_date(str(written))
    except ValueError:
        found = "no date" if written is None else f"the date {str(written)!r:.60}"
        read.log.add(name, place, found, "no time")
        return None


def parse_date(written: str) -> datetime:
    """Read a date of the data set; it names no zone and is taken as UTC.

    Raises
    ------
    ValueError
        If it is written otherwise, or does not exist.

    Examples
    --------
    >>> parse_date("2023/05/20 (Sat) 02:21").isoformat()
    '2023-05-20T02:21:00+00:00'
    """
    match = DATE.fullmatch(written.strip())
    if match is None:
        raise ValueError("wanted the form '2023/05/20 (Sat) 02:21'")
    year, month, day, hour, minute = (int(part or 0) for part in match.groups())
    return datetime(year, month, day, hour, minute, tzinfo=UTC)
