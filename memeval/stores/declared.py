"""Stores that are declared in a YAML file: data only, nothing in it is run.

``kind: http`` for an HTTP API, ``kind: mcp`` for an MCP server, ``kind: command`` for a program
that speaks JSON lines. Every fault of a file is told at once, with its line.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

from memeval.errors import StoreError
from memeval.probefiles.sources import decode
from memeval.probefiles.values import Reading
from memeval.probefiles.yamlfile import SourceError, read_yaml
from memeval.stores.base import Capabilities
from memeval.stores.declaring import Declaring


@dataclass(frozen=True)
class Declaration:
    """What a file declares.

    Attributes
    ----------
    name : str
        Name of the file, for the manifest.
    kind : str
        ``http``, ``mcp`` or ``command``.
    said : mapping
        Everything that stands in it, as plain values.
    capabilities : Capabilities
        What the store is declared to do.
    """

    name: str
    kind: str
    said: Mapping[str, Any]
    capabilities: Capabilities

    def info(self) -> dict[str, Any]:
        """What goes into a manifest of it; no address and no secret."""
        told = {key: self.said[key] for key in ("about", "version") if key in self.said}
        return {"name": Path(self.name).stem, "kind": self.kind, "declared in": self.name} | told


def load_store(path: str | Path) -> Callable[[], Any]:
    """Read a file that declares a store, and give the factory of it.

    Parameters
    ----------
    path : str or Path
        The file.

    Returns
    -------
    callable
        Gives a fresh store.

    Raises
    ------
    StoreError
        If the file cannot be read, with every fault that is in it.
    """
    where = Path(path)
    try:
        data = where.read_bytes()
    except OSError as error:
        raise StoreError(
            f"{path}: found no file that can be read ({error.strerror}), wanted one that declares "
            "a store; see 'Your store' in the README"
        ) from error
    return factory_of(read_declaration(data, str(path)))


def ready() -> dict[str, Any]:
    """Declarations that ship with memeval, by short name."""
    folder = files("memeval.stores") / "ready"
    found = [one for one in folder.iterdir() if one.name.endswith(".yaml")]
    return {one.name.removesuffix(".yaml"): one for one in sorted(found, key=lambda f: f.name)}


def load_ready(name: str) -> Callable[[], Any]:
    """Give the factory of a declaration that ships with memeval.

    Raises
    ------
    StoreError
        If there is none of this name.
    """
    there = ready()
    if name not in there:
        raise StoreError(f"no ready file {name!r}; there are {', '.join(there)}")
    return factory_of(read_declaration(there[name].read_bytes(), f"{name}.yaml"))


def factory_of(declaration: Declaration) -> Callable[[], Any]:
    """What gives stores of a declaration."""
    if declaration.kind == "http":
        from memeval.stores.http import HttpStore

        return lambda: HttpStore(declaration)
    if declaration.kind == "command":
        from memeval.stores.command import CommandStore

        return lambda: CommandStore(declaration)
    from memeval.stores.mcp import McpStore

    return lambda: McpStore(declaration)


def read_declaration(data: bytes, name: str) -> Declaration:
    """Read what a file declares.

    Parameters
    ----------
    data : bytes
        The file.
    name : str
        Its name, for messages.

    Raises
    ------
    StoreError
        With every fault of it.
    """
    try:
        source = decode(data)
        root = read_yaml(source)
    except SourceError as error:
        raise StoreError(str(replace(error.fault, file=name))) from error
    reading = Reading(name, source)
    if root is None or root.kind != "mapping":
        raise StoreError(f"{name}: found no mapping, wanted one that begins with kind: http")
    read = Declaring(reading, root)
    said = read.everything()
    if reading.faults:
        raise StoreError("\n".join(map(str, reading.faults)))
    return Declaration(name, said["kind"], said, read.capabilities)
