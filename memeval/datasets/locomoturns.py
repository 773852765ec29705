"""The conversations of LoCoMo: sessions of turns, and the ids that evidence names them by."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from memeval.datasets.reading import FaultLog, Source
from memeval.given import Given, given_of
from memeval.record import Record

SESSION = re.compile(r"session_(\d+)")
DATED = re.compile(r"session_(\d+)_date_time")
DATE = re.compile(
    r"(\d{1,2}):(\d\d) ?([ap])m on (\d{1,2}) ([a-z]+),? (\d{4})", re.ASCII | re.IGNORECASE
)
MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september",
    "october", "november", "december",
)  # fmt: skip
TURN = re.compile(r"D0*(\d+):0*(\d+)")


class Conversation(NamedTuple):
    """One conversation: its records in order, and the record that each turn id stands for."""

    sample: str
    given: Given
    ids: Mapping[str, str]


def read_conversation(
    source: Source, sample: str, talk: Mapping[str, Any], log: FaultLog
) -> Conversation:
    """Read the sessions of a sample in the order of their numbers.

    Raises
    ------
    ProbeError
        If a session is no list of turns, or a turn has no speaker, id or text.
    """
    sessions = sorted((int(m[1]), name) for name in talk if (m := SESSION.fullmatch(name)))
    for name in talk:
        match = DATED.fullmatch(name)
        if match and not talk.get(f"session_{match[1]}"):
            log.add(sample, name, "the date of a session without turns", "not used")
    records: list[Record] = []
    ids: dict[str, str] = {}
    before: datetime | None = None
    for number, name in sessions:
        turns: list[Any] = source.member(talk, name, list, sample)
        at = _session_time(talk, name, sample, log) if turns else None
        if at and before and at < before:
            log.add(sample, f"{name}_date_time", "earlier than the session before", "kept as it is")
        before = at or before
        for n, turn in enumerate(turns):
            place = f"{name}[{n}]"
            turn = source.checked(turn, dict, place, sample)
            records += _records(source, sample, turn, place, number, at, ids, log)
    return Conversation(sample, given_of(records, "default"), ids)


def read_evidence(
    entries: Sequence[str], conversation: Conversation, place: str, log: FaultLog
) -> tuple[str, ...]:
    """Records that the evidence of a question names, each once, in its order."""
    sample, ids = conversation.sample, conversation.ids
    found: dict[str, None] = {}
    for n, entry in enumerate(entries):
        where = f"{place}.evidence[{n}]"
        parts = re.split(r"[;,\s]+", entry.strip(" ;,\t\n"))
        if parts != [entry]:
            log.add(sample, where, f"{len(parts)} in one text, {entry!r:.60}", "split into ids")
        for part in parts:
            turn = _turn(part, ids)
            if turn is None:
                log.add(sample, where, f"{part!r:.60}, which no turn has", "dropped")
                continue
            if turn != part:
                log.add(sample, where, f"{part!r:.60}, written with zeros", f"read as {turn!r}")
            if ids[turn] in found:
                log.add(sample, where, f"{turn!r} again", "counted once")
            found[ids[turn]] = None
    return tuple(found)


def parse_date(written: str) -> datetime:
    """Read the date of a session; it names no zone and is taken as UTC.

    Raises
    ------
    ValueError
        If it is written otherwise, or does not exist.

    Examples
    --------
    >>> parse_date("12:09 am on 13 September, 2023").isoformat()
    '2023-09-13T00:09:00+00:00'
    """
    match = DATE.fullmatch(written.strip())
    if match is None or match[5].lower() not in MONTHS or not 1 <= int(match[1]) <= 12:
        raise ValueError("wanted the form '1:56 pm on 8 May, 2023'")
    hour = int(match[1]) % 12 + (12 if match[3].lower() == "p" else 0)
    month = MONTHS.index(match[5].lower()) + 1
    return datetime(int(match[6]), month, int(match[4]), hour, int(match[2]), tzinfo=UTC)


def _session_time(
    talk: Mapping[str, Any], session: str, sample: str, log: FaultLog
) -> datetime | None:
    name = f"{session}_date_time"
    written = talk.get(name)
    if written is None:
        log.add(sample, name, "no date", "its turns have no time")
        return None
    try:
        return parse_date(str(written))
    except ValueError:
        log.add(sample, name, f"the date {written!r:.60}", "its turns have no time")
        return None


def _records(
    source: Source,
    sample: str,
    turn: Mapping[str, Any],
    place: str,
    session: int,
    at: datetime | None,
    ids: dict[str, str],
    log: FaultLog,
) -> Iterator[Record]:
    """The turn as a record, none where it says nothing; its id is entered in `ids`."""
    where = f"{sample}: {place}"
    speaker, name, said = (
        source.member(turn, f, str, where) for f in ("speaker", "dia_id", "text")
    )
    caption = source.checked(turn.get("blip_caption") or "", str, "'blip_caption'", where)
    if not said.strip() and not caption.strip():
        log.add(sample, place, f"the turn {name!r:.60} without text", "not written")
        return
    record_id = f"{sample}-{name}"
    if name in ids:
        record_id = f"{sample}-{place}"
        log.add(sample, place, f"the turn id {name!r:.60} again", f"written as {record_id!r}")
    ids.setdefault(name, record_id)
    shown = f" [image: {caption.strip()}]" if caption.strip() else ""
    meta = {"speaker": speaker, "session": session, "turn": name}
    yield Record(record_id, f"{speaker}: {said.strip()}{shown}", at=at, meta=meta)


def _turn(part: str, ids: Mapping[str, str]) -> str | None:
    """The turn id that is meant: as written, or without zeros in front of its numbers."""
    match = TURN.fullmatch(part)
    plain = f"D{match[1]}:{match[2]}" if match else part
    return next((name for name in (part, plain) if name in ids), None)
