from __future__ import annotations

import ast

import nbformat
import pytest

from tests.notebooks_shared import NOTEBOOKS, ROOT, code_cells, luck, most_by_luck

CLASS_LINES = 20


@pytest.fixture(params=NOTEBOOKS, ids=lambda path: path.stem)
def notebook(request):
    return nbformat.read(request.param, as_version=4)


def test_every_notebook_has_a_test_module_that_runs_it_and_every_such_module_a_notebook():
    shipped = {path.stem[:2] for path in NOTEBOOKS}
    assert len(shipped) == len(NOTEBOOKS) > 0
    assert shipped == {path.stem.split("_")[2] for path in ROOT.glob("tests/test_notebook_??_*.py")}


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


def is_a_store(body: list[ast.stmt], known: set[str]) -> bool:
    """One class of the user's own: it derives from a store, or is written to and searched."""
    if len(body) != 1 or not isinstance(body[0], ast.ClassDef):
        return False
    bases = {ast.unparse(base) for base in body[0].bases}
    defined = ast.FunctionDef | ast.AsyncFunctionDef
    methods = {node.name for node in body[0].body if isinstance(node, defined)}
    return bases <= known if bases else {"put", "search"} <= methods


def test_cells_are_short_and_define_nothing_but_stores_of_the_users(notebook):
    stores = {"me.SqliteStore", "me.BaseStore"}
    for cell in code_cells(notebook):
        assert "warnings" not in cell.source
        body = ast.parse(cell.source).body
        if is_a_store(body, stores):
            assert len(cell.source.splitlines()) <= CLASS_LINES
            stores.add(body[0].name)
            continue
        assert len(cell.source.splitlines()) <= 12
        for node in ast.walk(ast.Module(body, [])):
            assert not isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef)


def test_one_cell_of_plain_literals_holds_the_parameters(notebook):
    (cell,) = (c for c in code_cells(notebook) if "parameters" in c.metadata.get("tags", []))
    for node in ast.parse(cell.source).body:
        assert isinstance(node, ast.Assign)
        ast.literal_eval(node.value)


def test_the_law_of_luck_by_hand():
    # 1 of 3 records expected, 1 drawn; 2 of 4 expected, 2 drawn of 6 pairs; any of 2 of 4, 1 drawn
    assert luck(1, 3, [{"a"}]) == pytest.approx(1 / 3)
    assert luck(2, 4, [{"a"}, {"b"}]) == pytest.approx(1 / 6)
    assert luck(1, 4, [{"a", "b"}]) == pytest.approx(1 / 2)
    # two coins: P(2) = 1/4, P(>= 1) = 3/4
    assert most_by_luck([0.5, 0.5], 0.5) == 0.5
    assert most_by_luck([0.5, 0.5], 0.2) == 1.0
