"""What a live view needs: ipywidgets, and a kernel that someone looks at."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from memeval.errors import MemevalError

NEEDED = "For the live view: pip install 'memeval-toolkit[notebook]'"


def installed() -> bool:
    """Whether ipywidgets can be imported."""
    return find_spec("ipywidgets") is not None


def ipywidgets() -> Any:
    """The module ipywidgets.

    Raises
    ------
    MemevalError
        If it is not installed.
    """
    try:
        return import_module("ipywidgets")
    except ImportError as error:
        raise MemevalError(
            "found no ipywidgets, wanted it for the live view; pip install "
            "'memeval-toolkit[notebook]', or use the static view, which needs nothing"
        ) from error


def in_kernel() -> bool:
    """Whether this runs in a kernel of a notebook, and not in a terminal."""
    loaded = sys.modules.get("IPython")
    shell = None if loaded is None else loaded.get_ipython()
    return getattr(shell, "kernel", None) is not None
