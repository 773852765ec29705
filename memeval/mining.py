"""Candidates for probes from a chat or a query log: real questions, with what may answer them.

Proposed is what a user asked and what seems to refer back. Nothing is decided here: which record
is right, and whether the question is worth a probe, only a person can say.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from memeval.checks.kinds import is_blank
from memeval.frames import CANDIDATES, conform, names
from memeval.text import normalise
from memeval.transcript_shapes import Turn
from memeval.transcripts import Transcript, read_transcript
from memeval.words import content_words

MOST_LINES = 3
LONGEST = 300
MOST_SENTENCES = 200
# A word that stands in more statements than this tells none of them from the others.
MOST_PLACES = 1000
# A word in at most so many statements is enough by itself; of others it takes two.
RARE = 3
_SENTENCE_END = re.compile(r"(?<=[.!?])[ \t]+|(?<=[。！？؟])|[\r\n]+")
_QUESTION_MARK = re.compile(r"[?？؟][\"'”’)\]]*\s*$")
_ASKS = re.compile(
    r"(?:and |so |but |hey,? |hi,? |ok,? |please )?(?:what|when|where|who|whom|whose|which|why|how|"
    r"do|does|did|is|are|was|were|can|could|will|would|should|have|has|had|remind|tell me|"
    r"show me)\b",
    re.IGNORECASE,
)
_REFERS_BACK = re.compile(
    r"\b(?:remember|remind|again|earlier|before|previously|last (?:time|week|month|year|night)|"
    r"yesterday|did (?:i|we|you)|(?:i|we|you) (?:\w+ )?(?:told|said|mentioned|talked|discussed|"
    r"recommended|suggested|shared|asked|gave))\b",
    re.IGNORECASE,
)


def candidates(source: str | os.PathLike[str] | Transcript) -> pd.DataFrame:
    """Propose questions of a chat or query log that may become probes.

    Parameters
    ----------
    source : str, path-like or Transcript
        A LoCoMo, MemoryBank, ChatGPT or Claude file, or messages or queries as JSON or JSON
        lines; or one that was read already.

    Returns
    -------
    pandas.DataFrame
        Columns of `memeval.frames.CANDIDATES`, in the order in which they were asked. ``context``
        holds at most three earlier statements, one a line, in their order.

    Raises
    ------
    MemevalError
        If the file cannot be read, or is of no known form.

    Notes
    -----
    A turn of the user is proposed if one of its sentences ends in a question mark or begins like
    a question, and if it refers back: an earlier statement of the same scope shares two content
    words with it, or one that stands in at most three statements, or it says so itself ("did I
    tell you", "last time"). Queries of a log and questions that a file lists are always proposed.
    Where it does not say so itself, only the sentences that ask are looked at for shared words.
    Statements weigh by the sum of log(1 + statements / statements with the word) over the shared
    words. The same question of the same scope is proposed once.

    Examples
    --------
    >>> said = [("My locker is number 41.", "user"), ("Noted.", "assistant")]
    >>> said += [("Which number is my locker?", "user")]
    >>> talk = tuple(Turn(text, role, f"entry {n}") for n, (text, role) in enumerate(said, 1))
    >>> candidates(Transcript("chat log", talk))[["source", "query", "context"]]
        source                       query                  context
    0  entry 3  Which number is my locker?  My locker is number 41.
    """
    transcript = source if isinstance(source, Transcript) else read_transcript(source)
    rows = [{"candidate": n, **row} for n, row in enumerate(_once(_rows(transcript.turns)), 1)]
    return conform(pd.DataFrame(rows, columns=names(CANDIDATES)), CANDIDATES)


def _rows(turns: Iterable[Turn]) -> Iterator[dict[str, Any]]:
    told: dict[str, _Statements] = {}
    for turn in turns:
        earlier = told.setdefault(turn.scope, _Statements())
        sentences = _sentences(turn.text)
        if turn.role == "user" and not is_blank(turn.text):
            query = _query(turn, sentences)
            found = _found(turn, query, earlier) if query else None
            if found is not None:
                yield {
                    "source": turn.source,
                    "at": turn.at,
                    "scope": turn.scope,
                    "query": query,
                    "context": "\n".join(found[0]),
                    "n_records": len(found[0]),
                    "reason": found[1],
                }
        if not turn.asked:
            earlier.add(turn.text, sentences)


def _once(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Each question of a scope once, with how often it was asked."""
    first: dict[tuple[str, str], dict[str, Any]] = {}
    times: dict[tuple[str, str], int] = {}
    for row in rows:
        key = row["scope"], normalise(row["query"])
        first.setdefault(key, row)
        times[key] = times.get(key, 0) + 1
    for key, count in times.items():
        if count > 1:
            first[key]["reason"] += f"; asked {count} times"
    return list(first.values())


def _found(turn: Turn, query: str, earlier: _Statements) -> tuple[list[str], str] | None:
    """Lines that seem to hold the answer, and why it is proposed; None if it is not."""
    if turn.evidence:
        lines = list(dict.fromkeys(map(_one_line, turn.evidence)))
        return lines, f"{turn.note}, which names {_count(len(lines), 'turn')}"
    lines, shared = earlier.like(_basis(query))
    said = f"shares {', '.join(shared)} with {_count(len(lines), 'earlier statement')}"
    if turn.asked:
        return lines, f"{turn.note}; {said}" if lines else turn.note
    if lines:
        return lines, f"a question that {said}"
    return ([], "a question that speaks of before") if _REFERS_BACK.search(query) else None


def _query(turn: Turn, sentences: list[str]) -> str:
    """What is asked: a short turn as it is, of a long one the sentences that ask."""
    if turn.asked:
        return _one_line(turn.text)
    asking = [s for s in sentences if asks(s)]
    if not asking:
        return ""
    return _one_line(turn.text if len(turn.text) <= LONGEST else " ".join(asking[-2:]))


def _basis(query: str) -> str:
    """What is looked for: only the sentences that ask, unless it says that it refers back."""
    asking = [s for s in _sentences(query) if asks(s)]
    return query if not asking or _REFERS_BACK.search(query) else " ".join(asking)


def asks(sentence: str) -> bool:
    """Whether a sentence looks like a question.

    Examples
    --------
    >>> asks("Where is lunch"), asks("Lunch is where it was."), asks("Lunch?")
    (True, False, True)
    """
    return bool(_QUESTION_MARK.search(sentence) or _ASKS.match(sentence.lstrip(" \"'“‘-*>")))


def _sentences(text: str) -> list[str]:
    parts = _SENTENCE_END.split(text, maxsplit=MOST_SENTENCES)[:MOST_SENTENCES]
    return [part.strip() for part in parts if part.strip()]


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _count(n: int, one: str) -> str:
    return f"{n} {one}{'' if n == 1 else 's'}"


@dataclass
class _Statements:
    """What was said so far in one scope, by word."""

    lines: list[str] = field(default_factory=list)
    places: dict[str, list[int]] = field(default_factory=dict)

    def add(self, text: str, sentences: list[str]) -> None:
        """Keep a short turn whole and of a long one each sentence, where it states something."""
        if all(map(asks, sentences)):
            return
        for line in [text] if len(text) <= LONGEST else sentences:
            if len(line) > 2 * LONGEST or (line is not text and asks(line)):
                continue
            for word in set(content_words(line)):
                self.places.setdefault(word, []).append(len(self.lines))
            self.lines.append(_one_line(line))

    def like(self, query: str) -> tuple[list[str], list[str]]:
        """The statements that share most with a query, in their order, and the words shared."""
        weights: dict[int, float] = {}
        words: dict[int, list[str]] = {}
        for word in dict.fromkeys(content_words(query)):
            found = self.places.get(word, ())
            if 0 < len(found) <= MOST_PLACES:
                weight = math.log1p(len(self.lines) / len(found))
                for place in found:
                    weights[place] = weights.get(place, 0.0) + weight
                    words.setdefault(place, []).append(word)
        fit = [p for p, shared in words.items() if len(shared) > 1 or self._rare(shared[0])]
        best = sorted(sorted(fit, key=lambda p: (-weights[p], -p))[:MOST_LINES])
        shared = list(dict.fromkeys(word for p in best for word in words[p]))
        return list(dict.fromkeys(self.lines[p] for p in best)), shared[:6]

    def _rare(self, word: str) -> bool:
        return len(word) > 2 and len(self.places[word]) <= RARE
