"""Chit-chat: what is said in passing and states nothing about anyone."""

from __future__ import annotations

from random import Random


def _sentences(listed: str) -> tuple[str, ...]:
    return tuple(" ".join(one.split()) for one in listed.split("|"))


OPENERS = _sentences(
    """
    Good morning!|Hello again.|Well then.|Hm.|Ah, right.|So, so.|Oh well.|Good evening!|Hey there.
    |Back again.|Right, where were we.|Phew.|Ha, funny.|Fair enough.|Oh, nice.|Alright.|Never mind.
    |Sounds good.|Okay, okay.|True.|Well, well.|Good grief.|No worries.|Lovely.|Let me think.|Wow.
    """
)
REMARKS = _sentences(
    """
    What a day.|It is one of those weeks.|Let us not hurry.|That made me laugh.
    |Funny how time flies.|I could do with a nap.|The sky looks like rain, or perhaps not.
    |Small steps, as they say.
    |Some days are just like that.|That went better than feared.|Not much to tell, really.
    |You never know with these things.|I keep yawning.|It could be worse.|That was quite a story.
    |Just thinking aloud here.|This is going nowhere, but pleasantly.|Anyway, that was that.
    |Nothing new under the sun.|I like quiet hours like this one.|There is always something.
    |Thinking makes me hungry.|Let me stretch for a moment.|Such is life.|I am all ears.
    |It feels like the weekend already.|One thing after the other.|Where has the morning gone.
    |I had a good laugh about it.|Words fail me.|That is how it goes.|We will see.
    |I almost forgot what I wanted to say.|It is far too early for this.|Everything in its own time.
    |That sounds like a plan.|I needed that break.|It is nice to chat for a bit.|Time for a song.
    |My thoughts keep wandering.|Do not mind me.|It has been a while.|So much for that.
    """
)
CLOSERS = _sentences(
    """
    Anyway.|Talk soon.|More tomorrow, perhaps.|That is all for now.|Cheers.|Bye for now.|Take care.
    |On we go.|Back to it.|Enough of that.|See you around.|Good night then.|Until later.|Carry on.
    |And so on.|There you go.|Just saying.|All the best.|Have a good one.|Speak later.
    """
)
GERMAN = _sentences(
    """
    Guten Morgen, da bin ich wieder.|Ach ja, so ist das eben.|Na gut, weiter geht es.
    |Das war ein Tag.|Mal sehen, was noch kommt.|Ich muss erst einmal wach werden.
    |Schön, dass wir plaudern.
    |Nun ja, Schwamm drüber.|Es könnte schlimmer sein.|So, genug davon.|Bis später dann.
    |Alles halb so wild.|Da musste ich lachen.|Man weiß ja nie.|Eins nach dem anderen.|Gute Nacht.
    |Heute geht alles langsam.|Wie die Zeit vergeht.|Das lassen wir mal so stehen.|Mach es gut.
    """
)


def _pick(listed: tuple[str, ...], rng: Random) -> str:
    return listed[int(rng.random() * len(listed))]


def small_talk(rng: Random) -> str:
    """Say two or three sentences that nobody needs to remember.

    Examples
    --------
    >>> small_talk(Random(7)).count(".") > 0
    True
    """
    said = f"{_pick(OPENERS, rng)} {_pick(REMARKS, rng)}"
    more = rng.random()
    return f"{said} {_pick(CLOSERS, rng)}" if more < 0.6 else said


def german_small_talk(rng: Random) -> str:
    """Say a German sentence or two that nobody needs to remember."""
    first, second = _pick(GERMAN, rng), _pick(GERMAN, rng)
    return first if first == second else f"{first} {second}"


def ramble(rng: Random, sentences: int) -> str:
    """Say many such sentences in a row."""
    return " ".join(_pick(REMARKS, rng) for _ in range(sentences))
