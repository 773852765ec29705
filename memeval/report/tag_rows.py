"""What each tag comes to, worst first, ready to be shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from memeval.breakdown import summarize_by_tag
from memeval.chances import NOT_MEASURED, most_leaking
from memeval.report.control_rows import withheld
from memeval.report.figures import UNDEFINED, figure, is_missing
from memeval.runs import Run

NOTE = (
    "A probe with two tags counts in both lines. The worst of many tags looks bad by luck alone: "
    "read the interval before you act on one. Beside 0 leaks stands how large the share of leaking "
    "probes may still be."
)


@dataclass(frozen=True, slots=True)
class TagRow:
    """One tag.

    Attributes
    ----------
    tag : str
        The tag.
    n, failed : int
        Probes that carry it, and those of them that did not pass.
    n_positive, n_negative : int
        The same probes by kind.
    recall, interval, abstention, mrr : str
        Ready to be shown.
    leaks : int
        Leaking records.
    leak_words : str
        The same, beside a 0 the bound of the leak rate, or that nothing could leak.
    place, low, high : float
        Recall and its interval, for drawing; NaN where undefined.
    """

    tag: str
    n: int
    failed: int
    n_positive: int
    n_negative: int
    recall: str
    interval: str
    abstention: str
    mrr: str
    leaks: int
    leak_words: str
    place: float
    low: float
    high: float


def tags(run: Run) -> list[TagRow]:
    """A row per tag, the worst first; none of an invalid suite or where no probe has a tag."""
    if withheld(run.validity):
        return []
    frame = summarize_by_tag(run.results, run.suite.tags())
    able = _able(run)
    made = (_row(row, able.get(str(row.tag), 0)) for row in frame.itertuples())
    return [row for row in made if row.n]


def _able(run: Run) -> dict[str, int]:
    """Probes of each tag that were answered and could leak."""
    results = run.results
    answered = results.loc[results["status"].eq("ok"), "probe"]
    forbidden = run.qrels.loc[run.qrels["label"].eq("forbidden"), "probe"]
    tagged = run.suite.tags()
    able = tagged["probe"].isin(answered) & tagged["probe"].isin(forbidden)
    return {str(tag): int(n) for tag, n in tagged.loc[able, "tag"].value_counts().items()}


def _leak_words(leaks: int, n_able: int) -> str:
    if leaks:
        return f"{leaks:,}"
    return f"0 (<= {most_leaking(0, n_able):.3f})" if n_able else NOT_MEASURED


def _row(row: Any, n_able: int) -> TagRow:
    return TagRow(
        tag=str(row.tag),
        n=int(row.n_positive + row.n_negative),
        failed=int(row.n_failed),
        n_positive=int(row.n_positive),
        n_negative=int(row.n_negative),
        recall=figure(row.recall_all),
        interval=UNDEFINED if is_missing(row.low) else f"{figure(row.low)} to {figure(row.high)}",
        abstention=figure(row.abstention),
        mrr=figure(row.mrr),
        leaks=int(row.leaks),
        leak_words=_leak_words(int(row.leaks), n_able),
        place=float(row.recall_all),
        low=float(row.low),
        high=float(row.high),
    )
