"""Seeded sessions: what a store that is in use for months gets to hold, with the truth of it.

A session is a pure function of the seed, its number and the state before it, so the first n
sessions do not depend on how many there will be. Any iterable of `Session`, or a callable that
gives one for a number of sessions, may stand in place of the `Generator`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import cached_property
from random import Random
from statistics import NormalDist
from typing import Any

from memeval.cohorts import COHORTS, plant
from memeval.hashes import digest
from memeval.haystack import foreign_scopes, stream
from memeval.probe import Probe
from memeval.record import Delete, Meta, Op, Record
from memeval.sessioning.answers import Answers, asked_of, echoes_of, words_of
from memeval.sessioning.conversations import sessions_of_transcript as sessions_of_transcript
from memeval.sessioning.drafting import RECENT, Draft, Drafter, Memory, gap, pick
from memeval.sessioning.fitting import homes_of, metas_of, persons_of, prefix_of
from memeval.sessioning.model import KINDS as KINDS
from memeval.sessioning.model import Session, State, Truth
from memeval.sessioning.noise import lengthened, with_typo
from memeval.sessioning.passing import Passing, passing_facts
from memeval.sessioning.people import PERSONAS
from memeval.sessioning.sources import SessionSource as SessionSource
from memeval.sessioning.sources import sessions_from as sessions_from
from memeval.sessioning.sources import sessions_jsonl as sessions_jsonl
from memeval.sessioning.sources import told_now
from memeval.sessioning.sources import truth_of as truth_of

GENERATOR_VERSION = 1
START = datetime(2026, 1, 5, 8, tzinfo=UTC)
TYPOS, LONG_TEXTS, SECOND_LANGUAGE = 0.1, 0.05, 0.15
BURSTS, BURST_SIZE = 0.04, 8
_MOST_TRIES = 1000


@dataclass(frozen=True)
class Generator:
    """Sessions of a store in use: personas and what becomes of them.

    Attributes
    ----------
    seed : int
        Same seed and options: same sessions, byte for byte.
    scopes : tuple of str
        Where records go; a scope that stands twice gets twice as many.
    names : tuple of str
        Further personas, such as those of probes.
    probes : tuple of Probe
        Nothing that is written answers one of these. A record about a named person is taken as no
        answer to a question that names nobody.
    other_scopes : tuple of str
        Foreign scopes.
    homes : mapping of str to tuple of str
        Scopes for the records about a persona, in place of `scopes`.
    metas : mapping of str to tuple of mapping
        Metadata of the records of a scope; one of these is drawn for each.
    deletes : bool
        Also write facts that are deleted one to four sessions later. No other record changes.
    long_texts, typos, second_language : bool
        Change the texts of a twentieth, a tenth, and up to about a seventh (German) of the
        records. Ids, scopes, times and truths stay, and each leaves the draws of the others alone.
    bursts : bool
        One session in 25 has eight times as many records. Sessions after it change.
    mean, sd : float
        Records in a session: normal, rounded, at least 1.
    start : datetime
        When the first session begins, time zone aware.
    prefix : str
        How ids begin.

    Raises
    ------
    ValueError
        If there is no scope, a foreign scope is among `scopes`, `mean` is below 1, `sd` is
        negative or `start` has no zone.

    Notes
    -----
    Of 100 records 35 are chit-chat, 35 new (a quarter of these the next event of a storyline, and
    with probes that have `names` 15 % a near miss), 10 the current value in other words, 10
    updates with ``supersedes``, 5 updates that the store is not told of, and 5 a known fact with
    another value in a foreign scope. Topics are drawn by Zipf with exponent 1.1, personas by 0.8.

    Examples
    --------
    >>> first, second = Generator(seed=7).sessions(2)
    >>> first.number, len(first.records) == len(first.truths)
    (0, True)
    >>> [first, second] == list(Generator(seed=7).sessions(40))[:2]
    True
    """

    seed: int = 7
    scopes: Sequence[str] = ("default",)
    names: Sequence[str] = ()
    probes: Sequence[Probe] = ()
    other_scopes: Sequence[str] = ("elsewhere",)
    homes: Mapping[str, Sequence[str]] = field(default_factory=dict, hash=False)
    metas: Mapping[str, Sequence[Meta]] = field(default_factory=dict, hash=False)
    deletes: bool = False
    long_texts: bool = False
    typos: bool = False
    second_language: bool = False
    bursts: bool = False
    mean: float = 20.0
    sd: float = 6.0
    start: datetime = START
    prefix: str = "s"

    def __post_init__(self) -> None:
        for name in ("scopes", "names", "probes", "other_scopes"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        own = {*self.scopes, *(scope for scopes in self.homes.values() for scope in scopes)}
        shared = sorted(own.intersection(self.other_scopes))
        if not self.scopes or not self.other_scopes:
            raise ValueError("scopes or other_scopes is empty; name at least one of each")
        if shared:
            raise ValueError(f"{shared[0]!r} is both in scopes and in other_scopes; choose another")
        if not (self.mean >= 1 and self.sd >= 0):
            raise ValueError(
                f"mean is {self.mean} and sd {self.sd}, wanted at least 1 and at least 0"
            )
        if self.start.tzinfo is None:
            raise ValueError(f"start is {self.start}, without a time zone; add tzinfo=UTC")

    def sessions(self, n: int) -> Iterator[Session]:
        """Generate the first `n` sessions."""
        state = self.state()
        for number in range(n):
            session, state = self.session(number, state)
            yield session

    def state(self) -> State:
        """What is remembered before the first session: nothing."""
        return State(self.start)

    def session(self, number: int, state: State) -> tuple[Session, State]:
        """Generate one session.

        Parameters
        ----------
        number : int
            From 0.
        state : State
            After the session before it.

        Returns
        -------
        tuple of (Session, State)
            The session, and the state after it.
        """
        rng = stream(self.seed, "session", str(number))
        memory, at = Memory.of(state), state.at
        if number:
            at += gap(rng)
        began, written = at, []
        for n in range(self._size(rng, number)):
            at += timedelta(seconds=20 + pick(rng, 240))
            draft = self._draft(rng, memory)
            name = f"{self.prefix}{number}-{n}"
            if draft.remember is not None:
                draft.remember(name)
            written.append((name, at, draft))
        ops, truths = self._finished(number, written)
        ops, truths = self._with_passing(number, at, ops, truths)
        after = State(at, tuple(memory.told[-RECENT:]), memory.counts, memory.threads)
        return Session(number, began, ops, told_now(truths)), after

    @property
    def settings(self) -> dict[str, Any]:
        """Version, seed and options as plain values, for a manifest; probes by their hash."""
        options = ("deletes", "long_texts", "typos", "second_language", "bursts")
        said = {name: getattr(self, name) for name in (*options, "seed", "mean", "sd", "prefix")}
        homes = {name: list(scopes) for name, scopes in self.homes.items()}
        metas = {scope: [dict(meta) for meta in metas] for scope, metas in self.metas.items()}
        hashes = [probe.content_hash for probe in self.probes]
        world = digest([self.scopes, self.other_scopes, self._people, homes, metas, hashes])
        return {"version": GENERATOR_VERSION, "start": self.start.isoformat(), **said,
                "world": world}  # fmt: skip

    def _draft(self, rng: Random, memory: Memory) -> Draft:
        """The next record; what would answer a probe becomes chit-chat that does not."""
        draft = self._drafter.draft(rng, memory)
        scope = draft.scope
        for _ in range(_MOST_TRIES):
            if draft.text not in self._answers:
                return replace(draft, scope=scope) if draft.scope != scope else draft
            draft = self._drafter.chat(rng)
        raise ValueError(
            f"{_MOST_TRIES} texts in a row would answer a probe; expect longer texts, or take "
            "canaries that are no everyday words"
        )

    def _size(self, rng: Random, number: int) -> int:
        normal = NormalDist().inv_cdf(min(max(rng.random(), 1e-12), 1 - 1e-12))
        n = max(1, round(self.mean + self.sd * normal))
        burst = self.bursts and stream(self.seed, "bursts", str(number)).random() < BURSTS
        return n * BURST_SIZE if burst else n

    @cached_property
    def _people(self) -> tuple[str, ...]:
        """Personas by rank: the own ones and the further ones by turns."""
        further = [name for name in dict.fromkeys(self.names) if name not in PERSONAS]
        mixed = [name for pair in zip(PERSONAS, further, strict=False) for name in pair]
        met = min(len(PERSONAS), len(further))
        return (*mixed, *PERSONAS[met:], *further[met:])

    @cached_property
    def _drafter(self) -> Drafter:
        said = words_of(self.probes).union(name.casefold() for name in self.names)
        strangers = tuple(name for name in PERSONAS if name.casefold() not in said)
        return Drafter(
            self._people,
            self._scopes_of,
            tuple(self.other_scopes),
            asked_of(self.probes, self._people),
            strangers,
            echoes_of(self.probes),
        )

    def _scopes_of(self, persona: str) -> Sequence[str]:
        return self.homes.get(persona) or self.scopes

    @cached_property
    def _answers(self) -> Answers:
        return Answers(self.probes)

    def _finished(
        self, number: int, written: Iterable[tuple[str, datetime, Draft]]
    ) -> tuple[tuple[Op, ...], tuple[Truth, ...]]:
        """Records and truths of drafts, with the noise that is asked for."""
        streams = {
            name: stream(self.seed, name, str(number))
            for name in ("second_language", "long_texts", "typos", "metas")
        }
        records, truths = [], []
        for name, at, draft in written:
            text = self._noisy(draft, streams)
            if text != draft.text and text in self._answers:
                text = draft.text
            metas = self.metas.get(draft.scope, ())
            meta = dict(metas[pick(streams["metas"], len(metas))]) if metas else {}
            records.append(
                Record(name, text, draft.scope, at, draft.unit, draft.supersedes, None, meta)
            )
            truths.append(
                Truth(name, draft.kind, draft.unit, draft.value, draft.supersedes,
                      draft.contradicts, draft.follows)
            )  # fmt: skip
        return tuple(records), tuple(truths)

    def _noisy(self, draft: Draft, streams: Mapping[str, Random]) -> str:
        text = draft.text
        drawn = {name: streams[name].random() for name in streams if name != "metas"}
        if self.second_language and drawn["second_language"] < SECOND_LANGUAGE:
            text = draft.german or text
        if self.long_texts and drawn["long_texts"] < LONG_TEXTS:
            text = lengthened(text, Random(drawn["long_texts"]))
        if self.typos and drawn["typos"] < TYPOS:
            text = with_typo(text, Random(drawn["typos"]))
        return text

    def _with_passing(
        self, number: int, at: datetime, ops: tuple[Op, ...], truths: tuple[Truth, ...]
    ) -> tuple[tuple[Op, ...], tuple[Truth, ...]]:
        """Facts for a while, after all others, and the end of earlier ones."""
        if not self.deletes:
            return ops, truths
        facts = [fact for fact in self._passing(number) if fact.text not in self._answers]
        records = tuple(Record(fact.id, fact.text, fact.scope, at, fact.unit) for fact in facts)
        ended = tuple(
            Delete(fact.id)
            for earlier in range(max(0, number - 4), number)
            for fact in self._passing(earlier)
            if earlier + fact.sessions == number and fact.text not in self._answers
        )
        new = tuple(Truth(fact.id, "passing", fact.unit, fact.value) for fact in facts)
        return (*ops, *records, *ended), (*truths, *new)

    def _passing(self, number: int) -> list[Passing]:
        drafter = self._drafter
        return passing_facts(
            self.seed, number, self._people, drafter.scopes_of, drafter.asked, self.prefix
        )


def generator_for(
    probes: Sequence[Probe], seed: int = 7, *, cohorts: int = COHORTS, **options: Any
) -> Generator:
    """Sessions that crowd the scopes of some probes, and answer none of them.

    Parameters
    ----------
    probes : sequence of Probe
        A suite, or the probes that are planted.
    seed : int
        As in `Generator`.
    cohorts : int
        How many cohorts will be planted: their names are personas as well, so that each cohort
        is crowded by records of its own names, and no record answers any copy.
    **options
        Further fields of `Generator`, which win over what the probes say.

    Returns
    -------
    Generator
        Records go to the scopes of the probes, a scope as often as it is asked, and carry the
        metadata that its probes filter on, four times of five. Foreign scopes are named by no
        probe, one of them for each scope with a name that it is a prefix of.

    Raises
    ------
    ValueError
        If an option is out of range.
    TypeError
        If `Generator` has no such option.

    Examples
    --------
    >>> told = [Record("r1", "Priya works in Porto.", "team")]
    >>> probe = Probe("office", "Where does Priya work?", told, ["r1"], scope="team")
    >>> generator = generator_for([probe], deletes=True)
    >>> generator.scopes, generator.other_scopes
    (('team',), ('team2', 'elsewhere'))
    """
    copies = [copy for cohort in range(cohorts) for copy in plant(probes, cohort)]
    scopes = tuple(probe.scope for probe in probes) or ("default",)
    pairs = [foreign_scopes(probes, scope) for scope in dict.fromkeys(scopes)]
    said: dict[str, Any] = {
        "scopes": scopes,
        "names": persons_of(copies),
        "probes": tuple(copies),
        "other_scopes": tuple(dict.fromkeys(scope for pair in pairs for scope in pair)),
        "homes": homes_of(copies),
        "metas": metas_of(probes),
        "prefix": prefix_of(copies),
    }
    return Generator(seed=seed, **{**said, **options})
