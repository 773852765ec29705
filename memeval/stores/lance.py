"""LanceDB, in a folder of its own."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memeval.record import Hit, Receipt, Record
from memeval.stores.base import Capabilities
from memeval.stores.nearest import NearestStore, latest, stored, wanted
from memeval.stores.needing import needed

if TYPE_CHECKING:
    from memeval.embedders.base import Embedder

TABLE = "records"


class LanceStore(NearestStore):
    """A table of LanceDB without an index: exact, by cosine, the scope in a column.

    Parameters
    ----------
    embedder : {'table', 'hash', 'minilm'} or Embedder
        What turns texts into vectors.
    path : str or Path, optional
        Folder of the database; by default a new temporary one, removed by `close`.

    Raises
    ------
    StoreError
        If the extra ``lancedb`` is not installed.

    Notes
    -----
    Conditions are texts of SQL, so quotes in a scope or an id are doubled. Metadata is kept as
    JSON, and each of its values once more in a list of tags, which is what a filter looks into. A
    record whose vector is zero has no cosine and is never found. A write is a version of the table
    and takes some 10 ms, so the table is dropped between probes and not emptied row by row.

    Examples
    --------
    >>> store = LanceStore()  # doctest: +SKIP
    >>> store.put(Record("tea", "My favourite tea is lapsang."))  # doctest: +SKIP
    >>> store.search("a hot drink", k=1, scope="default")  # doctest: +SKIP
    """

    distribution = "lancedb"
    capabilities = Capabilities(
        score_order="high",
        deterministic=True,
        honours=frozenset({"filter"}),
        isolation="clear",
        thread_safe=True,
    )

    def __init__(
        self, embedder: str | Embedder = "table", *, path: str | Path | None = None
    ) -> None:
        super().__init__(embedder)
        lancedb = needed("lancedb", store="lancedb", extra="lancedb")
        self._arrow = needed("pyarrow", store="lancedb", extra="lancedb")
        self._own = tempfile.mkdtemp(prefix="memeval-lance-") if path is None else None
        self._database = lancedb.connect(str(path or self._own))
        text, arrow = self._arrow.string(), self._arrow
        columns = {
            "id": text,
            "scope": text,
            "text": text,
            "meta": text,
            "tags": arrow.list_(text),
            "vector": arrow.list_(arrow.float32(), self.embedder.dimension),
        }
        self._schema = arrow.schema(list(columns.items()))
        self.table = self._opened()

    def _opened(self) -> Any:
        return self._database.create_table(TABLE, schema=self._schema, exist_ok=True)

    def put_many(self, records: Iterable[Record]) -> list[Receipt]:
        """Write several records by one merge on their ids."""
        kept = list(records)
        last = latest(kept)
        if last:
            rows = {
                "id": [one.id for one in last],
                "scope": [one.scope for one in last],
                "text": [one.text for one in last],
                "meta": [json.dumps(dict(one.meta)) for one in last],
                "tags": [_tags(one.meta) for one in last],
                "vector": self.vectors(last),
            }
            merge = self.table.merge_insert("id").when_matched_update_all()
            merge.when_not_matched_insert_all().execute(self._arrow.table(rows, self._schema))
        return stored(kept)

    def nearest(
        self, vector: list[float], k: int, scope: str, filter: Mapping[str, Any] | None
    ) -> list[Hit]:
        """Ask for the nearest records; the score is the cosine."""
        asked = self.table.search(vector).distance_type("cosine")
        asked = asked.where(_where(scope, filter), prefilter=True).limit(k)
        found = asked.select(["id", "text", "meta", "_distance"]).to_list()
        return [
            Hit(row["id"], row["text"], 1.0 - row["_distance"], json.loads(row["meta"]))
            for row in found
        ]

    def delete(self, store_id: str, *, scope: str | None = None) -> None:
        """Delete one record, where a scope is given only if it is there."""
        within = "" if scope is None else f" AND {_where(scope, None)}"
        self.table.delete(f"id = {_quoted(store_id)}{within}")

    def count(self, scope: str | None = None) -> int:
        """Count the records of the table, or of one scope."""
        return int(self.table.count_rows(None if scope is None else _where(scope, None)))

    def clear(self) -> None:
        """Drop the table and make a new one, which is far faster than to delete its rows."""
        self._database.drop_table(TABLE)
        self.table = self._opened()

    def close(self) -> None:
        """Remove the folder if it was made for this store."""
        if self._own is not None:
            shutil.rmtree(self._own, ignore_errors=True)
            self._own = None


def _quoted(text: str) -> str:
    """A text of SQL.

    Examples
    --------
    >>> _quoted("o'x")
    "'o''x'"
    """
    return "'" + text.replace("'", "''") + "'"


def _tag(key: str, value: Any) -> str:
    return json.dumps([key, value])


def _tags(meta: Mapping[str, Any]) -> list[str]:
    """Each value of the metadata, of a list each of its items."""
    return [_tag(key, value) for key, values in wanted(meta) for value in values]


def _where(scope: str, filter: Mapping[str, Any] | None) -> str:
    clauses = [f"scope = {_quoted(scope)}"]
    for key, values in wanted(filter):
        tags = ", ".join(_quoted(_tag(key, value)) for value in values)
        clauses.append(f"array_has_any(tags, [{tags}])")
    return " AND ".join(clauses)
