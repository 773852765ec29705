"""A JSON Schema of probe files, made from the tables that the loader itself reads them by.

An editor completes and checks with it while one writes. The loader knows more: whether ids exist,
whether names are unique, whether the whole fits together.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Mapping
from typing import Any

from memeval.probe import Probe
from memeval.probefiles.probefile import (
    HAYSTACK_FIELDS,
    HAYSTACK_WORDS,
    OPERATIONS,
    PROBE_FIELDS,
    RECORD_FIELDS,
    SUITE_FIELDS,
)
from memeval.record import Record

DIALECT = "https://json-schema.org/draft/2020-12/schema"
_ATTRIBUTE = re.compile(r"^([a-z_]+(?:, [a-z_]+)*) : .*\n((?:    .*\n|\n)+)", re.MULTILINE)
_TEXT = {"type": "string", "pattern": r"\S"}
_TEXTS = {"type": "array", "items": _TEXT, "uniqueItems": True}
_ANY_OF = {"type": "array", "items": _TEXT, "minItems": 1, "uniqueItems": True}
# A schema for each kind of value that the tables name.
_KINDS: Mapping[str, Mapping[str, Any]] = {
    "text": _TEXT,
    "texts": _TEXTS,
    "groups": {"type": "array", "items": {"anyOf": [_TEXT, _ANY_OF]}},
    "whole": {"type": "integer", "minimum": 1},
    "flag": {"type": "boolean"},
    "time": {"type": "string", "pattern": r"^\s*\d{4}-?\d\d?-?\d\d?"},
    "mapping": {"type": "object"},
    "given": {"$ref": "#/$defs/given"},
}
_OPERATIONS: Mapping[str, Mapping[str, Any]] = {
    "delete": {**_TEXT, "description": "Delete the record with this id."},
    "consolidate": {"const": True, "description": "Let the store tidy up."},
    "advance": {
        "type": "string",
        "pattern": "^[0-9]{1,12}[wdhms]$",
        "description": "Let this much time pass, such as 30d; w, d, h, m or s.",
    },
}
_SUITE: Mapping[str, Mapping[str, Any]] = {
    "histories": {
        "type": "object",
        "additionalProperties": {"$ref": "#/$defs/given"},
        "description": "Histories by name, each shared by the probes that name it.",
    },
    "haystack": {
        "anyOf": [
            {"enum": list(HAYSTACK_WORDS)},
            {"type": "array", "items": {"$ref": "#/$defs/background"}, "minItems": 1},
        ],
        "description": "Background that every probe is asked in: records, or a word for them.",
    },
    "probes": {
        "$ref": "#/$defs/probes",
        "description": "The probes; the last key, so that one more can be added below.",
    },
}
_MORE: Mapping[str, Mapping[str, Any]] = {"k": {"default": 5}, "scope": {"default": "default"}}


def probe_schema() -> dict[str, Any]:
    """Give the JSON Schema of a probe file.

    Returns
    -------
    dict
        Plain values, draft 2020-12; every key of the format has a description.

    Notes
    -----
    YAML is meant as editors read it, where ``2026-03-01`` is a text. What the schema refuses the
    loader refuses too; the loader refuses more, such as ids that no record has.

    Examples
    --------
    >>> schema = probe_schema()
    >>> schema["$defs"]["probe"]["properties"]["k"]
    {'type': 'integer', 'minimum': 1, 'default': 5, 'description': 'Cutoff, from 1.'}
    >>> schema["$defs"]["probe"]["required"]
    ['name', 'query']
    """
    told = _told(Record)
    probe = _mapping(PROBE_FIELDS, _told(Probe), ("name", "query"))
    probe["not"] = {"required": ["given", "history"]}
    steps = [_one(name, _OPERATIONS[name]) for name in OPERATIONS]
    return {
        "$schema": DIALECT,
        "title": "memeval probe file",
        "description": "Probes of an agent's memory: a list, or a mapping with probes last.",
        "anyOf": [{"$ref": "#/$defs/probes"}, {"$ref": "#/$defs/suite"}],
        "$defs": {
            "suite": _closed({name: dict(_SUITE[name]) for name in SUITE_FIELDS}),
            "probes": {"type": "array", "items": {"$ref": "#/$defs/probe"}},
            "probe": probe,
            "given": {
                "type": "array",
                "items": {"anyOf": [{"$ref": "#/$defs/record"}, *steps]},
            },
            "record": _mapping(RECORD_FIELDS, told, ("id", "text")),
            "background": _mapping(HAYSTACK_FIELDS, told, ("text",)),
        },
    }


def _mapping(
    fields: Mapping[str, str], told: Mapping[str, str], required: Iterable[str]
) -> dict[str, Any]:
    """A mapping with these keys and no others."""
    keys = {
        name: {**_KINDS[kind], **_MORE.get(name, {}), "description": told[name]}
        for name, kind in fields.items()
    }
    if "why" in keys:  # it may be there and say nothing
        keys["why"].pop("pattern")
    return _closed(keys, required)


def _one(name: str, value: Mapping[str, Any]) -> dict[str, Any]:
    return _closed({name: dict(value)}, [name])


def _closed(keys: dict[str, Any], required: Iterable[str] = ()) -> dict[str, Any]:
    closed = {"type": "object", "properties": keys, "additionalProperties": False}
    needed = list(required)
    return {**closed, "required": needed} if needed else closed


def _told(kind: type) -> dict[str, str]:
    """What the documentation of a class says of each of its attributes."""
    text = (inspect.getdoc(kind) or "") + "\n"
    found: dict[str, str] = {}
    for names, said in _ATTRIBUTE.findall(text.partition("----------\n")[2]):
        found |= dict.fromkeys(names.split(", "), " ".join(said.split()).replace("``", ""))
    return found
