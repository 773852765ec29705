"""Why a planted probe is lost: asked of the store at the checkpoint at which it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from memeval.errors import said
from memeval.harness.desk import Desk
from memeval.harness.inquiry import Cause, Inquiry
from memeval.harness.strays import Strays
from memeval.record import Record
from memeval.simulating.scoring import Answered
from memeval.stores.bound import CallLimitError

Row = dict[str, Any]


class Losses:
    """Which planted probes passed when they were last asked."""

    def __init__(self) -> None:
        self._passing: set[tuple[str, int]] = set()

    def recall(self, rows: Sequence[Row]) -> None:
        """Take over what was found at a checkpoint before."""
        for row in rows:
            self._turned(row)

    def explained(
        self,
        answers: Sequence[Answered],
        desk: Desk,
        records: Mapping[str, Record],
    ) -> list[Row]:
        """Rows with the cause of each probe that passed the last time and does not now."""
        made, strays = [], Strays()
        for answer in answers:
            lost = self._turned(answer.row)
            cause = _cause(answer, desk, records, strays) if lost else None
            made.append(answer.row | {"cause": cause})
        return made

    def _turned(self, row: Row) -> bool:
        """Note whether it passes; True where it has just ceased to."""
        name = (row["probe"], row["cohort"])
        lost = not row["passed"] and name in self._passing
        (self._passing.add if row["passed"] else self._passing.discard)(name)
        return lost


def _cause(answer: Answered, desk: Desk, records: Mapping[str, Record], strays: Strays) -> str:
    """The cause in a word, in the words of `memeval.frames.CAUSE_WORDS`."""
    status = answer.row["status"]
    if status in ("failed", "timeout"):
        return "failed"
    inquiry = Inquiry(
        desk=desk,
        probe=answer.probe,
        labels=answer.labels,
        records=records,
        status=status,
        error="",
        breaches=answer.breaches,
        lost_at=lambda score: (0, 0),
        wait_s=0.0,  # what was written last has been waited for
        strays=strays,
    )
    return _found(inquiry).cause


def _found(inquiry: Inquiry) -> Cause:
    try:
        return inquiry.cause()
    except CallLimitError:
        raise
    except Exception as error:  # the store fails while it is asked why: that is the cause
        return Cause("failed", said(error))
