"""Stores that a YAML file declares: over HTTP, and programs that speak JSON lines."""

from __future__ import annotations

import copy
import json
import re
import sys
import textwrap
import time
import uuid
from pathlib import Path

import pytest
import yaml

import memeval as me
from memeval.errors import StoreError
from memeval.record import Record
from memeval.stores.base import resolve
from memeval.stores.declared import (
    factory_of,
    load_ready,
    load_store,
    read_declaration,
    ready,
)
from tests.loopback import serving

PROBES = [
    me.Probe("tea", "which tea", [Record("r1", "My tea is lapsang."), Record("r2", "A van.")],
             ["r1"]),
    me.Probe("mine", "tea", [Record("a", "tea one", "ana"), Record("b", "tea two", "bo")], ["a"],
             ["b"], scope="ana"),
    me.Probe("gone", "tea", [Record("a", "old tea"), me.Delete("a"), Record("b", "new tea")], ["b"],
             ["a"]),
]  # fmt: skip
OWN = """
kind: http
about: a service of a test
version: "3.1"
base: {base}
headers: {{Authorization: "Bearer {{env:OUR_TEST_KEY}}"}}
timeout_s: 5
capabilities: {{score_order: high, isolation: namespace, thread_safe: true, deterministic: true}}
put:
  path: /memories/{{scope}}
  json: {{id: "{{id}}", text: "{{text}}", at: "{{at}}"}}
search:
  method: GET
  path: /memories/{{scope}}
  query: {{q: "{{query}}", n: "{{k}}"}}
  items: found
  id: id
  text: text
  score: score
delete:
  method: DELETE
  path: /memories/{{scope}}/{{store_id}}
count:
  method: GET
  path: /count
  value: n
"""
KEY = "sk-tested-7361"


class Service:
    """A memory behind HTTP that ranks by shared words."""

    def __init__(self):
        self.kept, self.asked = {}, []

    def __call__(self, request):
        self.asked.append(request)
        if request.headers.get("Authorization") != f"Bearer {KEY}":
            return 401, {"error": f"not {request.headers.get('Authorization')}"}
        if request.path == ["count"]:
            return 200, {"n": len(self.kept)}
        scope = request.path[1]
        if request.method == "POST":
            self.kept[scope, request.json["id"]] = request.json["text"]
            return 201, {}
        if request.method == "DELETE":
            self.kept.pop((scope, request.path[2]), None)
            return 204, b""
        found = ranked(self.kept, scope, request.query["q"])[: int(request.query["n"])]
        return 200, {"found": [{"id": i, "text": t, "score": s} for i, t, s in found]}


def words(text):
    return set(re.findall(r"\w+", text.lower()))


def ranked(kept, scope, query):
    scored = [
        (name, text, len(words(query) & words(text)))
        for (where, name), text in kept.items()
        if where == scope
    ]
    return sorted((one for one in scored if one[2]), key=lambda one: -one[2])


@pytest.fixture
def service(tmp_path, monkeypatch):
    monkeypatch.setenv("OUR_TEST_KEY", KEY)
    made = Service()
    with serving(made) as base:
        (tmp_path / "store.yaml").write_text(OWN.format(base=base))
        made.file = str(tmp_path / "store.yaml")
        yield made


def test_a_service_is_measured_and_everything_that_was_written_is_taken_away(service):
    run = me.run(PROBES, service.file)
    assert run.passed and run.recall_at_k == 1.0 and run.leaks == 0
    assert service.kept == {}
    told = run.manifest.store_info
    assert told["version"] == "3.1" and told["about"] == "a service of a test"


def test_threads_share_one_service_and_come_to_the_same(service):
    pytest.importorskip("joblib", reason="joblib is not installed")
    probes = [
        me.Probe(f"p{n}", "tea", [Record("r1", f"tea number {n}")], ["r1"]) for n in range(40)
    ]
    several = me.run(probes, service.file, jobs=8)
    assert several.recall_at_k == 1.0 and service.kept == {}
    one = me.run(probes, service.file)
    assert one.hits[["probe", "record_id"]].equals(several.hits[["probe", "record_id"]])


def test_the_key_stands_in_no_file_no_message_and_no_repr(service, tmp_path, monkeypatch):
    run = me.run(PROBES, service.file)
    me.save_run(run, tmp_path / "run.json")
    me.write_report(run, tmp_path / "run.html")
    store = resolve(service.file)()
    written = [(tmp_path / name).read_text() for name in ("run.json", "run.html")]
    assert not [text for text in [*written, repr(store), str(store.info())] if KEY in text]
    monkeypatch.setattr(
        sys.modules[__name__], "KEY", "another"
    )  # the service says it in its answer
    with pytest.raises(
        StoreError, match=r"search: GET /memories/\{scope\}: status 401.*\*\*\*"
    ) as no:
        store.search("tea", k=5, scope="ana")
    assert "sk-tested" not in str(no.value)
    store.close()


def test_secrets_that_are_not_set_are_named_all_at_once(monkeypatch):
    for name in ("LETTA_URL", "LETTA_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(StoreError, match="letta.yaml: it asks for LETTA_API_KEY, LETTA_URL, want"):
        resolve("letta")()


def test_what_is_not_declared_the_store_does_not_have(service):
    text = Path(service.file).read_text()
    Path(service.file).write_text(text[: text.index("delete:")].replace("namespace", "fresh"))
    store = resolve(service.file)()
    assert not hasattr(store, "delete") and not hasattr(store, "count")
    store.close()
    with pytest.raises(StoreError, match="share their records"):  # it is one place
        me.run(PROBES, service.file)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ((500, {"detail": "\x1b[2Jbroken"}), r"status 500, wanted 2xx: .*broken"),
        ((200, b"<html>"), "the answer is no JSON: <html>"),
        ((200, {"results": []}), "no list at 'found'"),
        ((302, b"http://127.0.0.1:1/elsewhere"), "status 302"),
        ((404, {}), "status 404"),
    ],
)
def test_no_failure_is_an_empty_answer(service, answer, message, monkeypatch):
    store = resolve(service.file)()
    monkeypatch.setattr(Service, "__call__", lambda self, request: answer)
    with pytest.raises(StoreError, match=message) as said:
        store.search("tea", k=5, scope="ana")
    assert "\x1b" not in str(said.value)
    store.close()


def test_a_service_that_is_not_there_or_hangs_is_told(service):
    text = Path(service.file).read_text()
    Path(service.file).write_text(re.sub(r"base: .*", "base: http://127.0.0.1:1", text))
    store = resolve(service.file)()
    with pytest.raises(StoreError, match="put: POST .*is the service up"):
        store.put(Record("a", "tea"))
    store.close()
    with serving(lambda request: (time.sleep(0.4), (200, {}))[1]) as base:
        text = re.sub("timeout_s: 5", "timeout_s: 0.1", text)
        Path(service.file).write_text(re.sub(r"base: .*", f"base: {base}", text))
        store = resolve(service.file)()
        with pytest.raises(StoreError, match="Timeout"):
            store.put(Record("a", "tea"))
        store.close()


@pytest.mark.parametrize("scope", ["*", "a/b", "../x", "a?b#c", "o'x", "мая", "%2e", "al "])
def test_scopes_stay_one_step_of_the_path(service, scope):
    store = resolve(service.file)()
    store.put(Record("r1", "tea", scope))
    assert list(service.kept) == [(scope, "r1")]
    assert [hit.id for hit in store.search("tea", k=5, scope=scope)] == ["r1"]
    store.close()


def test_every_fault_of_a_file_is_told_at_once_and_with_its_line(tmp_path):
    path = tmp_path / "bad.yaml"
    path.write_text(
        textwrap.dedent("""\
        kind: http
        bse: http://localhost
        timeout_s: soon
        capabilities: {score_order: up}
        put:
          path: /{scop}
          json: {text: "{text}", n: "{k}"}
        search:
          methd: GET
          path: /x
          items: "a["
          text: t
        delete:
          method: FETCH
          path: /x
        """)
    )
    with pytest.raises(StoreError) as told:
        load_store(path)
    lines = str(told.value).splitlines()
    assert [line for line in lines if not line.startswith(f"{path}:")] == []
    for wanted in (":2: unknown key 'bse'; write 'base'", "timeout_s: found 'soon'",
                   ":4: capabilities: capabilities: score_order is 'up'",
                   "'scop'; did you mean {scope}?",
                   "put.json.n: found no value called 'k'", "unknown key 'methd'; write 'method'",
                   "search.items: 'a[' is no path", "delete.method: found 'FETCH'",
                   "base: found None"):  # fmt: skip
        assert [line for line in lines if wanted in line], (wanted, lines)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("", "found no mapping"),
        ("- kind: http", "found no mapping"),
        ("kind: ftp", "kind: found 'ftp'; write one of http, mcp, command"),
        ("kind: http\nkind: mcp", "stands twice"),
        ("kind: [", "bad.yaml:"),
        ("kind: command\ncommand: rm -rf\noperations: [put, search]", "write a list of texts"),
        ("kind: command\ncommand: [x]\noperations: [put]", "list put, search"),
        ("kind: mcp\nput: {tool: a}\nsearch: {tool: b, items: c, id: d}", "write one of the two"),
    ],
)
def test_what_is_no_declaration_is_refused(tmp_path, text, wanted):
    path = tmp_path / "bad.yaml"
    path.write_text(text)
    with pytest.raises(StoreError, match=re.escape(wanted).replace("/", "/")):
        load_store(path)
    with pytest.raises(StoreError, match="found no file that can be read"):
        load_store(tmp_path / "none.yaml")


ODDITIES = [None, 3, True, "text", [], {}, [[]], {"a": 1}, "{"]


def places(said, within=()):
    for key, value in said.items() if isinstance(said, dict) else enumerate(said):
        yield (*within, key)
        if isinstance(value, dict | list):
            yield from places(value, (*within, key))


@pytest.mark.parametrize("kind", ["http", "command", "mcp"])
def test_whatever_stands_in_a_file_is_a_fault_or_a_store_that_fails_in_words(kind, monkeypatch):
    monkeypatch.setenv("OUR_TEST_KEY", KEY)
    told = {
        "http": yaml.safe_load(OWN.format(base="http://127.0.0.1:1")),
        "command": {"kind": "command", "command": [sys.executable, "-c", ""], "timeout_s": 5,
                    "operations": ["put", "search"], "env": ["HOME"]},
        "mcp": yaml.safe_load(ready()["mcp-server-memory"].read_text()),
    }[kind]  # fmt: skip
    refused = 0
    for *within, last in places(told):
        for odd in ODDITIES:
            changed = copy.deepcopy(told)
            inner = changed
            for key in within:
                inner = inner[key]
            inner[last] = odd
            try:
                declared = read_declaration(json.dumps(changed).encode(), "odd.yaml")
                if kind != "http":  # one process each would take too long
                    continue
                store = factory_of(declared)()
            except StoreError:
                refused += 1
                continue
            with pytest.raises(StoreError):
                store.put(Record("r1", "tea"))
            with pytest.raises(StoreError):
                store.search("tea", k=1, scope="ana")
            store.close()
    assert refused > 20


PROGRAM = """
import json, sys
kept = {}
print("hello", file=sys.stderr, flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    if asked["op"] == "put":
        kept[asked["scope"], asked["id"]] = asked["text"]
        told = {}
    elif asked["op"] == "delete":
        kept.pop((asked["scope"], asked["id"]), None)
        told = {}
    elif asked["op"] == "count":
        told = {"count": len(kept)}
    elif "ODD" in asked["query"]:
        exec(asked["query"][3:])
    else:
        said = set(asked["query"].split())
        told = {"hits": [{"id": i, "text": t} for (s, i), t in kept.items()
                         if s == asked["scope"] and said & set(t.strip(".").split())][:asked["k"]]}
    print(json.dumps(told), flush=True)
"""


@pytest.fixture
def program(tmp_path):
    (tmp_path / "memory.py").write_text(PROGRAM)
    path = tmp_path / "program.yaml"
    command = json.dumps([sys.executable, str(tmp_path / "memory.py")])
    path.write_text(f"kind: command\ncommand: {command}\ntimeout_s: 20\n"
                    "operations: [put, search, delete, count]\n")  # fmt: skip
    return str(path)


def test_a_program_is_measured(program):
    run = me.run(PROBES, program)
    assert run.recall_at_k == 1.0 and run.leaks == 0 and run.passed


@pytest.mark.parametrize(
    ("does", "message"),
    [
        ("told = {'error': 'quota'}", "the program says quota"),
        ("print('log line')", "no line of JSON: 'log line'"),
        ("told = [1]", "wanted an object"),
        ("told = {}", "no list of hits"),
        (
            "sys.exit('out of memory')",
            "ended without an answer; it said last: hello.*out of memory",
        ),
        ("import time; time.sleep(60)", "no answer within 0.3 s"),
    ],
)
def test_a_program_that_fails_is_told_with_its_last_words(program, does, message):
    text = Path(program).read_text()
    if "sleep" in does:
        Path(program).write_text(text.replace("timeout_s: 20", "timeout_s: 0.3"))
    store = resolve(program)()
    if "sleep" in does:
        store._limit = 20.0
        store._count()  # it has started
        store._limit = 0.3
    with pytest.raises(StoreError, match=f"(?s){message}"):
        store.search(f"ODD{does}", k=5, scope="ana")
    if "sleep" in does:  # no late answer is taken for the next one
        with pytest.raises(StoreError, match="has ended"):
            store._count()
    store.close()
    assert store._process.poll() is not None


def test_a_program_that_cannot_be_started_is_told(tmp_path):
    path = tmp_path / "program.yaml"
    path.write_text("kind: command\ncommand: [no-such-program]\noperations: [put, search]\n")
    with pytest.raises(StoreError, match="'no-such-program' could not be started"):
        resolve(str(path))()


def test_a_program_sees_no_secret_that_is_not_named(program, monkeypatch):
    monkeypatch.setenv("OUR_TEST_KEY", KEY)
    ask = "ODDimport os; told = {'hits': [{'id': os.environ.get('OUR_TEST_KEY', 'nothing')}]}"
    store = resolve(program)()
    assert store.search(ask, k=1, scope="x")[0].id == "nothing"
    store.close()
    Path(program).write_text(Path(program).read_text() + "env: [OUR_TEST_KEY]\n")
    store = resolve(program)()
    assert store.search(ask, k=1, scope="x")[0].id == KEY
    store.close()


def test_two_functions_are_a_store():
    kept = {}

    async def put(record):
        kept[record.scope, record.id] = record.text

    def search(query, *, k, scope):
        return [{"id": i, "text": t, "score": s} for i, t, s in ranked(kept, scope, query)[:k]]

    def delete(store_id, *, scope):
        kept.pop((scope, store_id), None)

    run = me.run(PROBES, me.from_functions(put, search, delete=delete))
    assert run.recall_at_k == 1.0 and run.leaks == 0 and kept == {}
    with pytest.raises(StoreError, match="no store has a method 'remove'"):
        me.from_functions(put, search, remove=delete)
    with pytest.raises(StoreError, match="search is a int"):
        me.from_functions(put, 3)


# The public APIs: answers as they are documented, of one service each.
def hindsight(kept, request):
    scope = request.path[3]
    if request.method == "DELETE":
        kept.pop((scope, request.path[5]), None)
        return 200, {"success": True}
    if request.path[-1] == "recall":
        if not [1 for where, _ in kept if where == scope]:
            return 404, {"detail": "bank not found"}
        found = ranked(kept, scope, request.json["query"])
        return 200, {"results": [{"id": str(uuid.uuid4()), "document_id": i, "text": t,
                                  "scores": {"final": s / 9}} for i, t, s in found]}  # fmt: skip
    for item in request.json["items"]:
        kept[scope, item["document_id"]] = item["content"]
    return 200, {"success": True, "items_count": 1}


def mem0(kept, request):
    assert request.headers["Authorization"] == "Token key"
    if request.method == "DELETE":
        for key in [key for key in kept if f"uuid-{key[1]}" == request.path[2]]:
            del kept[key]
        return 204, b""
    if request.path[2] == "add":
        scope, ours = request.json["user_id"], request.json["metadata"]["id"]
        kept[scope, ours] = request.json["messages"][0]["content"]
        return 200, {"results": [{"id": f"uuid-{ours}", "event": "ADD"}]}
    found = ranked(kept, request.json["filters"]["user_id"], request.json["query"])
    return 200, {"results": [
        {"id": f"uuid-{i}", "memory": t, "score": s / 9, "metadata": {"id": i}}
        for i, t, s in found[: request.json["top_k"]]
    ]}  # fmt: skip


def zep(kept, request):
    assert request.headers["Authorization"] == "Api-Key key"
    if request.method == "DELETE":
        for key in [key for key in kept if f"uuid-{key[1]}" == request.path[4]]:
            del kept[key]
        return 200, {"message": "deleted"}
    if request.path[-1] == "search":
        found = ranked(kept, request.json["user_id"], request.json["query"])
        edges = [{"uuid": f"uuid-{i}", "fact": t, "score": s / 9} for i, t, s in found]
        return 200, {"edges": edges[: request.json["limit"]]}
    ours = str(len(kept))
    kept[request.json["user_id"], ours] = request.json["data"]
    return 202, {"uuid": f"uuid-{ours}", "content": request.json["data"]}


def letta(kept, request):
    scope = request.path[2]
    if request.method == "DELETE":
        kept.pop((scope, request.path[4].removeprefix("passage-")), None)
        return 200, {}
    if request.path[-1] == "search":
        found = ranked(kept, scope, request.query["query"])[: int(request.query["top_k"])]
        return 200, {"count": len(found), "results": [
            {"content": t, "timestamp": "2026-01-01T00:00:00Z", "tags": ["x", f"memeval:{i}"]}
            for i, t, s in found
        ]}  # fmt: skip
    ours = request.json["tags"][0].removeprefix("memeval:")
    kept[scope, ours] = request.json["text"]
    return 200, [{"id": f"passage-{ours}", "text": request.json["text"]}]


def supermemory(kept, request):
    if request.method == "DELETE":
        for key in [key for key in kept if f"doc-{key[1]}" == request.path[2]]:
            del kept[key]
        return 204, b""
    if request.path[-1] == "search":
        found = ranked(kept, request.json["containerTag"], request.json["q"])
        results = [
            {"id": f"mem-{i}", "similarity": s / 9, "metadata": {"id": i},
             ("memory" if n % 2 else "chunk"): t}
            for n, (i, t, s) in enumerate(found)
        ]  # fmt: skip
        return 200, {"results": results[: request.json["limit"]], "total": len(results)}
    kept[request.json["containerTag"], request.json["customId"]] = request.json["content"]
    return 200, {"id": f"doc-{request.json['customId']}", "status": "queued"}


def redis(kept, request):
    if request.method == "DELETE":
        for key in [key for key in kept if key[1] == request.query["memory_ids"]]:
            del kept[key]
        return 200, {"status": "ok"}
    if request.path[-1] == "search":
        assert request.query == {"optimize_query": "false"}
        found = ranked(kept, request.json["user_id"]["eq"], request.json["text"])
        return 200, {"memories": [{"id": i, "text": t, "dist": 1 / s} for i, t, s in found]
                     [: request.json["limit"]], "total": len(found)}  # fmt: skip
    for one in request.json["memories"]:
        kept[one["user_id"], one["id"]] = one["text"]
    return 200, {"status": "ok"}


STUBS = {
    "hindsight": (hindsight, "HINDSIGHT_URL", ""),
    "mem0-platform": (mem0, "https://api.mem0.ai", "MEM0_API_KEY"),
    "zep": (zep, "https://api.getzep.com", "ZEP_API_KEY"),
    "letta": (letta, "LETTA_URL", "LETTA_API_KEY"),
    "supermemory": (supermemory, "https://api.supermemory.ai", "SUPERMEMORY_API_KEY"),
    "redis-memory": (redis, "REDIS_MEMORY_URL", ""),
}


@pytest.mark.parametrize("name", STUBS)
def test_a_ready_file_reads_the_documented_answers(name, monkeypatch, tmp_path):
    stub, address, key = STUBS[name]
    kept = {}
    if key:
        monkeypatch.setenv(key, "key")
    with serving(lambda request: stub(kept, request)) as base:
        store = name
        if address.startswith("https"):
            text = ready()[name].read_text()
            store = str(tmp_path / f"{name}.yaml")
            (tmp_path / f"{name}.yaml").write_text(
                text.replace(f"base: {address}", f"base: {base}")
            )
        else:
            monkeypatch.setenv(address, base)
        run = me.run(PROBES[:2], store, poll_s=0.01)
    assert run.recall_at_k == 1.0 and run.leaks == 0, run.calls["error"].tolist()
    assert run.results["n_unknown"].sum() == run.results["n_contract"].sum() == 0
    assert kept == {}, "memeval takes away what it wrote"
    assert "not against the service" in run.manifest.store_info["about"]


def test_every_ready_file_has_a_stub_and_says_what_it_was_checked_against():
    kinds = {name: yaml.safe_load(path.read_text())["kind"] for name, path in ready().items()}
    http = [name for name, kind in kinds.items() if kind == "http"]
    assert sorted(STUBS) == http
    assert set(kinds) - set(http) == {"mcp-server-memory", "memorymesh"}  # run for real
    for name in http:
        load_ready(name)
