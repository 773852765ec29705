"""Values that a fact may have, each kind numbered so that a number says the value."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod


def _words(listed: str) -> tuple[str, ...]:
    return tuple(listed.split())


def _phrases(listed: str) -> tuple[str, ...]:
    return tuple(" ".join(phrase.split()) for phrase in listed.split(","))


def _numbers(first: int, last: int, width: int = 0) -> tuple[str, ...]:
    return tuple(str(n).zfill(width) for n in range(first, last + 1))


class Values:
    """One kind of value: a pattern with a list for each of its slots.

    Parameters
    ----------
    pattern : str
        With ``{}`` for each slot.
    *parts : sequence of str
        What each slot may hold.

    Examples
    --------
    >>> room = Values("{}{}", ("A", "B"), ("1", "2", "3"))
    >>> room.size, [room.say(n) for n in range(6)]
    (6, ['A1', 'A2', 'A3', 'B1', 'B2', 'B3'])
    """

    def __init__(self, pattern: str, *parts: Sequence[str]) -> None:
        self.pattern = pattern
        self.parts = parts
        self.size = prod(map(len, parts))

    def say(self, n: int) -> str:
        """Write value number `n`, from 0 below `size`."""
        picked: list[str] = []
        for part in reversed(self.parts):
            n, place = divmod(n, len(part))
            picked.append(part[place])
        return self.pattern.format(*reversed(picked))


TOWN_NAMES = _words("""
    Aberdeen Bergen Bilbao Bordeaux Bratislava Cardiff Cork Debrecen Dresden Evora Florence
    Galway Gdansk Geneva Granada Groningen Hamburg Innsbruck Kaunas Kosice Leipzig Linz Lodz
    Lucerne Maribor Nantes Odense Olomouc Parma Plovdiv Rennes Riga Rotterdam Salerno Sibiu
    Split Stavanger Szeged Tallinn Tartu Toulouse Turku Umea Utrecht Varna Verona Vilnius
    Vigo Zagreb Zaragoza
""")
_STREETS = _phrases("""
    Alder Avenue, Barley Close, Beacon Hill, Birch Grove, Canal Walk, Castle Rise, Chandler
    Court, Chestnut Drive, Cobbler Yard, Copper Street, Cross Keys Lane, Dyer Street, Foundry
    Street, Garden Terrace, Gravel Path, Hawthorn Crescent, Heron Way, Holly Bank, Juniper
    Street, Kiln Street, Larch Street, Lock Gate, Maltings Square, Mason Street, Meadow View,
    Myrtle Street, Nettle Lane, Orchard Street, Pilgrim Street, Poplar Walk, Rope Walk, Saddler
    Street, Sexton Street, Spindle Lane, Stable Mews, Thistle Street, Tollgate, Vine Street,
    Wagon Yard, Weaver Street
""")
_LAST = _words("""
    Abara Amsel Barros Bianchi Castell Dahl Dossou Eklund Farkas Fontaine Gallo Hartmann Horvat
    Ibarra Iqbal Jansen Kaya Keller Kowal Lindgren Marchetti Mensah Moreau Nakata Novak Nygaard
    Okafor Oliveira Petrov Quist Rahimi Rivas Sandoval Schiller Sorensen Tanaka Tomasi Ueda
    Varga Wagner Yilmaz Zanetti
""")
_FIRST = _words("""
    Adele Bogdan Camille Dorota Egon Fiona Gaspard Hedvig Imre Joana Konrad Ludmila Matteo
    Nuria Oskar Petra Quentin Ruslan Simone Tomas Ursula Vincent Wiebke Xenia
""")
_FOODS = _words("""
    almonds apricots aubergine barley basil celery cherries chickpeas cinnamon clams coriander
    crab cumin figs garlic ginger kiwi lentils lupin mackerel mango melon mushrooms mussels
    mustard oats papaya peaches pecans pineapple pistachios plums prawns quinoa radish saffron
    sesame soy spinach squid strawberries tomatoes turmeric vanilla walnuts
""")
_DISHES = _phrases("""
    beef goulash, bean chilli, cabbage rolls, chicken tagine, cheese dumplings, corn chowder,
    fish pie, gnocchi, leek quiche, lamb stew, lemon risotto, miso soup, mushroom stroganoff,
    onion tart, paella, pea soup, pierogi, potato curry, pumpkin lasagne, ramen, ratatouille,
    shakshuka, spinach strudel, stuffed peppers, tomato bredie, vegetable korma
""")
_DRINKS = _phrases("""
    black coffee, a cortado, a flat white, an espresso, a double espresso, green tea, mint tea,
    rooibos, a latte, a mocha, chai, hot chocolate, iced coffee, earl grey, lemon water
""")
_DRINK_MANNERS = _phrases("""
    without sugar, with one sugar, with two sugars, with honey, in a small cup, in a large cup,
    with a glass of water, to take away
""")
_PLACES = _phrases("""
    the cellar, the courtyard, the back hall, the garage, the stairwell, the garden shed, the
    covered passage, the car park, the laundry room, the front porch, the storage room, the loft
""")
_MARKS = _phrases("""
    behind the boiler, next to the door, under the window, beside the pram, on the left wall, on
    the right wall, by the drain, on the second hook, in the far corner, near the light switch
""")
_ADJECTIVES = _words("""
    Amber Broken Crooked Distant Empty Faithful Gentle Hidden Hollow Idle Last Narrow Patient
    Quiet Restless Scarlet Silent Silver Slow Sudden Tender Velvet Wandering Wooden
""")
_NOUNS = _words("""
    Almanac Anchor Archive Bridge Cartographer Daughter Estuary Ferryman Gardener Harvest Island
    Journey Lantern Meadow Mirror Orchard Piano River Season Shore Staircase Stranger Tailor
    Winter
""")
_PETS = _words("""
    Biscuit Bonnie Button Caramel Cleo Comet Domino Figaro Ginger Hazel Jazz Juno Kiki Luna Maple
    Mochi Nougat Olive Peanut Pepper Pickle Pixel Poppy Sable Socks Tango Truffle Waffle Willow
    Ziggy
""")
_ANIMALS = _phrases("the cat, the dog, the rabbit, the parrot, the tortoise, the hamster")
_DAYS = _words("Monday Tuesday Wednesday Thursday Friday Saturday Sunday")
_MONTHS = _words("""
    January February March April May June July August September October November December
""")
_COLOURS = _words("""
    ash beige burgundy chalk copper cream emerald fern ivory lilac mint moss mustard navy ochre
    olive peach plum rust sage sand sky slate teal
""")
_SHADES = _words("pale light soft warm deep dark")
_TONGUES = _words("""
    Arabic Basque Catalan Croatian Czech Danish Dutch Estonian Finnish Greek Hebrew Hindi Irish
    Italian Japanese Korean Latvian Maltese Mandarin Persian Polish Portuguese Swahili Swedish
    Turkish Ukrainian Vietnamese Welsh
""")
_SCHOOLS = _phrases("""
    Brook, Castle, Clover, Copse, Dovecote, Fairfield, Greenbank, Hillside, Lark, Mulberry,
    Northgate, Parkside, Ridgeway, Southfield, Westbrook, Woodside
""")
_EATERIES = _words("""
    Lantern Anchor Olive Walnut Pepper Copper Linden Harbour Terrace Garden Station Corner
    Orchard Kettle Saffron Juniper
""")
_EATERY_KINDS = _words("canteen cafe grill diner kitchen bistro")
_LETTERS = tuple("ABCDEFGHJKLMNPRSTUVWXYZ")
_HALVES = ("", " and a half")
_PARTS_OF_HOUR = ("00", "10", "15", "20", "30", "40", "45", "50")

TOWNS = Values("{}", TOWN_NAMES)
ADDRESSES = Values("{} {}", _numbers(1, 180), _STREETS)
PEOPLE = Values("{} {}", _FIRST, _LAST)
DOCTORS = Values("Dr {}-{}", _LAST, _LAST)
PHONES = Values("0{} 555 {}", _numbers(620, 689), _numbers(100, 999))
DATES = Values("{} {}", _numbers(1, 28), _MONTHS)
FOODS = Values("{}", _FOODS)
DISHES = Values("{}", _DISHES)
DRINKS = Values("{} {}", _DRINKS, _DRINK_MANNERS)
PLACES = Values("{} {}", _PLACES, _MARKS)
BOOKS = Values("The {} {}", _ADJECTIVES, _NOUNS)
PETS = Values("{} {}", _ANIMALS, _PETS)
SLOTS = Values("{} at {}:{}", _DAYS, _numbers(8, 20), _PARTS_OF_HOUR)
TIMES = Values("{}:{}", _numbers(5, 22, 2), _numbers(0, 59, 2))
COLOURS = Values("{} {}", _SHADES, _COLOURS)
TONGUES = Values("{}", _TONGUES)
SCHOOLS = Values("{} school, class {}{}", _SCHOOLS, _numbers(1, 9), _LETTERS[:4])
EATERIES = Values("the {} {}", _EATERIES, _EATERY_KINDS)
SIZES = Values("{}{}", _numbers(33, 47), _HALVES)
NUMBERS = Values("{}", _numbers(11, 989))
CODES = Values("{}{}-{}", _LETTERS, _LETTERS, _numbers(1000, 9999))
SPACES = Values("{}{}", _LETTERS, _numbers(1, 240))
DOSES = Values("{} mg", tuple(str(n) for n in range(15, 500, 5)))
SUMS = Values("{} euros", _numbers(12, 690))
