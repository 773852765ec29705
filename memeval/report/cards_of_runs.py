"""Cards of what a run, its parts and its comparison come to."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

from memeval.report.card import Card
from memeval.report.control_rows import WITHHELD
from memeval.report.figures import UNDEFINED, is_missing
from memeval.text import count

MOST = 10


def _share(value: float) -> str:
    return UNDEFINED if math.isnan(value) else f"{value:.3f}"


def verdict(one: Any) -> Card:
    """What it all comes to."""
    good = {"PASS": True, "SAME": True}.get(one.word, None if one.exit_code == 0 else False)
    return Card("Verdict", one.word, good, one.reason, one.next_step)


def validity(one: Any) -> Card:
    """Whether a suite can carry its numbers."""
    lines = [*(("suite", words) for words in one.reasons)]
    if one.status != "invalid":
        lines += [("store", words) for words in one.store_faults]
    lines += [("note", words) for words in one.notes]
    good = {"valid": not one.store_faults, "invalid": False}.get(one.status)
    words = WITHHELD if one.status == "invalid" else ""
    return Card("Validity of the suite", one.status.upper(), good, words, one.next_step, lines)


def manifest(one: Any) -> Card:
    """What was measured with what."""
    asked = f"{count(one.n_probes, 'probe')}, k {one.k if one.k is not None else 'mixed'}"
    known = [
        ("asked", f"{asked}, seed {one.seed}, {count(one.repeats, 'repeat')}"),
        ("suite", one.suite_hash),
        ("haystack", one.haystack_hash),
        ("made", f"{one.created_at} with memeval {one.tool_version}"),
        ("settings of the store", one.config_hash or ""),
        ("fingerprint of its answers", one.fingerprint or one.no_fingerprint),
        *(("note", words) for words in one.notes),
    ]
    told = [(label, str(words)) for label, words in known if words]
    return Card("Manifest", f"a run on {one.store}", lines=told)


def outcomes(one: Any) -> Card:
    """One side of a comparison."""
    if one.validity.status == "invalid":
        reasons = "; ".join(one.validity.reasons)
        lines = [("why", reasons), ("source", one.source)]
        return Card("Outcomes", "INVALID", False, WITHHELD, one.validity.next_step, lines)
    told = [(name, _share(value)) for name, value in one.metrics.items()]
    lines = [("source", one.source), ("suite", one.validity.status)]
    if len(one.probes):
        lines.append(("passing", f"{len(one.passing)} of {len(one)}"))
    return Card(
        "Outcomes", f"{count(len(one), 'probe')} ({one.kind})", lines=lines,
        heads=["metric", "value"], sides="lr", rows=told,
    )  # fmt: skip


def diagnosis(one: Any) -> Card:
    """Why the failed probes failed."""
    causes = one.causes
    counted = Counter(causes["cause"].astype("str"))
    word = ", ".join(f"{n} {cause}" for cause, n in counted.most_common()) or "nothing failed"
    rows = [
        (str(row.probe), str(row.cause), "" if is_missing(row.rank_found) else f"{row.rank_found}",
         "" if is_missing(row.next_step) else str(row.next_step))
        for row in causes.head(MOST).itertuples()
    ]  # fmt: skip
    more = f"and {len(causes) - MOST} more: the frame causes has all" if len(causes) > MOST else ""
    order = [("order", one.order)] if len(causes) else []
    return Card(
        "Diagnosis", word, None if len(causes) else True, one.reason, one.next_step, order,
        ["probe", "cause", "rank", "next step"], "llrl", rows, more,
    )  # fmt: skip


def gap(one: Any) -> Card:
    """Dev probes beside those that are held out."""
    interval = "" if math.isnan(one.low) else f" [{one.low:+.3f}, {one.high:+.3f}]"
    difference = UNDEFINED if math.isnan(one.gap) else f"{one.gap:+.3f}{interval}"
    return Card(
        "Holdout", one.word.upper(), False if one.word == "dev is better" else None, one.reason,
        lines=[
            ("dev", f"{_share(one.dev)} of {one.n_dev}"),
            ("held out", f"{_share(one.held_out)} of {one.n_held_out}"),
            ("dev minus held out", difference),
        ],
    )  # fmt: skip


def wear(one: Any) -> Card:
    """How far a holdout is used up."""
    word = "WORN OUT" if one.worn_out else "still good"
    return Card(
        "Wear of the holdout", word, not one.worn_out,
        lines=[
            ("looks", f"{one.n_looks}, {one.n_before} before at others"),
            ("different answers", f"{one.n_answers}"),
            ("flattered", f"by up to {one.flattered:.2f} standard errors (1.96 is worn out)"),
        ],
    )  # fmt: skip


def comparability(one: Any) -> Card:
    """Whether the numbers of two runs may stand side by side."""
    good = {"comparable": True, "blocked": False}.get(one.quality)
    lines = [("", words) for words in (*one.lines(), *one.latency_lines())]
    labelled = [tuple(words.split(": ", 1)) if ": " in words else ("note", words)
                for _, words in lines]  # fmt: skip
    times = f"times {one.latency}; {count(len(one.common), 'common probe')}"
    word = "NOT COMPARABLE" if one.quality == "blocked" else one.quality.upper()
    told = [(label, words) for label, words in labelled]
    return Card("Comparability", word, good, times, one.next_step, told)


def ranks(one: Any) -> Card:
    """Where the expected groups stand."""
    found = one.rank[one.rank > 0]
    n = len(one.rank)
    lines = [
        ("expected groups", f"{n}, of which {len(found)} came back"),
        ("at rank 1", f"{int((found == 1).sum())}"),
        ("hits", f"{int(one.n_returned.sum()):,}"),
        ("scores", "known" if one.scores is not None else "none"),
    ]
    return Card("Ranks", count(len(one.probes), "probe"), lines=lines,
                next_step="score them at a cutoff with .score(k=5)")  # fmt: skip


def summary(one: Any) -> Card:
    """The numbers, by the names of the specification."""
    names = ("recall_at_k", "mrr", "distinct_at_k", "staleness", "negative_correct")
    lines = [(name, _share(getattr(one, name))) for name in names]
    time = UNDEFINED if math.isnan(one.p95_ms) else f"{one.p95_ms:.1f}"
    lines += [("leaks", f"{one.leaks}"), ("p95_ms", time)]
    word = "no leak" if one.passed else "LEAKS"
    return Card(f"Summary of {count(one.probes, 'probe')}", word, one.passed, lines=lines)


def probe_result(one: Any) -> Card:
    """One probe's outcome, by the names of the specification."""
    lines = [
        ("returned", ", ".join(one.returned) or "nothing"),
        ("first rank", UNDEFINED if one.first_rank is None else f"{one.first_rank}"),
        ("leaked", ", ".join(one.leaked) or "nothing"),
        ("stale", ", ".join(one.stale) or "nothing"),
        ("distinct", _share(one.distinct)),
        ("latency", f"{one.latency_ms:.1f} ms"),
    ]
    good = one.hit_all and not one.leaked
    word = "LEAKED" if one.leaked else "hit" if one.hit_all else "MISSED"
    return Card(f"Result of {one.probe.name}", word, good, lines=lines)
