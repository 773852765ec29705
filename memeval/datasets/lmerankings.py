"""What other systems returned for the questions of LongMemEval: sessions, by their ids."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from memeval.datasets.reading import Source, table

HINT = "a file rankings_*.jsonl for LongMemEval, from memory-core-eval"
QUESTIONS = {
    "question": "str",
    "type": "str",
    "abstention": "bool",
    "n_indexed": "int64",
    "n_expected": "int64",
    "n_returned": "int64",
}


@dataclass(frozen=True)
class LongMemEvalRankings:
    """Rankings of one system, ready for `memeval.rankings.score_rankings`.

    Attributes
    ----------
    rankings : dict of str to list of str
        For each question the sessions of the turns that were returned, best first. A session
        stands there once for each of its turns: it fills as many places, and is found once.
    expected : dict of str to list of str
        The labelled sessions of each question; empty for those that cannot be answered, which are
        negative probes and in no recall.
    questions : pandas.DataFrame
        A row per question: ``question``, ``type`` (str), ``abstention`` (bool), ``n_indexed``
        (turns that were searched), ``n_expected``, ``n_returned`` (int64).
    """

    rankings: dict[str, list[str]]
    expected: dict[str, list[str]]
    questions: pd.DataFrame


def read_longmemeval_rankings(path: str | Path) -> LongMemEvalRankings:
    """Read what a system returned for LongMemEval.

    Parameters
    ----------
    path : str or pathlib.Path
        A JSON object a line, with ``question_id``, ``question_type``, ``abstention``,
        ``n_indexed``, ``evidence_sessions`` and ``retrieved_sessions``.

    Returns
    -------
    LongMemEvalRankings
        Rankings, labels, questions.

    Raises
    ------
    ProbeError
        If the file is missing or not of this form, a question stands twice, a session is labelled
        twice, or a question has labels exactly where it cannot be answered.

    Notes
    -----
    The places are those of the turns. Counted over distinct sessions instead, five places reach
    further down, and the same rankings look better: say which of the two is meant.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from memeval.rankings import score_rankings
    >>> line = (
    ...     '{"question_id": "q1", "question_type": "t", "abstention": false, "n_indexed": 9, '
    ...     '"evidence_sessions": ["a"], "retrieved_sessions": ["b", "b", "a"]}'
    ... )
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "rankings_x.jsonl")
    ...     _ = file.write_text(line)
    ...     read = read_longmemeval_rankings(file)
    >>> score_rankings(read.rankings, read.expected, k=10)["first_rank"].tolist()
    [3]
    """
    source = Source.find(path, "rankings_*.jsonl", HINT)
    rankings: dict[str, list[str]] = {}
    expected: dict[str, list[str]] = {}
    rows = []
    for place, row in source.objects():
        name, kind = (
            source.member(row, key, str, place) for key in ("question_id", "question_type")
        )
        abstention = source.member(row, "abstention", bool, place)
        n_indexed = source.member(row, "n_indexed", int, place)
        labelled = source.texts(row, "evidence_sessions", place)
        returned = source.texts(row, "retrieved_sessions", place)
        if name in rankings:
            raise source.damaged(f"question {name!r} again", "each question once", place)
        if len(set(labelled)) < len(labelled):
            raise source.damaged(f"{labelled} as 'evidence_sessions'", "each once", place)
        if abstention == bool(labelled):
            wanted = "none for a question without an answer, and some for every other"
            raise source.damaged(f"{len(labelled)} evidence_sessions", wanted, place)
        rankings[name], expected[name] = returned, labelled
        rows.append((name, kind, abstention, n_indexed, len(labelled), len(returned)))
    return LongMemEvalRankings(rankings, expected, table(rows, QUESTIONS))
