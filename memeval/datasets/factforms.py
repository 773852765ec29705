"""The fixed sentences of FactConsolidation, and what they say.

The data set is generated: every fact and every question is one of a few sentences with the names
filled in. A sentence is read as (relation, subject, object); the relation is the sentence itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import NamedTuple

# Question: fact. {s} is the subject, {o} the object; misspellings are those of the data set.
FORMS: Mapping[str, str] = {
    "Which sport is {s} associated with?": "{s} is associated with the sport of {o}.",
    "Which religion is {s} affiliated with?": "{s} is affiliated with the religion of {o}.",
    "Which continent is {s} located in?": "{s} is located in the continent of {o}.",
    "Which country was {s} created in?": "{s} was created in the country of {o}.",
    "Which language was {s} written in?": "{s} was written in the language of {o}.",
    "Which city was {s} born in?": "{s} was born in the city of {o}.",
    "Which city did {s} die in?": "{s} died in the city of {o}.",
    "Which city did {s} work in?": "{s} worked in the city of {o}.",
    "Which city is the headquarter of {s} located in?": (
        "The headquarters of {s} is located in the city of {o}."
    ),
    "Which university was {s} educated at?": "The univeristy where {s} was educated is {o}.",
    "Which company is {s} produced by?": "The company that produced {s} is {o}.",
    "Where was {s} founded?": "{s} was founded in the city of {o}.",
    "What is {s} famous for?": "{s} is famous for {o}.",
    "What is the capital of {s}?": "The capital of {s} is {o}.",
    "What is the country of citizenship of {s}?": "{s} is a citizen of {o}.",
    "What is the official language of {s}?": "The official language of {s} is {o}.",
    "What is the name of the current head of state in {s}?": (
        "The name of the current head of state in {s} is {o}."
    ),
    "What is the name of the current head of the {s} government?": (
        "The name of the current head of the {s} government is {o}."
    ),
    "What language does {s} speak?": "{s} speaks the language of {o}.",
    "What position does {s} play?": "{s} plays the position of {o}.",
    "What type of music does {s} play?": "The type of music that {s} plays is {o}.",
    "Who founded {s}?": "{s} was founded by {o}.",
    "Who performed {s}?": "{s} was performed by {o}.",
    "Who was {s} created by?": "{s} was created by {o}.",
    "Who is {s} married to?": "{s} is married to {o}.",
    "Who is {s}'s child?": "{s}'s child is {o}.",
    "Who is the author of {s}?": "The author of {s} is {o}.",
    "Who is the chairperson of {s}?": "The chairperson of {s} is {o}.",
    "Who is the chief executive officer of {s}?": "The chief executive officer of {s} is {o}.",
    "Who is the developer of {s}?": "{s} was developed by {o}.",
    "Who is the director of {s}?": "The director of {s} is {o}.",
    "Who is the employer of {s}?": "{s} is employed by {o}.",
    "Who is the head coach of {s}?": "The head coach of {s} is {o}.",
    "Who is the original broadcaster of {s}?": "The origianl broadcaster of {s} is {o}.",
}


class Said(NamedTuple):
    """What a fact says; of a question, ``object`` is empty."""

    relation: str
    subject: str
    object: str


def read_fact(text: str) -> Said | None:
    """Read a fact; None where no form, or more than one reading, fits.

    Examples
    --------
    >>> read_fact("The capital of Japan is Tokyo.")
    Said(relation='The capital of {s} is {o}.', subject='Japan', object='Tokyo')
    >>> read_fact("Tokyo is large.")
    """
    return _only({said for form in FORMS.values() for said in _readings(form, text)})


def read_question(text: str) -> Said | None:
    """Read a question; None where no form, or more than one, fits.

    Examples
    --------
    >>> read_question("What is the capital of Japan?")
    Said(relation='The capital of {s} is {o}.', subject='Japan', object='')
    """
    found = {said for form in FORMS for said in _readings(form, text)}
    return _only({said._replace(relation=FORMS[said.relation]) for said in found})


def _only(found: set[Said]) -> Said | None:
    return found.pop() if len(found) == 1 else None


def _readings(form: str, text: str) -> Iterator[Said]:
    """Every way to fill the form: where its middle stands twice, at the first and at the last."""
    for greedy in (False, True):
        found = _pattern(form, greedy).fullmatch(text)
        if found:
            yield Said(form, found["s"], found.groupdict().get("o", ""))


@cache
def _pattern(form: str, greedy: bool) -> re.Pattern[str]:
    some = ".+" if greedy else ".+?"
    said = re.escape(form).replace(r"\{s\}", f"(?P<s>{some})").replace(r"\{o\}", "(?P<o>.+)")
    return re.compile(said)
