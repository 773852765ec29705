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
    "BaseStore": "memeval.stores.base",
    "Capabilities": "memeval.stores.base",
    "Consolidate": "memeval.record",
    "Advance": "memeval.record",
    "Controls": "memeval.controls",
    "Delete": "memeval.record",
    "Diagnosis": "memeval.diagnosis",
    "Fault": "memeval.errors",
    "FrameError": "memeval.errors",
    "Hit": "memeval.record",
    "IncomparableRunsError": "memeval.errors",
    "Manifest": "memeval.runs",
    "MemevalError": "memeval.errors",
    "NullStore": "memeval.stores.broken",
    "OracleStore": "memeval.stores.broken",
    "Probe": "memeval.probe",
    "ProbeError": "memeval.errors",
    "ProbeResult": "memeval.spec",
    "RandomStore": "memeval.stores.broken",
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
    "append_probe": "memeval.adding",
    "best_floor": "memeval.curves",
    "candidates": "memeval.mining",
    "diagnose": "memeval.diagnosis",
    "evaluate": "memeval.spec",
    "lexical_overlap": "memeval.breakdown",
    "load": "memeval.loading",
    "load_run": "memeval.runfiles",
    "plan": "memeval.runner",
    "recall_curve": "memeval.curves",
    "resolve": "memeval.stores.base",
    "run": "memeval.runner",
    "run_controls": "memeval.controls",
    "save_run": "memeval.runfiles",
    "score": "memeval.metrics",
    "score_rankings": "memeval.rankings",
    "summarize": "memeval.summary",
    "summarize_by_tag": "memeval.breakdown",
    "threshold_curve": "memeval.curves",
    "write_report": "memeval.report",
    "write_results": "memeval.runfiles",
}
_ROOMS = frozenset({"datasets", "frames", "plots", "spec"})

__all__ = sorted([*_HOMES, *_ROOMS, "__version__"])

if TYPE_CHECKING:
    from memeval import datasets as datasets
    from memeval import frames as frames
    from memeval import plots as plots
    from memeval import spec as spec
    from memeval.adding import append_probe as append_probe
    from memeval.breakdown import lexical_overlap as lexical_overlap
    from memeval.breakdown import summarize_by_tag as summarize_by_tag
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
    from memeval.loading import load as load
    from memeval.metrics import score as score
    from memeval.mining import candidates as candidates
    from memeval.probe import Probe as Probe
    from memeval.rankings import score_rankings as score_rankings
    from memeval.record import Advance as Advance
    from memeval.record import Consolidate as Consolidate
    from memeval.record import Delete as Delete
    from memeval.record import Hit as Hit
    from memeval.record import Receipt as Receipt
    from memeval.record import Record as Record
    from memeval.report import write_report as write_report
    from memeval.runfiles import load_run as load_run
    from memeval.runfiles import save_run as save_run
    from memeval.runfiles import write_results as write_results
    from memeval.runner import plan as plan
    from memeval.runner import run as run
    from memeval.runs import Manifest as Manifest
    from memeval.runs import Run as Run
    from memeval.runs import Validity as Validity
    from memeval.runs import Verdict as Verdict
    from memeval.spec import ProbeResult as ProbeResult
    from memeval.spec import Summary as Summary
    from memeval.spec import evaluate as evaluate
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
