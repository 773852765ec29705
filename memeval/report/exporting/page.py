"""An executed notebook as one HTML page, by nbconvert and a template of our own."""

from __future__ import annotations

import re
from html import unescape
from importlib.resources import as_file, files
from typing import Any

from memeval.environment import tool_version
from memeval.report.exporting.cleaning import clean_html, sheet
from memeval.report.exporting.executing import Stopped
from memeval.report.exporting.parameters import shown_parameters
from memeval.report.exporting.preparing import ORDER, plain_text, prepared
from memeval.report.exporting.shipped import heading_of
from memeval.report.templating import render, resource

NO_CONTENTS = '<nav id="contents"></nav>'
FEW_SECTIONS = 3
_SECTION = re.compile(r'<h2 id="([^"]*)">((?:(?!</h2>).)*?)<a class="anchor-link"', re.DOTALL)
_TAG = re.compile(r"<[^>]*>")
POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
    "form-action 'none'"
)


def notebook_html(
    notebook: Any, name: str, *, inputs: bool = False, stopped: Stopped | None = None
) -> str:
    """Draw an executed notebook.

    Parameters
    ----------
    notebook : nbformat.NotebookNode
        With its outputs; it stays as it is.
    name : str
        What the notebook is called, for the footer, and for the title where it has no heading.
    inputs : bool
        Whether the code of cells is in it.
    stopped : Stopped, optional
        Where the notebook came to no end: the page says so, above and at that cell.

    Returns
    -------
    str
        A whole HTML document; the same, byte for byte, for the same notebook.

    Notes
    -----
    It holds no script, and nothing in it loads. Cleaning is the first line, the policy the second.
    """
    from nbconvert.exporters import HTMLExporter
    from traitlets.config import Config

    ready = prepared(notebook, stopped)
    values = {
        "name": name,
        "title": heading_of(ready.cells) or name,
        "headed": bool(heading_of(ready.cells)),
        "stopped": stopped,
        "version": tool_version(),
        "parameters": shown_parameters(notebook),
        "policy": POLICY,
        "styles": _styles(ready),
    }
    config = Config({"NbConvertBase": {"display_data_priority": list(ORDER)}})
    with as_file(files("memeval.report") / "templates") as templates:
        exporter = HTMLExporter(  # type: ignore[no-untyped-call]
            config=config,
            template_name="memeval",
            extra_template_basedirs=[str(templates)],
            exclude_input=not inputs,
            exclude_input_prompt=True,
            exclude_output_prompt=True,
            filters={"clean": clean_html, "clean_text": plain_text},
        )
        parts = {
            "head": render("memeval/head.html.j2", **values),
            "foot": render("memeval/foot.html.j2", **values),
            "stop": _stop(stopped, ready.cells),
        }
        page, _ = exporter.from_notebook_node(ready, {"memeval": parts})
    return page.replace(NO_CONTENTS, _contents(page), 1).rstrip("\n") + "\n"


def _stop(stopped: Stopped | None, cells: list[Any]) -> str:
    """Say what stopped the notebook, in full where the outputs of the cell do not."""
    if stopped is None:
        return ""
    rest = stopped.n_cells - stopped.n_run - 1
    outputs = cells[stopped.cell].get("outputs", [])
    told = any(output.output_type == "error" for output in outputs)
    return render("memeval/stopped.html.j2", stopped=stopped, rest=rest, told=told)


def _contents(page: str) -> str:
    """Links to the sections, where there are enough of them to get lost in."""
    found = [(anchor, _words(heading)) for anchor, heading in _SECTION.findall(page)]
    many = len(found) >= FEW_SECTIONS
    return render("memeval/contents.html.j2", sections=found) if many else NO_CONTENTS


def _words(markup: str) -> str:
    return unescape(_TAG.sub("", markup))


def _styles(notebook: Any) -> Any:
    """Our style sheet, and what is left of those of tables that came with their own."""
    from markupsafe import Markup

    own = resource("memeval/export.css")
    theirs = [
        sheet(output.data["text/html"])
        for cell in notebook.cells
        for output in cell.get("outputs", [])
        if "text/html" in output.get("data", {})
    ]
    # Ours is a file of this package; of theirs `sheet` lets nothing through that ends the element.
    return Markup("\n".join([own, *filter(None, theirs)]))  # noqa: S704
