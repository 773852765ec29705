"""An executed notebook, made ready to be drawn: one form of each output, plain words, alt texts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

from memeval.report.exporting.executing import Stopped
from memeval.report.exporting.limiting import (
    LEFT_OUT,
    LONGEST_TEXT,
    OBJECT,
    ends_of,
    overwritten,
    within,
)
from memeval.report.exporting.shipped import section_of
from memeval.report.templating import shown

WIDGET = "application/vnd.jupyter.widget-view+json"
# A picture or table before the text; what only a running notebook can show is told in words.
ORDER = ("text/html", "image/svg+xml", "image/png", "image/jpeg", "text/markdown", "text/plain")
IMAGES = ("image/svg+xml", "image/png", "image/jpeg")
LIVE = "Something interactive stands here in the notebook; a file cannot show it."
LONGEST_ALT = 300
_ANSI = re.compile(
    r"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b\[[0-?]*[ -/]*[@-~]|\x1b[()].|\x1b[@-Z\\-_]"
)


def prepared(notebook: Any, stopped: Stopped | None = None) -> Any:
    """Copy a notebook with outputs as a page shows them.

    Parameters
    ----------
    notebook : nbformat.NotebookNode
        An executed notebook, whole or not.
    stopped : Stopped, optional
        Where it came to no end.

    Returns
    -------
    nbformat.NotebookNode
        Each output of a cell has one form only, text is without escapes, each figure has an alt
        text in its metadata; the state of widgets is gone. Metadata ``memeval`` of a cell says
        whether it failed or was not run, and which one holds the first heading.
    """
    made = deepcopy(notebook)
    made.metadata.pop("widgets", None)
    heading, n_figures = "", 0
    for at, cell in enumerate(made.cells):
        if not heading and section_of(cell):
            cell.metadata["memeval"] = "first"
        heading = [heading, *section_of(cell)][-1]
        if cell.cell_type != "code":
            continue
        if stopped is not None and cell.source.strip():
            cell.metadata["memeval"] = _fate(at, stopped)
        cell.outputs = [one for output in within(cell.outputs) if (one := _chosen(output))]
        for output in cell.outputs:
            for kind in set(IMAGES) & set(output.get("data", {})):
                n_figures += 1
                told = output.metadata.get(kind, {})
                words = told.get("alt") or cell.metadata.get("alt")
                words = words or _alt(n_figures, heading, _reading(made.cells, at))
                width = told.get("width")
                output.metadata = {
                    kind: {
                        "alt": shown(str(words))[:LONGEST_TEXT],
                        "width": width if isinstance(width, int) else "",
                    }
                }
    return made


def _fate(at: int, stopped: Stopped) -> str:
    if at == stopped.cell:
        return stopped.kind
    return "not run" if at > stopped.cell else ""


def _chosen(output: Any) -> Any:
    """An output in the one form that is shown; None for what shows nothing."""
    if output.output_type == "stream":
        output.text = plain_text(overwritten(output.text), output.pop(LEFT_OUT, 0))
        return output if output.text.strip() else None
    if output.output_type == "error":
        output.ename, output.evalue = plain_text(output.ename), plain_text(output.evalue)
        output.traceback = [plain_text("\n".join(output.traceback))]
        return output
    data = output.data
    kind = next((kind for kind in ORDER if data.get(kind)), None)
    if kind in (None, "text/plain") and _is_live(data):
        output.data = {"text/html": f"<p><em>{LIVE}</em></p>"}
        return output
    if kind is None:
        return None
    value = data[kind]
    text = value if isinstance(value, str) else "".join(map(str, value))
    if kind == "text/plain" and OBJECT.fullmatch(text.strip()):
        return None
    output.data = {kind: plain_text(text) if kind == "text/plain" else text}
    return output


def _is_live(data: Any) -> bool:
    return WIDGET in data or any("javascript" in kind for kind in data)


def plain_text(text: str, gone: int = 0) -> str:
    r"""Text of a program without its escapes, and without its middle where it is endless.

    Parameters
    ----------
    text : str
        Any text.
    gone : int
        How many characters have been left out of its middle already.

    Examples
    --------
    >>> plain_text("\x1b[31mred\x1b[0m\r\n\x00")
    'red\n␀'
    """
    begin, n, end = ends_of(_ANSI.sub("", text).replace("\r\n", "\n"), gone)
    told: str = shown(begin)
    return f"{told}\n… {n:,} characters left out …\n{shown(end)}" if n else told


def _alt(n: int, heading: str, reading: str) -> str:
    """Words for a figure that nobody has described: where it stands, and how it is read."""
    where = f"Figure {n}, in the section “{heading}”" if heading else f"Figure {n}"
    return f"{where}. {reading}".strip()


def _reading(cells: list[Any], at: int) -> str:
    """The paragraph after a figure, which says how to read it, as plain words."""
    for cell in cells[at + 1 : at + 2]:
        if cell.cell_type == "markdown" and not cell.source.lstrip().startswith("#"):
            return _short(" ".join(_sentences(cell.source)))
    return ""


def _sentences(source: str) -> Iterator[str]:
    paragraph = re.sub(r"[*`_]|<[^>]*>", "", source.strip().split("\n\n")[0])
    yield from " ".join(paragraph.split()).split("\n")


def _short(text: str) -> str:
    if len(text) <= LONGEST_ALT:
        return text
    return text[:LONGEST_ALT].rpartition(" ")[0] + " …"
