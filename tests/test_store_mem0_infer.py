"""mem0 with a model: what that makes of a text is the store's, and told as such."""

from __future__ import annotations

import importlib
import importlib.util
import os
import socket
import warnings
from collections.abc import Iterator
from typing import Any

import pytest
from openai_stub import DIMENSION, Model, model

import memeval as me
from memeval.record import Record
from memeval.stores.base import resolve

pytestmark = [
    pytest.mark.adapter,
    pytest.mark.skipif(
        importlib.util.find_spec("mem0") is None
        or importlib.util.find_spec("qdrant_client") is None,
        reason="not installed: mem0, qdrant_client",
    ),
]


class Asked:
    """A factory of memories that ask the scripted model, and where they connected to."""

    def __init__(self, base: str, scripted: Model) -> None:
        self.base, self.model = base, scripted
        self.reached: set[str] = set()

    def __call__(self) -> Any:
        qdrant = importlib.import_module("qdrant_client")
        mem0 = importlib.import_module("mem0")
        api = {"api_key": "none", "openai_base_url": self.base, "model": "stub"}
        client = {"client": qdrant.QdrantClient(":memory:"), "collection_name": "infer"}
        config = {
            "vector_store": {
                "provider": "qdrant", "config": client | {"embedding_model_dims": DIMENSION}
            },
            "embedder": {"provider": "openai", "config": api | {"embedding_dims": DIMENSION}},
            "llm": {"provider": "openai", "config": api},
            "history_db_path": ":memory:",
        }  # fmt: skip
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of Qdrant's indexes, in memory
            return resolve("mem0")(memory=mem0.Memory.from_config(config), infer=True)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> Iterator[Asked]:
    monkeypatch.setenv("MEM0_TELEMETRY", "False")
    monkeypatch.setenv("MEM0_DIR", os.fspath(tmp_path))
    resolve("mem0")().close()  # imports mem0, with all that warns of
    with model() as (base, scripted):
        made, connect = Asked(base, scripted), socket.socket.connect

        def noting(self: socket.socket, address: Any) -> Any:
            made.reached.add(address[0] if isinstance(address, tuple) else "local")
            return connect(self, address)

        monkeypatch.setattr(socket.socket, "connect", noting)
        yield made


def test_a_model_keeps_splits_or_forgets_and_the_receipt_says_which(asked: Asked) -> None:
    store = asked()
    kept = store.put(Record("r1", "My favourite tea is lapsang.", "ana"))
    assert (kept.outcome, kept.texts) == ("stored", ("My favourite tea is lapsang",))
    split = store.put(Record("r2", "The van is blue and the kiosk is green.", "ana"))
    assert split.outcome == "split" and len(split.store_ids) == 2
    assert split.texts == ("The van is blue", "the kiosk is green")
    assert store.put(Record("r3", "Hello there!", "ana")).outcome == "merged"
    found = store.search("which tea", k=5, scope="ana")
    assert (found[0].id, found[0].meta) == (kept.store_ids[0], {"id": "r1"})
    assert store.search("which tea", k=5, scope="bo") == []


def test_it_is_measured_and_asks_nobody_but_its_model(asked: Asked) -> None:
    probes = [
        me.Probe("tea", "favourite tea", [Record("r1", "My favourite tea is lapsang.")], ["r1"]),
        me.Probe(
            "van", "blue van", [Record("a", "The van is blue and the kiosk is green.", "ana")],
            ["a"], scope="ana",
        ),
        me.Probe("lost", "greeting", [Record("h", "Hello there, this is a greeting.")], ["h"]),
    ]  # fmt: skip
    run = me.run(probes, asked, repeats=1)
    assert run.results["passed"].tolist() == [True, True, False]
    assert run.calls["status"].eq("ok").all()  # merged away, by the receipt: into whatever it was
    assert run.hits["record_id"].notna().all() and not run.results["n_contract"].any()
    assert {path.rpartition("/")[2] for path in asked.model.asked} == {"embeddings", "completions"}
    assert asked.reached <= {"127.0.0.1", "local"}
