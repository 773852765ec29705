"""The evaluation call over HTTP, on loopback unless told otherwise.

`make_app` gives an ASGI application, `serve` runs it. Keys come from the environment alone.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

from memeval.errors import MemevalError
from memeval.serving.app import PATH, Desk, make_starlette
from memeval.serving.keys import read_keys
from memeval.serving.rates import Rates
from memeval.serving.workspaces import Workspace

if TYPE_CHECKING:
    from starlette.applications import Starlette

__all__ = ["PATH", "make_app", "serve"]

HOST = "127.0.0.1"
PORT = 8787
PER_MINUTE = 60
MOST_BYTES = 4 * 2**20
MOST_WAITING = 64
SEARCH_S = 30.0
CALL_S = 300.0
HEADERS_S = 20.0
HINT = "pip install 'memeval-toolkit[serve]' (in a checkout: pip install -e '.[serve]')"


def make_app(
    stores: Callable[[], Any] | Mapping[str, Callable[[], Any]],
    *,
    environ: Mapping[str, str] = os.environ,
    per_minute: int = PER_MINUTE,
    most_bytes: int = MOST_BYTES,
    most_waiting: int = MOST_WAITING,
    search_s: float = SEARCH_S,
    call_s: float = CALL_S,
    log: Callable[[dict[str, Any]], None] = lambda entry: None,
) -> Starlette:
    """Make the ASGI application; the stores are opened at once.

    Parameters
    ----------
    stores : callable or mapping of str to callable
        A factory that opens a store which is full already, for whatever workspace is asked; or
        several, by the id of their workspace.
    environ : mapping of str to str
        Where the keys stand: ``MEMEVAL_KEYS``, as `memeval.serving.keys.read_keys` reads it.
    per_minute : int
        Calls a minute of one key.
    most_bytes : int
        Longest body, in bytes.
    most_waiting : int
        Calls that may wait for one store; more get 503.
    search_s, call_s : float
        Time limits of one search and of one call, in seconds.
    log : callable
        Takes one mapping a call: time, key, agent, workspace, cases, k, status, milliseconds; never
        a query or an id of a memory.

    Returns
    -------
    starlette.applications.Starlette
        Answers ``POST /v1/memory/evals/run`` and ``GET /health``.

    Raises
    ------
    MemevalError
        If the extra ``serve`` is not installed, there is no store, or the keys cannot be used.
    StoreError
        If a store cannot be asked without a trace.
    """
    _library("starlette.applications")
    if not stores:
        raise MemevalError("found no store, wanted at least one; name the factory that opens it")
    keys = read_keys(environ)
    named = {None: stores} if callable(stores) else stores
    workspaces = {
        name: Workspace(make, search_s=search_s, call_s=call_s, most_waiting=most_waiting)
        for name, make in named.items()
    }
    for workspace in workspaces.values():
        workspace.open()
    return make_starlette(Desk(keys, workspaces, Rates(per_minute), most_bytes, log))


def serve(
    app: Starlette,
    *,
    host: str = HOST,
    port: int = PORT,
    started: Callable[[str], None] = lambda address: None,
) -> None:
    """Serve until the keyboard or a signal ends it.

    Parameters
    ----------
    app : starlette.applications.Starlette
        From `make_app`.
    host, port : str and int
        Where to listen; 0 takes any free port.
    started : callable
        Is told the address once the port is taken.

    Raises
    ------
    MemevalError
        If the extra ``serve`` is not installed, or the port cannot be had.
    """
    uvicorn = _library("uvicorn")
    try:
        listening = socket.create_server((host, port), backlog=2048)
    except OSError as error:
        raise MemevalError(
            f"cannot listen on {host} port {port} ({error.strerror or error}); name another port, "
            "0 for any free one"
        ) from error
    with listening:
        taken = listening.getsockname()[1]
        config = uvicorn.Config(
            app,
            http=_impatient(),
            log_level="warning",
            access_log=False,
            server_header=False,
            lifespan="on",
        )
        started(f"http://{f'[{host}]' if ':' in host else host}:{taken}")
        uvicorn.Server(config).run(sockets=[listening])


def _impatient() -> Any:
    """The protocol of uvicorn, that ends connections on which no request comes in time."""
    base = _library("uvicorn.protocols.http.h11_impl").H11Protocol

    class Impatient(base):  # type: ignore[misc, valid-type]
        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self.loop.call_later(HEADERS_S, self.end_if_silent)

        def end_if_silent(self) -> None:
            if self.cycle is None and not self.transport.is_closing():
                self.transport.close()

    return Impatient


def _library(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        raise MemevalError(
            f"{name} cannot be imported ({error}), wanted it to serve; {HINT}"
        ) from error
