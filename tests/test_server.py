"""The evaluation call over HTTP: who may ask, what is refused, and that the server stays up."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from memeval.cli import main
from memeval.errors import MemevalError, StoreError
from memeval.record import Hit, Record
from memeval.server import PATH, make_app
from memeval.serving.keys import read_keys
from memeval.stores.base import Capabilities
from memeval.stores.sqlite import SqliteStore

httpx = pytest.importorskip("httpx", reason="httpx is not installed")
pytest.importorskip("starlette", reason="the extra 'serve' is not installed: starlette")
pytest.importorskip("uvicorn", reason="the extra 'serve' is not installed: uvicorn")

ROOT = Path(__file__).resolve().parent.parent
ANA, BO, CI = "secret-of-ana-0123", "secret-of-bo-01234", "secret-of-ci-01234"
KEYS = {
    "MEMEVAL_KEYS": json.dumps(
        [
            {"id": "ana", "secret": ANA, "agents": ["ana", "team"]},
            {"id": "bo", "secret": BO, "agents": ["bo"], "workspaces": ["w1"]},
            {"id": "ci", "secret": CI},
        ]
    )
}
CASE = {"query": "where is the kiosk", "expectedIds": ["m-1"]}


def open_store() -> SqliteStore:
    store = SqliteStore()
    store.put(Record("m-1", "The kiosk sells soup.", "ana"))
    store.put(Record("b-1", "The kiosk belongs to Bo.", "bo"))
    return store


class Calls:
    """Requests to an application in this process, as its log and its answers tell them."""

    def __init__(self, stores: Any = open_store, **limits: Any) -> None:
        self.log: list[dict[str, Any]] = []
        self.app = make_app(
            stores, environ=KEYS, log=self.log.append, **{"per_minute": 10_000} | limits
        )

    async def post(self, content: bytes, headers: dict[str, str], path: str = PATH) -> Any:
        transport = httpx.ASGITransport(app=self.app)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            return await client.post(path, content=content, headers=headers)

    async def ask(self, body: Any, secret: str = ANA) -> Any:
        headers = {"Authorization": f"Bearer {secret}", "Content-Type": "application/json"}
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        return await self.post(raw, headers)


def ask(calls: Calls, body: Any, secret: str = ANA) -> Any:
    return asyncio.run(calls.ask(body, secret))


@pytest.fixture(scope="module")
def calls() -> Calls:
    return Calls()


def body(agent: str = "ana", **fields: Any) -> dict[str, Any]:
    return {"agentId": agent, "cases": [CASE], **fields}


def test_a_call_is_answered_and_logged_as_one_operation() -> None:
    calls = Calls()
    answer = ask(calls, body(k=3, datasetVersion="v1", workspaceId="any"))
    assert answer.status_code == 200
    told = answer.json()
    assert told["passed"] is True and told["recallAtK"] == 1.0
    assert answer.headers["cache-control"] == "no-store"
    (entry,) = calls.log
    assert entry["key"] == "ana" and entry["agent"] == "ana" and entry["workspace"] == "any"
    assert (entry["status"], entry["cases"], entry["k"], entry["passed"]) == (200, 1, 3, True)
    logged = json.dumps(entry)
    assert "kiosk" not in logged and "m-1" not in logged and ANA not in logged


@pytest.mark.parametrize("secret", ["", "wrong-secret-0123", ANA + "x", ANA[:-1]])
def test_a_stranger_is_401_and_learns_nothing(calls: Calls, secret: str) -> None:
    answer = ask(calls, body("no-such-agent", cases=[]), secret)
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == "Bearer"
    assert answer.json()["error"]["code"] == "unauthorized"


@pytest.mark.parametrize("headers", [{}, {"Authorization": ANA}, {"Authorization": f"Basic {ANA}"}])
def test_without_a_bearer_key_it_is_401(calls: Calls, headers: dict[str, str]) -> None:
    sent = {"Content-Type": "application/json", **headers}
    assert asyncio.run(calls.post(b"{}", sent)).status_code == 401


@pytest.mark.parametrize(
    ("secret", "agent", "status"),
    [
        (ANA, "ana", 200),
        (ANA, "team", 200),
        (ANA, "bo", 403),
        (ANA, "Ana", 403),
        (ANA, "apikey:ana", 403),
        (CI, "apikey:ci", 200),
        (CI, "ci", 403),
        (CI, "ana", 403),
    ],
)
def test_a_key_asks_for_its_own_agents_alone(
    calls: Calls, secret: str, agent: str, status: int
) -> None:
    answer = ask(calls, body(agent), secret)
    assert answer.status_code == status
    if status == 403:
        error = answer.json()["error"]
        assert (error["code"], error["field"]) == ("foreign_agent", "agentId")
        assert "team" not in error["message"]


def test_nothing_of_another_agent_comes_back(calls: Calls) -> None:
    told = ask(calls, body(cases=[{"query": "the kiosk belongs to Bo"}])).json()
    assert "b-1" not in json.dumps(told["perCase"])


def test_the_workspace_picks_the_store_as_far_as_the_key_may_enter() -> None:
    def other() -> SqliteStore:
        store = SqliteStore()
        store.put(Record("x-1", "Another kiosk.", "bo"))
        return store

    calls = Calls({"w1": open_store, "w2": other})
    assert ask(calls, body(workspaceId="w1")).json()["recallAtK"] == 1.0
    assert ask(calls, body(workspaceId="w2")).json()["recallAtK"] == 0.0
    refused = [
        (body("bo", workspaceId="w2"), BO, 404),
        (body(workspaceId="w3"), ANA, 404),
        (body(), ANA, 400),
    ]
    for sent, secret, status in refused:
        answer = ask(calls, sent, secret)
        assert answer.status_code == status
        assert answer.json()["error"]["field"] == "workspaceId"
    alone = Calls({"w1": open_store})
    assert ask(alone, body()).json()["recallAtK"] == 1.0  # there is no other to be meant
    first, second = (ask(calls, sent, secret).json() for sent, secret, _ in refused[:2])
    assert first == second  # one that is closed looks like one that is not there


@pytest.mark.parametrize(
    ("content", "status", "code", "field"),
    [
        (b"", 400, "bad_json", ""),
        (b"{", 400, "bad_json", ""),
        (b"\xff", 400, "bad_json", ""),
        (b"[" * 50_000, 400, "bad_json", ""),
        (b'{"k": NaN}', 400, "bad_json", ""),
        (b'{"agentId": "ana", "agentId": "bo"}', 400, "bad_json", ""),
        (b"[]", 400, "bad_request", ""),
        (b"null", 400, "bad_request", ""),
        (b'{"agentId": "ana", "cases": []}', 400, "bad_request", "cases"),
        (b'{"agentId": "ana", "cases": [{"query": 1}]}', 400, "bad_request", "cases[0].query"),
        (b'{"a": "' + b"x" * 5_000_000 + b'"}', 413, "too_large", ""),
    ],
)
def test_a_bad_body_gets_an_error_object(
    calls: Calls, content: bytes, status: int, code: str, field: str
) -> None:
    answer = ask(calls, content)
    error = answer.json()["error"]
    assert (answer.status_code, error["code"], error["field"]) == (status, code, field)


def test_a_long_body_without_its_length_is_not_read_to_the_end() -> None:
    calls = Calls(most_bytes=1000)
    given = []

    async def endless() -> Any:
        for n in range(100_000):
            given.append(n)
            yield b"x" * 100

    async def go() -> Any:
        transport = httpx.ASGITransport(app=calls.app)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            headers = {"Authorization": f"Bearer {ANA}", "Content-Type": "application/json"}
            return await client.post(PATH, content=endless(), headers=headers)

    assert asyncio.run(go()).status_code == 413
    assert len(given) < 100


def test_other_media_types_paths_and_methods(calls: Calls) -> None:
    headers = {"Authorization": f"Bearer {ANA}", "Content-Type": "text/plain"}
    assert asyncio.run(calls.post(b"{}", headers)).status_code == 415
    assert (
        asyncio.run(calls.post(b"{}", headers, "/nowhere")).json()["error"]["code"] == "not_found"
    )

    async def get(path: str) -> Any:
        transport = httpx.ASGITransport(app=calls.app)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            return await client.get(path)

    assert asyncio.run(get(PATH)).status_code == 405
    assert asyncio.run(get("/health")).json() == {"status": "ok"}


def test_a_key_that_asks_too_often_waits_and_others_do_not() -> None:
    calls = Calls(per_minute=2)
    statuses = [ask(calls, body()).status_code for _ in range(3)]
    assert statuses == [200, 200, 429]
    answer = ask(calls, body())
    assert int(answer.headers["retry-after"]) >= 1
    assert ask(calls, body("bo", workspaceId="w1"), BO).status_code == 200
    assert [ask(calls, body(), "a-wrong-secret-01").status_code for _ in range(3)] == [
        401,
        401,
        429,
    ]


@pytest.mark.parametrize(
    "name", ["*", "%", "o'x", "../../etc/passwd", "\u202eana", "a\x00b", "{{7*7}}", "x" * 999]
)
def test_hostile_names_and_ids_are_texts(calls: Calls, name: str) -> None:
    case = {"query": f"{name} OR kiosk", "expectedIds": [name], "forbiddenIds": [f"{name}2"]}
    answer = ask(calls, body(cases=[case], datasetVersion=name, workspaceId=name))
    assert answer.status_code == 200
    told = answer.json()
    assert told["recallAtK"] == 0.0 and told["perCase"][0]["expected"][0]["id"] == name
    assert ask(calls, body(name)).status_code == 403


def test_what_a_store_says_of_its_failures_stays_in_the_log() -> None:
    class Failing:
        capabilities = Capabilities(traceless=True)

        def put(self, record: Record) -> None: ...

        def search(self, query: str, *, k: int, scope: str) -> list[Hit]:
            raise RuntimeError("no table at db://internal/secret-place")

    calls = Calls(Failing)
    answer = ask(calls, body())
    assert answer.status_code == 200 and answer.json()["passed"] is False
    assert "secret-place" not in answer.text
    assert "secret-place" in calls.log[0]["said"]


def test_a_thousand_at_once_are_each_answered_rightly() -> None:
    calls = Calls(most_waiting=40)
    agents = [("ana", ANA, "m-1"), ("bo", BO, "b-1")]

    async def go() -> list[Any]:
        sent = []
        for n in range(1000):
            agent, secret, _ = agents[n % 2]
            case = {"query": "the kiosk", "expectedIds": ["m-1"], "forbiddenIds": []}
            sent.append(calls.ask(body(agent, cases=[case], workspaceId="w1"), secret))
        return await asyncio.gather(*sent)

    answers = asyncio.run(go())
    statuses = [answer.status_code for answer in answers]
    assert set(statuses) == {200, 503} and statuses.count(200) >= 40
    for n, answer in enumerate(answers):
        if answer.status_code == 200:
            returned = [hit["id"] for hit in answer.json()["perCase"][0]["returned"]]
            assert returned == [agents[n % 2][2]]
        else:
            assert answer.headers["retry-after"] == "1"
    assert len(calls.log) == 1000
    assert ask(calls, body()).status_code == 200  # and it goes on


@pytest.fixture
def released() -> Iterator[threading.Event]:
    event = threading.Event()
    yield event
    event.set()


def hanging(event: threading.Event, where: str) -> Callable[[], Any]:
    """A store that hangs once, in its search or on the way to its scratch; then it answers."""
    opened: list[int] = []

    class Hanging:
        capabilities = Capabilities(traceless=True)

        def __init__(self) -> None:
            opened.append(1)
            self.first = len(opened) == 1

        def put(self, record: Record) -> None: ...

        def search(self, query: str, *, k: int, scope: str) -> list[Hit]:
            if self.first and where == "search" and query != "memory":
                event.wait()
            return [Hit("m-1")]

        def info(self) -> dict[str, Any]:
            if self.first and where == "info":
                event.wait()
            return {}

    return Hanging


@pytest.mark.parametrize("where", ["search", "info"])
def test_a_store_that_hangs_is_told_and_opened_anew(where: str, released: threading.Event) -> None:
    calls = Calls(hanging(released, where), search_s=0.3, call_s=2.0 if where == "info" else 60.0)
    answer = ask(calls, body())
    if where == "search":
        assert answer.status_code == 200 and answer.json()["perCase"][0]["status"] == "timeout"
    else:
        assert answer.status_code == 504
    assert ask(calls, body()).json()["recallAtK"] == 1.0


def test_a_store_that_hangs_again_and_again_rests(released: threading.Event) -> None:
    opened = []

    class Hanging:
        capabilities = Capabilities(traceless=True)

        def __init__(self) -> None:
            opened.append(1)

        def put(self, record: Record) -> None: ...

        def search(self, query: str, *, k: int, scope: str) -> list[Hit]:
            released.wait()
            return []

    calls = Calls(Hanging, search_s=0.2)
    statuses = [ask(calls, body()).status_code for _ in range(4)]
    assert statuses == [200, 200, 503, 503] and len(opened) == 2
    answer = ask(calls, body())
    assert answer.json()["error"]["code"] == "store_down"
    assert 1 <= int(answer.headers["retry-after"]) <= 4


def test_a_store_that_does_not_open_again_is_opened_anew_by_the_next_call(
    released: threading.Event,
) -> None:
    make, opened = hanging(released, "search"), []

    def second_fails() -> Any:
        opened.append(1)
        if len(opened) == 2:
            raise RuntimeError("the disk is full")
        return make()

    calls = Calls(second_fails, search_s=0.3)
    assert ask(calls, body()).json()["perCase"][0]["status"] == "timeout"
    refused = ask(calls, body())
    assert refused.status_code == 500 and "disk" not in refused.text
    assert "the disk is full" in calls.log[1]["said"]
    assert ask(calls, body()).json()["recallAtK"] == 1.0


def test_a_store_that_asks_for_the_end_ends_no_server() -> None:
    class Ending:
        capabilities = Capabilities(traceless=True)

        def put(self, record: Record) -> None: ...

        def search(self, query: str, *, k: int, scope: str) -> list[Hit]:
            raise KeyboardInterrupt

    calls = Calls(Ending)
    answer = ask(calls, body())
    assert answer.status_code == 500 and answer.json()["error"]["code"] == "store"
    assert "KeyboardInterrupt" in calls.log[0]["said"]


def test_calls_of_clients_that_have_gone_are_not_asked() -> None:
    asked = []

    class Slow:
        capabilities = Capabilities(traceless=True)

        def put(self, record: Record) -> None: ...

        def search(self, query: str, *, k: int, scope: str) -> list[Hit]:
            asked.append(query)
            return []

    calls = Calls(Slow)

    async def go() -> int:
        messages = [{"type": "http.request", "body": json.dumps(body()).encode()}]
        sent: list[dict[str, Any]] = []

        async def receive() -> dict[str, Any]:
            return messages.pop(0) if messages else {"type": "http.disconnect"}

        async def send(message: dict[str, Any]) -> None:
            sent.append(message)

        headers = [
            (b"authorization", f"Bearer {ANA}".encode()),
            (b"content-type", b"application/json"),
        ]
        scope = {"type": "http", "method": "POST", "path": PATH, "headers": headers}
        await calls.app({**scope, "query_string": b"", "http_version": "1.1"}, receive, send)
        return int(sent[0]["status"])

    assert asyncio.run(go()) == 499
    assert asked == [] and calls.log[0]["error"] == "client_gone"


def test_a_path_with_a_slash_too_many_is_no_redirect(calls: Calls) -> None:
    headers = {"Host": "elsewhere.example", "Content-Type": "application/json"}
    answer = asyncio.run(calls.post(b"{}", headers, PATH + "/"))
    assert answer.status_code == 404 and "location" not in answer.headers


def test_a_store_that_leaves_a_trace_is_refused_at_the_start() -> None:
    class Bare:
        def put(self, record: Record) -> None: ...

        def search(self, query: str, *, k: int, scope: str) -> list[Hit]:
            return []

    with pytest.raises(StoreError, match="traceless"):
        make_app(Bare, environ=KEYS)
    with pytest.raises(MemevalError, match="found no store"):
        make_app({}, environ=KEYS)


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ("", "MEMEVAL_KEYS is not set"),
        ("[hunter2-hunter2-hunter2", "is no JSON"),
        ("{}", "no list of keys"),
        ("[]", "no list of keys"),
        (
            '[{"id": "a", "secret": "hunter2-hunter2-hunter2", "agents": ["x"], "agents": ["y"]}]',
            "a key stands twice",
        ),
        ("[1]", r"MEMEVAL_KEYS\[0\] is no object"),
        ('[{"secret": "hunter2-hunter2-hunter2"}]', r"\[0\]\.id"),
        ('[{"id": "a b", "secret": "hunter2-hunter2-hunter2"}]', r"\[0\]\.id"),
        ('[{"id": "a", "secret": "hunter2"}]', "16 to 256"),
        ('[{"id": "a", "secret": "hunter2-hunter2 hunter2"}]', "visible ASCII"),
        ('[{"id": "a", "secret": "hunter2-hunter2-hunter2", "agent": ["x"]}]', "write 'agents'"),
        ('[{"id": "a", "secret": "hunter2-hunter2-hunter2", "agents": "x"}]', "a list of texts"),
        (
            '[{"id": "a", "secret": "hunter2-hunter2-hunter2"},'
            ' {"id": "a", "secret": "hunter2-hunter2-hunter3"}]',
            "one id",
        ),
        (
            '[{"id": "a", "secret": "hunter2-hunter2-hunter2"},'
            ' {"id": "b", "secret": "hunter2-hunter2-hunter2"}]',
            "one secret",
        ),
    ],
)
def test_keys_that_cannot_be_used_are_refused_without_telling_them(keys: str, words: str) -> None:
    with pytest.raises(MemevalError, match=words) as refused:
        read_keys({"MEMEVAL_KEYS": keys})
    assert "hunter2" not in str(refused.value)


def test_the_call_of_the_specification_works_with_only_the_address_changed(
    tmp_path: Path,
) -> None:
    (tmp_path / "mymemory.py").write_text(
        "import memeval as me\n"
        "def open_store():\n"
        "    store = me.SqliteStore()\n"
        "    store.put(me.Record('m-1', 'Invoice numbers come from billing.', 'ana'))\n"
        "    store.close = lambda: open('closed', 'w').close()\n"
        "    return store\n"
    )
    argv = ["serve", "--workspace", "ws-1=mymemory:open_store", "--port", "0"]
    server = subprocess.Popen(
        [sys.executable, "-W", "error", "-m", "memeval", *argv],
        cwd=tmp_path,
        env={**os.environ, **KEYS, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert server.stderr is not None
        line = server.stderr.readline()
        assert line.startswith("memeval: listening: http://127.0.0.1:"), line
        address = line.split()[2].removesuffix(PATH)
        sent = json.dumps(
            {
                "workspaceId": "ws-1",
                "agentId": "ana",
                "k": 10,
                "datasetVersion": "billing-v1",
                "cases": [
                    {
                        "query": "how are invoice numbers generated",
                        "expectedIds": ["m-1"],
                        "forbiddenIds": ["m-2"],
                        "staleIds": [],
                    }
                ],
            }
        )
        curl = [
            *("curl", "-s", "-X", "POST", f"{address}/v1/memory/evals/run"),
            *("-H", f"Authorization: Bearer {ANA}", "-H", "Content-Type: application/json"),
            *("-d", sent),
        ]
        answered = subprocess.run(curl, capture_output=True, text=True, timeout=60, check=True)
        told = json.loads(answered.stdout)
        assert told["passed"] is True and told["hitRate"] == 1.0
        server.send_signal(signal.SIGINT)
        out, err = server.communicate(timeout=60)
    finally:
        server.kill()
        server.wait()
    assert server.returncode == 0, err
    assert (tmp_path / "closed").exists()
    assert json.loads(out)["status"] == 200
    assert err.strip() == "memeval: stopped"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ([], "no store is named"),
        (["--store", "sqlite", "--workspace", "a=sqlite"], "wanted one of them"),
        (["--workspace", "a=sqlite", "--workspace", "a=vector"], "stands there twice"),
        (["--workspace", "sqlite"], "wanted ID=package.module:factory"),
        (["--store", "no_such_module:open"], "no_such_module"),
        (["--store", "sqlite", "--host", "256.0.0.1", "--port", "0"], "cannot listen"),
    ],
)
def test_what_cannot_be_served_is_told(
    options: list[str],
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MEMEVAL_KEYS", KEYS["MEMEVAL_KEYS"])
    assert main(["serve", *options]) == 2
    assert words in capsys.readouterr().err


def test_a_bucket_fills_again() -> None:
    from memeval.serving.rates import Rates

    now = [0.0]
    rates = Rates(60, clock=lambda: now[0])
    assert [rates.wait_s("a") for _ in range(60)] == [0.0] * 60
    assert rates.wait_s("a") == pytest.approx(1.0)
    now[0] = 1.0
    assert rates.wait_s("a") == 0.0
    assert rates.wait_s("a") == pytest.approx(1.0)
