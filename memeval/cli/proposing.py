"""``memeval add --from``: candidates of a transcript, walked through by a person, or listed."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memeval.cli import add, prompts
from memeval.cli.console import say, show, wrapped
from memeval.cli.forms import rows, show_json
from memeval.cli.prompts import Fields
from memeval.errors import ProbeError
from memeval.text import markdown_cell

if TYPE_CHECKING:
    import pandas as pd

    from memeval.transcripts import Transcript

Row = dict[str, Any]
CHOICES = {"a": "accept", "e": "edit", "s": "skip", "q": "quit"}
_HEAD = ("n", "query", "scope", "context", "source", "reason")


def propose(args: argparse.Namespace, target: Path) -> int:
    """Go through the candidates of a file with the person, or list them where there is none."""
    from memeval.mining import candidates
    from memeval.transcripts import read_transcript

    transcript = read_transcript(args.source)
    found = candidates(transcript)
    _told(transcript, found, args)
    if not prompts.at_terminal():
        _list(found, args.format)
        return 0
    added = _walk(rows(found), target, args)
    say(f"{added} of {len(found)} candidates were added to {target}", quiet=args.quiet)
    return 0


def _told(transcript: Transcript, found: pd.DataFrame, args: argparse.Namespace) -> None:
    said = f"{args.source}: read as {transcript.form}, {len(transcript.turns)} turns"
    if transcript.n_unread:
        said += f", {transcript.n_unread} entries of no known form passed over"
    say(f"{said}; {len(found)} candidates, none of them decided", quiet=args.quiet)


def _list(found: pd.DataFrame, form: str) -> None:
    if form == "json":
        show_json(rows(found))
    elif form == "markdown":
        lines = [_markdown_row(row) for row in rows(found)]
        rule = "| " + " | ".join(["---:", *["---"] * (len(_HEAD) - 1)]) + " |"
        show("\n".join([f"| {' | '.join(_HEAD)} |", rule, *lines]))
    elif len(found):
        show("\n\n".join("\n".join(_told_row(row)) for row in rows(found)))


def _markdown_row(row: Row) -> str:
    context = "<br>".join(markdown_cell(line) for line in _lines(row))
    texts = [markdown_cell(str(row[key])) for key in ("query", "scope", "source", "reason")]
    return f"| {row['candidate']} | {texts[0]} | {texts[1]} | {context} | {texts[2]} | {texts[3]} |"


def _told_row(row: Row) -> Iterable[str]:
    """One candidate as lines."""
    place = ", ".join(filter(None, [f"scope {row['scope']}", row["at"], row["source"]]))
    yield wrapped(f"{row['candidate']}. {row['query']}")
    yield wrapped(f"    {place}")
    yield from (wrapped(f"    > {line}", "      ") for line in _lines(row))
    yield wrapped(f"    {row['reason']}")


def _lines(row: Row) -> list[str]:
    return [line for line in str(row["context"] or "").split("\n") if line]


def _walk(listed: list[Row], target: Path, args: argparse.Namespace) -> int:
    """Ask what to do with each; the number of those that were written."""
    added = 0
    for row in listed:
        show("\n".join(_told_row(row)))
        choice = _choice()
        if choice == "q":
            break
        if choice == "s":
            continue
        fields = _fields(row, Path(args.source).name)
        if choice == "e":
            fields = _edited(fields)
        fields = prompts.complete(fields, ("given", "name", "expect", "forbid"))
        try:
            added += add.offer(fields, target, args)
        except ProbeError as error:
            say(f"{error}; this one was not written")
    return added


def _choice() -> str:
    label = ", ".join(f"[{key}] {word}" for key, word in CHOICES.items())

    def wrong(answer: str) -> str:
        known = answer[:1].lower() in CHOICES
        return "" if known else f"found {answer!r}, wanted one of {', '.join(CHOICES)}"

    return prompts.ask(label, "s", wrong)[:1].lower()


def _fields(row: Row, file: str) -> Fields:
    """A candidate as the beginning of a probe: which record is right is not in it."""
    given = [{"id": f"r{n}", "text": line} for n, line in enumerate(_lines(row), 1)]
    fields = {"query": row["query"], "scope": row["scope"], "why": f"{file}: {row['source']}."}
    return fields | ({"given": given} if given else {})


def _edited(fields: Fields) -> Fields:
    """The same fields, each as the person wants it."""
    query = prompts.ask("what is asked", fields["query"])
    scope = prompts.ask("whose memory is asked (scope)", fields["scope"])
    texts = [
        prompts.ask(f"text of record {entry['id']} (- leaves it out)", entry["text"])
        for entry in fields.get("given", ())
    ]
    more = prompts.ask("text of another record (empty: no more)")
    while more:
        texts.append(more)
        more = prompts.ask("text of another record (empty: no more)")
    kept = [text for text in texts if text != "-"]
    given = [{"id": f"r{n}", "text": text} for n, text in enumerate(kept, 1)]
    why = prompts.ask("where it comes from, in a sentence", fields["why"])
    edited = {"query": query, "scope": scope, "why": why}
    return edited | ({"given": given} if given else {})
