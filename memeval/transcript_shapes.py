"""The forms in which chats and queries are kept, each with how it is told and how it is read.

Nothing in an entry is trusted to be there, or to be of the kind that it should be: what does not
fit is passed over.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from memeval.text import clean
from memeval.times import parse_time

Entry = Mapping[str, Any]
USERS = frozenset({"user", "human"})
ASSISTANTS = frozenset({"assistant", "ai", "bot", "model", "gpt", "chatgpt"})
TIMES = ("at", "timestamp", "time", "created_at", "create_time", "date", "ts")
SCOPES = ("scope", "user_id", "user", "namespace")
QUERIES = ("query", "question")
DEFAULT = "default"
ADVERSARIAL = 5
_SESSION = re.compile(r"session_(\d+)")
_TURN_ID = re.compile(r"D\d+:\d+")
_SPOKEN_TIME = "%I:%M %p on %d %B, %Y"


@dataclass(frozen=True, slots=True)
class Turn:
    """One thing that was said or asked.

    Attributes
    ----------
    text : str
        Its words.
    role : {'user', 'assistant'}
        Who said it.
    source : str
        Where in the file it stands.
    scope : str
        Whose memory it concerns.
    at : str or None
        When, as ISO 8601 in UTC.
    asked : bool
        Whether the file says that it is a query, so that nobody has to guess.
    evidence : tuple of str
        Texts that the file itself names as holding the answer.
    note : str
        What the file says of it besides.
    """

    text: str
    role: Literal["user", "assistant"]
    source: str
    scope: str = DEFAULT
    at: str | None = None
    asked: bool = False
    evidence: tuple[str, ...] = ()
    note: str = ""


def is_chatgpt(entry: Entry) -> bool:
    """Tell a conversation that is kept as a tree of nodes."""
    return isinstance(entry.get("mapping"), dict)


def chatgpt(entry: Entry, number: int) -> Iterator[Turn]:
    """Read the branch that was shown last, from its root on."""
    nodes: Entry = entry["mapping"]
    title = _title(entry, "title", number)
    for place, node in enumerate(_branch(nodes, entry.get("current_node")), 1):
        told = node.get("message")
        if not isinstance(told, dict):
            continue
        author = told.get("author")
        role = author.get("role") if isinstance(author, dict) else None
        at = moment(told.get("create_time")) or moment(entry.get("create_time"))
        yield from _turn(told.get("content"), role, f"{title}, node {place}", at=at)


def _branch(nodes: Entry, last: object) -> list[Entry]:
    """Nodes from the root to the one that is shown; else to the end of the last children."""
    if not (isinstance(last, str) and last in nodes):
        heads = [key for key, node in nodes.items() if not _node(node).get("parent")]
        last = _last_leaf(nodes, heads[-1]) if heads else next(iter(nodes), None)
    path: dict[str, Entry] = {}
    while isinstance(last, str) and last in nodes and last not in path:
        path[last] = _node(nodes[last])
        last = path[last].get("parent")
    return list(reversed(path.values()))


def _last_leaf(nodes: Entry, key: str) -> str:
    seen: set[str] = set()
    while key not in seen:
        seen.add(key)
        children = _node(nodes[key]).get("children")
        known = [c for c in children if c in nodes] if isinstance(children, list) else []
        key = known[-1] if known else key
    return key


def _node(node: object) -> Entry:
    return node if isinstance(node, dict) else {}


def is_claude(entry: Entry) -> bool:
    """Tell a conversation with its list of messages."""
    return isinstance(entry.get("chat_messages"), list)


def claude(entry: Entry, number: int) -> Iterator[Turn]:
    """Read the messages in order."""
    title = _title(entry, "name", number)
    for place, told in enumerate(map(_node, entry["chat_messages"]), 1):
        text = told.get("text") or told.get("content")
        at = moment(told.get("created_at")) or moment(entry.get("created_at"))
        yield from _turn(text, told.get("sender"), f"{title}, message {place}", at=at)


def is_locomo(entry: Entry) -> bool:
    """Tell two speakers in dated sessions."""
    talk = entry.get("conversation")
    return isinstance(talk, dict) and any(_sessions(talk))


def locomo(entry: Entry, number: int) -> Iterator[Turn]:
    """Read what the two say to each other, then the questions that the file asks about it."""
    talk: Entry = entry["conversation"]
    scope = _text(entry.get("sample_id")) or f"sample-{number}"
    by_id: dict[str, str] = {}
    for session, turns in sorted(_sessions(talk)):
        at = moment(talk.get(f"session_{session}_date_time"))
        for place, told in enumerate(map(_node, turns), 1):
            name = _text(told.get("dia_id")) or f"session {session}, turn {place}"
            said = f"{_text(told.get('speaker'))}: {_text(told.get('text'))}"
            by_id[name] = clean(said)
            yield from _turn(told.get("text"), "user", f"{scope}, {name}", scope, at)
    listed = entry.get("qa")
    for place, told in enumerate(map(_node, listed if isinstance(listed, list) else ()), 1):
        ids = _TURN_ID.findall(str(told.get("evidence")))
        texts = tuple(by_id[name] for name in ids if name in by_id)
        misleads = told.get("category") == ADVERSARIAL
        note = "asked by the file; its evidence misleads" if misleads else "asked by the file"
        source = f"{scope}, question {place}"
        yield from _turn(told.get("question"), "user", source, scope, None, texts, note)


def _sessions(talk: Entry) -> Iterator[tuple[int, list[Any]]]:
    for key, value in talk.items():
        match = _SESSION.fullmatch(key)
        if match and isinstance(value, list) and len(match[1]) < 9:
            yield int(match[1]), value


def is_talk(entry: Entry) -> bool:
    """Tell a list of messages."""
    listed = entry.get("messages")
    return isinstance(listed, list) and any(is_message(_node(told)) for told in listed)


def talk(entry: Entry, number: int) -> Iterator[Turn]:
    """Read the messages in order."""
    title, scope = _title(entry, "id", number), _scope(entry)
    for place, told in enumerate(map(_node, entry["messages"]), 1):
        at = _when(told) or _when(entry)
        source = f"{title}, message {place}"
        yield from _turn(told.get("content"), told.get("role"), source, scope, at)


def is_message(entry: Entry) -> bool:
    """Tell one message."""
    return isinstance(entry.get("role"), str) and "content" in entry


def message(entry: Entry, number: int) -> Iterator[Turn]:
    """Read one message."""
    source = f"entry {number}"
    yield from _turn(entry["content"], entry["role"], source, _scope(entry), _when(entry))


def is_query(entry: Entry) -> bool:
    """Tell one query, with or without what was answered."""
    return any(isinstance(entry.get(key), str) for key in QUERIES)


def query(entry: Entry, number: int) -> Iterator[Turn]:
    """Read a query; with an answer beside it, it is a turn of a chat and may ask nothing."""
    text = next(entry[key] for key in QUERIES if isinstance(entry.get(key), str))
    source, scope, at = f"entry {number}", _scope(entry), _when(entry)
    if isinstance(entry.get("response"), str):
        yield from _turn(text, "user", source, scope, at)
        yield from _turn(entry["response"], "assistant", source, scope, at)
    else:
        yield from _turn(text, "user", source, scope, at, note="a query of the log")


def is_memorybank(entry: Entry) -> bool:
    """Tell persons, each with a history by day."""
    return any(isinstance(_node(person).get("history"), dict) for person in entry.values())


def memorybank(entry: Entry, number: int) -> Iterator[Turn]:
    """Read what each person said on each day, and was answered."""
    for name, person in entry.items():
        days = _node(person).get("history")
        for day, listed in days.items() if isinstance(days, dict) else ():
            for place, told in enumerate(listed if isinstance(listed, list) else (), 1):
                scope = _text(name) or DEFAULT
                source, at = f"{scope}, {clean(day)}, turn {place}", moment(day)
                yield from _turn(_node(told).get("query"), "user", source, scope, at)
                yield from _turn(_node(told).get("response"), "assistant", source, scope, at)


def is_questions(entry: Entry) -> bool:
    """Tell persons, each with a list of questions."""
    lists = [value for value in entry.values() if isinstance(value, list) and value]
    return 0 < len(lists) == len(entry) and all(isinstance(t, str) for v in lists for t in v)


def questions(entry: Entry, number: int) -> Iterator[Turn]:
    """Read the questions of each person."""
    for name, listed in entry.items():
        for place, text in enumerate(listed, 1):
            scope = _text(name) or DEFAULT
            source, note = f"{scope}, question {place}", "asked by the file"
            yield from _turn(text.strip('"'), "user", source, scope, note=note)


def _turn(
    content: object,
    role: object,
    source: str,
    scope: str = DEFAULT,
    at: str | None = None,
    evidence: tuple[str, ...] = (),
    note: str = "",
) -> Iterator[Turn]:
    """One turn, or none where nothing is said, or neither a user nor an assistant says it."""
    text = _text(content)
    name = role.lower() if isinstance(role, str) else ""
    if text and name in USERS:
        yield Turn(text, "user", source, scope, at, bool(note), evidence, note)
    elif text and name in ASSISTANTS:
        yield Turn(text, "assistant", source, scope, at)


def _text(content: object) -> str:
    """Words of a message, whose parts may be texts, or mappings with a text."""
    if isinstance(content, str):
        return clean(content).strip()
    if isinstance(content, dict):
        return _text(content.get("parts") or content.get("text"))
    if isinstance(content, list):
        parts = (_text(part.get("text") if isinstance(part, dict) else part) for part in content
                 if isinstance(part, str | dict))  # fmt: skip
        return "\n".join(part for part in parts if part)
    return ""


def _title(entry: Entry, key: str, number: int) -> str:
    said = " ".join(_text(entry.get(key)).split())
    return said[:60] if said else f"conversation {number}"


def _scope(entry: Entry) -> str:
    named = (_text(entry.get(key)) for key in SCOPES)
    return next((name for name in named if name), DEFAULT)


def _when(entry: Entry) -> str | None:
    return next((at for key in TIMES if (at := moment(entry.get(key)))), None)


def moment(value: object) -> str | None:
    """Read a time in any form that the formats use; None where it is none.

    Examples
    --------
    >>> moment("1:56 pm on 8 May, 2023"), moment(1683554160)
    ('2023-05-08T13:56:00+00:00', '2023-05-08T13:56:00+00:00')
    """
    if isinstance(value, int | float) and not isinstance(value, bool):
        if not math.isfinite(value):
            return None
        seconds = value / 1000 if abs(value) > 1e11 else value
        return _epoch(seconds)
    if not isinstance(value, str):
        return None
    for read in (parse_time, lambda text: datetime.strptime(text, _SPOKEN_TIME)):
        try:
            return read(value.strip()).replace(tzinfo=UTC).isoformat()
        except (ValueError, OverflowError):  # not this form; the next may be it
            continue
    return None


def _epoch(seconds: float) -> str | None:
    try:
        return datetime.fromtimestamp(seconds, UTC).isoformat()
    except (ValueError, OverflowError, OSError):  # a number that is no time
        return None
