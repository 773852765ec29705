from __future__ import annotations

import copy
import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memeval.loading import load
from memeval.record import Delete
from tests.notebooks_shared import (
    KEEP_TABLES,
    ROOT,
    asked,
    check_outputs,
    expected_groups,
    kept_run,
    mrr,
    recall,
    rows,
)

KEEP = f"""told_runs = {{"real": run}}
{KEEP_TABLES}"""
KEEP += """
told = ["value", "low", "high", "n"]
figures = {
    "summary": {name: row[told].astype(float).to_list() for name, row in summary.iterrows()},
    "curve": recalled[["k", *told]].to_numpy().tolist(),
    "ranks": [[None if pd.isna(rank) else rank, n] for rank, n in ranks.items()],
    "at_k": at_k["value"].to_dict(),
    "best": best[["floor", "recall_all", "abstention"]].to_numpy().tolist(),
    "tags": tags[["tag", "n_positive", "recall_all"]].astype(object).to_numpy().tolist(),
    "failing": list(run.failing["probe"]),
    "causes": why.causes[["probe", "cause", "rank_found", "displaced_by"]].to_json(orient="values"),
    "answered": answered[["probe", "n_returned", "score"]].to_numpy().tolist(),
    "attempts": chances[["asked", "other", "n_probes", "n_leaked"]].to_dict("records"),
    "alone": alone.verdict.reason,
    "slowest": list(slowest["probe"]),
    "story": story[["rank", "record_id", "label"]].to_json(orient="values"),
    "looked_at": probe.name,
    "other_k": other_k,
    "page": str(page),
    "saved": str(saved),
}
Path(KEPT).write_text(json.dumps({"tables": tables, "figures": figures}, default=int))
"""
Z = 1.959963984540054  # 97.5 % of a standard normal lies below


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    return kept_run("02_reading_a_run", KEEP, tmp_path_factory.mktemp("notebook"))


@pytest.fixture
def kept(ran):
    return ran[1]


def wilson(found: int, n: int) -> tuple[float, float]:
    """Both roots in p of (share - p)^2 = z^2 p (1 - p) / n."""
    share, squared = found / n, Z * Z
    roots = np.roots([1 + squared / n, -2 * share - squared / n, share * share])
    return float(min(roots)), float(max(roots))


def answers(kept: Any) -> dict[str, list[dict[str, Any]]]:
    """Hits of each probe that was asked, by rank."""
    found: dict[str, list[dict[str, Any]]] = {
        row["probe"]: [] for row in rows(kept, "real", "calls")
    }
    for hit in sorted(rows(kept, "real", "hits"), key=lambda hit: hit["rank"]):
        found[hit["probe"]].append(hit)
    return found


def failed(kept: Any) -> set[str]:
    """Positive probes whose top k lacks a group, and negative ones that were answered."""
    groups, found = expected_groups(kept, "real"), answers(kept)
    missing = set()
    for call in rows(kept, "real", "calls"):
        name = call["probe"]
        top = {hit["record_id"] for hit in found[name][: call["k"]]}
        if any(not group & top for group in groups[name].values()) if name in groups else top:
            missing.add(name)
    return missing


def test_it_runs_without_a_word_of_complaint(ran):
    check_outputs(ran[0], n_images=6)


def test_the_headline_is_a_slow_second_definition_with_its_interval(kept):
    summary = kept["figures"]["summary"]
    n = len(asked(kept, "real"))
    value, low, high, counted = summary["recall_all"]
    assert counted == n
    assert value == pytest.approx(recall(kept, "real"))
    assert (low, high) == pytest.approx(wilson(round(value * n), n))
    assert summary["mrr"][0] == pytest.approx(mrr(kept, "real"))
    silent = [not hits for name, hits in answers(kept).items()
              if name not in expected_groups(kept, "real")]  # fmt: skip
    assert summary["abstention"] == pytest.approx(
        [sum(silent) / len(silent), *wilson(sum(silent), len(silent)), len(silent)]
    )


def test_the_failed_are_those_that_miss_a_group_or_break_silence(kept):
    figures = kept["figures"]
    causes = json.loads(figures["causes"])
    assert set(figures["failing"]) == failed(kept) == {row[0] for row in causes}
    assert len(figures["failing"]) == len(causes) > 0


def test_a_cause_fits_the_answer_that_the_run_recorded(kept):
    found, groups = answers(kept), expected_groups(kept, "real")
    k = {call["probe"]: call["k"] for call in rows(kept, "real", "calls")}
    seen = Counter()
    for name, cause, rank, displaced in json.loads(kept["figures"]["causes"]):
        ids = [hit["record_id"] for hit in found[name]]
        assert (cause == "did_not_abstain") == (name not in groups)
        if cause in ("outranked", "crowded_out", "stale_won"):
            # what stands before the missing record begins with the answer as it was
            before = displaced.split()
            assert rank > k[name] or rank > len(ids)
            assert before[: len(ids)] == ids[: len(before)]
            seen[cause] += 1
        if cause == "cut":  # never found, however many were asked for
            assert rank is None
            seen[cause] += 1
    assert set(seen) == {"outranked", "crowded_out", "stale_won", "cut"}


def test_the_curve_counts_those_that_were_asked_for_so_many(kept):
    probes = asked(kept, "real")
    curve = []
    for k in range(1, max(each[0] for each in probes) + 1):
        so_many = [(wanted, top[:k]) for own_k, _, wanted, top in probes if own_k >= k]
        met = sum(all(group & set(top) for group in wanted) for wanted, top in so_many)
        curve.append([k, met / len(so_many), *wilson(met, len(so_many)), len(so_many)])
    assert len(curve) == len(kept["figures"]["curve"]) == 5
    for said, counted in zip(kept["figures"]["curve"], curve, strict=True):
        assert said == pytest.approx(counted)


def test_the_ranks_count_every_positive_probe_once(kept):
    counts: Counter[int | None] = Counter()
    for _, _, wanted, top in asked(kept, "real"):
        places = [n for n, name in enumerate(top, 1) if any(name in group for group in wanted)]
        counts[min(places, default=None)] += 1
    assert dict(map(tuple, kept["figures"]["ranks"])) == counts


def test_a_smaller_k_is_the_same_answers_cut_shorter(kept):
    shorter = copy.deepcopy(kept)
    calls = rows(kept, "real", "calls")
    for call in calls:
        call["k"] = min(call["k"], kept["figures"]["other_k"])
    shorter["tables"]["real"]["calls"] = json.dumps(calls)
    at_k = kept["figures"]["at_k"]
    assert at_k["recall_all"] == pytest.approx(recall(shorter, "real"))
    assert at_k["mrr"] == pytest.approx(mrr(shorter, "real"))
    assert at_k["recall_all"] < recall(kept, "real")


def test_the_best_floor_is_the_best_of_all_that_were_tried_by_hand(kept):
    found, groups = answers(kept), expected_groups(kept, "real")
    k = {call["probe"]: call["k"] for call in rows(kept, "real", "calls")}
    tried = []
    for floor in sorted({hit["score"] for hits in found.values() for hit in hits}):
        held, silent = [], []
        for name, hits in found.items():
            left = [hit["record_id"] for hit in hits if hit["score"] >= floor]
            if name in groups:
                held.append(all(group & set(left[: k[name]]) for group in groups[name].values()))
            else:
                silent.append(not left)
        tried.append((sum(held) / len(held), sum(silent) / len(silent)))
    ((_, recalled, abstained),) = kept["figures"]["best"]
    assert (recalled, abstained) in [pytest.approx(pair) for pair in tried]
    assert recalled + abstained == pytest.approx(max(a + b for a, b in tried))


def test_tags_count_the_probes_that_carry_them(kept):
    tagged: dict[str, list[bool]] = defaultdict(list)
    groups, missing = expected_groups(kept, "real"), failed(kept)
    for probe in load(ROOT / "probes"):
        for tag in probe.tags if probe.name in groups else ():
            tagged[tag].append(probe.name not in missing)
    said = {tag: (n, share) for tag, n, share in kept["figures"]["tags"] if n}
    assert said == {tag: (len(of), pytest.approx(sum(of) / len(of))) for tag, of in tagged.items()}


def test_the_answered_negatives_stand_with_their_best_score(kept):
    groups = expected_groups(kept, "real")
    expected = [
        [name, len(hits), pytest.approx(hits[0]["score"])]
        for name, hits in answers(kept).items()
        if name not in groups and hits
    ]
    assert kept["figures"]["answered"] == expected
    assert expected


def test_a_chance_to_leak_is_a_forbidden_record_or_the_foreign_scopes_of_a_probe(kept):
    forbidden = 0
    suite = load(ROOT / "probes")
    for probe in suite:
        deleted = {op.id for op in probe.given if isinstance(op, Delete)}
        forbidden += len({*probe.forbid, *deleted})
    # around each history the haystack writes two other scopes, so that each probe could leak
    value, _, _, n = kept["figures"]["summary"]["leaks"]
    assert n >= forbidden + len(suite)
    named = {
        (row["probe"], row["record_id"])
        for row in rows(kept, "real", "qrels")
        if row["label"] == "forbidden" and row["reason"] != "foreign_scope"
    }
    assert n == len(named) + len(suite)
    _, _, high, asked_of = kept["figures"]["summary"]["leak_rate"]
    assert asked_of == len(suite)
    assert high == pytest.approx(1 - 0.05 ** (1 / len(suite)))  # (1 - high)^n = 0.05
    came = {(hit["probe"], hit["record_id"]) for hit in rows(kept, "real", "hits")}
    assert value == len(named & came) == sum(row["n_leaked"] for row in kept["figures"]["attempts"])
    assert value == 0
    assert "leaks not measured" in kept["figures"]["alone"]


def test_times_are_quantiles_that_are_unbiased_for_the_median(kept):
    times = {call["probe"]: call["latency_ms"] for call in rows(kept, "real", "calls")}
    for share, name in ((0.5, "latency_p50_ms"), (0.95, "latency_p95_ms")):
        value = np.quantile(list(times.values()), share, method="median_unbiased")
        assert kept["figures"]["summary"][name][0] == pytest.approx(value)
    assert kept["figures"]["slowest"] == sorted(times, key=times.__getitem__, reverse=True)[:5]


def test_the_story_holds_the_answer_and_what_did_not_come(kept):
    name = kept["figures"]["looked_at"]
    hits = answers(kept)[name]
    missing = failed(kept) & set(expected_groups(kept, "real"))
    most = max(len(answers(kept)[each]) for each in missing)
    assert len(hits) == most
    story = json.loads(kept["figures"]["story"])
    assert [row[:2] for row in story if row[0]] == [[hit["rank"], hit["record_id"]] for hit in hits]
    judged = {(row["record_id"], row["label"]) for row in rows(kept, "real", "qrels")
              if row["probe"] == name}  # fmt: skip
    assert {(record, label) for _, record, label in story if label} == judged


def test_the_saved_run_and_the_page_hold_what_was_seen(kept):
    saved = json.loads(Path(kept["figures"]["saved"]).read_text(encoding="utf-8"))
    assert len(saved["tables"]["hits"]["probe"]) == len(rows(kept, "real", "hits"))
    page = Path(kept["figures"]["page"]).read_text(encoding="utf-8")
    assert all(name in page for name in kept["figures"]["failing"])
    assert f"{recall(kept, 'real'):.3f}" in page
