"""HTML is made in one place: no source goes around the templates, and none switches escaping off.

Read from the sources, as no test of the output can show what is not called yet.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import memeval

PACKAGE = Path(memeval.__file__).parent
TREES = {
    path.relative_to(PACKAGE).as_posix(): ast.parse(path.read_text(encoding="utf-8"))
    for path in sorted(PACKAGE.rglob("*.py"))
}
# Of what is shown as it stands: IPython.display and ipywidgets.
RAW = {"HTML", "HTMLMath", "Markdown", "Javascript", "Latex", "Math", "IFrame", "SVG"}
# Text that is a part of this package, or that was made harmless on purpose.
MARKED = {"report/html.py", "report/exporting/page.py"}


Check = Callable[[ast.AST], Iterator[int]]


def called(node: ast.AST) -> str:
    """The last name of what is called, such as HTML of ``widgets.HTML(...)``."""
    if not isinstance(node, ast.Call):
        return ""
    return getattr(node.func, "attr", None) or getattr(node.func, "id", "")


def is_rendered(node: ast.AST) -> bool:
    """Whether a value is what a template made: by `render`, or a function called ``…_html``."""
    if isinstance(node, ast.IfExp):
        return is_rendered(node.body) and is_rendered(node.orelse)
    if isinstance(node, ast.Constant):
        return node.value == ""
    return called(node) == "render" or called(node).endswith("_html")


def calls(tree: ast.AST) -> Iterator[ast.Call]:
    yield from (node for node in ast.walk(tree) if isinstance(node, ast.Call))


def stylers(tree: ast.AST) -> Iterator[int]:
    """Lines that style a frame: ``frame.style.…``, or anything called Styler."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and getattr(node.value, "attr", "") == "style":
            yield node.lineno
        if isinstance(node, ast.alias) and node.name.split(".")[-1] == "Styler":
            yield node.lineno
        if isinstance(node, ast.Name | ast.Attribute):
            if "Styler" in (getattr(node, "id", ""), getattr(node, "attr", "")):
                yield node.lineno


def shown_raw(tree: ast.AST) -> Iterator[int]:
    """Lines that show HTML or Markdown which no template made."""
    held: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and any(called(one) in RAW for one in ast.walk(node.value)):
            held |= {t.attr for goal in node.targets for t in ast.walk(goal)
                     if isinstance(t, ast.Attribute)}  # fmt: skip
    for call in calls(tree):
        if called(call) in RAW:
            given = [
                *call.args,
                *(
                    word.value
                    for word in call.keywords
                    if word.arg in (None, "value", "data", "filename", "url")
                ),
            ]
            if not all(map(is_rendered, given)):  # fmt: skip
                yield call.lineno
    for node in ast.walk(tree):
        for goal in node.targets if isinstance(node, ast.Assign) else ():
            if isinstance(goal, ast.Attribute) and goal.attr == "value":
                if getattr(goal.value, "attr", "") in held and not is_rendered(node.value):
                    yield node.lineno


def unescaped(tree: ast.AST) -> Iterator[int]:
    """Lines that make a template of Jinja without escaping."""
    for call in calls(tree):
        if called(call).endswith("Environment"):
            said = {word.arg: word.value for word in call.keywords}.get("autoescape")
            if not (isinstance(said, ast.Constant) and said.value is True):
                yield call.lineno
        if called(call) in ("Template", "from_string"):
            yield call.lineno


def lines_of(check: Check, **trees: ast.AST) -> list[str]:
    return [f"{name}:{line}" for name, tree in trees.items() for line in check(tree)]


@pytest.mark.parametrize("check", [stylers, shown_raw, unescaped])
def test_no_source_goes_around_the_templates(check: Check) -> None:
    assert lines_of(check, **TREES) == []


@pytest.mark.parametrize(
    ("check", "source"),
    [
        (stylers, "frame.style.format('{:.3f}')"),
        (stylers, "from pandas.io.formats.style import Styler"),
        (stylers, "pd.io.formats.style.Styler(frame)"),
        (shown_raw, "display(HTML(f'<b>{name}</b>'))"),
        (shown_raw, "IPython.display.Markdown(record.text)"),
        (shown_raw, "HTML(filename=text)"),
        (shown_raw, "w.HTML(value=text)"),
        (shown_raw, "self.a, self.b = (w.HTML() for _ in 'ab')\nself.b.value = text"),
        (shown_raw, "self.a = w.HTML()\nself.a.value = told_html(x) if x else x"),
        (unescaped, "Environment(loader=loader)"),
        (unescaped, "jinja2.sandbox.SandboxedEnvironment(autoescape=False)"),
        (unescaped, "Environment(autoescape=select_autoescape())"),
        (unescaped, "Template(text).render()"),
    ],
)
def test_what_is_looked_for_is_found(check: Check, source: str) -> None:
    assert lines_of(check, source=ast.parse(source))


@pytest.mark.parametrize(
    ("check", "source"),
    [
        (shown_raw, "w.HTML(shown.told_html(text))"),
        (shown_raw, "self.a = w.HTML()\nself.a.value = ''\nself.a.value = render('x.j2', a=a)"),
        (shown_raw, "self.text = w.Textarea()\nself.text.value = text"),
        (stylers, "lines = block(said, end.style)"),
        (unescaped, "Environment(autoescape=True)"),
    ],
)
def test_what_is_sound_is_left_alone(check: Check, source: str) -> None:
    assert not lines_of(check, source=ast.parse(source))


def test_text_is_called_harmless_in_the_places_that_are_known() -> None:
    marked = {
        name for name, tree in TREES.items() if any(called(c) == "Markup" for c in calls(tree))
    }
    assert marked <= MARKED


def test_what_an_object_shows_in_a_notebook_is_made_by_a_template() -> None:
    for name, tree in TREES.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef) and node.name == "_repr_html_":
                back = [one.value for one in ast.walk(node) if isinstance(one, ast.Return)]
                assert back and all(map(is_rendered, back)), f"{name}:{node.lineno}"


def test_what_is_named_html_comes_out_of_a_template() -> None:
    for name, tree in TREES.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef) and node.name.endswith("_html"):
                for one in ast.walk(node):
                    if isinstance(one, ast.Return) and isinstance(one.value, ast.JoinedStr):
                        pytest.fail(f"{name}:{one.lineno} puts HTML together by hand")


def test_the_templates_of_the_package_are_loaded_in_one_place() -> None:
    users = {
        name
        for name, tree in TREES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "jinja2"
    }
    assert users == {"report/templating.py"}
