"""Suites in the forms of others, and published data sets as suites; none of these ships with us.

A ``read_`` function returns a frozen object: the suite, and tables of what was wrong with the files
(``faults``), which questions are no probe (``left_out``), and which probes expect more than the
cutoff asked for (``raised``). `read_trec` and `read_longmemeval_rankings` read what another system
returned, for `memeval.rankings.score_rankings`.

A ``write_`` function gives back a table of what the form has no words for, counted; it writes all
or nothing, and over no file that says something else unless told.
"""

from __future__ import annotations

from memeval.datasets.beir import Retrieval, read_beir
from memeval.datasets.beirwritten import write_beir
from memeval.datasets.csvtable import read_csv, write_csv
from memeval.datasets.dictfile import read_dicts_file, write_dicts
from memeval.datasets.dicts import Dicts, read_dicts, to_dicts
from memeval.datasets.factconsolidation import (
    FactConsolidation,
    load_factconsolidation,
    read_factconsolidation,
)
from memeval.datasets.flatreading import Rows
from memeval.datasets.jsonlines import read_jsonl, write_jsonl
from memeval.datasets.lmerankings import LongMemEvalRankings, read_longmemeval_rankings
from memeval.datasets.locomo import LoCoMo, read_locomo
from memeval.datasets.longmemeval import LongMemEval, read_longmemeval
from memeval.datasets.madial import read_madial
from memeval.datasets.mem0dump import Mem0Memories, read_mem0
from memeval.datasets.probeswritten import write_probes
from memeval.datasets.trec import Trec, read_trec, read_trec_qrels, read_trec_run
from memeval.datasets.trecwritten import write_trec_qrels, write_trec_run
from memeval.datasets.turns import read_turns

__all__ = [
    "Dicts",
    "FactConsolidation",
    "LoCoMo",
    "LongMemEval",
    "LongMemEvalRankings",
    "Mem0Memories",
    "Retrieval",
    "Rows",
    "Trec",
    "load_factconsolidation",
    "read_beir",
    "read_csv",
    "read_dicts",
    "read_dicts_file",
    "read_factconsolidation",
    "read_jsonl",
    "read_locomo",
    "read_longmemeval",
    "read_longmemeval_rankings",
    "read_madial",
    "read_mem0",
    "read_trec",
    "read_trec_qrels",
    "read_trec_run",
    "read_turns",
    "to_dicts",
    "write_beir",
    "write_csv",
    "write_dicts",
    "write_jsonl",
    "write_probes",
    "write_trec_qrels",
    "write_trec_run",
]
