"""Values of a dataclass against the kinds that it names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import pytest

from memeval.typed import typed


@dataclass
class Kinds:
    n: int = 0
    x: float = 0.0
    maybe: int | None = None
    word: Literal["a", "b"] = "a"
    texts: tuple[str, ...] = ()
    bounds: Mapping[str, float] = field(default_factory=dict)
    anything: Any = None


@pytest.mark.parametrize(
    "values",
    [{}, {"n": 3, "x": 1, "maybe": 2, "word": "b"}, {"texts": ("a",), "bounds": {"a": 1}}],
)
def test_values_of_their_kinds_pass(values: dict[str, Any]) -> None:
    made = Kinds(**values)
    assert typed(made) is made


@pytest.mark.parametrize(
    "values",
    [
        {"n": True},
        {"n": 1.0},
        {"x": "1"},
        {"x": None},
        {"maybe": "x"},
        {"word": "c"},
        {"word": ["a"]},
        {"texts": ["a"]},
        {"texts": (1,)},
        {"bounds": {"a": "x"}},
        {"bounds": {1: 1.0}},
        {"bounds": []},
    ],
)
def test_a_value_of_another_kind_is_named(values: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match=f"^{next(iter(values))} is "):
        typed(Kinds(**values))
