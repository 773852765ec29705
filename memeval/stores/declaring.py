"""What may stand in a YAML file that declares a store: every key, every placeholder, every path."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from memeval.errors import StoreError
from memeval.probefiles.nodes import Node
from memeval.probefiles.values import Reading
from memeval.stores.answers import steps_of
from memeval.stores.base import Capabilities
from memeval.stores.templates import faults_of

COMMON = ("kind", "about", "version", "capabilities", "timeout_s")
KEYS = {
    "http": ("base", "headers", "put", "put_many", "search", "delete", "clear", "count"),
    "mcp": ("command", "url", "headers", "env", "put", "search", "delete", "clear"),
    "command": ("command", "env", "operations"),
}
# An MCP server is asked for its tools where the file does not name them.
NEEDED: Mapping[str, tuple[str, ...]] = {
    "http": ("put", "search"), "mcp": (), "command": ("command", "operations")
}  # fmt: skip
REQUEST = {
    "http": ("method", "path", "query", "headers", "json"),
    "mcp": ("tool", "arguments"),
}
OF_ANSWER = ("items", "id", "text", "score", "meta", "empty_on", "lines")
RECORD = ("id", "text", "scope", "at", "expires", "supersedes", "meta", "meta.")
VALUES: Mapping[str, tuple[str, ...]] = {
    "put": RECORD,
    "put_many": RECORD,
    "search": ("query", "k", "scope", "now", "filter", "filter."),
    "delete": ("store_id", "scope"),
    "clear": (),
    "count": (),
}
MORE: Mapping[str, tuple[str, ...]] = {
    "put": ("ids",),
    "put_many": ("ids", "batch"),
    "search": OF_ANSWER,
    "count": ("value",),
}
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
TEXTS = ("about", "version", "base", "url", "method", "path", "tool", "items", "value", "lines")
PATHS = ("items", "ids", "value", "text", "score", "meta", "id")


class Declaring:
    """One file that declares a store, being read.

    Parameters
    ----------
    reading : Reading
        Where faults go.
    root : Node
        The mapping of the file.

    Attributes
    ----------
    capabilities : Capabilities
        What it declares, once it is read.
    """

    def __init__(self, reading: Reading, root: Node) -> None:
        self.reading, self.root = reading, root
        self.capabilities = Capabilities()

    def _fault(self, field: str, found: str, todo: str, line: int = 0) -> None:
        self.reading.fault(line or self.root.line, field, found, todo)

    def everything(self) -> dict[str, Any]:
        """Read all of it; whatever is wrong becomes a fault."""
        kind = self._kind()
        if kind is None:
            return {}
        nodes = self.reading.known(self.root, "", (*COMMON, *KEYS[kind]))
        said = {key: self.reading.plain(node, key) for key, node in nodes.items()}
        self.lines = {key: node.line for key, node in nodes.items()}
        for key, value in said.items():
            if value is None and key not in VALUES:
                self._fault(
                    key, "nothing stands here", "write it, or leave the key out", self.lines[key]
                )
        self._texts(said, "")
        self._capabilities(said.get("capabilities", {}))
        self._timeout(said.get("timeout_s"))
        for name, node in nodes.items():
            if name in VALUES:
                self._operation(kind, name, node, said[name])
        for name in NEEDED[kind]:
            if name not in said and not (name == "put" and "put_many" in said):
                self._fault(name, "nothing stands here", f"say how the store does {name}")
        self._way_in(kind, said)
        return said

    def _kind(self) -> str | None:
        pairs = {key.text: value for key, value in self.root.pairs}
        kind = pairs["kind"].text if "kind" in pairs else ""
        if kind in KEYS:
            return kind
        self._fault("kind", f"found {kind!r:.40}", f"write one of {', '.join(KEYS)}")
        return None

    def _mappings(self, said: Mapping[str, Any], within: str, line: int = 0) -> None:
        """What must be a mapping: of headers, and of environment variables, to texts."""
        for key in ("query", "headers", "arguments"):
            told = said.get(key, {})
            if not isinstance(told, Mapping):
                self._fault(f"{within}{key}", f"found {told!r:.40}", "write a mapping", line)
            elif key == "headers" and not all(isinstance(one, str) for one in told.values()):
                self._fault(f"{within}{key}", f"found {told!r:.60}", "write texts", line)

    def _way_in(self, kind: str, said: Mapping[str, Any]) -> None:
        """How the store is reached."""
        self._mappings(said, "")
        if kind == "http":
            base = said.get("base")
            if not isinstance(base, str) or not re.match(r"https?://|\{env:\w+\}", base):
                self._fault(
                    "base", f"found {base!r:.60}", "write an address, such as http://localhost:8080"
                )
            self._template("headers", said.get("headers", {}), ())
            self._template("base", base, ())
            return
        command, url = said.get("command"), said.get("url")
        if command is not None and not _is_texts(command):
            self._fault(
                "command", f"found {command!r:.60}", "write a list of texts: [python, store.py]"
            )
        if kind == "mcp" and (command is None) == (url is None):
            self._fault("", "found neither or both of command and url", "write one of the two")
        self._template("command", command or [], ("tmp",))
        self._template("url", url or "", ())
        self._template("headers", said.get("headers", {}), ())
        env = said.get("env", [])
        if isinstance(env, Mapping):
            self._template("env", env, ("tmp",))
        elif env and not _is_texts(env):
            self._fault(
                "env",
                f"found {env!r:.60}",
                "list names of environment variables, or write a mapping",
            )
        if kind == "command" and "operations" in said:
            told, known = said["operations"], sorted(set(VALUES) - {"put_many"})
            if not _is_texts(told) or set(told) - set(known) or not {"put", "search"} <= set(told):
                todo = f"list put, search, and what else it does of {', '.join(known)}"
                self._fault("operations", f"found {told!r:.60}", todo)

    def _capabilities(self, told: Any) -> None:
        if not isinstance(told, Mapping):
            self._fault("capabilities", f"found {told!r:.60}", "write a mapping")
            return
        known = {one.name for one in fields(Capabilities)}
        wrong = sorted(set(told) - known)
        if wrong:
            todo = f"write some of {', '.join(sorted(known))}"
            line = self.lines.get("capabilities", 0)
            self._fault("capabilities", f"unknown key {wrong[0]!r}", todo, line)
            return
        flags = {one.name for one in fields(Capabilities) if "bool" in str(one.type)}
        for key, value in told.items():
            texts = isinstance(value, str) or (key == "honours" and value and _is_texts(value))
            if not (value is None or (type(value) is bool if key in flags else texts)):
                wanted = "true or false" if key in flags else "a word"
                line = self.lines["capabilities"]
                self._fault(f"capabilities.{key}", f"found {value!r:.40}", f"write {wanted}", line)
                return
        listed: dict[str, Any] = {key: frozenset(value) if isinstance(value, list) else value
                  for key, value in told.items()}  # fmt: skip
        try:
            self.capabilities = Capabilities(**listed)
        except (StoreError, TypeError) as error:
            self._fault("capabilities", str(error), "mend that key", self.lines["capabilities"])

    def _timeout(self, value: Any) -> None:
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if value is not None and not (is_number and value > 0):
            self._fault("timeout_s", f"found {value!r:.40}", "write seconds above 0, such as 30")

    def _texts(self, said: Mapping[str, Any], within: str) -> None:
        for key in TEXTS:
            if key in said and not isinstance(said[key], str):
                self._fault(f"{within}{key}", f"found {said[key]!r:.40}", "write a text")

    def _operation(self, kind: str, name: str, node: Node, said: Any) -> None:
        """One operation: what is sent, and how the answer is read."""
        if not isinstance(said, Mapping):
            self._fault(name, f"found {said!r:.40}", "write a mapping of what is sent", node.line)
            return
        self.reading.known(node, name, (*REQUEST[kind], *MORE.get(name, ())))
        self._texts(said, f"{name}.")
        wanted = "path" if kind == "http" else "tool"
        if wanted not in said:
            self._fault(name, f"found no {wanted}", f"write the {wanted} that does it", node.line)
        if said.get("method", "POST") not in METHODS:
            self._fault(
                f"{name}.method",
                f"found {said['method']!r:.40}",
                f"write one of {', '.join(METHODS)}",
                node.line,
            )
        self._mappings(said, f"{name}.", node.line)
        for key in ("path", "query", "headers", "json", "arguments"):
            if key in said:
                self._template(f"{name}.{key}", said[key], VALUES[name], node.line)
        for key in PATHS:
            self._path(f"{name}.{key}", said.get(key), node.line)
        if name == "search":
            self._search(said, node.line)
        batch = said.get("batch", 1)
        if not isinstance(batch, int) or isinstance(batch, bool) or batch < 1:
            self._fault(
                f"{name}.batch", f"found {batch!r:.40}", "write a whole number from 1", node.line
            )

    def _search(self, said: Mapping[str, Any], line: int) -> None:
        if "items" not in said and "lines" not in said:
            self._fault(
                "search.items", "nothing stands here", "write the path of the hits: results", line
            )
        if not {"id", "text", "lines"} & set(said):
            self._fault(
                "search", "found neither id nor text of a hit", "write the path of one", line
            )
        told = said.get("empty_on", [])
        if not isinstance(told, list) or not all(type(one) is int for one in told):
            self._fault("search.empty_on", f"found {told!r:.40}", "list status codes: [404]", line)
        try:
            re.compile(said.get("lines", ""))
        except (re.error, TypeError) as error:
            self._fault("search.lines", f"no regular expression ({error})", "mend it", line)

    def _template(self, field: str, said: Any, names: tuple[str, ...], line: int = 0) -> None:
        for place, found in faults_of(said, names):
            self._fault(f"{field}.{place}" if place else field, found, "mend the placeholder", line)

    def _path(self, field: str, said: Any, line: int) -> None:
        if isinstance(said, Mapping):
            self._rule(field, said, line)
            return
        for path in [] if said is None else said if isinstance(said, list) else [said]:
            try:
                steps_of(path)
            except (ValueError, TypeError, AttributeError):
                self._fault(
                    field, f"{path!r:.60} is no path", "write one such as results[*].id", line
                )

    def _rule(self, field: str, said: Mapping[str, Any], line: int) -> None:
        """An id that stands in a tag or in a text."""
        rest = set(said) - {"path"}
        if "path" not in said or rest not in ({"prefix"}, {"regex"}):
            self._fault(field, f"found {sorted(said)}", "write path, and prefix or regex", line)
            return
        self._path(f"{field}.path", said["path"], line)
        try:
            groups = re.compile(said.get("regex", "()")).groups
        except (re.error, TypeError) as error:
            self._fault(f"{field}.regex", f"no regular expression ({error})", "mend it", line)
            return
        if not groups:
            self._fault(f"{field}.regex", "found no group", "put what is the id in ( )", line)


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(one, str) for one in value)
