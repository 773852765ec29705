"""The relations: what must hold between answers whatever the right answer is, and what it takes.

The hard ones are never broken by a sound store, so one violation is a fault. The soft ones hold for
most questions of a good store; their share is shown and never gates. Whether a store is held to a
relation is decided by what it declares (`lacks`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from memeval.stores.base import Capabilities

Need = Literal["delete", "supersedes", "scopes", "steady", "deterministic", "texts", "same_id"]
LACKING: Mapping[Need, str] = {
    "delete": "the store has no delete",
    "supersedes": "the store does not say that it honours supersedes",
    "scopes": "the store has no scopes",
    "steady": "the store declares that its answers change by themselves",
    "deterministic": "the store does not declare itself deterministic",
    "texts": "the store rewrites texts",
    "same_id": "the store gives ids of its own, so a second write is another record to it",
}


@dataclass(frozen=True, slots=True)
class Relation:
    """One relation.

    Attributes
    ----------
    name : str
        Short name, as in the tables.
    statement : str
        What must hold.
    next_step : str
        What to do where it does not.
    needs : tuple of str
        What the store must declare for it: keys of `LACKING`.
    kind : {'hard', 'soft'}
        Whether a sound store may break it.
    compares : bool
        Whether it holds answers of a changed store against earlier ones, which says nothing where
        answers change by themselves.
    """

    name: str
    statement: str
    next_step: str
    needs: Sequence[Need] = ()
    kind: Literal["hard", "soft"] = "hard"

    @property
    def compares(self) -> bool:
        """Whether it says nothing of a store whose answers change by themselves."""
        return "steady" in self.needs


RELATIONS: tuple[Relation, ...] = (
    Relation(
        "R1",
        "the order in which records are written changes nothing, their time stamps being kept",
        "rank by the records' own times and texts, not by when they were written; and look for "
        "records that are lost at the beginning or the end",
        ("steady",),
    ),
    Relation(
        "R3",
        "near copies that are written to other scopes change nothing",
        "let a search read, rank and cut the records of its own scope alone, and compare scopes "
        "whole",
        ("scopes", "steady"),
    ),
    Relation(
        "R4",
        "scopes that swap their names swap their answers",
        "compare scopes whole: no name may be special, or be taken for another that begins alike",
        ("scopes", "steady"),
    ),
    Relation(
        "R5",
        "other ids, such as two that differ in case alone, change nothing",
        "keep ids as they are written, compare them whole, and rank by nothing in them",
        ("texts", "steady"),
    ),
    Relation(
        "R6",
        "writing a record a second time changes nothing, and no record comes back twice",
        "let a second write of an id update the record, and return each record once",
        ("texts", "same_id", "steady"),
    ),
    Relation(
        "R7",
        "records that are written and deleted again leave the answers as they were",
        "let delete take away the record that it names, all of it, and no other",
        ("delete", "steady"),
    ),
    Relation(
        "R8",
        "the same query twice gets the same answer",
        "find the source of chance, or declare deterministic=False",
        ("deterministic", "steady"),
    ),
    Relation(
        "R9",
        "the answer for k begins the answer for k + 1, and has k records where that has more",
        "rank first and cut at k last; return at most k",
        ("steady",),
    ),
    Relation(
        "R9b",
        "the answer for 2 begins the answer for 5",
        "rank first and cut at k last; return at most k",
        ("steady",),
    ),
    Relation(
        "R11",
        "a record that is asked for by its own text comes back first",
        "find out whether the record was kept, and what ranks above it: 'memeval run' tells these "
        "apart for a probe that fails",
    ),
    Relation(
        "R11b",
        "texts come back as they were written",
        "return texts unchanged, or declare rewrites if the store rewrites them on purpose",
        ("texts",),
    ),
    Relation(
        "R12",
        "a record that supersedes another comes back, and the other does not",
        "let supersedes take out the older record and only that, or leave it out of honours",
        ("supersedes",),
    ),
    Relation(
        "R13",
        "a deleted record does not come back",
        "let delete reach what searches read: index, caches and copies",
        ("delete",),
    ),
    Relation(
        "R14",
        "shifting all time stamps alike, and the time of asking, changes nothing",
        "judge age by the time of asking (declare now in honours), not by a fixed date",
        ("steady",),
    ),
    Relation(
        "R2",
        "unrelated records that are added leave the first answers as they were",
        "look at what the new records share with the query; statistics of words may shift a little",
        ("steady",),
        "soft",
    ),
    Relation(
        "R13b",
        "records beside a deleted one are still found",
        "look for records that are lost with a deleted one",
        ("delete",),
        "soft",
    ),
    Relation(
        "R15",
        "a query of words that nobody wrote gets no answer",
        "return nothing below a floor on the score, such as memeval's threshold curve proposes",
        (),
        "soft",
    ),
    Relation(
        "R10",
        "case and punctuation of the query change nothing",
        "fold case and punctuation of queries as those of texts",
        ("steady",),
        "soft",
    ),
    Relation(
        "R16",
        "two wordings of one question find the same record first",
        "fold word forms, or rank by meaning beside words",
        (),
        "soft",
    ),
)
BY_NAME: Mapping[str, Relation] = {relation.name: relation for relation in RELATIONS}


def lacks(
    relation: Relation, declared: Capabilities, supports: Callable[[str], bool]
) -> str | None:
    """Say why a store is not held to a relation; None where it is.

    Parameters
    ----------
    relation : Relation
        Which one.
    declared : Capabilities
        What the store declares.
    supports : callable
        ``supports(name)``: whether it has a method.

    Examples
    --------
    >>> lacks(BY_NAME["R3"], Capabilities(scoping="none"), lambda name: True)
    'the store has no scopes'
    """
    there: Mapping[Need, bool] = {
        "delete": supports("delete"),
        "supersedes": "supersedes" in declared.honours,
        "scopes": declared.scoping != "none",
        "steady": declared.deterministic is not False,
        "deterministic": declared.deterministic is True,
        "texts": not declared.rewrites,
        "same_id": declared.ids == "own" or declared.dedupes,
    }
    return next((LACKING[need] for need in relation.needs if not there[need]), None)
