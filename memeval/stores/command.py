"""A memory that is a program of yours, in any language: it is spoken to in lines of JSON."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Callable, Mapping
from datetime import datetime
from queue import Empty, Queue
from typing import Any

from memeval.errors import StoreError
from memeval.record import Hit, Receipt, Record
from memeval.stores.base import BaseStore
from memeval.stores.declared import Declaration
from memeval.stores.http import asked, values_of
from memeval.stores.templates import environment_of, filled
from memeval.text import visible

TIMEOUT_S = 60.0
PATIENCE_S = 5.0
MOST_SHOWN = 500
ALWAYS = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "VIRTUAL_ENV", "PYTHONPATH", "SYSTEMROOT")


class CommandStore(BaseStore):
    """A program that reads requests from its standard input and answers on its standard output.

    Parameters
    ----------
    declaration : Declaration
        With ``command`` (a list: no shell reads it), ``operations``, and ``env``, the names of the
        environment variables that the program may see beside the usual ones, or a mapping of them.

    Raises
    ------
    StoreError
        If the program cannot be started.

    Notes
    -----
    A request is one line: ``{"op": "put", "id": …, "text": …, "scope": …, "at": …, "meta": …}``,
    ``{"op": "search", "query": …, "k": …, "scope": …}``, ``{"op": "delete", "id": …, "scope": …}``,
    ``{"op": "clear"}``, ``{"op": "count"}``. So is an answer: ``{"ids": […]}``,
    ``{"hits": [{"id": …, "text": …, "score": …}]}``, ``{}``, ``{"count": …}``, or
    ``{"error": "…"}``, which is a failed call. Each store is a process of its own; it is asked to
    end by the end of its input.
    """

    def __init__(self, declaration: Declaration) -> None:
        self.declaration, said = declaration, declaration.said
        self.capabilities = declaration.capabilities
        self._limit = float(said.get("timeout_s", TIMEOUT_S))
        self._lock = threading.Lock()
        self._told: Queue[str] = Queue()
        self._stderr = tempfile.TemporaryFile("a+b")  # appended to, wherever it is read
        self._folder = tempfile.mkdtemp(prefix="memeval-command-")
        environment = environment_of(said.get("env", []), self._folder)
        usual = {name: os.environ[name] for name in ALWAYS if name in os.environ}
        try:
            self._process = subprocess.Popen(
                [filled(one, {"tmp": self._folder}) for one in said["command"]],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._stderr,
                env=usual | environment,
                encoding="utf-8",
                errors="replace",
            )
        except OSError as error:
            self._stderr.close()
            shutil.rmtree(self._folder, ignore_errors=True)
            raise StoreError(
                f"{declaration.name}: {said['command'][0]!r} could not be started "
                f"({error.strerror}); look at command"
            ) from error
        self._input: Any = self._process.stdin
        self._output: Any = self._process.stdout
        self._reader = threading.Thread(target=self._read, daemon=True, name="memeval-command")
        self._reader.start()
        optional: dict[str, Callable[..., Any]] = {
            "delete": self._delete, "clear": self._clear, "count": self._count
        }  # fmt: skip
        for name in said["operations"]:
            if name in optional:  # what is not declared, the store does not have
                setattr(self, name, optional[name])

    def put(self, record: Record) -> Receipt:
        """Write one record."""
        answer = self._ask("put", values_of(record))
        ids = tuple(map(str, answer.get("ids", [record.id])))
        return Receipt("stored" if len(ids) == 1 else "split" if ids else "merged", ids)

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
        answer = self._ask("search", asked(query, k, scope, filter, now))
        if not isinstance(answer.get("hits"), list):
            raise StoreError(f"search: the answer has no list of hits, it has {sorted(answer)}")
        return [Hit.of(hit) for hit in answer["hits"]]

    def close(self) -> None:
        """End the program: by the end of its input, and if it stays, by force."""
        if not self._input.closed:
            try:
                self._input.close()
            except OSError:  # it has ended by itself
                pass
            try:
                self._process.wait(PATIENCE_S)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            self._reader.join()
            self._output.close()
            self._stderr.close()
            shutil.rmtree(self._folder, ignore_errors=True)

    def info(self) -> dict[str, Any]:
        """Name, version and label as declared, for the manifest."""
        return self.declaration.info()

    def _delete(self, store_id: str, *, scope: str) -> None:
        self._ask("delete", {"id": store_id, "scope": scope})

    def _clear(self) -> None:
        self._ask("clear", {})

    def _count(self) -> int:
        found = self._ask("count", {}).get("count")
        if not isinstance(found, int) or isinstance(found, bool):
            raise StoreError(f"count: found {found!r:.40}, wanted a whole number")
        return found

    def _read(self) -> None:
        for line in self._output:
            self._told.put(line.rstrip() or " ")
        self._told.put("")  # it has ended

    def _ask(self, op: str, values: Mapping[str, Any]) -> dict[str, Any]:
        line = json.dumps({"op": op, **{k: v for k, v in values.items() if v is not None}})
        with self._lock:
            try:
                self._input.write(line + "\n")
                self._input.flush()
                told = self._told.get(timeout=self._limit)
            except Empty as error:
                self._process.kill()  # or its late answer would be taken for the next one
                raise StoreError(
                    f"{op}: no answer within {self._limit:g} s{self._last()}"
                ) from error
            except (OSError, ValueError) as error:
                raise StoreError(f"{op}: the program has ended{self._last()}") from error
        if not told:
            raise StoreError(f"{op}: the program has ended without an answer{self._last()}")
        return self._answer(op, told)

    def _answer(self, op: str, told: str) -> dict[str, Any]:
        try:
            answer = json.loads(told)
        except ValueError as error:
            raise StoreError(
                f"{op}: the answer is no line of JSON: {visible(told[:MOST_SHOWN])!r}; print "
                "nothing else to the standard output"
            ) from error
        if not isinstance(answer, dict):
            raise StoreError(f"{op}: the answer is {visible(told[:MOST_SHOWN])}, wanted an object")
        if "error" in answer:
            raise StoreError(f"{op}: the program says {visible(str(answer['error'])[:MOST_SHOWN])}")
        return answer

    def _last(self) -> str:
        """What the program has said last to its standard error."""
        if self._stderr.closed:
            return ""
        size = self._stderr.seek(0, os.SEEK_END)
        self._stderr.seek(max(0, size - MOST_SHOWN))
        said = self._stderr.read().decode("utf-8", "replace").strip()
        return f"; it said last: {visible(said)}" if said else ""
