"""Chats and query logs as turns: a file is recognised by its shape, never by its name.

Read are LoCoMo, MemoryBank with its questions, the exports of ChatGPT and Claude, and lists or
lines of messages and of queries. What an entry says is other people's text and is only passed on.
"""

from __future__ import annotations

import codecs
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memeval import transcript_shapes as shapes
from memeval.errors import MemevalError
from memeval.transcript_shapes import Turn

_MARKS = {
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
    codecs.BOM_UTF8: "utf-8-sig",
}


@dataclass(frozen=True, slots=True)
class Shape:
    """One form that an entry of a file may have.

    Attributes
    ----------
    name : str
        What it is called.
    told_by : str
        What it is recognised by.
    fits : callable
        Whether an entry has it.
    read : callable
        Turns of an entry, given its number from 1.
    dated : bool
        Whether the entries are conversations, to be put in the order of time.
    """

    name: str
    told_by: str
    fits: Callable[[Mapping[str, Any]], bool]
    read: Callable[[Mapping[str, Any], int], Iterable[Turn]]
    dated: bool = False


SHAPES = (
    Shape("ChatGPT export", "mapping", shapes.is_chatgpt, shapes.chatgpt, True),
    Shape("Claude export", "chat_messages", shapes.is_claude, shapes.claude, True),
    Shape("LoCoMo", "conversation with session_1", shapes.is_locomo, shapes.locomo),
    Shape("list of messages", "messages", shapes.is_talk, shapes.talk, True),
    Shape("chat log", "role and content", shapes.is_message, shapes.message),
    Shape("query log", "query", shapes.is_query, shapes.query),
    Shape("MemoryBank", "persons with a history", shapes.is_memorybank, shapes.memorybank),
    Shape("questions by person", "lists of questions", shapes.is_questions, shapes.questions),
)


@dataclass(frozen=True, slots=True)
class Transcript:
    """What was said in a file.

    Attributes
    ----------
    form : str
        What the file was recognised as.
    turns : tuple of Turn
        In the order of time where the file says it, else of the file.
    n_unread : int
        Entries that are of no known form.
    """

    form: str
    turns: tuple[Turn, ...]
    n_unread: int = 0


def read_transcript(path: str | os.PathLike[str]) -> Transcript:
    """Read a chat or a query log.

    Parameters
    ----------
    path : str or path-like
        JSON, or a JSON object a line, in UTF-8 (or UTF-16 or UTF-32 with its mark).

    Returns
    -------
    Transcript
        Its turns; entries of no known form are counted.

    Raises
    ------
    MemevalError
        If it cannot be read, or nothing in it has a form that is known.
    """
    entries, lost = _entries(Path(path))
    shape = next((s for entry in entries for s in SHAPES if s.fits(entry)), None)
    if shape is None:
        raise MemevalError(f"{path}: found {_seen(entries)}, {wanted()}")
    talks: list[list[Turn]] = []
    forms: dict[str, None] = {}
    for number, entry in enumerate(entries, 1):
        fitting = next((s for s in SHAPES if s.fits(entry)), None)
        if fitting is None:
            lost += 1
            continue
        forms[fitting.name] = None
        talks.append(list(fitting.read(entry, number)))
    if shape.dated:
        talks = _in_time(talks)
    return Transcript(" and ".join(forms), tuple(t for talk in talks for t in talk), lost)


def wanted() -> str:
    """What can be read, in words."""
    forms = "; ".join(f"{shape.name} ({shape.told_by})" for shape in SHAPES)
    return f"wanted JSON or JSON lines of one of these forms: {forms}; convert it to one of them"


def _in_time(talks: list[list[Turn]]) -> list[list[Turn]]:
    """Conversations by their first time; exports begin with the newest."""
    talks = [talk for talk in talks if talk]
    if all(talk[0].at for talk in talks):
        talks.sort(key=lambda talk: talk[0].at or "")
    return talks


def _seen(entries: Iterable[Mapping[str, Any]]) -> str:
    first = next(iter(entries), None)
    if first is None:
        return "no entry at all"
    keys = ", ".join(repr(key)[:30] for key in list(first)[:6]) or "no keys"
    return f"an entry with {keys}"


def _entries(path: Path) -> tuple[list[dict[str, Any]], int]:
    """Objects of a file, and how many entries are none."""
    text = _text(path)
    if not text.strip():
        raise MemevalError(f"{path}: found an empty file, {wanted()}")
    try:
        whole = json.loads(text)
    except RecursionError as error:
        raise MemevalError(f"{path}: found JSON that nests too deep, {wanted()}") from error
    except ValueError as error:
        found = list(_lines(text))
        kept = [entry for entry in found if isinstance(entry, dict)]
        if kept:
            return kept, len(found) - len(kept)
        raise MemevalError(f"{path}: found no JSON ({error}), {wanted()}") from error
    listed = whole if isinstance(whole, list) else [whole]
    kept = [entry for entry in listed if isinstance(entry, dict)]
    return kept, len(listed) - len(kept)


def _lines(text: str) -> Iterator[object]:
    """What each line holds; None for one that is no JSON."""
    for line in text.split("\n"):
        if line.strip():
            try:
                yield json.loads(line)
            except (ValueError, RecursionError):  # counted as unread by the caller
                yield None


def _text(path: Path) -> str:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise MemevalError(
            f"{path}: cannot be read ({error.strerror}); name a file that is there and may be read"
        ) from error
    encoding = next((name for mark, name in _MARKS.items() if data.startswith(mark)), "utf-8")
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise MemevalError(
            f"{path}:{line}: found the byte 0x{data[error.start]:02x}, which is not "
            f"{encoding.upper()}; save the file as UTF-8"
        ) from error
