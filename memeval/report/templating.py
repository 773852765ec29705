"""The one place where HTML is made of text.

Escaping is on for every template and cannot be forgotten: what is printed first goes through
`shown`, then through the escaping of Jinja2.
"""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from memeval.text import visible

if TYPE_CHECKING:
    from jinja2 import Environment


def shown(value: Any) -> Any:
    r"""Text without anything that acts or hides; line ends stay, finished HTML stays.

    Examples
    --------
    >>> shown("one\ntwo\x1b\u202e"), shown(3)
    ('one\ntwo␛<U+202E>', 3)
    """
    if not isinstance(value, str) or hasattr(value, "__html__"):
        return value
    return "\n".join(map(visible, value.split("\n")))


@lru_cache(maxsize=1)
def environment() -> Environment:
    """The environment of all templates: escaping on, and a missing name is an error."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    made = Environment(
        loader=PackageLoader("memeval.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=shown,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.filters["thousands"] = _thousands
    made.filters["percent"] = _percent
    return made


def render(template: str, **values: Any) -> str:
    """Fill in a template.

    Parameters
    ----------
    template : str
        File name in ``templates``.
    **values
        What it prints; texts need no care.
    """
    return environment().get_template(template).render(**values)


def resource(name: str) -> str:
    """Text of a style sheet or script of our own."""
    return (files("memeval.report") / "templates" / name).read_text(encoding="utf-8")


def _thousands(n: int) -> str:
    return f"{n:,}"


def _percent(share: float) -> str:
    return f"{100 * share:.2f}%"
