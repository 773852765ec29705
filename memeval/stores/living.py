"""Which records of a store in this process are kept, which of them are hidden, and what time it is.

The rules are those of the embedded store (`memeval.stores.sqlite`): ``supersedes`` hides a record
of the same scope for good, whenever it is written, until the newer one is superseded in turn; a
record that expires is judged against ``now``, else against a clock.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Self

from memeval.errors import StoreError
from memeval.stores.sqlite_rows import Key, Row, micros

LATEST = 2**63 - 1


class Living:
    """Rows by their ids, who replaced whom in which scope, and the clock.

    Attributes
    ----------
    rows : dict
        Id to `Row`.
    replaced : dict
        Scope to the ids replaced there, and those to the ids that replaced them.
    clock : int or None
        Microseconds since 1970, None before time has passed.
    """

    def __init__(self) -> None:
        self.rows: dict[Key, Row] = {}
        self.replaced: dict[Key, dict[Key, set[Key]]] = {}
        self.clock: int | None = None

    def copy(self) -> Self:
        """Another one that says the same and goes its own way."""
        twin = type(self)()
        twin.rows = dict(self.rows)
        twin.replaced = {
            scope: {old: set(news) for old, news in olds.items()}
            for scope, olds in self.replaced.items()
        }
        twin.clock = self.clock
        return twin

    def write(self, row: Row) -> None:
        """Write or update a row, and note what it replaces."""
        self.rows[row.id] = row
        for old in row.supersedes:
            olds = self.replaced.setdefault(row.scope, {})
            olds.get(row.id, set()).discard(old)
            olds.setdefault(old, set()).add(row.id)
        if self.clock is not None and row.at is not None:
            self.clock = max(self.clock, row.at)

    def hidden(self, scope: Key) -> Iterable[Key]:
        """Ids that are superseded in a scope, whether or not there is a record of them."""
        return (old for old, news in self.replaced.get(scope, {}).items() if news)

    def clear(self, scope: Key | None) -> None:
        """Forget everything, or the rows of a scope and what was replaced there."""
        if scope is None:
            self.__init__()  # type: ignore[misc]
            return
        self.rows = {name: row for name, row in self.rows.items() if row.scope != scope}
        self.replaced.pop(scope, None)

    def advance(self, by: timedelta) -> None:
        """Let time pass from the latest ``at``, or the time of day where there is none.

        Raises
        ------
        StoreError
            If ``by`` is no time or goes backwards.
        """
        if not isinstance(by, timedelta) or by < timedelta(0):
            raise StoreError(f"advance: found {by!r}, wanted a timedelta from 0; give one")
        start = self.clock
        if start is None:
            told = [row.at for row in self.rows.values() if row.at is not None]
            start = max(told) if told else micros(datetime.now(UTC), "time of day")
        self.clock = min(start + by // timedelta(microseconds=1), LATEST)


def tie_order(row: Row) -> tuple[bool, int, str, bool, Key]:
    """Key by which rows of equal scores are sorted: the latest first, then by text and id."""
    at = 0 if row.at is None else -row.at
    return row.at is None, at, row.text, isinstance(row.id, bytes), row.id
