"""Drawing, one axes at a time: each function draws into an axes and returns it.

Nothing here shows or saves a figure or changes a global style. No text is read as mathematics, and
colour never stands alone: a word or a shape says the same. `describe` tells any of them in words;
a figure that is made here carries these words into the notebook, as the alt text of an export.
`tear_sheet` is one page of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memeval.plots.calls import plot_calls as plot_calls
from memeval.plots.canvas import ASIDE as ASIDE
from memeval.plots.canvas import BROKEN as BROKEN
from memeval.plots.canvas import KEPT as KEPT
from memeval.plots.comparison import plot_changes as plot_changes
from memeval.plots.comparison import plot_comparison as plot_comparison
from memeval.plots.controls import plot_controls as plot_controls
from memeval.plots.curves import plot_recall_curve as plot_recall_curve
from memeval.plots.curves import plot_threshold_curve as plot_threshold_curve
from memeval.plots.drift import plot_drift as plot_drift
from memeval.plots.drift import plot_retention as plot_retention
from memeval.plots.growth import plot_latency_growth as plot_latency_growth
from memeval.plots.growth import plot_store_size as plot_store_size
from memeval.plots.history import plot_history as plot_history
from memeval.plots.hits import plot_hits as plot_hits
from memeval.plots.kills import plot_kills as plot_kills
from memeval.plots.results import plot_causes as plot_causes
from memeval.plots.results import plot_results as plot_results
from memeval.plots.scopes import plot_scopes as plot_scopes
from memeval.plots.sheet import tear_sheet as tear_sheet
from memeval.plots.slopes import plot_slopes as plot_slopes
from memeval.plots.summary import plot_summary as plot_summary
from memeval.plots.survey import plot_survey as plot_survey
from memeval.plots.survival import plot_survival as plot_survival
from memeval.plots.tags import plot_tags as plot_tags

if TYPE_CHECKING:
    from memeval.plots.described import describe as describe

__all__ = [
    "ASIDE",
    "BROKEN",
    "KEPT",
    "describe",
    "plot_calls",
    "plot_causes",
    "plot_changes",
    "plot_comparison",
    "plot_controls",
    "plot_drift",
    "plot_history",
    "plot_hits",
    "plot_kills",
    "plot_latency_growth",
    "plot_recall_curve",
    "plot_results",
    "plot_retention",
    "plot_scopes",
    "plot_slopes",
    "plot_store_size",
    "plot_summary",
    "plot_survey",
    "plot_survival",
    "plot_tags",
    "plot_threshold_curve",
    "tear_sheet",
]


def __getattr__(name: str) -> Any:
    # Its module needs matplotlib, which an import of this one does not.
    if name == "describe":
        from memeval.plots.described import describe

        return describe
    raise AttributeError(
        f"module 'memeval.plots' has no attribute {name!r}; see memeval.plots.__all__"
    )
