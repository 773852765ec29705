"""What the tests of all notebooks share: running one, and reading its raw tables slowly.

Each notebook has a test module of its own, ``test_notebook_<nn>_<name>.py``, which runs it once.
"""

from __future__ import annotations

import json
import tempfile
from collections import defaultdict
from itertools import combinations
from math import comb, fsum, log2
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient
from traitlets.config import Config

from memeval.resources import notebooks_folder

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = sorted(notebooks_folder().glob("*.ipynb"))
# A cell for `kept_run`: the raw tables of what stands in `told_runs`, for `rows` and its callers.
KEEP_TABLES = """
import json
from pathlib import Path

tables = {
    name: {
        "hits": run.hits.to_json(orient="records"),
        "calls": run.calls.to_json(orient="records"),
        "qrels": run.qrels.to_json(orient="records"),
    }
    for name, run in told_runs.items()
}
"""


def code_cells(notebook: Any) -> list[Any]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def executed(notebook: Any, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("JUPYTER_CONFIG_DIR", str(folder / "config"))
    monkeypatch.setenv("IPYTHONDIR", str(folder / "ipython"))
    monkeypatch.setenv("TMPDIR", str(folder))  # what the notebook writes goes with the test
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


def kept_run(stem: str, asks: str, folder: Path) -> tuple[Any, Any]:
    """A notebook, run once, with what a cell at its end kept of it."""
    kept = folder / "kept.json"
    notebook = nbformat.read(notebooks_folder() / f"{stem}.ipynb", as_version=4)
    notebook.cells.append(nbformat.v4.new_code_cell(asks.replace("KEPT", repr(str(kept)))))
    with pytest.MonkeyPatch.context() as monkeypatch:
        executed(notebook, folder, monkeypatch)
    return notebook, json.loads(kept.read_text())


def check_outputs(notebook: Any, n_images: int) -> None:
    """A run without a word of complaint, whose outputs are safe and hold so many figures."""
    printed = [output for output in outputs(notebook) if output.output_type == "stream"]
    assert all(output.name == "stdout" for output in printed), printed
    shown = [output for output in outputs(notebook) if output.output_type != "stream"]
    kinds = {output.output_type for output in shown}
    assert kinds == {"execute_result", "display_data"}, shown
    images = [output for output in shown if "image/png" in output.get("data", {})]
    assert len(images) == n_images, f"{len(images)} figures, wanted {n_images}"
    assert "widgets" not in notebook.metadata
    html = [output.data["text/html"] for output in shown if "text/html" in output.get("data", {})]
    assert html
    assert not any("<script" in text for text in html)


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
