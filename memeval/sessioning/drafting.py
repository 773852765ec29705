"""One record to be: what it says, what is true of it, and what is remembered of it."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import accumulate
from random import Random

from memeval.sessioning.model import Kind, State, Thread, Told
from memeval.sessioning.people import CIRCLE, subject
from memeval.sessioning.smalltalk import german_small_talk, small_talk
from memeval.sessioning.stories import STORIES
from memeval.sessioning.topics import TOPICS, UPDATE_LEADS
from memeval.sessioning.values import Values

RECENT = 400
TOPIC_ZIPF = 1.1
PERSONA_ZIPF = 0.8
# Of 100 records; what cannot be done yet, having nothing to refer to, becomes a fact.
SHARES: dict[Kind, int] = {
    "chat": 35, "fact": 35, "duplicate": 10, "update": 10, "contradiction": 5, "other_scope": 5,
}  # fmt: skip
# Parts of what is new.
EVENTS, NEAR_MISSES = 0.25, 0.15
LONG_GAPS = 0.05


@dataclass(frozen=True, slots=True)
class Draft:
    """A record to be.

    Attributes
    ----------
    kind, unit, value, scope : str
        As in `Truth` and `Record`.
    text, german : str
        What it says; German is empty where it says it in English only.
    supersedes, contradicts : tuple of str
        Ids of earlier records.
    follows : str or None
        Id of the event before it.
    remember : callable
        Puts it into the memory under the id that it gets.
    """

    kind: Kind
    text: str
    scope: str
    german: str = ""
    unit: str | None = None
    value: str = ""
    supersedes: tuple[str, ...] = ()
    contradicts: tuple[str, ...] = ()
    follows: str | None = None
    remember: Callable[[str], None] | None = None


@dataclass(slots=True)
class Memory:
    """A state that is being written on."""

    told: list[Told]
    counts: dict[str, int]
    threads: dict[str, Thread]

    @classmethod
    def of(cls, state: State) -> Memory:
        """Copy a state."""
        return cls(list(state.told), dict(state.counts), dict(state.threads))


def pick(rng: Random, n: int) -> int:
    """Draw a whole number from 0 below `n`; only `Random.random` is the same for ever."""
    return int(rng.random() * n)


def zipf(n: int, exponent: float) -> list[float]:
    """Running sums of rank to the power of minus `exponent`, for ranks 1 to `n`.

    Examples
    --------
    >>> zipf(3, 1.0)
    [1.0, 1.5, 1.8333333333333333]
    """
    return list(accumulate(rank**-exponent for rank in range(1, n + 1)))


def draw(rng: Random, sums: Sequence[float]) -> int:
    """Draw a place by running sums of weights."""
    return min(bisect(sums, rng.random() * sums[-1]), len(sums) - 1)


def gap(rng: Random) -> timedelta:
    """Time between sessions: hours to days, now and then weeks."""
    long, length = rng.random() < LONG_GAPS, rng.random()
    return timedelta(minutes=int(14_400 + 43_200 * length if long else 300 + 4200 * length))


def _other(rng: Random, values: Values, value: int) -> int:
    """Another value."""
    return (value + 1 + pick(rng, values.size - 1)) % values.size


@dataclass(frozen=True)
class Drafter:
    """Draws drafts.

    Attributes
    ----------
    personas : tuple of str
        In the order of their Zipf ranks.
    scopes_of : callable
        Scopes for a persona.
    others : tuple of str
        Foreign scopes.
    asked : frozenset of (str, str)
        Pairs of persona and topic that are never told of.
    strangers : tuple of str
        Personas that no probe names.
    echoes : tuple of (str, str)
        Scope and text of near misses, with a slot for a stranger.
    """

    personas: tuple[str, ...]
    scopes_of: Callable[[str], Sequence[str]]
    others: tuple[str, ...]
    asked: frozenset[tuple[str, str]]
    strangers: tuple[str, ...]
    echoes: tuple[tuple[str, str], ...]
    topic_sums: list[float] = field(default_factory=lambda: zipf(len(TOPICS), TOPIC_ZIPF))
    persona_sums: list[float] = field(init=False)
    kind_sums: list[int] = field(default_factory=lambda: list(accumulate(SHARES.values())))

    def __post_init__(self) -> None:
        object.__setattr__(self, "persona_sums", zipf(len(self.personas), PERSONA_ZIPF))

    def draft(self, rng: Random, memory: Memory) -> Draft:
        """Draw the next record."""
        kind = tuple(SHARES)[draw(rng, self.kind_sums)]
        if kind == "chat":
            return self.chat(rng)
        if kind != "fact" and memory.told:
            return self._again(rng, memory, kind)
        part = rng.random()
        if part < EVENTS:
            return self._event(rng, memory)
        if part < EVENTS + NEAR_MISSES and self.echoes and self.strangers:
            return self._near_miss(rng, memory)
        return self._fact(rng, memory)

    def chat(self, rng: Random) -> Draft:
        """Draw chit-chat."""
        persona = self.personas[draw(rng, self.persona_sums)]
        text = small_talk(rng)
        # A stream of its own, so that a second language takes nothing from this one.
        german = german_small_talk(Random(text))
        return Draft("chat", text, self._scope(rng, persona), german)

    def _scope(self, rng: Random, persona: str) -> str:
        scopes = self.scopes_of(persona)
        return scopes[pick(rng, len(scopes))]

    def _fact(self, rng: Random, memory: Memory) -> Draft:
        persona = self.personas[draw(rng, self.persona_sums)]
        first = draw(rng, self.topic_sums)
        n = len(TOPICS)
        places = ((first + step) % n for step in range(n))
        topic = next((place for place in places if self._is_free(memory, persona, place)), None)
        if topic is None:
            return self.chat(rng)
        counted = f"{TOPICS[topic].key}/{persona}"
        circle = memory.counts.get(counted, 0)
        value, wording = pick(rng, TOPICS[topic].values.size), pick(rng, 3)
        told = Told(topic, persona, circle, self._scope(rng, persona), value, wording, ())

        def remember(name: str) -> None:
            memory.counts[counted] = circle + 1
            memory.told.append(told._replace(ids=(name,)))

        return self._saying("fact", told, remember)

    def _is_free(self, memory: Memory, persona: str, topic: int) -> bool:
        key = TOPICS[topic].key
        if (persona, key) in self.asked:
            return False
        return memory.counts.get(f"{key}/{persona}", 0) < CIRCLE

    def _again(self, rng: Random, memory: Memory, kind: Kind) -> Draft:
        """A record about a fact that was told before."""
        place = pick(rng, len(memory.told))
        told = memory.told[place]
        topic = TOPICS[told.topic]
        n = len(topic.wordings)
        new = told._replace(wording=(told.wording + 1 + pick(rng, n - 1)) % n)
        if kind != "duplicate":
            new = new._replace(value=_other(rng, topic.values, told.value))
        if kind == "other_scope":
            scope = self.others[pick(rng, len(self.others))]
            return self._saying(kind, new._replace(scope=scope), None)
        lead = UPDATE_LEADS[pick(rng, len(UPDATE_LEADS))] if kind == "update" else ""

        def remember(name: str) -> None:
            kept = told.ids if kind == "duplicate" else ()
            memory.told[place] = new._replace(ids=(*kept, name))

        return self._saying(kind, new, remember, told.ids, lead)

    def _saying(
        self,
        kind: Kind,
        told: Told,
        remember: Callable[[str], None] | None,
        before: tuple[str, ...] = (),
        lead: str = "",
    ) -> Draft:
        topic, who = TOPICS[told.topic], subject(told.persona, told.circle)
        unit = f"{who}/{topic.key}"
        return Draft(
            kind,
            lead + topic.say(who, told.value, told.wording),
            told.scope,
            topic.say(who, told.value, told.wording, german=True) if topic.german else "",
            f"{unit} in {told.scope}" if kind == "other_scope" else unit,
            topic.values.say(told.value),
            before if kind == "update" else (),
            before if kind == "contradiction" else (),
            remember=remember,
        )

    def _event(self, rng: Random, memory: Memory) -> Draft:
        """The next step of a storyline, or the first of a new one."""
        persona = self.personas[draw(rng, self.persona_sums)]
        thread = memory.threads.get(persona)
        begins, wording = pick(rng, len(STORIES)), pick(rng, 2)
        if thread is None or thread.step == len(STORIES[thread.story].steps):
            n = len(STORIES)
            open_to = [s for s in range(n) if (persona, STORIES[s].key) not in self.asked]
            if not open_to:
                return self.chat(rng)
            story = open_to[begins % len(open_to)]
            value = pick(rng, STORIES[story].values.size)
            rounds = 1 if thread is None else thread.round + 1
            thread = Thread(story, rounds, 0, self._scope(rng, persona), value, "")
        story_, now = STORIES[thread.story], thread

        def remember(name: str) -> None:
            memory.threads[persona] = now._replace(step=now.step + 1, last=name)

        return Draft(
            "event",
            story_.say(persona, now.value, now.step, wording),
            now.scope,
            unit=f"{persona}/{story_.key}-{now.round}-{now.step + 1}",
            value=story_.values.say(now.value),
            follows=now.last or None,
            remember=remember,
        )

    def _near_miss(self, rng: Random, memory: Memory) -> Draft:
        """What a probe expects, said of a stranger; each stranger once."""
        place = pick(rng, len(self.echoes))
        scope, text = self.echoes[place]
        counted = f"near/{place}"
        n = memory.counts.get(counted, 0)
        circle, who = divmod(n + place * 7, len(self.strangers))
        whom = subject(self.strangers[who], circle % CIRCLE)

        def remember(_: str) -> None:
            memory.counts[counted] = n + 1

        return Draft(
            "near_miss", text.format(who=whom), scope, unit=f"{whom}/near-{place}",
            remember=remember,
        )  # fmt: skip
