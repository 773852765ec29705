"""MADial-Bench, memories that an assistant should bring up in a dialogue, as a suite.

Two users, each with memories of their own; a dialogue breaks off where the assistant should recall,
and the data set names the memories that are relevant there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Literal

from memeval.datasets.beir import (
    Collection,
    Query,
    Retrieval,
    add_record,
    as_suite,
    read_collection,
)
from memeval.datasets.reading import Source
from memeval.errors import ProbeError
from memeval.record import Record

NAME = "madial"
HINT = "the folder of MADial-Bench, with its English files or with corpus.jsonl made of them"
USERS: Mapping[int, str] = {1: "Bart", 2: "Lisa"}
MARKS = ("<BOD>", "<EOD>")


def read_madial(
    folder: str | Path, *, form: Literal["auto", "beir", "raw"] = "auto", k: int = 5
) -> Retrieval:
    r"""Read the English part of MADial-Bench.

    Parameters
    ----------
    folder : str or pathlib.Path
        Where the files lie.
    form : {'auto', 'raw', 'beir'}
        ``raw``: as published, ``*-en-memory.json`` and ``*-en-dialogue.json``. ``beir``:
        ``corpus.jsonl``, ``queries.jsonl`` and ``qrels/test.tsv`` made of them, with ``user_id``
        and ``time`` in the metadata. Both give the same probes. ``auto``: whichever is there.
    k : int
        Cutoff of the probes, save of those that expect more.

    Returns
    -------
    Retrieval
        160 probes of one history of 160 memories, in the two scopes ``user_id-1`` and
        ``user_id-2``: a memory of the other user in an answer is a leak.

    Raises
    ------
    ProbeError
        If a file is missing or damaged.

    Notes
    -----
    Memory ``n`` is the record ``mn``; its day is its time, and ``scene`` and ``emotion`` are its
    metadata. Dialogue ``n``, from 0, is the probe ``dn``; its query is the dialogue before the
    first turn where the assistant is to recall. The English memories do not say whose they are;
    they name their user, Bart (1) or Lisa (2), and one that names neither or both is no record.

    The published rankings are within one user's memories as well, and are no suite: read them with
    `memeval.datasets.read_trec`.

    Examples
    --------
    >>> import json
    >>> from tempfile import TemporaryDirectory
    >>> told = {"time": "2023-12-25", "scene": "Activity", "event": "Bart sang."}
    >>> said = ["<BOD>\n", "<Bart>: \"I am nervous.\"\n", "<Assistant>: \"You sang well.\"\n"]
    >>> asked = {"dialogue": said, "test-turn": [2], "relevant-id": [1], "user-id": 1}
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "x-en-memory.json").write_text(json.dumps({"1": told}))
    ...     _ = Path(folder, "x-en-dialogue.json").write_text(json.dumps(asked))
    ...     (probe,) = read_madial(folder).suite
    >>> probe.name, probe.query, probe.expect, probe.scope
    ('d0', '<Bart>: "I am nervous."', ('m1',), 'user_id-1')
    """
    if form not in ("auto", "beir", "raw"):
        raise ProbeError(
            f"form is {form!r}, wanted 'auto', 'raw' or 'beir'; for rankings in the form of TREC "
            "use memeval.datasets.read_trec"
        )
    folder = Path(folder)
    if form == "beir" or (form == "auto" and (folder / "corpus.jsonl").is_file()):
        return as_suite(replace(read_collection(folder, "test", "user_id", "time"), name=NAME), k)
    found = Collection(NAME)
    _read_memories(Source.find(folder, "*-en-memory.json", HINT), found)
    _read_dialogues(Source.find(folder, "*-en-dialogue.json", HINT), found)
    return as_suite(found, k)


def _read_memories(source: Source, found: Collection) -> None:
    for place, row in source.objects():
        for name, memory in row.items():
            told = source.checked(memory, dict, f"memory {name!r}", place)
            text = source.member(told, "event", str, place)
            named = [user for user, called in USERS.items() if re.search(rf"\b{called}\b", text)]
            if len(named) != 1:
                who = " and ".join(USERS[user] for user in named) or "no user"
                found.log.add(source.file.name, place, f"memory {name} of {who}", "not written")
                continue
            meta = {key: told[key] for key in ("scene", "emotion") if key in told}
            record = Record(f"m{name}", text, f"user_id-{named[0]}", meta=meta)
            add_record(found, source.file.name, place, record, told.get("time"))


def _read_dialogues(source: Source, found: Collection) -> None:
    for n, (place, row) in enumerate(source.objects()):
        turns = source.texts(row, "dialogue", place)
        tests: list[int] = source.member(row, "test-turn", list, place)
        first = source.checked(tests[0] if tests else None, int, "test-turn[0]", place)
        if not 0 < first <= len(turns):
            raise source.damaged(f"{first} as test-turn[0]", f"1 to {len(turns)}", place)
        relevant: list[int] = source.member(row, "relevant-id", list, place)
        user = source.member(row, "user-id", int, place)
        said = "".join(turn for turn in turns[:first] if turn.strip() not in MARKS).strip()
        found.queries.append(Query(f"d{n}", said, f"user_id-{user}", f"dialogue {n}, {place}"))
        found.relevant[f"d{n}"] = [f"m{memory}" for memory in relevant]
