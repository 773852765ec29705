"""What a GitHub workflow shows of a run: annotations at the lines of the probes.

A line whose first signs but for spaces are two colons is a command to the runner, and so is
``##[command]`` anywhere in a line. Texts of others are encoded here: they can neither end their
line nor begin another command. What a verb prints besides is not, so the runner is told to take no
commands of it (`memeval.cli.publishing`).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from memeval.comparison import Comparison
from memeval.report import control_rows
from memeval.report.plain_probes import probe_text
from memeval.report.probes import Ledger
from memeval.runs import Run, Validity, Verdict
from memeval.text import count, visible

__all__ = ["compared", "controlled", "ran"]

# The runner shows ten errors of a step; what is beyond stands in the step summary.
MOST_SHOWN = 10
LONGEST_TITLE = 120


def ran(run: Run) -> str:
    """Annotations of a run: its verdict where it is not good, and the probes that did not pass.

    Parameters
    ----------
    run : Run
        What is told; of an invalid suite no probe is.

    Returns
    -------
    str
        A command to the runner on each line.
    """
    return "\n".join(_ran(run))


def _ran(run: Run) -> Iterator[str]:
    yield from _verdict(run.verdict, "run")
    if control_rows.withheld(run.validity):
        return
    ledger = Ledger(run)
    level = "error" if run.verdict.exit_code else "warning"
    for name in ledger.failing[:MOST_SHOWN]:
        probe, row = ledger.probes[name], ledger.row(name)
        kind = "error" if row.leaks else level
        title = f"{name}: {row.outcome}"
        yield _command(kind, title, probe_text(ledger, name), probe.file, probe.line)
    more = len(ledger.failing) - MOST_SHOWN
    if more > 0:
        yield _command("notice", "memeval", f"and {count(more, 'more probe')} did not pass")


def controlled(validity: Validity, verdict: Verdict) -> str:
    """Annotation of the controls, where they did not come out well.

    Parameters
    ----------
    validity : Validity
        What they come to; a weak suite is a warning.
    verdict : Verdict
        The same as a verdict.
    """
    lines = list(_verdict(verdict, "control"))
    if not lines and validity.status == "weak":
        lines.append(_command("warning", "memeval control: weak suite", verdict.reason))
    return "\n".join(lines)


def compared(comparison: Comparison) -> str:
    """Annotation of a comparison that did not end with a pass.

    Parameters
    ----------
    comparison : Comparison
        What is told.
    """
    verdict = comparison.verdict
    if verdict.word == "CANNOT TELL" and not verdict.exit_code:
        return _command("warning", "memeval compare: CANNOT TELL", verdict.reason)
    return "\n".join(_verdict(verdict, "compare"))


def _verdict(verdict: Verdict, verb: str) -> Iterator[str]:
    if verdict.exit_code:
        words = (
            f"{verdict.reason}\nNext: {verdict.next_step}" if verdict.next_step else verdict.reason
        )
        yield _command("error", f"memeval {verb}: {verdict.word}", words)


def _command(level: str, title: str, message: str, file: str = "", line: int = 0) -> str:
    told = {
        "file": _relative(file),
        "line": str(line or ""),
        "title": visible(title, LONGEST_TITLE),
    }
    properties = ",".join(f"{name}={_property(value)}" for name, value in told.items() if value)
    return f"::{level} {properties}::{_data(_safe(message))}"


def _relative(file: str) -> str:
    """The file as the repository has it, where it lies in the working folder."""
    if not file:
        return ""
    path = Path(os.path.abspath(file))
    here = Path.cwd()
    return path.relative_to(here).as_posix() if path.is_relative_to(here) else ""


def _safe(message: str) -> str:
    return "\n".join(visible(line) for line in message.split("\n"))


def _data(text: str) -> str:
    text = text.replace("##[", "## [")
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
