"""What a store tells of itself, made into what a run file can hold."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import numpy as np
import odd_stores as odd
import pytest

from memeval.errors import said
from memeval.files.resultsfile import write_results
from memeval.files.runfiles import load_run, save_run
from memeval.plain import plain
from memeval.probe import Probe
from memeval.record import Hit, Record
from memeval.runner import run

PROBES = [Probe("noodles", "red noodles", [Record("r1", "Noodles at the red bar.")], ["r1"])]


class Mute:
    """Cannot even be told."""

    def __str__(self) -> str:
        raise RuntimeError("no")


class MuteError(ValueError):
    def __str__(self) -> str:
        raise RuntimeError("no")


def itself() -> dict[str, Any]:
    inner: dict[str, Any] = {}
    inner["inner"] = inner
    return inner


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        (float("nan"), "nan"),
        (float("-inf"), "-inf"),
        pytest.param(10**5000, hex(10**5000), id="a very long number"),
        (np.float32(1.5), 1.5),
        (np.int64(3), 3),
        (np.longdouble(3), "3.0"),
        ("half \ud800", "half \ufffd"),
        ({(1, 2): {3, 1}}, {"(1, 2)": [1, 3]}),
        (itself(), {"inner": "..."}),
        ((b"x", None, True), ["b'x'", None, True]),
        (Mute(), "a Mute (RuntimeError: no)"),
    ],
)
def test_any_value_becomes_one_that_json_can_hold(value: object, wanted: object) -> None:
    assert plain(value) == wanted
    json.dumps(plain(value), allow_nan=False).encode()


@pytest.mark.parametrize("told", [{"lock": threading.Lock()}, {"nan": float("nan")}, itself()])
def test_a_run_is_saved_whatever_the_store_tells_of_itself(
    told: dict[str, Any], tmp_path: Path
) -> None:
    store = type("Telling", (odd.Plain,), {"info": lambda self: told})
    made = run(PROBES, store)
    assert load_run(save_run(made, tmp_path / "run.json")).manifest == made.manifest


class Halves(odd.Plain):
    """Returns half characters in ids and texts, and raises them."""

    def search(self, query: str, **options: Any) -> list[Hit]:
        if "fail" in query:
            raise ValueError("half \ud800")
        return [Hit("\udc00", "half \ud800"), *super().search(query, **options)]


def test_half_characters_of_a_store_do_not_keep_a_run_from_being_saved(tmp_path: Path) -> None:
    made = run([*PROBES, Probe("fail", "fail", PROBES[0].given, ["r1"])], Halves)
    assert list(made.hits["store_id"]) == ["\ufffd", "r1"]
    assert made.calls["error"][1].endswith("half \ufffd")
    back = load_run(save_run(made, tmp_path / "run.json"))
    assert back.hits.equals(made.hits)
    write_results(made, tmp_path / "results.json")


def test_an_error_that_cannot_be_told_is_told_by_its_kind() -> None:
    assert said(MuteError()) == "MuteError: (its message cannot be had: RuntimeError)"
    assert len(said(ValueError("x" * 10**6))) < 2100
