"""Published data sets as suites, read from where they lie; none of them ships with memeval.

A ``read_`` function returns a frozen object: the suite, and tables of what was wrong with the files
(``faults``), which questions are no probe (``left_out``), and which probes expect more than the
cutoff asked for (``raised``). `read_trec` and `read_longmemeval_rankings` read what another system
returned, for `memeval.rankings.score_rankings`.
"""

from __future__ import annotations

from memeval.datasets.beir import Retrieval, read_beir
from memeval.datasets.dicts import Dicts, read_dicts, to_dicts
from memeval.datasets.factconsolidation import (
    FactConsolidation,
    load_factconsolidation,
    read_factconsolidation,
)
from memeval.datasets.lmerankings import LongMemEvalRankings, read_longmemeval_rankings
from memeval.datasets.locomo import LoCoMo, read_locomo
from memeval.datasets.longmemeval import LongMemEval, read_longmemeval
from memeval.datasets.madial import read_madial
from memeval.datasets.mem0dump import Mem0Memories, read_mem0
from memeval.datasets.trec import Trec, read_trec, read_trec_qrels, read_trec_run

__all__ = [
    "Dicts",
    "FactConsolidation",
    "LoCoMo",
    "LongMemEval",
    "LongMemEvalRankings",
    "Mem0Memories",
    "Retrieval",
    "Trec",
    "load_factconsolidation",
    "read_beir",
    "read_dicts",
    "read_factconsolidation",
    "read_locomo",
    "read_longmemeval",
    "read_longmemeval_rankings",
    "read_madial",
    "read_mem0",
    "read_trec",
    "read_trec_qrels",
    "read_trec_run",
    "to_dicts",
]
