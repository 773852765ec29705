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
    "Calls": "memeval.calls",
    "Capabilities": "memeval.stores.base",
    "Comparability": "memeval.comparing.comparability",
    "Comparison": "memeval.comparison",
    "Consolidate": "memeval.record",
    "ConstantStore": "memeval.stores.broken",
    "Controls": "memeval.controls",
    "Delete": "memeval.record",
    "Diagnosis": "memeval.diagnosis",
    "Fault": "memeval.errors",
    "FrameError": "memeval.errors",
    "Gap": "memeval.gap",
    "HistoryWarning": "memeval.timeline",
    "Hit": "memeval.record",
    "HybridStore": "memeval.stores.hybrid",
    "IncomparableRunsError": "memeval.errors",
    "Manifest": "memeval.runs",
    "MemevalError": "memeval.errors",
    "Mutation": "memeval.mutation",
    "NewestStore": "memeval.stores.broken",
    "NotebookError": "memeval.errors",
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
    "Relations": "memeval.relations",
    "RequestError": "memeval.errors",
    "Run": "memeval.runs",
    "RunFileError": "memeval.errors",
    "SABOTEURS": "memeval.stores.saboteurs",
    "Saboteur": "memeval.stores.saboteurs",
    "Shrunk": "memeval.shrinking",
    "ShuffledStore": "memeval.stores.broken",
    "Simulation": "memeval.simulation",
    "SqliteStore": "memeval.stores.sqlite",
    "Store": "memeval.stores.base",
    "StoreCheck": "memeval.storecheck",
    "StoreError": "memeval.errors",
    "Suite": "memeval.suite",
    "Summary": "memeval.spec",
    "Survey": "memeval.surveying",
    "Validity": "memeval.runs",
    "VectorStore": "memeval.stores.vector",
    "Verdict": "memeval.runs",
    "WeakSuiteWarning": "memeval.errors",
    "Wear": "memeval.ledger",
    "accept": "memeval.baseline",
    "append_look": "memeval.ledger",
    "append_probe": "memeval.adding",
    "as_outcomes": "memeval.outcomes",
    "bca_mean": "memeval.stats.bootstrap",
    "best_floor": "memeval.curves",
    "candidates": "memeval.mining",
    "check_regression": "memeval.regression",
    "check_relations": "memeval.relations",
    "check_store": "memeval.storecheck",
    "compare": "memeval.comparison",
    "compare_manifests": "memeval.comparing.comparability",
    "confirm": "memeval.confirming",
    "coverage_matrix": "memeval.coverage",
    "diagnose": "memeval.diagnosis",
    "evaluate": "memeval.spec",
    "evaluate_request": "memeval.evaluation",
    "export_notebook": "memeval.report.exporting.export",
    "from_functions": "memeval.stores.callables",
    "history": "memeval.timeline",
    "holdout_gap": "memeval.gap",
    "kept_runs": "memeval.files.keptruns",
    "lexical_overlap": "memeval.breakdown",
    "load": "memeval.loading",
    "load_looks": "memeval.ledger",
    "load_recording": "memeval.recordings",
    "load_run": "memeval.files.runfiles",
    "load_simulation": "memeval.simulation",
    "looks": "memeval.timeline",
    "mutate": "memeval.mutation",
    "outcomes_of": "memeval.outcomes",
    "outcomes_of_rankings": "memeval.comparing.ranked",
    "plan": "memeval.runner",
    "rank_expected": "memeval.rankings",
    "read_outcomes": "memeval.outcomes",
    "recall_curve": "memeval.curves",
    "requests_of": "memeval.calls",
    "rescore": "memeval.rescoring",
    "resolve": "memeval.stores.base",
    "run": "memeval.runner",
    "run_controls": "memeval.controls",
    "run_of_answers": "memeval.calls",
    "run_simulation": "memeval.simulate",
    "save_run": "memeval.files.runfiles",
    "save_simulation": "memeval.simulation",
    "scope_coverage": "memeval.coverage",
    "score": "memeval.metrics",
    "score_rankings": "memeval.rankings",
    "shrink": "memeval.shrinking",
    "summarize": "memeval.summary",
    "summarize_by_tag": "memeval.breakdown",
    "summarize_parquet": "memeval.parquet",
    "survey": "memeval.surveying",
    "threshold_curve": "memeval.curves",
    "wear": "memeval.ledger",
    "write_parquet": "memeval.parquet",
    "write_probes": "memeval.datasets.probeswritten",
    "write_report": "memeval.report",
    "write_results": "memeval.files.resultsfile",
}
_ROOMS = frozenset(
    {"datasets", "drift", "embedders", "frames", "plots", "server", "sessions", "spec", "widgets"}
)

__all__ = sorted([*_HOMES, *_ROOMS, "__version__"])

if TYPE_CHECKING:
    from memeval import datasets as datasets
    from memeval import drift as drift
    from memeval import embedders as embedders
    from memeval import frames as frames
    from memeval import plots as plots
    from memeval import server as server
    from memeval import sessions as sessions
    from memeval import spec as spec
    from memeval import widgets as widgets
    from memeval.adding import append_probe as append_probe
    from memeval.baseline import accept as accept
    from memeval.breakdown import lexical_overlap as lexical_overlap
    from memeval.breakdown import summarize_by_tag as summarize_by_tag
    from memeval.calls import Calls as Calls
    from memeval.calls import requests_of as requests_of
    from memeval.calls import run_of_answers as run_of_answers
    from memeval.comparing.comparability import Comparability as Comparability
    from memeval.comparing.comparability import compare_manifests as compare_manifests
    from memeval.comparing.ranked import outcomes_of_rankings as outcomes_of_rankings
    from memeval.comparison import Comparison as Comparison
    from memeval.comparison import compare as compare
    from memeval.confirming import confirm as confirm
    from memeval.controls import Controls as Controls
    from memeval.controls import run_controls as run_controls
    from memeval.coverage import coverage_matrix as coverage_matrix
    from memeval.coverage import scope_coverage as scope_coverage
    from memeval.curves import best_floor as best_floor
    from memeval.curves import recall_curve as recall_curve
    from memeval.curves import threshold_curve as threshold_curve
    from memeval.datasets.probeswritten import write_probes as write_probes
    from memeval.diagnosis import Diagnosis as Diagnosis
    from memeval.diagnosis import diagnose as diagnose
    from memeval.errors import Fault as Fault
    from memeval.errors import FrameError as FrameError
    from memeval.errors import IncomparableRunsError as IncomparableRunsError
    from memeval.errors import MemevalError as MemevalError
    from memeval.errors import NotebookError as NotebookError
    from memeval.errors import ProbeError as ProbeError
    from memeval.errors import RequestError as RequestError
    from memeval.errors import RunFileError as RunFileError
    from memeval.errors import StoreError as StoreError
    from memeval.errors import WeakSuiteWarning as WeakSuiteWarning
    from memeval.evaluation import evaluate_request as evaluate_request
    from memeval.files.keptruns import kept_runs as kept_runs
    from memeval.files.resultsfile import write_results as write_results
    from memeval.files.runfiles import load_run as load_run
    from memeval.files.runfiles import save_run as save_run
    from memeval.gap import Gap as Gap
    from memeval.gap import holdout_gap as holdout_gap
    from memeval.ledger import Wear as Wear
    from memeval.ledger import append_look as append_look
    from memeval.ledger import load_looks as load_looks
    from memeval.ledger import wear as wear
    from memeval.loading import load as load
    from memeval.metrics import score as score
    from memeval.mining import candidates as candidates
    from memeval.mutation import Mutation as Mutation
    from memeval.mutation import mutate as mutate
    from memeval.outcomes import Outcomes as Outcomes
    from memeval.outcomes import as_outcomes as as_outcomes
    from memeval.outcomes import outcomes_of as outcomes_of
    from memeval.outcomes import read_outcomes as read_outcomes
    from memeval.parquet import summarize_parquet as summarize_parquet
    from memeval.parquet import write_parquet as write_parquet
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
    from memeval.recordings import load_recording as load_recording
    from memeval.regression import check_regression as check_regression
    from memeval.relations import Relations as Relations
    from memeval.relations import check_relations as check_relations
    from memeval.report import write_report as write_report
    from memeval.report.exporting.export import export_notebook as export_notebook
    from memeval.rescoring import rescore as rescore
    from memeval.runner import plan as plan
    from memeval.runner import run as run
    from memeval.runs import Manifest as Manifest
    from memeval.runs import Run as Run
    from memeval.runs import Validity as Validity
    from memeval.runs import Verdict as Verdict
    from memeval.shrinking import Shrunk as Shrunk
    from memeval.shrinking import shrink as shrink
    from memeval.simulate import run_simulation as run_simulation
    from memeval.simulation import Simulation as Simulation
    from memeval.simulation import load_simulation as load_simulation
    from memeval.simulation import save_simulation as save_simulation
    from memeval.spec import ProbeResult as ProbeResult
    from memeval.spec import Summary as Summary
    from memeval.spec import evaluate as evaluate
    from memeval.stats.bootstrap import bca_mean as bca_mean
    from memeval.storecheck import StoreCheck as StoreCheck
    from memeval.storecheck import check_store as check_store
    from memeval.stores.base import BaseStore as BaseStore
    from memeval.stores.base import Capabilities as Capabilities
    from memeval.stores.base import Store as Store
    from memeval.stores.base import resolve as resolve
    from memeval.stores.broken import ConstantStore as ConstantStore
    from memeval.stores.broken import NewestStore as NewestStore
    from memeval.stores.broken import NullStore as NullStore
    from memeval.stores.broken import OracleStore as OracleStore
    from memeval.stores.broken import RandomStore as RandomStore
    from memeval.stores.broken import ShuffledStore as ShuffledStore
    from memeval.stores.callables import from_functions as from_functions
    from memeval.stores.hybrid import HybridStore as HybridStore
    from memeval.stores.saboteurs import SABOTEURS as SABOTEURS
    from memeval.stores.saboteurs import Saboteur as Saboteur
    from memeval.stores.sqlite import SqliteStore as SqliteStore
    from memeval.stores.vector import VectorStore as VectorStore
    from memeval.suite import Suite as Suite
    from memeval.summary import summarize as summarize
    from memeval.surveying import Survey as Survey
    from memeval.surveying import survey as survey
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
