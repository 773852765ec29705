"""Live views for notebooks: `explore` looks into a run, `Progress` shows how far a call is.

ipywidgets is imported where a live view is made and nowhere else.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

_HOMES = {
    "Explorer": "memeval.widgets.explorer",
    "Progress": "memeval.widgets.progress",
    "explore": "memeval.widgets.explorer",
}

__all__ = ["Explorer", "Progress", "explore"]

if TYPE_CHECKING:
    from memeval.widgets.explorer import Explorer as Explorer
    from memeval.widgets.explorer import explore as explore
    from memeval.widgets.progress import Progress as Progress


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'memeval.widgets' has no attribute {name!r}; see dir()")


def __dir__() -> list[str]:
    return __all__
