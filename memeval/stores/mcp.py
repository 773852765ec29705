"""Memory servers that speak MCP, over standard input and output or over HTTP."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from contextlib import AsyncExitStack
from datetime import datetime
from typing import Any

from memeval.errors import StoreError, said
from memeval.record import Hit, Receipt, Record
from memeval.stores.answers import hits_of
from memeval.stores.base import BaseStore
from memeval.stores.declared import Declaration
from memeval.stores.http import asked, receipt_of, values_of
from memeval.stores.mcp_tools import (
    HITS,
    Tools,
    answer_of,
    hits_of_lines,
    listed_in,
    tools_found,
)
from memeval.stores.needing import needed, version_of
from memeval.stores.templates import environment_of, filled
from memeval.text import visible

TIMEOUT_S = 60.0
PATIENCE_S = 10.0
MOST_SHOWN = 500


class McpStore(BaseStore):
    """An MCP server; which of its tools do what is found, or stands in a file.

    Parameters
    ----------
    declaration : Declaration
        With ``command`` or ``url``, and, where they are not found by their schemas, with ``put``
        and ``search``.

    Raises
    ------
    StoreError
        If the extra ``mcp`` is not installed, the server does not come up, or it is not plain
        which tool writes and which one searches; the tools are listed.

    Notes
    -----
    Each store is a session of its own, and with ``command`` a process of its own, in a thread that
    runs nothing else; so it works inside Jupyter. A result that says ``isError`` is a failed call.
    An answer is read as structured content, else as JSON in its text, else by ``lines``, a regular
    expression with the groups ``id``, ``text`` and ``score``.
    """

    def __init__(self, declaration: Declaration) -> None:
        self._mcp = needed("mcp", store=declaration.name, extra="mcp")
        self.declaration, self.capabilities = declaration, declaration.capabilities
        self._limit = float(declaration.said.get("timeout_s", TIMEOUT_S))
        self._folder = tempfile.mkdtemp(prefix="memeval-mcp-")
        self._stderr = tempfile.TemporaryFile("a+", encoding="utf-8", errors="replace")
        self._loop = asyncio.new_event_loop()
        self._end = asyncio.Event()
        self._up: Future[Tools] = Future()
        self._server: dict[str, str] = {}
        self._thread = threading.Thread(target=self._live, daemon=True, name="memeval-mcp")
        self._thread.start()
        try:
            self._tools = self._up.result(self._limit)
        except (FutureTimeout, Exception) as error:
            last = self._last()
            self.close()
            if isinstance(error, StoreError):
                raise
            raise StoreError(
                f"{declaration.name}: the server did not come up ({said(error)}){last}; look at "
                "command or url"
            ) from error
        optional: dict[str, Callable[..., Any]] = {"delete": self._delete, "clear": self._clear}
        for name, method in optional.items():
            if name in self._tools:  # what there is no tool for, the store does not have
                setattr(self, name, method)

    def put(self, record: Record) -> Receipt:
        """Write one record."""
        answer = self._ask("put", values_of(record))
        return receipt_of(answer, self._tools["put"], record)

    def search(
        self,
        query: str,
        *,
        k: int,
        scope: str,
        filter: Mapping[str, Any] | None = None,
        now: datetime | None = None,
    ) -> list[Hit]:
        """Return the hits of the answer, in its order."""
        spec = self._tools["search"]
        answer = self._ask("search", asked(query, k, scope, filter, now))
        if isinstance(answer, str):
            if "lines" not in spec:
                raise StoreError(
                    f"search: the answer is prose ({visible(answer[:MOST_SHOWN])}), wanted JSON; "
                    "declare search.lines, a regular expression with the groups id and text"
                )
            return hits_of_lines(answer, spec["lines"])
        return hits_of(listed_in(answer) if spec["items"] == HITS else answer, spec)

    def close(self) -> None:
        """End the session, and with it the process that was started for it."""
        if self._loop.is_closed():
            return
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._end.set)
            self._thread.join(PATIENCE_S)
        if not self._thread.is_alive():
            self._loop.close()
            self._stderr.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def info(self) -> dict[str, Any]:
        """Name, the server as it calls itself, and its tools, for the manifest."""
        told = {name: spec["tool"] for name, spec in self._tools.items()}
        found = {**self.declaration.info(), "tools": told, "sdk": version_of("mcp")}
        return found | self._server

    def _delete(self, store_id: str, *, scope: str) -> None:
        self._ask("delete", {"store_id": store_id, "scope": scope})

    def _clear(self) -> None:
        self._ask("clear", {})

    def _ask(self, name: str, values: Mapping[str, Any]) -> Any:
        """Call the tool of an operation: plain values, or a text that is no JSON."""
        spec = self._tools[name]
        arguments = filled(spec.get("arguments", {}), values)
        if not self._thread.is_alive():
            raise StoreError(f"{name}: the server has ended{self._last()}")
        call = asyncio.run_coroutine_threadsafe(
            self._session.call_tool(spec["tool"], arguments), self._loop
        )
        try:
            result = call.result(self._limit)
        except FutureTimeout as error:
            call.cancel()
            raise StoreError(
                f"{name}: no answer of {spec['tool']} within {self._limit:g} s{self._last()}"
            ) from error
        except Exception as error:
            raise StoreError(
                f"{name}: {spec['tool']} failed ({said(error)}){self._last()}"
            ) from error
        failed, answer = answer_of(result)
        if failed:
            raise StoreError(
                f"{name}: {spec['tool']} says {visible(str(answer)[:MOST_SHOWN])}{self._last()}"
            )
        return answer

    def _live(self) -> None:
        """The whole life of the session, entered and left in one task."""
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_until_complete(self._session_of())
        except BaseException as error:
            if not self._up.done():
                self._up.set_exception(error)

    async def _session_of(self) -> None:
        async with AsyncExitStack() as stack:
            streams = await stack.enter_async_context(await self._transport(stack))
            session = self._mcp.ClientSession(streams[0], streams[1])
            self._session = await stack.enter_async_context(session)
            server = (await session.initialize()).server_info
            self._server = {"server": server.name, "version": server.version}
            listed = await session.list_tools()
            try:
                self._up.set_result(tools_found(self.declaration.said, listed.tools))
            except StoreError as error:  # here, and not wrapped in the groups of all that is open
                self._up.set_exception(error)
                return
            await self._end.wait()

    async def _transport(self, stack: AsyncExitStack) -> Any:
        declared, name = self.declaration.said, self.declaration.name
        if "url" in declared:
            http = needed("mcp.client.streamable_http", store=name, extra="mcp")
            httpx = needed("httpx2", store=name, extra="mcp")
            headers = filled(declared.get("headers", {}), {})
            client = httpx.AsyncClient(headers=headers, timeout=self._limit)
            await stack.enter_async_context(client)
            return http.streamable_http_client(filled(declared["url"], {}), http_client=client)
        stdio = needed("mcp.client.stdio", store=name, extra="mcp")
        command = [filled(one, {"tmp": self._folder}) for one in declared["command"]]
        parameters = self._mcp.StdioServerParameters(
            command=command[0],
            args=command[1:],
            env=environment_of(declared.get("env", []), self._folder),
        )
        return stdio.stdio_client(parameters, errlog=self._stderr)

    def _last(self) -> str:
        """What the server has said last to its standard error."""
        if self._stderr.closed:
            return ""
        self._stderr.seek(0)
        words = self._stderr.read()[-MOST_SHOWN:].strip()
        return f"; the server said last: {visible(words)}" if words else ""
