"""Measures whether an agent's memory brings back what it must, and never what it must not.

>>> import memeval as me
>>> suite = me.load()                       # the shipped probes
>>> controls = me.run_controls(suite, "sqlite")
>>> controls.validity.status
'valid'
>>> controls.real.leaks
0

Names are handed on at first use, so that the import itself stays light.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

_HOMES = {
    "Advance": "memeval.record",
    "BaseStore": "memeval.stores.base",
    "Capabilities": "memeval.stores.base",
    "Comparability": "memeval.comparing.comparability",
    "Comparison": "memeval.comparison",
    "Consolidate": "memeval.record",
    "Controls": "memeval.controls",
    "Delete": "memeval.record",
    "Diagnosis": "memeval.diagnosis",
    "Fault": "memeval.errors",
    "FrameError": "memeval.errors",
    "HistoryWarning": "memeval.timeline",
    "Hit": "memeval.record",
    "IncomparableRunsError": "memeval.errors",
    "Manifest": "memeval.runs",
    "MemevalError": "memeval.errors",
    "NullStore": "memeval.stores.broken",
    "OracleStore": "memeval.stores.broken",
    "Outcomes": "memeval.outcomes",
    "Probe": "memeval.probe",
    "ProbeError": "memeval.errors",
    "ProbeResult": "memeval.spec",
    "RandomStore": "memeval.stores.broken",
    "Ranks": "memeval.ranks",
    "Receipt": "memeval.record",
    "Record": "memeval.record",
    "Run": "memeval.runs",
    "RunFileError": "memeval.errors",
    "ShuffledStore": "memeval.stores.broken",
    "SqliteStore": "memeval.stores.sqlite",
    "Store": "memeval.stores.base",
    "StoreError": "memeval.errors",
    "Suite": "memeval.suite",
    "Summary": "memeval.spec",
    "Validity": "memeval.runs",
    "Verdict": "memeval.runs",
    "WeakSuiteWarning": "memeval.errors",
    "accept": "memeval.baseline",
    "append_probe": "memeval.adding",
    "as_outcomes": "memeval.outcomes",
    "bca_mean": "memeval.stats.bootstrap",
    "best_floor": "memeval.curves",
    "candidates": "memeval.mining",
    "check_regression": "memeval.regression",
    "compare": "memeval.comparison",
    "compare_manifests": "memeval.comparing.comparability",
    "confirm": "memeval.confirming",
    "diagnose": "memeval.diagnosis",
    "evaluate": "memeval.spec",
    "history": "memeval.timeline",
    "kept_runs": "memeval.files.keptruns",
    "lexical_overlap": "memeval.breakdown",
    "load": "memeval.loading",
    "load_run": "memeval.files.runfiles",
    "looks": "memeval.timeline",
    "outcomes_of": "memeval.outcomes",
    "outcomes_of_rankings": "memeval.comparing.ranked",
    "plan": "memeval.runner",
    "rank_expected": "memeval.rankings",
    "read_outcomes": "memeval.outcomes",
    "recall_curve": "memeval.curves",
    "resolve": "memeval.stores.base",
    "run": "memeval.runner",
    "run_controls": "memeval.controls",
    "save_run": "memeval.files.runfiles",
    "score": "memeval.metrics",
    "score_rankings": "memeval.rankings",
    "summarize": "memeval.summary",
    "summarize_by_tag": "memeval.breakdown",
    "threshold_curve": "memeval.curves",
    "write_report": "memeval.report",
    "write_results": "memeval.files.resultsfile",
}
_ROOMS = frozenset({"datasets", "frames", "plots", "spec"})

__all__ = sorted([*_HOMES, *_ROOMS, "__version__"])

if TYPE_CHECKING:
    from memeval import datasets as datasets
    from memeval import frames as frames
    from memeval import plots as plots
    from memeval import spec as spec
    from memeval.adding import append_probe as append_probe
    from memeval.baseline import accept as accept
    from memeval.breakdown import lexical_overlap as lexical_overlap
    from memeval.breakdown import summarize_by_tag as summarize_by_tag
    from memeval.comparing.comparability import Comparability as Comparability
    from memeval.comparing.comparability import compare_manifests as compare_manifests
    from memeval.comparing.ranked import outcomes_of_rankings as outcomes_of_rankings
    from memeval.comparison import Comparison as Comparison
    from memeval.comparison import compare as compare
    from memeval.confirming import confirm as confirm
    from memeval.controls import Controls as Controls
    from memeval.controls import run_controls as run_controls
    from memeval.curves import best_floor as best_floor
    from memeval.curves import recall_curve as recall_curve
    from memeval.curves import threshold_curve as threshold_curve
    from memeval.diagnosis import Diagnosis as Diagnosis
    from memeval.diagnosis import diagnose as diagnose
    from memeval.errors import Fault as Fault
    from memeval.errors import FrameError as FrameError
    from memeval.errors import IncomparableRunsError as IncomparableRunsError
    from memeval.errors import MemevalError as MemevalError
    from memeval.errors import ProbeError as ProbeError
    from memeval.errors import RunFileError as RunFileError
    from memeval.errors import StoreError as StoreError
    from memeval.errors import WeakSuiteWarning as WeakSuiteWarning
    from memeval.files.keptruns import kept_runs as kept_runs
    from memeval.files.resultsfile import write_results as write_results
    from memeval.files.runfiles import load_run as load_run
    from memeval.files.runfiles import save_run as save_run
    from memeval.loading import load as load
    from memeval.metrics import score as score
    from memeval.mining import candidates as candidates
    from memeval.outcomes import Outcomes as Outcomes
    from memeval.outcomes import as_outcomes as as_outcomes
    from memeval.outcomes import outcomes_of as outcomes_of
    from memeval.outcomes import read_outcomes as read_outcomes
    from memeval.probe import Probe as Probe
    from memeval.rankings import rank_expected as rank_expected
    from memeval.rankings import score_rankings as score_rankings
    from memeval.ranks import Ranks as Ranks
    from memeval.record import Advance as Advance
    from memeval.record import Consolidate as Consolidate
    from memeval.record import Delete as Delete
    from memeval.record import Hit as Hit
    from memeval.record import Receipt as Receipt
    from memeval.record import Record as Record
    from memeval.regression import check_regression as check_regression
    from memeval.report import write_report as write_report
    from memeval.runner import plan as plan
    from memeval.runner import run as run
    from memeval.runs import Manifest as Manifest
    from memeval.runs import Run as Run
    from memeval.runs import Validity as Validity
    from memeval.runs import Verdict as Verdict
    from memeval.spec import ProbeResult as ProbeResult
    from memeval.spec import Summary as Summary
    from memeval.spec import evaluate as evaluate
    from memeval.stats.bootstrap import bca_mean as bca_mean
    from memeval.stores.base import BaseStore as BaseStore
    from memeval.stores.base import Capabilities as Capabilities
    from memeval.stores.base import Store as Store
    from memeval.stores.base import resolve as resolve
    from memeval.stores.broken import NullStore as NullStore
    from memeval.stores.broken import OracleStore as OracleStore
    from memeval.stores.broken import RandomStore as RandomStore
    from memeval.stores.broken import ShuffledStore as ShuffledStore
    from memeval.stores.sqlite import SqliteStore as SqliteStore
    from memeval.suite import Suite as Suite
    from memeval.summary import summarize as summarize
    from memeval.timeline import HistoryWarning as HistoryWarning
    from memeval.timeline import history as history
    from memeval.timeline import looks as looks


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from memeval.environment import tool_version

        return tool_version()
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    if name in _ROOMS:
        return import_module(f"memeval.{name}")
    raise AttributeError(f"module 'memeval' has no attribute {name!r}; see dir(memeval)")


def __dir__() -> list[str]:
    return __all__
