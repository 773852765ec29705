"""Published data sets as suites, read from where they lie; none of them ships with memeval."""

from __future__ import annotations

from memeval.datasets.factconsolidation import (
    FactConsolidation,
    load_factconsolidation,
    read_factconsolidation,
)

__all__ = ["FactConsolidation", "load_factconsolidation", "read_factconsolidation"]
