"""Small suites that several tests share."""

from __future__ import annotations

from memeval.probe import Probe
from memeval.record import Record
from memeval.suite import Suite

BACKGROUND = tuple(
    Record(f"b{n}", f"background note {n} on topic {n % 37} and matter {n * 7 % 91}")
    for n in range(330)
)


def positive(n: int, k: int = 5) -> Probe:
    """Four records of one person, the question repeats the words of one of them."""
    given = [Record(f"r{j}", f"person{n} keeps item{j} in the room{n * 10 + j}") for j in range(4)]
    query = f"where does person{n} keep item{n % 4} room"
    return Probe(f"positive-{n:02}", query, given, [f"r{n % 4}"], k=k)


def negative(n: int) -> Probe:
    """A question whose words stand in no record."""
    return Probe(f"negative-{n:02}", f"zebra{n} quokka", [Record("a", f"plums{n}")])


def leakable(n: int) -> Probe:
    """A record of the same words lies in another scope."""
    given = [
        Record("a", f"lunch spot{n} is the noodle bar", "ana"),
        Record("b", f"lunch spot{n} is the falafel van", "bo"),
    ]
    return Probe(f"leakable-{n:02}", f"lunch spot{n}", given, ["a"], ["b"], scope="ana")


def suite(n_positive: int = 20, n_negative: int = 5, n_forbid: int = 5) -> Suite:
    """A suite in a haystack, by default large enough to be valid."""
    probes = [
        *(positive(n) for n in range(n_positive)),
        *(negative(n) for n in range(n_negative)),
        *(leakable(n) for n in range(n_forbid)),
    ]
    return Suite(tuple(probes), BACKGROUND, "test")
