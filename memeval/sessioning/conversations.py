"""A transcript as a source of sessions: what was really said in place of what is made up."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta

from memeval.record import Record
from memeval.sessioning.model import Session, Truth
from memeval.transcript_shapes import Turn
from memeval.transcripts import Transcript, read_transcript

GAP = timedelta(hours=6)
MOST = 50
_PLACE = re.compile(r",? ?(?:node|message|turn|question|entry) \d+$")
_LOCOMO = re.compile(r", D(\d+):\d+$")


def sessions_of_transcript(
    source: str | os.PathLike[str] | Transcript,
    *,
    scope: str | None = None,
    gap: timedelta = GAP,
    most: int = MOST,
    prefix: str = "t",
) -> Iterator[Session]:
    """Read a transcript as sessions.

    Parameters
    ----------
    source : str, path-like or Transcript
        Any file that `memeval.transcripts.read_transcript` reads, or one that was read already.
    scope : str, optional
        Scope for all of it; else each turn goes where the transcript puts it.
    gap : timedelta
        A silence longer than this ends a session.
    most : int
        Turns in a session; a longer one is cut.
    prefix : str
        How ids begin.

    Yields
    ------
    Session
        Its turns as records of kind ``said``, the assistant's included, in their order. Turns
        that the file gives as questions about it are left out. A session also ends with the
        conversation, the day or the scope that the transcript names.

    Raises
    ------
    MemevalError
        If the file cannot be read, or is of no known form.
    ValueError
        If `most` is below 1.

    Examples
    --------
    >>> said = [("We got a kettle.", "2026-03-01T09:00:00+00:00"),
    ...         ("It whistles.", "2026-03-01T09:01:00+00:00"),
    ...         ("It broke.", "2026-03-05T09:00:00+00:00")]
    >>> turns = tuple(Turn(text, "user", "entry 1", at=at) for text, at in said)
    >>> for session in sessions_of_transcript(Transcript("chat log", turns)):
    ...     print(session.number, [record.text for record in session.records])
    0 ['We got a kettle.', 'It whistles.']
    1 ['It broke.']
    """
    if most < 1:
        raise ValueError(f"most is {most}, wanted a whole number from 1")
    transcript = source if isinstance(source, Transcript) else read_transcript(source)
    told = (turn for turn in transcript.turns if not turn.asked and turn.text.strip())
    for number, turns in enumerate(_sittings(told, gap, most)):
        records = tuple(
            Record(
                f"{prefix}{number}-{n}", turn.text, turn.scope if scope is None else scope,
                _time(turn),
            )
            for n, turn in enumerate(turns)
        )  # fmt: skip
        truths = tuple(Truth(record.id, "said") for record in records)
        yield Session(number, records[0].at, records, truths)


def _sittings(turns: Iterable[Turn], gap: timedelta, most: int) -> Iterator[list[Turn]]:
    sitting: list[Turn] = []
    for turn in turns:
        if sitting and (len(sitting) == most or _parted(sitting[-1], turn, gap)):
            yield sitting
            sitting = []
        sitting.append(turn)
    if sitting:
        yield sitting


def _parted(before: Turn, turn: Turn, gap: timedelta) -> bool:
    if (before.scope, _conversation(before)) != (turn.scope, _conversation(turn)):
        return True
    first, then = _time(before), _time(turn)
    return first is not None and then is not None and abs(then - first) > gap


def _conversation(turn: Turn) -> str:
    """What the source says without the place of the turn."""
    session = _LOCOMO.search(turn.source)
    if session:
        return f"{turn.source[: session.start()]}, session {session[1]}"
    return _PLACE.sub("", turn.source)


def _time(turn: Turn) -> datetime | None:
    return None if turn.at is None else datetime.fromisoformat(turn.at)
