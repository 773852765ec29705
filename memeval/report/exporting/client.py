"""The client of a kernel that keeps of endless streams how they begin and how they end."""

from __future__ import annotations

from typing import Any

from nbclient import NotebookClient

from memeval.report.exporting.limiting import shorten


class Client(NotebookClient):
    """Runs notebooks; the texts of one stream in one cell are one output, as they come.

    Notes
    -----
    The ``coalesce_streams`` of nbclient does this after the cell, in time that grows with the
    square of the length of a line.
    """

    def output(
        self, outs: list[Any], msg: dict[str, Any], display_id: str | None, cell_index: int
    ) -> Any:
        """Take an output of the kernel; what a stream says is added to what it said before."""
        out = super().output(outs, msg, display_id, cell_index)
        if out is None or out.output_type != "stream":
            return out
        first = next(one for one in outs if one.get("name") == out.name)
        if first is not out:
            outs.pop()
            first.text += out.text
        elif out.name == "stdout" and [one.get("name") for one in outs[-2:-1]] == ["stderr"]:
            outs.insert(len(outs) - 2, outs.pop())  # which of them comes first is left to chance
        shorten(first)
        return first
