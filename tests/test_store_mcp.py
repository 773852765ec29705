"""MCP servers: one of our own over both transports, and real ones where they are installed."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

import memeval as me
from memeval.errors import StoreError
from memeval.record import Record
from memeval.stores.base import resolve
from memeval.stores.declared import ready

pytest.importorskip("mcp", reason="not installed: mcp")
pytestmark = pytest.mark.adapter

SERVER = Path(__file__).with_name("mcp_memory.py")
CAPABILITIES = "capabilities: {isolation: namespace, score_order: high}\n"
DELETE = 'delete: {tool: delete_memory, arguments: {id: "{store_id}", user_id: "{scope}"}}\n'
PROBES = [
    me.Probe("tea", "lapsang tea", [Record("r1", "My tea is lapsang."), Record("r2", "A van.")],
             ["r1"]),
    me.Probe("mine", "tea", [Record("a", "tea one", "ana"), Record("b", "tea two", "bo")], ["a"],
             ["b"], scope="ana"),
]  # fmt: skip


def write(folder, text, name="store.yaml"):
    (folder / name).write_text("kind: mcp\n" + text)
    return str(folder / name)


def stdio(kind):
    return f"command: {json.dumps([sys.executable, str(SERVER), kind])}\n"


@pytest.fixture
def opened():
    stores = []

    def make(path):
        stores.append(resolve(path)())
        return stores[-1]

    yield make
    for store in stores:
        store.close()
        assert not store._thread.is_alive()


def test_tools_are_found_by_their_schemas_and_the_server_is_measured(tmp_path):
    run = me.run(PROBES, write(tmp_path, stdio("plain") + CAPABILITIES + DELETE))
    assert run.recall_at_k == 1.0 and run.leaks == 0 and run.passed
    told = run.manifest.store_info
    assert told["tools"] == {
        "put": "add_memory", "search": "search_memory", "delete": "delete_memory"
    }  # fmt: skip
    assert told["server"] == "test-memory"


def test_prose_is_read_by_lines(tmp_path, opened):
    text = (
        stdio("prose")
        + 'search:\n  tool: recall\n  arguments: {query: "{query}", user_id: "{scope}"}\n'
    )
    store = opened(
        write(tmp_path, text + "  lines: '- #(?P<id>\\d+) (?P<text>.*) \\((?P<score>\\d+)\\)'\n")
    )
    store.put(Record("r1", "My tea is lapsang.", "ana"))
    (hit,) = store.search("tea", k=5, scope="ana")
    assert (hit.id, hit.text, hit.score) == ("0", "My tea is lapsang.", 1.0)
    assert store.search("tea", k=5, scope="bo") == []


def test_prose_without_lines_is_an_error_and_never_an_empty_answer(tmp_path, opened):
    store = opened(write(tmp_path, stdio("prose")))
    with pytest.raises(
        StoreError, match=r"the answer is prose \(Nothing is known.\).*search.lines"
    ):
        store.search("tea", k=5, scope="bo")


def test_two_tools_that_would_do_are_told_with_their_parameters(tmp_path):
    path = write(tmp_path, stdio("several"))
    with pytest.raises(StoreError, match=r"search: several tools would do \(search_memory, find_doc"
                       r".*add_memory\(text, id, user_id\).*name one in the file"):  # fmt: skip
        resolve(path)()
    named = write(tmp_path, stdio("plain") + "put: {tool: store, arguments: {}}\n")
    with pytest.raises(StoreError, match="put: the server has no tool 'store'; it has add_memory"):
        resolve(named)()


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("FAIL", "search: search_memory says Error executing tool"),
        ("DIE", "(?s)search.*the server said last: the server is up.*out of memory"),
        ("HANG", "no answer of search_memory within 3 s"),
    ],
)
def test_a_server_that_fails_is_told(tmp_path, opened, query, message):
    store = opened(write(tmp_path, stdio("plain")))
    store.put(Record("r1", "tea"))
    store._limit = 3.0
    with pytest.raises(StoreError, match=message):
        store.search(query, k=5, scope="default")


def test_a_server_that_does_not_come_up_is_told(tmp_path):
    with pytest.raises(StoreError, match="did not come up"):
        resolve(write(tmp_path, "command: [no-such-server]\n"))()
    dies = json.dumps([sys.executable, "-c", "import sys; sys.exit('no licence')"])
    with pytest.raises(StoreError, match="did not come up.*the server said last: no licence"):
        resolve(write(tmp_path, f"command: {dies}\n"))()


def test_it_works_where_a_loop_runs_already(tmp_path):
    path = write(tmp_path, stdio("plain") + CAPABILITIES + DELETE)

    async def notebook():
        return me.run(PROBES, path)

    assert asyncio.run(notebook()).recall_at_k == 1.0


def test_over_http(tmp_path, opened):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, str(SERVER), "plain", str(port)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            path = write(tmp_path, f"url: http://127.0.0.1:{port}/mcp\n" + CAPABILITIES + DELETE)
            for _ in range(100):
                with socket.socket() as tried:
                    if tried.connect_ex(("127.0.0.1", port)) == 0:
                        break
                time.sleep(0.1)
            assert me.run(PROBES, path).recall_at_k == 1.0
            keyed = path.replace("store", "keyed")
            Path(keyed).write_text(Path(path).read_text() + 'headers: {X-Key: "{env:OUR_KEY}"}\n')
            os.environ["OUR_KEY"] = "sk-1"
            store = opened(keyed)
            store.put(Record("r1", "tea"))
            assert [hit.id for hit in store.search("tea", k=1, scope="default")] == ["r1"]
        finally:
            os.environ.pop("OUR_KEY", None)
            server.terminate()


@pytest.fixture
def reference(tmp_path):
    """The reference server from npm, as it is installed in a folder."""
    folder = os.environ.get("MEMEVAL_MCP_NPM", "")
    program = Path(folder, "node_modules", ".bin", "mcp-server-memory")
    if not folder or not program.exists():
        pytest.skip("MEMEVAL_MCP_NPM names no folder with @modelcontextprotocol/server-memory")
    text = ready()["mcp-server-memory"].read_text()
    wanted = '[npx, -y, "@modelcontextprotocol/server-memory"]'
    assert wanted in text
    (tmp_path / "npm.yaml").write_text(text.replace(wanted, json.dumps([str(program)])))
    return str(tmp_path / "npm.yaml")


def test_the_reference_server_keeps_the_old_text_and_wants_the_whole_query(reference, opened):
    store = opened(reference)
    store.put(Record("r1", "My favourite tea is lapsang."))
    store.put(Record("r1", "My favourite tea is assam."))
    (hit,) = store.search("tea is lapsang", k=5, scope="default")
    assert (hit.id, hit.text) == ("r1", "My favourite tea is lapsang.")
    assert store.search("lapsang favourite", k=5, scope="default") == []
    store.delete("r1", scope="default")
    assert store.search("lapsang", k=5, scope="default") == []


def test_the_reference_server_is_measured_without_scopes(reference):
    word = me.Probe("word", "lapsang", [Record("r1", "My tea is lapsang.")], ["r1"])
    probes = [*PROBES, word]
    run = me.run(probes, reference)
    results = run.results.set_index("probe")
    assert results["status"]["mine"] == "not_supported"
    assert not results["recall_all"]["tea"] and results["recall_all"]["word"]
    assert any("scopes not measured" in note for note in run.manifest.notes)


@pytest.fixture
def from_pypi(tmp_path):
    """The server of memorymesh, as it is installed beside this Python."""
    program = Path(sys.executable).with_name("memorymesh-mcp")
    if not program.exists():
        pytest.skip("not installed beside this Python: memorymesh, a server from PyPI")
    text = ready()["memorymesh"].read_text()
    assert "[memorymesh-mcp]" in text
    told = text.replace("[memorymesh-mcp]", json.dumps([str(program)]))
    (tmp_path / "pypi.yaml").write_text(told)
    return str(tmp_path / "pypi.yaml")


def test_a_server_from_pypi_gives_ids_of_its_own_and_keeps_what_is_written_twice(from_pypi, opened):
    store = opened(from_pypi)
    first = store.put(Record("r1", "My favourite tea is lapsang."))
    again = store.put(Record("r1", "My favourite tea is assam."))
    assert first.store_ids != again.store_ids and "r1" not in (*first.store_ids, *again.store_ids)
    found = {hit.id: hit.text for hit in store.search("favourite tea", k=5, scope="default")}
    assert found == {
        first.store_ids[0]: "My favourite tea is lapsang.",
        again.store_ids[0]: "My favourite tea is assam.",
    }
    assert store.search("lapsang favourite", k=5, scope="default") == []
    store.delete(again.store_ids[0], scope="default")
    assert [hit.id for hit in store.search("tea", k=5, scope="default")] == list(first.store_ids)


def test_a_server_from_pypi_is_measured_by_its_receipts(from_pypi):
    word = me.Probe("word", "lapsang", [Record("r1", "My tea is lapsang.")], ["r1"])
    run = me.run([*PROBES, word], from_pypi)
    results = run.results.set_index("probe")
    assert results["status"]["mine"] == "not_supported"
    assert not results["recall_all"]["tea"] and results["recall_all"]["word"]
    assert set(run.hits["resolved_by"]) == {"receipt"} and not results["n_contract"].any()
    assert run.manifest.store_info["server"] == "memorymesh"
