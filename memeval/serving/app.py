"""The routes: who asks, how much, what; and never more in an answer than who asks may know."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from memeval.errors import MemevalError, RequestError, said
from memeval.evaluating.request import Request as Asked
from memeval.evaluating.request import parse_json, read_request
from memeval.serving.keys import Key, Keys
from memeval.serving.rates import Rates
from memeval.serving.workspaces import (
    BusyError,
    DownError,
    GoneError,
    HangingError,
    Workspace,
)

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

__all__ = ["PATH", "Desk", "Refusal", "make_starlette"]

PATH = "/v1/memory/evals/run"
HEALTH = "/health"
STRANGERS = ""
GONE = 499
BODY_S = 30.0
SEARCH_FAILED = "the search failed; the server's log says why"


class Refusal(Exception):
    """An answer that is not 200.

    Attributes
    ----------
    status, code : int and str
        Of HTTP, and in one word.
    message, field : str
        What is wrong and what to do, and the field of the body at fault.
    headers : mapping
        To send along.
    """

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        *,
        field: str = "",
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status, self.code, self.field = status, code, field
        self.headers = dict(headers or {})

    def to_dict(self) -> dict[str, Any]:
        """Error object of the call."""
        return {"error": {"code": self.code, "field": self.field, "message": str(self)}}


@dataclass
class Desk:
    """What every request is held against.

    Attributes
    ----------
    keys : Keys
        Who may ask.
    workspaces : mapping of str or None to Workspace
        The stores; the one named None is asked for any workspace.
    rates : Rates
        How often.
    most_bytes : int
        Longest body.
    log : callable
        Takes one mapping a request: never a query, an id of a memory or a secret.
    """

    keys: Keys
    workspaces: Mapping[str | None, Workspace]
    rates: Rates
    most_bytes: int
    log: Callable[[dict[str, Any]], None]
    clock: Callable[[], float] = field(default=time.monotonic)

    async def evaluate(self, request: Request) -> Response:
        """Answer one call, and log it as one operation."""
        from starlette.requests import ClientDisconnect

        started = self.clock()
        entry: dict[str, Any] = {"at": time.time(), "key": None, "agent": None, "status": 500}
        try:
            response = await self._answer(request, entry)
            entry["status"] = response.status_code
            return response
        except Refusal as refused:
            entry |= {"status": refused.status, "error": refused.code}
            return _json(refused.to_dict(), refused.status, refused.headers)
        except RequestError as error:
            entry |= {"status": 400, "error": "bad_request"}
            return _json(error.to_dict(), 400)
        except (ClientDisconnect, GoneError):
            entry |= {"status": GONE, "error": "client_gone"}
            return _json({}, GONE)
        except Exception as error:  # a bug, or a store: told to the log, and not to who asks
            entry |= {"error": "internal", "said": said(error)}
            message = "the call could not be answered; the server's log says why"
            return _json(Refusal(500, "internal", message).to_dict(), 500)
        finally:
            entry["ms"] = round(1000 * (self.clock() - started), 1)
            self.log(entry)

    async def _answer(self, request: Request, entry: dict[str, Any]) -> Response:
        key = self._key(request, entry)
        # In a thread, so that a long body does not keep others waiting.
        body, asked = await asyncio.to_thread(_parsed, await self._body(request))
        workspace = self._workspace(key, asked, entry)
        entry |= {"cases": len(asked.cases), "k": asked.k}
        sent = {name: value for name, value in body.items() if name != "workspaceId"}
        try:
            told = await workspace.evaluate(sent, request.is_disconnected)
        except BusyError:
            message = "too many calls wait for this store; try again later"
            raise Refusal(503, "busy", message, headers={"Retry-After": "1"}) from None
        except DownError as down:
            message = "the store hangs again and again; try again later"
            headers = {"Retry-After": str(down.wait_s)}
            raise Refusal(503, "store_down", message, headers=headers) from None
        except HangingError:
            raise Refusal(504, "timeout", "the store did not answer in time") from None
        except MemevalError as error:
            entry["said"] = said(error)
            raise Refusal(500, "store", "the store cannot be asked; see the log") from None
        entry["passed"] = told["passed"]
        _without_errors(told, entry)
        return await asyncio.to_thread(_json, told, 200)

    def _key(self, request: Request, entry: dict[str, Any]) -> Key:
        """Who asks, and whether it is not too often."""
        scheme, _, secret = request.headers.get("authorization", "").partition(" ")
        key = self.keys.find(secret.strip()) if scheme.lower() == "bearer" else None
        entry["key"] = None if key is None else key.id
        wait_s = self.rates.wait_s(STRANGERS if key is None else key.id)
        if wait_s:
            message = f"more than {self.rates.per_minute} calls a minute; try again later"
            headers = {"Retry-After": str(int(wait_s) + 1)}
            raise Refusal(429, "too_many_requests", message, headers=headers)
        if key is None:
            message = "no known key; send 'Authorization: Bearer KEY'"
            raise Refusal(401, "unauthorized", message, headers={"WWW-Authenticate": "Bearer"})
        return key

    async def _body(self, request: Request) -> bytes:
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != "application/json":
            message = "the body is no JSON by its name; send 'Content-Type: application/json'"
            raise Refusal(415, "unsupported_media_type", message)
        try:
            return await asyncio.wait_for(self._read(request), BODY_S)
        except TimeoutError:
            message = f"the body did not come within {BODY_S:g} s"
            raise Refusal(408, "timeout", message, headers={"Connection": "close"}) from None

    async def _read(self, request: Request) -> bytes:
        """The body, no further than it may be long."""
        told = request.headers.get("content-length", "0")
        length = int(told) if told.isascii() and told.isdigit() else 0
        parts: list[bytes] = []
        if length <= self.most_bytes:
            length = 0
            async for part in request.stream():
                parts.append(part)
                length += len(part)
                if length > self.most_bytes:
                    break
        if length > self.most_bytes:
            message = f"the body is longer than {self.most_bytes:,} bytes; send fewer cases"
            raise Refusal(413, "too_large", message, headers={"Connection": "close"})
        return b"".join(parts)

    def _workspace(self, key: Key, asked: Asked, entry: dict[str, Any]) -> Workspace:
        """The store that is asked, where the key may ask it for this agent."""
        if not key.may_ask(asked.agent):
            message = "this key is not bound to that agent; name one that it is bound to"
            raise Refusal(403, "foreign_agent", message, field="agentId")
        entry["agent"] = asked.agent
        name = asked.workspace
        if name is None and len(self.workspaces) == 1:
            (name,) = self.workspaces
        entry["workspace"] = name
        if name is None and None not in self.workspaces:
            message = "the workspace is missing; name the one to ask"
            raise Refusal(400, "bad_request", message, field="workspaceId")
        workspace = self.workspaces.get(name) or self.workspaces.get(None)
        if workspace is None or not key.may_enter(name):
            message = "there is no such workspace for this key; name another one"
            raise Refusal(404, "unknown_workspace", message, field="workspaceId")
        return workspace


def _parsed(raw: bytes) -> tuple[dict[str, Any], Asked]:
    """The body as it came, and as it was read."""
    try:
        body = parse_json(raw)
    except ValueError as error:
        message = f"the body is no JSON in UTF-8 ({str(error)[:200]}); send one object"
        raise Refusal(400, "bad_json", message) from None
    return body, read_request(body)


def _without_errors(told: dict[str, Any], entry: dict[str, Any]) -> None:
    """Take what a store said of its failures out of the answer and into the log."""
    failed = [case for case in told["perCase"] if case["error"] is not None]
    if failed:
        entry["said"] = failed[0]["error"]
    for case in failed:
        case["error"] = SEARCH_FAILED


def _json(value: Any, status: int, headers: Mapping[str, str] | None = None) -> Response:
    from starlette.responses import Response

    text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    sent = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", **(headers or {})}
    return Response(text, status, sent, "application/json")


def make_starlette(desk: Desk) -> Starlette:
    """The application of a desk.

    Parameters
    ----------
    desk : Desk
        What requests are held against.
    """
    from starlette.applications import Starlette
    from starlette.exceptions import HTTPException
    from starlette.routing import Route

    async def health(request: Request) -> Response:
        return _json({"status": "ok"}, 200)

    async def elsewhere(request: Request, error: Exception) -> Response:
        status = error.status_code if isinstance(error, HTTPException) else 500
        code = "method_not_allowed" if status == 405 else "not_found"
        headers = error.headers if isinstance(error, HTTPException) else None
        return _json(Refusal(status, code, f"POST to {PATH}").to_dict(), status, headers)

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        yield
        for workspace in desk.workspaces.values():
            await asyncio.to_thread(workspace.close)

    routes = [Route(PATH, desk.evaluate, methods=["POST"]), Route(HEALTH, health)]
    handlers = {404: elsewhere, 405: elsewhere}
    app = Starlette(routes=routes, exception_handlers=handlers, lifespan=lifespan)
    app.router.redirect_slashes = False  # a redirect would go where the client's Host says
    return app
