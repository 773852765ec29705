"""Notebooks made by hand, for the tests of their export."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from typing import Any

import nbformat
from nbformat.v4 import (
    new_code_cell,
    new_markdown_cell,
    new_notebook,
    new_output,
)
from report_fixtures import PAYLOADS

# One black point.
PNG = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk"
    "+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 4 4" onload="parent.pwned=1">'
    '<script>parent.pwned=1</script><image href="https://example.invalid/x.png"/></svg>'
)
WIDGET = "application/vnd.jupyter.widget-view+json"
STATE = "application/vnd.jupyter.widget-state+json"
# What texts of others can carry into the markup of a cell.
MARKUP = (
    *(text for text in PAYLOADS if "\ud800" not in text and "\x00" not in text),
    '<div style="position:fixed;inset:0;z-index:9;background:url(https://example.invalid/a)">over</div>',
    "<style>main{display:none} @import 'https://example.invalid/b.css';</style>",
    "<iframe src='https://example.invalid/c' srcdoc='<script>parent.pwned=1</script>'></iframe>",
    "<form action='https://example.invalid/d'><button autofocus onfocus='pwned=1'>send</button>",
    "<link rel=stylesheet href=https://example.invalid/e.css><object data=https://example.invalid/f>",
    "<svg><animate onbegin='window.pwned=1' attributeName=x dur=1s /><use href='#a'/></svg>",
    "<math><mtext><table><mglyph><style><!--</style><img title='--&gt;&lt;img src=1 onerror="
    "window.pwned=1&gt;'></table></mtext></math>",
    "</div></main></body></html>after the end",
    "<img alt='a cat' src='https://example.invalid/g.png'>",
)


def code(source: str, *outputs: Any, tags: tuple[str, ...] = ()) -> Any:
    """A cell of code with its outputs; its id is its source, in short."""
    metadata = {"tags": list(tags)} if tags else {}
    return new_code_cell(source, outputs=list(outputs), metadata=metadata)


def data(**forms: str) -> Any:
    """An output in several forms; ``text_html`` stands for ``text/html``."""
    return new_output("display_data", data={k.replace("_", "/", 1): v for k, v in forms.items()})


def notebook(*cells: Any) -> Any:
    """A notebook; a text is a cell of markdown. Ids are by place, so that two are the same."""
    made = new_notebook()
    made.cells = [new_markdown_cell(c) if isinstance(c, str) else deepcopy(c) for c in cells]
    for n, cell in enumerate(made.cells):
        cell["id"] = f"c{n}"
    return made


def written(path: Path, *cells: Any) -> Path:
    """A notebook in a file."""
    nbformat.write(notebook(*cells), path)
    return path


def hostile_notebook() -> Any:
    """Every way by which a text reaches the page, with every text that has ever broken one."""
    cells: list[Any] = ["# Hostile <script>window.pwned=1</script> `title` </title></style>"]
    for text in MARKUP:
        cells += [
            text,
            code(
                text,
                data(text_html=text),
                data(text_markdown=f"text\n\n{text}\n\n[go](javascript:window.pwned=1)"),
                data(text_plain=text),
                new_output("stream", name="stdout", text=text),
                new_output("stream", name="stderr", text=text),
            ),
            code("figure", _figure(text)),
        ]
    svg = new_output("display_data", data={"image/svg+xml": SVG})
    js = new_output("display_data", data={"application/javascript": "window.pwned=1"})
    live = new_output("display_data", data={WIDGET: {"model_id": "m"}, "text/plain": "Dropdown()"})
    error = new_output(
        "error", ename="<b>Bad", evalue=MARKUP[0], traceback=["\x1b[31m" + t for t in MARKUP]
    )
    cells += [code("svg", svg), code("live", js, live), code("fails", error), code("never")]
    made = notebook(*cells)
    made.metadata["widgets"] = {STATE: {"state": {"m": {"x": "</script>" + MARKUP[0]}}}}
    return made


def _figure(alt: str) -> Any:
    output = new_output("display_data", data={"image/png": PNG})
    output.metadata = {"image/png": {"alt": alt, "width": 9}}
    return output
