"""Notebooks as one HTML file: names, parameters, cleaning, the page, and the real route."""

from __future__ import annotations

import ast
import json
import os
import re
import signal
import subprocess
import sys
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import nbformat
import pytest
from exporting import PNG, code, data, hostile_notebook, notebook, written
from hypothesis import given
from hypothesis import strategies as st
from nbformat.v4 import new_output
from report_fixtures import diagnosed_run, hostile_run

from memeval.cli import main
from memeval.cli import notebook as notebook_verb
from memeval.cli.parser import TAKES, VERBS
from memeval.errors import MemevalError, NotebookError
from memeval.report.exporting import parameters
from memeval.report.exporting.aligning import align_numbers
from memeval.report.exporting.cleaning import clean_html, sheet
from memeval.report.exporting.executing import Stopped, run_cells
from memeval.report.exporting.export import export_notebook
from memeval.report.exporting.limiting import overwritten, shorten
from memeval.report.exporting.page import notebook_html
from memeval.report.exporting.preparing import plain_text, prepared
from memeval.report.exporting.reading import read_notebook
from memeval.report.exporting.shipped import find_notebook, find_shipped, shipped_notebooks
from memeval.report.notebook import run_html
from memeval.resources import notebooks_folder
from memeval.widgets import explore

Captured = pytest.CaptureFixture[str]
ROOT = Path(__file__).resolve().parent.parent
HEAD = code("seed = 3\nstore = 'sqlite'\nprobes = None\nshare = 0.5", tags=("parameters",))
KNOWN = {"seed": 3, "store": "sqlite", "probes": None, "share": 0.5, "names": ["a"], "on": True}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setitem(VERBS, "notebook", notebook_verb)
    monkeypatch.setitem(TAKES, "notebook", "list|copy|open [NAME] [DEST] ")
    return tmp_path


# --- names


@pytest.mark.parametrize(
    "name", ["03_drift_curves", "03", "3", "drift_curves", "drift", "Drift-Curves"]
)
def test_a_shipped_notebook_has_short_names(name: str) -> None:
    assert find_shipped(name).name == "03_drift_curves"
    assert find_shipped(name).title == "Drift: what does a store lose as it grows?"
    assert find_notebook(name) == find_shipped(name).path


def test_an_unknown_name_lists_the_known_and_the_nearest() -> None:
    with pytest.raises(
        MemevalError, match="'drift_curve_s'.*01_control_validation.*write 'drift_curves'"
    ):
        find_shipped("drift_curve_s")
    with pytest.raises(MemevalError, match="'0' may be any of 01_control_validation, .*03_drift"):
        find_shipped("0")
    with pytest.raises(MemevalError, match="there is no such file"):
        find_notebook("folder/03.ipynb")


def test_a_file_comes_before_a_name_and_a_folder_is_none(here: Path) -> None:
    mine = written(here / "03", HEAD)
    assert find_notebook("03") == Path("03")
    assert mine.is_file()
    (here / "drift").mkdir()
    with pytest.raises(MemevalError, match="found a folder"):
        find_notebook("drift")


def test_every_shipped_notebook_can_be_read_and_has_parameters() -> None:
    assert [one.path for one in shipped_notebooks()] == sorted(notebooks_folder().glob("*.ipynb"))
    for one in shipped_notebooks():
        assert one.title
        assert parameters.defaults(read_notebook(one.path))


# --- parameters


def test_defaults_are_read_without_running_anything() -> None:
    cell = code("import os\na: int = 3\nb = c = 'x'\nd = os.getcwd()\ne: str", tags=("parameters",))
    found = parameters.defaults(notebook("# T", code("z = 1"), cell))
    assert found == {"a": 3, "b": "x", "c": "x", "d": parameters.UNKNOWN}
    assert parameters.defaults(notebook("# T", code("z = 1"))) == {}


def test_two_cells_of_parameters_or_no_python_are_refused() -> None:
    with pytest.raises(MemevalError, match="found 2 cells tagged 'parameters', wanted one"):
        parameters.defaults(notebook(HEAD, HEAD))
    with pytest.raises(MemevalError, match=r"no plain Python \(line 2"):
        parameters.defaults(notebook(code("a = 1\n%time b = 2", tags=("parameters",))))


@pytest.mark.parametrize(
    ("pair", "value"),
    [
        ("seed=4", 4),
        ("seed= -4 ", -4),
        ("store=7", "7"),
        ("store='7'", "'7'"),
        ("store=a=b", "a=b"),
        ("store=", ""),
        ("probes=my probes", "my probes"),
        ("probes=chat.json", "chat.json"),
        ("probes=./2026-12 (1)/chat.json", "./2026-12 (1)/chat.json"),
        ("probes=0or1.json", "0or1.json"),
        (r"probes='C:\d'", r"C:\d"),
        ("probes=None", None),
        ("probes=null", None),
        ("probes=['a', 'b']", ["a", "b"]),
        ("share=1", 1.0),
        ("share=1e-3", 0.001),
        ("names=('a', 'b')", ["a", "b"]),
        ("on=false", False),
        ("on=True", True),
    ],
)
def test_a_value_is_read_by_the_type_of_the_default(pair: str, value: object) -> None:
    given = parameters.parse([pair], KNOWN)
    (found,) = parameters.checked(given, KNOWN, "nb").values()
    assert found == value and type(found) is type(value)


@pytest.mark.parametrize(
    ("pair", "said"),
    [
        ("seed=x", "seed: found 'x', wanted a whole number such as 3"),
        ("seed=1.0", "seed: found 1.0, wanted a whole number such as 3"),
        ("seed=True", "seed: found True, wanted a whole number such as 3"),
        ("seed=None", "seed: found None, wanted a whole number such as 3"),
        ("share=True", "share: found True, wanted a number such as 0.5"),
        ("on=1", "on: found 1, wanted true or false such as True"),
        ("names=a", "names: found 'a', wanted list such as ['a']"),
        ("share=1e999", "found inf, wanted a plain value"),
        ("sed=4", "found no parameter 'sed' (write 'seed'); it has seed=3, store='sqlite', "),
    ],
)
def test_a_value_of_another_type_and_an_unknown_name_are_refused(pair: str, said: str) -> None:
    with pytest.raises(MemevalError) as caught:
        parameters.checked(parameters.parse([pair], KNOWN), KNOWN, "nb")
    assert str(caught.value).startswith("nb: ") and said in str(caught.value)


def test_all_faults_are_told_at_once_and_no_pair_is_none() -> None:
    with pytest.raises(MemevalError) as caught:
        parameters.checked({"sed": 1, "seed": "x", "probes": object()}, KNOWN, "nb")
    assert str(caught.value).count("\n") == 2
    for pair in ("seed", "=3", "a b=3", "1=2"):
        with pytest.raises(MemevalError, match="wanted NAME=VALUE"):
            parameters.parse([pair], KNOWN)
    with pytest.raises(MemevalError, match="seed is given twice"):
        parameters.parse(["seed=1", "seed=2"], KNOWN)


def test_a_path_is_put_in_as_text() -> None:
    assert parameters.checked({"probes": Path("a/b")}, KNOWN, "nb") == {
        "probes": os.path.join("a", "b")
    }


plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)  # fmt: skip


@given(plain)
def test_what_is_put_in_is_what_was_given_and_nothing_else(value: Any) -> None:
    made = notebook("# T", code("probes = None", tags=("parameters",)), code("probes"))
    parameters.inject(made, parameters.checked({"probes": value}, {"probes": None}, "nb"))
    _, _, cell, last = made.cells
    assert cell.metadata.tags == ["injected-parameters"] and last.source == "probes"
    (node,) = ast.parse(cell.source).body
    assert isinstance(node, ast.Assign) and ast.literal_eval(node.value) == value
    parameters.inject(made, {"probes": 7})  # a second time takes the place of the first
    assert len(made.cells) == 4 and made.cells[2].source == "# Parameters\nprobes = 7"


# --- reading


def test_what_is_no_notebook_is_told(tmp_path: Path) -> None:
    for n, text in enumerate(("{", "[]", '{"cells": 3}', '{"nbformat": 4, "cells": [{}]}')):
        path = tmp_path / f"{n}.ipynb"
        path.write_text(text)
        with pytest.raises(MemevalError, match="is no notebook"):
            read_notebook(path)
    path.write_text(
        json.dumps(
            notebook("x")
            | {"metadata": {"kernelspec": {"language": "R", "name": "r", "display_name": "R"}}}
        )
    )
    with pytest.raises(MemevalError, match="found a notebook of 'R'"):
        read_notebook(path)


def test_an_old_notebook_without_ids_is_read_without_a_warning(tmp_path: Path) -> None:
    made = notebook("# T", HEAD)
    for cell in made.cells:
        del cell["id"]
    made.nbformat_minor = 2
    path = tmp_path / "old.ipynb"
    path.write_text(json.dumps(made))
    assert [cell["id"] for cell in read_notebook(path).cells] == [
        "memeval-cell-0",
        "memeval-cell-1",
    ]


# --- cleaning


@pytest.mark.parametrize(
    ("markup", "kept"),
    [
        ("<p onclick=f() style='color:red'>x</p>", '<p style="color: red">x</p>'),
        ("a<script>f()</script>b<style>b{}</style>c", "abc"),
        ("<a href='javascript:f()'>x</a><a href=' java\nscript:f()'>y</a>", "<a>x</a><a>y</a>"),
        ("<a href='#q'>x</a><a href=https://e.org/>y</a>", '<a href="#q">x</a><a href="https://e.org/">y</a>'),
        ("<a href='other.html'>x</a><a href=//e.org>y</a>", "<a>x</a><a>y</a>"),
        ("<img src=x.png alt=cat><img src=//e/x.png>", "<em>[image: cat]</em><em>[image]</em>"),
        ("<img src='data:text/html;base64,AA' alt='\"<b>'>", '<em>[image: "&lt;b>]</em>'),
        (f"<img src='data:image/png;base64,{PNG}'>", f'<img src="data:image/png;base64,{PNG}">'),
        ("<b style='top:0;color:red;background:url(x)'>x</b>", '<b style="color: red">x</b>'),
        ("<b style='c\\6flor:red;p\\6fsition:fixed'>x</b>", '<b style="color: red">x</b>'),
        ("<i style='color:var(--a,#c4500a)'>x</i>", '<i style="color: var(--a,#c4500a)">x</i>'),
        ("</div></main>x", "x"),
        ("<svg viewBox='0 0 1 1'></svg>", '<svg viewBox="0 0 1 1"></svg>'),
        ("<svg><path d='M0 0' fill='url(#a)'/></svg>", '<svg><path d="M0 0"></path></svg>'),
        ("<svg><title>t</title><use href='#x'/></svg>", "<svg><title>t</title></svg>"),
        ("one\x00two\x1b[0m", "one\u2400two\u241b[0m"),
        ("<input value=x><button>go</button><select><option>a</select>b", "b"),
        ("1 < 2 &amp; 3 > 2 &copy; $x$", "1 &lt; 2 &amp; 3 &gt; 2 &copy; $x$"),
        ("<!-- gone --><details open>t</details>", "<details open>t</details>"),
    ],
)  # fmt: skip
def test_markup_keeps_its_words_and_loses_its_teeth(markup: str, kept: str) -> None:
    assert clean_html(markup).strip() == kept


@pytest.mark.parametrize(
    "said",
    [
        "margin-top: -3000px", "margin: 0 -.5em", "margin-left: calc(0px - 9em)", "z-index: 9",
        "transform: scale(50)", "translate: 0 -900px", "scale: 50", "rotate: 9deg", "inset: 0",
        "box-shadow: 0 0 0 9999px red", "text-shadow: 0 0 9px", "outline: 9999px solid",
        "filter: drop-shadow(0 0 9px)", "border-image: linear-gradient(red, red) 1 / 1px / 999px",
        "float: left", "position: fixed", "top: 0", "--own: 1", "animation: a", "zoom: 9",
        "text-indent: -999px", "offset-path: ray(0deg)", "will-change: transform", "mask: none",
    ],
)  # fmt: skip
def test_no_style_reaches_beyond_its_own_box(said: str) -> None:
    kept = clean_html(f"<p style='color: red; {said}; margin: 1px 2em'>x</p>")
    assert kept == '<p style="color: red; margin: 1px 2em">x</p>'
    assert not sheet(f"<style>#T_a {{{said}}}</style>")


def test_cleaning_twice_changes_nothing_more_and_endless_markup_ends() -> None:
    for cell in hostile_notebook().cells:
        once = clean_html(cell.source)
        assert clean_html(once) == once
        assert not re.search(r"<(script|style|iframe|object|form|base|meta|link)", once)
    assert "<" not in clean_html("<style" * 50_000)
    deep = clean_html("<b>" * 300 + "x")
    assert deep.count("<b>") == deep.count("</b>") and "x" in deep


@pytest.mark.parametrize("make", [diagnosed_run, hostile_run])
def test_what_our_own_objects_show_is_not_changed(make: Any) -> None:
    for shown in (run_html(make()), explore(make())._repr_html_()):
        cleaned = clean_html(shown)
        assert anatomy(cleaned) == anatomy(shown)


def anatomy(markup: str) -> list[Any]:
    """Tags, names of the properties in styles, and words, in their order."""
    tags = re.findall(r"</?\w+", markup)
    styles = re.findall(r'style="([^"]*)"', markup)
    properties = [re.findall(r"([\w-]+)\s*:", style) for style in styles]
    return [tags, properties, unescape(re.sub(r"<[^>]*>", "", markup)).split()]


def test_of_style_sheets_only_the_cells_of_a_styler_are_left() -> None:
    theirs = (
        "<style>#T_a_row0_col1, #T_a_row1_col1 {color: red; background: url(x)} "
        "#T_a th {left: 0; width: 0}\n"
        "body {display: none} #T_a_b, main {color: red} @media all {#T_a_b {color: red}}\n"
        "#T_a_c {width: '</style><script>f()</script>'}</style>"
    )
    assert sheet(theirs) == "#T_a_row0_col1, #T_a_row1_col1 {color: red}\n#T_a th {width: 0}"
    assert sheet("no style") == ""


def test_columns_of_numbers_are_set_to_the_right_under_their_heads() -> None:
    table = (
        '<table class="dataframe"><tr><th></th><th>n</th><th>word</th></tr>'
        "<tr><th>0</th><td>1.5</td><td>2</td></tr><tr><th>1</th><td>NaN</td><td>x</td></tr></table>"
    )
    assert align_numbers(table) == table.replace("<th>n", '<th class="num">n').replace(
        "<td>1.5", '<td class="num">1.5'
    ).replace("<td>NaN", '<td class="num">NaN')
    wide = table.replace("<th>n", '<th colspan="2">n')
    assert align_numbers(wide) == wide
    assert align_numbers(table.replace("dataframe", "other")) == table.replace("dataframe", "other")


# --- preparing


def test_an_output_has_one_form_and_what_only_lives_is_told_in_words() -> None:
    live = {"application/vnd.jupyter.widget-view+json": {"model_id": "m"}}
    outputs = [
        data(text_html="<p>x</p>", text_plain="x"),
        new_output("display_data", data={**live, "text/plain": "Dropdown()"}),
        new_output("display_data", data={**live, "text/html": "<details>d</details>"}),
        new_output(
            "display_data", data={"application/javascript": "f()", "text/plain": "<J object>"}
        ),
        data(text_plain="[<matplotlib.lines.Line2D at 0x7f>]"),
        data(text_plain="<Figure size 640x480 with 1 Axes>"),
        new_output("display_data", data={"application/x-own": "?"}),
        new_output("stream", name="stdout", text="\x1b[31mred\x1b[0m"),
    ]
    made = notebook(code("x", *outputs))
    made.metadata["widgets"] = {"state": 1}
    found = prepared(made)
    kept = [
        next(iter(out.data.items())) if "data" in out else out.text
        for out in found.cells[0].outputs
    ]
    words = (
        "<p><em>Something interactive stands here in the notebook; a file cannot show it.</em></p>"
    )
    assert kept == [
        ("text/html", "<p>x</p>"),
        ("text/html", words),
        ("text/html", "<details>d</details>"),
        ("text/html", words),
        ("text/plain", "[<matplotlib.lines.Line2D at 0x7f>]"),
        "red",
    ]
    assert "widgets" not in found.metadata and "widgets" in made.metadata


def test_a_figure_keeps_its_alt_text_or_gets_one() -> None:
    described = data(image_png=PNG)
    described.metadata = {"image/png": {"alt": "a line", "width": 640}}
    made = notebook(
        "## Does it fall?", code("a", data(image_png=PNG)), "Where *it* falls,\nrecords are lost.",
        code("b", described),
    )  # fmt: skip
    first, second = (cell.outputs[0].metadata["image/png"] for cell in prepared(made).cells[1::2])
    assert (
        first["alt"]
        == "Figure 1, in the section “Does it fall?”. Where it falls, records are lost."
    )
    assert second == {"alt": "a line", "width": 640}


def test_endless_text_is_cut_and_says_so() -> None:
    cut = plain_text("a" * 100_000 + "bcd" + "e" * 100_000)
    assert cut == "a" * 100_000 + "\n… 3 characters left out …\n" + "e" * 100_000
    assert plain_text("a" * 200_000) == "a" * 200_000
    assert plain_text("\x1b]8;;https://e.org\x07link\x1b]8;;\x07 \x1b(B") == "link "


def test_a_stream_that_grows_keeps_its_ends_and_counts_the_rest() -> None:
    said = "".join(f"{n:06d} " for n in range(150_000))  # 7 characters each
    stream = new_output("stream", name="stdout", text="")
    for at in range(0, len(said), 7_000):
        stream.text += said[at : at + 7_000]
        shorten(stream)
    assert len(stream.text) <= 400_000
    made = notebook(code("x"))
    made.cells[0].outputs = [stream]
    shown = prepared(made).cells[0].outputs[0]
    begin, note, end = shown.text.split("\n")
    assert (begin, end) == (said[:100_000], said[-100_000:])
    assert note == "… 850,000 characters left out …"  # 1,050,000 - 200,000


@given(st.text("ab\r\n").filter(lambda text: "\r\r" not in text))
def test_lines_are_overwritten_as_nbclient_does_it(text: str) -> None:
    assert overwritten(text) == re.sub(r".*\r(?=[^\n])", "", text)


def test_markup_beyond_measure_gives_way_to_its_text() -> None:
    large = "<b>y</b>" * 1_000_000
    once = "<i>n</i>" * 15_000  # 30,000 tags: one fits into a cell, two do not
    made = notebook(
        code("a", data(text_html=large, text_plain="in short")),
        code("b", data(text_html=large, text_plain="<IPython.core.display.HTML object>")),
        code("c", data(text_html=once), data(text_html=once)),
        code("d", data(text_markdown="x" * 2_000_001)),
    )
    found = [[dict(out.data) for out in cell.outputs] for cell in prepared(made).cells]
    note = "… 8,000,000 characters of HTML left out: too much for a page"
    assert found == [
        [{"text/plain": f"in short\n{note}"}],
        [{"text/plain": note}],
        [{"text/html": once}, {"text/plain": note.replace("8,000,000", "120,000")}],
        [{"text/plain": "… 2,000,001 characters of Markdown left out: too much for a page"}],
    ]


# --- the page


SMALL = (
    "# Small <b>one</b>", HEAD, "## First\ntext", code("1 + 1", data(text_plain="2 < 3")),
    "## Second", code("x", data(text_html="<table><tr><td>1</td></tr></table>")), "## Third",
    code("f", data(image_png=PNG)), code("never"),
)  # fmt: skip


def test_the_page_is_one_file_without_a_script_and_the_same_each_time() -> None:
    page = notebook_html(notebook(*SMALL), "small")
    assert page == notebook_html(notebook(*SMALL), "small")
    assert "<script" not in page and "http" not in page.replace("http-equiv", "")
    assert "default-src 'none'" in page.partition("<style>")[0]
    assert "<title>Small &lt;b&gt;one&lt;/b&gt; - memeval notebook</title>" in page
    assert re.findall(r'<li><a href="#\w+" dir="auto">(\w+)</a>', page) == [
        "First",
        "Second",
        "Third",
    ]
    assert "2 &lt; 3" in page and "1 + 1" not in page and "never" not in page
    assert page.index("<h1") < page.index('<nav id="contents" aria') < page.index("<h2")
    assert re.search(r"<code>seed</code></th><td><code>3</code></td>", page)


def test_inputs_are_shown_when_asked_for() -> None:
    page = notebook_html(notebook(*SMALL), "small", inputs=True)
    text = re.sub(r"<[^>]*>", "", page)
    assert "1 + 1" in text and "never" in text and "seed = 3" in text


def test_an_error_that_no_output_tells_is_told_in_the_mark() -> None:
    stopped = Stopped("failed", 9, 4, 5, "UnicodeEncodeError", "<no>")
    page = notebook_html(notebook(*SMALL, code("x")), "s", stopped=stopped)
    assert "UnicodeEncodeError: &lt;no&gt;." in page
    error = new_output("error", ename="E", evalue="told", traceback=["told"])
    page = notebook_html(notebook(*SMALL, code("x", error)), "s", stopped=stopped)
    assert "UnicodeEncodeError" not in page


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("failed", "This cell failed"),
        ("died", "The kernel died here"),
        ("timeout", "This cell took too long"),
        ("interrupted", "Interrupted here"),
    ],
)
def test_a_page_that_is_not_complete_says_so_and_where(kind: str, said: str) -> None:
    stopped = Stopped(kind, 5, 2, 5, "Name", "message <b>")
    text = re.sub(
        r"\s*<[^>]*>\s*",
        " ",
        notebook_html(notebook(*SMALL), "s", stopped=stopped).partition("<main")[2],
    )
    assert "Not complete. 2 of 5 cells were run." in text
    assert said in text and "The 2 cells after it were not run" in text
    assert text.count("Not run.") == 2
    assert text.index("2 &lt; 3") < text.index(said) < text.index("Not run.")


def test_the_hostile_notebook_leaves_nothing_that_acts() -> None:
    stopped = Stopped("failed", len(hostile_notebook().cells) - 2, 1, 3, "<b>Bad", "<script>f()")
    page = notebook_html(hostile_notebook(), "<script>n</script>", inputs=True, stopped=stopped)
    body = page.partition("</style>\n</head>")[2]
    assert not re.search(r"<(script|iframe|object|form|base|meta|link|style|template)\b", body)
    seen = Seen()
    seen.feed(body)
    assert {"img", "table", "h1", "pre"} <= {tag for tag, _, _ in seen.found}
    for tag, name, value in seen.found:
        assert not name.startswith("on") and name not in ("srcdoc", "action"), (tag, name)
        assert name not in ("src", "href") or re.match(r"data:image/|#|https?:|mailto:", value)
        assert name != "style" or not re.search(r"url|position|z-index", value)
        assert (name != "src" or tag == "img") and (name != "href" or tag == "a")


class Seen(HTMLParser):
    """Every attribute of every tag."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, str, str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [(tag, name, value or "") for name, value in [("", ""), *attrs]]


# --- the real route: one notebook run to its end, one that fails, one that is interrupted


TINY = (
    "# Tiny", code("seed = 3\nwords = 'none'", tags=("parameters",)),
    "## Works", code("print(open('near.txt').read()); seed * 7"),
    code("import os, sys\nprint(sys.executable, words)\nprint(os.environ.get('MPLBACKEND'))"),
)  # fmt: skip


def test_a_notebook_is_run_here_and_leaves_only_its_page(
    here: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MPLBACKEND", "agg")
    (here / "near.txt").write_text("from the folder of the caller")
    (here / "books").mkdir()
    source = written(here / "books" / "tiny.ipynb", *TINY)
    before = source.read_bytes()
    calls = []
    path = export_notebook(
        source, "page.html", parameters={"seed": 6, "words": "a'b\"\\"},
        progress=lambda *call: calls.append(call),
    )  # fmt: skip
    page = path.read_text(encoding="utf-8")
    assert "from the folder of the caller" in page and ">42</pre>" in page
    assert f"{sys.executable} a'b\"\\" in page
    assert re.search(r"<code>6</code> <span class=\"given\">", page)
    assert calls[0] == (0, 4, "Tiny") and calls[-1] == (4, 4, "Works")
    assert sorted(os.listdir(here)) == ["books", "near.txt", "page.html"]
    assert source.read_bytes() == before
    assert capfd.readouterr() == ("", "")


def test_a_failing_cell_gives_the_page_up_to_there_and_exit_1(here: Path, capsys: Captured) -> None:
    written(here / "bad.ipynb", *TINY[:3], code("print('seen')\n1 / (seed - 3)"), code("'after'"))
    assert main(["report", "--notebook", "bad.ipynb", "-p", "words=x"]) == 1
    out, err = capsys.readouterr()
    assert out.splitlines()[0].startswith("bad: not complete, ") and out.endswith("\nbad.html\n")
    assert "cell 3 of 4 stopped it: ZeroDivisionError: division by zero" in err
    page = (here / "bad.html").read_text(encoding="utf-8")
    text = re.sub(r"<[^>]*>", "", page)
    assert "seen" in text and "1 / (seed - 3)" in text and "ZeroDivisionError" in text
    assert "\x1b" not in text and "'after'" not in text and "Not run." in text


def test_an_interruption_ends_the_kernel_and_keeps_the_page(here: Path, capsys: Captured) -> None:
    source = written(
        here / "slow.ipynb", "# Slow", code("import os; print('pid', os.getpid())"),
        code("import time; time.sleep(600)"),
    )  # fmt: skip

    def stop(done: int, total: int, label: str) -> None:
        if done == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt, match=r"page\.html"):
        export_notebook(source, "page.html", progress=stop)
    page = (here / "page.html").read_text(encoding="utf-8")
    assert "Interrupted here" in page
    pid = int(re.search(r"pid (\d+)", page)[1])  # type: ignore[index]
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_a_second_interruption_does_not_take_the_page(
    here: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(read: Any, **_: Any) -> Stopped:
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)  # while the kernel is ended
        return Stopped("interrupted", 1, 0, 3, "Interrupted", "stopped by the keyboard")

    def drawn(*args: Any, **named: Any) -> str:
        signal.raise_signal(signal.SIGINT)
        return notebook_html(*args, **named)

    monkeypatch.setattr("memeval.report.exporting.executing.run_cells", interrupted)
    monkeypatch.setattr("memeval.report.exporting.page.notebook_html", drawn)
    written(here / "tiny.ipynb", *TINY)
    assert main(["report", "--notebook", "tiny.ipynb"]) == 130
    out, err = capsys.readouterr()
    assert not out and err == "memeval: interrupted; the page up to there is tiny.html\n"
    assert "Interrupted here" in (here / "tiny.html").read_text(encoding="utf-8")
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_an_endless_stream_ends_and_a_time_limit_may_be_a_fraction(here: Path) -> None:
    loud = "import sys\nprint('late', file=sys.stderr)\nfor n in range(20): print('x' * 250_000)"
    surrogate = "raise ValueError('\\ud800')"
    made = notebook("# T", code(loud), code("import time; time.sleep(60)"))
    stopped = run_cells(made, folder=here, timeout=2.75)
    assert stopped is not None and stopped.cell == 2
    assert stopped.message.startswith("this cell took longer than 2.75 s")
    first, second = made.cells[1].outputs
    assert (first.name, second.name, second.text) == ("stdout", "stderr", "late\n")
    # 20 lines of 250,001 characters
    assert len(first.text) + first["left_out"] == 5_000_020
    stopped = run_cells(notebook("# T", code(surrogate)), folder=here)
    assert stopped is not None and "may hide the error of the cell" in stopped.message


def test_a_kernel_that_dies_is_told_with_its_last_words(here: Path) -> None:
    dies = "import os, sys; print('out of luck', file=sys.__stderr__, flush=True); os._exit(9)"
    source = written(here / "dies.ipynb", "# Dies", code("1"), code(dies), code("2"))
    with pytest.raises(
        NotebookError, match="cell 2 of 3 stopped it: The kernel died.*out of luck"
    ) as caught:
        export_notebook(source, "page.html")
    assert caught.value.path == here / "page.html"
    assert "The kernel died here" in (here / "page.html").read_text(encoding="utf-8")


# --- the command


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["-p", "sed=1"], "found no parameter 'sed' (write 'seed')"),
        (["-p", "seed"], "wanted NAME=VALUE"),
        (["--seed", "3"], "found --seed beside --notebook"),
        (["run.json"], "found FILE beside --notebook"),
        (["--html", "nowhere/a.html"], "there is no folder"),
        (["--html", "tiny.ipynb"], "no older page of a notebook"),
        (["--cell-timeout", "0"], "wanted seconds above 0"),
    ],
)
def test_what_cannot_be_run_is_exit_2_and_nothing_is_run(
    argv: list[str], said: str, here: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memeval.report.exporting.executing.run_cells", None)
    written(here / "tiny.ipynb", *TINY)
    assert main(["report", "--notebook", "tiny.ipynb", *argv]) == 2
    out, err = capsys.readouterr()
    assert not out and said in err
    assert os.listdir(here) == ["tiny.ipynb"]


def test_what_concerns_a_notebook_needs_one(here: Path, capsys: Captured) -> None:
    assert main(["report", "-p", "seed=3", "--inputs"]) == 2
    assert "found -p, --inputs without a notebook" in capsys.readouterr().err


def test_without_the_extra_it_says_what_to_install(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MemevalError, match=r"found no package .*memeval-toolkit\[notebook\]"):
        export_notebook("03", "page.html")


def test_a_large_page_is_warned_of_and_json_tells_the_size(
    here: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    def runs(read: Any, **_: Any) -> None:
        read.cells[3].outputs = [data(text_plain="x" * 90_000)]

    monkeypatch.setattr("memeval.report.exporting.executing.run_cells", runs)
    monkeypatch.setattr("memeval.cli.exporting.LARGE", 80_000)
    written(here / "tiny.ipynb", *TINY)
    assert main(["report", "--notebook", "tiny.ipynb", "--format", "json"]) == 0
    out, err = capsys.readouterr()
    told = json.loads(out)
    assert told["complete"] is True and told["n_bytes"] == (here / "tiny.html").stat().st_size
    assert "warning: tiny.html has 0.1 MB" in err


def test_the_notebooks_are_listed_in_80_columns(here: Path, capsys: Captured) -> None:
    assert main(["notebook", "list"]) == 0
    out = capsys.readouterr().out
    rows = [line for line in out.splitlines() if not line.startswith("  ")]
    assert max(map(len, rows)) <= 80 and "03_drift_curves" in out
    assert main(["notebook", "list", "--format", "json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [one["name"] for one in told] == [
        path.stem for path in sorted(notebooks_folder().glob("*.ipynb"))
    ]
    assert all(Path(one["path"]).is_file() for one in told)
    assert main(["notebook", "list", "--format", "markdown"]) == 0
    assert capsys.readouterr().out.count("\n") == len(told) + 2


def test_a_copy_is_whole_and_never_writes_over(here: Path, capsys: Captured) -> None:
    assert main(["notebook", "copy", "03"]) == 0
    mine = here / "03_drift_curves.ipynb"
    assert mine.read_bytes() == find_shipped("03").path.read_bytes()
    assert main(["notebook", "copy", "03"]) == 0  # the same already: nothing is lost
    mine.write_text("mine")
    capsys.readouterr()
    assert main(["notebook", "copy", "03"]) == 2
    assert "03_drift_curves.ipynb: already there, and would be lost" in capsys.readouterr().err
    assert main(["notebook", "copy", "--all"]) == 2
    assert mine.read_text() == "mine" and os.listdir(here) == [mine.name]
    assert main(["notebook", "copy", "03", "--force"]) == 0
    assert nbformat.read(mine, as_version=4).cells


def test_copies_go_where_they_are_told(here: Path, capsys: Captured) -> None:
    names = [one.name for one in shipped_notebooks()]
    assert main(["notebook", "copy", "--all", "books"]) == 0
    assert sorted(path.stem for path in (here / "books").iterdir()) == names
    assert main(["notebook", "copy", "01", "other.ipynb"]) == 0
    assert (here / "other.ipynb").is_file()
    capsys.readouterr()
    wrong = (
        "copy", "copy 1 2 3", "copy a --all b", "copy --all a.ipynb", "open", "list x",
        "list --force", "copy 1 no/such/folder",
    )  # fmt: skip
    for argv in wrong:
        assert main(["notebook", *argv.split()]) == 2, argv
        assert capsys.readouterr().err.startswith("memeval: ")


def test_a_copy_names_its_file_and_is_a_notebook(
    here: Path, capsys: Captured, tmp_path_factory: pytest.TempPathFactory
) -> None:
    assert main(["notebook", "copy", "03", "my y.ipynb"]) == 0
    assert capsys.readouterr().err == "memeval: open it with: jupyter lab 'my y.ipynb'\n"
    for argv in (["03", "x.txt"], ["--all", "x.txt"]):
        assert main(["notebook", "copy", *argv]) == 2
        assert "x.txt: found the suffix '.txt'" in capsys.readouterr().err
    assert os.listdir(here) == ["my y.ipynb"]
    (here / "v1.2").mkdir()
    assert main(["notebook", "copy", "03", "v1.2"]) == 0
    assert main(["notebook", "copy", "03", "v1.3/"]) == 0
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "theirs.ipynb"
    elsewhere.write_text("theirs")
    (here / "link.ipynb").symlink_to(elsewhere)
    assert main(["notebook", "copy", "03", "link.ipynb"]) == 2
    assert main(["notebook", "copy", "03", "link.ipynb", "--force"]) == 0
    assert elsewhere.read_text() == "theirs"
    copied = here / "link.ipynb"
    assert not copied.is_symlink() and copied.read_bytes() == find_shipped("03").path.read_bytes()


def test_open_copies_once_and_starts_jupyterlab(
    here: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[list[str]] = []

    class Lab:
        def __init__(self, command: list[str]) -> None:
            started.append(command)
            self.asked = 0

        def wait(self) -> int:
            self.asked += 1
            if self.asked == 1:
                raise KeyboardInterrupt  # Lab asks whether it shall end: it is waited for
            return 0

    monkeypatch.setattr(subprocess, "Popen", Lab)
    assert main(["notebook", "open", "drift"]) == 0
    (here / "03_drift_curves.ipynb").write_text("mine")
    assert main(["notebook", "open", "03"]) == 0
    assert (here / "03_drift_curves.ipynb").read_text() == "mine"
    assert started == [[sys.executable, "-m", "jupyterlab", "03_drift_curves.ipynb"]] * 2


def test_the_help_of_the_verb_fits_80_columns_and_its_example_runs(
    here: Path, capsys: Captured
) -> None:
    assert main(["notebook", "--help"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    assert main(lines[-1].split()[1:]) == 0
    assert capsys.readouterr().out == "03_drift_curves.ipynb\n"
