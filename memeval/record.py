"""What goes into a store and what comes out of it.

A probe's ``given`` is an ordered history of operations: a `Record` is a write, and
`Delete`, `Consolidate` and `Advance` are what else can happen to a store.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from numbers import Integral
from typing import Any, Literal, get_args

Meta = Mapping[str, Any]
Outcome = Literal["stored", "merged", "rejected", "split"]
OUTCOMES: tuple[str, ...] = get_args(Outcome)


@dataclass(frozen=True, slots=True, init=False)
class Record:
    """One thing to remember.

    Attributes
    ----------
    id : str
        The author's name for it; within a probe an id belongs to one scope.
    text : str
        What is remembered. Other people's data: never trusted, never acted on.
    scope : str
        Whose memory it is; scopes compare whole, never by prefix.
    at : datetime or None
        When it was said, time zone aware.
    unit : str or None
        The author's label of the information unit; kept from the store.
    supersedes : tuple of str
        Ids of the records that this one replaces, as told to the store.
    expires : datetime or None
        From when it no longer holds, time zone aware.
    meta : mapping
        Further fields that a store may filter on.

    Examples
    --------
    >>> Record("r1", "Lunch is at the noodle bar.", scope="ana").scope
    'ana'
    """

    id: str
    text: str
    scope: str = "default"
    at: datetime | None = None
    unit: str | None = None
    supersedes: tuple[str, ...] = ()
    expires: datetime | None = None
    meta: Meta = field(default_factory=dict, hash=False)

    # What a frozen dataclass writes for itself sets by name, which takes thrice as long, and
    # records are made by the hundred thousand.
    def __init__(
        self,
        id: str,
        text: str,
        scope: str = "default",
        at: datetime | None = None,
        unit: str | None = None,
        supersedes: tuple[str, ...] = (),
        expires: datetime | None = None,
        meta: Meta | None = None,
    ) -> None:
        _set_id(self, id)
        _set_text(self, text)
        _set_scope(self, scope)
        _set_at(self, at)
        _set_unit(self, unit)
        _set_supersedes(self, supersedes)
        _set_expires(self, expires)
        _set_meta(self, {} if meta is None else meta)


(
    _set_id,
    _set_text,
    _set_scope,
    _set_at,
    _set_unit,
    _set_supersedes,
    _set_expires,
    _set_meta,
) = (vars(Record)[name].__set__ for name in Record.__slots__)


@dataclass(frozen=True, slots=True)
class Delete:
    """Delete the record with this id."""

    id: str


@dataclass(frozen=True, slots=True)
class Consolidate:
    """Let the store tidy up; a store that has no such step does nothing."""


@dataclass(frozen=True, slots=True)
class Advance:
    """Let this much time pass for the store."""

    by: timedelta


Op = Record | Delete | Consolidate | Advance


@dataclass(frozen=True, slots=True)
class Hit:
    """One record that a search returned; its rank is its place in the answer.

    Attributes
    ----------
    id : str or None
        The store's own id, None where the store gives none.
    text : str
        The text as the store returned it.
    score : float or None
        The store's own scale; shown, never sorted by.
    meta : mapping
        Whatever else came with it.
    """

    id: str | None
    text: str = ""
    score: float | None = None
    meta: Meta = field(default_factory=dict, hash=False)

    @classmethod
    def of(cls, found: object) -> Hit:
        """Read one hit in any of the forms that stores return.

        Parameters
        ----------
        found : object
            A `Hit`; an object with a ``record`` (and a ``score``); an object or a mapping with
            ``id``, ``text``, ``score`` and ``meta``; an (id, score) or (record, score) pair; a
            bare id. An id is a text, a whole number or a UUID.

        Raises
        ------
        TypeError
            If it is none of these.

        Examples
        --------
        >>> Hit.of(("r1", 0.5))
        Hit(id='r1', text='', score=0.5, meta={})
        >>> Hit.of({"id": 7, "text": "noodles", "metadata": {"src": "r1"}}).meta
        {'src': 'r1'}
        """
        if type(found) is cls and type(found.id) is type(found.text) is str:
            if type(found.meta) is dict and type(found.score) in _SCORES:
                return found  # the usual one, told quickly
        if isinstance(found, Hit) and _is_typed(found):
            return found
        if found is None or _is_id(found):
            return cls(_id(found))
        if isinstance(found, list | tuple) and not hasattr(found, "_fields"):
            return _pair(found)
        fields = found if isinstance(found, Mapping) else _attributes(found)
        if "record" in fields:
            return replace(cls.of(fields["record"]), score=_score(fields.get("score")))
        if not fields.keys() & {"id", "text"}:
            raise TypeError(
                f"a hit is a {type(found).__name__} without id and text; return Hit(id, text, "
                "score), a mapping with these keys, or (id, score) pairs"
            )
        meta = fields.get("meta") or fields.get("metadata") or {}
        if not isinstance(meta, Mapping):
            raise TypeError(
                f"the metadata of a hit is a {type(meta).__name__}, wanted a mapping; return a "
                "dict, or leave it out"
            )
        text, score = fields.get("text"), _score(fields.get("score"))
        return cls(_id(fields.get("id")), "" if text is None else str(text), score, meta)


_SCORES = (float, type(None))


def _is_typed(hit: Hit) -> bool:
    """Whether the values of a hit are of the kinds that it names."""
    return (
        isinstance(hit.id, str | None)
        and isinstance(hit.text, str)
        and isinstance(hit.score, float | None)
        and isinstance(hit.meta, Mapping)
    )


def _pair(found: Sequence[Any]) -> Hit:
    """Read (id, score), (record, score), or one of them alone."""
    if not 1 <= len(found) <= 2:
        raise TypeError(
            f"a hit is a {type(found).__name__} of {len(found)}, wanted an (id, score) pair; "
            "return Hit(id, text, score) where there is more to say"
        )
    return replace(Hit.of(found[0]), score=_score(found[1] if len(found) == 2 else None))


def _attributes(found: object) -> dict[str, Any]:
    known = ("record", "id", "text", "score", "meta", "metadata")
    return {name: getattr(found, name) for name in known if hasattr(found, name)}


def _is_id(found: object) -> bool:
    uuid = sys.modules.get("uuid")  # who has one has imported it, and it is slow to import
    kinds = (str, Integral) if uuid is None else (str, Integral, uuid.UUID)
    return isinstance(found, kinds) and not isinstance(found, bool)


def _id(found: Any) -> str | None:
    if found is None or _is_id(found):
        return None if found is None else str(found)
    raise TypeError(
        f"an id is a {type(found).__name__}, wanted a text or a whole number; return the id alone"
    )


def _score(found: Any) -> float | None:
    try:
        return None if found is None else float(found)
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"a score is {found!r:.60}, wanted a number or None; return Hit(id, text, score) or "
            "(id, score) pairs"
        ) from error


@dataclass(frozen=True, slots=True)
class Receipt:
    """What a write came to.

    Attributes
    ----------
    outcome : {'stored', 'merged', 'rejected', 'split'}
        ``merged``: the text now lives under another record's id; ``split``: it became several.
    store_ids : tuple of str
        The store's own ids for it, empty when rejected.
    texts : tuple of str
        The texts kept, where the store rewrites; empty where it keeps what it is given.
    """

    outcome: Outcome
    store_ids: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()

    @classmethod
    def of(cls, returned: object, record: Record) -> Receipt:
        """Read what a ``put`` returned, in any of its forms.

        Parameters
        ----------
        returned : object
            A `Receipt`; an id; a list of ids, where an empty one says that nothing was stored;
            None, where the store kept the record under its own id.
        record : Record
            What was written.

        Raises
        ------
        TypeError
            If it is none of these, or a receipt has an unknown outcome.

        Examples
        --------
        >>> Receipt.of(["m-81", "m-82"], Record("g1", "A pilot's licence."))
        Receipt(outcome='split', store_ids=('m-81', 'm-82'), texts=())
        >>> Receipt.of([], Record("g1", "A pilot's licence.")).outcome
        'rejected'
        """
        if isinstance(returned, Receipt):
            return _checked(returned)
        if isinstance(returned, list | tuple | set | frozenset):
            ids = _ids(returned)
            return cls("rejected" if not ids else "stored" if len(ids) == 1 else "split", ids)
        if returned is None or isinstance(returned, bool):
            return cls("stored", (record.id,)) if returned is not False else cls("rejected")
        if _is_id(returned):
            return cls("stored", (str(returned),))
        raise TypeError(
            f"put returned a {type(returned).__name__}, wanted a Receipt, an id, a list of ids or "
            "None; return one of these"
        )


def _checked(receipt: Receipt) -> Receipt:
    """The same receipt, its ids and texts as tuples of texts."""
    if receipt.outcome not in OUTCOMES:
        raise TypeError(
            f"a receipt has the outcome {receipt.outcome!r}, wanted one of {', '.join(OUTCOMES)}; "
            "use one of these words"
        )
    if type(receipt.store_ids) is type(receipt.texts) is tuple and _all_texts(receipt):
        return receipt
    texts = (receipt.texts,) if isinstance(receipt.texts, str) else tuple(receipt.texts)
    return Receipt(receipt.outcome, _ids(receipt.store_ids), texts)


def _all_texts(receipt: Receipt) -> bool:
    """Whether it already is as it should be: at most one id, a text; this is the usual one."""
    ids = receipt.store_ids
    return not receipt.texts and (not ids or (len(ids) == 1 and type(ids[0]) is str))


def _ids(returned: Any) -> tuple[str, ...]:
    """Ids as a tuple of texts, each once; one bare id is a tuple of one."""
    listed = (returned,) if _is_id(returned) else returned
    named = (_id(found) for found in listed)
    return tuple(dict.fromkeys(name for name in named if name is not None))
