from __future__ import annotations

import ast
import json
import tempfile
from collections import defaultdict
from itertools import combinations
from math import comb, fsum
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient
from traitlets.config import Config

from memeval.resources import notebooks_folder

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = sorted(notebooks_folder().glob("*.ipynb"))
KEEP = """
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
}
Path(KEPT).write_text(json.dumps({"tables": tables, "figures": figures}))
"""


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
    assert [path.name for path in NOTEBOOKS] == ["01_control_validation.ipynb"]


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


def test_cells_are_short_and_define_nothing(notebook):
    for cell in code_cells(notebook):
        assert len(cell.source.splitlines()) <= 12
        for node in ast.walk(ast.parse(cell.source)):
            assert not isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef)
        assert "warnings" not in cell.source


def test_one_cell_of_plain_literals_holds_the_parameters(notebook):
    (cell,) = (c for c in code_cells(notebook) if "parameters" in c.metadata.get("tags", []))
    for node in ast.parse(cell.source).body:
        assert isinstance(node, ast.Assign)
        ast.literal_eval(node.value)


@pytest.fixture(scope="module")
def control_run(tmp_path_factory):
    """The first notebook, run once; its tables and figures are kept beside it."""
    folder = tmp_path_factory.mktemp("notebook")
    kept = folder / "kept.json"
    notebook = nbformat.read(notebooks_folder() / "01_control_validation.ipynb", as_version=4)
    asks = KEEP.replace("KEPT", repr(str(kept)))
    notebook.cells.append(nbformat.v4.new_code_cell(asks))
    with pytest.MonkeyPatch.context() as monkeypatch:
        executed(notebook, folder, monkeypatch)
    return notebook, json.loads(kept.read_text())


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


def test_the_notebook_runs_without_a_word_of_complaint(control_run):
    notebook, _ = control_run
    kinds = {output.output_type for output in outputs(notebook)}
    assert kinds == {"execute_result", "display_data"}, outputs(notebook)
    images = [o for o in outputs(notebook) if "image/png" in o.get("data", {})]
    assert len(images) == 1
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


def test_what_is_displayed_is_a_frame_or_safe_markup(control_run):
    notebook, _ = control_run
    html = [o["data"]["text/html"] for o in outputs(notebook) if "text/html" in o.get("data", {})]
    assert html
    assert not any("<script" in text for text in html)
