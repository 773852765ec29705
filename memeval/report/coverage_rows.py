"""Scope coverage, ready to be shown: who was asked beside whose records, and what came back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeVar

from memeval.chances import NOT_MEASURED, rate_words
from memeval.coverage import HAYSTACK, Attempt, attempts, counted
from memeval.proof_frames import SCOPE_KINDS
from memeval.report.control_rows import withheld
from memeval.report.figures import count
from memeval.report.layout import paragraph, table
from memeval.report.markdown_probes import markdown_table
from memeval.runs import Run
from memeval.text import markdown_cell

_Key = TypeVar("_Key")
MOST_PAIRS = 100
MOST_PAIRS_IN_TEXT = 20
KINDS: Mapping[str, str] = MappingProxyType(
    {
        "other": "another name",
        "begins_alike": "begins alike",
        "differs_in_case": "differs in case",
        "syntax": "query syntax",
    }
)
NOTE = (
    "A chance is a probe that was answered while records of a scope that it may not read stood in "
    "the store. The rate is that of probes that leak: at most this, with 95 % confidence."
)
HEAD = ("other scopes", "pairs", "chances", "records", "leaked", "rate at most")
PAIRS_HEAD = ("asked", "other", "names", "chances", "leaked", "rate <=")


@dataclass(frozen=True, slots=True)
class Line:
    """Some attempts, counted.

    Attributes
    ----------
    asked, other, names : str
        The scopes and how their names differ; of a whole kind `asked` is empty.
    pairs, chances, records, leaked : int
        Pairs of scopes, probes that attempted it, records that could have come back, and probes
        in which one did.
    most : str
        Upper end of the leak rate.
    words : str
        The same as a sentence.
    """

    asked: str
    other: str
    names: str
    pairs: int
    chances: int
    records: int
    leaked: int
    most: str
    words: str


@dataclass(frozen=True, slots=True)
class Coverage:
    """Everything on scopes.

    Attributes
    ----------
    words : str
        What was attempted and what came of it, or why nothing was measured.
    state : {'good', 'bad', 'none'}
        No leak, a leak, not measured.
    kinds, pairs : list of Line
        By kind of name, and the pairs of scopes that the probes themselves name: the leaking ones
        first, then those with fewest chances.
    """

    words: str
    state: str
    kinds: Sequence[Line] = ()
    pairs: Sequence[Line] = ()


def coverage(run: Run) -> Coverage | None:
    """What is said of scopes; None for an invalid suite."""
    if withheld(run.validity):
        return None
    found = attempts(run)
    if not found:
        return Coverage(f"Scopes {NOT_MEASURED}: {_why(run)}.", "none")
    told = _line(found)
    words = (
        f"{told.chances:,} of {count(len(run.results), 'probe')} had a chance to see records of a "
        f"scope that is not theirs: {told.words}."
    )
    by_kind = _grouped(found, _kind)
    kinds = [
        _line(by_kind[made_up, kind], other=HAYSTACK[kind] if made_up else f"given: {KINDS[kind]}")
        for made_up in (False, True)
        for kind in SCOPE_KINDS
        if (made_up, kind) in by_kind
    ]
    own = _grouped((one for one in found if not one.made_up), _pair)
    pairs = [_line(some, asked, other, KINDS[some[0].kind]) for (asked, other), some in own.items()]
    pairs.sort(key=lambda line: (-line.leaked, line.chances))
    return Coverage(words, "bad" if told.leaked else "good", kinds, pairs)


def _why(run: Run) -> str:
    if run.manifest.capabilities.get("scoping") == "none":
        return "the store has none"
    return "no probe was answered while records of a scope that it may not read stood in the store"


def _kind(one: Attempt) -> tuple[bool, str]:
    return one.made_up, one.kind


def _pair(one: Attempt) -> tuple[str, str]:
    return one.asked, one.other


def _grouped(found: Iterable[Attempt], key: Callable[[Attempt], _Key]) -> dict[_Key, list[Attempt]]:
    groups: dict[_Key, list[Attempt]] = {}
    for one in found:
        groups.setdefault(key(one), []).append(one)
    return groups


def _line(found: Sequence[Attempt], asked: str = "", other: str = "", names: str = "") -> Line:
    told = counted(found)
    n, leaked = int(told["n_probes"]), int(told["n_leaked"])
    return Line(
        asked=asked,
        other=other,
        names=names,
        pairs=len({(one.asked, one.other, one.made_up) for one in found}),
        chances=n,
        records=int(told["n_records"]),
        leaked=leaked,
        most=f"{told['high']:.3f}",
        words=rate_words(leaked, n),
    )


def _kind_cells(line: Line) -> list[str]:
    numbers = (line.pairs, line.chances, line.records, line.leaked)
    return [line.other, *(f"{n:,}" for n in numbers), line.most]


def _pair_cells(line: Line) -> list[str]:
    return [
        line.asked, line.other, line.names, f"{line.chances:,}", f"{line.leaked:,}", line.most,
    ]  # fmt: skip


def coverage_text(run: Run, limit: int = MOST_PAIRS_IN_TEXT) -> str:
    """Scope coverage as text.

    Parameters
    ----------
    run : Run
        What is reported.
    limit : int
        Most pairs of scopes to list; how many more there are is said.

    Returns
    -------
    str
        Lines of at most 80 columns; empty for an invalid suite.
    """
    told = coverage(run)
    if told is None:
        return ""
    parts = ["SCOPE COVERAGE: whose records could have come back", paragraph(told.words)]
    if told.kinds:
        rows = [_kind_cells(line) for line in told.kinds]
        parts += ["", table(HEAD, rows, [28, 7, 9, 11, 8, 12], "lrrrrr")]
    if told.pairs:
        rows = [_pair_cells(line) for line in told.pairs[:limit]]
        parts += ["", table(PAIRS_HEAD, rows, [19, 20, 15, 7, 6, 7], "lllrrr")]
        parts += [paragraph(more) for more in [_more(told, limit)] if more]
    return "\n".join([*parts, *([paragraph(NOTE)] if told.kinds else [])])


def coverage_markdown(run: Run, limit: int = MOST_PAIRS_IN_TEXT) -> str:
    """Scope coverage as Markdown; empty for an invalid suite."""
    told = coverage(run)
    if told is None:
        return ""
    parts = ["## Scope coverage", markdown_cell(told.words)]
    if told.kinds:
        parts.append(markdown_table(HEAD, map(_kind_cells, told.kinds), "lrrrrr"))
    if told.pairs:
        parts.append(markdown_table(PAIRS_HEAD, map(_pair_cells, told.pairs[:limit]), "lllrrr"))
        parts += [more for more in [_more(told, limit)] if more]
    return "\n\n".join([*parts, *([NOTE] if told.kinds else [])])


def _more(told: Coverage, limit: int) -> str:
    left = len(told.pairs) - limit
    return f"and {count(left, 'more pair')}: memeval.scope_coverage has all" if left > 0 else ""
