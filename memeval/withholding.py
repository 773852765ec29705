"""Records without their texts, for whoever may see the numbers and not the data."""

from __future__ import annotations

from dataclasses import replace

from memeval.record import Op, Record

WITHHELD = "(withheld)"


def without_text(op: Op) -> Op:
    """One step of a history without texts; what has none stays as it is."""
    return bare_record(op) if isinstance(op, Record) else op


def bare_record(record: Record) -> Record:
    """A record without its text and its metadata."""
    return replace(record, text=WITHHELD, meta={})
