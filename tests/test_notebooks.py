from __future__ import annotations

import ast
import json
import tempfile
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from itertools import combinations, pairwise
from math import comb, fsum, log2
from pathlib import Path
from typing import Any

import nbformat
import numpy as np
import pytest
from nbclient import NotebookClient
from traitlets.config import Config

from memeval.loading import load
from memeval.probe import Probe
from memeval.record import Delete, Hit, Receipt, Record
from memeval.resources import notebooks_folder
from memeval.runner import run as run_once
from memeval.stores.sqlite import SqliteStore

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = sorted(notebooks_folder().glob("*.ipynb"))
KEEP_CONTROLS = """
import json
from pathlib import Path

tables = {
    name: {
        "hits": run.hits.to_json(orient="records"),
        "calls": run.calls.to_json(orient="records"),
        "qrels": run.qrels.to_json(orient="records"),
    }
    for name, run in {**controls.runs, "real": controls.real}.items()
}
figures = {
    "null_recall": controls["null_recall"],
    "random_recall": controls["random_recall"],
    "random_bound": float(rules.at[("random", "recall_all"), "bound"]),
    "ordered": bool(ordered),
    "shuffled_mrr": controls["shuffled_mrr"],
    "real_mrr": controls.real.mrr,
    "real_recall": controls.real.recall_at_k,
    "valid": controls["valid"],
    "probes": len(suite),
    "split": split["probes"].to_dict(),
    "blind": blind["value"].to_dict(),
    "blind_reasons": blind["reason"].to_dict(),
    "must_killed": bool(mutation.must_killed),
    "saboteurs": [kind.name for kind in faults if kind.must_kill],
}
kills = {
    name: [list(pair) for pair in made.kills[["saboteur", "probe"]].itertuples(index=False)]
    for name, made in {"mutation": mutation, "dozen": dozen}.items()
}
depths = mutation.saboteurs.set_index("saboteur")["depth"].to_dict()
survivors = {name: dozen.skeletons[name] for name in dozen.survivors["saboteur"]}
attempts = pairs[["asked", "other", "n_probes", "n_leaked"]].to_dict("records")
kept = {"tables": tables, "figures": figures, "kills": kills, "depths": depths}
kept |= {"survivors": survivors, "attempts": attempts}
Path(KEPT).write_text(json.dumps(kept))
"""
KEEP_DRIFT = """
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
IMAGES = {"01_control_validation": 3, "03_drift_curves": 10}
CLASS_LINES = 20


@pytest.fixture(params=NOTEBOOKS, ids=lambda path: path.stem)
def notebook(request):
    return nbformat.read(request.param, as_version=4)


def code_cells(notebook: Any) -> list[Any]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def executed(notebook: Any, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("JUPYTER_CONFIG_DIR", str(folder / "config"))
    monkeypatch.setenv("IPYTHONDIR", str(folder / "ipython"))
    with tempfile.TemporaryDirectory(prefix="nb") as sockets:  # their paths may have 107 bytes
        monkeypatch.setenv("JUPYTER_RUNTIME_DIR", sockets)
        # without ip the sockets are named relative to two different working directories
        manager = {"transport": "ipc", "ip": f"{sockets}/kernel"}
        NotebookClient(
            notebook,
            kernel_name="python3",
            timeout=300,
            resources={"metadata": {"path": str(folder)}},
            config=Config({"KernelManager": manager}),
        ).execute()
    return notebook


def outputs(notebook: Any) -> list[Any]:
    return [output for cell in code_cells(notebook) for output in cell.outputs]


def test_notebooks_ship():
    assert [path.stem for path in NOTEBOOKS] == list(IMAGES)


def test_the_file_holds_no_outputs_and_no_traces_of_a_run(notebook):
    nbformat.validate(notebook)
    assert (notebook.nbformat, notebook.nbformat_minor) == (4, 5)
    assert notebook.metadata.kernelspec.name == "python3"
    assert set(notebook.metadata) == {"kernelspec", "language_info"}
    ids = [cell.id for cell in notebook.cells]
    assert len(set(ids)) == len(ids)
    for cell in code_cells(notebook):
        assert cell.outputs == []
        assert cell.execution_count is None
        assert set(cell.metadata) <= {"tags"}


def is_a_store(body: list[ast.stmt]) -> bool:
    """One class of the user's own that derives from a store of memeval, and nothing else."""
    return (
        len(body) == 1
        and isinstance(body[0], ast.ClassDef)
        and [ast.unparse(base) for base in body[0].bases] == ["me.SqliteStore"]
    )


def test_cells_are_short_and_define_nothing_but_a_store_of_the_users(notebook):
    for cell in code_cells(notebook):
        assert "warnings" not in cell.source
        body = ast.parse(cell.source).body
        if is_a_store(body):
            assert len(cell.source.splitlines()) <= CLASS_LINES
            continue
        assert len(cell.source.splitlines()) <= 12
        for node in ast.walk(ast.Module(body, [])):
            assert not isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef)


def test_one_cell_of_plain_literals_holds_the_parameters(notebook):
    (cell,) = (c for c in code_cells(notebook) if "parameters" in c.metadata.get("tags", []))
    for node in ast.parse(cell.source).body:
        assert isinstance(node, ast.Assign)
        ast.literal_eval(node.value)


def kept_run(stem: str, asks: str, folder: Path) -> tuple[Any, Any]:
    """A notebook, run once, with what a cell at its end kept of it."""
    kept = folder / "kept.json"
    notebook = nbformat.read(notebooks_folder() / f"{stem}.ipynb", as_version=4)
    notebook.cells.append(nbformat.v4.new_code_cell(asks.replace("KEPT", repr(str(kept)))))
    with pytest.MonkeyPatch.context() as monkeypatch:
        executed(notebook, folder, monkeypatch)
    return notebook, json.loads(kept.read_text())


@pytest.fixture(scope="module")
def control_run(tmp_path_factory):
    return kept_run("01_control_validation", KEEP_CONTROLS, tmp_path_factory.mktemp("notebook"))


@pytest.fixture(scope="module")
def drift_run(tmp_path_factory):
    return kept_run("03_drift_curves", KEEP_DRIFT, tmp_path_factory.mktemp("notebook"))


@pytest.fixture(params=list(IMAGES))
def ran(request):
    """Each notebook that was run, with the number of its figures."""
    name = {"01_control_validation": "control_run", "03_drift_curves": "drift_run"}[request.param]
    return request.getfixturevalue(name)[0], IMAGES[request.param]


def rows(kept: Any, run: str, table: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(kept["tables"][run][table])
    return found


def expected_groups(kept: Any, run: str) -> dict[str, dict[int, set[str]]]:
    groups: dict[str, dict[int, set[str]]] = defaultdict(lambda: defaultdict(set))
    for row in rows(kept, run, "qrels"):
        if row["label"] == "expected":
            groups[row["probe"]][row["group"]].add(row["record_id"])
    return groups


def asked(kept: Any, run: str) -> list[tuple[int, int, list[set[str]], list[str]]]:
    """Of each positive probe k, how many records could be seen, groups, and ids by rank."""
    groups = expected_groups(kept, run)
    answers: dict[str, dict[int, str]] = defaultdict(dict)
    for hit in rows(kept, run, "hits"):
        assert hit["repeat"] == 0
        answers[hit["probe"]][hit["rank"]] = hit["record_id"]
    found = []
    for call in rows(kept, run, "calls"):
        if call["probe"] in groups and call["status"] != "not_supported":
            by_rank = answers[call["probe"]]
            top = [by_rank[rank] for rank in sorted(by_rank) if rank <= call["k"]]
            wanted = list(groups[call["probe"]].values())
            found.append((call["k"], call["n_eligible"], wanted, top))
    return found


def recall(kept: Any, run: str) -> float:
    met = [all(group & set(top) for group in wanted) for _, _, wanted, top in asked(kept, run)]
    return sum(met) / len(met)


def mrr(kept: Any, run: str) -> float:
    total = 0.0
    probes = asked(kept, run)
    for _, _, wanted, top in probes:
        for place, record_id in enumerate(top, start=1):
            if any(record_id in group for group in wanted):
                total += 1 / place
                break
    return total / len(probes)


def luck(k: int, n: int, groups: list[set[str]]) -> float:
    """Of k records drawn from n, does each group hold one: by inclusion and exclusion."""
    drawn = min(k, n)
    total = 0.0
    for size in range(len(groups) + 1):
        for left_out in combinations(groups, size):
            without = n - len(set().union(*left_out))
            total += (-1) ** size * comb(without, drawn) / comb(n, drawn)
    return total


def most_by_luck(chances: list[float], alpha: float) -> float:
    """Share of the largest count that luck reaches with a probability of at least alpha."""
    law = [1.0]
    for chance in chances:
        longer = [*law, 0.0]
        law = [
            longer[n] * (1 - chance) + (longer[n - 1] * chance if n else 0.0)
            for n in range(len(longer))
        ]
    return max(n for n in range(len(law)) if fsum(law[n:]) >= alpha) / len(chances)


def test_a_notebook_runs_without_a_word_of_complaint(ran):
    notebook, n_images = ran
    kinds = {output.output_type for output in outputs(notebook)}
    assert kinds == {"execute_result", "display_data"}, outputs(notebook)
    images = [o for o in outputs(notebook) if "image/png" in o.get("data", {})]
    assert len(images) == n_images
    assert "widgets" not in notebook.metadata


def test_recall_and_rank_are_those_of_a_slow_second_definition(control_run):
    _, kept = control_run
    figures = kept["figures"]
    assert figures["null_recall"] == recall(kept, "null") == 0.0
    assert figures["random_recall"] == pytest.approx(recall(kept, "random"))
    assert figures["real_recall"] == pytest.approx(recall(kept, "real"))
    assert recall(kept, "shuffled") == pytest.approx(recall(kept, "real"))
    assert figures["real_mrr"] == pytest.approx(mrr(kept, "real"))
    assert figures["shuffled_mrr"] == pytest.approx(mrr(kept, "shuffled"))
    assert mrr(kept, "shuffled") < mrr(kept, "real")
    assert recall(kept, "oracle") == 1.0
    assert figures["valid"] is True and figures["ordered"] is True


def test_the_bound_of_the_random_store_is_the_exact_law_of_luck(control_run):
    _, kept = control_run
    chances = [luck(k, n, wanted) for k, n, wanted, _ in asked(kept, "random")]
    assert kept["figures"]["random_bound"] == pytest.approx(most_by_luck(chances, 0.001))
    assert recall(kept, "random") <= most_by_luck(chances, 0.001)


def test_the_split_counts_every_probe_once(control_run):
    _, kept = control_run
    n = kept["figures"]["probes"]
    positive = len(expected_groups(kept, "real"))
    assert kept["figures"]["split"] == {"positive": positive, "negative": n - positive}


def test_the_law_of_luck_by_hand():
    # 1 of 3 records expected, 1 drawn; 2 of 4 expected, 2 drawn of 6 pairs; any of 2 of 4, 1 drawn
    assert luck(1, 3, [{"a"}]) == pytest.approx(1 / 3)
    assert luck(2, 4, [{"a"}, {"b"}]) == pytest.approx(1 / 6)
    assert luck(1, 4, [{"a", "b"}]) == pytest.approx(1 / 2)
    # two coins: P(2) = 1/4, P(>= 1) = 3/4
    assert most_by_luck([0.5, 0.5], 0.5) == 0.5
    assert most_by_luck([0.5, 0.5], 0.2) == 1.0


def test_what_is_displayed_is_a_frame_or_safe_markup(ran):
    notebook, _ = ran
    html = [o["data"]["text/html"] for o in outputs(notebook) if "text/html" in o.get("data", {})]
    assert html
    assert not any("<script" in text for text in html)


def ndcgs(kept: Any, run: str) -> list[float]:
    """Binary gain of each group at its first record, over that of all groups at the top."""
    found = []
    for k, _, wanted, top in asked(kept, run):
        ranks = [
            min((top.index(name) + 1 for name in group if name in top), default=None)
            for group in wanted
        ]
        gain = fsum(1 / log2(rank + 1) for rank in ranks if rank is not None)
        found.append(gain / fsum(1 / log2(rank + 1) for rank in range(1, min(k, len(ranks)) + 1)))
    return found


def test_stores_that_do_not_read_score_below_by_a_second_ndcg_and_sign_test(control_run):
    _, kept = control_run
    real = ndcgs(kept, "real")
    for store in ("newest", "constant"):
        blind = ndcgs(kept, store)
        assert kept["figures"]["blind"][store] == pytest.approx(sum(blind) / len(blind))
        above = sum(a > b for a, b in zip(real, blind, strict=True))
        below = sum(a < b for a, b in zip(real, blind, strict=True))
        said = f"above it on {above} probes, below on {below} "
        assert said in kept["figures"]["blind_reasons"][store]
        n = above + below
        most = fsum(comb(n, wins) for wins in range(above, n + 1)) / 2**n
        assert most < 0.01


class FindsNothing(SqliteStore):
    """Its answer is always empty."""

    def search(self, query: str, **view: Any) -> list[Hit]:
        return []


class KeepsDeleted(SqliteStore):
    """Says that it deletes, and does not."""

    def delete(self, store_id: str, *, scope: str | None = None) -> bool:
        return True


class OneScope(SqliteStore):
    """Writes all records into one scope, and asks that."""

    def put_many(self, records: Iterable[Record]) -> list[Receipt]:
        return super().put_many([replace(record, scope="all") for record in records])

    def delete(self, store_id: str, *, scope: str | None = None) -> bool:
        return super().delete(store_id)

    def search(self, query: str, *, scope: str, **view: Any) -> list[Hit]:
        return super().search(query, scope="all", **view)


BY_HAND = {"null": FindsNothing, "ignores_delete": KeepsDeleted, "scope_blind": OneScope}


@pytest.mark.parametrize("name", BY_HAND)
def test_what_kills_a_saboteur_is_what_fails_on_a_store_broken_by_hand(control_run, name):
    _, kept = control_run
    suite = load(ROOT / "probes")
    for chosen, few in {"mutation": suite[::4], "dozen": suite[:12]}.items():
        sound, broken = (
            run_once(few, kind, check_store=False) for kind in (SqliteStore, BY_HAND[name])
        )
        assert sound.leaks == 0
        both = sound.results.merge(broken.results, on="probe", suffixes=("", "_broken"))
        lost = both["passed"].astype(bool) & ~both["passed_broken"].astype(bool)
        expected = set(both.loc[lost | both["n_leaked_broken"].gt(0), "probe"])
        found = {probe for saboteur, probe in kept["kills"][chosen] if saboteur == name}
        assert found == expected
        if chosen == "mutation":
            assert kept["depths"][name] == len(expected) > 0


def test_survivors_are_those_that_no_probe_kills_and_each_has_a_skeleton(control_run):
    _, kept = control_run
    killed = {saboteur for saboteur, _ in kept["kills"]["dozen"]}
    assert set(kept["survivors"]) == set(kept["depths"]) - killed
    dozen = load(ROOT / "probes")[:12]
    # Of a dozen probes that all expect something and in which nothing is deleted:
    assert all(probe.is_positive for probe in dozen)
    assert not any(isinstance(op, Delete) for probe in dozen for op in probe.given)
    assert {"ignores_delete", "always_answers"} <= set(kept["survivors"])
    assert all(text.count("- name: ") == 1 for text in kept["survivors"].values())
    assert kept["figures"]["must_killed"] is True
    assert all(kept["depths"][name] > 0 for name in kept["figures"]["saboteurs"])


def other_scopes(probe: Probe) -> set[str]:
    """Scopes of records that a probe tells of, that live, and that it may not read."""
    live: dict[str, str] = {}
    for op in probe.given:
        if isinstance(op, Record):
            live[op.id] = op.scope
        elif isinstance(op, Delete):
            live.pop(op.id, None)
    return set(live.values()) - {probe.scope, *probe.reads}


def test_scopes_were_asked_beside_those_that_the_probes_tell_of(control_run):
    _, kept = control_run
    counts: dict[tuple[str, str], int] = defaultdict(int)
    for probe in load(ROOT / "probes"):
        for other in other_scopes(probe):
            counts[probe.scope, other] += 1
    told = {
        (row["asked"], row["other"]): row["n_probes"]
        for row in kept["attempts"]
        if not row["other"].startswith("haystack: ")
    }
    assert told == counts
    assert sum(row["n_leaked"] for row in kept["attempts"]) == 0


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


def test_recall_by_size_is_the_share_of_the_answers_that_held_all(drift_run):
    _, kept = drift_run
    by_size: dict[int, list[bool]] = defaultdict(list)
    for _, _, _, n_records, recalled, _, n_leaked in answers(kept, "grown"):
        assert n_leaked == 0
        if recalled is not None:
            by_size[n_records].append(recalled)
    expected = [[n, sum(found) / len(found), len(found)] for n, found in sorted(by_size.items())]
    assert len(expected) == len(kept["figures"]["together"]) == 8
    for said, counted in zip(kept["figures"]["together"], expected, strict=True):
        assert said == pytest.approx(counted)


def test_the_trend_is_the_mean_slope_of_the_probes(drift_run):
    _, kept = drift_run
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


def test_the_lost_are_those_that_never_pass_again(drift_run):
    _, kept = drift_run
    expected = sorted([n, probe, cohort] for probe, cohort, _, n, _ in lives(kept) if n is not None)
    assert [[n, probe, cohort] for probe, cohort, n in kept["figures"]["lost"]] == expected
    assert expected


def test_survival_multiplies_what_is_left_at_each_size(drift_run):
    _, kept = drift_run
    told = lives(kept)
    share = 1.0
    for n, at_risk, survival in kept["figures"]["survival"][1:]:
        # at risk: planted before, and neither lost nor last asked before
        there = sum(entered < n <= (gone or last) for _, _, entered, gone, last in told)
        share *= 1 - sum(gone == n for _, _, _, gone, _ in told) / there
        assert at_risk == there
        assert survival == pytest.approx(share)
    assert len({gone for _, _, _, gone, _ in told if gone}) == len(kept["figures"]["survival"]) - 1


def test_the_forgetful_store_stops_at_its_room_and_loses_its_oldest(drift_run):
    _, kept = drift_run
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


def test_the_comparison_is_of_the_same_probe_at_the_same_session(drift_run):
    _, kept = drift_run
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


def test_the_log_is_read_as_it_stands(drift_run):
    _, kept = drift_run
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
