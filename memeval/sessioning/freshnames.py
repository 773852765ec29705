"""Names that stand in no probe yet, without end, for the copies that cohorts plant."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import chain, count

# Of persons. No two, nor one of these and a persona, begin with the same five letters.
_PERSONS = tuple(
    """
    Abigail Adriano Aisling Akosua Aldous Alphonse Amadou Anneke Antigone Arvid Astrid
    Azadeh Baptiste Barnaby Benedikt Berenice Birgit Branko Brigid Bronagh Caspian
    Cathal Cecily Chiara Clemens Cordelia Cosima Cressida Daphne Declan Desmond Diederik Dionne
    Domenico Drusilla Duncan Ebony Edmund Eileen Eleonora Eluned Emeka Enrique Erasmus Esmond
    Etienne Eugenia Evander Ezekiel Fatou Federico Fergus Filippa Florian Francesca Frideswide
    Fyodor Gaetano Genevieve Geraint Gervase Ginevra Gloria Godfrey Gracie Gudmund Gwendolyn Hakon
    Hamish Haruki Hector Helmut Hermione Hideo Hortense Humphrey Ignatius Ilona Imelda Indira
    Ingmar Iolanthe Isidore Ivana Izabela Jacinta Jarvis Jemima Jesper Jocelyn Joris Jovana Julius
    Kamila Kasimir Kendrick Khadija Kirsten Kosta Krishna Kunigunde Ladislav Lambert Laszlo
    Lavinia Leander Lennart Leopold Lidwina Linnea Lothar Lucinda Ludovic Lysander Madeleine
    Malachi Manfred Marguerite Matilda Maxence Melchior Mihail Mordecai Morwenna
    Muriel Myfanwy Nanami Natasha Nehemiah Nerys Nicanor Nikolai Nokuthula Norbert Obadiah Odysseus
    Oleander Olympia Ophelia Orlando Osvaldo Padraig Pandora Parveen Patience Penelope Percival
    Philemon Phoebe Primrose Prudence Quirin Rafaela Rainer Ramona Rebekah
    Reuben Rhiannon Ricarda Roderick Rolando Rosalind Rowena Rupert Sadako Sakura Samantha Sanjay
    Saskia Seamus Selma Seraphina Severin Shauna Sigmund Silvana Sinead Siobhan Soraya Spencer
    Stanislav Stellan Sunniva Svetlana Tamsin Tancred Tatiana Temperance Terence Thandeka Theobald
    Thomasina Tiberius Timothea Torvald Tristan Tsubasa Tyrone Ulrike Undine Urban Valerius
    Vasilisa Verity Victoria Vladimir Walburga Wenceslas Wilfred Wolfram Xanthe Xavier Yehuda
    Yevgenia Yngvild Zdravko Zenobia Zinnia Zoltan
    """.split()
)
# Of things: words for what is not a person.
_THINGS = tuple(
    """
    anvil abacus acorn apron armoire astrolabe awning bagpipe bannister barometer
    bassoon birdcage bobbin boomerang brazier bugle bureau buttress
    caliper candelabra canister carafe carousel cashbox cauldron chalice chandelier
    chimes chisel cistern clarinet clasp conveyor corkscrew crate crowbar cymbal decanter
    derrick dovecot drawbridge dredger dulcimer dynamo easel epaulette fiddle
    flagpole flask flute footstool forklift funnel gallery gauntlet gazebo girder gondola
    gramophone hammock harness harpsichord hinge hourglass
    hydrant icebox incubator inkwell jukebox kaleidoscope kennel kettledrum lathe
    lectern loom lute magnet mandolin marquee metronome mosaic
    nozzle oboe obelisk organ paddle parasol pavilion pedestal pendulum periscope pergola
    piccolo pinwheel plinth podium pulley quiver raft rapier recliner retort rosette rudder
    saddle samovar satchel sawmill scabbard scaffold sextant silo skylight sledge spinet
    stencil sundial tambourine tapestry thimble thresher toboggan trapeze trellis
    tripod trombone trowel turbine turnstile turret typewriter ukulele vestibule viaduct
    viola wagonette windlass winch xylophone zeppelin zither
    """.split()
)
_FIRST_HALVES = tuple(
    "ba be bo da do fa fe ga go ka ke ko la lo ma mo na no pa ra ro sa so ta to va vo za".split()
)
_SECOND_HALVES = tuple("bri dol fen gat kul lim mur nex pid rov sul tam vek wol zin".split())


def _invented() -> Iterator[str]:
    """Words that mean nothing: when the lists are used up."""
    for turn in count():
        for second in _SECOND_HALVES:
            for first in _FIRST_HALVES:
                yield f"{first}{second}{'' if turn == 0 else _spelled(turn)}"


def _spelled(n: int) -> str:
    digits = []
    while n:
        n, digit = divmod(n, len(_FIRST_HALVES))
        digits.append(_FIRST_HALVES[digit])
    return "".join(reversed(digits))


def fresh_words(of_person: bool, taken: Collection[str]) -> Iterator[str]:
    """Words that are not taken, each once, without end.

    Parameters
    ----------
    of_person : bool
        Names of persons, with a capital letter; else words for things.
    taken : collection of str
        Case-folded words that may not come.

    Examples
    --------
    >>> words = fresh_words(True, {"abigail"})
    >>> next(words), next(words)
    ('Adriano', 'Aisling')
    >>> next(fresh_words(False, ()))
    'anvil'
    """
    listed = _PERSONS if of_person else _THINGS
    for word in chain(listed, _invented()):
        if word.casefold() not in taken:
            yield word[0].upper() + word[1:] if of_person else word
