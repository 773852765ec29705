"""HTML of cells, made harmless: what is not known to be harmless is taken out.

The markup of a notebook is made by whoever wrote its cells, often from texts of others. What is
left of it here can be read, and can do nothing: no script, no frame, no form, nothing that loads,
and no style that reaches beyond its own cell. The policy of the page is the second line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from memeval.report.exporting.aligning import align_numbers
from memeval.text import visible

TAGS = frozenset(
    "a abbr article aside b bdi bdo blockquote br caption cite code col colgroup dd del details "
    "dfn div dl dt em figcaption figure footer h1 h2 h3 h4 h5 h6 header hr i img ins kbd li main "
    "mark meter nav ol p pre progress q rp rt ruby s samp section small span strong sub summary "
    "sup table tbody td tfoot th thead time tr u ul var wbr "
    "svg g path line rect circle ellipse polyline polygon text tspan title desc "
    "defs clippath clipPath lineargradient linearGradient stop".split()
)
_ATTRIBUTES = frozenset(
    "abbr alt cite class colspan datetime dir headers height hidden high id lang low max min name "
    "open optimum reversed role rowspan scope span start style tabindex title type value width "
    "align valign "
    "clip-path clip-rule cx cy d dominant-baseline dx dy fill fill-opacity fill-rule font-size "
    "font-weight fy gradientTransform gradientUnits offset opacity pathLength points "
    "preserveAspectRatio r rotate rx ry shape-rendering stop-color stop-opacity stroke "
    "stroke-dasharray stroke-linecap stroke-linejoin stroke-opacity stroke-width text-anchor "
    "textLength transform vector-effect viewBox x x1 x2 xmlns y y1 y2".split()
)
_LINK = re.compile(r"(https?:|mailto:|#)", re.IGNORECASE)
_IMAGE = re.compile(r"data:image/(png|jpeg|gif|webp|svg\+xml);base64,", re.IGNORECASE)
# Their content is no text for readers, or names what a file cannot do. What a style sheet says is
# kept apart, see `sheet`.
_UNREAD = re.compile(
    r"<(script|style|template|iframe|object|noscript|noembed|noframes|textarea|select|button"
    r"|head)\b",
    re.IGNORECASE,
)
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")
_LOADS = re.compile(r"url|image-set|expression|src|element|@import", re.IGNORECASE)
# What a style may speak of: nothing that draws or moves an element beyond its own box.
_STAYS = re.compile(
    r"color|background(-\w+)*|border(-(?!image)\w+)*|padding(-\w+)*|margin(-\w+)*|font(-\w+)*|opacity"
    r"|text-(align|align-last|anchor|decoration(-\w+)*|overflow|transform|wrap)|line-height"
    r"|white-space(-collapse)?|word-(break|wrap)|overflow(-x|-y|-wrap)?|hyphens|tab-size"
    r"|(min-|max-)?(width|height|inline-size|block-size)|aspect-ratio|box-sizing|display|visibility"
    r"|flex(-\w+)*|(align|justify|place)-(content|items|self)|(row-|column-)?gap|order"
    r"|grid(-\w+)*|columns|column-(count|width|fill|span|rule(-\w+)?)|vertical-align"
    r"|list-style(-\w+)*|table-layout|caption-side|empty-cells|cursor|direction|unicode-bidi"
    r"|writing-mode|break-(after|before|inside)|fill(-\w+)*|stroke(-\w+)*|stop-(color|opacity)"
    r"|user-select|dominant-baseline|shape-rendering|vector-effect"
)
# A margin below zero lays a box over its neighbours; what a function gives is not known.
_BELOW = re.compile(r"-[\d.]|\(")
_STYLER = re.compile(r"#T_[\w-]+(?: |$)")


def clean_html(markup: str) -> str:
    """Take everything out of markup that acts, loads or reaches beyond its place.

    Parameters
    ----------
    markup : str
        Any text that a browser would take for HTML.

    Returns
    -------
    str
        Whole elements of a list of harmless ones, with harmless attributes; the words of others
        stay, those of scripts and style sheets go. An image that is not in the markup itself gives
        way to its description, a link that is none to another page or to this one is text.

    Examples
    --------
    >>> clean_html("<p onclick='f()'>one<script>f()</script> <b>two</b><img src=//x alt=cat>")
    '<p>one <b>two</b><em>[image: cat]</em></p>'
    """
    from bleach.sanitizer import Cleaner  # type: ignore[import-untyped]

    cleaner = Cleaner(
        tags=TAGS,
        attributes=_harmless,
        protocols={"http", "https", "mailto", "data"},
        strip=True,
        css_sanitizer=_Inline(),
    )
    cleaned: str = cleaner.clean("".join(_read(_plain(markup))))
    return align_numbers(_IMG.sub(_described, cleaned))


def sheet(markup: str) -> str:
    """Rules of the style sheets in markup that are about the cells of a pandas Styler alone.

    Returns
    -------
    str
        CSS that loads nothing and ends no element; empty where there is none.

    Examples
    --------
    >>> sheet("<style>#T_a_row0_col1 {color: red} body {color: blue}</style>")
    '#T_a_row0_col1 {color: red}'
    """
    import tinycss2  # type: ignore[import-untyped]

    kept = []
    for text in _unread(markup, "style"):
        for rule in tinycss2.parse_stylesheet(text, skip_comments=True, skip_whitespace=True):
            if rule.type != "qualified-rule":
                continue
            names = tinycss2.serialize(rule.prelude).strip()
            said = _declarations(tinycss2.serialize(rule.content))
            if said and all(_STYLER.match(name.strip()) for name in names.split(",")):
                kept.append(f"{names} {{{said}}}")
    return "\n".join(rule for rule in kept if "<" not in rule)


class _Inline:
    """Cleans the style of one element, as bleach asks for it."""

    def sanitize_css(self, style: str) -> str:
        return _declarations(style)


def _declarations(style: str) -> str:
    """The declarations of a style that stay in their place and load nothing."""
    import tinycss2

    kept = []
    for found in tinycss2.parse_declaration_list(style, skip_comments=True, skip_whitespace=True):
        if found.type != "declaration" or not _STAYS.fullmatch(found.lower_name):
            continue
        if any(part.type == "error" for part in found.value):
            continue
        value = tinycss2.serialize(found.value).strip()
        if found.lower_name.startswith("margin") and _BELOW.search(value):
            continue
        if not _LOADS.search(value) and "\\" not in value:
            kept.append(f"{found.name}: {value}{' !important' if found.important else ''}")
    return "; ".join(kept)


def _harmless(tag: str, name: str, value: str) -> bool:
    if name == "href":
        return tag == "a" and _LINK.match(value.strip()) is not None
    if name == "src":
        return tag == "img" and _IMAGE.match(value.strip()) is not None
    if name.startswith(("aria-", "data-")):
        return True
    # a value that refers to something outside of itself, such as the fill of a path
    return name in _ATTRIBUTES and (name == "style" or "url(" not in value.lower())


_IMG = re.compile(r"""<img((?: [\w:-]+(?:=(?:"[^"]*"|'[^']*'))?)*)>""")
_NAMED = re.compile(r""" ([\w:-]+)=(?:"([^"]*)"|'([^']*)')""")


def _described(found: re.Match[str]) -> str:
    """An image that is in the markup; in place of any other, what it would show."""
    named = {name: double or single for name, double, single in _NAMED.findall(found[1])}
    if "src" in named:
        return found[0]
    return f"<em>[image: {named['alt']}]</em>" if named.get("alt") else "<em>[image]</em>"


def _plain(markup: str) -> str:
    return _CONTROL.sub(lambda found: visible(found[0]), markup)


def _read(markup: str) -> Iterator[str]:
    """The pieces of markup between elements whose content is not read."""
    at = 0
    for start, end, _ in _elements(markup):
        yield markup[at:start]
        at = end
    yield markup[at:]


def _unread(markup: str, name: str) -> Iterator[str]:
    """What stands in the elements of a name, whose content is not read."""
    for start, end, found in _elements(markup):
        if found == name:
            yield markup[start:end].partition(">")[2].rpartition("</")[0]


def _elements(markup: str) -> Iterator[tuple[int, int, str]]:
    """Start, end and name of each element that is not read; one pass, whatever the markup."""
    at, endless = 0, set()
    for found in _UNREAD.finditer(markup):
        name = found[1].lower()
        if found.start() < at or name in endless:
            continue
        end = re.compile(rf"</{name}\s*>", re.IGNORECASE).search(markup, found.end())
        if end is None:
            endless.add(name)
            continue
        at = end.end()
        yield found.start(), at, name
