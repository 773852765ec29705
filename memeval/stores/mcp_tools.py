"""Which tool of an MCP server writes and which one searches, and what their answers say."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from memeval.errors import StoreError
from memeval.record import Hit
from memeval.text import visible

Tools = dict[str, dict[str, Any]]
TEXT = ("text", "content", "memory", "fact", "data", "observation", "information", "note", "value")
QUERY = ("query", "q", "question", "search_query", "text")
ID = ("id", "memory_id", "key", "name")
SCOPE = ("user_id", "scope", "namespace", "user", "agent_id", "container", "bank", "collection")
K = ("k", "limit", "top_k", "n_results", "max_results", "num_results", "n")
SCORE = ("score", "similarity", "relevance")
WRITES = re.compile(r"(?i)add|store|create|save|remember|write|put|insert|upsert")
SEARCHES = re.compile(r"(?i)search|recall|query|find|retrieve")
PATHS = {"text": [*TEXT], "id": [*ID], "score": [*SCORE], "meta": ["metadata", "meta"]}
HITS = "hits found"
PLACES = ("results", "memories", "result", "hits", "items", "records", "matches")


def tools_found(said: Mapping[str, Any], tools: Sequence[Any]) -> Tools:
    """Tool of each operation: what is declared, and else what the schemas tell.

    Parameters
    ----------
    said : mapping
        A declaration.
    tools : sequence
        As the server lists them: ``name`` and ``input_schema``.

    Raises
    ------
    StoreError
        If a tool that is named is not there, or none or several would do.
    """
    there = {tool.name: tool.input_schema for tool in tools}
    found: Tools = {}
    for name in ("put", "search", "delete", "clear"):
        if name in said:
            if said[name]["tool"] not in there:
                raise StoreError(
                    f"{name}: the server has no tool {said[name]['tool']!r}; {_listed(there)}"
                )
            found[name] = dict(said[name])
    if "put" not in found:
        found["put"] = _writing(there)
    if "search" not in found:
        found["search"] = _searching(there)
    return found


def _writing(there: Mapping[str, Any]) -> dict[str, Any]:
    able = {
        name: arguments
        for name, schema in there.items()
        if WRITES.search(name)
        for arguments in [_arguments(schema, {"{text}": TEXT, "{id}": ID, "{scope}": SCOPE})]
        if arguments and "{text}" in arguments.values()
    }
    name, arguments = _only(able, there, "put", "writes a text")
    return {"tool": name, "arguments": arguments}


def _searching(there: Mapping[str, Any]) -> dict[str, Any]:
    able = {
        name: arguments
        for name, schema in there.items()
        if SEARCHES.search(name)
        for arguments in [_arguments(schema, {"{query}": QUERY, "{k}": K, "{scope}": SCOPE})]
        if arguments and "{query}" in arguments.values()
    }
    name, arguments = _only(able, there, "search", "takes a query")
    return {"tool": name, "arguments": arguments, "items": HITS, **PATHS}


def _only(
    able: Mapping[str, Any], there: Mapping[str, Any], operation: str, does: str
) -> tuple[str, Any]:
    if len(able) == 1:
        return next(iter(able.items()))
    several = f"several tools would do ({', '.join(able)})" if able else f"no tool plainly {does}"
    raise StoreError(
        f"{operation}: {several}; {_listed(there)}; name one in the file: {operation}: "
        "{tool: …, arguments: {…}}"
    )


def _arguments(schema: Mapping[str, Any], meant: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Placeholder for each parameter that is understood; nothing if a required one is not."""
    properties = schema.get("properties", {})
    found = {}
    for placeholder, names in meant.items():
        mine = [name for name in names if name in properties and name not in found]
        if mine:
            found[mine[0]] = placeholder
    return found if set(schema.get("required", ())) <= set(found) else {}


def _listed(there: Mapping[str, Any]) -> str:
    told = [f"{name}({', '.join(schema.get('properties', {}))})" for name, schema in there.items()]
    return visible(f"it has {'; '.join(told) or 'no tool at all'}")


def answer_of(result: Any) -> tuple[bool, Any]:
    """Whether a call failed, and its answer as plain values; prose stays a text."""
    texts = [part.text for part in result.content if getattr(part, "type", "") == "text"]
    whole = "\n".join(texts)
    if result.is_error:
        return True, whole
    if result.structured_content is not None:
        told = result.structured_content
        wrapped = isinstance(told, Mapping) and set(told) == {"result"}  # what is no object, is
        return False, _read(told["result"]) if wrapped else told
    try:
        return False, json.loads(whole) if len(texts) == 1 else [json.loads(one) for one in texts]
    except ValueError:
        return False, whole


def _read(told: Any) -> Any:
    """JSON in a text as plain values; prose stays a text."""
    if not isinstance(told, str):
        return told
    try:
        return json.loads(told)
    except ValueError:
        return told


def listed_in(answer: Any) -> dict[str, Any]:
    """An answer with its hits where those of a search that was found are looked for.

    Raises
    ------
    StoreError
        If there is no list in it that could be them.
    """
    places = [answer] if isinstance(answer, list) else []
    if isinstance(answer, Mapping):
        places = [answer[name] for name in PLACES if isinstance(answer.get(name), list)]
    if not places:
        raise StoreError(
            "search: the answer has no list of hits that is plain to see; declare search.items"
        )
    return {HITS: places[0]}


def hits_of_lines(answer: str, pattern: str) -> list[Hit]:
    """Hits of an answer in prose: each place where a regular expression is found.

    Examples
    --------
    >>> hits_of_lines("1. a: tea", r"(?P<id>[a-z]+): (?P<text>.+)")
    [Hit(id='a', text='tea', score=None, meta={})]
    """
    found = [one.groupdict() for one in re.finditer(pattern, answer)]
    return [Hit.of({"id": one.get("id"), "text": one.get("text") or "", "score": one.get("score")})
            for one in found]  # fmt: skip
