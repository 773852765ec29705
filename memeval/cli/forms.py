"""Results in the form that was asked for: a table of 80 columns, Markdown, or strict JSON."""

from __future__ import annotations

import json
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from memeval.cli.console import show

if TYPE_CHECKING:
    import pandas as pd

    from memeval.runs import Run

FAILING = 10
CAUSES = 40


def form(name: str) -> Any:
    """Import the module of the report package that writes this form."""
    return import_module(f"memeval.report.{'markdown' if name == 'markdown' else 'plain'}")


def show_json(value: Any) -> None:
    """Print strict JSON, in ASCII where the console has no Unicode."""
    wide = (sys.stdout.encoding or "ascii").lower().replace("-", "").startswith("utf")
    show(json.dumps(value, indent=2, allow_nan=False, ensure_ascii=not wide))


def rows(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Rows of a frame as plain values; NA and what is not finite are None."""
    plain: list[dict[str, Any]] = json.loads(frame.to_json(orient="records", double_precision=15))
    return plain


def show_run(run: Run, name: str) -> None:
    """Print summary, verdict, causes and failing probes, or the JSON of the results file."""
    if name == "json":
        from memeval.files.resultsfile import results_payload

        show_json(results_payload(run))
        return
    words = form(name)
    parts = [
        words.summary_text(run),
        words.verdict_text(run),
        words.causes_text(run, CAUSES),
        words.failing_text(run, FAILING),
    ]
    show("\n\n".join(part.strip("\n") for part in parts if part.strip()))
