"""The house holds: floors, wings, light imports, names, no stray print."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import memeval

PACKAGE = Path(memeval.__file__).parent
MODULES = sorted(PACKAGE.rglob("*.py"))
MEASURING = (
    "stores", "harness", "runner", "controls", "confirming", "embedders", "diagnosis", "mutation",
    "mutating", "relations", "relating", "shrinking", "surveying", "simulate", "simulating",
    "storecheck", "storechecking", "evaluation", "evaluating", "server", "serving", "recordings",
)  # fmt: skip
FRONT = ("cli", "__main__", "__init__", "pytest_plugin", "pytest_items")  # stand before both wings
READING = sorted({path.relative_to(PACKAGE).parts[0].removesuffix(".py") for path in MODULES}
                 - {*MEASURING, *FRONT})  # fmt: skip


def name_of(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported(path: Path, *, lazily: bool) -> Iterator[str]:
    """Names of memeval modules that a file imports, at the top or (lazily) anywhere."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    nodes = ast.walk(tree) if lazily else ast.iter_child_nodes(tree)
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def edges() -> dict[str, set[str]]:
    known = {name_of(path) for path in MODULES}
    found: dict[str, set[str]] = {}
    for path in MODULES:
        here = name_of(path)
        for target in imported(path, lazily=False):
            whole = target if target in known else target.rpartition(".")[0]
            if whole in known and whole not in (here, "memeval"):
                found.setdefault(here, set()).add(whole)
    return found


def test_no_import_runs_in_a_circle() -> None:
    graph = edges()
    done: set[str] = set()

    def visit(node: str, path: tuple[str, ...]) -> None:
        assert node not in path, " -> ".join((*path, node))
        if node not in done:
            for target in graph.get(node, ()):
                visit(target, (*path, node))
            done.add(node)

    for module in graph:
        visit(module, ())


@pytest.mark.parametrize("wing", READING)
def test_the_reading_wing_never_imports_the_measuring_wing(wing: str) -> None:
    forbidden = tuple(f"memeval.{name}" for name in MEASURING)
    for path in MODULES:
        if name_of(path).split(".")[1:2] == [wing]:
            wrong = [name for name in imported(path, lazily=True) if name.startswith(forbidden)]
            assert not wrong, f"{name_of(path)} imports {wrong}"


def test_stores_import_no_other_part_but_the_ground_floors() -> None:
    ground = (
        "stores", "embedders", "errors", "record", "text", "words", "times", "probefiles"
    )  # fmt: skip
    allowed = tuple(f"memeval.{name}" for name in ground)
    for path in (PACKAGE / "stores").rglob("*.py"):
        ours = [n for n in imported(path, lazily=True) if n.startswith("memeval.")]
        assert all(name.startswith(allowed) for name in ours), f"{path.name}: {ours}"


def after(statement: str) -> set[str]:
    """Top-level modules that are loaded after a statement, in a fresh interpreter."""
    code = f"import sys; {statement}; print(*sorted({{n.partition('.')[0] for n in sys.modules}}))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True,
        cwd=PACKAGE.parent,
    )  # fmt: skip
    return set(done.stdout.split())


def test_importing_memeval_loads_no_heavy_package() -> None:
    heavy = {"numpy", "pandas", "yaml", "scipy", "matplotlib", "seaborn", "jinja2", "sqlite3"}
    assert not heavy & after("import memeval")


def test_running_a_suite_draws_nothing_and_loads_no_plotting() -> None:
    loaded = after("import memeval as me; me.run; me.load; me.score; me.summarize; me.run_controls")
    assert not {"scipy", "matplotlib", "seaborn", "jinja2", "nbconvert"} & loaded


def test_every_public_name_is_there_and_the_list_is_sorted() -> None:
    assert sorted(memeval.__all__) == memeval.__all__
    assert dir(memeval) == memeval.__all__
    for name in memeval.__all__:
        assert getattr(memeval, name) is not None


def test_type_checkers_see_the_names_that_are_handed_on() -> None:
    tree = ast.parse((PACKAGE / "__init__.py").read_text(encoding="utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    seen = {a.asname for node in block.body if isinstance(node, ast.ImportFrom) for a in node.names}
    assert seen == set(memeval.__all__) - {"__version__"}


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'runn'"):
        memeval.runn  # noqa: B018


def test_only_the_command_line_prints() -> None:
    for path in MODULES:
        if "cli" not in path.parts:
            tree = ast.parse(path.read_text(encoding="utf-8"))
            calls = [n.func.id for n in ast.walk(tree)
                     if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)]  # fmt: skip
            assert "print" not in calls, path


def test_no_module_is_an_attic() -> None:
    banned = {"utils", "common", "helpers", "types", "misc", "util"}
    assert not {path.stem for path in MODULES} & banned


def test_user_input_is_not_checked_by_assert() -> None:
    for path in MODULES:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        assert not [n for n in ast.walk(tree) if isinstance(n, ast.Assert)], path
