"""What is written to a store that is checked: everyday records, hostile scopes, odd texts."""

from __future__ import annotations

from memeval.record import Record

HOME = "ana"
TEXTS = (
    "Lunch is at the noodle bar on Quay Street.",
    "The blue van is parked behind the warehouse.",
    "My favourite tea is lapsang.",
    "The rowing club meets on Thursday evening.",
    "The landlord raised the rent in March.",
    "Passwords are rotated every ninety days.",
    "Grandmother bakes with plums and cinnamon.",
    "Our flight to Lisbon leaves before sunrise.",
)
QUESTIONS = ("where do we eat", "a hot drink", "sport in the evening", "what does the flat cost")
SCOPES = (
    "ana", "an", "ANA", "ana.b", "ana/b", "*", "%", "_", "o'x", 'o"x', "мая", "ana ", "a\nb", "",
)  # fmt: skip
ODD_TEXTS = (
    "Tea\twith <b>milk</b> & 2 % sugar, {{x}} \u2615 is served at noon.",
    "First the kettle is filled;\nthen the second line follows.",
    "He said 'yes'; she said \"no\"; DROP TABLE records; -- and left.",
    "  Blanks stand before and behind this sentence.  ",
    "Kavárna Žižkov, 木箱, кофе: all of them are open.",
)
ODD_QUERIES = (
    "", " \t", "?!", "\u2615\u2615", "tea " * 2500, "' OR 1=1; --", "'; DROP TABLE records; --",
    '"tea" AND (NEAR', "tea* OR -", "{{tea}} {tea}", "a\x00b", "half \ud800 of it", "<b>tea</b>",
    "*", "%",
)  # fmt: skip


def library(scope: str = HOME) -> list[Record]:
    """Give a few records that have next to no word in common.

    Examples
    --------
    >>> len(library()), library()[2].id
    (8, 'r2')
    """
    return [Record(f"r{n}", text, scope) for n, text in enumerate(TEXTS)]
