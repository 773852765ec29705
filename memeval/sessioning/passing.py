"""Facts that hold for a few sessions and are then deleted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from memeval.haystack import stream
from memeval.sessioning.drafting import pick
from memeval.sessioning.people import CIRCLE, subject
from memeval.sessioning.topics import PASSING

LONGEST = 4
_FIRST_PLACE = 1000  # behind every record of the session, even in a burst


class Passing(NamedTuple):
    """One of them.

    Attributes
    ----------
    id, text, scope, unit, value : str
        As in `Record` and `Truth`.
    sessions : int
        After how many sessions it is deleted, 1 to 4.
    """

    id: str
    text: str
    scope: str
    unit: str
    value: str
    sessions: int


def passing_facts(
    seed: int,
    number: int,
    personas: Sequence[str],
    scopes_of: Callable[[str], Sequence[str]],
    asked: frozenset[tuple[str, str]],
    prefix: str,
) -> list[Passing]:
    """Facts that a session writes for a while: none, one or two, by its number alone."""
    rng = stream(seed, "passing", str(number))
    found = []
    for place in range(pick(rng, 3)):
        topic, persona = PASSING[pick(rng, len(PASSING))], personas[pick(rng, len(personas))]
        who = subject(persona, pick(rng, CIRCLE))
        value, wording = pick(rng, topic.values.size), pick(rng, len(topic.wordings))
        scopes = scopes_of(persona)
        scope, length = scopes[pick(rng, len(scopes))], 1 + pick(rng, LONGEST)
        if (persona, topic.key) not in asked:
            name = f"{prefix}{number}-{_FIRST_PLACE + place}"
            unit = f"{who}/{topic.key}-{number}"
            text = topic.say(who, value, wording)
            found.append(Passing(name, text, scope, unit, topic.values.say(value), length))
    return found
