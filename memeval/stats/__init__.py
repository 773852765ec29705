"""Intervals, paired tests and closed forms: arrays in, floats out.

The intervals and quantiles of `memeval.stats.shares` are handed on from here.
"""

from __future__ import annotations

from memeval.stats.shares import Interval as Interval
from memeval.stats.shares import auroc as auroc
from memeval.stats.shares import check_confidence as check_confidence
from memeval.stats.shares import clopper_pearson as clopper_pearson
from memeval.stats.shares import quantile_hf8 as quantile_hf8
from memeval.stats.shares import quantile_interval as quantile_interval
from memeval.stats.shares import wilson as wilson
from memeval.stats.shares import zero_event_bound as zero_event_bound
