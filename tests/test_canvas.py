"""The canvas that every plot is drawn on."""

from __future__ import annotations

from typing import Any

import matplotlib as mpl
import pytest
from matplotlib import pyplot as plt

from memeval.plots.canvas import prepared


def test_what_the_first_figure_switches_on_stays_on(monkeypatch: pytest.MonkeyPatch) -> None:
    made = plt.figure

    def first(*args: Any, **options: Any) -> Any:
        mpl.rcParams["interactive"] = True  # as the backend of a notebook does
        return made(*args, **options)

    monkeypatch.setattr(plt, "figure", first)
    with mpl.rc_context({"interactive": False}):
        with prepared(None, (4, 3)) as ax:
            assert not mpl.rcParams["text.parse_math"]
        assert mpl.is_interactive()
    plt.close(ax.figure)


def test_axes_that_are_given_are_drawn_into() -> None:
    figure, mine = plt.subplots()
    with prepared(mine, (4, 3)) as ax:
        assert ax is mine
    plt.close(figure)
