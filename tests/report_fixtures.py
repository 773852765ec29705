"""Runs made by hand, for the tests of the report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import pandas as pd

from memeval import frames
from memeval.probe import Probe
from memeval.record import Record
from memeval.runs import Manifest, Run, Validity
from memeval.suite import Suite

WEAK = Validity(
    "weak", ("6 positive probes, at least 20 wanted",), (), ("no haystack",), "write more probes"
)
VALID = Validity("valid", next_step="look at the failing probes first")
INVALID = Validity(
    "invalid",
    ("luck alone recalls 0.402 of the probes, at most 0.1 may be luck",),
    ("the store recalls 3 of 5 probes, 4 are needed to be better than luck",),
    (),
    "mend the suite before you believe any number of it",
)

SCRIPT = "<script>window.pwned=1</script>"
PAYLOADS = (
    SCRIPT,
    "</script><script>window.pwned=1</script>",
    "</style><script>window.pwned=1</script>",
    '<img src=x onerror="window.pwned=1">',
    "\"><svg onload='window.pwned=1'>",
    "' onfocus=window.pwned=1 autofocus tabindex=1 x='",
    "};alert(1);//",
    "<a href='javascript:window.pwned=1'>click</a>",
    "<base href='https://example.invalid/'>",
    "<meta http-equiv=refresh content='0;url=https://example.invalid/'>",
    "costs $5 and then $10, $\\foo$ and \\(x\\)",
    "{{ 7*7 }} {% raw %} {# gone #}",
    "right \u202eto left",
    "nul \x00 esc \x1b[31m bell \x07",
    "half \ud800 character",
    "中文 and \U0001f9e0 and e\u0301",
    "/etc/hostname",
    "_private $\\alpha$",
)
LONG = "x" * 1_000_000


def frame(rows: Sequence[Mapping[str, Any]], schema: frames.Schema) -> pd.DataFrame:
    """Rows as a frame of a schema; what a row does not say is NA."""
    names = frames.names(schema)
    columns = {n: pd.Series([row.get(n) for row in rows], dtype="object") for n in names}
    for column in schema:
        if column.dtype in ("int64", "bool"):
            columns[column.name] = columns[column.name].fillna(0)
    return frames.conform(pd.DataFrame(columns), schema)


def hit(
    probe: str, rank: int, record_id: str | None, text: str | None, **more: Any
) -> dict[str, Any]:
    """One row of hits."""
    return {
        "probe": probe,
        "rank": rank,
        "record_id": record_id,
        "store_id": record_id,
        "text": text,
    } | more


def probes() -> list[Probe]:
    """Eight probes, one of each kind of outcome; every k is 3."""
    return [
        Probe(
            "lunch-spot",
            "Where is lunch?",
            [Record("r1", "Lunch is at the noodle bar."), Record("r2", "Dinner is at home.")],
            ["r1"],
            k=3,
            tags=["direct"],
        ),
        Probe(
            "cafe-or-bar",
            "Where do we meet?",
            [
                Record("c1", "We meet in the cafe."),
                Record("c2", "We meet in the bar."),
                Record("c3", "We met at work."),
            ],
            [["c1", "c2"]],
            k=3,
            tags=["any-of"],
            why="either will do",
        ),
        Probe(
            "neighbour",
            "Who has the key?",
            [Record("n1", "Ana has the key."), Record("n2", "Bo has the key.", scope="bo")],
            ["n1"],
            ["n2"],
            k=3,
            tags=["scope", "leak"],
            must=True,
        ),
        Probe("nobody-knows", "What is the shoe size of Bo?", [Record("q1", "Bo likes tea.")], k=3),
        Probe(
            "answers-anyway", "What is the name of the cat?", [Record("a1", "Bo has a dog.")], k=3
        ),
        Probe(
            "old-address",
            "Where does Ana live?",
            [
                Record("o1", "Ana lives in Bern."),
                Record("o2", "Ana lives in Basel.", supersedes=("o1",)),
            ],
            ["o2"],
            k=3,
            tags=["stale"],
        ),
        Probe("search-breaks", "Is it up?", [Record("s1", "It is up.")], ["s1"], k=3),
        Probe("needs-delete", "Is it gone?", [Record("d1", "It is there.")], ["d1"], k=3),
    ]


def calls() -> pd.DataFrame:
    """A call for each of the eight probes."""
    said: dict[str, dict[str, Any]] = {
        "answers-anyway": {"breaches": "unknown"},
        "search-breaks": {
            "status": "failed",
            "error": "OSError: the disk is full",
            "latency_ms": None,
        },
        "needs-delete": {"status": "not_supported", "error": "the store has no support for delete"},
    }
    base = {"k": 3, "status": "ok", "latency_ms": 2.0, "n_records": 300, "n_eligible": 100}
    return frame([base | {"probe": p.name} | said.get(p.name, {}) for p in probes()], frames.CALLS)


def hits() -> pd.DataFrame:
    """What came back."""
    return frame(
        [
            hit("lunch-spot", 1, "r2", "Dinner is at home.", score=0.9),
            hit("lunch-spot", 2, "r1", "Lunch is at the noodle bar.", score=0.5),
            hit("cafe-or-bar", 1, "c3", "We met at work."),
            hit("cafe-or-bar", 2, "h1", "The tram is late."),
            hit("neighbour", 1, "n1", "Ana has the key."),
            hit("neighbour", 2, "h1", "The tram is late."),
            hit("neighbour", 3, "h2", "The shop is shut."),
            hit("neighbour", 4, "n2", "Bo has the key."),
            hit("answers-anyway", 1, "a1", "Bo has a dog."),
            hit("answers-anyway", 2, None, "Who wrote this?"),
            hit("old-address", 1, "o1", "Ana lives in Bern."),
            hit("old-address", 2, "o2", "Ana lives in Basel."),
        ],
        frames.HITS,
    )


def controls() -> pd.DataFrame:
    """A controls frame in which all is well."""
    common = {"n": 6, "applicable": True, "passed": True, "blames": "none"}
    return frame(
        [
            common
            | {
                "store": "null",
                "rule": "C1",
                "metric": "recall_all",
                "value": 0.0,
                "real": 0.6,
                "chance": 0.0,
                "bound": 0.0,
                "must": "at_most",
                "reason": "nothing recalls nothing",
            },
            common
            | {
                "store": "random",
                "rule": "C2",
                "metric": "chance",
                "value": 0.031,
                "chance": 0.031,
                "bound": 0.1,
                "must": "at_most",
                "reason": "luck recalls 0.031",
            },
            common
            | {
                "store": "shuffled",
                "rule": "C4",
                "metric": "mrr",
                "value": 0.3,
                "real": 0.4321,
                "chance": 0.31,
                "bound": 0.35,
                "must": "at_most",
                "reason": "shuffling costs rank",
            },
            common
            | {
                "store": "real",
                "rule": "C3",
                "metric": "recall_all",
                "value": 0.6,
                "real": 0.6,
                "bound": 0.2,
                "must": "at_least",
                "applicable": False,
                "passed": None,
                "reason": "too few probes to tell a store from chance",
            },
        ],
        frames.CONTROLS,
    )


def causes() -> pd.DataFrame:
    """Causes of the four that failed; the order is not that of how bad they are."""
    return frame(
        [
            {
                "probe": "neighbour",
                "cause": "leaked",
                "evidence": "a record of another scope came back: n2 at rank 4",
                "next_step": "filter by scope inside the store",
            },
            {
                "probe": "answers-anyway",
                "cause": "contract",
                "evidence": "a hit came back that nobody wrote",
                "next_step": "mend the store, or declare what it does",
            },
            {
                "probe": "cafe-or-bar",
                "cause": "outranked",
                "evidence": "before c1: c3 (We met at work.); it comes at rank 17",
                "rank_found": 17,
                "displaced_by": "c3 h1 unknown: Who wrote this?",
                "next_step": "read what stands before it",
            },
            {
                "probe": "search-breaks",
                "cause": "not_reproduced",
                "evidence": "asked again of a clean store, it passes",
                "next_step": "ask it several times (--repeats 5)",
            },
        ],
        frames.CAUSES,
    )


def scored() -> pd.DataFrame:
    """The same hits, each with a score: a floor of 0.8 empties the wrong answer."""
    scores = {"answers-anyway": 0.1, "lunch-spot": 0.9}
    found = hits()
    found["score"] = found["probe"].map(scores).fillna(0.8)
    found.loc[found["record_id"].eq("r1"), "score"] = 0.5
    return found


def diagnosed_run(**more: Any) -> Run:
    """The run of the eight probes with its causes, of a store whose scores have an order."""
    told = manifest(capabilities={"honours": ["filter", "now"], "score_order": "high"})
    return make_run(**({"causes": causes(), "hits": scored(), "manifest": told} | more))


def manifest(**more: Any) -> Manifest:
    """A manifest by hand."""
    return replace(
        Manifest(
            schema_version=1,
            metric_version=1,
            tool_version="0.0-test",
            suite_hash="cafe0000cafe0000",
            haystack_hash="none",
            n_probes=8,
            k=3,
            seed=7,
            repeats=1,
            store="shelf",
            store_info={"name": "shelf", "version": "1.2"},
            capabilities={"honours": ["filter", "now"]},
            options={"retries": 0},
            environment={"python": "3.12", "packages": {"numpy": "2.0"}},
            created_at="2026-05-01T12:00:00+00:00",
            matcher="id, text",
            normaliser_version=1,
        ),
        **more,
    )


def make_run(**more: Any) -> Run:
    """The run of the eight probes; keywords replace fields."""
    suite = Suite.of(probes())
    return replace(
        Run(hits(), calls(), suite.qrels(), manifest(), suite, VALID, controls=controls()), **more
    )


def earlier_run(**more: Any) -> Run:
    """What `make_run` may have been before: two probes passed that fail now, one the other way.

    Without the probe needs-delete; lunch-spot had its record at rank 1.
    """
    suite = Suite.of(probes()[:7])
    answers = {
        "lunch-spot": [("r1", "Lunch is at the noodle bar."), ("r2", "Dinner is at home.")],
        "cafe-or-bar": [("c1", "We meet in the cafe."), ("c3", "We met at work.")],
        "neighbour": [("n1", "Ana has the key."), ("h1", "The tram is late.")],
        "answers-anyway": [("a1", "Bo has a dog."), (None, "Who wrote this?")],
        "old-address": [("o1", "Ana lives in Bern.")],
    }
    found = [
        hit(probe, rank, *one)
        for probe, answer in answers.items()
        for rank, one in enumerate(answer, 1)
    ]
    asked = calls()
    asked = asked[asked["probe"].isin(probe.name for probe in suite)].reset_index(drop=True)
    told = manifest(n_probes=7, store="desk", created_at="2026-04-01T12:00:00+00:00")
    made = {"hits": frame(found, frames.HITS), "calls": asked, "qrels": suite.qrels()}
    return make_run(**(made | {"suite": suite, "manifest": told} | more))


def hostile_pair() -> tuple[Run, Run]:
    """Two runs of the hostile probes: each was found at rank 1, and a stranger stands there now."""
    run = hostile_run()
    names = [(probe.name, probe.groups[0][0]) for probe in run.suite]
    asked = frame(
        [{"probe": name, "k": 5, "status": "ok", "latency_ms": 1.0} for name, _ in names],
        frames.CALLS,
    )
    then = [hit(name, 1, expected, "found") for name, expected in names]
    now = [
        hit(name, 1, None, text, store_id=text[:60])
        for (name, _), text in zip(names, [*PAYLOADS, LONG], strict=True)
    ]
    made = [
        replace(run, hits=frame(rows, frames.HITS), calls=asked, causes=None)
        for rows in (then, now)
    ]
    return made[0], made[1]


@lru_cache(maxsize=4)
def hostile_run(validity: Validity = VALID) -> Run:
    """A probe per payload, which stands in every place that another writes."""
    asked = [_hostile_probe(n, text) for n, text in enumerate([*PAYLOADS, LONG])]
    suite = Suite.of(asked)
    rows = [
        hit(p.name, 1, None, text, score=0.5, canary=text[:20])
        for p, text in zip(asked, [*PAYLOADS, LONG], strict=True)
    ]
    errors = [
        {
            "probe": p.name,
            "k": 5,
            "status": "failed",
            "error": f"ValueError: {text[:5000]}",
            "breaches": text[:9],
        }
        for p, text in zip(asked, [*PAYLOADS, LONG], strict=True)
    ]
    told = manifest(
        store=SCRIPT,
        store_info={PAYLOADS[4]: PAYLOADS[3]},
        created_at=PAYLOADS[5],
        tool_version=SCRIPT,
    )
    said = replace(
        validity, reasons=PAYLOADS, store_faults=PAYLOADS, notes=PAYLOADS, next_step=SCRIPT
    )
    return Run(
        frame(rows, frames.HITS),
        frame(errors, frames.CALLS),
        suite.qrels(),
        told,
        suite,
        said,
        controls=controls().assign(reason=PAYLOADS[1], store=PAYLOADS[3], metric=PAYLOADS[4]),
        causes=_hostile_causes(asked),
    )


def _hostile_causes(asked: Sequence[Probe]) -> pd.DataFrame:
    said = [
        {
            "probe": probe.name,
            "cause": "failed",
            "evidence": f"asked again: {text}",
            "displaced_by": text[:3000],
            "next_step": text[:300],
        }
        for probe, text in zip(asked, [*PAYLOADS, LONG], strict=True)
    ]
    return frame(said, frames.CAUSES)


def _hostile_probe(n: int, text: str) -> Probe:
    name = "".join(c for c in f"{n} {text[:200]}" if c.isprintable() or c == "\u202e")
    given = [
        Record(f"r{n} {name}", text, scope=name),
        Record(f"s{n}", text, scope=name, meta={"m": text[:50]}),
    ]
    return Probe(
        name,
        text[:3000],
        given,
        [f"r{n} {name}"],
        k=5,
        scope=name,
        tags=[name],
        why=text[:3000],
        filter={"m": text[:50]},
    )
