"""Records, times and metadata in the forms that SQLite holds, and back."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Any, NamedTuple

from memeval.errors import StoreError
from memeval.record import Hit, Record

Key = str | bytes
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SURROGATE = re.compile("[\ud800-\udfff]")
_MICRO = timedelta(microseconds=1)


class Row(NamedTuple):
    """A record as the database holds it; times are microseconds since 1970, UTC."""

    id: Key
    scope: Key
    text: str
    at: int | None
    expires: int | None
    meta: str
    supersedes: tuple[Key, ...]


def to_row(record: Record) -> Row:
    """Turn a record into a row.

    Raises
    ------
    StoreError
        If a field cannot be kept.
    """
    if not isinstance(record.text, str):
        kind = type(record.text).__name__
        raise StoreError(
            f"record {record.id!r}: text is a {kind}, wanted a string; write it as one"
        )
    return Row(
        key(record.id),
        key(record.scope),
        _held(record.text),
        _time(record, "at", record.at),
        _time(record, "expires", record.expires),
        _json(record.meta, f"record {record.id!r}") if record.meta else "{}",
        _replaced(record) if record.supersedes else (),
    )


def _time(record: Record, name: str, time: datetime | None) -> int | None:
    return None if time is None else micros(time, f"record {record.id!r}: {name}")


def _replaced(record: Record) -> tuple[Key, ...]:
    if isinstance(record.supersedes, str):
        raise StoreError(
            f"record {record.id!r}: supersedes is a string, wanted a tuple of ids; give (id,)"
        )
    return tuple(key(old) for old in record.supersedes if old != record.id)


def key(name: str) -> Key:
    """Spell an id or a scope so that two differ where their strings do; lone surrogates as bytes.

    Raises
    ------
    StoreError
        If it is not a string.
    """
    if not isinstance(name, str):
        kind = type(name).__name__
        raise StoreError(f"found a {kind} as id or scope, wanted a string; write it as one")
    return name.encode("utf-8", "surrogatepass") if _has_surrogate(name) else name


def _held(text: str) -> str:
    if _has_surrogate(text):
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def _has_surrogate(text: str) -> bool:
    return not text.isascii() and _SURROGATE.search(text) is not None


def micros(time: datetime, where: str) -> int:
    """Count a time in microseconds since 1970.

    Raises
    ------
    StoreError
        If it is no datetime, or has no time zone.
    """
    if not isinstance(time, datetime) or time.utcoffset() is None:
        raise StoreError(
            f"{where} is {time!r}, wanted a datetime with a time zone; such as "
            "datetime(2026, 5, 1, tzinfo=timezone.utc)"
        )
    return (time - _EPOCH) // _MICRO


def check_question(query: str, k: int, scope: str) -> None:
    """Refuse what no search can answer.

    Raises
    ------
    StoreError
        If query or scope is no string, or k no whole number from 1.
    """
    for name, value in (("query", query), ("scope", scope)):
        if not isinstance(value, str):
            kind = type(value).__name__
            raise StoreError(f"search: {name} is a {kind}, wanted a string; pass one")
    if not isinstance(k, int) or isinstance(k, bool) or k < 1:
        raise StoreError(f"search: k is {k!r}, wanted a whole number from 1; pass one")


def hits(rows: Iterable[tuple[Any, ...]], wanted: Mapping[str, Any] | None) -> Iterator[Hit]:
    """Turn rows (id, text, bm25, at, meta) into hits, as they are asked for.

    Parameters
    ----------
    rows : iterable of tuple
        Best first.
    wanted : mapping, optional
        A filter on the metadata: rows that do not meet it are passed over.
    """
    plain = json.loads(_json(wanted, "filter")) if wanted else {}
    for found, text, score, at, meta in rows:
        fields = json.loads(meta)
        if _meets(fields, plain):
            name = found.decode("utf-8", "surrogatepass") if isinstance(found, bytes) else found
            time = {} if at is None else {"at": _EPOCH + at * _MICRO}
            yield Hit(name, text, -score, time | fields)


def _meets(fields: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    for name, value in wanted.items():
        if name not in fields:
            return False
        held = fields[name] if isinstance(fields[name], list) else [fields[name]]
        if not any(item in held for item in (value if isinstance(value, list) else [value])):
            return False
    return True


def _json(fields: Mapping[str, Any], where: str) -> str:
    try:
        return _ENCODER.encode(dict(fields))
    except (TypeError, ValueError) as error:
        raise StoreError(
            f"{where}: the metadata cannot be kept ({error}), wanted text, numbers, truth values, "
            "times, lists and mappings; leave out the rest"
        ) from error


def _plain(value: object) -> Any:
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, set | frozenset):
        return sorted(value, key=repr)
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"a {type(value).__name__} is no plain value")


_ENCODER = json.JSONEncoder(default=_plain)
