"""What a drawing takes: a table, or the run that it is of, unless its numbers are withheld."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pandas as pd

from memeval.errors import FrameError
from memeval.text import visible

if TYPE_CHECKING:
    from memeval.runs import Run


def table_of(given: Any, plot: str, of: Callable[[Run], pd.DataFrame]) -> pd.DataFrame:
    """Frame that was given, or the table of the run that was given.

    Parameters
    ----------
    given : Run or pandas.DataFrame
        What is drawn.
    plot : str
        Name of the plot, for messages.
    of : callable
        Gives the table of a run.

    Raises
    ------
    FrameError
        If it is neither, or a run of an invalid suite, whose numbers may not be drawn.
    """
    from memeval.runs import Run

    if isinstance(given, pd.DataFrame):
        return given
    if not isinstance(given, Run):
        raise FrameError(
            f"found {type(given).__name__}, wanted a Run or its frame; draw "
            f"memeval.plots.{plot}(memeval.run(...))"
        )
    refuse_withheld(given, "run")
    return of(given)


def refuse_withheld(judged: Any, what: str) -> None:
    """Refuse what says of itself that none of its numbers may be believed.

    Raises
    ------
    FrameError
        If its verdict is INVALID.
    """
    verdict = judged.verdict
    if verdict.word == "INVALID":
        raise FrameError(
            f"found a {what} that is INVALID ({visible(verdict.reason)}), so no number of it may "
            f"be drawn; {visible(verdict.next_step) or 'mend the suite first'}"
        )
