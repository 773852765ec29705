"""Drawing, one axes at a time: each function draws into an axes and returns it.

Nothing here shows or saves a figure or changes a global style. No text is read as mathematics, and
colour never stands alone: a word or a shape says the same.
"""

from __future__ import annotations

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
from memeval.plots.kills import plot_kills as plot_kills
from memeval.plots.survival import plot_survival as plot_survival
from memeval.plots.tags import plot_tags as plot_tags
