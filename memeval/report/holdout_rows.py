"""What a look at the held-out probes came to, as the reports say it; nothing without a look."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from memeval.gap import Gap, holdout_gap
from memeval.ledger import Wear, wear
from memeval.report.control_rows import WITHHELD, withheld
from memeval.report.figures import UNDEFINED, count
from memeval.report.layout import paragraph
from memeval.runs import Run
from memeval.text import markdown_cell

TITLE = "dev probes and held-out ones"
UNCOUNTED = (
    "this look is not counted: the run has no ledger with it; count it with me.append_look before "
    "you read on"
)
INDENT = 9


@dataclass(frozen=True, slots=True)
class Told:
    """The look in words.

    Attributes
    ----------
    numbers : str
        Recall of either side and the difference; that there are none, where the suite is invalid.
    judged : str
        What the difference comes to; empty where no number is shown.
    looks : str
        How often somebody has looked, and how far that flatters.
    warning : str
        What to do where the holdout is worn out; else empty.
    """

    numbers: str
    judged: str
    looks: str
    warning: str

    @property
    def lines(self) -> list[tuple[str, str]]:
        """Each with the word that leads it in, without what is empty."""
        led = {
            "recall:": self.numbers,
            "gap:": self.judged,
            "looks:": self.looks,
            "warning:": self.warning,
        }
        return [(head, words) for head, words in led.items() if words]


def told(run: Run) -> Told | None:
    """Say what the look came to; None where no held-out probe was asked."""
    if not run.suite.looked_at:
        return None
    used = _wear(run)
    warning = worn_words(used) if used is not None and used.worn_out else ""
    if withheld(run.validity):
        return Told(WITHHELD, "", UNCOUNTED if used is None else looks_words(used), warning)
    gap = holdout_gap(run)
    looks = UNCOUNTED if used is None else looks_words(used, gap)
    return Told(_numbers(gap), gap.reason, looks, warning)


def _wear(run: Run) -> Wear | None:
    held = run.suite.held_out
    return None if run.looks is None or held is None else wear(run.looks, held.hash)


def _numbers(gap: Gap) -> str:
    return (
        f"dev {_figure(gap.dev)} (n = {gap.n_dev}), held out {_figure(gap.held_out)} "
        f"(n = {gap.n_held_out}); dev minus held out {_figure(gap.gap, '+')} "
        f"[{_figure(gap.low, '+')}, {_figure(gap.high, '+')}]"
    )


def _figure(value: float, sign: str = "") -> str:
    return UNDEFINED if math.isnan(value) else f"{value:{sign}.3f}"


def looks_words(used: Wear, gap: Gap | None = None) -> str:
    """How often somebody has looked, and how far the best of what was seen may flatter."""
    said = f"{count(used.n_looks, 'look')} at this holdout, {count(used.n_answers, 'answer')} seen"
    if used.n_answers > 1:
        said += f"; the best of these flatters by up to {used.flattered:.2f} standard errors"
        error = math.nan if gap is None or not gap.n_held_out else _standard_error(gap)
        said += "" if math.isnan(error) else f" ({used.flattered * error:.3f} of recall here)"
    if used.n_before:
        said += f"; {count(used.n_before, 'look')} at what was held out before"
    return said


def _standard_error(gap: Gap) -> float:
    return math.sqrt(gap.held_out * (1.0 - gap.held_out) / gap.n_held_out)


def worn_words(used: Wear) -> str:
    """Say that the holdout is worn out, and what to do."""
    return (
        f"the holdout is worn out: the best of {used.n_answers} answers flatters by half the width "
        "of a 95 % interval; write new probes and hold out of these, and count the old ones as dev"
    )


def holdout_text(run: Run) -> str:
    """Lines of at most 80 columns; empty where no held-out probe was asked."""
    found = told(run)
    if found is None:
        return ""
    lines = [paragraph(words, INDENT, first=head) for head, words in found.lines]
    return "\n".join([f"HOLDOUT: {TITLE}", *lines])


def holdout_markdown(run: Run) -> str:
    """A section of Markdown; empty where no held-out probe was asked."""
    found = told(run)
    if found is None:
        return ""
    points = [f"- **{head}** {markdown_cell(words)}" for head, words in found.lines]
    return "\n".join([f"## Holdout: {TITLE}", "", *points])


def holdout_payload(run: Run) -> dict[str, Any]:
    """Plain values for JSON under ``holdout``; empty where no held-out probe was asked."""
    held = run.suite.held_out
    if held is None or not run.suite.looked_at:
        return {}
    made: dict[str, Any] = {"share": held.share, "n_probes": len(run.suite.looked_at)}
    used = _wear(run)
    if used is not None:
        made |= {name: getattr(used, name) for name in Wear.__slots__}
    if not withheld(run.validity):
        gap = holdout_gap(run)
        values = {name: getattr(gap, name) for name in Gap.__slots__}
        made |= {n: None if isinstance(v, float) and math.isnan(v) else v
                 for n, v in values.items()}  # fmt: skip
    return {"holdout": made}
