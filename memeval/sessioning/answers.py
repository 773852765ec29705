"""What a generated record may not say, because it would answer a probe."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from memeval.neardup import NearDuplicateKey, near_duplicate_key
from memeval.probe import Probe
from memeval.record import Record
from memeval.sessioning.stories import STORIES
from memeval.sessioning.topics import PASSING, TOPICS
from memeval.text import contains_tokens, normalise, tokens

_WORD = re.compile(r"[^\W_]+")
_STEM = 5


class Answers:
    """Texts that are no growth: they say an expected text, or carry a canary.

    Parameters
    ----------
    probes : iterable of Probe
        What is asked.

    Examples
    --------
    >>> probe = Probe("key", "Who has the key?", [Record("r1", "Bo has the key.")], ["r1"])
    >>> told = Answers([probe])
    >>> "Hm. The key: Bo has the key, you know" in told, "Ida has the key." in told
    (True, False)
    """

    def __init__(self, probes: Iterable[Probe] = ()) -> None:
        asked = list(probes)
        canaries = dict.fromkeys(token for probe in asked for token in probe.canary)
        self._canaries = [(token, "".join(tokens(token)[:1])) for token in canaries]
        texts = dict.fromkeys(text for probe in asked for text in expected_texts(probe))
        self._by_word = _by_rarest_word(near_duplicate_key(text) for text in texts)

    def __contains__(self, text: str) -> bool:
        normal = normalise(text)
        if any(word in normal and contains_tokens(text, token) for token, word in self._canaries):
            return True
        if not self._by_word:
            return False
        # A key is dear to work out, and few texts have all the words of one.
        words = {word[:_STEM] for word in _WORD.findall(normal)}
        likely = [
            key
            for word in self._by_word.keys() & words
            for key, needed in self._by_word[word]
            if needed <= words
        ]
        return bool(likely) and _says(near_duplicate_key(text).stems, likely)


def _by_rarest_word(
    keys: Iterable[NearDuplicateKey],
) -> dict[str, list[tuple[NearDuplicateKey, frozenset[str]]]]:
    """Each key with its words, under that of its words which the fewest keys have."""
    needed = {key: frozenset(w[:_STEM] for w in key.stems if _WORD.fullmatch(w)) for key in keys}
    often = Counter(word for words in needed.values() for word in words)
    found: dict[str, list[tuple[NearDuplicateKey, frozenset[str]]]] = {}
    for key, words in needed.items():
        if words:
            found.setdefault(min(words, key=lambda w: (often[w], w)), []).append((key, words))
    return found


def _says(stems: Sequence[str], likely: Iterable[NearDuplicateKey]) -> bool:
    """Whether the stems of an expected text stand among these in a row."""
    for key in likely:
        wanted = key.stems
        for start in range(len(stems) - len(wanted) + 1):
            if tuple(stems[start : start + len(wanted)]) == wanted:
                return True
    return False


def asked_of(probes: Iterable[Probe], personas: Iterable[str]) -> frozenset[tuple[str, str]]:
    """Pairs of persona and topic that the probes ask for.

    Parameters
    ----------
    probes : iterable of Probe
        What is asked.
    personas : iterable of str
        Whom records may be about.

    Returns
    -------
    frozenset of (str, str)
        A pair for each persona that the query or an expected record names, and each topic or
        story whose cue begins a word there.

    Examples
    --------
    >>> sorted(asked_of([Probe("p", "Which office does Priya use?")], ["Priya", "Magnus"]))
    [('Priya', 'job'), ('Priya', 'office')]
    """
    found: set[tuple[str, str]] = set()
    named = tuple(personas)
    first = {name: _WORD.findall(normalise(name)) for name in named}
    cues = [(about.key, about.cues) for about in (*TOPICS, *PASSING, *STORIES)]
    for probe in probes:
        said = " \n ".join([probe.query, *expected_texts(probe)])
        words = frozenset(_WORD.findall(normalise(said)))
        keys = {key for key, begins in cues if any(w.startswith(begins) for w in words)}
        for name in named:
            if words.issuperset(first[name]):
                found.update((name, key) for key in keys)
    return frozenset(found)


def expected_texts(probe: Probe) -> list[str]:
    """Texts of the records that a probe expects."""
    records = probe.state.by_id
    return [records[name].text for group in probe.groups for name in group]


def words_of(probes: Iterable[Probe]) -> frozenset[str]:
    """Words that stand anywhere in some probes, case-folded; a shared history is read once."""
    asked = list(probes)
    states = {id(probe.state): probe.state for probe in asked}
    told = (op for state in states.values() for op in state if isinstance(op, Record))
    texts = {text for probe in asked for text in (probe.query, *probe.near, *probe.canary)}
    texts.update(name for probe in asked for name in probe.names)
    texts.update(text for record in told for text in (record.text, record.unit or ""))
    return frozenset(word for text in texts for word in _WORD.findall(text.casefold()))


def echoes_of(probes: Iterable[Probe]) -> tuple[tuple[str, str], ...]:
    """What probes expect, with a slot in place of the name that they ask for.

    Parameters
    ----------
    probes : iterable of Probe
        What is asked.

    Returns
    -------
    tuple of (str, str)
        Scope and a text with ``{who}``, for each expected record that names whom the query names;
        about anyone else it is a near miss. Words that are no names of persons are left alone.
    """
    found: dict[tuple[str, str], None] = {}
    for probe in probes:
        for name in probe.names:
            whole = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
            if not name[:1].isupper() or not whole.search(probe.query):
                continue
            for text in expected_texts(probe):
                if whole.search(text):
                    plain = text.replace("{", "{{").replace("}", "}}")
                    found[probe.scope, whole.sub("{who}", plain)] = None
    return tuple(found)
