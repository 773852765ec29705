"""Hits and receipts in every form that stores return."""

from __future__ import annotations

import math
from typing import NamedTuple
from uuid import UUID

import numpy as np
import pytest

from memeval.record import Hit, Receipt, Record

WRITTEN = Record("g1", "A pilot's licence.", "ana", meta={"type": "note"})


class SpecHit:
    def __init__(self, record: object, score: object, why: str = "") -> None:
        self.record, self.score, self.why = record, score, why


class NamedHit(NamedTuple):
    id: str
    text: str
    score: float


class Document:
    def __init__(self, text: str) -> None:
        self.text = text
        self.metadata = {"source": "g1"}


@pytest.mark.parametrize(
    ("found", "hit"),
    [
        (Hit("m", "t", 0.5), Hit("m", "t", 0.5)),
        (SpecHit(WRITTEN, 0.5, "words"), Hit("g1", "A pilot's licence.", 0.5, {"type": "note"})),
        (SpecHit("g1", None), Hit("g1")),
        ({"id": "m", "text": "t", "score": 1, "meta": {"a": 1}}, Hit("m", "t", 1.0, {"a": 1})),
        ({"id": 7, "metadata": {"a": 1}}, Hit("7", meta={"a": 1})),
        ({"text": "t"}, Hit(None, "t")),
        ({"record": {"id": "m", "text": "t"}, "score": 0.25}, Hit("m", "t", 0.25)),
        (("m", 0.5), Hit("m", "", 0.5)),
        (["m", None], Hit("m")),
        (["m"], Hit("m")),
        ((None, None), Hit(None)),
        ((WRITTEN, 0.5), Hit("g1", "A pilot's licence.", 0.5, {"type": "note"})),
        ((Document("t"), 0.5), Hit(None, "t", 0.5, {"source": "g1"})),
        (NamedHit("m", "t", 0.5), Hit("m", "t", 0.5)),
        ("m", Hit("m")),
        (7, Hit("7")),
        (-1, Hit("-1")),
        (np.int64(7), Hit("7")),
        (UUID(int=1), Hit("00000000-0000-0000-0000-000000000001")),
        (None, Hit(None)),
        (Document("t"), Hit(None, "t", meta={"source": "g1"})),
    ],
)
def test_a_hit_is_read_in_every_form_that_stores_return(found: object, hit: Hit) -> None:
    read = Hit.of(found)
    assert read == hit
    assert dict(read.meta) == dict(hit.meta)


def test_a_hit_whose_values_have_other_types_is_made_one_of_texts_and_floats() -> None:
    read = Hit.of(Hit(7, None, np.float32(0.5), None))  # type: ignore[arg-type]
    assert (read.id, read.text, read.score, dict(read.meta)) == ("7", "", 0.5, {})
    assert type(read.score) is float


def test_a_score_that_is_nan_stays_nan_and_a_missing_one_none() -> None:
    assert math.isnan(Hit.of(("m", float("nan"))).score or 0.0)
    assert Hit.of({"id": "m"}).score is None


@pytest.mark.parametrize(
    ("found", "says"),
    [
        (1.5, "float without id and text"),
        (True, "bool without id and text"),
        (b"m", "bytes without id and text"),
        ({}, "dict without id and text"),
        ({"content": "t"}, "dict without id and text"),
        (object(), "object without id and text"),
        ((), "tuple of 0"),
        (("m", "t", 0.5), "tuple of 3"),
        (("m", "high"), "a score is 'high', wanted a number"),
        ({"id": "m", "score": [1]}, "a score is"),
        ({"id": {"$oid": "m"}}, "an id is a dict"),
        ({"id": "m", "meta": "{}"}, "metadata of a hit is a str, wanted a mapping"),
    ],
)
def test_another_form_is_refused_with_what_to_return_instead(found: object, says: str) -> None:
    with pytest.raises(TypeError) as caught:
        Hit.of(found)
    assert says in str(caught.value)
    assert "return" in str(caught.value)


@pytest.mark.parametrize(
    ("returned", "receipt"),
    [
        (Receipt("merged", ("m",), ("t",)), Receipt("merged", ("m",), ("t",))),
        (Receipt("stored", "m-81"), Receipt("stored", ("m-81",))),  # type: ignore[arg-type]
        (Receipt("split", [1, 2]), Receipt("split", ("1", "2"))),  # type: ignore[arg-type]
        (Receipt("stored", ("m",), "t"), Receipt("stored", ("m",), ("t",))),  # type: ignore[arg-type]
        ("m", Receipt("stored", ("m",))),
        (7, Receipt("stored", ("7",))),
        (np.int64(7), Receipt("stored", ("7",))),
        (UUID(int=1), Receipt("stored", ("00000000-0000-0000-0000-000000000001",))),
        (None, Receipt("stored", ("g1",))),
        (True, Receipt("stored", ("g1",))),
        (False, Receipt("rejected")),
        ([], Receipt("rejected")),
        ([None], Receipt("rejected")),
        (["m"], Receipt("stored", ("m",))),
        (["m", "m"], Receipt("stored", ("m",))),
        (["m", 2], Receipt("split", ("m", "2"))),
        (("m-81", "m-82"), Receipt("split", ("m-81", "m-82"))),
    ],
)
def test_a_receipt_is_read_in_every_form_that_put_returns(
    returned: object, receipt: Receipt
) -> None:
    assert Receipt.of(returned, WRITTEN) == receipt


@pytest.mark.parametrize(
    ("returned", "says"),
    [
        ({"id": "m"}, "put returned a dict"),
        (1.5, "put returned a float"),
        ([{"id": "m"}], "an id is a dict"),
        (Receipt("ok", ("m",)), "the outcome 'ok', wanted one of stored, merged"),  # type: ignore[arg-type]
    ],
)
def test_another_receipt_is_refused_with_what_is_wanted(returned: object, says: str) -> None:
    with pytest.raises(TypeError) as caught:
        Receipt.of(returned, WRITTEN)
    assert says in str(caught.value)
    assert "wanted" in str(caught.value)
