from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from tests.notebooks_shared import check_outputs, kept_run

KEEP = """
import json
from pathlib import Path

sides = {"grown": grown, "sound": sound, "forgetful": forgetful}
columns = ["probe", "cohort", "session", "n_records", "recall_all", "passed", "n_leaked"]
kept = {
    "asked": {
        name: one.drift_probes[columns].to_json(orient="values") for name, one in sides.items()
    },
    "sizes": {name: one.sizes.to_json(orient="values") for name, one in sides.items()},
    "figures": {
        "together": together[["n_records", "value", "n"]].to_numpy().tolist(),
        "slopes": {name: one.trend.slope_per_1k for name, one in sides.items()},
        "words": {name: one.trend.verdict for name, one in sides.items()},
        "lost": grown.lost[["probe", "cohort", "n_records"]].to_numpy().tolist(),
        "survival": grown.survival[["n_records", "at_risk", "survival"]].to_numpy().tolist(),
        "kept": {name: one.growth.kept_per_1k for name, one in sides.items()},
        "mean_difference": compared.mean_difference,
        "difference": compared.difference.slope_per_1k,
        "oldest": float(oldest["value"]),
        "fresh": float(fresh["value"]),
        "log": float(read["slope_per_1k"].iloc[0]),
        "log_lost": me.drift.lost_probes(log)[["probe", "n_records"]].to_numpy().tolist(),
        "crossing": me.drift.latency_shape(
            searches["n_records"], searches["latency_p95_ms"], budget_ms=budget_ms
        ).crossing,
    },
    "room": room,
    "weeks": weeks,
    "records": records,
    "p95": searches["latency_p95_ms"].tolist(),
}
Path(KEPT).write_text(json.dumps(kept))
"""


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    return kept_run("03_drift_curves", KEEP, tmp_path_factory.mktemp("notebook"))


@pytest.fixture
def kept(ran):
    return ran[1]


def test_it_runs_without_a_word_of_complaint(ran):
    check_outputs(ran[0], n_images=10)


Asked = list[tuple[str, int, int, int, bool | None, bool, int]]


def answers(kept: Any, side: str) -> Asked:
    """Probe, cohort, session, records, recall, passed, leaks of each time that one was asked."""
    return [tuple(row) for row in json.loads(kept["asked"][side])]


def slope(cells: dict[Any, list[tuple[float, float]]]) -> float | None:
    """Least squares with an intercept for each cell, by the normal equations as they stand."""
    names = list(cells)
    lines = [
        ([x, *(float(name == here) for name in names)], y)
        for here, points in cells.items()
        for x, y in points
    ]
    if all(len({x for x, _ in points}) < 2 for points in cells.values()):
        return None
    design = np.array([line for line, _ in lines])
    return float(np.linalg.lstsq(design, np.array([y for _, y in lines]), rcond=None)[0][0])


def mean_slope(rows: Iterable[tuple[str, int, float, float]]) -> float:
    """Mean over probes, per 1,000 records; the cells of a probe are its cohorts."""
    probes: dict[str, dict[int, list[tuple[float, float]]]] = defaultdict(lambda: defaultdict(list))
    for probe, cohort, n_records, value in rows:
        probes[probe][cohort].append((n_records, value))
    told = [found for cells in probes.values() if (found := slope(cells)) is not None]
    return 1000 * sum(told) / len(told)


def test_recall_by_size_is_the_share_of_the_answers_that_held_all(kept):
    """Each probe counts once, by the mean of its copies that were asked at that size."""
    by_size: dict[int, dict[str, list[bool]]] = defaultdict(lambda: defaultdict(list))
    for probe, _, _, n_records, recalled, _, n_leaked in answers(kept, "grown"):
        assert n_leaked == 0
        if recalled is not None:
            by_size[n_records][probe].append(recalled)
    expected = []
    for n, probes in sorted(by_size.items()):
        shares = [sum(found) / len(found) for found in probes.values()]
        expected.append([n, sum(shares) / len(shares), len(shares)])
    assert len(expected) == len(kept["figures"]["together"]) == 8
    for said, counted in zip(kept["figures"]["together"], expected, strict=True):
        assert said == pytest.approx(counted)


def test_the_trend_is_the_mean_slope_of_the_probes(kept):
    for side, said in kept["figures"]["slopes"].items():
        rows = [(row[0], row[1], row[3], float(row[4])) for row in answers(kept, side)
                if row[4] is not None]  # fmt: skip
        assert said == pytest.approx(mean_slope(rows), abs=1e-9)
    assert kept["figures"]["words"]["forgetful"] == "decline"
    assert kept["figures"]["words"]["grown"] == "flat"


def lives(kept: Any) -> list[tuple[str, int, int, int | None, int]]:
    """Probe, cohort, size at first, size from which on it never passed again, size at last."""
    asked: dict[tuple[str, int], list[tuple[int, bool]]] = defaultdict(list)
    for probe, cohort, _, n_records, _, passed, _ in answers(kept, "grown"):
        asked[probe, cohort].append((n_records, passed))
    found = []
    for (probe, cohort), points in asked.items():
        points.sort()
        if len(points) < 2 or not points[0][1]:
            continue
        gone = None
        for size, passed in points:
            gone = None if passed else (gone or size)
        found.append((probe, cohort, points[0][0], gone, points[-1][0]))
    return found


def test_the_lost_are_those_that_never_pass_again(kept):
    expected = sorted([n, probe, cohort] for probe, cohort, _, n, _ in lives(kept) if n is not None)
    assert [[n, probe, cohort] for probe, cohort, n in kept["figures"]["lost"]] == expected
    assert expected


def test_survival_multiplies_what_is_left_at_each_size(kept):
    told = lives(kept)
    share = 1.0
    for n, at_risk, survival in kept["figures"]["survival"][1:]:
        # at risk: planted before, and neither lost nor last asked before
        there = sum(entered < n <= (gone or last) for _, _, entered, gone, last in told)
        share *= 1 - sum(gone == n for _, _, _, gone, _ in told) / there
        assert at_risk == there
        assert survival == pytest.approx(share)
    assert len({gone for _, _, _, gone, _ in told if gone}) == len(kept["figures"]["survival"]) - 1


def test_the_forgetful_store_stops_at_its_room_and_loses_its_oldest(kept):
    for side, said in kept["figures"]["kept"].items():
        points = [row[1:] for row in json.loads(kept["sizes"][side])]
        steps = list(pairwise(points))
        late = steps[len(steps) // 2 :]
        share = sum(b[1] - a[1] for a, b in late) / sum(b[0] - a[0] for a, b in late)
        assert said == pytest.approx(1000 * share)
    sizes = [row[2] for row in json.loads(kept["sizes"]["forgetful"])]
    assert 0.9 * kept["room"] < max(sizes) <= kept["room"]
    rows = answers(kept, "forgetful")
    end = max(row[2] for row in rows)
    for name, cohort in (("oldest", 0), ("fresh", end)):
        last = [row[4] for row in rows if row[2] == end and row[1] == cohort and row[4] is not None]
        assert kept["figures"][name] == pytest.approx(sum(last) / len(last))
    assert kept["figures"]["oldest"] == 0.0


def test_the_comparison_is_of_the_same_probe_at_the_same_session(kept):
    before = {row[:3]: row for row in answers(kept, "sound") if row[4] is not None}
    rows = [
        (row[0], row[1], row[3], float(row[4]) - float(before[row[:3]][4]))
        for row in answers(kept, "forgetful")
        if row[4] is not None
    ]
    differences = [row[3] for row in rows]
    figures = kept["figures"]
    assert figures["mean_difference"] == pytest.approx(sum(differences) / len(differences))
    assert figures["difference"] == pytest.approx(mean_slope(rows), abs=1e-9)
    assert figures["difference"] < 0


def test_the_log_is_read_as_it_stands(kept):
    rows = [
        (probe, 0, size, float(found))
        for probe, line in kept["weeks"].items()
        for size, found in zip(kept["records"], line, strict=True)
    ]
    assert kept["figures"]["log"] == pytest.approx(mean_slope(rows))
    # Weeks 0 to 7 have 250 * 2 ** week records; the place of the last 1, plus one, is the week.
    assert kept["figures"]["log_lost"] == [
        ["badge", 4000],
        ["dentist", 8000],
        ["rota", 8000],
        ["boiler", 16000],
        ["choir", 16000],
        ["parking", 32000],
    ]
    # A line that is off by as large a share everywhere: weights are 1 / time.
    times = np.array(kept["p95"])
    factor, offset = np.polyfit(kept["records"], times, 1, w=1 / times)
    assert kept["figures"]["crossing"] == pytest.approx((100 - offset) / factor, rel=1e-6)
