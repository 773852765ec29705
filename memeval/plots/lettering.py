"""Letters of a drawing: names from outside as plain text, in letters that a font here can draw."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from memeval.text import visible

if TYPE_CHECKING:
    from matplotlib.text import Text

# Asked in this order for what the font of the drawing lacks; those that are not there are left out.
FALLBACKS = (
    "Noto Sans CJK JP", "Noto Sans CJK SC", "Noto Sans CJK TC", "Noto Sans CJK KR",
    "Source Han Sans", "WenQuanYi Zen Hei", "Hiragino Sans", "PingFang SC", "Yu Gothic",
    "Microsoft YaHei", "Malgun Gothic", "Noto Sans Thai", "Noto Sans Devanagari", "Noto Emoji",
    "Arial Unicode MS",
)  # fmt: skip
# They choose between two looks of an emoji and have none of their own.
_SELECTORS = "\ufe0e\ufe0f"


def lettered(text: str, limit: int | None = None) -> str:
    r"""Text that can be drawn: what no font here knows stands as its code.

    Parameters
    ----------
    text : str
        Any text.
    limit : int, optional
        Most columns, as in `memeval.text.visible`.

    Returns
    -------
    str
        One line without control characters.

    Examples
    --------
    >>> lettered("caf\xe9 \u202e"), lettered("a long name", 6), lettered("\U000f0000")
    ('café <U+202E>', 'a lon…', '<U+F0000>')
    """
    shown = visible(text)
    if not shown.isascii():
        known = _letters(_families()) | _letters(_fallbacks())
        shown = "".join(_drawn(char, known) for char in shown)
    return visible(shown, limit)


def set_plain(text: Text) -> None:
    """Read no mathematics in a text, and ask further fonts for what its own lacks."""
    text.set_parse_math(False)
    own = _families()
    written = text.get_text()
    if not written.isascii() and not set(map(ord, written)) <= _letters(own):
        text.set_fontfamily([*own, *_fallbacks()])


def _drawn(char: str, known: frozenset[int]) -> str:
    if ord(char) in known:
        return char
    return "" if char in _SELECTORS else f"<U+{ord(char):04X}>"


def _families() -> tuple[str, ...]:
    """Families of the drawing as the user has set them."""
    import matplotlib as mpl

    return tuple(mpl.rcParams["font.family"])


@lru_cache(maxsize=1)
def _fallbacks() -> tuple[str, ...]:
    """Those fallbacks that this machine has."""
    from matplotlib.font_manager import fontManager

    there = {font.name for font in fontManager.ttflist}
    return tuple(name for name in FALLBACKS if name in there)


@lru_cache(maxsize=8)
def _letters(families: tuple[str, ...]) -> frozenset[int]:
    """Characters that any of these families has, upright, bold and slanted."""
    from matplotlib.font_manager import FontProperties, findfont, get_font

    found: set[int] = set()
    for family in families:
        looks = (
            FontProperties(family=[family]),
            FontProperties(family=[family], weight="bold"),
            FontProperties(family=[family], style="italic"),
        )
        found |= set.intersection(*(set(get_font(findfont(look)).get_charmap()) for look in looks))
    return frozenset(found)
